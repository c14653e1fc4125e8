// What CG knows beside x: eigenvalues, bounds of the error, the time it will take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include <krysol/solver/outcome/lanczos_monitor.hpp>
#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::LanczosRun;
using krysol::RitzValue;

// ---- the tridiagonal matrix, against a dense eigensolver

/// Coefficients of textbook CG for diag(eigenvalues) and a first residual of random entries.
LanczosRun run_of(const std::vector<double>& eigenvalues, std::size_t steps, std::uint64_t seed) {
  std::vector<double> r = random_vector<double>(eigenvalues.size(), seed);
  std::vector<double> p = r;
  double rho = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
  LanczosRun run;
  run.start(rho, 1);
  for (std::size_t k = 0; k < steps; ++k) {
    double pq = 0;
    for (std::size_t i = 0; i < p.size(); ++i) pq += p[i] * p[i] * eigenvalues[i];
    const double alpha = rho / pq;
    for (std::size_t i = 0; i < p.size(); ++i) r[i] -= alpha * eigenvalues[i] * p[i];
    const double next = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + next / rho * p[i];
    rho = next;
    run.add(alpha, rho);
  }
  return run;
}

HermitianEigen decomposed(const LanczosRun& run, std::size_t steps) {
  Dense<std::complex<double>> t{steps, steps};
  for (std::size_t j = 0; j < steps; ++j) {
    t(j, j) = 1 / run.alpha[j] + (j > 0 ? run.beta[j - 1] / run.alpha[j - 1] : 0);
    if (j + 1 < steps) t(j + 1, j) = t(j, j + 1) = std::sqrt(run.beta[j]) / run.alpha[j];
  }
  return hermitian_eigen(t);
}

double distance_to_next(const std::vector<double>& values, std::size_t at) {
  double distance = std::numeric_limits<double>::infinity();
  if (at > 0) distance = values[at] - values[at - 1];
  if (at + 1 < values.size()) distance = std::min(distance, values[at + 1] - values[at]);
  return distance;
}

std::vector<double> spread(std::size_t n, double smallest, double largest) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(smallest * std::pow(largest / smallest,
                                         static_cast<double>(i) / static_cast<double>(n - 1)));
  }
  return values;
}

TEST(Lanczos, HasTheEigenvaluesOfADenseSolver) {
  for (const double condition : {1.5, 1e3, 1e8}) {
    for (const double unit : {1e-200, 1.0, 1e200}) {
      for (const std::size_t steps : {1U, 2U, 3U, 15U, 16U, 17U, 40U}) {
        const LanczosRun run = run_of(spread(100, unit, condition * unit), steps, 3);
        const auto expected = decomposed(run, steps);
        const auto values = krysol::extreme_eigenvalues(run, steps, 8);
        const std::size_t both = std::min<std::size_t>(16, steps);
        ASSERT_EQ(values.size(), both);
        const double largest = expected.values[steps - 1];
        for (std::size_t k = 0; k < both; ++k) {
          const std::size_t at = k < both / 2 ? k : steps - both + k;
          EXPECT_NEAR(values[k], expected.values[at], 1e-9 * values[k] + 1e-14 * largest);
          const double next = std::sqrt(run.beta[steps - 1]) / run.alpha[steps - 1];
          const double last = std::abs(expected.vectors(steps - 1, at));
          const double bound = krysol::residual_bound(run, steps, values[k]);
          if (distance_to_next(expected.values, at) < 1e-6 * values[k]) {
            // A copy begins at residual^2 / gap: rounding decides how the two vectors are mixed.
            EXPECT_LT(bound, 1e-3 * values[k]) << steps << ' ' << k;
            continue;
          }
          // The dense solver's own error in a last component is about eps.
          EXPECT_NEAR(bound, next * last, 1e-6 * next * last + 1e-8 * values[k])
              << steps << ' ' << k;
        }
      }
    }
  }
}

