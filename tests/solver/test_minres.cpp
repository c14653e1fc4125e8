// MINRES: the smallest residual of the Krylov space, for symmetric systems that are not definite.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <krysol/solver/krylov/minres.hpp>
#include "solving.hpp"

namespace {

using namespace krysol_tests;

template <class C>
class Minres : public testing::Test {};
using MinresCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Minres, MinresCases, OnName);

template <class T>
constexpr bool single = std::is_same_v<krysol::Real<T>, float>;

template <class T, class Exec>
NamedSolve<T, Exec> minres_solver(const Triplets<double>& a, std::uint64_t seed,
                                  const std::string& precond = "none") {
  NamedSolve<T, Exec> s{as<FileScalar<T>>(a),
                        random_vector<T>(static_cast<std::size_t>(a.rows), seed), precond};
  s.method = "minres";
  if (single<T>) s.stop.rtol = 1e-4;
  return s;
}

/// The 2-D Laplacian minus `shift`: with 1 a fifth of the eigenvalues is negative, the diagonal
/// not.
Triplets<double> helmholtz(Index nx, Index ny, double shift) {
  auto t = poisson2d(nx, ny);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == t.col_idx[k]) t.values[k] -= shift;
  }
  return t;
}

/// min |b - A y| over the Krylov spaces of dimension 0, 1, ..., steps: an orthonormal basis of
/// A K(k) by Gram-Schmidt, twice, taken off b.
template <class T>
std::vector<long double> smallest_residuals(const Triplets<T>& a, const std::vector<Wide<T>>& b,
                                            int steps) {
  std::vector<std::vector<Wide<T>>> krylov;
  std::vector<std::vector<Wide<T>>> image;
  const auto orthogonalize = [](std::vector<Wide<T>> v,
                                const std::vector<std::vector<Wide<T>>>& basis) {
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& u : basis) {
        const auto part = dot(u, v);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= part * u[i];
      }
    }
    return v;
  };
  const auto normalized = [](std::vector<Wide<T>> v) {
    const long double size = norm(v);
    for (auto& vi : v) vi /= size;
    return v;
  };
  std::vector<Wide<T>> r = b;
  std::vector<long double> residuals = {norm(r)};
  std::vector<Wide<T>> next = b;
  for (int k = 0; k < steps; ++k) {
    krylov.push_back(normalized(orthogonalize(next, krylov)));
    next = a * krylov.back();
    image.push_back(normalized(orthogonalize(next, image)));
    r = orthogonalize(r, {image.back()});
    residuals.push_back(norm(r));
  }
  return residuals;
}

