// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/hyb.hpp>

#include <vector>

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

}  // namespace krysol