TEST(Lanczos, RunningEndsAreInsideAndClose) {
  for (const double condition : {1.5, 1e3, 1e8}) {
    for (const std::size_t steps : {1U, 2U, 10U, 40U}) {
      const LanczosRun run = run_of(spread(100, 1, condition), steps, 4);
      const auto values = krysol::extreme_eigenvalues(run, steps, 1);
      EXPECT_GE(run.smallest, values.front() * (1 - 1e-9));
      EXPECT_LE(run.smallest, values.front() * 1.6);
      EXPECT_LE(run.largest, values.back() * (1 + 1e-9));
      EXPECT_GE(run.largest, values.back() / 1.4);
    }
  }
}

TEST(Lanczos, CountsCopiesOnce) {
  // So many steps that both ends are found again and again.
  const LanczosRun run = run_of(spread(40, 1, 1e6), 400, 5);
  const auto spectrum = krysol::spectrum_of(run);
  EXPECT_TRUE(spectrum.smallest.converged);
  EXPECT_TRUE(spectrum.largest.converged);
  EXPECT_NEAR(spectrum.smallest.value, 1, 1e-6);
  EXPECT_NEAR(spectrum.largest.value, 1e6, 1);
  for (std::size_t k = 1; k < spectrum.values.size(); ++k) {
    EXPECT_GT(spectrum.values[k].value, 1.3 * spectrum.values[k - 1].value);  // 10^(6/39) = 1.42
  }
}

/// The coefficients of CG that make this tridiagonal matrix; beside: the entries beside the
/// diagonal, and last the one that would come next.
LanczosRun run_of_matrix(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  LanczosRun run;
  double rho = 1;
  run.start(rho, 1);
  double pivot = diagonal[0];
  for (std::size_t j = 0; j < diagonal.size(); ++j) {
    const double alpha = 1 / pivot;
    const double beta = beside[j] * beside[j] * alpha * alpha;
    rho *= beta;
    run.add(alpha, rho);
    if (j + 1 < diagonal.size()) pivot = diagonal[j + 1] - beta / alpha;
  }
  return run;
}

/// Whether the smallest Ritz value, 1 with a residual of 0.6 %, is called converged. Rows 3, 4, ...
/// have next to nothing to do with [a e; e d], the last two, of which 1 is the smaller eigenvalue.
bool is_called_converged(std::size_t others, double a, double d, double e, double next) {
  std::vector<double> diagonal;
  for (std::size_t k = 0; k < others; ++k) diagonal.push_back(3 + static_cast<double>(k));
  std::vector<double> beside(others, 1e-3);
  diagonal.insert(diagonal.end(), {a, d});
  beside.insert(beside.end(), {e, next});
  const auto spectrum = krysol::spectrum_of(run_of_matrix(diagonal, beside));
  EXPECT_NEAR(spectrum.smallest.value, 1, 1e-6);
  EXPECT_NEAR(spectrum.smallest.residual, 6e-3, 1e-5);
  return spectrum.smallest.converged;
}

/// Where its residual is no proof: residual^2 / gap is at most 0.02 %, with the gap to the next
/// Ritz value that is no copy, and it has moved by at most 0.1 % over the last tenth of the steps.
TEST(Lanczos, JudgesTheSmallestByItsGapAndByHowFarItMoved) {
  constexpr double residual = 6e-3;
  // Beside 1 a Ritz value of the same residual.
  const auto with_gap = [&](double gap) {
    const double half = (gap + residual) / 2;
    return is_called_converged(6, 1 + half, 1 + half, half, residual * std::sqrt(2.0));
  };
  EXPECT_TRUE(with_gap(0.0003)) << "a copy: the next one is far away";
  EXPECT_FALSE(with_gap(0.003));
  EXPECT_FALSE(with_gap(0.005));
  EXPECT_FALSE(with_gap(0.1));  // 3.6e-4
  EXPECT_TRUE(with_gap(0.5));   // 7.2e-5
  // Without the last of ten steps it is 1 + moved; the next one is beyond 1.7.
  const auto that_moved = [&](double moved) {
    return is_called_converged(8, 1 + moved, 2, std::sqrt(moved),
                               residual * std::sqrt((1 + moved) / moved));
  };
  EXPECT_TRUE(that_moved(0.0005));
  EXPECT_FALSE(that_moved(0.002));
  EXPECT_FALSE(that_moved(0.005));
}

