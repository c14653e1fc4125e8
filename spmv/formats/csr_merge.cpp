// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/csr_merge.hpp>

namespace krysol {

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
