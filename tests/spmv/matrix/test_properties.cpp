// What is seen of a matrix, and what of that ends a solve before it starts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>

#include <krysol/solver/outcome/breakdown.hpp>
#include "messages.hpp"
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using krysol::analyze;
using krysol::find_breakdown;
using krysol::Status;
using krysol::to_csr;
using Complex = std::complex<double>;
using DeviceComplex = Kokkos::complex<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
auto properties_of(const Triplets<T>& t) {
  return analyze(to_csr(t).matrix);
}

/// [4 1 0; 1 9 2; 0 2 16] with other entries at (1, 2) and (2, 1).
Triplets<double> three(double upper, double lower) {
  auto t = no_entries<double>(3, 3);
  t.add(0, 0, 4);
  t.add(0, 1, 1);
  t.add(1, 0, 1);
  t.add(1, 1, 9);
  t.add(1, 2, upper);
  t.add(2, 1, lower);
  t.add(2, 2, 16);
  return t;
}

TEST(MatrixProperties, CountRowsAndEntries) {
  auto t = no_entries<double>(4, 6);
  t.add(0, 5, 1);
  t.add(2, 0, 1);
  t.add(2, 1, 1);
  t.add(2, 2, 1);
  const auto f = properties_of(t);
  EXPECT_EQ(f.rows, 4);
  EXPECT_EQ(f.cols, 6);
  EXPECT_EQ(f.nnz, 4);
  EXPECT_EQ(f.shortest_row, 0);
  EXPECT_EQ(f.longest_row, 3);
  EXPECT_EQ(f.empty_rows, 2);
  EXPECT_FALSE(f.symmetric) << "a rectangle has no mirror images";
}

TEST(MatrixProperties, OfAMatrixWithoutRows) {
  const auto f = properties_of(no_entries<double>(0, 0));
  EXPECT_EQ(f.nnz, 0);
  EXPECT_TRUE(f.symmetric);
  EXPECT_FALSE(find_breakdown(f).has_value());
}

TEST(MatrixProperties, SeeExactSymmetry) {
  for (const auto& t : {poisson2d(7, 5), poisson3d(4), jump_coefficients2d(6, 1e6),
                        random_spd({1, 2, 3, 4, 5, 6}, 1), biharmonic1d(9)}) {
    const auto f = properties_of(t);
    EXPECT_TRUE(f.symmetric);
    EXPECT_EQ(f.asymmetry, 0);
    EXPECT_TRUE(f.mirrored);
    EXPECT_EQ(f.asymmetric_row, -1);
    EXPECT_EQ(f.positive_diagonal, t.rows);
    EXPECT_FALSE(find_breakdown(f).has_value());
  }
}

TEST(MatrixProperties, AllowForRoundingInTheAssembly) {
  const auto f = properties_of(three(2, 2 * (1 + 1e-12)));
  EXPECT_TRUE(f.symmetric);
  EXPECT_GT(f.asymmetry, 0);
  EXPECT_FALSE(find_breakdown(f).has_value());
  // 1e-12 is nothing beside sqrt(9 * 16) = 12, even where its mirror image is 0.
  const auto small = properties_of(three(1e-12, 0));
  EXPECT_TRUE(small.symmetric);
  EXPECT_NEAR(small.asymmetry, 1e-12 / 12, 1e-17);
}

/// What formats of one triangle rely on is more than `symmetric`.
TEST(MatrixProperties, SayWhetherEachEntryHasItsImageToTheBit) {
  EXPECT_TRUE(properties_of(three(2, 2)).mirrored);
  EXPECT_FALSE(properties_of(three(2, std::nextafter(2.0, 3.0))).mirrored);
  EXPECT_FALSE(properties_of(three(nan, 2)).mirrored);
  EXPECT_FALSE(properties_of(three(2, nan)).mirrored);
  for (const auto& [row, col] : {std::pair{0, 2}, std::pair{2, 0}}) {
    auto zero = three(2, 2);
    zero.add(row, col, 0);  // stored, and no more
    const auto f = properties_of(zero);
    EXPECT_TRUE(f.symmetric);
    EXPECT_EQ(f.asymmetry, 0);
    EXPECT_FALSE(f.mirrored) << "A(" << row << ", " << col << ")";
  }
  EXPECT_FALSE(properties_of(no_entries<double>(2, 3)).mirrored);
  auto complex = no_entries<Complex>(2, 2);
  complex.add(0, 1, Complex(1, 2));
  complex.add(1, 0, Complex(1, -2));
  EXPECT_TRUE(properties_of(complex).mirrored);
  complex.add(1, 1, Complex(4, 1));  // the diagonal of a Hermitian matrix is real
  EXPECT_FALSE(properties_of(complex).mirrored);
}

