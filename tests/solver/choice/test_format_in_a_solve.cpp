// The format `auto` beside the preconditioner `auto`: csr, until enough multiplications are ahead.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/solve.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "random_signs.hpp"

namespace {

using namespace krysol_tests;
using krysol::SolveOptions;
using krysol::Solver;
using krysol::SolveReport;
using krysol::SolveResult;
using krysol::Status;

/// Were formats timed?
bool measured(const SolveReport& report) {
  return report.choice.has_value() && report.choice->trials.at(0).measured;
}

/// Jacobi takes some 20 iterations, and nothing else is worth a thought.
Triplets<double> soon_solved() {
  auto t = poisson2d(80, 80);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == t.col_idx[k]) t.values[k] = 7;
  }
  return t;
}

TEST(FormatInASolve, IsCsrUntilAsManyMultiplicationsWereMade) {
  const auto a = krysol::to_csr(soon_solved()).matrix;
  const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 1);
  Solver<double> solver(a);
  EXPECT_EQ(solver.report().format, "csr");
  std::int64_t made = 0;
  std::vector<double> x(b.size(), 0);
  const SolveResult first = solver.solve(b, x);
  EXPECT_EQ(first.status, Status::converged);
  ASSERT_LT(first.iterations, 100);
  EXPECT_FALSE(measured(solver.report()));
  EXPECT_EQ(solver.report().choice->reason,
            "fewer than 250 multiplications are known to be ahead, too few to measure for");
  for (made = first.iterations; made < 100; made += first.iterations) {
    std::vector<double> y(b.size(), 0);
    solver.solve(b, y);
    EXPECT_EQ(y, x);
  }
  EXPECT_FALSE(measured(solver.report()));
  // Other values in the same rows count on.
  std::vector<double> twice;
  for (std::size_t k = 0; k < a.values.extent(0); ++k) twice.push_back(2 * a.values(k));
  solver.update(twice);
  for (; made < 250 + first.iterations; made += first.iterations) {
    std::vector<double> y(b.size(), 0);
    EXPECT_EQ(solver.solve(b, y).status, Status::converged);
  }
  const SolveReport report = solver.report();
  EXPECT_TRUE(measured(report));
  EXPECT_EQ(report.format, report.choice->name);
  EXPECT_EQ(report.convert.calls, 2) << "of the update, and of choosing";
  solver.update(twice);
  EXPECT_EQ(solver.report().format, report.format);
}

/// Within a solve that jacobi goes on with for long.
TEST(FormatInASolve, IsChosenWhereManyIterationsAreLeft) {
  if (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "setups by the host do not pay on a device here";
  }
  // As in PreconditionerChoice.GoesBackToTheOneBefore: multigrid is tried, and left.
  const auto a = with_random_signs(krysol::gallery::make_problem("jumps:40"));
  const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 1);
  SolveReport report;
  SolveOptions options;
  options.order = "none";
  options.stop.rtol = 1e-12;
  options.report = &report;
  std::vector<double> x(b.size(), 0);
  const SolveResult r = krysol::solve(a, b, x, options);
  EXPECT_EQ(r.status, Status::converged);
  EXPECT_LE(r.residual, r.target);
  EXPECT_GT(r.iterations, 300);
  EXPECT_TRUE(measured(report)) << report.choice->reason;
  EXPECT_EQ(report.format, report.choice->name);
}

TEST(FormatInASolve, IsChosenAtOnceWhereMultiplicationsAreCounted) {
  const auto a = krysol::to_csr(soon_solved()).matrix;
  SolveOptions options;
  options.expected_products = 400;
  EXPECT_TRUE(measured(Solver<double>(a, options).report()));
  options = {};
  options.preconditioner = "jacobi";
  EXPECT_TRUE(measured(Solver<double>(a, options).report()));
  options = {};
  options.keep_tuning = true;
  EXPECT_TRUE(measured(Solver<double>(a, options).report()));
  EXPECT_FALSE(measured(Solver<double>(a).report()));
}

}  // namespace
