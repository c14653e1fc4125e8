// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/node_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

#include <krysol/spmv/base/vector.hpp>

namespace krysol::multigrid {
namespace {

/// Entries over places in the blocks of b x b that they touch.
double fill_of_blocks(const Offset* row_ptr, const Index* col_idx, Index rows, Index b) {
  constexpr Index sample = 512;
  const Index block_rows = rows / b;
  const Index stride = std::max<Index>(1, block_rows / sample);
  const EqualBlocks pieces{(std::int64_t{block_rows} + stride - 1) / stride, 32};
  std::atomic<Offset> entries{0};
  std::atomic<Offset> places{0};
  host_for("krysol::fill_of_blocks", pieces.count(), [&](std::int64_t piece) {
    std::vector<Index> touched;
    for (std::int64_t s = pieces.first(piece); s < pieces.last(piece); ++s) {
      const Offset node = s * stride;
      const Offset begin = row_ptr[node * b];
      const Offset end = row_ptr[(node + 1) * b];
      touched.clear();
      for (Offset k = begin; k < end; ++k) {
        const Index at = col_idx[k] / b;
        if (touched.empty() || touched.back() != at) touched.push_back(at);
      }
      std::sort(touched.begin(), touched.end());
      const auto blocks = std::unique(touched.begin(), touched.end()) - touched.begin();
      entries += end - begin;
      places += blocks * b * b;
    }
  });
  return places > 0 ? static_cast<double>(entries) / static_cast<double>(places) : 0;
}

}  // namespace

Index rows_of_node(const Offset* row_ptr, const Index* col_idx, Index rows, Index most) {
  constexpr double full =
      0.87;  // a band of five in blocks of two: 0.83; plane strain on squares: 0.94
  constexpr double margin = 0.15;  // to what blocks of another size would show
  Index found = 1;
  double best = full;  // a multiple of the block is less full, a divisor as full
  for (Index b = 2; b <= most; ++b) {
    if (rows % b != 0) continue;
    const double fill = fill_of_blocks(row_ptr, col_idx, rows, b);
    if (fill < best - (found > 1 ? 1e-9 : 0)) continue;
    // Where rows are dense, blocks of any size are full, and show no nodes.
    if (fill - fill_of_blocks(row_ptr, col_idx, rows, b + 1) < margin) continue;
    found = b;
    best = fill;
  }
  return found;
}

}  // namespace krysol::multigrid
