// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/kernels/row_loop.hpp>

#include <stdexcept>

#include <fmt/core.h>

namespace krysol {

void check_sizes(std::string_view function, Index rows, Index cols, std::size_t x, std::size_t y) {
  if (x == static_cast<std::size_t>(cols) && y == static_cast<std::size_t>(rows)) return;
  throw std::invalid_argument(
      fmt::format("{}: y = A x with A {} x {}, x of {} entries and y of {}; x needs {} and y {}",
                  function, rows, cols, x, y, cols, rows));
}

void check_square(std::string_view function, std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  throw std::invalid_argument(
      fmt::format("{}: x'Ax needs a square matrix, A is {} x {}", function, rows, cols));
}

}  // namespace krysol
