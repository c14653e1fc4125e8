// The preconditioner `auto`: what it takes, what it tells, and that stages repeat it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/choice/joined_results.hpp>
#include <krysol/solver/choice/preconditioner_choice.hpp>
#include <krysol/solver/choice/predicted_cost.hpp>
#include <krysol/solver/solve.hpp>
#include <krysol/spmv/base/processor.hpp>
#include "dense.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "random_signs.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::PreconditionerTrial;
using krysol::Progress;
using krysol::SolveOptions;
using krysol::SolveReport;
using krysol::SolveResult;
using krysol::Status;
using krysol::to_csr;

/// jacobi would take more than a thousand iterations.
Triplets<double> stiff() { return poisson2d(4, 1000, 1e-4); }

/// On a device setups by the host are too dear for systems as small as these.
#define KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR()                           \
  if (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {              \
    GTEST_SKIP() << "setups by the host do not pay on a device here"; \
  }

struct ChoiceSolved {
  SolveResult result;
  SolveReport report;
  std::vector<double> x;
};

ChoiceSolved solved_by_choice(const Triplets<double>& t, SolveOptions options = {}) {
  const auto a = to_csr(t).matrix;
  ChoiceSolved s;
  s.x.assign(static_cast<std::size_t>(a.rows), 0);
  options.report = &s.report;
  options.format = "csr";
  options.order = "none";
  s.result = krysol::solve(a, random_vector<double>(s.x.size(), 1), s.x, options);
  return s;
}

TEST(PreconditionerChoice, StaysWithJacobiWhereThatIsSoonDone) {
  SolveOptions jacobi;
  jacobi.preconditioner = "jacobi";
  for (const auto& t :
       {poisson2d(20, 20), poisson1d(5), random_spd(std::vector<double>(20, 3), 1)}) {
    const ChoiceSolved chosen = solved_by_choice(t);
    const ChoiceSolved fixed = solved_by_choice(t, jacobi);
    ASSERT_EQ(chosen.report.trials.size(), 1U) << stages_as_text(chosen.report.trials);
    EXPECT_EQ(chosen.report.trials[0].name, "jacobi");
    EXPECT_EQ(chosen.report.trials[0].outcome, "converged");
    EXPECT_EQ(chosen.report.preconditioner, "jacobi");
    EXPECT_EQ(stages_as_text(chosen.report.trials), "jacobi");
    EXPECT_EQ(chosen.x, fixed.x);
    EXPECT_EQ(chosen.result.history, fixed.result.history);
    EXPECT_TRUE(fixed.report.trials.empty());
  }
}

TEST(PreconditionerChoice, GoesOverWithTheSameX) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const ChoiceSolved s = solved_by_choice(stiff());
  EXPECT_EQ(s.result.status, Status::converged);
  EXPECT_LE(s.result.residual, s.result.target);
  const auto& trials = s.report.trials;
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].name, "jacobi");
  EXPECT_EQ(trials[0].outcome, "left for cholesky");
  EXPECT_EQ(trials[1].name, "cholesky");
  EXPECT_EQ(trials[1].outcome, "converged");
  EXPECT_EQ(s.report.preconditioner, "cholesky");
  EXPECT_FALSE(s.report.preconditioner_facts.empty());
  EXPECT_GE(trials[0].iterations, 12);
  EXPECT_LT(trials[0].iterations, 200);
  EXPECT_EQ(trials[0].iterations + trials[1].iterations, s.result.iterations);
  EXPECT_EQ(trials[0].first_residual, s.result.initial_residual);
  EXPECT_EQ(trials[0].last_residual, trials[1].first_residual);
  EXPECT_EQ(trials[1].last_residual, s.result.residual);
  EXPECT_GT(trials[1].setup_seconds, 0);
  EXPECT_GT(trials[1].predicted_cost, 0);
  EXPECT_GT(trials[1].cost_without, trials[1].predicted_cost);
  const auto steps = static_cast<std::size_t>(s.result.iterations) + 1;
  ASSERT_EQ(s.result.history.size(), steps);
  EXPECT_EQ(s.result.history[static_cast<std::size_t>(trials[0].iterations)],
            trials[0].last_residual);
  ASSERT_TRUE(s.result.cg.has_value());
  EXPECT_EQ(s.result.cg->error_history.lower.size(), steps);
  EXPECT_EQ(s.result.cg->error_history.upper_estimate.size(), steps);
  EXPECT_EQ(s.result.spmv.calls, s.result.iterations);
  EXPECT_EQ(s.report.setup.calls, 2);
}

