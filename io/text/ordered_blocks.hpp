// Text that several threads make in blocks, written in the order of the blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/text/threads.hpp>
#include <krysol/spmv/base/array.hpp>

namespace krysol {

/// Writes the texts of blocks 0 <= k < `blocks` in this order; `make(k, text)` replaces `text`, and
/// any thread may call it. Where `made_of_streams`, each block is a stream, made by the thread that
/// made its text, so what the file holds depends on where blocks end, but not on `threads`; a
/// single block, and any of the other compressions, goes on with the stream of what was written
/// before. Memory: two texts a thread.
/// Rethrows what `make` throws, and FileError of the file; then not all was written.
void write_in_order(OutputFile& file, std::size_t blocks, int threads,
                    const std::function<void(std::size_t, Array<char>&)>& make);

/// The smallest k < n for which `is(k)` is true, or n; searched by several threads.
template <class Is>
std::size_t find_first(std::size_t n, int threads, const Is& is) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> first{n};
  const auto search = [&] {
    for (;;) {
      const std::size_t begin = next.fetch_add(block);
      // Blocks are given out in order: all before `first` are being searched to their ends.
      if (begin >= first) return;
      const std::size_t end = std::min(n, begin + block);
      std::size_t k = begin;
      while (k < end && !is(k)) ++k;
      if (k == end) continue;
      for (std::size_t seen = first; k < seen && !first.compare_exchange_weak(seen, k);) {
      }
      return;
    }
  };
  const std::size_t blocks = n / block + 1;
  on_threads(static_cast<int>(std::min<std::size_t>(blocks, static_cast<std::size_t>(threads))),
             search);
  return first;
}

}  // namespace krysol
