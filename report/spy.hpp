// Where a matrix has entries, as a picture: the share of stored places, pixel by pixel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krysol::analysis {
struct Pattern;
}

namespace krysol::report {

using analysis::Pattern;

/// A matrix cut into height x width cells: row i is in the cells of row floor(i height / rows),
/// column j in those of column floor(j width / cols).
struct SpyGrid {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int height = 0;                    // at most rows
  int width = 0;                     // at most cols
  std::vector<std::int64_t> stored;  // [height, width] stored places of each cell

  std::int64_t first_row(int p) const { return (p * rows + height - 1) / height; }
  std::int64_t first_col(int q) const { return (q * cols + width - 1) / width; }
  std::int64_t at(int p, int q) const {
    return stored[static_cast<std::size_t>(p) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(q)];
  }
  /// Stored places / places of a cell.
  double density(int p, int q) const;
  /// Each cell is one place.
  bool exact() const { return height == rows && width == cols; }
};

/// height and width are cut down to rows and cols. O(nnz), and 8 bytes a cell.
SpyGrid spy_density(const Pattern& a, int height, int width);

/// The smallest density of a cell that is not empty, and the largest; both 0 where all are empty.
struct Densities {
  double smallest = 0;
  double largest = 0;
};
Densities densities_of(const SpyGrid& grid);

/// 0 for the smallest density, 1 for the largest, between them as the logarithm: a single entry of
/// a large matrix is then as plain to see as a dense block is dark.
double shade_of(double density, const Densities& of);

/// Cells for a picture whose longer side has about `size` pixels, up to 4/3 of that. A cell is
/// drawn as `cell_height` x `cell_width` pixels, more than one for a small matrix; the shorter side
/// has size / 8 at least.
struct SpyLayout {
  int height = 0;
  int width = 0;
  int cell_height = 1;
  int cell_width = 1;
};
SpyLayout spy_layout(std::int64_t rows, std::int64_t cols, int size);

/// Gray, 0 black to 255 white, as sRGB.
struct Image {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> gray;  // [height, width]

  Image(int h, int w);
  std::uint8_t at(int y, int x) const {
    return gray[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(x)];
  }
  /// Nothing is drawn outside of the picture.
  void fill(int y, int x, int h, int w, std::uint8_t shade);
};

/// The gray of a shade from 0 to 1: equal steps of it are equal steps of lightness (CIE L*), from
/// a light gray that one pixel shows on white, to nearly black.
std::uint8_t gray_of(double shade);

/// The picture with a frame, numbers of rows and columns from 1, the lines of the caption, and what
/// the grays mean. `left` and `top` are where the cells begin in it.
struct SpyPicture {
  Image image;
  int left = 0;
  int top = 0;
};
SpyPicture draw_spy(const SpyGrid& grid, const SpyLayout& layout,
                    const std::vector<std::string>& caption);

/// A PNG file's bytes. Throws std::runtime_error where this build has no libpng.
std::string png_of(const Image& image);
bool has_png();

/// For a terminal, `columns` letters wide at most. Unicode: a dot of a Braille letter for each cell
/// that holds anything; ASCII: letters from '.' to '@' by the shade of the density. A matrix that
/// is small enough gets two letters a place.
std::string spy_text(const Pattern& a, int columns, bool ascii);

}  // namespace krysol::report
