// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/cache/cache_layout.hpp>

#include <algorithm>
#include <atomic>

#include <krysol/io/text/threads.hpp>

namespace krysol::cache_layout {

// No branches, so that compilers use vector registers.
bool entries_fit(const Index* row_idx, const Index* col_idx, std::size_t n, Index rows, Index cols,
                 Symmetry symmetry) {
  // A negative index is a large one without its sign.
  const auto limit_of_rows = static_cast<std::uint32_t>(rows);
  const auto limit_of_cols = static_cast<std::uint32_t>(cols);
  std::uint32_t wrong = 0;
  for (std::size_t k = 0; k < n; ++k) {
    wrong |= static_cast<std::uint32_t>(static_cast<std::uint32_t>(row_idx[k]) >= limit_of_rows);
    wrong |= static_cast<std::uint32_t>(static_cast<std::uint32_t>(col_idx[k]) >= limit_of_cols);
  }
  if (symmetry == Symmetry::skew_symmetric) {
    for (std::size_t k = 0; k < n; ++k) {
      wrong |= static_cast<std::uint32_t>(row_idx[k] <= col_idx[k]);
    }
  } else if (symmetry != Symmetry::general) {
    for (std::size_t k = 0; k < n; ++k) {
      wrong |= static_cast<std::uint32_t>(row_idx[k] < col_idx[k]);
    }
  }
  return wrong == 0;
}

void for_chunks(std::uint64_t chunks, int threads, const std::function<void(std::uint64_t)>& work) {
  constexpr std::uint64_t worth_a_thread = 8;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stopped{false};
  const std::uint64_t most = chunks / worth_a_thread + 1;
  on_threads(static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(threads))),
             [&] {
               try {
                 for (std::uint64_t k = next++; k < chunks && !stopped; k = next++) work(k);
               } catch (...) {
                 stopped = true;
                 throw;
               }
             });
}

}  // namespace krysol::cache_layout