TEST(Lanczos, KeepsTheBestOfTwoRuns) {
  const auto all = krysol::spectrum_of(run_of(spread(60, 1, 1e3), 180, 6));
  const auto few = krysol::spectrum_of(run_of(spread(60, 1, 1e3), 8, 7));
  ASSERT_TRUE(few.at_least);
  for (const auto& s : {merged(all, few), merged(few, all), merged(all, {}), merged({}, all)}) {
    EXPECT_FALSE(s.at_least);
    EXPECT_NEAR(s.condition, 1e3, 1e-3);
    EXPECT_TRUE(std::is_sorted(s.values.begin(), s.values.end(),
                               [](auto& u, auto& v) { return u.value < v.value; }));
  }
  EXPECT_FALSE(krysol::merged({}, {}).known());
  // A smaller Ritz value shows that a converged one was not the end.
  auto lower = few;
  lower.smallest = lower.values.front() = {0.5, 0.4, false};
  EXPECT_TRUE(merged(all, lower).at_least);
  EXPECT_EQ(merged(all, lower).smallest.value, 0.5);
  // Beside a converged end, one that has not is within the sum of its residual and their distance.
  auto beside = all;
  beside.largest =
      beside.values.back() = {1.004 * all.largest.value, 0.1 * all.largest.value, false};
  const RitzValue both = merged(all, beside).largest;
  EXPECT_TRUE(both.converged);
  EXPECT_EQ(both.value, beside.largest.value);
  EXPECT_GE(both.residual, both.value - all.largest.value);
  EXPECT_LE(both.residual, both.value - all.largest.value + all.largest.residual);
  beside.largest.value = beside.values.back().value = 1.02 * all.largest.value;
  EXPECT_FALSE(merged(all, beside).largest.converged);
}

// ---- of solves

template <class Exec>
class Knows : public testing::Test {};
using KnowsCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Knows, KnowsCases, SpaceName);

/// p'Ap turns to rounding, and what is made of it would lie far outside the spectrum.
TYPED_TEST(Knows, NothingOfASingularMatrixButWhatItSaw) {
  int seen = 0;
  for (const auto& a : {free_ends(200), neumann2d(20, 15)}) {
    for (const std::string precond : {"none", "jacobi"}) {
      SCOPED_TRACE(precond);
      const auto n = static_cast<std::size_t>(a.rows);
      NamedSolve<double, TypeParam> solver{a, random_vector<double>(n, 5), precond};
      const auto r = solver.run().result;
      ASSERT_FALSE(r.converged());
      ASSERT_TRUE(r.cg);
      EXPECT_LE(r.cg->spectrum.largest.value, 1.01 * (precond == "none" ? 8 : 2));
      EXPECT_FALSE(r.cg->spectrum.smallest.converged);
      if (!r.cg->null_direction) continue;  // p'Ap was rounding below 0 before it was seen small
      ++seen;
      EXPECT_TRUE(krysol::is_nan(r.cg->error.lower));
      EXPECT_TRUE(krysol::is_nan(r.cg->error.upper_estimate));
      if (r.status == Status::indefinite_matrix) continue;
      EXPECT_TRUE(krysol::looks_singular(r)) << r.advice;
      EXPECT_TRUE(holds(r.advice, "A is nearly singular, or singular")) << r.advice;
    }
  }
  EXPECT_GE(seen, 1);
}