TYPED_TEST(Minres, FindsTheSmallestResidualOfEachKrylovSpace) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& a : {helmholtz(7, 6, 1), random_spd({-9, -4, -1, 0.5, 2, 3, 7, 8}, 3)}) {
    auto solver = minres_solver<T, Exec>(a, 1);
    solver.stop.max_iterations = std::min<std::int64_t>(a.rows - 1, 20);
    solver.stop.rtol = single<T> ? 1e-4 : 1e-8;
    const auto s = solver.run();
    const auto exact =
        smallest_residuals(solver.entries, widen(solver.b), static_cast<int>(s.result.iterations));
    for (std::size_t k = 0; k < exact.size(); ++k) {
      EXPECT_NEAR(s.result.history[k], static_cast<double>(exact[k]),
                  (single<T> ? 1e-3 : 1e-9) * static_cast<double>(exact[0]))
          << k;
    }
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

TYPED_TEST(Minres, TakesAnIterationForEachEigenvalue) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const std::vector<std::vector<double>> spectra = {
      {3}, {-2}, {1, -1}, {2, -3, 5}, {-4, -1, 1, 2, 6}, {1, -1, 2, -2, 4, -4}};
  for (const auto& spectrum : spectra) {
    std::vector<double> eigenvalues;  // each several times
    for (std::size_t k = 0; k < 8 * spectrum.size(); ++k) {
      eigenvalues.push_back(spectrum[k % spectrum.size()]);
    }
    const auto solver = minres_solver<T, Exec>(random_spd(eigenvalues, 4), 2);
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
    EXPECT_EQ(s.result.iterations, static_cast<std::int64_t>(spectrum.size()));
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

TYPED_TEST(Minres, StandsStillInEveryOtherIterationOfASymmetricSpectrum) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto a = no_entries<double>(40, 40);  // +-1, +-2, ..., +-20, with b alike on both
  for (Index i = 0; i < 40; ++i) a.add(i, i, (i % 2 == 0 ? 1 : -1) * (1 + i / 2));
  auto solver = minres_solver<T, Exec>(a, 3);
  solver.b = std::vector<T>(40, T(1));
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
  const auto& h = s.result.history;
  for (std::size_t k = 0; k + 2 < h.size(); k += 2) {
    EXPECT_NEAR(h[k + 1], h[k], 1e-5 * h[0]) << k;
    EXPECT_LT(h[k + 2], h[k]) << k;
  }
}

TYPED_TEST(Minres, LowersTheResidualInEachIteration) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = helmholtz(12, 11, 1);
  const auto host = to_csr(as<FileScalar<T>>(a)).matrix;
  for (const std::string precond : {"none", "jacobi", "block-jacobi:3", "ssor"}) {
    auto solver = minres_solver<T, Exec>(a, 4, precond);
    const auto all = solver.run();
    ASSERT_EQ(all.result.status, Status::converged) << precond << all.result.advice;
    const auto m = krysol::make_preconditioner<T, Exec>(precond, host).m;
    double before = std::numeric_limits<double>::infinity();
    for (std::int64_t k = 1; k <= all.result.iterations; k += 3) {
      solver.stop.max_iterations = k;
      const auto s = solver.run();
      std::vector<T> r;
      const auto exact = widen(solver.b) - solver.entries * widen(s.x);
      for (const auto& ri : exact) r.push_back(narrow<T>(ri));
      const auto z = to_device<Exec>(std::vector<T>(r.size()));
      m->apply(Exec{}, to_device<Exec>(r), z);
      Kokkos::fence();
      const auto size = static_cast<double>(std::sqrt(std::real(dot(widen(r), widen(to_host(z))))));
      EXPECT_LT(size, before * (single<T> ? 1.001 : 1 + 1e-9)) << precond << ", iteration " << k;
      before = size;
    }
    if (precond != "none") continue;
    for (std::size_t k = 1; k < all.result.history.size(); ++k) {
      EXPECT_LE(all.result.history[k], all.result.history[k - 1] * (single<T> ? 1.001 : 1 + 1e-9));
    }
  }
}

TYPED_TEST(Minres, NeedsFewerIterationsWithAPreconditioner) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto a = helmholtz(12, 11, 1);  // badly scaled: rows and columns times 1 to 100
  const auto scale = [](Index i) { return 1.0 + 99 * (i % 7) / 6.0; };
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    a.values[k] *= scale(a.row_idx[k]) * scale(a.col_idx[k]);
  }
  auto solver = minres_solver<T, Exec>(a, 5);
  if (single<T>) solver.stop.rtol = 1e-3;
  const auto plain = solver.run();
  solver.precond = "jacobi";
  const auto scaled = solver.run();
  EXPECT_EQ(scaled.result.status, Status::converged) << scaled.result.advice;
  EXPECT_LT(2 * scaled.result.iterations, plain.result.iterations);
}

TYPED_TEST(Minres, AgreesWithADenseSolve) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const std::vector<double> eigenvalues = {-7, -5, -3, -2, -1, 1, 2, 3, 4, 6, 8, 9, 10};
  const auto a = as<FileScalar<T>>(random_spd(eigenvalues, 6));
  for (const bool guess : {false, true}) {
    for (const std::string precond : {"none", "jacobi"}) {
      NamedSolve<T, Exec> solver{a, {}, precond};
      solver.method = "minres";
      const auto exact = random_vector<T>(13, 7);
      for (const auto& bi : a* widen(exact)) solver.b.push_back(narrow<T>(bi));
      if (guess) solver.x0 = random_vector<T>(13, 8);
      solver.stop.rtol = single<T> ? 1e-5 : 1e-12;
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
      // |error| <= |A^-1| |residual|, and no eigenvalue is below 1 in size.
      const long double rounding = single<T> ? 1e-4L : 1e-13L;
      EXPECT_LE(norm(widen(s.x) - widen(exact)), 1.01L * s.result.target + rounding);
      expect_honest(solver.entries, solver.b, s, solver.stop);
    }
  }
}

