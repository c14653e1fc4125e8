// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/multivector.hpp>

#include <stdexcept>

#include <fmt/core.h>

namespace krysol::detail {

void check_same_shape(std::string_view function, std::int64_t rows, std::int64_t cols,
                      std::int64_t other_rows, std::int64_t other_cols) {
  if (rows == other_rows && cols == other_cols) return;
  throw std::invalid_argument(fmt::format("{}: {} x {} numbers are needed, not {} x {}", function,
                                          rows, cols, other_rows, other_cols));
}

}  // namespace krysol::detail
