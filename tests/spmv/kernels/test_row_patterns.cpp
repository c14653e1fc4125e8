// Which rows are alike: counts that are known, and refusals with their numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::find_patterns;

TEST(RowPatterns, OfALineAreItsEndsAndItsMiddle) {
  const auto a = krysol::to_csr(poisson1d(200)).matrix;
  for (const bool with_values : {false, true}) {
    const auto patterns = find_patterns("test", a, with_values);
    EXPECT_EQ(patterns.first_row, (std::vector<Index>{0, 1, 199}));
    EXPECT_EQ(patterns.pattern_ptr, (std::vector<Index>{0, 2, 5, 7}));
    EXPECT_EQ(patterns.of_row[0], 0);
    for (std::size_t i = 1; i < 199; ++i) EXPECT_EQ(patterns.of_row[i], 1);
    EXPECT_EQ(patterns.of_row[199], 2);
    EXPECT_EQ(offsets_of(patterns, a), (std::vector<Index>{0, 1, -1, 0, 1, -1, 0}));
  }
}

/// The number of a row's pattern is that of its first row, whatever the number of threads is.
TEST(RowPatterns, AreNumberedInTheOrderOfTheirFirstRows) {
  const auto a = krysol::to_csr(poisson2d(150, 140)).matrix;  // several pieces
  const auto patterns = find_patterns("test", a, true);
  EXPECT_EQ(patterns.first_row.size(), 9U);
  EXPECT_TRUE(std::is_sorted(patterns.first_row.begin(), patterns.first_row.end()));
  for (std::size_t i = 0; i < patterns.of_row.size(); ++i) {
    const auto first = static_cast<std::size_t>(patterns.first_row[patterns.of_row[i]]);
    ASSERT_LE(first, i);
    const auto length = a.row_ptr(i + 1) - a.row_ptr(i);
    ASSERT_EQ(length, a.row_ptr(first + 1) - a.row_ptr(first));
    for (std::int64_t k = 0; k < length; ++k) {
      const auto mine = static_cast<std::size_t>(a.row_ptr(i) + k);
      const auto its = static_cast<std::size_t>(a.row_ptr(first) + k);
      ASSERT_EQ(a.col_idx(mine) - static_cast<Index>(i),
                a.col_idx(its) - static_cast<Index>(first));
      ASSERT_EQ(a.values(mine), a.values(its));
    }
  }
}

TEST(RowPatterns, ValuesTellRowsApartToTheLastBit) {
  const auto a = krysol::to_csr(poisson1d(200)).matrix;
  auto values = a.values;
  values(2 + 3 * 99 + 1) = std::nextafter(2.0, 3.0);  // the diagonal of row 100
  EXPECT_EQ(find_patterns("test", a, false).first_row.size(), 3U);
  const auto patterns = find_patterns("test", a, true);
  EXPECT_EQ(patterns.first_row, (std::vector<Index>{0, 1, 100, 199}));
  EXPECT_EQ(patterns.of_row[100], 2);
  EXPECT_EQ(patterns.of_row[101], 1);
}

TEST(RowPatterns, AreRefusedWithNumbersWhereTooFewRowsAreAlike) {
  const auto a = krysol::to_csr(random_sparse<double>(60000, 60000, 6, 5)).matrix;
  for (const bool with_values : {false, true}) {
    const std::string message = message_of([&] { find_patterns("shared", a, with_values); });
    EXPECT_TRUE(holds(message, "shared: too few rows are alike: ")) << message;
    EXPECT_TRUE(holds(message, std::to_string(a.nnz()) + " nonzeros")) << message;
  }
  EXPECT_THROW(find_patterns("shared", a, false), krysol::FormatRefusal);
}

