// The picture around a spy plot: frame, numbers, caption.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include <krysol/report/letters.hpp>
#include <krysol/report/spy.hpp>
#include <krysol/report/text.hpp>

namespace krysol::report {
namespace {

constexpr std::uint8_t white = 255;
constexpr std::uint8_t ink = 0;

/// A text whose letters have dots of `dot` x `dot` pixels; y is its upper edge.
void write(Image& image, int y, int x, std::string_view text, int dot) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const int left = x + static_cast<int>(k) * letter_advance * dot;
    for (int row = 0; row < letter_height; ++row) {
      for (int col = 0; col < letter_width; ++col) {
        if (letter_has(text[k], row, col)) {
          image.fill(y + row * dot, left + col * dot, dot, dot, ink);
        }
      }
    }
  }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
std::int64_t round_step(double least) {
  std::int64_t power = 1;
  for (;; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (static_cast<double>(digit * power) >= least) return digit * power;
    }
  }
}

/// How many of n rows apart the numbers stand, where `spacing` pixels are the least.
std::int64_t tick_step(std::int64_t n, int pixels, int spacing) {
  return round_step(std::max(1.0, static_cast<double>(n) * spacing / pixels));
}

/// Rows or columns to be numbered: the first, and multiples of the step; 1, 3, 5 where that is 2.
std::vector<std::int64_t> ticks(std::int64_t n, std::int64_t step) {
  std::vector<std::int64_t> out = {1};
  for (std::int64_t v = step <= 2 ? 1 + step : step; v <= n; v += step) out.push_back(v);
  return out;
}

/// The middle of row v, from 1.
int middle(std::int64_t v, std::int64_t n, int pixels) {
  return static_cast<int>((static_cast<double>(v) - 0.5) * pixels / static_cast<double>(n));
}

/// At most `letters` of a name: its end tells more than its beginning.
std::string fitting(const std::string& text, std::size_t letters) {
  if (text.size() <= letters) return text;
  return ".." + text.substr(text.size() - (letters - 2));
}

struct Measures {
  int dot;   // pixels of a dot of the letters
  int line;  // from one line of text to the next
  int tick;  // length of a tick
  int left;  // of the cells
  int top;
  int high;  // of the cells together
  int wide;
};

void draw_cells(Image& image, const SpyGrid& grid, const SpyLayout& l, const Measures& m) {
  const Densities of = densities_of(grid);
  // Wide cells are set apart, so that they can be counted.
  const int gap_y = l.cell_height >= 6 ? 1 : 0;
  const int gap_x = l.cell_width >= 6 ? 1 : 0;
  for (int p = 0; p < grid.height; ++p) {
    for (int q = 0; q < grid.width; ++q) {
      if (grid.at(p, q) == 0) continue;
      image.fill(m.top + p * l.cell_height, m.left + q * l.cell_width, l.cell_height - gap_y,
                 l.cell_width - gap_x, gray_of(shade_of(grid.density(p, q), of)));
    }
  }
}

void draw_frame(Image& image, const Measures& m) {
  const int w = std::max(1, m.dot / 2);
  image.fill(m.top - w, m.left - w, w, m.wide + 2 * w, ink);
  image.fill(m.top + m.high, m.left - w, w, m.wide + 2 * w, ink);
  image.fill(m.top - w, m.left - w, m.high + 2 * w, w, ink);
  image.fill(m.top - w, m.left + m.wide, m.high + 2 * w, w, ink);
}

int number_width(std::int64_t n, int dot) { return text_width(grouped(n)) * dot; }

void draw_axes(Image& image, const SpyGrid& grid, const Measures& m) {
  const int w = std::max(1, m.dot / 2);
  const int spacing = number_width(grid.cols, m.dot) + 4 * letter_width * m.dot;
  std::int64_t row_step = tick_step(grid.rows, m.high, 3 * letter_height * m.dot);
  const std::int64_t col_step = tick_step(grid.cols, m.wide, spacing);
  if (grid.rows == grid.cols) row_step = std::max(row_step, col_step);
  for (const std::int64_t v : ticks(grid.rows, row_step)) {
    const int y = m.top + middle(v, grid.rows, m.high);
    image.fill(y, m.left - w - m.tick, w, m.tick, ink);
    write(image, y - 7 * m.dot / 2, m.left - w - m.tick - 2 * m.dot - number_width(v, m.dot),
          grouped(v), m.dot);
  }
  for (const std::int64_t v : ticks(grid.cols, col_step)) {
    const int x = m.left + middle(v, grid.cols, m.wide);
    image.fill(m.top - w - m.tick, x, m.tick, w, ink);
    write(image, m.top - w - m.tick - 9 * m.dot, x - number_width(v, m.dot) / 2, grouped(v), m.dot);
  }
}

