// What a result says of errors, of A and of rounding, where it is easily said too much.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krysol/solver/outcome/advice.hpp>
#include <krysol/solver/outcome/error_bounds.hpp>
#include <krysol/solver/registry.hpp>
#include "dense.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "solving.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::LanczosRun;
using krysol::SolveResult;
using krysol::Status;

template <class Exec>
class Claims : public testing::Test {};
using ClaimSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Claims, ClaimSpaces, SpaceName);

double last_estimate(const LanczosRun& run) {
  krysol::ErrorHistory h;
  add_error_bounds(run, 0, {.value = 1e-4, .converged = true}, 0, h);
  return h.upper_estimate.back();
}

/// sqrt(rho phi / mu), with phi from the betas.
double by_smallest(const LanczosRun& run) {
  double phi = 1;
  for (const double beta : run.beta) phi = phi / (phi + beta);
  return std::sqrt(run.rho.back() * phi / 1e-4);
}

/// After a restart the steps so far say nothing of how slowly the error falls.
TEST(ErrorBounds, TakeARateFromARunThatIsLongEnough) {
  LanczosRun run;
  run.start(1, 1);
  run.add(0.5, 0.25);
  EXPECT_NEAR(last_estimate(run), by_smallest(run), 1e-12 * by_smallest(run));
  run.add(0.5, 0.06);
  EXPECT_NEAR(last_estimate(run), by_smallest(run), 1e-12 * by_smallest(run));
  for (int k = 3; k < 12; ++k) run.add(0.5, std::pow(0.25, k));
  // The sum to the end has been 4 / 3 of its first term.
  EXPECT_NEAR(last_estimate(run), std::sqrt(0.5 * std::pow(0.25, 10) * 4 / 3),
              0.02 * last_estimate(run));
  EXPECT_LT(last_estimate(run), 0.1 * by_smallest(run));
}

TYPED_TEST(Claims, NoErrorToBeLargerThanItIsWhereRoundingMakesIt) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 2), "jacobi"};
  const auto converged = solver.run();
  ASSERT_TRUE(converged.result.converged());
  EXPECT_GT(converged.result.cg->error.lower, 0);
  solver.stop.rtol = 1e-20;
  const auto s = solver.run();
  ASSERT_EQ(s.result.status, Status::stagnated);
  EXPECT_LT(s.result.residual, 10 * s.result.rounding);
  EXPECT_TRUE(std::isnan(s.result.cg->error.lower));
  EXPECT_FALSE(std::isnan(s.result.cg->error_history.lower.front()));
}

/// Rounding of A moves the smallest eigenvalue by as much as it is: no bound rests on one, and what
/// rounding keeps from the recurrence is an error of any size.
TYPED_TEST(Claims, NoBoundsWhereTheConditionLeavesNone) {
  for (const double smallest : {1e-10, 1e-14}) {
    auto t = no_entries<double>(40, 40);
    for (Index i = 0; i < 40; ++i) t.add(i, i, std::pow(smallest, i / 39.0));
    NamedSolve<double, TypeParam> solver{t, random_vector<double>(40, 3)};
    solver.lambda_min = 0.99 * smallest;
    solver.stop.rtol = 1e-13;
    solver.stop.max_iterations = 400;
    const auto r = solver.run().result;
    const bool lost = r.cg->spectrum.condition > 1e13;
    EXPECT_EQ(lost, smallest < 1e-13) << r.cg->spectrum.condition;
    const auto known = [](const std::vector<double>& column) {
      return std::any_of(column.begin(), column.end(), [](double v) { return !std::isnan(v); });
    };
    EXPECT_EQ(known(r.cg->error_history.lower), !lost) << smallest;
    EXPECT_EQ(known(r.cg->error_history.upper_bound), !lost) << smallest;
    EXPECT_EQ(r.cg->error_history.lower.size(), r.history.size());
  }
}

/// D A D for the graph of a grid, D = diag(1 .. 2): its null vector is D^-1 (1, ..., 1)', and no
/// rows sum to 0.
Triplets<double> hidden_null_vector(Index n) {
  auto a = neumann2d(n, n);
  const auto d = [](Index i) { return 1 + 0.1 * (i % 11); };
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    a.values[k] *= d(a.row_idx[k]) * d(a.col_idx[k]);
  }
  return a;
}

/// A little of b is outside the range of A: x grows and grows, until rounding ends it.
TYPED_TEST(Claims, ThatAMatrixMayBeSingularWhereXGrows) {
  const Index n = 12;
  const auto a = hidden_null_vector(n);
  const auto rows = static_cast<std::size_t>(n * n);
  const auto x = random_vector<double>(rows, 3);
  std::vector<double> in_range;
  for (const auto& v : dense(a) * widen(x)) in_range.push_back(static_cast<double>(v));
  bool seen = false;
  for (const double part : {1e-2, 1e-4, 1e-6}) {
    for (const std::string precond : {"none", "jacobi", "cholesky"}) {
      auto b = in_range;
      for (std::size_t i = 0; i < rows; ++i) {
        b[i] += part / (1 + 0.1 * static_cast<double>(i % 11));
      }
      NamedSolve<double, TypeParam> solver{a, b, precond};
      const auto r = solver.run().result;
      EXPECT_FALSE(r.converged()) << precond << part;
      if (r.status != Status::stagnated) continue;
      seen = true;
      EXPECT_TRUE(holds(r.advice, "singular")) << precond << ' ' << part << ": " << r.advice;
    }
  }
  EXPECT_TRUE(seen);
}