TYPED_TEST(Minres, HasNothingToDoForAnExactGuessOrNoRightHandSide) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto solver = minres_solver<T, Exec>(helmholtz(9, 8, 1), 9, "jacobi");
  solver.x0 = random_vector<T>(72, 10);
  solver.b.clear();
  for (const auto& bi : solver.entries* widen(solver.x0)) solver.b.push_back(narrow<T>(bi));
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, solver.x0);
  solver.b.assign(72, T(0));
  const auto zero = solver.run();
  EXPECT_EQ(zero.result.status, Status::converged);
  EXPECT_EQ(zero.x, std::vector<T>(72));
  EXPECT_EQ(zero.result.advice, "b is zero, so x is.");
}

TYPED_TEST(Minres, DoesNotMindTheScaleOfAOrB) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const std::string precond : {"none", "jacobi"}) {
    auto solver = minres_solver<T, Exec>(helmholtz(10, 9, 1), 11, precond);
    const auto plain = solver.run();
    ASSERT_EQ(plain.result.status, Status::converged);
    const auto b = solver.b;
    for (const double size : {single<T> ? 1e-25 : 1e-200, single<T> ? 1e25 : 1e200}) {
      for (std::size_t i = 0; i < b.size(); ++i) solver.b[i] = static_cast<Real<T>>(size) * b[i];
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, Status::converged) << size << s.result.advice;
      EXPECT_NEAR(static_cast<double>(s.result.iterations),
                  static_cast<double>(plain.result.iterations),
                  1 + static_cast<double>(plain.result.iterations) / 20)  // rounded elsewhere
          << size;
      expect_honest(solver.entries, solver.b, s, solver.stop);
    }
    solver.b = b;
    const auto values = solver.entries.values;
    for (const double size : {single<T> ? 1e-12 : 1e-100, single<T> ? 1e12 : 1e100}) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        solver.entries.values[k] = static_cast<Real<T>>(size) * values[k];
      }
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, Status::converged) << size << s.result.advice;
      EXPECT_NEAR(static_cast<double>(s.result.iterations),
                  static_cast<double>(plain.result.iterations),
                  1 + static_cast<double>(plain.result.iterations) / 20)  // rounded elsewhere
          << size;
    }
    solver.entries.values = values;
  }
}

// ---- how it ends

template <class Exec>
class MinresEnds : public testing::Test {};
using MinresEndCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(MinresEnds, MinresEndCases, SpaceName);

TYPED_TEST(MinresEnds, ConvergedForASingularSystemThatHasASolution) {
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{free_ends(60), {}, precond};
    solver.method = "minres";
    for (const auto bi : solver.entries* widen(random_vector<double>(60, 9))) {
      solver.b.push_back(static_cast<double>(bi));
    }
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

TYPED_TEST(MinresEnds, InconsistentWithALeastSquaresSolution) {
  const auto expect_least = [](const Triplets<double>& a, const std::vector<double>& b,
                               const std::string& precond) {
    NamedSolve<double, TypeParam> solver{a, b, precond};
    solver.method = "minres";
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::inconsistent) << precond << s.result.advice;
    EXPECT_TRUE(holds(s.result.advice, "least-squares solution")) << s.result.advice;
    auto r = widen(b) - a * widen(s.x);
    if (precond == "jacobi") {  // the norm is that of M^-1
      const auto entries = dense(a);
      for (std::size_t i = 0; i < r.size(); ++i) {
        if (entries(i, i) != 0) r[i] /= std::abs(entries(i, i));
      }
    }
    EXPECT_LE(norm(a * r), 1e-11L * norm(r));
    expect_honest(a, b, s, solver.stop);
  };
  auto one_zero = no_entries<double>(2, 2);
  one_zero.add(0, 0, 1);
  one_zero.add(1, 1, 0);
  expect_least(one_zero, {1, 1}, "none");
  expect_least(free_ends(60), std::vector<double>(60, 1.0), "none");
  std::vector<double> eigenvalues = {-3, -2, -1, 0, 1, 2, 3, 4};
  expect_least(random_spd(eigenvalues, 12), random_vector<double>(8, 13), "none");
  auto weighted = one_zero;  // with a third row, far from the scale of the others
  weighted.rows = weighted.cols = 3;
  weighted.add(2, 2, -100);
  expect_least(weighted, {1, 1, 1}, "jacobi");
}

