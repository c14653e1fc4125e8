// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/spy.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/analysis/host_rows.hpp>

namespace krysol::report {
using namespace analysis;  // NOLINT(google-build-using-namespace)
namespace {

/// Pixels of a side of `n` rows, where the longer side has `longest`.
int side(std::int64_t n, std::int64_t longest, int size) {
  const auto share = static_cast<double>(n) / static_cast<double>(longest);
  return std::max(size / 8, static_cast<int>(std::lround(share * size)));
}

}  // namespace

double SpyGrid::density(int p, int q) const {
  const double places = static_cast<double>(first_row(p + 1) - first_row(p)) *
                        static_cast<double>(first_col(q + 1) - first_col(q));
  return static_cast<double>(at(p, q)) / places;
}

SpyGrid spy_density(const Pattern& a, int height, int width) {
  SpyGrid grid;
  grid.rows = a.rows;
  grid.cols = a.cols;
  grid.height = static_cast<int>(std::min<std::int64_t>(height, a.rows));
  grid.width = static_cast<int>(std::min<std::int64_t>(width, a.cols));
  const auto row = static_cast<std::size_t>(grid.width);
  grid.stored.assign(static_cast<std::size_t>(grid.height) * row, 0);
  if (grid.width == 0) return grid;
  // A row of cells is a range of rows of the matrix, so that no two threads count for one cell.
  host_for_much("krysol::spy_density", grid.height, a.nnz(), [&](std::int64_t p) {
    std::int64_t* const mine = grid.stored.data() + static_cast<std::size_t>(p) * row;
    const Offset begin = a.row_ptr[grid.first_row(static_cast<int>(p))];
    const Offset end = a.row_ptr[grid.first_row(static_cast<int>(p) + 1)];
    for (Offset k = begin; k < end; ++k) {
      ++mine[std::int64_t{a.col_idx[k]} * grid.width / grid.cols];
    }
  });
  return grid;
}

Densities densities_of(const SpyGrid& grid) {
  Densities out;
  for (int p = 0; p < grid.height; ++p) {
    for (int q = 0; q < grid.width; ++q) {
      if (grid.at(p, q) == 0) continue;
      const double d = grid.density(p, q);
      out.smallest = out.largest == 0 ? d : std::min(out.smallest, d);
      out.largest = std::max(out.largest, d);
    }
  }
  return out;
}

double shade_of(double density, const Densities& of) {
  if (!(of.smallest < of.largest)) return 1;
  return std::log(density / of.smallest) / std::log(of.largest / of.smallest);
}

SpyLayout spy_layout(std::int64_t rows, std::int64_t cols, int size) {
  SpyLayout out;
  if (rows == 0 || cols == 0) return out;
  const std::int64_t longest = std::max(rows, cols);
  // A picture a little larger than asked for shows each place as it is.
  if (longest > size && 3 * longest <= 4 * std::int64_t{size}) size = static_cast<int>(longest);
  const int high = side(rows, longest, size);
  const int wide = side(cols, longest, size);
  out.height = static_cast<int>(std::min<std::int64_t>(rows, high));
  out.width = static_cast<int>(std::min<std::int64_t>(cols, wide));
  // Cells of equal size: rounding each to a pixel of its own would show as stripes.
  out.cell_height = static_cast<int>(std::lround(static_cast<double>(high) / out.height));
  out.cell_width = static_cast<int>(std::lround(static_cast<double>(wide) / out.width));
  return out;
}

}  // namespace krysol::report