TEST(MatrixProperties, NameTheWorstPair) {
  auto t = three(2, 3);
  t.add(0, 2, 0.5);
  t.add(2, 0, 0.25);
  const auto f = properties_of(t);
  EXPECT_FALSE(f.symmetric);
  EXPECT_NEAR(f.asymmetry, 1.0 / 12, 1e-15);  // relative to sqrt(9 * 16)
  EXPECT_EQ(f.asymmetric_row, 1);
  EXPECT_EQ(f.asymmetric_col, 2);
  EXPECT_EQ(f.asymmetric_value, 2);
  EXPECT_EQ(f.asymmetric_mirror, 3);
  const auto r = find_breakdown(f);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->status, Status::not_symmetric);
  EXPECT_EQ(r->breakdown.row, 1);
  EXPECT_EQ(r->breakdown.col, 2);
  EXPECT_EQ(r->breakdown.value, 2.0);
  EXPECT_EQ(r->breakdown.mirrored_value, 3.0);
  EXPECT_EQ(r->iterations, 0);
  EXPECT_TRUE(holds(r->advice, "A(2, 3) = 2")) << r->advice;
  EXPECT_TRUE(holds(r->advice, "A(3, 2) = 3")) << r->advice;
}

TEST(MatrixProperties, SeeAMissingMirrorImageOnEitherSide) {
  for (const bool upper : {true, false}) {
    auto t = poisson1d(50);
    t.add(upper ? 10 : 40, upper ? 40 : 10, 1);
    const auto f = properties_of(t);
    EXPECT_FALSE(f.symmetric);
    EXPECT_EQ(f.asymmetric_row, upper ? 10 : 40);
    EXPECT_EQ(f.asymmetric_col, upper ? 40 : 10);
    EXPECT_EQ(f.asymmetric_value, 1);
    EXPECT_EQ(f.asymmetric_mirror, 0);
    EXPECT_NEAR(f.asymmetry, 0.5, 1e-15);  // relative to the diagonal, 2
  }
}

TEST(MatrixProperties, AgreeWithTheDenseMatrixOnRandomPatterns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto t = no_entries<double>(30, 30);
    Random random(seed);
    for (Index i = 0; i < 30; ++i) t.add(i, i, 1);
    for (int k = 0; k < 60; ++k) {
      const Index i = random.below(30);
      const Index j = random.below(30);
      const double v = random.number();
      t.add(i, j, v);
      if (k % 15 != 7) t.add(j, i, v);
    }
    const auto host = to_csr(t).matrix;
    double d[30][30] = {};
    for (std::size_t i = 0; i < 30; ++i) {
      for (auto k = static_cast<std::size_t>(host.row_ptr(i));
           k < static_cast<std::size_t>(host.row_ptr(i + 1)); ++k) {
        d[i][host.col_idx(k)] = host.values(k);
      }
    }
    double worst = 0;
    for (int i = 0; i < 30; ++i) {
      for (int j = 0; j < 30; ++j) {
        const double scale =
            std::max({std::abs(d[i][j]), std::abs(d[j][i]),
                      std::sqrt(std::abs(d[i][i])) * std::sqrt(std::abs(d[j][j]))});
        if (scale > 0) worst = std::max(worst, std::abs(d[i][j] - d[j][i]) / scale);
      }
    }
    EXPECT_DOUBLE_EQ(analyze(host).asymmetry, worst) << "seed " << seed;
  }
}

TEST(MatrixProperties, TellHermitianFromComplexSymmetric) {
  auto t = no_entries<Complex>(2, 2, krysol::Symmetry::hermitian);
  t.add(0, 0, 3);
  t.add(1, 1, 3);
  t.add(1, 0, {1, 2});
  EXPECT_TRUE(properties_of(t).symmetric);
  t.symmetry = krysol::Symmetry::symmetric;
  const auto f = properties_of(t);
  EXPECT_FALSE(f.symmetric);
  const auto r = find_breakdown(f);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->status, Status::not_symmetric);
  EXPECT_EQ(r->breakdown.value, Complex(1, 2));
  EXPECT_EQ(r->breakdown.mirrored_value, Complex(1, 2));
  EXPECT_TRUE(holds(r->advice, "A(1, 2) = 1+2i")) << r->advice;
}

