// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/missed_reads.hpp>

#include <algorithm>
#include <array>

namespace krysol {
namespace {

/// Knows which lines were read last: one for each place, which is found by Fibonacci hashing
/// (Knuth, The Art of Computer Programming 3, 6.4), so that strides of powers of two do not meet.
class SmallCache {
 public:
  SmallCache() { lines_.fill(-1); }

  /// False where the line had to be read again.
  bool finds(std::int64_t line) {
    std::int64_t& here = lines_[(static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15U) >> 55U];
    const bool found = here == line;
    here = line;
    return found;
  }

 private:
  std::array<std::int64_t, 512> lines_{};
};

}  // namespace

double missed_reads(const Index* col_idx, Offset nnz, std::int64_t entry_bytes) {
  constexpr Offset windows = 16;
  constexpr Offset warming = 1024;  // entries that only fill the cache
  constexpr Offset window = 4096;
  const std::int64_t entries_of_a_line = std::max<std::int64_t>(64 / entry_bytes, 1);
  const Offset furthest = std::max<Offset>(nnz - window, 0);
  Offset missed = 0;
  Offset counted = 0;
  for (Offset w = 0; w < windows; ++w) {
    const Offset begin = furthest / (windows - 1) * w;
    const Offset end = std::min(begin + window, nnz);
    SmallCache cache;
    for (Offset k = begin; k < end; ++k) {
      const bool found = cache.finds(col_idx[k] / entries_of_a_line);
      if (k < begin + warming) continue;
      ++counted;
      if (!found) ++missed;
    }
  }
  return counted == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(counted);
}

}  // namespace krysol