TYPED_TEST(Knows, TheEigenvaluesOfAGrid) {
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1), precond};
    solver.stop.rtol = 1e-10;
    const auto r = solver.run().result;
    const double unit = precond == "none" ? 1 : 4;
    ASSERT_TRUE(r.cg->spectrum.smallest.converged);
    ASSERT_TRUE(r.cg->spectrum.largest.converged);
    EXPECT_FALSE(r.cg->spectrum.at_least);
    const double smallest = (grid_eigenvalue(20, 1) + grid_eigenvalue(15, 1)) / unit;
    const double largest = (grid_eigenvalue(20, 20) + grid_eigenvalue(15, 15)) / unit;
    EXPECT_NEAR(r.cg->spectrum.smallest.value, smallest, 1e-4 * smallest);
    EXPECT_NEAR(r.cg->spectrum.largest.value, largest, 1e-4 * largest);
    EXPECT_NEAR(r.cg->spectrum.condition, largest / smallest, 2e-4 * largest / smallest);
    // Each value that is called converged is within its residual of an eigenvalue.
    for (const RitzValue& v : r.cg->spectrum.values) {
      double nearest = 1e300;
      for (int i = 1; i <= 20; ++i) {
        for (int j = 1; j <= 15; ++j) {
          const double exact = (grid_eigenvalue(20, i) + grid_eigenvalue(15, j)) / unit;
          nearest = std::min(nearest, std::abs(v.value - exact));
        }
      }
      EXPECT_LE(nearest, v.residual + 1e-9);
    }
    EXPECT_GE(r.cg->spectrum.values.size(), 4U);
  }
}

TYPED_TEST(Knows, ThatItHasNotSeenTheEnds) {
  NamedSolve<double, TypeParam> solver{poisson2d(40, 40), random_vector<double>(1600, 2)};
  const double exact = grid_eigenvalue(40, 40) / grid_eigenvalue(40, 1);
  double before = 0;
  for (const std::int64_t limit : {1, 5, 20}) {
    solver.stop.max_iterations = limit;
    const auto r = solver.run().result;
    EXPECT_TRUE(r.cg->spectrum.at_least);
    EXPECT_FALSE(r.cg->spectrum.smallest.converged);
    EXPECT_LE(r.cg->spectrum.condition, exact);
    EXPECT_GT(r.cg->spectrum.condition, before);
    before = r.cg->spectrum.condition;
  }
}

TYPED_TEST(Knows, ThatABoundOfTheSpectrumIsPositive) {
  NamedSolve<double, TypeParam> solver{poisson1d(5), std::vector<double>(5, 1.0)};
  solver.lambda_min = -0.5;
  EXPECT_EQ(message_of([&] { solver.run(); }),
            "krysol::cg: lambda_min must be positive, or 0 where no bound is known; it is -0.5");
}

TYPED_TEST(Knows, NothingOfAnIndefiniteMatrix) {
  auto eigenvalues = spread(40, 1, 100);
  eigenvalues[20] = -50;
  NamedSolve<double, TypeParam> solver{random_spd(eigenvalues, 20), random_vector<double>(40, 21)};
  const auto r = solver.run().result;
  ASSERT_EQ(r.status, Status::indefinite_matrix) << r.advice;
  EXPECT_FALSE(r.cg->spectrum.known());
  EXPECT_TRUE(std::isnan(r.cg->error.upper_estimate));
  EXPECT_TRUE(std::isnan(r.cg->error.solution_norm));
  EXPECT_EQ(r.cg->error_history.lower.size(), r.history.size());
  EXPECT_TRUE(holds(r.advice, "so that an eigenvalue is no larger")) << r.advice;
}

TYPED_TEST(Knows, NoUpperBoundOnceRoundingHasTheLastWord) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 22)};
  solver.stop.rtol = 1e-20;
  solver.lambda_min = 1e-3;
  const auto r = solver.run().result;
  ASSERT_EQ(r.status, Status::stagnated) << r.advice;
  EXPECT_TRUE(std::isnan(r.cg->error.upper_estimate));
  EXPECT_TRUE(std::isnan(r.cg->error.upper_bound));
  EXPECT_TRUE(std::isnan(r.cg->error.lower));
  EXPECT_TRUE(holds(r.advice, "The condition number of A is")) << r.advice;
}

