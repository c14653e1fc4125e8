// What cg says of the smallest eigenvalue after a look from a start that does not hang on b.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include <krysol/solver/outcome/lanczos.hpp>
#include "dense.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;

template <class Exec>
class Confirms : public testing::Test {};
using ConfirmsCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Confirms, ConfirmsCases, SpaceName);

/// b = A x* of a matrix whose smallest eigenvector that b has nothing of.
template <class Exec>
NamedSolve<double, Exec> without_the_smallest(const Triplets<double>& a,
                                              const std::vector<double>& x) {
  NamedSolve<double, Exec> solver{a, {}};
  for (const auto bi : a* widen(x)) solver.b.push_back(static_cast<double>(bi));
  return solver;
}

TYPED_TEST(Confirms, WhetherASmallerEigenvalueIsHiddenFromB) {
  constexpr double enough = 1e9;
  // Hilbert's matrix: a condition of 1.7e16, of which CG sees 1e6.
  Triplets<double> hilbert;
  hilbert.rows = hilbert.cols = 12;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) hilbert.add(i, j, 1.0 / (i + j + 1));
  }
  auto solver = without_the_smallest<TypeParam>(hilbert, std::vector<double>(12, 1.0));
  const auto seen = solver.run().result;
  ASSERT_TRUE(seen.converged());
  EXPECT_LT(seen.cg->spectrum.condition, 1e9);
  EXPECT_EQ(seen.cg->spectrum.confirming_steps, 0);
  solver.confirm = enough;
  const auto looked = solver.run().result;
  EXPECT_EQ(looked.iterations, seen.iterations);
  EXPECT_EQ(looked.residual, seen.residual);
  EXPECT_FALSE(looked.cg->spectrum.smallest.converged);
  EXPECT_TRUE(looked.cg->spectrum.at_least);

  // A chain whose ends are free: (1, ..., 1) is in its null space.
  Triplets<double> free_ends = poisson1d(60);
  for (std::size_t k = 0; k < free_ends.values.size(); ++k) {
    const bool end = free_ends.row_idx[k] == 0 || free_ends.row_idx[k] == 59;
    if (end && free_ends.row_idx[k] == free_ends.col_idx[k]) free_ends.values[k] = 1;
  }
  solver = without_the_smallest<TypeParam>(free_ends, random_vector<double>(60, 4));
  EXPECT_TRUE(solver.run().result.cg->spectrum.smallest.converged);  // as far as CG can tell
  solver.confirm = enough;
  const auto chain = solver.run().result;
  ASSERT_TRUE(chain.converged()) << chain.advice;
  EXPECT_FALSE(chain.cg->spectrum.smallest.converged);
  EXPECT_GT(chain.cg->spectrum.confirming_steps, 0);

  // Indefinite, by a little and by much, along a direction that b has nothing of.
  for (const double negative : {-1e-9, -3.0}) {
    Triplets<double> diagonal;
    diagonal.rows = diagonal.cols = 50;
    for (int i = 0; i < 50; ++i) diagonal.add(i, i, i == 17 ? negative : 1 + i);
    std::vector<double> x(50, 1.0);
    x[17] = 0;
    solver = without_the_smallest<TypeParam>(diagonal, x);
    solver.confirm = enough;
    const auto r = solver.run().result;
    ASSERT_TRUE(r.converged()) << r.advice;
    EXPECT_FALSE(r.cg->spectrum.smallest.converged) << negative;
    if (negative > -1) continue;  // within what rounding does to p'Ap
    EXPECT_TRUE(r.cg->not_definite);
    EXPECT_TRUE(std::isnan(r.cg->error.upper_estimate));
    EXPECT_TRUE(holds(r.advice, "A is not positive definite")) << r.advice;
  }
}

TYPED_TEST(Confirms, ThatTheSmallestEigenvalueIsThat) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1), "jacobi"};
  solver.stop.rtol = 1e-10;
  const auto as_seen = solver.run();
  solver.confirm = 1e9;
  const auto confirmed = solver.run();
  const krysol::Spectrum& s = confirmed.result.cg->spectrum;
  EXPECT_TRUE(s.smallest.converged);
  EXPECT_FALSE(s.at_least);
  EXPECT_GT(s.confirming_steps, 20);
  EXPECT_LT(s.confirming_steps, 200);
  EXPECT_EQ(as_seen.x, confirmed.x);
  EXPECT_EQ(as_seen.result.history, confirmed.result.history);
  EXPECT_EQ(as_seen.result.spmv.calls, confirmed.result.spmv.calls);
  EXPECT_NEAR(s.condition, as_seen.result.cg->spectrum.condition, 1e-3 * s.condition);
  // Where there is not enough to be spent it is what was seen.
  solver.confirm = 1e5;
  const auto poor = solver.run().result;
  EXPECT_EQ(poor.cg->spectrum.confirming_steps, 0);
  EXPECT_FALSE(poor.cg->spectrum.smallest.converged);
  EXPECT_TRUE(poor.cg->spectrum.at_least);
  EXPECT_EQ(poor.cg->spectrum.condition, as_seen.result.cg->spectrum.condition);
  solver.confirm = -1;
  EXPECT_EQ(message_of([&] { solver.run(); }),
            "krysol::cg: confirm must be a number of bytes, or 0; it is -1");
}

