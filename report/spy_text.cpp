// Spy plots in letters.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <krysol/analysis/host_rows.hpp>
#include <krysol/report/spy.hpp>

namespace krysol::report {
using namespace analysis;  // NOLINT(google-build-using-namespace)
namespace {

/// What a plot is drawn with.
struct Frame {
  std::string_view corner[4];  // upper left, upper right, lower left, lower right
  std::string_view across;
  std::string_view down;
};
constexpr Frame unicode{{"┌", "┐", "└", "┘"}, "─", "│"};
constexpr Frame plain{{"+", "+", "+", "+"}, "-", "|"};

std::string utf8(unsigned letter) {  // of U+0800 .. U+FFFF
  return {static_cast<char>(0xE0U | (letter >> 12U)),
          static_cast<char>(0x80U | ((letter >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (letter & 0x3FU))};
}

/// The lines of a plot, framed, with the numbers of the first and last row and column.
std::string framed(const std::vector<std::string>& lines, int width, const SpyGrid& grid,
                   const Frame& frame) {
  const std::string last_row = fmt::format("{}", grid.rows);
  const std::string last_col = fmt::format("{}", grid.cols);
  const std::size_t margin = last_row.size();
  std::string bar;
  for (int k = 0; k < width; ++k) bar += frame.across;
  // Where both numbers of columns have no room, the last one says enough.
  const bool both = static_cast<std::size_t>(width) > last_col.size() + 1;
  std::string out = fmt::format("{:>{}} {}{:>{}}\n", "", margin + 1, both ? "1" : "", last_col,
                                std::max<int>(0, width - (both ? 1 : 0)));
  out += fmt::format("{:>{}} {}{}{}\n", "", margin, frame.corner[0], bar, frame.corner[1]);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const bool last = k + 1 == lines.size();
    out += fmt::format("{:>{}} {}{}{}\n",
                       last     ? last_row
                       : k == 0 ? "1"
                                : "",
                       margin, frame.down, lines[k], frame.down);
  }
  return out + fmt::format("{:>{}} {}{}{}\n", "", margin, frame.corner[2], bar, frame.corner[3]);
}

/// Two letters a place: "# . #".
std::string by_places(const SpyGrid& grid, bool ascii) {
  std::vector<std::string> lines;
  for (int p = 0; p < grid.height; ++p) {
    std::string line = " ";
    for (int q = 0; q < grid.width; ++q) {
      line += grid.at(p, q) > 0 ? (ascii ? "#" : "■") : (ascii ? "." : "·");
      line += ' ';
    }
    lines.push_back(line);
  }
  return framed(lines, 2 * grid.width + 1, grid, ascii ? plain : unicode);
}

/// The dots of a Braille letter, by their bits: row by row of its four rows.
constexpr unsigned braille_dot[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

std::string in_braille(const SpyGrid& grid) {
  std::vector<std::string> lines;
  const int width = (grid.width + 1) / 2;
  for (int line = 0; line < (grid.height + 3) / 4; ++line) {
    std::string text;
    for (int letter = 0; letter < width; ++letter) {
      unsigned dots = 0;
      for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 2; ++x) {
          const int p = 4 * line + y;
          const int q = 2 * letter + x;
          if (p < grid.height && q < grid.width && grid.at(p, q) > 0) dots |= braille_dot[y][x];
        }
      }
      text += utf8(0x2800U + dots);
    }
    lines.push_back(text);
  }
  return framed(lines, width, grid, unicode) +
         (grid.exact() ? std::string("a dot is an entry\n")
                       : fmt::format("a dot is a block of about {} x {} places with an entry\n",
                                     (grid.rows + grid.height - 1) / grid.height,
                                     (grid.cols + grid.width - 1) / grid.width));
}

std::string in_ascii(const SpyGrid& grid) {
  constexpr std::string_view letters = ".:-=+*#%@";
  const Densities of = densities_of(grid);
  std::vector<std::string> lines;
  for (int p = 0; p < grid.height; ++p) {
    std::string line;
    for (int q = 0; q < grid.width; ++q) {
      if (grid.at(p, q) == 0) {
        line += ' ';
        continue;
      }
      const double shade = shade_of(grid.density(p, q), of);
      line += letters[static_cast<std::size_t>(std::lround(shade * (letters.size() - 1)))];
    }
    lines.push_back(line);
  }
  return framed(lines, grid.width, grid, plain) +
         fmt::format("density from {:.2g} (.) to {:.2g} (@)\n", of.smallest, of.largest);
}

/// Cells of the longer side are `most`; the other side has as many as its share.
SpyGrid cells(const Pattern& a, double most_high, double most_wide, double high_by_wide) {
  const double rows = a.rows;
  const double cols = a.cols;
  double wide = most_wide;
  double high = wide * high_by_wide * rows / cols;
  if (high > most_high) {
    wide = std::max(most_wide / 8, wide * most_high / high);
    high = most_high;
  }
  high = std::max(high, most_high / 16);
  return spy_density(a, static_cast<int>(std::lround(high)), static_cast<int>(std::lround(wide)));
}

}  // namespace

std::string spy_text(const Pattern& a, int columns, bool ascii) {
  if (a.rows == 0 || a.cols == 0) return {};
  const int width = columns - static_cast<int>(std::to_string(a.rows).size()) - 3;
  if (2 * a.cols + 1 <= width && a.rows <= 40) {
    return by_places(spy_density(a, a.rows, a.cols), ascii);
  }
  // A letter is about twice as high as wide, and no plot higher than a screen.
  if (ascii) return in_ascii(cells(a, 36, width, 0.5));
  return in_braille(cells(a, 4 * 36, 2 * width, 1));
}

}  // namespace krysol::report