/// On a large grid the order of a factorization alone is predicted to cost more than all of
/// multigrid: it is not made, and multigrid is taken without it.
TEST(PreconditionerChoice, GoesOverToMultigridWithoutAnOrderOfAFactorization) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const ChoiceSolved s = solved_by_choice(poisson2d(200, 200));
  EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
  EXPECT_LE(s.result.residual, s.result.target);
  const auto& trials = s.report.trials;
  ASSERT_EQ(trials.size(), 2U) << stages_as_text(trials);
  EXPECT_EQ(trials[0].name, "jacobi");
  EXPECT_EQ(trials[0].outcome, "left for amg");
  EXPECT_LT(trials[0].iterations, 200);
  EXPECT_EQ(trials[1].name, "amg");
  EXPECT_EQ(trials[1].outcome, "converged");
  EXPECT_GT(trials[1].predicted_cost, 0);
  EXPECT_GT(trials[1].cost_without, trials[1].predicted_cost);
  EXPECT_EQ(s.report.preconditioner, "amg");
}

TEST(PreconditionerChoice, RepeatsToTheBitByItselfAndByStages) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const ChoiceSolved s = solved_by_choice(stiff());
  const ChoiceSolved again = solved_by_choice(stiff());
  EXPECT_EQ(again.x, s.x);
  EXPECT_EQ(again.result.history, s.result.history);
  SolveOptions stages;
  stages.preconditioner = stages_as_text(s.report.trials);
  EXPECT_EQ(stages.preconditioner,
            "auto:jacobi*" + std::to_string(s.report.trials[0].iterations) + "/cholesky");
  const ChoiceSolved told = solved_by_choice(stiff(), stages);
  EXPECT_EQ(told.x, s.x);
  EXPECT_EQ(told.result.history, s.result.history);
  ASSERT_EQ(told.report.trials.size(), 2U);
  EXPECT_EQ(told.report.trials[1].name, "cholesky");
  EXPECT_EQ(stages_as_text(told.report.trials), stages.preconditioner);
}

TEST(PreconditionerChoice, TakesStagesOfAnyNumber) {
  SolveOptions options;
  options.preconditioner = "auto:none*5/ssor:1.5*7/ic0";
  const ChoiceSolved s = solved_by_choice(poisson2d(30, 30), options);
  EXPECT_EQ(s.result.status, Status::converged);
  ASSERT_EQ(s.report.trials.size(), 3U);
  EXPECT_EQ(s.report.trials[0].iterations, 5);
  EXPECT_EQ(s.report.trials[1].iterations, 7);
  EXPECT_EQ(s.report.trials[1].outcome, "left for ic0");
  EXPECT_EQ(s.report.preconditioner, "ic0");
  // One that has converged before is the last.
  options.preconditioner = "auto:jacobi*1000/ic0";
  EXPECT_EQ(solved_by_choice(poisson2d(30, 30), options).report.trials.size(), 1U);
}

