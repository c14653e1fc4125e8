// Spy plots: counts against brute force, pictures pixel by pixel, as PNG files and in letters.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/host_rows.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "report/letters.hpp"
#include "report/spy.hpp"
#ifdef KRYSOL_HAVE_PNG
#include <png.h>
#endif

namespace {

using namespace krysol_tests;
using namespace krysol::analysis;
using namespace krysol::report;
using krysol::to_csr;

struct Shape {
  Index rows;
  Index cols;
  int height;
  int width;
};

/// How many of n rows belong to cell p of m, one by one.
std::int64_t rows_of_cell(std::int64_t n, int m, int p) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += i * m / n == p ? 1 : 0;
  return count;
}

TEST(Spy, CountsTheStoredPlacesOfEachCell) {
  for (const auto& [rows, cols, height, width] : {Shape{50, 50, 7, 7},
                                                  {50, 50, 50, 50},
                                                  {50, 50, 80, 90},
                                                  {31, 97, 10, 13},
                                                  {97, 31, 64, 3},
                                                  {1, 1, 5, 5},
                                                  {1, 200, 9, 9},
                                                  {200, 1, 9, 9},
                                                  {640, 480, 33, 47}}) {
    const auto a = to_csr(random_sparse<double>(rows, cols, 4, 3)).matrix;
    const SpyGrid grid = spy_density(pattern_of(a), height, width);
    EXPECT_EQ(grid.height, std::min<int>(height, rows));
    EXPECT_EQ(grid.width, std::min<int>(width, cols));
    std::vector<std::int64_t> stored(static_cast<std::size_t>(grid.height * grid.width), 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (auto k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
        const std::int64_t j = a.col_idx(static_cast<std::size_t>(k));
        ++stored[static_cast<std::size_t>(i * grid.height / rows * grid.width +
                                          j * grid.width / cols)];
      }
    }
    EXPECT_EQ(grid.stored, stored);
    for (int p = 0; p < grid.height; ++p) {
      for (int q = 0; q < grid.width; ++q) {
        const auto places = static_cast<double>(rows_of_cell(rows, grid.height, p) *
                                                rows_of_cell(cols, grid.width, q));
        ASSERT_DOUBLE_EQ(grid.density(p, q), static_cast<double>(grid.at(p, q)) / places);
        ASSERT_LE(grid.density(p, q), 1);
      }
    }
    EXPECT_EQ(grid.exact(), height >= rows && width >= cols);
  }
}

TEST(Spy, OfAMatrixWithoutPlaces) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 7}, {7, 0}, {5, 5}}) {
    const auto a = to_csr(no_entries<double>(rows, cols)).matrix;
    const SpyLayout layout = spy_layout(rows, cols, 100);
    const SpyGrid grid = spy_density(pattern_of(a), layout.height, layout.width);
    const SpyPicture picture = draw_spy(grid, layout, {"empty"});
    EXPECT_GT(picture.image.width, 0);
    EXPECT_EQ(densities_of(grid).largest, 0);
    EXPECT_EQ(spy_text(pattern_of(a), 60, true).empty(), rows == 0 || cols == 0);
  }
}

TEST(Spy, OfAMatrixBeyondThirtyTwoBitsOfPlaces) {
  auto t = no_entries<double>(3000000, 3000000);
  t.add(0, 0, 1);
  t.add(2999999, 2999999, 1);
  t.add(1500000, 2999999, 1);
  const auto a = to_csr(t).matrix;
  const SpyGrid grid = spy_density(pattern_of(a), 800, 800);
  EXPECT_EQ(grid.at(0, 0), 1);
  EXPECT_EQ(grid.at(799, 799), 1);
  EXPECT_EQ(grid.at(400, 799), 1);
  EXPECT_DOUBLE_EQ(grid.density(0, 0), 1 / (3750.0 * 3750.0));
}

TEST(Spy, ShadesByTheLogarithmOfTheDensity) {
  const Densities of{1e-4, 1};
  EXPECT_DOUBLE_EQ(shade_of(1e-4, of), 0);
  EXPECT_DOUBLE_EQ(shade_of(1e-2, of), 0.5);
  EXPECT_DOUBLE_EQ(shade_of(1, of), 1);
  EXPECT_EQ(shade_of(1, {1, 1}), 1) << "all cells alike are dark";
  EXPECT_LT(gray_of(0), 190) << "a single entry must show on white";
  EXPECT_LT(gray_of(1), 30);
  for (int k = 0; k < 20; ++k) EXPECT_GT(gray_of(k / 20.0), gray_of((k + 1) / 20.0));
}