/// "density 0.04 [gray .. black] 1"
void draw_legend(Image& image, int y, const SpyGrid& grid, const Measures& m) {
  const Densities of = densities_of(grid);
  const std::string lowest = fmt::format("density {:.2g} ", of.smallest);
  const std::string highest = fmt::format(" {:.2g}", of.largest);
  const int bar = 60 * m.dot;
  const int letters = static_cast<int>(lowest.size() + highest.size()) * letter_advance * m.dot;
  int x = std::max(m.dot, m.left + (m.wide - bar - letters) / 2);
  write(image, y, x, lowest, m.dot);
  x += static_cast<int>(lowest.size()) * letter_advance * m.dot;
  for (int k = 0; k < bar; ++k) {
    image.fill(y, x + k, 7 * m.dot, 1, gray_of(k / static_cast<double>(bar - 1)));
  }
  write(image, y, x + bar, highest, m.dot);
}

double to_srgb(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

}  // namespace

Image::Image(int h, int w)
    : height(h), width(w), gray(static_cast<std::size_t>(h) * static_cast<std::size_t>(w), white) {}

void Image::fill(int y, int x, int h, int w, std::uint8_t shade) {
  const int first = std::max(0, x);
  const int last = std::min(width, x + w);
  if (first >= last) return;
  for (int r = std::max(0, y); r < std::min(height, y + h); ++r) {
    const auto row = gray.begin() + static_cast<std::ptrdiff_t>(r) * width;
    std::fill(row + first, row + last, shade);
  }
}

std::uint8_t gray_of(double shade) {
  constexpr double lightest = 68;
  constexpr double darkest = 4;
  const double lightness = lightest + shade * (darkest - lightest);
  const double root = (lightness + 16) / 116;
  const double luminance = lightness > 8 ? root * root * root : lightness / 903.3;
  return static_cast<std::uint8_t>(std::lround(255 * to_srgb(luminance)));
}

SpyPicture draw_spy(const SpyGrid& grid, const SpyLayout& layout,
                    const std::vector<std::string>& caption) {
  Measures m{};
  m.high = std::max(1, layout.height * layout.cell_height);
  m.wide = std::max(1, layout.width * layout.cell_width);
  m.dot = std::max(1, (std::max(m.high, m.wide) + 200) / 400);
  m.line = 12 * m.dot;
  m.tick = 3 * m.dot;
  m.left = number_width(std::max<std::int64_t>(1, grid.rows), m.dot) + m.tick + 6 * m.dot;
  m.top = m.line + m.tick + 4 * m.dot;
  const bool legend = !grid.exact() && grid.height > 0 && grid.width > 0;
  const int right = std::max(m.left / 2, number_width(grid.cols, m.dot) / 2 + 2 * m.dot);
  const int lines = static_cast<int>(caption.size()) + (legend ? 1 : 0);
  const int least_width = 36 * letter_advance * m.dot;  // that captions need
  const int width = std::max(m.left + m.wide + right, least_width);
  m.left += (width - (m.left + m.wide + right)) / 2;
  SpyPicture out{Image(m.top + m.high + lines * m.line + 8 * m.dot, width), m.left, m.top};
  draw_cells(out.image, grid, layout, m);
  draw_frame(out.image, m);
  if (grid.height > 0 && grid.width > 0) draw_axes(out.image, grid, m);
  int y = m.top + m.high + 4 * m.dot;
  for (const std::string& text : caption) {
    const std::string shown =
        fitting(text, static_cast<std::size_t>((width - 4 * m.dot) / (letter_advance * m.dot)));
    const int centred = m.left + (m.wide - text_width(shown) * m.dot) / 2;
    const int last = width - text_width(shown) * m.dot - m.dot;
    write(out.image, y, std::max(m.dot, std::min(centred, last)), shown, m.dot);
    y += m.line;
  }
  if (legend) draw_legend(out.image, y, grid, m);
  return out;
}

}  // namespace krysol::report
