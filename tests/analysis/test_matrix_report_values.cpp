// What matrix_info says of values, symmetry and diagonal, against full arrays.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/entries.hpp"
#include "matrix_reports.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::analysis;

/// other(i, j) is an entry of the matrix that A is compared with.
template <class Other>
void expect_mirror(const Full& f, const Mirror& m, const Other& other) {
  std::int64_t matched = 0;
  double largest = 0;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t j = 0; j < f.cols; ++j) {
      const double d = std::abs(f.value[i][j] - other(i, j));
      if (f.stored[i][j] && d == 0) ++matched;
      largest = std::max(largest, d);
      difference += d * d;
      norm += std::norm(f.value[i][j]);
    }
  }
  EXPECT_EQ(m.matched, matched);
  EXPECT_DOUBLE_EQ(m.largest_difference, largest);
  EXPECT_EQ(m.exact(), largest == 0);
  EXPECT_NEAR(m.relative, norm > 0 ? std::sqrt(difference / norm) : 0, 1e-13);
  ASSERT_EQ(m.where.known(), largest > 0);
  if (largest == 0) return;
  const auto i = static_cast<std::size_t>(m.where.row);
  const auto j = static_cast<std::size_t>(m.where.col);
  EXPECT_DOUBLE_EQ(std::abs(f.value[i][j] - other(i, j)), largest);
}

TEST(MatrixReport, ComparesAMatrixWithItsMirrorImages) {
  for_many([](const Full& f, const MatrixReport& p) {
    if (f.rows != f.cols) return;
    std::int64_t off_diagonal = 0;
    std::int64_t mirrored = 0;
    for (std::size_t i = 0; i < f.rows; ++i) {
      for (std::size_t j = 0; j < f.cols; ++j) {
        if (i == j || !f.stored[i][j]) continue;
        ++off_diagonal;
        if (f.stored[j][i]) ++mirrored;
      }
    }
    EXPECT_EQ(p.symmetry.off_diagonal, off_diagonal);
    EXPECT_EQ(p.symmetry.mirrored, mirrored);
    EXPECT_EQ(p.symmetry.unmirrored.known(), mirrored < off_diagonal);
    expect_mirror(f, p.symmetry.symmetric, [&](auto i, auto j) { return f.value[j][i]; });
    expect_mirror(f, p.symmetry.hermitian,
                  [&](auto i, auto j) { return std::conj(f.value[j][i]); });
    expect_mirror(f, p.symmetry.skew, [&](auto i, auto j) { return -f.value[j][i]; });
  });
}

TEST(MatrixReport, CallsExactWhatAFileDeclares) {
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    const auto of = [&](Symmetry s) {
      return matrix_report_of(to_csr(random_matrix<Complex>(9, 9, s, seed)).matrix).symmetry;
    };
    EXPECT_TRUE(of(Symmetry::symmetric).symmetric.exact());
    EXPECT_TRUE(of(Symmetry::hermitian).hermitian.exact());
    EXPECT_TRUE(of(Symmetry::skew_symmetric).skew.exact());
  }
}

TEST(MatrixReport, LooksAtTheDiagonal) {
  for_many([](const Full& f, const MatrixReport& p) {
    Tally negative;
    Tally zero;
    Tally missing;
    Tally not_real;
    std::int64_t positive = 0;
    const auto count = [](Tally& t, std::size_t i) {
      if (t.count++ == 0) t.first = static_cast<std::int64_t>(i);
    };
    const std::size_t length = std::min(f.rows, f.cols);
    double smallest = std::numeric_limits<double>::infinity();
    double largest = -smallest;
    for (std::size_t i = 0; i < length; ++i) {
      const Complex d = f.value[i][i];
      if (!f.stored[i][i]) count(missing, i);
      if (f.stored[i][i] && d.real() == 0) count(zero, i);
      if (d.real() < 0) count(negative, i);
      if (d.real() > 0) ++positive;
      if (d.imag() != 0) count(not_real, i);
      smallest = std::min(smallest, d.real());
      largest = std::max(largest, d.real());
    }
    const auto expect_tally = [](const Tally& seen, const Tally& expected) {
      EXPECT_EQ(seen.count, expected.count);
      EXPECT_EQ(seen.first, expected.first);
    };
    EXPECT_EQ(p.diagonal.length, static_cast<std::int64_t>(length));
    EXPECT_EQ(p.diagonal.positive, positive);
    expect_tally(p.diagonal.negative, negative);
    expect_tally(p.diagonal.zero, zero);
    expect_tally(p.diagonal.missing, missing);
    expect_tally(p.diagonal.not_real, not_real);
    EXPECT_EQ(p.diagonal.smallest, length == 0 ? 0 : smallest);
    EXPECT_EQ(p.diagonal.largest, length == 0 ? 0 : largest);
  });
}