/// Where rounding gives the Lanczos vectors a null vector before A M^-1 r has vanished.
TYPED_TEST(MinresEnds, InconsistentBeforeRoundingSpoilsX) {
  const auto range_and = [](const Triplets<double>& a, double outside) {
    std::vector<double> b;
    const auto y = random_vector<double>(static_cast<std::size_t>(a.rows), 14);
    for (const auto bi : a* widen(y)) b.push_back(static_cast<double>(bi) + outside);
    return b;
  };
  for (const auto& a : {neumann2d(30, 30), neumann2d(60, 20)}) {
    const auto n = static_cast<std::size_t>(a.rows);
    for (const auto& b : {random_vector<double>(n, 10), std::vector<double>(n, 1.0),
                          range_and(a, 1e-6), range_and(a, 1.0)}) {
      for (const std::string precond : {"none", "jacobi", "ssor"}) {
        SCOPED_TRACE(precond + " on " + std::to_string(n) + " rows");
        NamedSolve<double, TypeParam> solver{a, b, precond};
        solver.method = "minres";
        const auto s = solver.run();
        EXPECT_EQ(s.result.status, Status::inconsistent) << s.result.advice;
        EXPECT_LE(s.result.iterations, 2 * a.rows);
        expect_honest(a, b, s, solver.stop);
        EXPECT_LE(norm(widen(s.x)), 1e4L * norm(widen(b)));
        if (precond != "none") continue;
        long double mean = 0;
        for (const double bi : b)
          mean += static_cast<long double>(bi) / static_cast<long double>(n);
        const long double least = std::abs(mean) * std::sqrt(static_cast<long double>(n));
        EXPECT_NEAR(s.result.residual / static_cast<double>(least), 1, 1e-6);
      }
    }
  }
}

/// What is small is small against A.
TYPED_TEST(MinresEnds, InconsistentInAnyUnitOfA) {
  const auto a = neumann2d(30, 30);
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{a, random_vector<double>(900, 10), precond};
    solver.method = "minres";
    const auto plain = solver.run();
    ASSERT_EQ(plain.result.status, Status::inconsistent) << precond << plain.result.advice;
    for (const double unit : {std::ldexp(1.0, -60), std::ldexp(1.0, 60)}) {
      SCOPED_TRACE(precond + " in units of " + std::to_string(std::log2(unit)));
      solver.entries = a;
      for (double& v : solver.entries.values) v *= unit;
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, Status::inconsistent) << s.result.advice;
      EXPECT_NEAR(static_cast<double>(s.result.iterations),
                  static_cast<double>(plain.result.iterations),
                  2 + static_cast<double>(plain.result.iterations) / 20);
    }
  }
}

