// Whether an array that a setup was made from is still what it was.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace krysol {

/// Hashes of an array's blocks of 32 KiB. A look compares as many blocks as it may read, at least
/// one, and goes on where the look before it ended.
class ValueWatch {
 public:
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 15;

  ValueWatch() = default;
  /// Reads the array once; it must stay where it is. A whole number of 4-byte words.
  ValueWatch(const void* data, std::int64_t bytes);

  /// True where a block is not what it was. Reads `most_bytes` of the array, rounded up to blocks;
  /// several threads may look at once.
  bool changed(std::int64_t most_bytes) const;
  bool changed() const { return changed(bytes_); }

 private:
  std::uint64_t hash(std::int64_t block) const;
  std::int64_t blocks() const { return (bytes_ + block_bytes - 1) / block_bytes; }

  const unsigned char* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::uint64_t> hashes_{};
  mutable std::atomic<std::int64_t> next_{0};
};

}  // namespace krysol
