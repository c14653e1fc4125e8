// What matrix_info says of structure and sizes, against full arrays.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "analysis/structure.hpp"
#include "matrix_reports.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::analysis;

void expect_lengths(const std::vector<std::int64_t>& lengths, const Lengths& l) {
  if (lengths.empty()) return;
  std::vector<std::int64_t> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(l.shortest, sorted.front());
  EXPECT_EQ(l.longest, sorted.back());
  double sum = 0;
  for (const auto n : sorted) sum += static_cast<double>(n);
  const double mean = sum / static_cast<double>(sorted.size());
  EXPECT_NEAR(l.mean, mean, 1e-12);
  double square = 0;
  for (const auto n : sorted) square += std::pow(static_cast<double>(n) - mean, 2);
  EXPECT_NEAR(l.deviation, std::sqrt(square / static_cast<double>(sorted.size())), 1e-12);
  const std::size_t half = sorted.size() / 2;
  const auto upper = static_cast<double>(sorted[half]);
  EXPECT_EQ(l.median,
            sorted.size() % 2 == 1 ? upper : (upper + static_cast<double>(sorted[half - 1])) / 2);
  std::map<std::size_t, std::int64_t> bins;
  for (const auto n : lengths) {
    std::size_t bin = 0;
    if (n > 0) bin = 1 + static_cast<std::size_t>(std::floor(std::log2(static_cast<double>(n))));
    ++bins[bin];
  }
  ASSERT_EQ(l.histogram.size(), bins.rbegin()->first + 1);
  for (std::size_t b = 0; b < l.histogram.size(); ++b) EXPECT_EQ(l.histogram[b], bins[b]) << b;
  const auto first = std::find(lengths.begin(), lengths.end(), 0);
  EXPECT_EQ(l.empty.count, std::count(lengths.begin(), lengths.end(), 0));
  EXPECT_EQ(l.empty.first, first == lengths.end() ? -1 : first - lengths.begin());
}

TEST(MatrixReport, CountsRowsAndColumns) {
  for_many([](const Full& f, const MatrixReport& p) {
    std::vector<std::int64_t> row(f.rows, 0);
    std::vector<std::int64_t> col(f.cols, 0);
    for (std::size_t i = 0; i < f.rows; ++i) {
      for (std::size_t j = 0; j < f.cols; ++j) {
        if (!f.stored[i][j]) continue;
        ++row[i];
        ++col[j];
      }
    }
    EXPECT_EQ(p.rows, static_cast<std::int64_t>(f.rows));
    EXPECT_EQ(p.cols, static_cast<std::int64_t>(f.cols));
    EXPECT_EQ(p.nnz, f.nnz);
    expect_lengths(row, p.row_lengths);
    expect_lengths(col, p.col_lengths);
    const auto full_rows = std::count_if(row.begin(), row.end(), [](auto n) { return n > 0; });
    const auto full_cols = std::count_if(col.begin(), col.end(), [](auto n) { return n > 0; });
    EXPECT_EQ(p.rank_at_most(), std::min(full_rows, full_cols));
  });
}

TEST(MatrixReport, MeasuresBandAndProfile) {
  for_many([](const Full& f, const MatrixReport& p) {
    Band b;
    std::vector<std::int64_t> first_of_col(f.cols, -1);
    for (std::size_t i = 0; i < f.rows; ++i) {
      std::int64_t first_of_row = -1;
      for (std::size_t j = 0; j < f.cols; ++j) {
        if (!f.stored[i][j]) continue;
        const auto below = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(j);
        b.lower = std::max(b.lower, below);
        b.upper = std::max(b.upper, -below);
        b.mean_distance += static_cast<double>(std::abs(below)) / static_cast<double>(f.nnz);
        if (first_of_row < 0) first_of_row = static_cast<std::int64_t>(j);
        if (first_of_col[j] < 0) first_of_col[j] = static_cast<std::int64_t>(i);
      }
      const auto row = static_cast<std::int64_t>(i);
      if (first_of_row >= 0) b.lower_profile += std::max<std::int64_t>(0, row - first_of_row);
    }
    for (std::size_t j = 0; j < f.cols; ++j) {
      const auto col = static_cast<std::int64_t>(j);
      if (first_of_col[j] >= 0) b.upper_profile += std::max<std::int64_t>(0, col - first_of_col[j]);
    }
    EXPECT_EQ(p.band.lower, b.lower);
    EXPECT_EQ(p.band.upper, b.upper);
    EXPECT_EQ(p.band.lower_profile, b.lower_profile);
    EXPECT_EQ(p.band.upper_profile, b.upper_profile);
    EXPECT_NEAR(p.band.mean_distance, b.mean_distance, 1e-12);
  });
}