TEST(PreconditionerChoice, CountsOnForTheObserverAndEndsWhereThatAsks) {
  for (const bool stop_late : {false, true}) {
    std::vector<std::int64_t> seen;
    SolveOptions options;
    options.preconditioner = "auto:jacobi*20/ssor";
    options.observer = [&](const Progress& p) {
      seen.push_back(p.iteration);
      return !stop_late || p.iteration < 33;
    };
    const ChoiceSolved s = solved_by_choice(stiff(), options);
    EXPECT_EQ(s.result.status, stop_late ? Status::interrupted : Status::converged);
    if (stop_late) {
      EXPECT_EQ(s.result.iterations, 33);
    }
    for (std::size_t k = 0; k < seen.size(); ++k) {
      ASSERT_EQ(seen[k], static_cast<std::int64_t>(k) + 1);
    }
  }
  SolveOptions options;
  options.observer = [](const Progress& p) { return p.iteration < 3; };
  EXPECT_EQ(solved_by_choice(stiff(), options).result.status, Status::interrupted);
}

TEST(PreconditionerChoice, AllowsAsManyIterationsAsWereGiven) {
  SolveOptions options;
  options.preconditioner = "auto:jacobi*20/ssor";
  options.stop.max_iterations = 31;
  const ChoiceSolved s = solved_by_choice(stiff(), options);
  EXPECT_EQ(s.result.status, Status::max_iterations);
  EXPECT_EQ(s.result.iterations, 31);
  EXPECT_TRUE(s.result.advice.starts_with("Not converged after 31 iterations: "))
      << s.result.advice;
  EXPECT_EQ(s.report.trials.back().outcome, "max_iterations");
}

TEST(PreconditionerChoice, BeginsTheNextSolveWithWhatTheLastEndedWith) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const auto a = to_csr(stiff()).matrix;
  SolveOptions options;
  options.format = "csr";
  krysol::Solver<double> solver(a, options);
  const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 2);
  std::vector<double> x(b.size());
  const SolveResult first = solver.solve(b, x);
  ASSERT_EQ(solver.report().preconditioner, "cholesky");
  std::vector<double> y(b.size());
  const SolveResult second = solver.solve(b, y);
  EXPECT_GT(first.iterations, 12);
  EXPECT_LE(second.iterations, 2);
  ASSERT_EQ(solver.report().trials.size(), 1U);
  EXPECT_EQ(solver.report().trials[0].name, "cholesky");

  // Twice the values, half the solution; what was in use is updated.
  std::vector<double> twice;
  for (std::size_t k = 0; k < a.values.extent(0); ++k) twice.push_back(2 * a.values(k));
  solver.update(twice);
  EXPECT_EQ(solver.report().preconditioner, "jacobi");
  std::vector<double> half(b.size());
  const SolveResult third = solver.solve(b, half);
  EXPECT_EQ(third.status, Status::converged);
  EXPECT_LE(third.iterations, 2);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(2 * half[i], y[i], 1e-6 * std::abs(y[i]));
}

TEST(PreconditionerChoice, IsSharedByThreads) {
  if (launched_by_one_thread<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "kernels of this space are one host thread's";
  }
  const auto a = to_csr(stiff()).matrix;
  SolveOptions options;
  options.format = "csr";
  krysol::Solver<double> solver(a, options);
  std::vector<SolveResult> results(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), t);
      std::vector<double> x(b.size());
      results[t] = solver.solve(b, x);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const SolveResult& r : results) {
    EXPECT_EQ(r.status, Status::converged);
    EXPECT_LE(r.residual, r.target);
  }
}

/// A bound of the eigenvalues of M^-1 A is one for a given M; MINRES takes what is positive
/// definite for any A.
TEST(PreconditionerChoice, IsJacobiWhereMMustNotChange) {
  SolveOptions bound;
  bound.solver_options = {{"lambda_min", "1e-9"}};
  const ChoiceSolved b = solved_by_choice(stiff(), bound);
  EXPECT_EQ(b.report.preconditioner, "jacobi");
  EXPECT_TRUE(b.report.trials.empty());
  EXPECT_GT(b.result.iterations, 500);
  SolveOptions minres;
  minres.solver = "minres";
  EXPECT_EQ(solved_by_choice(poisson2d(9, 9), minres).report.preconditioner, "jacobi");
  minres.preconditioner = "auto:jacobi*3/ic0";
  EXPECT_EQ(message_of([&] { solved_by_choice(poisson2d(9, 9), minres); }),
            "krysol::solve: preconditioner 'auto:jacobi*3/ic0' goes with cg alone, and with no "
            "lambda_min");
}

