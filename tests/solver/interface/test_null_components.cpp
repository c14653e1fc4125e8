// Singular systems whose null vectors are seen in the rows: Neumann problems, graphs, in parts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krysol/solver/interface/null_components.hpp>
#include <krysol/solver/solve.hpp>
#include "dense.hpp"
#include "messages.hpp"
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using krysol::null_components;
using krysol::SolveOptions;
using krysol::SolveReport;
using krysol::SolveResult;
using krysol::Status;
using krysol::to_csr;

/// Parts beside each other on the diagonal, and then row i moved to (i * step) % rows.
Triplets<double> together(const std::vector<Triplets<double>>& parts, Index step = 1) {
  Index rows = 0;
  for (const auto& p : parts) rows += p.rows;
  auto t = no_entries<double>(rows, rows);
  Index first = 0;
  for (const auto& p : parts) {
    for (std::size_t k = 0; k < p.values.size(); ++k) {
      t.add((first + p.row_idx[k]) * step % rows, (first + p.col_idx[k]) * step % rows,
            p.values[k]);
    }
    first += p.rows;
  }
  return t;
}

Triplets<double> diagonal(Index n, double v) {
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) t.add(i, i, v);
  return t;
}

/// Two free parts, one that is held, and two rows by themselves: 20 + 12 + 12 + 3 = 47 rows.
Triplets<double> mixed(Index step = 1) {
  return together({neumann2d(5, 4), poisson2d(4, 3), free_ends(12), diagonal(3, 7)}, step);
}

TEST(NullComponents, AreThoseWhoseRowsAllSumToZero) {
  EXPECT_EQ(null_components(to_csr(poisson2d(9, 8)).matrix).count(), 0);
  EXPECT_TRUE(null_components(to_csr(poisson2d(9, 8)).matrix).component.empty());
  EXPECT_EQ(null_components(to_csr(diagonal(5, 2)).matrix).count(), 0);
  EXPECT_EQ(null_components(to_csr(no_entries<double>(0, 0)).matrix).count(), 0);
  EXPECT_EQ(null_components(to_csr(no_entries<double>(4, 4)).matrix).count(), 0);
  const auto one = null_components(to_csr(neumann2d(9, 8)).matrix);
  EXPECT_EQ(one.size, std::vector<Index>{72});
  EXPECT_EQ(one.component, std::vector<Index>(72, 0));
  for (const Index step : {1, 46, 13}) {
    const auto some = null_components(to_csr(mixed(step)).matrix);
    ASSERT_EQ(some.count(), 2);
    EXPECT_EQ(some.size[0] + some.size[1], 32);
    EXPECT_EQ(std::max(some.size[0], some.size[1]), 20);
    for (Index i = 0; i < 47; ++i) {
      const Index at = i * step % 47;
      const Index mine = some.component[static_cast<std::size_t>(at)];
      const bool in = i < 20 || (i >= 32 && i < 44);
      EXPECT_EQ(mine >= 0, in) << i;
      if (in) {
        EXPECT_EQ(some.size[static_cast<std::size_t>(mine)], i < 20 ? 20 : 12) << i;
      }
    }
  }
}

TEST(NullComponents, AllowForRounding) {
  auto t = neumann2d(9, 8);
  for (double& v : t.values) v *= 0.1;
  EXPECT_EQ(null_components(to_csr(t).matrix).count(), 1);
  t.add(40, 40, 1e-13);
  EXPECT_EQ(null_components(to_csr(t).matrix).count(), 0);
}

TEST(NullComponents, CountRowsOfTheDiagonalAlone) {
  EXPECT_EQ(rows_of_diagonal_alone(to_csr(mixed()).matrix), 3);
  EXPECT_EQ(rows_of_diagonal_alone(to_csr(poisson1d(9)).matrix), 0);
  EXPECT_EQ(rows_of_diagonal_alone(to_csr(no_entries<double>(4, 4)).matrix), 0);
}

struct SolvedSingular {
  SolveResult result;
  SolveReport report;
  std::vector<double> x;
};

SolvedSingular solved_singular(const Triplets<double>& t, const std::vector<double>& b,
                               SolveOptions options = {}, std::vector<double> guess = {}) {
  SolvedSingular s;
  s.x = guess.empty() ? std::vector<double>(b.size()) : std::move(guess);
  options.report = &s.report;
  s.result = krysol::solve(to_csr(t).matrix, b, s.x, options);
  return s;
}

/// A times something.
std::vector<double> in_range(const Triplets<double>& t, std::uint64_t seed) {
  const auto wide = t * widen(random_vector<double>(static_cast<std::size_t>(t.rows), seed));
  return {wide.begin(), wide.end()};
}

double true_residual(const Triplets<double>& t, const std::vector<double>& b,
                     const std::vector<double>& x) {
  return static_cast<double>(norm(widen(b) - t * widen(x)));
}

