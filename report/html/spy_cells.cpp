// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/spy_cells.hpp>

#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>

namespace krysol::report::html {
namespace {

[[noreturn]] void refuse_spy(std::string_view text) {
  throw std::invalid_argument(fmt::format(
      "a picture of a matrix: HEIGHTxWIDTH:DIGITS was expected, found '{}'", text.substr(0, 40)));
}

int number_at(std::string_view& text, char end, std::string_view all) {
  int n = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const auto length = static_cast<std::size_t>(stop - text.data());
  if (error != std::errc{} || n < 1 || length >= text.size() || *stop != end) refuse_spy(all);
  text.remove_prefix(length + 1);
  return n;
}

}  // namespace

SpyCells cells_of(const SpyGrid& grid) {
  constexpr double most = 9;
  SpyCells out;
  out.height = grid.height;
  out.width = grid.width;
  const Densities of = densities_of(grid);
  out.shades.reserve(grid.stored.size());
  for (int p = 0; p < grid.height; ++p) {
    for (int q = 0; q < grid.width; ++q) {
      const double shade =
          grid.at(p, q) == 0 ? 0
                             : 1 + std::floor((most - 1) * shade_of(grid.density(p, q), of) + 0.5);
      out.shades.push_back(static_cast<std::uint8_t>(shade));
    }
  }
  return out;
}

std::string encoded(const SpyCells& cells) {
  constexpr int worth_it = 4;
  if (!cells.known()) return {};
  std::string out = fmt::format("{}x{}:", cells.height, cells.width);
  for (int p = 0; p < cells.height; ++p) {
    const std::uint8_t* const row =
        cells.shades.data() + static_cast<std::size_t>(p) * static_cast<std::size_t>(cells.width);
    int last = cells.width;
    while (last > 0 && row[last - 1] == 0) --last;
    for (int q = 0; q < last;) {
      int end = q;
      while (end < last && row[end] == row[q]) ++end;
      const int count = end - q;
      if (count >= worth_it) {
        out += fmt::format("*{}d{}", count, row[q]);
      } else {
        out += std::string(static_cast<std::size_t>(count), static_cast<char>('0' + row[q]));
      }
      q = end;
    }
    if (p + 1 < cells.height) out += '/';
  }
  return out;
}

SpyCells decoded_spy(std::string_view text) {
  constexpr std::int64_t most_cells = std::int64_t{1} << 20;
  if (text.empty()) return {};
  std::string_view rest = text;
  SpyCells out;
  out.height = number_at(rest, 'x', text);
  out.width = number_at(rest, ':', text);
  if (std::int64_t{out.height} * out.width > most_cells) refuse_spy(text);
  const auto width = static_cast<std::size_t>(out.width);
  out.shades.assign(static_cast<std::size_t>(out.height) * width, 0);
  std::size_t p = 0;
  std::size_t q = 0;
  while (!rest.empty()) {
    if (rest.front() == '/') {
      rest.remove_prefix(1);
      q = 0;
      if (++p >= static_cast<std::size_t>(out.height)) refuse_spy(text);
      continue;
    }
    int count = 1;
    if (rest.front() == '*') {
      rest.remove_prefix(1);
      count = number_at(rest, 'd', text);
    }
    if (rest.empty() || rest.front() < '0' || rest.front() > '9') refuse_spy(text);
    const auto shade = static_cast<std::uint8_t>(rest.front() - '0');
    rest.remove_prefix(1);
    if (q + static_cast<std::size_t>(count) > width) refuse_spy(text);
    for (int k = 0; k < count; ++k) out.shades[p * width + q++] = shade;
  }
  return out;
}

}  // namespace krysol::report::html