/// Everything that can be reached from v, by looking at all places again and again.
std::set<std::size_t> reach(const Full& f, std::size_t v, bool square) {
  const std::size_t shift = square ? 0 : f.rows;
  std::set<std::size_t> seen{v};
  for (std::size_t before = 0; before != seen.size();) {
    before = seen.size();
    for (std::size_t i = 0; i < f.rows; ++i) {
      for (std::size_t j = 0; j < f.cols; ++j) {
        if (!f.stored[i][j]) continue;
        if (seen.count(i) > 0) seen.insert(shift + j);
        if (seen.count(shift + j) > 0) seen.insert(i);
      }
    }
  }
  return seen;
}

TEST(MatrixReport, FindsTheComponentsOfTheGraph) {
  for_many([](const Full& f, const MatrixReport& p) {
    const bool square = f.rows == f.cols;
    std::set<std::set<std::size_t>> components;
    for (std::size_t v = 0; v < (square ? f.rows : f.rows + f.cols); ++v) {
      components.insert(reach(f, v, square));
    }
    std::size_t largest = 0;
    std::int64_t isolated = 0;
    for (const auto& c : components) {
      largest = std::max(largest, c.size());
      if (c.size() == 1) ++isolated;
    }
    EXPECT_EQ(p.components.of_rows_and_columns, !square);
    EXPECT_EQ(p.components.count, static_cast<std::int64_t>(components.size()));
    EXPECT_EQ(p.components.largest, static_cast<std::int64_t>(largest));
    EXPECT_EQ(p.components.isolated, isolated);
  });
}

TEST(MatrixReport, CountsBlocks) {
  for_many([](const Full& f, const MatrixReport& p) {
    double fewest = 12 * static_cast<double>(f.nnz);
    int best = 1;
    for (std::size_t b = 2; b <= 8; ++b) {
      std::int64_t blocks = 0;
      std::int64_t full = 0;
      std::int64_t places = 0;
      for (std::size_t i = 0; i < f.rows; i += b) {
        for (std::size_t j = 0; j < f.cols; j += b) {
          std::int64_t stored = 0;
          std::int64_t all = 0;
          for (std::size_t r = i; r < std::min(f.rows, i + b); ++r) {
            for (std::size_t c = j; c < std::min(f.cols, j + b); ++c) {
              ++all;
              if (f.stored[r][c]) ++stored;
            }
          }
          if (stored == 0) continue;
          ++blocks;
          places += all;
          if (stored == all) ++full;
        }
      }
      const BlockSize& s = p.blocks.sizes[b - 2];
      EXPECT_EQ(s.size, static_cast<int>(b));
      EXPECT_EQ(s.blocks, blocks);
      EXPECT_EQ(s.full, full);
      EXPECT_DOUBLE_EQ(s.fill,
                       places == 0 ? 0 : static_cast<double>(f.nnz) / static_cast<double>(places));
      const double bytes = static_cast<double>(blocks * (8 * static_cast<std::int64_t>(b * b) + 4));
      if (bytes < fewest) {
        fewest = bytes;
        best = static_cast<int>(b);
      }
    }
    EXPECT_EQ(p.blocks.best, best);
  });
}

TEST(MatrixReport, OfNumbersAtTheEndsOfTheRange) {
  for (const double scale : {1e-300, 1e300}) {
    auto t = poisson1d(20);
    for (double& v : t.values) v *= scale;
    const MatrixReport p = matrix_report_of(to_csr(t).matrix);
    EXPECT_NEAR(p.values.norm_frobenius / scale, std::sqrt(20 * 4.0 + 38), 1e-10);
    EXPECT_EQ(p.symmetry.symmetric.relative, 0);
    EXPECT_NEAR(p.symmetry.skew.relative, 2, 1e-12);
    ASSERT_TRUE(p.spectra.eigenvalues.has_value());
    const double expected = std::pow(std::sin(20 * std::acos(-1.0) / 42), 2) /
                            std::pow(std::sin(std::acos(-1.0) / 42), 2);
    EXPECT_NEAR(p.spectra.eigenvalues->condition, expected, 1e-6 * expected);
    EXPECT_EQ(p.definite.reason, "irreducibly_dominant");
  }
}

