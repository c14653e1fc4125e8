// Vector kernels: sums that repeat, norms without overflow.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <krysol/solver/krylov/blas1.hpp>
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::Real;
using krysol::ReductionWorkspace;

template <class C>
class Blas1 : public testing::Test {};
using Blas1Cases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Blas1, Blas1Cases, OnName);

/// On both sides of every tile and block.
const std::vector<std::size_t> lengths = {0,   1,   2,   7,   8,   63,  64,   65,
                                          255, 256, 257, 511, 512, 513, 1100, 70000};

template <class Exec, class T>
double norm_on(const std::vector<T>& v) {
  ReductionWorkspace<Exec> sums;
  return krysol::norm2(Exec{}, to_device<Exec>(v), sums);
}

TYPED_TEST(Blas1, DotEqualsTheOracle) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  ReductionWorkspace<Exec> sums;  // one for all: it must not remember a longer vector
  for (auto n = lengths.rbegin(); n != lengths.rend(); ++n) {
    const auto x = random_vector<T>(*n, 1);
    const auto y = random_vector<T>(*n, 2);
    long double size = 0;
    for (std::size_t i = 0; i < *n; ++i) size += std::abs(widen(x[i])) * std::abs(widen(y[i]));
    const long double exact = std::real(krysol_tests::dot(widen(x), widen(y)));
    const double got = krysol::dot(Exec{}, to_device<Exec>(x), to_device<Exec>(y), sums);
    // Summed in double whatever the entries: no more roundings than terms.
    EXPECT_LE(std::abs(got - exact),
              static_cast<long double>(*n + 4) * std::numeric_limits<double>::epsilon() * size)
        << *n;
  }
}

TYPED_TEST(Blas1, InnerProductsEqualTheOracle) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using V = krysol::ConstVector<T, Exec>;
  ReductionWorkspace<Exec> sums;
  for (const std::size_t n : lengths) {
    std::array<V, 3> x;
    std::array<V, 3> y;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = to_device<Exec>(random_vector<T>(n, 10 + k));
      y[k] = to_device<Exec>(random_vector<T>(n, 20 + k));
    }
    const auto got = krysol::inner_products<3, T, Exec>(Exec{}, x, y, sums);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto u = widen(random_vector<T>(n, 10 + k));
      const auto v = widen(random_vector<T>(n, 20 + k));
      long double size = 0;
      for (std::size_t i = 0; i < n; ++i) size += std::abs(u[i]) * std::abs(v[i]);
      const auto bound =
          static_cast<long double>(n + 4) * std::numeric_limits<double>::epsilon() * size;
      EXPECT_LE(std::abs(widen(got[k]) - krysol_tests::dot(u, v)), bound) << n << ' ' << k;
      // One at a time, in the same order of sums.
      EXPECT_EQ((krysol::inner_product<T, Exec>(Exec{}, x[k], y[k], sums)), got[k]);
      EXPECT_EQ(krysol::dot(Exec{}, x[k], y[k], sums), krysol::real_part(got[k]));
    }
  }
}

TYPED_TEST(Blas1, DotRepeatsBitForBit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto x = to_device<Exec>(random_vector<T>(70001, 3));
  const auto y = to_device<Exec>(random_vector<T>(70001, 4));
  ReductionWorkspace<Exec> sums;
  const double first = krysol::dot(Exec{}, x, y, sums);
  for (int k = 0; k < 20; ++k) {
    ReductionWorkspace<Exec> fresh;
    EXPECT_EQ(krysol::dot(Exec{}, x, y, k % 2 == 0 ? sums : fresh), first);
  }
}

TYPED_TEST(Blas1, NormEqualsTheOracle) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const std::size_t n : lengths) {
    const auto x = random_vector<T>(n, 5);
    const long double exact = norm(widen(x));
    EXPECT_LE(std::abs(norm_on<Exec>(x) - exact),
              static_cast<long double>(n + 4) * std::numeric_limits<double>::epsilon() * exact)
        << n;
  }
}

TYPED_TEST(Blas1, NormNeitherOverflowsNorVanishes) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using R = Real<T>;
  const R largest = std::numeric_limits<R>::max() / 64;
  const R smallest = std::numeric_limits<R>::denorm_min();
  for (const R size : {largest, std::numeric_limits<R>::min(), 8 * smallest, smallest}) {
    const std::vector<T> v(400, T(size));  // its norm is 20 times its entries
    const double exact = 20 * static_cast<double>(size);
    if (krysol::on_host<Exec>) {
      EXPECT_DOUBLE_EQ(norm_on<Exec>(v), exact) << size;
    } else {  // fewer chains, of more terms each
      EXPECT_NEAR(norm_on<Exec>(v), exact, 4e-14 * exact) << size;
    }
  }
}

TYPED_TEST(Blas1, NormOfInfAndNanIsNotFinite) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using R = Real<T>;
  for (const R bad : {std::numeric_limits<R>::infinity(), -std::numeric_limits<R>::infinity(),
                      std::numeric_limits<R>::quiet_NaN()}) {
    for (const std::size_t at : {0U, 63U, 700U, 999U}) {
      auto v = random_vector<T>(1000, 6);
      v[at] = T(bad);
      EXPECT_FALSE(std::isfinite(norm_on<Exec>(v))) << bad << " at " << at;
    }
  }
}

TYPED_TEST(Blas1, AxpbyEqualsItsFormulaAndIgnoresYWhenBetaIsZero) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const std::size_t n : lengths) {
    const auto x = random_vector<T>(n, 7);
    const auto y = random_vector<T>(n, 8);
    for (const double alpha : {0.0, 1.0, -0.5}) {
      for (const double beta : {0.0, 1.0, 0.25}) {
        const auto a = static_cast<Real<T>>(alpha);
        const auto b = static_cast<Real<T>>(beta);
        const auto before =
            beta == 0 ? std::vector<T>(n, T(std::numeric_limits<Real<T>>::quiet_NaN())) : y;
        const auto device = to_device<Exec>(before);
        krysol::axpby<T>(Exec{}, T(a), to_device<Exec>(x), T(b), device);
        Kokkos::fence();
        const auto got = to_host(device);
        for (std::size_t i = 0; i < n; ++i) {
          const auto want = static_cast<long double>(a) * widen(x[i]) +
                            (beta == 0 ? Wide<T>(0) : static_cast<long double>(b) * widen(y[i]));
          ASSERT_LE(std::abs(widen(got[i]) - want), 2 * std::numeric_limits<Real<T>>::epsilon());
        }
      }
    }
  }
}

TEST(UnitScale, IsThePowerOfTwoThatBringsANumberToOne) {
  for (const double v : {1e-300, 1e-5, 0.5, 0.75, 1.0, 3.0, 1e300}) {
    const double scaled = v * krysol::unit_scale(v);
    EXPECT_TRUE(scaled >= 0.5 && scaled < 1) << v;
    int exponent = 0;
    EXPECT_EQ(std::frexp(krysol::unit_scale(v), &exponent), 0.5) << v;
  }
  EXPECT_EQ(krysol::unit_scale(0), 1);
  EXPECT_EQ(krysol::unit_scale(std::numeric_limits<double>::infinity()), 1);
  EXPECT_EQ(krysol::unit_scale(std::numeric_limits<double>::quiet_NaN()), 1);
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(std::isfinite(krysol::unit_scale(tiny)) && tiny * krysol::unit_scale(tiny) > 0);
}

}  // namespace
