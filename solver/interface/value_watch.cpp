// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/value_watch.hpp>

#include <algorithm>
#include <cstring>

#include <krysol/spmv/base/vector.hpp>

namespace krysol {

ValueWatch::ValueWatch(const void* data, std::int64_t bytes)
    : data_(static_cast<const unsigned char*>(data)), bytes_(bytes) {
  hashes_.resize(static_cast<std::size_t>(blocks()));
  host_for("krysol::watch", blocks(),
           [this](std::int64_t b) { hashes_[static_cast<std::size_t>(b)] = hash(b); });
}

bool ValueWatch::changed(std::int64_t most_bytes) const {
  const std::int64_t all = blocks();
  if (all == 0) return false;
  const std::int64_t count =
      std::min(all, std::max<std::int64_t>(1, (most_bytes + block_bytes - 1) / block_bytes));
  const std::int64_t first = next_.fetch_add(count) % all;
  std::int64_t differ = 0;
  Kokkos::parallel_reduce(
      "krysol::watch(look)", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, count),
      [this, first, all](std::int64_t k, std::int64_t& sum) {
        const std::int64_t b = (first + k) % all;
        sum += hash(b) != hashes_[static_cast<std::size_t>(b)] ? 1 : 0;
      },
      differ);
  return differ > 0;
}

/// Four sums side by side, so that no multiplication waits for the one before it:
/// h := (h + word) k, with an odd k, which no change of a single word leaves as it is.
std::uint64_t ValueWatch::hash(std::int64_t block) const {
  constexpr std::uint64_t k = 0x9E3779B97F4A7C15U;
  const unsigned char* const begin = data_ + block * block_bytes;
  const std::int64_t bytes = std::min(block_bytes, bytes_ - block * block_bytes);
  std::uint64_t h[4] = {1, 2, 3, 4};
  std::int64_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    for (int lane = 0; lane < 4; ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, begin + at + std::ptrdiff_t{8} * lane, sizeof(word));
      h[lane] = (h[lane] + word) * k;
      h[lane] ^= h[lane] >> 32;
    }
  }
  for (; at < bytes; at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, begin + at, sizeof(word));
    h[0] = (h[0] + word) * k;
    h[0] ^= h[0] >> 32;
  }
  return ((h[0] * k + h[1]) * k + h[2]) * k + h[3];
}

}  // namespace krysol
