// A small picture of where a matrix has entries, to be kept with results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/report/spy.hpp>

namespace krysol::report::html {

/// SpyGrid with nine shades.
struct SpyCells {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t>
      shades;  // [height, width] 0: no entry; 1 to 9: the logarithm of density

  bool known() const { return height > 0 && width > 0; }
};

SpyCells cells_of(const SpyGrid& grid);

/// "HEIGHTxWIDTH:" and rows of digits joined by slashes, without the zeros at their ends; a digit
/// that is repeated N >= 4 times as *NdD, as in *12d3. Empty where there are no cells.
std::string encoded(const SpyCells& cells);

/// Throws std::invalid_argument for what `encoded` does not make, or more than 2^20 cells.
SpyCells decoded_spy(std::string_view text);

}  // namespace krysol::report::html