TEST(Spy, LaysOutWithCellsOfEqualSize) {
  const auto expect = [](Index rows, Index cols, int height, int width, int high, int wide) {
    const SpyLayout l = spy_layout(rows, cols, 800);
    EXPECT_EQ(l.height, height) << rows << " x " << cols;
    EXPECT_EQ(l.width, width) << rows << " x " << cols;
    EXPECT_EQ(l.cell_height, high) << rows << " x " << cols;
    EXPECT_EQ(l.cell_width, wide) << rows << " x " << cols;
  };
  expect(1, 1, 1, 1, 800, 800);
  expect(100, 100, 100, 100, 8, 8);
  expect(800, 800, 800, 800, 1, 1);
  expect(1066, 533, 1066, 533, 1, 1);
  expect(1067, 1067, 800, 800, 1, 1);
  expect(1000000, 1000000, 800, 800, 1, 1);
  expect(1000000, 500000, 800, 400, 1, 1);
  expect(1000000, 5, 800, 5, 1, 20);  // 100 pixels wide, however thin
  expect(5, 1000000, 5, 800, 20, 1);
}

TEST(Spy, DrawsEachCellInTheShadeOfItsDensity) {
  for (const Index n : {6, 45, 333}) {
    const auto a = to_csr(random_sparse<double>(n, n, 3, 11)).matrix;
    const SpyLayout layout = spy_layout(n, n, 120);
    const SpyGrid grid = spy_density(pattern_of(a), layout.height, layout.width);
    const SpyPicture drawn = draw_spy(grid, layout, {"name", "size"});
    const Densities of = densities_of(grid);
    for (int p = 0; p < grid.height; ++p) {
      for (int q = 0; q < grid.width; ++q) {
        const int shown =
            drawn.image.at(drawn.top + p * layout.cell_height, drawn.left + q * layout.cell_width);
        const int expected = grid.at(p, q) == 0 ? 255 : gray_of(shade_of(grid.density(p, q), of));
        ASSERT_EQ(shown, expected) << p << ", " << q << " of " << n;
      }
    }
    EXPECT_EQ(drawn.image.at(drawn.top - 1, drawn.left - 1), 0) << "the frame";
  }
}

/// Where ink of the given rows begins and ends, in columns.
std::pair<int, int> ink(const Image& image, int first_row, int last_row) {
  std::pair<int, int> range{image.width, -1};
  for (int y = first_row; y < last_row; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (image.at(y, x) > 0) continue;
      range.first = std::min(range.first, x);
      range.second = std::max(range.second, x);
    }
  }
  return range;
}

TEST(Spy, WritesNumbersAndCaptionInsideThePicture) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{10, 10}, {123456, 123456}, {100000, 3}, {3, 20000000}}) {
    auto t = no_entries<double>(rows, cols);
    t.add(0, 0, 1);
    const auto a = to_csr(t).matrix;
    const SpyLayout layout = spy_layout(rows, cols, 300);
    const SpyGrid grid = spy_density(pattern_of(a), layout.height, layout.width);
    const Image image = draw_spy(grid, layout, {std::string(300, 'x'), "short"}).image;
    const auto [first, last] = ink(image, 0, image.height);
    EXPECT_GT(first, 0) << "nothing is cut off at the left";
    EXPECT_LT(last, image.width - 1) << "nor at the right";
    const Image bare = draw_spy(grid, layout, {}).image;
    EXPECT_GT(image.height, bare.height);
  }
}

TEST(Spy, LettersDifferFromEachOther) {
  const auto drawn = [](char c) {
    std::string dots;
    for (int y = 0; y < letter_height; ++y) {
      for (int x = 0; x < letter_width; ++x) dots += letter_has(c, y, x) ? '#' : '.';
    }
    return dots;
  };
  for (char a = ' '; a < '~'; ++a) {
    for (char b = static_cast<char>(a + 1); b <= '~'; ++b) EXPECT_NE(drawn(a), drawn(b)) << a << b;
  }
  EXPECT_EQ(drawn('\n'), drawn('?'));
  EXPECT_EQ(drawn('\xC3'), drawn('?'));
  EXPECT_EQ(text_width(""), 0);
  EXPECT_EQ(text_width("ab"), 11);
}