TYPED_TEST(Knows, NothingWithoutAnIteration) {
  NamedSolve<double, TypeParam> solver{poisson2d(5, 5), std::vector<double>(25)};
  const auto r = solver.run().result;
  EXPECT_FALSE(r.cg->spectrum.known());
  EXPECT_TRUE(r.cg->spectrum.values.empty());
  EXPECT_TRUE(std::isnan(r.cg->error.lower));
  EXPECT_TRUE(std::isnan(r.cg->error.upper_estimate));
  EXPECT_EQ(r.iterations_left, -1);
  EXPECT_EQ(r.cg->error_history.lower.size(), r.history.size());
}

struct SpectrumProblem {
  std::string name;
  Triplets<double> a;
};

std::vector<SpectrumProblem> spectrum_problems() {
  std::vector<double> few;
  for (int i = 0; i < 80; ++i) few.push_back(i < 5 ? 1e-3 * (i + 1) : 1 + 0.1 * i);
  return {{"grid", poisson2d(13, 11)},
          {"line", poisson1d(60)},
          {"anisotropic", poisson2d(12, 12, 1e-3)},
          {"jumps", jump_coefficients2d(12, 1e4)},
          {"biharmonic", biharmonic1d(40)},
          {"outliers", random_spd(few, 8)},
          {"spread", random_spd(spread(90, 1e-2, 1e2), 9)}};
}

/// The smallest eigenvalue of A or, `jacobi`, of D^-1 A.
double smallest_eigenvalue(const Triplets<double>& t, bool jacobi) {
  const auto n = static_cast<std::size_t>(t.rows);
  Dense<std::complex<double>> a{n, n};
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    a(static_cast<std::size_t>(t.row_idx[k]), static_cast<std::size_t>(t.col_idx[k])) +=
        t.values[k];
  }
  if (jacobi) {
    std::vector<double> d(n);
    for (std::size_t i = 0; i < n; ++i) d[i] = 1 / std::sqrt(a(i, i).real());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a(i, j) *= d[i] * d[j];
    }
  }
  return hermitian_eigen(a).values[0];
}

