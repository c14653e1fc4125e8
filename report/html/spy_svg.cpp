// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/spy_svg.hpp>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <krysol/report/text.hpp>

namespace krysol::report::html {

std::string as_svg(const SpyCells& cells, std::int64_t rows, std::int64_t cols,
                   std::int64_t nonzeros) {
  constexpr std::size_t shades = 10;
  if (!cells.known()) return {};
  std::array<std::string, shades> runs;  // of each shade: strokes along its cells
  const auto width = static_cast<std::size_t>(cells.width);
  for (std::size_t p = 0; p < static_cast<std::size_t>(cells.height); ++p) {
    const std::uint8_t* const row = cells.shades.data() + p * width;
    for (std::size_t q = 0; q < width;) {
      std::size_t end = q;
      while (end < width && row[end] == row[q]) ++end;
      if (row[q] > 0 && row[q] < shades) runs[row[q]] += fmt::format("M{} {}.5h{}", q, p, end - q);
      q = end;
    }
  }
  std::string out = fmt::format(
      "<svg class=\"spy\" role=\"img\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"xMidYMid\" "
      "aria-label=\"Where the matrix has entries: {} rows, {} columns, {}; darker is denser\">",
      cells.width, cells.height, grouped(rows), grouped(cols),
      plural(nonzeros, "nonzero", "nonzeros"));
  for (std::size_t s = 1; s < shades; ++s) {
    if (runs[s].empty()) continue;
    out += fmt::format("<path opacity=\"{:.2f}\" d=\"{}\"/>",
                       0.25 + 0.75 * static_cast<double>(s - 1) / (shades - 2), runs[s]);
  }
  return out + "</svg>\n";
}

}  // namespace krysol::report::html