#ifdef KRYSOL_HAVE_PNG
TEST(Spy, WritesPngThatLibpngReadsBack) {
  ASSERT_TRUE(has_png());
  Image image(37, 53);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      image.fill(y, x, 1, 1, static_cast<std::uint8_t>(7 * y + 5 * x));
    }
  }
  const std::string png = png_of(image);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&header, png.data(), png.size()), 0);
  EXPECT_EQ(header.width, 53U);
  EXPECT_EQ(header.height, 37U);
  header.format = PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> gray(PNG_IMAGE_SIZE(header));
  ASSERT_NE(png_image_finish_read(&header, nullptr, gray.data(), 0, nullptr), 0);
  EXPECT_EQ(gray, image.gray);
}
#else
TEST(Spy, WritesPngThatLibpngReadsBack) {
  EXPECT_FALSE(has_png());
  EXPECT_THROW(png_of(Image(1, 1)), std::runtime_error);
  GTEST_SKIP() << "this build has no libpng";
}
#endif

TEST(Spy, ShowsSmallMatricesPlaceByPlace) {
  auto t = no_entries<double>(2, 3);
  t.add(0, 0, 1);
  t.add(1, 2, 0.0);  // stored
  const auto a = to_csr(t).matrix;
  EXPECT_EQ(spy_text(pattern_of(a), 60, true),
            "   1     3\n"
            "  +-------+\n"
            "1 | # . . |\n"
            "2 | . . # |\n"
            "  +-------+\n");
  EXPECT_EQ(spy_text(pattern_of(a), 60, false),
            "   1     3\n"
            "  ┌───────┐\n"
            "1 │ ■ · · │\n"
            "2 │ · · ■ │\n"
            "  └───────┘\n");
}

std::vector<std::string> rows_between(const std::string& text, const std::string& edge) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find(edge);
    const auto end = line.rfind(edge);
    if (begin == std::string::npos || begin == end) continue;
    rows.push_back(line.substr(begin + edge.size(), end - begin - edge.size()));
  }
  return rows;
}

TEST(Spy, ShowsLargeMatricesWithinTheColumnsAsked) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1000, 1000}, {5000, 30}, {30, 5000}}) {
    const auto a = to_csr(random_sparse<double>(rows, cols, 3, 5)).matrix;
    const std::string ascii = spy_text(pattern_of(a), 72, true);
    std::istringstream lines(ascii);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 72U) << line;
    EXPECT_LE(count, 40);
    for (const char c : ascii) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

TEST(Spy, MarksTheDiagonalAndNothingElse) {
  auto t = no_entries<double>(576, 576);
  for (Index i = 0; i < 576; ++i) t.add(i, i, 1);
  const auto a = to_csr(t).matrix;
  const auto letters = rows_between(spy_text(pattern_of(a), 72 + 6, true), "|");
  ASSERT_EQ(letters.size(), 36U);
  for (std::size_t p = 0; p < letters.size(); ++p) {
    ASSERT_EQ(letters[p].size(), 72U);
    for (std::size_t q = 0; q < 72; ++q)
      EXPECT_EQ(letters[p][q] != ' ', q / 2 == p) << p << ", " << q;
  }
  // 144 dots a side, 4 x 2 of them a letter: U+2801 + U+2810 + ... on the diagonal.
  const auto braille = rows_between(spy_text(pattern_of(a), 72 + 6, false), "│");
  ASSERT_EQ(braille.size(), 36U);
  const std::string none = "\u2800";
  std::string upper_left;
  for (int k = 0; k < 2; ++k) upper_left += k == 0 ? "\u2811" : "\u2884";
  EXPECT_EQ(braille[0].substr(0, 6), upper_left);
  EXPECT_EQ(braille[0].substr(6, 3), none);
  EXPECT_EQ(braille[1].substr(0, 9), none + none + upper_left.substr(0, 3));
}

}  // namespace
