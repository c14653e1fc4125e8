// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/node_blocks.hpp>

#include <algorithm>
#include <vector>

namespace krysol::multigrid {
namespace {

/// Entries over places in the blocks of b x b that they touch.
double fill_of_blocks(const Offset* row_ptr, const Index* col_idx, Index rows, Index b) {
  constexpr Index sample = 512;
  const Index block_rows = rows / b;
  const Index stride = std::max<Index>(1, block_rows / sample);
  std::vector<Index> touched;
  double entries = 0;
  double places = 0;
  for (Index node = 0; node < block_rows; node += stride) {
    const Offset begin = row_ptr[Offset{node} * b];
    const Offset end = row_ptr[(Offset{node} + 1) * b];
    touched.clear();
    for (Offset k = begin; k < end; ++k) touched.push_back(col_idx[k] / b);
    std::sort(touched.begin(), touched.end());
    const auto blocks = std::unique(touched.begin(), touched.end()) - touched.begin();
    entries += static_cast<double>(end - begin);
    places += static_cast<double>(blocks) * b * b;
  }
  return places > 0 ? entries / places : 0;
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
