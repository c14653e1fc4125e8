// What repair mode repaired in a Matrix Market file, counted by kind.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// The kinds of departures from the format that repair mode repairs.
enum class RepairKind {
  byte_order_mark,
  banner,
  complex_array,
  zero_based,
  nan_entry,
  infinite_entry,
  not_finite_kept,
  pattern_value,
  hermitian_diagonal,
  skew_diagonal,
  above,  // becomes one of the next three
  twin_above,
  lone_above,
  unequal_twins,
  extra_line,
  duplicate_summed,
  duplicate_dropped,
  underflow,
  count
};

/// Counts what was repaired and where it was first seen.
class Repairs {
 public:
  void note(RepairKind kind, std::int64_t line, std::int64_t count = 1) {
    Seen& seen = seen_[static_cast<std::size_t>(kind)];
    if (seen.count == 0) seen.line = line;
    seen.count += count;
  }
  std::int64_t count(RepairKind kind) const { return seen_[static_cast<std::size_t>(kind)].count; }
  std::int64_t line(RepairKind kind) const { return seen_[static_cast<std::size_t>(kind)].line; }

  /// One sentence a kind.
  std::vector<std::string> sentences(const FileInfo& info) const;

 private:
  struct Seen {
    std::int64_t count = 0;
    std::int64_t line = 0;
  };

  static std::string sentence(RepairKind kind, const Seen& seen, const FileInfo& info);

  std::array<Seen, static_cast<std::size_t>(RepairKind::count)> seen_;
};

}  // namespace krysol
