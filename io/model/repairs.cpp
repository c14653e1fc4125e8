// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/repairs.hpp>

#include <string_view>

#include <fmt/core.h>

namespace krysol {

std::vector<std::string> Repairs::sentences(const FileInfo& info) const {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const auto kind = static_cast<RepairKind>(k);
    if (seen_[k].count > 0 && kind != RepairKind::above) {
      all.push_back(sentence(kind, seen_[k], info));
    }
  }
  return all;
}

std::string Repairs::sentence(RepairKind kind, const Seen& seen, const FileInfo& info) {
  const auto counted = [&seen](std::string_view one, std::string_view many) {
    return fmt::format("{} {}", seen.count, seen.count == 1 ? one : many);
  };
  const auto first = fmt::format("first on line {}", seen.line);
  switch (kind) {
    case RepairKind::byte_order_mark:
      return "1 byte order mark passed over, on line 1";
    case RepairKind::banner:
      return fmt::format("1 banner missing, before line {}: taken as 'matrix {} real general'",
                         seen.line, info.array ? "array" : "coordinate");
    case RepairKind::complex_array:
      return fmt::format(
          "{} of a real array read as complex, because each line holds two and a %%GraphBLAS "
          "comment says complex, {}",
          counted("value", "values"), first);
    case RepairKind::zero_based:
      return fmt::format("{} counted from 0: all indices raised by one, {}",
                         counted("entry", "entries"), first);
    case RepairKind::nan_entry:
      return fmt::format("{} dropped, {}", counted("NaN entry", "NaN entries"), first);
    case RepairKind::infinite_entry:
      return fmt::format("{} dropped, {}", counted("infinite entry", "infinite entries"), first);
    case RepairKind::not_finite_kept:
      return fmt::format("{} kept, {}", counted("NaN or infinite entry", "NaN or infinite entries"),
                         first);
    case RepairKind::pattern_value:
      return fmt::format("{} after the indices of a pattern file ignored, {}",
                         counted("value", "values"), first);
    case RepairKind::hermitian_diagonal:
      return fmt::format("{} on the diagonal of a hermitian matrix dropped, {}",
                         counted("imaginary part", "imaginary parts"), first);
    case RepairKind::skew_diagonal:
      return fmt::format("{} on the diagonal of a skew-symmetric matrix dropped, {}",
                         counted("zero", "zeros"), first);
    case RepairKind::twin_above:
      return fmt::format("{} above the diagonal dropped, equal to the twin below, {}",
                         counted("entry", "entries"), first);
    case RepairKind::lone_above:
      return fmt::format("{} above the diagonal mirrored to the triangle below, {}",
                         counted("entry", "entries"), first);
    case RepairKind::unequal_twins:
      return fmt::format(
          "{} of unequal entries in a file that declares a symmetry and stores "
          "both triangles: read as general, {}",
          counted("pair", "pairs"), first);
    case RepairKind::extra_line:
      return fmt::format("{} after the last declared entry ignored, {}", counted("line", "lines"),
                         first);
    case RepairKind::duplicate_summed:
      return fmt::format("{} of a place named before added to the first, {}",
                         counted("entry", "entries"), first);
    case RepairKind::duplicate_dropped:
      return fmt::format("{} of a place named before dropped, {}", counted("entry", "entries"),
                         first);
    case RepairKind::underflow:
      return fmt::format("{} below the smallest double, 4.9e-324, taken as 0, {}",
                         counted("value", "values"), first);
    case RepairKind::above:
    case RepairKind::count:
      break;
  }
  return {};
}

}  // namespace krysol