TEST(MatrixProperties, WantARealDiagonalOfAHermitianMatrix) {
  auto t = no_entries<Complex>(2, 2);
  t.add(0, 0, 3);
  t.add(1, 1, {3, 1});
  const auto f = properties_of(t);
  EXPECT_FALSE(f.symmetric);
  EXPECT_EQ(f.asymmetric_row, 1);
  EXPECT_EQ(f.asymmetric_col, 1);
}

TEST(MatrixProperties, CountTheSignsOfTheDiagonal) {
  auto t = no_entries<double>(6, 6);
  t.add(0, 0, 2);
  t.add(1, 1, 0.0);  // stored
  t.add(2, 2, -3);
  t.add(3, 3, 5);
  t.add(4, 5, 1);  // rows 4 and 5 have none
  t.add(5, 4, 1);
  const auto f = properties_of(t);
  EXPECT_EQ(f.positive_diagonal, 2);
  EXPECT_EQ(f.zero_diagonal, 1);
  EXPECT_EQ(f.negative_diagonal, 1);
  EXPECT_EQ(f.missing_diagonal, 2);
  EXPECT_EQ(f.first_not_positive, 1);
  EXPECT_EQ(f.first_not_positive_value, 0);
  EXPECT_EQ(f.smallest_diagonal, -3);
  EXPECT_EQ(f.largest_diagonal, 5);
}

TEST(MatrixProperties, ADiagonalEntryThatIsNotPositiveIsEvidence) {
  struct Case {
    double d;
    bool stored;
  };
  for (const auto [d, stored] : {Case{-3, true}, Case{0, true}, Case{0, false}}) {
    auto t = no_entries<double>(20, 20);
    for (Index i = 0; i < 20; ++i) {
      if (i != 7) t.add(i, i, 2);
    }
    if (stored) t.add(7, 7, d);
    const auto r = find_breakdown(properties_of(t));
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->status, Status::indefinite_matrix);
    EXPECT_EQ(r->breakdown.row, 7);
    EXPECT_EQ(r->breakdown.curvature, d);
    ASSERT_EQ(r->breakdown.direction.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(r->breakdown.direction[i], i == 7 ? 1.0 : 0.0);
    ASSERT_EQ(r->breakdown.largest.size(), 1U);
    EXPECT_EQ(r->breakdown.largest[0].row, 7);
    EXPECT_EQ(r->breakdown.largest[0].share, 1);
    EXPECT_TRUE(holds(r->advice, "diagonal entry in row 8 is")) << r->advice;
  }
}

TEST(MatrixProperties, NameTheFirstEntryThatIsNotFinite) {
  for (const double bad : {nan, inf, -inf}) {
    for (const bool on_diagonal : {true, false}) {
      auto t = poisson1d(10);
      const Index col = on_diagonal ? 4 : 5;
      t.add(4, col, bad);
      t.add(8, 8, nan);
      const auto f = properties_of(t);
      EXPECT_EQ(f.not_finite_row, 4);
      EXPECT_EQ(f.not_finite_col, col);
      const auto r = find_breakdown(f);
      ASSERT_TRUE(r.has_value());
      EXPECT_EQ(r->status, Status::not_finite);
      EXPECT_EQ(r->breakdown.row, 4);
      EXPECT_EQ(r->breakdown.col, col);
      EXPECT_TRUE(holds(r->advice, "A(5, " + std::to_string(col + 1) + ")")) << r->advice;
    }
  }
}

TEST(MatrixProperties, OfEntriesNearTheEndsOfTheRange) {
  for (const double scale : {1e-300, 1e300}) {
    auto t = three(2, 2);
    for (double& v : t.values) v *= scale;
    EXPECT_TRUE(properties_of(t).symmetric);
    t.values[5] *= 1.5;  // (2, 1)
    const auto f = properties_of(t);
    EXPECT_FALSE(f.symmetric);
    EXPECT_NEAR(f.asymmetry, 1.0 / 12, 1e-12);
  }
}

TEST(MatrixProperties, OfFloatMatrices) {
  EXPECT_TRUE(properties_of(as<float>(poisson2d(5, 5))).symmetric);
  const auto f = properties_of(as<float>(three(2, 2.5)));
  EXPECT_FALSE(f.symmetric);
  EXPECT_EQ(f.asymmetric_mirror, 2.5F);
}

}  // namespace