TYPED_TEST(MinresEnds, NeverConvergedWhereThereIsNoSolution) {
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{free_ends(60), random_vector<double>(60, 10), precond};
    solver.method = "minres";
    const auto s = solver.run();
    EXPECT_NE(s.result.status, Status::converged) << s.result.advice;
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

/// A residual that hardly falls is not one that cannot.
TYPED_TEST(MinresEnds, NotInconsistentWhereAIsOnlyIllConditioned) {
  const auto ends = [](const Triplets<double>& a, const std::vector<double>& b,
                       std::int64_t limit) {
    NamedSolve<double, TypeParam> solver{a, b, "none"};
    solver.method = "minres";
    solver.stop.max_iterations = limit;
    const auto s = solver.run();
    EXPECT_NE(s.result.status, Status::inconsistent) << s.result.advice;
    expect_honest(a, b, s, solver.stop);
    return s.result.status;
  };
  for (const double least : {1e-6, 1e-8, 1e-9, 1e-10}) {
    SCOPED_TRACE(least);
    std::vector<double> single = {least};
    std::vector<double> many;
    for (int k = 0; k < 40; ++k) {
      many.push_back((k % 3 == 0 ? -1 : 1) * least * std::pow(1e-2 / least, k / 39.0));
    }
    for (int k = 0; k < 100; ++k) {
      single.push_back(1 + k / 100.0);
      many.push_back(1 + k / 100.0);
    }
    const auto diagonal = [](const std::vector<double>& d) {
      const auto n = static_cast<Index>(d.size());
      auto t = no_entries<double>(n, n);
      for (Index i = 0; i < n; ++i) t.add(i, i, d[static_cast<std::size_t>(i)]);
      return t;
    };
    EXPECT_EQ(ends(diagonal(single), std::vector<double>(single.size(), 1.0), 0),
              Status::converged);
    ends(diagonal(many), std::vector<double>(many.size(), 1.0), 3000);
  }
}

TYPED_TEST(MinresEnds, IndefinitePreconditioner) {
  const auto t = helmholtz(10, 10, 1);
  krysol::Csr<double, TypeParam> a;
  from_csr(to_csr(t).matrix, a);
  const auto b = random_vector<double>(100, 11);
  for (const double factor : {-1.0, 0.0}) {
    const auto x = to_device<TypeParam>(std::vector<double>(100));
    Solved<double> s{krysol::minres(a, to_device<TypeParam>(b), x, users_own::Multiple{factor}),
                     {}};
    s.x = to_host(x);
    EXPECT_EQ(s.result.status, Status::indefinite_preconditioner);
    EXPECT_EQ(s.result.iterations, 0);
    EXPECT_EQ(s.x, std::vector<double>(100));
    expect_honest(t, b, s, StoppingCriteria{});
  }
  // One that is indefinite, and seen to be so on the way.
  std::vector<double> inverse(100, 1.0);
  inverse[50] = -1;
  krysol::Jacobi<double, TypeParam> m;
  m.inverse = to_device<TypeParam>(inverse);
  const auto x = to_device<TypeParam>(std::vector<double>(100));
  auto first = std::vector<double>(100);
  first[0] = 1;
  const auto r = krysol::minres(a, to_device<TypeParam>(first), x, m);
  EXPECT_EQ(r.status, Status::indefinite_preconditioner) << r.advice;
  EXPECT_TRUE(holds(r.advice, "preconditioner is not positive definite")) << r.advice;
  EXPECT_GT(r.iterations, 0);
}

TYPED_TEST(MinresEnds, StagnatedWhereTheToleranceIsOutOfReach) {
  NamedSolve<double, TypeParam> solver{helmholtz(20, 15, 1), random_vector<double>(300, 2),
                                       "jacobi"};
  solver.method = "minres";
  solver.stop.rtol = 1e-20;
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::stagnated) << s.result.advice;
  EXPECT_LE(s.result.residual, s.result.attainable);
  expect_honest(solver.entries, solver.b, s, solver.stop);
}

TEST(IterationsLeft, AreThoseOfAResidualThatFallsByOneFactor) {
  std::vector<double> history;
  for (int k = 0; k <= 40; ++k) history.push_back(3 * std::pow(0.5, k));
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 2.9 * std::pow(0.5, 100)), 61);
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 3.1 * std::pow(0.5, 100)), 60);
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 1), 1) << "what is there by now";
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 0), -1);
  history.assign(11, 1.0);
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 0.1), -1) << "it does not fall";
  history[10] = 0.5;  // 0.87 an iteration, since the fifth
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 0.3), 4);
  history.pop_back();
  history.back() = 0.5;
  EXPECT_EQ(krysol::iterations_left_at_this_rate(history, 0.3), -1) << "too early to say";
}