TEST(SingularSystem, IsSolvedWhereBIsInTheRange) {
  for (const auto& t : {mixed(), mixed(13), neumann2d(30, 20)}) {
    const auto b = in_range(t, 1);
    for (const char* precond : {"auto", "none", "jacobi", "ic0", "ssor", "amg", "cholesky"}) {
      for (const char* order : {"none", "rcm"}) {
        SolveOptions options;
        options.preconditioner = precond;
        options.order = order;
        const SolvedSingular s = solved_singular(t, b, options, random_vector<double>(b.size(), 2));
        EXPECT_EQ(s.result.status, Status::converged) << precond << s.result.advice;
        EXPECT_LE(true_residual(t, b, s.x), 1.01e-8 * s.result.b_norm);
        EXPECT_EQ(s.report.null_vectors, t.rows == 47 ? 2 : 1);
        EXPECT_LE(s.result.outside_range, 1e-14 * s.result.b_norm);
      }
    }
  }
}

TEST(SingularSystem, KeepsTheMeanOfTheStartingGuess) {
  const auto t = neumann2d(12, 11);
  auto guess = random_vector<double>(132, 3);
  for (double& v : guess) v += 5;
  double want = 0;
  for (const double v : guess) want += v / 132;
  for (const char* precond : {"jacobi", "ic0", "cholesky"}) {
    SolveOptions options;
    options.preconditioner = precond;
    const SolvedSingular s = solved_singular(t, in_range(t, 4), options, guess);
    double mean = 0;
    for (const double v : s.x) mean += v / 132;
    EXPECT_NEAR(mean, want, 1e-12) << precond;
    const SolvedSingular from_zero = solved_singular(t, in_range(t, 4), options);
    mean = 0;
    for (const double v : from_zero.x) mean += v / 132;
    EXPECT_NEAR(mean, 0, 1e-13) << precond;
  }
}

TEST(SingularSystem, HasNoSolutionWhereBIsNot) {
  const auto t = mixed();
  auto b = in_range(t, 5);
  for (std::size_t i = 0; i < 20; ++i) b[i] += 0.25;  // |0.25|_2 over 20 rows
  const auto guess = random_vector<double>(b.size(), 6);
  const SolvedSingular s = solved_singular(t, b, {}, guess);
  EXPECT_EQ(s.result.status, Status::inconsistent);
  EXPECT_NEAR(s.result.outside_range, 0.25 * std::sqrt(20.0), 1e-13);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, guess);
  EXPECT_NEAR(s.result.residual, true_residual(t, b, guess), 1e-12);
  EXPECT_TRUE(s.result.advice.starts_with("A x = b has no solution: A is singular, "))
      << s.result.advice;
  EXPECT_NE(s.result.advice.find("--project"), std::string::npos);
  ASSERT_EQ(s.report.notes.size(), 2U);
  EXPECT_TRUE(s.report.notes[0].starts_with("A is singular: the rows of 2 components sum to 0. "));
  EXPECT_TRUE(s.report.notes[1].starts_with("3 rows have nothing beside the diagonal"));

  SolveOptions project;
  project.project = true;
  const SolvedSingular p = solved_singular(t, b, project, guess);
  EXPECT_EQ(p.result.status, Status::converged) << p.result.advice;
  EXPECT_NEAR(p.result.outside_range, 0.25 * std::sqrt(20.0), 1e-13);
  for (std::size_t i = 0; i < 20; ++i) b[i] -= 0.25;
  EXPECT_LE(true_residual(t, b, p.x), 1.01e-8 * static_cast<double>(norm(widen(b))));
}

/// Less than the tolerance is outside: it is part of the residual that is told.
TEST(SingularSystem, CountsWhatIsOutsideTheRangeAsResidual) {
  const auto t = neumann2d(12, 11);
  auto b = in_range(t, 7);
  const double size = static_cast<double>(norm(widen(b)));
  for (const double share : {0.5, 0.85, 0.95}) {
    auto outside = b;
    for (double& v : outside) v += share * 1e-6 * size / std::sqrt(132.0);
    SolveOptions options;
    options.stop.rtol = 1e-6;
    const SolvedSingular s = solved_singular(t, outside, options);
    EXPECT_EQ(s.result.status, share < 0.9 ? Status::converged : Status::inconsistent);
    if (share > 0.9) continue;
    EXPECT_NEAR(s.result.residual, true_residual(t, outside, s.x), 1e-3 * s.result.target);
    EXPECT_LE(s.result.residual, s.result.target);
    EXPECT_GE(s.result.residual, share * 1e-6 * size * 0.999);
  }
}