template <class T, class Exec>
void expect_bounds(const SpectrumProblem& problem, const std::string& precond, std::uint64_t seed) {
  SCOPED_TRACE(problem.name + " " + precond);
  constexpr bool single = std::is_same_v<krysol::Real<T>, float>;
  const auto a = as<FileScalar<T>>(problem.a);
  const auto n = static_cast<std::size_t>(a.rows);
  NamedSolve<T, Exec> solver{a, random_vector<T>(n, seed), precond};
  const double smallest = smallest_eigenvalue(problem.a, precond == "jacobi");
  solver.stop.rtol = single ? 1e-4 : 1e-10;
  const auto exact = cholesky_solve(dense(a), widen(solver.b));
  const auto energy = [&](const std::vector<Wide<T>>& v) {
    return std::sqrt(static_cast<double>(std::real(dot(v, a * v))));
  };
  const double size = energy(exact);
  for (const double below : {1 - 1e-6, 0.5, 1e-2}) {
    solver.lambda_min = below * smallest;
    solver.stop.max_iterations = 0;
    const auto full = solver.run().result;
    const auto& h = full.cg->error_history;
    const auto iterations = static_cast<std::size_t>(full.iterations);
    ASSERT_EQ(h.lower.size(), iterations + 1);
    ASSERT_EQ(h.upper_bound.size(), iterations + 1);
    if (!std::isnan(full.cg->error.upper_bound)) {  // x is what the recurrence says
      EXPECT_EQ(full.cg->error.upper_bound, h.upper_bound.back());
      EXPECT_EQ(full.cg->error.upper_estimate, h.upper_estimate.back());
    }
    EXPECT_NEAR(full.cg->error.solution_norm, size, (single ? 1e-3 : 1e-8) * size);
    // The last iterates have no bound yet; all others do.
    const std::size_t bounded = iterations - static_cast<std::size_t>(full.cg->error.delay);
    EXPECT_GE(bounded + 3 + iterations / 4, iterations);
    std::vector<Wide<T>> x(n, 0);
    for (std::size_t k = 0; k <= iterations; ++k) {
      if (k > 0) {  // the solve is the same to the bit, however long
        if (below != 0.5) break;
        solver.stop.max_iterations = static_cast<std::int64_t>(k);
        x = widen(solver.run().x);
      }
      const double error = energy(exact - x);
      if (error < (single ? 1e-3 : 1e-9) * size) break;  // rounding of x is part of it
      const double slack = single ? 1e-2 : 1e-5;
      EXPECT_GE(h.upper_bound[k], (1 - slack) * error) << k;
      if (k > bounded) {
        EXPECT_TRUE(std::isnan(h.lower[k])) << k;
      } else {
        EXPECT_LE(h.lower[k], (1 + slack) * error) << k;
        EXPECT_LE(h.upper_estimate[k], 2 * error) << k << " of " << iterations;
        EXPECT_GE(h.lower[k], 0.5 * error) << k << " of " << iterations;
      }
      EXPECT_GE(h.upper_estimate[k], 0.9 * error) << k;
    }
  }
}

TYPED_TEST(Knows, BoundsOfTheErrorThatHold) {
  for (const auto& problem : spectrum_problems()) {
    for (const std::string precond : {"none", "jacobi"}) {
      expect_bounds<double, TypeParam>(problem, precond, 11);
    }
  }
}

TYPED_TEST(Knows, BoundsInOtherPrecisions) {
  for (const auto& problem : {spectrum_problems()[0], spectrum_problems()[3]}) {
#ifdef KRYSOL_HAVE_FLOAT
    expect_bounds<float, TypeParam>(problem, "jacobi", 12);
#endif
    expect_bounds<Kokkos::complex<double>, TypeParam>(problem, "jacobi", 12);
  }
}

TYPED_TEST(Knows, TheErrorWhateverTheScaleAndTheGuess) {
  NamedSolve<double, TypeParam> solver{jump_coefficients2d(12, 1e4), random_vector<double>(144, 13),
                                       "jacobi"};
  solver.lambda_min = 1e-6;
  const auto plain = solver.run().result;
  const auto b = solver.b;
  for (const int e : {-600, 600}) {
    for (std::size_t i = 0; i < b.size(); ++i) solver.b[i] = std::ldexp(b[i], e);
    const auto r = solver.run().result;
    EXPECT_EQ(r.cg->error.lower, std::ldexp(plain.cg->error.lower, e));
    EXPECT_EQ(r.cg->error.upper_estimate, std::ldexp(plain.cg->error.upper_estimate, e));
    EXPECT_EQ(r.cg->error.upper_bound, std::ldexp(plain.cg->error.upper_bound, e));
    EXPECT_DOUBLE_EQ(r.cg->error.solution_norm, std::ldexp(plain.cg->error.solution_norm, e));
    EXPECT_EQ(r.cg->spectrum.condition, plain.cg->spectrum.condition);
  }
  solver.b = b;
  solver.x0 = random_vector<double>(144, 14);
  const auto guessed = solver.run().result;
  EXPECT_NEAR(guessed.cg->error.solution_norm, plain.cg->error.solution_norm,
              1e-6 * plain.cg->error.solution_norm);
  EXPECT_NEAR(guessed.cg->spectrum.condition, plain.cg->spectrum.condition,
              1e-2 * plain.cg->spectrum.condition);
}

