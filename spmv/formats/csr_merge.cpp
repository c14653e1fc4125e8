// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/csr_merge.hpp>

#include <fmt/core.h>

namespace krysol {

FormatEstimate estimate_csr_merge(const MatrixProfile& matrix) {
  // Cutting within rows costs little where they are long, and is of use where they are uneven.
  const double mean = matrix.mean_row();
  if (mean >= 24 || matrix.longest_row() >= 4 * mean) return {matrix.csr_bytes()};
  return {matrix.csr_bytes(),
          fmt::format("rows of {:.1f} and at most {} nonzeros are equal work as they are", mean,
                      matrix.longest_row())};
}

std::vector<Index> merge_pieces(const Offset* row_ptr, Index rows, Offset length) {
  std::vector<Index> piece_row = {0};
  const Offset steps = rows == 0 ? 0 : rows + row_ptr[rows];
  for (Offset step = length; step < steps; step += length) {
    // Row i ends with step row_ptr[i + 1] + i.
    Index low = piece_row.back();
    Index high = rows;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (row_ptr[middle + 1] + middle < step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    piece_row.push_back(low);
  }
  if (rows > 0) piece_row.push_back(rows);
  return piece_row;
}

}  // namespace krysol