/// Nothing is left of b but rounding, or b is nearly all outside.
TEST(SingularSystem, IsSolvedWithoutThePartOutsideHoweverLargeThatIs) {
  SolveOptions project;
  project.project = true;
  const auto t = neumann2d(12, 11);
  for (const double value : {0.1, 1.0, 1e9}) {
    const SolvedSingular s = solved_singular(t, std::vector<double>(132, value), project);
    EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
    EXPECT_NEAR(s.result.outside_range, value * std::sqrt(132.0), 1e-12 * value);
    for (const double v : s.x) EXPECT_NEAR(v, 0, 1e-12 * value);
  }
  const auto b = in_range(t, 12);
  auto shifted = b;
  for (double& v : shifted) v += 1e6;
  const SolvedSingular s = solved_singular(t, shifted, project);
  EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
  EXPECT_LE(true_residual(t, b, s.x), 1e-7 * static_cast<double>(norm(widen(b))));
}

TEST(SingularSystem, MayHaveAnyUnits) {
  const auto t = neumann2d(12, 11);
  for (const double unit : {1e-150, 1.0, 1e150}) {
    auto b = in_range(t, 13);
    for (double& v : b) v *= unit;
    const SolvedSingular s = solved_singular(t, b);
    EXPECT_EQ(s.result.status, Status::converged) << unit << s.result.advice;
    for (double& v : b) v += unit;
    EXPECT_EQ(solved_singular(t, b).result.status, Status::inconsistent) << unit;
  }
}

TEST(SingularSystem, IsFoundAgainAfterAnUpdate) {
  const auto a = to_csr(neumann2d(9, 8)).matrix;
  krysol::Solver<double> solver(a, {});
  const auto b = random_vector<double>(72, 8);
  std::vector<double> x(72);
  EXPECT_EQ(solver.solve(b, x).status, Status::inconsistent);
  std::vector<double> held(a.values.data(), a.values.data() + a.nnz());
  held[0] += 1;
  solver.update(held);
  EXPECT_EQ(solver.report().null_vectors, 0);
  EXPECT_EQ(solver.solve(b, x).status, Status::converged);
  const std::vector<double> free(a.values.data(), a.values.data() + a.nnz());
  solver.update(free);
  EXPECT_EQ(solver.report().null_vectors, 1);
  EXPECT_EQ(solver.solve(b, x).status, Status::inconsistent);
}

TEST(SingularSystem, IsProjectedForCgAlone) {
  const auto a = to_csr(neumann2d(5, 4)).matrix;
  SolveOptions o;
  o.project = true;
  o.solver = "minres";
  std::vector<double> x(20);
  EXPECT_EQ(message_of([&] { krysol::solve(a, std::vector<double>(20, 1.0), x, o); }),
            "krysol::solve: project goes with cg, which looks for null vectors; minres takes b as "
            "it is");
}

TEST(SingularSystem, MayBeComplex) {
  const auto real = neumann2d(7, 6);
  auto t = no_entries<std::complex<double>>(42, 42);
  for (std::size_t k = 0; k < real.values.size(); ++k) {
    t.add(real.row_idx[k], real.col_idx[k], real.values[k]);
  }
  const auto plain = to_csr(t).matrix;
  EXPECT_EQ(null_components(plain).count(), 1);
  t.add(3, 4, {0, 1e-3});  // Hermitian still, and no row 4 or 5 that sums to 0
  t.add(4, 3, {0, -1e-3});
  EXPECT_EQ(null_components(to_csr(t).matrix).count(), 0);
  using C = Kokkos::complex<double>;
  std::vector<C> b(42, C(0, 1));
  std::vector<C> x(42);
  const SolveResult r = krysol::solve(plain, b, x);
  EXPECT_EQ(r.status, Status::inconsistent);
  EXPECT_NEAR(r.outside_range, std::sqrt(42.0), 1e-13);
  for (std::size_t i = 0; i < 42; ++i) b[i] = C(0, i < 21 ? 1 : -1);
  EXPECT_EQ(krysol::solve(plain, b, x).status, Status::converged);
}

/// What else real systems have: boundary rows, and units that differ by 24 decades.
TEST(AwkwardSystem, IsSolvedWithoutOptions) {
  const auto boundary = together({poisson2d(30, 30), diagonal(40, 1e9)}, 9);
  const SolvedSingular held = solved_singular(boundary, random_vector<double>(940, 9));
  EXPECT_EQ(held.result.status, Status::converged) << held.result.advice;
  ASSERT_EQ(held.report.notes.size(), 1U);
  EXPECT_TRUE(held.report.notes[0].starts_with("40 rows have nothing beside the diagonal"));

  auto scaled = poisson2d(30, 30);
  const auto unit = [](Index i) { return std::pow(10.0, (i * 37 % 900) * 12.0 / 899 - 6); };
  for (std::size_t k = 0; k < scaled.values.size(); ++k) {
    scaled.values[k] *= unit(scaled.row_idx[k]) * unit(scaled.col_idx[k]);
  }
  for (const auto& b : {random_vector<double>(900, 10), in_range(scaled, 11)}) {
    const SolvedSingular s = solved_singular(scaled, b);
    EXPECT_TRUE(s.result.status == Status::converged || s.result.status == Status::stagnated)
        << s.result.advice;
    EXPECT_LE(s.result.residual, std::max(s.result.target, s.result.attainable));
  }
}

}  // namespace