/// What is left of the noise is held against what there was of it, whatever the size of A.
TYPED_TEST(Confirms, TheSmallestEigenvalueOfAnyScale) {
  for (const char* precond : {"none", "jacobi"}) {
    const auto of_scale = [precond](int power) {
      NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1),
                                           precond};
      for (double& v : solver.entries.values) v = std::ldexp(v, power);
      solver.stop.rtol = 1e-10;
      solver.confirm = 1e9;
      return solver.run().result;
    };
    const auto plain = of_scale(0);
    ASSERT_TRUE(plain.converged()) << plain.advice;
    for (const int power : {-110, 110}) {
      SCOPED_TRACE(std::string(precond) + " 2^" + std::to_string(power));
      const auto r = of_scale(power);
      ASSERT_TRUE(r.converged()) << r.advice;
      const krysol::Spectrum& s = r.cg->spectrum;
      const krysol::Spectrum& wanted = plain.cg->spectrum;
      EXPECT_TRUE(s.smallest.converged);
      EXPECT_FALSE(s.at_least);
      EXPECT_NEAR(static_cast<double>(s.confirming_steps),
                  static_cast<double>(wanted.confirming_steps), 1);
      EXPECT_NEAR(s.condition, wanted.condition, 1e-6 * wanted.condition);
      const double unscaled =
          std::string(precond) == "none" ? std::ldexp(s.smallest.value, -power) : s.smallest.value;
      EXPECT_NEAR(unscaled, wanted.smallest.value, 1e-6 * wanted.smallest.value);
    }
  }
}

TYPED_TEST(Confirms, NoBoundThatARitzValueRefutes) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1)};
  const double smallest = grid_eigenvalue(20, 1) + grid_eigenvalue(15, 1);
  for (const double claim : {0.5 * smallest, smallest, 1.01 * smallest, 5.0}) {
    solver.lambda_min = claim;
    const auto r = solver.run().result;
    ASSERT_TRUE(r.converged());
    EXPECT_EQ(r.cg->error.lambda_min_refuted, claim > smallest) << claim;
    EXPECT_EQ(std::isnan(r.cg->error.upper_bound), claim > smallest) << claim;
    EXPECT_EQ(std::isnan(r.cg->error_history.upper_bound[3]), claim > smallest) << claim;
  }
}

/// Rounding of A's entries may move an eigenvalue by a millionth of it; what is further above is
/// refuted.
TYPED_TEST(Confirms, NoBoundFurtherAboveThanAMillionth) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1)};
  solver.stop.rtol = 1e-10;
  const double smallest = grid_eigenvalue(20, 1) + grid_eigenvalue(15, 1);
  for (const double above : {5e-7, 4e-6}) {
    solver.lambda_min = (1 + above) * smallest;
    const auto r = solver.run().result;
    ASSERT_TRUE(r.converged());
    ASSERT_LT(r.cg->spectrum.smallest.value, (1 + 1e-6) * smallest);
    EXPECT_EQ(r.cg->error.lambda_min_refuted, above > 1e-6) << above;
  }
}

/// T of these coefficients has 2 j + 1 on the diagonal and j + 1 beside it: no two eigenvalues are
/// close. Whatever the count, it finds those that it finds among the eight of both ends.
TEST(Lanczos, HasAsManyEigenvaluesAsAreAskedFor) {
  krysol::LanczosRun run;
  run.start(1, 1);
  for (int k = 0; k < 20; ++k) run.add(1.0 / (1 + k), 1);
  ASSERT_EQ(run.steps(), 20U);
  for (const std::size_t steps : {1U, 2U, 3U, 4U, 5U, 9U, 16U, 17U, 20U}) {
    const std::vector<double> all = krysol::extreme_eigenvalues(run, steps, 8);
    ASSERT_EQ(all.size(), std::min<std::size_t>(16, steps));
    for (std::size_t count = 0; count <= 8; ++count) {
      const std::vector<double> some = krysol::extreme_eigenvalues(run, steps, count);
      const std::size_t both = std::min(2 * count, steps);
      ASSERT_EQ(some.size(), both) << steps << ' ' << count;
      for (std::size_t k = 0; k < both; ++k) {
        const double expected = k < count ? all[k] : all[all.size() - both + k];
        EXPECT_NEAR(some[k], expected, 1e-9 * expected) << steps << ' ' << count << ' ' << k;
      }
    }
  }
}

}  // namespace
