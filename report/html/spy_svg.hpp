// Where a matrix has entries, as SVG in the colours of the page.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include <krysol/report/html/spy_cells.hpp>

namespace krysol::report::html {

/// One <svg> element, or nothing where there are no cells. rows, cols, nonzeros: of the matrix.
std::string as_svg(const SpyCells& cells, std::int64_t rows, std::int64_t cols,
                   std::int64_t nonzeros);

}  // namespace krysol::report::html