TYPED_TEST(Knows, TheSameAfterARestart) {
  // So bad a guess that its rounding alone is more than the tolerance.
  const auto a = poisson2d(20, 15);
  NamedSolve<double, TypeParam> solver{a, random_vector<double>(300, 15), "jacobi"};
  solver.x0 = random_vector<double>(300, 16);
  for (double& v : solver.x0) v *= 1e8;
  solver.stop.rtol = 1e-10;
  const double smallest = (grid_eigenvalue(20, 1) + grid_eigenvalue(15, 1)) / 4;
  solver.lambda_min = 0.9 * smallest;
  const auto s = solver.run();
  const SolveResult& r = s.result;
  ASSERT_EQ(r.status, Status::converged) << r.advice;
  ASSERT_GT(r.restarts, 0);
  ASSERT_EQ(r.cg->error_history.upper_bound.size(), r.history.size());
  EXPECT_TRUE(r.cg->spectrum.smallest.converged);
  EXPECT_NEAR(r.cg->spectrum.smallest.value, smallest, 1e-4 * smallest);
  const auto error = cholesky_solve(dense(a), widen(solver.b)) - widen(s.x);
  const auto energy = static_cast<double>(std::sqrt(dot(error, a * error)));
  EXPECT_GE(r.cg->error.upper_bound, energy);
  EXPECT_GE(r.cg->error.upper_estimate, energy);
  EXPECT_LE(r.cg->error.upper_estimate, 10 * energy);
}

TYPED_TEST(Knows, HowLongItWillTake) {
  for (const auto& problem : {SpectrumProblem{"grid", poisson2d(60, 60)},
                              SpectrumProblem{"jumps", jump_coefficients2d(40, 1e3)}}) {
    NamedSolve<double, TypeParam> solver{
        problem.a, random_vector<double>(static_cast<std::size_t>(problem.a.rows), 16), "jacobi"};
    std::vector<krysol::Progress> seen;
    solver.observer = [&](const krysol::Progress& p) {
      seen.push_back(p);
      return true;
    };
    const auto r = solver.run().result;
    ASSERT_EQ(r.status, Status::converged);
    EXPECT_EQ(r.iterations_left, -1);
    EXPECT_EQ(seen[5].iterations_left, -1) << "too early to tell";
    EXPECT_EQ(seen[5].seconds_left, -1);
    for (const auto& [part, off] : {std::pair{0.5, 0.75}, {0.7, 0.3}, {0.9, 0.15}}) {
      const auto& p = seen[static_cast<std::size_t>(part * static_cast<double>(r.iterations))];
      const auto total = static_cast<double>(p.iteration + p.iterations_left);
      EXPECT_NEAR(total / static_cast<double>(r.iterations), 1, off) << problem.name << part;
      EXPECT_NEAR(
          p.seconds_left,
          p.seconds * static_cast<double>(p.iterations_left) / static_cast<double>(p.iteration),
          1e-9);
    }
    solver.observer = {};
    solver.stop.max_iterations = r.iterations / 2;
    const auto half = solver.run().result;
    EXPECT_GT(half.iterations_left, half.iterations / 3);
    EXPECT_LT(half.iterations_left, 3 * half.iterations);
  }
}

// ---- and what it says then

std::int64_t number_after(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + words.size()));
}