TEST(PreconditionerChoice, CertifiesAnIndefiniteMatrix) {
  auto t = poisson2d(30, 30);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == t.col_idx[k]) t.values[k] = 3.9;
  }
  const ChoiceSolved s = solved_by_choice(t);
  EXPECT_EQ(s.result.status, Status::indefinite_matrix);
  EXPECT_LT(s.result.breakdown.curvature, 0);
  EXPECT_EQ(s.result.breakdown.iteration, s.result.iterations + 1);
}

/// stiff(), and two rows beside it that make the matrix indefinite.
Triplets<double> stiff_beside_indefinite() {
  const auto one = stiff();
  auto t = no_entries<double>(one.rows + 2, one.rows + 2);
  for (std::size_t k = 0; k < one.values.size(); ++k) {
    t.add(one.row_idx[k], one.col_idx[k], one.values[k]);
  }
  for (const Index i : {one.rows, one.rows + 1}) {
    for (const Index j : {one.rows, one.rows + 1}) t.add(i, j, i == j ? 1 : 2);
  }
  return t;
}

/// A factorization that the values refuse is a line of the report, and CG, which sees nothing of
/// where they do, goes on, for now with jacobi.
TEST(PreconditionerChoice, GoesOnWhereTheOtherIsRefused) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const auto t = stiff_beside_indefinite();
  const auto a = to_csr(t).matrix;
  auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 1);
  b.end()[-1] = b.end()[-2] = 0;
  SolveReport report;
  SolveOptions options;
  options.format = "csr";
  options.order = "none";
  options.report = &report;
  std::vector<double> x(b.size());
  const SolveResult r = krysol::solve(a, b, x, options);
  EXPECT_EQ(r.status, Status::converged) << r.advice;
  EXPECT_LE(static_cast<double>(norm(widen(b) - t * widen(x))), 1.01 * r.target);
  ASSERT_GE(report.trials.size(), 2U);
  EXPECT_TRUE(report.trials[0].outcome.starts_with("not made: cholesky: the pivot of row "))
      << report.trials[0].outcome;
  EXPECT_EQ(report.trials[0].iterations, 0);
  EXPECT_EQ(report.trials[1].name, "jacobi");
  EXPECT_NE(report.preconditioner, "cholesky");
  EXPECT_EQ(stages_as_text(report.trials).find("cholesky"), std::string::npos);
}

/// Multigrid takes more iterations than predicted there: CG goes back to jacobi, with the same x,
/// and does not try it again.
TEST(PreconditionerChoice, GoesBackToTheOneBefore) {
  KRYSOL_SKIP_WHERE_SETUPS_ARE_DEAR();
  const auto a = with_random_signs(krysol::gallery::make_problem("jumps:40"));
  SolveReport report;
  SolveOptions options;
  options.format = "csr";
  options.order = "none";
  options.stop.rtol = 1e-12;
  options.report = &report;
  const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 1);
  std::vector<double> x(b.size(), 0);
  const SolveResult r = krysol::solve(a, b, x, options);
  EXPECT_EQ(r.status, Status::converged) << r.advice;
  EXPECT_LE(r.residual, r.target);
  std::vector<PreconditionerTrial> used;
  for (const PreconditionerTrial& trial : report.trials) {
    if (trial.iterations > 0) used.push_back(trial);
  }
  ASSERT_EQ(used.size(), 3U) << stages_as_text(report.trials);
  EXPECT_EQ(used[0].outcome, "left for amg");
  EXPECT_EQ(used[1].name, "amg");
  EXPECT_EQ(used[1].outcome, "left for jacobi");
  EXPECT_GT(used[1].predicted_iterations, 0);
  EXPECT_GT(used[2].cost_without, used[1].cost_without) << "of going on with amg";
  EXPECT_EQ(used[2].name, "jacobi");
  EXPECT_EQ(used[2].outcome, "converged");
  EXPECT_EQ(used[2].first_residual, used[1].last_residual);
  EXPECT_EQ(report.preconditioner, "jacobi");
  std::int64_t iterations = 0;
  for (const PreconditionerTrial& trial : used) iterations += trial.iterations;
  EXPECT_EQ(iterations, r.iterations);
}