TEST(AdviceClaims, OfNearlySingularMatricesAreNumbers) {
  SolveResult r;
  r.status = Status::stagnated;
  r.growth = 3e11;
  EXPECT_TRUE(holds(krysol::advice(r),
                    "|A||x| is 3.0e+11 |b - r|, and the condition number of A no "
                    "smaller: A is nearly singular, or singular"));
  r.growth = 3e7;
  EXPECT_FALSE(holds(krysol::advice(r), "singular"));
  // A condition of 1e10 and more is no singular matrix.
  r.status = Status::max_iterations;
  r.cg.emplace().spectrum.condition = 9e10;
  r.initial_residual = 1;
  r.residual = 2;
  EXPECT_FALSE(holds(krysol::advice(r), "singular")) << krysol::advice(r);
  EXPECT_TRUE(holds(krysol::advice(r), "A better preconditioner")) << krysol::advice(r);
  EXPECT_TRUE(holds(krysol::advice(r), "The condition number of M^-1 A is at least"));
  r.cg->preconditioned = false;
  EXPECT_TRUE(holds(krysol::advice(r), "The condition number of A is at least"));
  r.cg->spectrum.condition = 2e13;
  EXPECT_TRUE(holds(krysol::advice(r), "nearly singular, or singular"));
  r.status = Status::indefinite_matrix;
  r.breakdown.iteration = 7;
  EXPECT_TRUE(
      holds(krysol::advice(r),
            "A is not positive definite, or singular to this precision: at iteration 7 p'Ap "
            "is no more than rounding for a direction of length 1. "));
  r.breakdown.curvature = -2;
  EXPECT_TRUE(holds(krysol::advice(r),
                    "A is not positive definite: at iteration 7 p'Ap = "
                    "-2.000000e+00 for a direction of length 1, so that an "
                    "eigenvalue is no larger. "));
}

/// Rows from 1, in their order.
TEST(AdviceClaims, NameTheLargestRowsWithTheirShares) {
  SolveResult r;
  r.status = Status::indefinite_matrix;
  r.breakdown.iteration = 4;
  r.breakdown.curvature = -0.5;
  r.breakdown.largest = {{6, 0.5}, {0, 0.254}, {41, 0.02}, {2, 0.001}};
  EXPECT_TRUE(holds(krysol::advice(r),
                    " Its largest rows, with their share of |p|^2: 7 (50 %), 1 (25 %), 42 (2 %), "
                    "3 (0 %). Look there "))
      << krysol::advice(r);
  r.breakdown.largest = {{0, 1.0}};
  EXPECT_TRUE(holds(krysol::advice(r), "share of |p|^2: 1 (100 %). Look there "))
      << krysol::advice(r);
}

/// The 2-norm of CG's residual rises on good matrices, too.
TEST(LooksSingular, TakesMoreThanAResidualThatHasGrown) {
  SolveResult r;
  r.status = Status::max_iterations;
  r.initial_residual = 1;
  r.residual = 50;
  r.cg.emplace().flexible = true;
  EXPECT_FALSE(krysol::looks_singular(r));
  r.residual = 2e6;
  EXPECT_TRUE(krysol::looks_singular(r));
  r.cg->flexible = false;
  EXPECT_FALSE(krysol::looks_singular(r));
  r.status = Status::indefinite_matrix;
  EXPECT_TRUE(krysol::looks_singular(r)) << "p'Ap was nothing but rounding";
  r.breakdown.curvature = -1;
  EXPECT_FALSE(krysol::looks_singular(r));
  r.breakdown.curvature = 0;
  r.residual = 0.9;
  EXPECT_FALSE(krysol::looks_singular(r));
}

TYPED_TEST(Claims, WhetherThereIsAPreconditioner) {
  for (const std::string precond : {"none", "jacobi", "ic0"}) {
    NamedSolve<double, TypeParam> solver{poisson2d(9, 9), std::vector<double>(81, 1.0), precond};
    EXPECT_EQ(solver.run().result.cg->preconditioned, precond != "none");
  }
}

TYPED_TEST(Claims, TheTimeOfStepsThatConfirmASpectrum) {
  NamedSolve<double, TypeParam> solver{poisson2d(30, 30), random_vector<double>(900, 4)};
  EXPECT_EQ(solver.run().result.cg->spectrum.confirming_seconds, 0);
  solver.confirm = 1e12;
  const auto r = solver.run().result;
  EXPECT_GT(r.cg->spectrum.confirming_steps, 0);
  EXPECT_GT(r.cg->spectrum.confirming_seconds, 0);
  EXPECT_LT(r.cg->spectrum.confirming_seconds, 60);
}

}  // namespace