TYPED_TEST(Knows, HowManyIterationsAreMissing) {
  NamedSolve<double, TypeParam> solver{poisson2d(20, 15), random_vector<double>(300, 1), "jacobi"};
  const std::int64_t all = solver.run().result.iterations;
  solver.stop.max_iterations = all - 4;
  const auto nearly = solver.run().result;
  EXPECT_EQ(nearly.status, Status::max_iterations);
  EXPECT_EQ(number_after(nearly.advice, "About "), nearly.iterations_left) << nearly.advice;
  EXPECT_NEAR(static_cast<double>(nearly.iterations_left), 4, 3);
  EXPECT_TRUE(holds(nearly.advice, "Allow them with a higher --max-iterations")) << nearly.advice;
  EXPECT_TRUE(holds(nearly.advice, "The condition number of M^-1 A is 1")) << nearly.advice;
  solver.stop.max_iterations = 12;
  const auto early = solver.run().result;
  EXPECT_TRUE(holds(early.advice, "A better preconditioner saves more")) << early.advice;
  EXPECT_TRUE(holds(early.advice, "The condition number of M^-1 A is at least")) << early.advice;
  solver.stop.max_iterations = 0;
  solver.observer = [](const krysol::Progress& p) { return p.iteration < 20; };
  const auto interrupted = solver.run().result;
  EXPECT_EQ(interrupted.status, Status::interrupted);
  EXPECT_EQ(number_after(interrupted.advice, "About "), interrupted.iterations_left)
      << interrupted.advice;
}

TYPED_TEST(Knows, ThatTheMatrixMayBeSingular) {
  // Eigenvalues down to 1e-14 of the largest, and a b that has a part along each.
  NamedSolve<double, TypeParam> solver{random_spd(spread(100, 1e-14, 1), 17),
                                       random_vector<double>(100, 18)};
  solver.stop.max_iterations = 4000;
  const auto r = solver.run().result;
  ASSERT_EQ(r.status, Status::max_iterations) << r.advice;
  EXPECT_GT(r.residual, r.initial_residual);
  EXPECT_TRUE(holds(r.advice, "A is nearly singular, or singular and b not in its range"))
      << r.advice << ' ' << r.cg->spectrum.condition;
  EXPECT_TRUE(holds(r.advice, "The condition number of A is at least")) << r.advice;
}

TYPED_TEST(Knows, ThatASmallResidualIsNoSmallError) {
  const auto a = biharmonic1d(150);
  NamedSolve<double, TypeParam> solver{a, {}};
  const auto x = random_vector<double>(150, 19);
  for (const auto bi : a* widen(x)) solver.b.push_back(static_cast<double>(bi));
  solver.stop.rtol = 1e-6;
  const auto s = solver.run();
  ASSERT_EQ(s.result.status, Status::converged) << s.result.advice;
  EXPECT_TRUE(holds(s.result.advice, "The error is larger than the residual")) << s.result.advice;
  const auto error = widen(x) - widen(s.x);
  const auto energy = static_cast<double>(std::sqrt(dot(error, a * error)));
  EXPECT_GT(energy / s.result.cg->error.solution_norm, 1e-6);
}

TYPED_TEST(Knows, ThatTheToleranceIsOutOfReachBeforeTimeIsWasted) {
  // |A||x| is 1e9 |b|: the rounding of x alone makes about 1e-8 |b|.
  const auto a = biharmonic1d(500);
  NamedSolve<double, TypeParam> solver{a, std::vector<double>(500, 1.0)};
  solver.stop.rtol = 1e-12;
  solver.stop.max_iterations = 600;
  std::int64_t told = 0;
  solver.observer = [&](const krysol::Progress& p) {
    if (told == 0 && krysol::out_of_reach(p.target, p.rounding)) told = p.iteration;
    return true;
  };
  const auto r = solver.run().result;
  ASSERT_EQ(r.status, Status::max_iterations) << r.advice;
  EXPECT_TRUE(told == 256 || told == 512) << r.rounding;
  EXPECT_TRUE(holds(r.advice, "out of reach: rounding x to this precision alone")) << r.advice;
  solver.stop.max_iterations = 100000;
  const auto wasted = solver.run().result;
  EXPECT_FALSE(wasted.converged());
  EXPECT_GT(wasted.residual, wasted.rounding);
  // Where the tolerance is met, nothing of the kind was said.
  solver.stop.rtol = 1e-3;
  told = 0;
  const auto met = solver.run().result;
  ASSERT_EQ(met.status, Status::converged) << met.advice;
  EXPECT_EQ(told, 0);
}

}  // namespace