TYPED_TEST(MinresEnds, SaysHowManyIterationsAreLeft) {
  NamedSolve<double, TypeParam> solver{helmholtz(20, 15, 1), random_vector<double>(300, 2), "none"};
  solver.method = "minres";
  const auto all = solver.run();
  ASSERT_EQ(all.result.status, Status::converged) << all.result.advice;
  EXPECT_FALSE(all.result.cg.has_value());
  solver.stop.max_iterations = all.result.iterations * 3 / 4;
  const auto s = solver.run();
  ASSERT_EQ(s.result.status, Status::max_iterations);
  EXPECT_GT(s.result.iterations_left, 0);
  EXPECT_LT(s.result.iterations_left, 2 * all.result.iterations);
  EXPECT_TRUE(holds(s.result.advice, "would do, at the rate so far")) << s.result.advice;
  EXPECT_FALSE(holds(s.result.advice, "CG")) << s.result.advice;
  EXPECT_FALSE(holds(s.result.advice, "energy")) << s.result.advice;
}

/// None are left where it is done, or where more would not help.
TYPED_TEST(MinresEnds, HasIterationsLeftOnlyWhereItIsEndedEarly) {
  NamedSolve<double, TypeParam> solver{helmholtz(20, 15, 1), random_vector<double>(300, 2),
                                       "jacobi"};
  solver.method = "minres";
  const auto all = solver.run().result;
  ASSERT_EQ(all.status, Status::converged) << all.advice;
  EXPECT_EQ(all.iterations_left, -1);
  const std::int64_t part = all.iterations * 3 / 4;
  solver.observer = [part](const krysol::Progress& p) { return p.iteration < part; };
  const auto interrupted = solver.run().result;
  ASSERT_EQ(interrupted.status, Status::interrupted) << interrupted.advice;
  EXPECT_GT(interrupted.iterations_left, 0);
  EXPECT_LT(interrupted.iterations_left, 2 * all.iterations);
  solver.observer = {};
  solver.stop.rtol = 1e-20;
  const auto stagnated = solver.run().result;
  ASSERT_EQ(stagnated.status, Status::stagnated) << stagnated.advice;
  EXPECT_EQ(stagnated.iterations_left, -1);
}

TYPED_TEST(MinresEnds, WithinTheBudgetOfBytes) {
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{helmholtz(20, 15, 1), random_vector<double>(300, 2),
                                         precond};
    solver.method = "minres";
    const auto r = solver.run().result;
    const auto host = to_csr(solver.entries).matrix;
    const auto a = krysol::make_operator<double, TypeParam>("csr", host);
    const double rows = 300.0 * static_cast<double>(r.iterations);
    const double matrix = static_cast<double>(a->bytes()) * static_cast<double>(r.iterations);
    EXPECT_EQ(r.spmv.calls, r.iterations);
    EXPECT_EQ(r.preconditioner.calls, 0);
    EXPECT_LE(r.spmv.bytes + r.vectors.bytes, matrix + (precond == "none" ? 128 : 152) * rows);
  }
}

/// What is counted is what the loops over rows read and write, for each way in which M takes part
/// in them.
TYPED_TEST(MinresEnds, CountsTheBytesOfItsVectors) {
  struct Case {
    std::string precond;
    double words;  // a row, of the loops that make the next Lanczos vector
    double loops;
  };
  for (const Case& c : {Case{"none", 4, 1}, Case{"jacobi", 7, 1}, Case{"block-jacobi:4", 6, 2}}) {
    SCOPED_TRACE(c.precond);
    NamedSolve<double, TypeParam> solver{helmholtz(20, 15, 1), random_vector<double>(300, 2),
                                         c.precond};
    solver.method = "minres";
    const auto r = solver.run().result;
    const auto steps = static_cast<double>(r.spmv.calls);
    const double solutions = static_cast<double>(r.vectors.calls) - c.loops * steps;
    EXPECT_GT(steps, 10);
    EXPECT_LE(solutions, steps);
    EXPECT_GE(solutions, 0.5 * steps);
    EXPECT_EQ(r.vectors.bytes, 300 * 8 * (c.words * steps + 9 * solutions));
  }
}

}  // namespace