TEST(MatrixReport, OfMoreColumnsThanMemoryHasRoomFor) {
  const Index most = std::numeric_limits<Index>::max();
  auto t = no_entries<double>(3, most);
  t.add(0, 0, 1);
  t.add(0, most - 1, 2);
  t.add(2, most - 2, 3);
  t.add(2, 1, 4);
  t.add(2, most - 1, 5);
  const MatrixReport p = matrix_report_of(to_csr(t).matrix);
  EXPECT_EQ(p.col_lengths.empty.count, most - 4);
  EXPECT_EQ(p.col_lengths.empty.first, 2);
  EXPECT_EQ(p.col_lengths.longest, 2);
  EXPECT_EQ(p.col_lengths.median, 0);
  EXPECT_EQ(p.col_lengths.histogram, (std::vector<std::int64_t>{most - 4, 3, 1}));
  EXPECT_DOUBLE_EQ(p.col_lengths.mean, 5.0 / most);
  EXPECT_EQ(p.rank_at_most(), 2);
  EXPECT_EQ(p.band.upper, most - 1);
  // Columns most - 1, which row 0 begins, and most - 2, which row 2 does; column 1 is not above.
  EXPECT_EQ(p.band.upper_profile, std::int64_t{most} - 1 + most - 4);
  EXPECT_TRUE(p.components.of_rows_and_columns);
  EXPECT_EQ(p.components.count, 1 + 1 + (most - 4));  // row 1, and the empty columns
  EXPECT_EQ(p.components.largest, 6);
  EXPECT_EQ(p.components.isolated, 1 + (most - 4));
  EXPECT_EQ(p.blocks.sizes[0].blocks, 5);
  EXPECT_EQ(p.values.norm_1, 7);
  EXPECT_EQ(p.spectra.singular_values->smallest, 0) << "of three, as there are three rows";
}

TEST(MatrixReport, LeavesEmptyColumnsOutWithoutATrace) {
  // As above, but so that the whole matrix can be looked at beside it.
  auto t = random_sparse<double>(50, 1100000, 40, 3);
  const auto a = to_csr(t).matrix;
  const MatrixReport p = matrix_report_of(a);
  const auto whole = krysol::transposed(a);
  const Lengths l = lengths_of(whole.row_ptr.data(), whole.rows);
  EXPECT_EQ(p.col_lengths.histogram, l.histogram);
  EXPECT_EQ(p.col_lengths.empty.count, l.empty.count);
  EXPECT_EQ(p.col_lengths.empty.first, l.empty.first);
  EXPECT_EQ(p.col_lengths.median, l.median);
  EXPECT_NEAR(p.col_lengths.deviation, l.deviation, 1e-9);
  Columns all;
  all.cols = a.cols;
  const Band b = band_of(pattern_of(a), pattern_of(whole), all);
  EXPECT_EQ(p.band.upper_profile, b.upper_profile);
  EXPECT_EQ(p.band.lower_profile, b.lower_profile);
  const Components c = components_of(pattern_of(a), false);
  EXPECT_EQ(p.components.count, c.count);
  EXPECT_EQ(p.components.largest, c.largest);
  EXPECT_EQ(p.components.isolated, c.isolated);
  EXPECT_GT(p.spectra.singular_values->smallest, 0);
}

TEST(MatrixReport, OfAMatrixThatAllThreadsShare) {
  const auto p = matrix_report_of(to_csr(poisson2d(200, 150)).matrix);
  EXPECT_EQ(p.nnz, 5 * 30000 - 2 * 350);
  EXPECT_EQ(p.band.lower, 200);
  EXPECT_EQ(p.components.count, 1);
  EXPECT_EQ(p.values.distinct, 2);
  EXPECT_EQ(p.diagonal.dominant, 2 * 200 + 2 * 150 - 4);
  EXPECT_EQ(p.symmetry.mirrored, p.nnz - 30000);
}

}  // namespace