TEST(RowSample, SaysWhatAConversionTakes) {
  const auto few = krysol::to_csr(poisson2d(300, 300)).matrix;
  const auto grid = krysol::sample_rows(krysol::MatrixProfile(few, true), true);
  EXPECT_LT(grid.differing, 0.1);
  EXPECT_LT(grid.conversion(), 2);
  EXPECT_EQ(grid.refusal, "");
  // All rows differ: too many to allow their lists, and few enough.
  for (const krysol::Index n : {60000, 2000}) {
    const auto many = krysol::to_csr(random_sparse<double>(n, n, 9, 3)).matrix;
    const auto random = krysol::sample_rows(krysol::MatrixProfile(many, true), false);
    EXPECT_GT(random.differing, 0.9) << n;
    EXPECT_LE(random.single, random.differing) << n;
    EXPECT_GT(random.conversion(), 5) << n;
    EXPECT_EQ(random.refusal.empty(), n == 2000) << random.refusal;
  }
  // Rows unlike the rows before them, but like the next: nothing says that there are others.
  krysol::Triplets<double> steps{4096, 4096};
  for (Index i = 0; i < 4096; ++i) {
    steps.add(i, i, 2.0);
    const Index offset = 64 + i / 64;
    if (i + offset < 4096) steps.add(i, i + offset, 1.0);
  }
  const auto stepped = krysol::to_csr(steps).matrix;
  const auto repeated = krysol::sample_rows(krysol::MatrixProfile(stepped, true), true);
  EXPECT_GT(repeated.differing, 0.05);
  EXPECT_EQ(repeated.conversion(), 1);
  // Rows of three unknowns a node follow each other: none has to be looked up.
  krysol::Triplets<double> nodes{4096, 4096};
  for (Index i = 0; i < 4096; ++i) {
    nodes.add(i, i, 2.0);
    if (i >= 100) nodes.add(i, i - 10 * (1 + i % 3), 1.0);
  }
  const auto of_nodes = krysol::to_csr(nodes).matrix;
  const auto nodal = krysol::sample_rows(krysol::MatrixProfile(of_nodes, true), true);
  EXPECT_LT(nodal.conversion(), 1.1);
  // Few are like the row before them, nearly all of a grid are: these go through registers
  // together.
  EXPECT_LT(nodal.alike, 0.1);  // its first 100
  EXPECT_GT(grid.alike, 0.9);
  for (const bool own_values : {false, true}) {
    EXPECT_LT(grid.over_csr(own_values, 5), 0.6);
    EXPECT_GT(nodal.over_csr(own_values, 2), 1.2);
    EXPECT_LT(nodal.over_csr(own_values, 60), 1);
  }
  krysol::HostCsr<double> none = krysol::to_csr(poisson2d(0, 0)).matrix;
  EXPECT_EQ(krysol::sample_rows(krysol::MatrixProfile(none, true), true).conversion(), 1);
}

/// Of 256 rows each is looked at: the first `odd` differ from all others, which are alike.
TEST(RowSample, CountsTheRowsOfASmallMatrix) {
  for (const Index odd : {0, 1, 100, 254, 256}) {
    krysol::Triplets<double> t{256, 256};
    for (Index i = 0; i < 256; ++i) t.add(i, i, i < odd ? 2.0 + i : 1.0);
    const auto a = krysol::to_csr(t).matrix;
    const auto sample = krysol::sample_rows(krysol::MatrixProfile(a, true), true);
    EXPECT_EQ(sample.single, odd / 256.0) << odd;
    EXPECT_EQ(sample.differing, (odd < 256 ? odd + 1 : 256) / 256.0) << odd;
    EXPECT_EQ(sample.refusal, "") << odd;
    if (odd == 0) {
      EXPECT_EQ(sample.alike, 1);
      EXPECT_EQ(sample.searched, 0);
    }
    if (odd == 256) {
      EXPECT_EQ(sample.alike, 0);
      EXPECT_EQ(sample.searched, 1);
    }
  }
}

/// A tenth of the rows are patterns of their own, all at one end: with more lists than are always
/// allowed, but within an eighth of the nonzeros. Whoever looks at a part of the rows sees too
/// many.
TEST(RowPatterns, AreJudgedByTheWholeMatrix) {
  constexpr Index rows = 300000;
  constexpr Index odd = 30000;
  for (const bool at_the_end : {false, true}) {
    const auto a = krysol::to_csr(poisson1d(rows)).matrix;
    auto values = a.values;
    const Index first = at_the_end ? rows - odd : 0;
    for (Index i = first; i < first + odd; ++i) {
      const auto k = static_cast<std::size_t>(a.row_ptr(static_cast<std::size_t>(i)));
      values(k) = 5 + i;
    }
    const auto patterns = find_patterns("test", a, true);
    EXPECT_GE(patterns.first_row.size(), static_cast<std::size_t>(odd));
    EXPECT_LE(patterns.first_row.size(), static_cast<std::size_t>(odd) + 3);
  }
}

/// Eight sums are set, and what stands behind them is left alone.
TEST(RowPatterns, SetTheSumsOfEightRowsAndNothingElse) {
  constexpr auto eight = static_cast<std::size_t>(krysol::pack_width);
  constexpr double untouched = 7;
  const std::vector<Index> list = {-2, 0, 3};
  const auto entries = static_cast<Index>(list.size());
  const auto x = random_vector<double>(64, 3);
  const double* const x_of_row = x.data() + 8;
  const auto values = random_vector<double>(list.size() * eight, 4);
  for (const bool own_values : {false, true}) {
    std::vector<double> sum(2 * eight, untouched);
    if (own_values) {
      krysol::multiply_pack_rows<true>(x_of_row, list.data(), entries, values.data(), sum.data());
    } else {
      krysol::multiply_pack_rows<false>(x_of_row, list.data(), entries, values.data(), sum.data());
    }
    for (std::size_t l = 0; l < eight; ++l) {
      double expected = 0;
      for (std::size_t j = 0; j < list.size(); ++j) {
        expected +=
            values[own_values ? eight * j + l : j] * x[static_cast<std::size_t>(8 + list[j]) + l];
      }
      EXPECT_NEAR(sum[l], expected, 1e-14) << own_values << ", row " << l;
    }
    for (std::size_t l = eight; l < sum.size(); ++l) {
      EXPECT_EQ(sum[l], untouched) << own_values << ", " << l;
    }
  }
}

}  // namespace