/// A setup that would take longer than is left is not begun.
TEST(PreconditionerChoice, MindsItsLimits) {
  SolveOptions few;
  few.stop.max_iterations = 40;
  const ChoiceSolved s = solved_by_choice(stiff(), few);
  EXPECT_EQ(s.result.status, Status::max_iterations);
  EXPECT_EQ(s.result.iterations, 40);
  EXPECT_EQ(s.report.trials.size(), 1U);
  SolveOptions soon;
  soon.stop.time_limit_s = 1e-5;
  const ChoiceSolved t = solved_by_choice(stiff(), soon);
  EXPECT_EQ(t.result.status, Status::time_limit);
  EXPECT_EQ(t.report.trials.size(), 1U);
}

TEST(PreconditionerChoice, RefusesStagesByStrict) {
  const auto t = stiff_beside_indefinite();
  SolveOptions options;
  options.preconditioner = "auto:jacobi*2/cholesky";
  options.stop.max_iterations = 4;
  EXPECT_EQ(solved_by_choice(t, options).report.preconditioner, "jacobi");
  options.strict = true;
  const std::string message = message_of([&] { solved_by_choice(t, options); });
  EXPECT_TRUE(message.starts_with("cholesky: the pivot of row ")) << message;
  EXPECT_TRUE(message.ends_with("; strict takes nothing in its place")) << message;
}

TEST(PreconditionerStages, SayWhatIsWrong) {
  const auto message = [](const std::string& name) {
    return message_of([&] { krysol::preconditioner_stages(name, {}); });
  };
  const std::string expected =
      "; expected as in auto:jacobi*40/amg, 40 iterations with jacobi and the rest with amg";
  EXPECT_EQ(message("auto:jacobi/amg"),
            "preconditioner 'auto:jacobi/amg': how many iterations with 'jacobi'?" + expected);
  EXPECT_EQ(message("auto:jacobi*4"),
            "preconditioner 'auto:jacobi*4': the last of them goes on to the end" + expected);
  for (const std::string count : {"0", "x", "", "-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(message("auto:jacobi*" + count + "/amg"),
              "preconditioner 'auto:jacobi*" + count + "/amg': '" + count +
                  "' is no number of iterations from 1" + expected);
  }
  EXPECT_TRUE(message("auto:nothing")
                  .starts_with("preconditioner 'auto:nothing': unknown 'nothing'; "
                               "known: none jacobi "));
  EXPECT_TRUE(message("auto:").starts_with("preconditioner 'auto:': unknown ''; known: "));
  EXPECT_EQ(message_of([] {
              krysol::preconditioner_stages("auto", {{"a", "1"}});
            }),
            "preconditioner 'auto': unknown option 'a'; stages follow the colon");
  EXPECT_TRUE(krysol::preconditioner_stages("auto", {}).empty());
  const auto stages = krysol::preconditioner_stages("auto:jacobi*7/amg:degree=2", {});
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].iterations, 7);
  EXPECT_EQ(stages[1].name, "amg:degree=2");
}