TEST(MatrixReport, CountsDominantRowsOfWholeNumbersExactly) {
  for (std::uint64_t seed = 0; seed < 40; seed += 2) {  // whole numbers
    auto t = random_matrix<double>(12, 12, Symmetry::general, seed);
    for (Index i = 0; i < 12; ++i) t.add(i, i, i % 3 == 0 ? 12 : -5);
    const auto a = to_csr(t).matrix;
    const Full f(a);
    const Diagonal d = diagonal_of(a);
    std::int64_t strict = 0;
    std::int64_t equal = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      double rest = 0;
      for (std::size_t j = 0; j < 12; ++j) rest += i == j ? 0 : f.size(i, j);
      if (f.size(i, i) > rest) ++strict;
      if (f.size(i, i) == rest) ++equal;
    }
    EXPECT_EQ(d.dominant, strict);
    EXPECT_EQ(d.balanced, equal);
    EXPECT_EQ(d.not_dominant.count, 12 - strict - equal);
  }
}

TEST(MatrixReport, TellsEqualityFromAlmostEqualityInDominance) {
  // In double, 1e16 + 1 + 1 and 1e16 + 2 differ by the order of the sum.
  for (const double diagonal : {1e16 + 2, 1e16, 1e16 + 4}) {
    auto t = no_entries<double>(4, 4);
    t.add(0, 0, diagonal);
    t.add(0, 1, 1e16);
    t.add(0, 2, 1);
    t.add(0, 3, -1);
    const auto a = to_csr(t).matrix;
    const Dominance expected = diagonal == 1e16 + 2  ? Dominance::equal
                               : diagonal > 1e16 + 2 ? Dominance::strict
                                                     : Dominance::none;
    EXPECT_EQ(dominance_of_row(a, 0), expected) << diagonal - 1e16;
  }
}

TEST(MatrixReport, KnowsWhichSumsAreNotExact) {
  ExactSum three_parts;
  for (const double v : {1.0, 0x1p-60, 0x1p-120, -1.0, -0x1p-60}) three_parts.add(v);
  EXPECT_GT(three_parts.doubt(), 0) << "2^-120 had no room";
  EXPECT_FALSE(three_parts.certainly_zero());
  EXPECT_FALSE(three_parts.certainly_positive());
  ExactSum two_parts;
  for (const double v : {1e16, 1.0, -1e16, -1.0}) two_parts.add(v);
  EXPECT_TRUE(two_parts.certainly_zero());
  ExactSum rounded;
  rounded.add(1, 1e-16);
  rounded.add(-1, 1e-16);
  EXPECT_FALSE(rounded.certainly_zero()) << "its terms are not exact";
}

TEST(MatrixReport, MeasuresValues) {
  for_many([](const Full& f, const MatrixReport& p) {
    std::map<std::pair<double, double>, std::int64_t> places;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    double square = 0;
    std::int64_t zeros = 0;
    double norm_inf = 0;
    std::vector<double> column(f.cols, 0.0);
    for (std::size_t i = 0; i < f.rows; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < f.cols; ++j) {
        if (!f.stored[i][j]) continue;
        const double size = f.size(i, j);
        ++places[{f.value[i][j].real() + 0.0, f.value[i][j].imag() + 0.0}];
        if (size > 0) least = std::min(least, size);
        most = std::max(most, size);
        zeros += size == 0 ? 1 : 0;
        square += size * size;
        row += size;
        column[j] += size;
      }
      norm_inf = std::max(norm_inf, row);
    }
    const double norm_1 = column.empty() ? 0 : *std::max_element(column.begin(), column.end());
    std::int64_t most_frequent = 0;
    for (const auto& [value, n] : places) most_frequent = std::max(most_frequent, n);
    EXPECT_EQ(p.values.distinct, static_cast<std::int64_t>(places.size()));
    EXPECT_EQ(p.values.most_frequent, most_frequent);
    if (f.nnz > 0) {
      const std::pair<double, double> frequent(p.values.frequent_real, p.values.frequent_imaginary);
      EXPECT_EQ(places[frequent], most_frequent);
    }
    EXPECT_EQ(p.values.zeros, zeros);
    EXPECT_EQ(p.values.smallest_magnitude, most > 0 ? least : 0);
    EXPECT_EQ(p.values.largest_magnitude, most);
    EXPECT_NEAR(p.values.norm_inf, norm_inf, 1e-12 * norm_inf);
    EXPECT_NEAR(p.values.norm_1, norm_1, 1e-12 * norm_1);
    EXPECT_NEAR(p.values.norm_frobenius, std::sqrt(square), 1e-12 * std::sqrt(square));
  });
}

TEST(MatrixReport, SumsRows) {
  for_many([](const Full& f, const MatrixReport& p) {
    double largest = 0;
    double relative = 0;
    for (std::size_t i = 0; i < f.rows; ++i) {
      Complex sum = 0;
      double size = 0;
      for (std::size_t j = 0; j < f.cols; ++j) {
        sum += f.value[i][j];
        size += f.size(i, j);
      }
      largest = std::max(largest, std::abs(sum));
      if (size > 0) relative = std::max(relative, std::abs(sum) / size);
    }
    EXPECT_NEAR(p.row_sums.largest, largest, 1e-12);
    EXPECT_NEAR(p.row_sums.relative, relative, 1e-12);
    EXPECT_EQ(p.row_sums.null_vector, relative < 1e-14 && f.cols > 0);
  });
}

}  // namespace
