// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/hyb.hpp>

#include <vector>

#include <krysol/spmv/kernels/slices.hpp>

namespace krysol {

Index hyb_width(const Offset* row_ptr, Index rows) {
  Offset longest = 0;
  for (Index i = 0; i < rows; ++i) longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
  std::vector<Index> rows_of_length(static_cast<std::size_t>(longest) + 1, 0);
  for (Index i = 0; i < rows; ++i) {
    ++rows_of_length[static_cast<std::size_t>(row_ptr[i + 1] - row_ptr[i])];
  }
  std::int64_t at_least = 0;  // rows of this length or longer
  for (Offset width = longest; width > 0; --width) {
    at_least += rows_of_length[static_cast<std::size_t>(width)];
    if (3 * at_least >= rows) return static_cast<Index>(width);
  }
  return 0;
}

FormatEstimate estimate_hyb(const MatrixProfile& matrix) {
  const Offset* row_ptr = matrix.row_ptr();
  const Offset width = hyb_width(row_ptr, matrix.rows());
  Offset rest = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    rest += std::max<Offset>(0, row_ptr[i + 1] - row_ptr[i] - width);
  }
  const std::int64_t bytes =
      width * matrix.rows() * matrix.slot_bytes() +
      rest * (matrix.slot_bytes() + static_cast<std::int64_t>(sizeof(Index)));
  return {bytes, refuse_more_than(bytes, 1.3, matrix.csr_bytes(), "csr")};
}

}  // namespace krysol