/// Bytes from caches count for less, and a product takes its multiplications, however few it reads.
TEST(PredictedCost, OfAnIterationDependsOnWhereItsArraysAre) {
  using namespace krysol::choice;
  constexpr double start = 2.5e5;
  SystemSize size{1e8, 5e8, 8, 6e9, 0, true};  // beyond any cache
  EXPECT_EQ(iteration_cost(size, 0), 6e9 + 13 * 8e8 + start);
  EXPECT_EQ(iteration_cost(size, 5e8) - iteration_cost(size, 0), 5e8);
  size.operator_bytes = 100;  // a stencil
  EXPECT_EQ(iteration_cost(size, 0), 2.5 * 5e8 + 13 * 8e8 + start);
  size.scalar_bytes = 16;
  EXPECT_EQ(iteration_cost(size, 0), 2 * (2.5 * 5e8 + 13 * 8e8) + start);
  const krysol::CacheSizes& caches = krysol::cache_sizes();
  const auto of = [&](double bytes) {  // two fifths are the matrix, each vector a tenth
    return iteration_cost({bytes / 80, 1, 8, 0.4 * bytes, 0, true}, 0) - start;
  };
  const auto second = static_cast<double>(caches.second);
  const auto stays = static_cast<double>(caches.stays);
  EXPECT_NEAR(of(second) / second, 0.25 * 1.7, 1e-9);
  EXPECT_NEAR(of(1.01 * stays) / stays, 1.01 * 1.7, 1e-9);
  if (stays > 1.01 * second) {
    EXPECT_NEAR(of(stays) / stays, 0.45 * 1.7, 1e-9);
  }
  SystemSize device{1e3, 5e3, 8, 6e4, 0, false};
  EXPECT_EQ(iteration_cost(device, 0), 6e4 + 13 * 8e3 + start);
}

/// The smallest eigenvalue of a chain is not found before its end, and CG is slower near it.
TEST(PreconditionerChoice, KnowsThatTheSmallestEigenvalueIsNotFound) {
  constexpr std::size_t n = 300;
  std::vector<double> u = random_vector<double>(n, 1);
  for (double& v : u) v = std::abs(v);  // smooth on the whole, as a load is
  std::vector<double> b(n);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = 2 * u[i] - (i > 0 ? u[i - 1] : 0) - (i + 1 < n ? u[i + 1] : 0);
  }
  SolveOptions options;
  options.preconditioner = "jacobi";
  double after_32 = 0;
  options.observer = [&](const Progress& p) {
    if (p.iteration == 32) after_32 = static_cast<double>(p.iteration + p.iterations_left);
    return true;
  };
  std::vector<double> x(n);
  const auto r = krysol::solve(to_csr(poisson1d(300)).matrix, b, x, options);
  ASSERT_EQ(r.status, Status::converged);
  EXPECT_GT(after_32, 0.6 * static_cast<double>(r.iterations));
  EXPECT_LT(after_32, 1.5 * static_cast<double>(r.iterations));
}

TEST(PredictedCost, GrowsWithWhatItDependsOn) {
  using namespace krysol::choice;
  const SystemSize grid{1e6, 7e6, 8, 1e8, 0, true};
  SystemSize other = grid;
  EXPECT_EQ(multigrid_cost(grid).iterations, 20);
  other.positive_off_diagonal = 0.3;
  EXPECT_EQ(multigrid_cost(other).iterations, 60);
  other.grid = 1;  // as the levels are
  EXPECT_EQ(multigrid_cost(other).iterations, 24);
  other.grid = 3;
  EXPECT_EQ(multigrid_cost(other).iterations, 12);
  other.positive_off_diagonal = 0;
  other.grid = 1;
  EXPECT_EQ(multigrid_cost(other).iterations, 10);
  EXPECT_LT(multigrid_cost(other).setup, 0.5 * multigrid_cost(grid).setup);
  other = grid;
  other.nnz *= 2;
  EXPECT_GT(multigrid_cost(other).setup, 1.5 * multigrid_cost(grid).setup);
  EXPECT_GT(elimination_cost(other), elimination_cost(grid));
  EXPECT_EQ(price_of(10, 0), 10);
  EXPECT_EQ(price_of(10, 3), 7);
  EXPECT_EQ(price_of(10, 9), 4);
  EXPECT_EQ(price_of(10, 100), 4);
  // Setups are the host's, and the more dear to wait for the faster the device is.
  other = grid;
  other.on_host = false;
  EXPECT_EQ(multigrid_cost(other).setup, 100 * multigrid_cost(grid).setup);

  const auto factors_of = [](const Triplets<double>& t) {
    const auto a = to_csr(t).matrix;
    return *krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, 1e9);
  };
  const auto small = factors_of(poisson2d(20, 20));
  const auto large = factors_of(poisson3d(12));
  EXPECT_GT(cholesky_cost(grid, large).setup, 3 * cholesky_cost(grid, small).setup);
  EXPECT_GT(cholesky_cost(grid, large).iteration, cholesky_cost(grid, small).iteration);
  // As many entries as cost less than what is left.
  EXPECT_LE(small.entries(), entries_worth(grid, cholesky_cost(grid, small).total()));
}

TEST(PredictedCost, KnowsTheSignsBesideTheDiagonal) {
  EXPECT_EQ(krysol::positive_off_diagonal(to_csr(poisson2d(5, 5)).matrix), 0);
  auto t = no_entries<double>(3, 3);
  t.add(0, 0, 9);
  t.add(0, 1, 3);
  t.add(1, 0, 3);
  t.add(1, 2, -1);
  t.add(2, 1, -1);
  EXPECT_EQ(krysol::positive_off_diagonal(to_csr(t).matrix), 0.75);
  EXPECT_EQ(krysol::positive_off_diagonal(to_csr(poisson2d(90, 90)).matrix), 0);
  EXPECT_EQ(krysol::positive_off_diagonal(to_csr(no_entries<double>(3, 3)).matrix), 0);
}

TEST(JoinedResults, CountOn) {
  SolveResult first;
  first.iterations = 2;
  first.restarts = 1;
  first.initial_residual = 8;
  first.history = {8, 4, 3};
  first.seconds = 0.5;
  first.spmv = {1, 2, 100};
  first.cg.emplace();
  first.cg->error_history = {{5, 4, krysol::not_known}, {9, 8, 7}, {1, 1, 1}};
  SolveResult next;
  next.status = Status::indefinite_matrix;
  next.iterations = 1;
  next.initial_residual = next.residual = 3;
  next.history = {3, 1};
  next.seconds = 0.25;
  next.spmv = {2, 1, 50};
  next.breakdown.iteration = 2;
  next.cg.emplace();
  next.cg->error_history = {{2, 1}, {3, krysol::not_known}, {krysol::not_known, 0.5}};
  krysol::choice::join(first, next);
  EXPECT_EQ(first.status, Status::indefinite_matrix);
  EXPECT_EQ(first.iterations, 3);
  EXPECT_EQ(first.restarts, 1);
  EXPECT_EQ(first.initial_residual, 8);
  EXPECT_EQ(first.history, (std::vector<double>{8, 4, 3, 1}));
  EXPECT_EQ(first.seconds, 0.75);
  EXPECT_EQ(first.spmv.calls, 3);
  EXPECT_EQ(first.spmv.bytes, 150);
  EXPECT_EQ(first.breakdown.iteration, 4);
  const auto& h = first.cg->error_history;
  EXPECT_EQ(h.lower, (std::vector<double>{5, 4, 2, 1}));
  EXPECT_EQ(h.upper_estimate[2], 3);
  EXPECT_TRUE(std::isnan(h.upper_estimate[3]));
  EXPECT_EQ(h.upper_bound, (std::vector<double>{1, 1, 1, 0.5}));
  EXPECT_TRUE(first.advice.find("at iteration 4") != std::string::npos) << first.advice;
}

/// 0 is no iteration: nothing broke down, or it was found before the first.
TEST(JoinedResults, NameNoIterationWhereNoneBrokeDown) {
  SolveResult first;
  first.iterations = 5;
  SolveResult next;
  next.status = Status::converged;
  next.iterations = 2;
  krysol::choice::join(first, next);
  EXPECT_EQ(first.iterations, 7);
  EXPECT_EQ(first.breakdown.iteration, 0);
}

}  // namespace
