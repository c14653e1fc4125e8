// How a solve ends, and what it then says: one test for each Status, and the traps on the way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <krysol/solver/outcome/breakdown.hpp>
#include "solving.hpp"

namespace {

using namespace krysol_tests;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// The largest sum of a row's absolute values: no less than |A|_2, and little more on grids.
double largest_row_sum(const Triplets<double>& t) {
  std::vector<double> sum(static_cast<std::size_t>(t.rows));
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    sum[static_cast<std::size_t>(t.row_idx[k])] += std::abs(t.values[k]);
  }
  return *std::max_element(sum.begin(), sum.end());
}

Triplets<double> diagonal(const std::vector<double>& d) {
  const auto n = static_cast<Index>(d.size());
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) t.add(i, i, d[static_cast<std::size_t>(i)]);
  return t;
}

template <class Exec>
class Ends : public testing::Test {};
using EndCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Ends, EndCases, SpaceName);

/// 300 rows, which take about 50 iterations.
template <class Exec>
NamedSolve<double, Exec> ordinary() {
  return {poisson2d(20, 15), random_vector<double>(300, 1), "jacobi"};
}

TYPED_TEST(Ends, Converged) {
  const auto solver = ordinary<TypeParam>();
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged);
  EXPECT_TRUE(s.result.converged());
  EXPECT_TRUE(
      holds(s.result.advice, "after " + std::to_string(s.result.iterations) + " iterations"))
      << s.result.advice;
  expect_honest(solver.entries, solver.b, s, solver.stop);
}

TYPED_TEST(Ends, ConvergedByAnAbsoluteTolerance) {
  auto solver = ordinary<TypeParam>();
  solver.stop.rtol = 0;
  solver.stop.atol = 1e-3;
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged);
  EXPECT_EQ(s.result.target, 1e-3);
  expect_honest(solver.entries, solver.b, s, solver.stop);
  solver.stop.rtol = 1e-2;  // the larger of the two counts
  EXPECT_LT(solver.run().result.iterations, s.result.iterations);
}

TYPED_TEST(Ends, AtTheMaximumOfIterations) {
  auto solver = ordinary<TypeParam>();
  for (const std::int64_t limit : {1, 2, 10}) {
    solver.stop.max_iterations = limit;
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::max_iterations);
    EXPECT_FALSE(s.result.converged());
    EXPECT_EQ(s.result.iterations, limit);
    EXPECT_TRUE(holds(s.result.advice, "after " + std::to_string(limit) + " iteration"))
        << s.result.advice;
    EXPECT_TRUE(holds(s.result.advice, "was asked for")) << s.result.advice;
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

TYPED_TEST(Ends, AtTheTimeLimit) {
  auto solver = ordinary<TypeParam>();
  solver.stop.time_limit_s = 1e-9;  // no iteration is faster
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::time_limit);
  EXPECT_EQ(s.result.iterations, 1);
  EXPECT_TRUE(holds(s.result.advice, "time limit")) << s.result.advice;
  expect_honest(solver.entries, solver.b, s, solver.stop);
}

TYPED_TEST(Ends, WhereTheObserverSaysSo) {
  auto solver = ordinary<TypeParam>();
  std::vector<krysol::Progress> seen;
  solver.observer = [&](const krysol::Progress& p) {
    seen.push_back(p);
    return p.iteration < 7;
  };
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::interrupted);
  EXPECT_EQ(s.result.iterations, 7);
  EXPECT_TRUE(holds(s.result.advice, "Interrupted after 7 iterations")) << s.result.advice;
  expect_honest(solver.entries, solver.b, s, solver.stop);
  ASSERT_EQ(seen.size(), 7U);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(seen[k].iteration, static_cast<std::int64_t>(k) + 1);
    EXPECT_EQ(seen[k].target, s.result.target);
  }
  for (std::size_t k = 0; k < 6; ++k) {  // the last one gives way to the true residual
    EXPECT_EQ(seen[k].residual, s.result.history[k + 1]);
  }
  // x is the seventh iterate, as a solve of seven iterations has it.
  solver.observer = {};
  solver.stop.max_iterations = 7;
  EXPECT_EQ(solver.run().x, s.x);
}

TYPED_TEST(Ends, StagnatedWhereTheToleranceIsOutOfReach) {
  for (const double rtol : {1e-20, 0.0}) {
    for (const std::string precond : {"none", "jacobi"}) {
      for (const auto& a : {poisson2d(20, 15), poisson1d(100), jump_coefficients2d(14, 1e4)}) {
        NamedSolve<double, TypeParam> solver{
            a, random_vector<double>(static_cast<std::size_t>(a.rows), 2), precond};
        solver.stop.rtol = rtol;
        const auto s = solver.run();
        EXPECT_EQ(s.result.status, Status::stagnated) << s.result.advice;
        EXPECT_LE(s.result.residual, s.result.attainable);
        const double size =
            largest_row_sum(a) * static_cast<double>(norm(widen(s.x))) + s.result.b_norm;
        EXPECT_LE(s.result.residual, 100 * epsilon * size);
        EXPECT_LE(s.result.attainable, 10.001 * epsilon * size)
            << "an estimate of |A| is never above it";
        EXPECT_TRUE(holds(s.result.advice, "Rounding ends it: ")) << s.result.advice;
        expect_honest(a, solver.b, s, solver.stop);
      }
    }
  }
}

/// The recurrence has drifted off, and what is left looks like rounding: but rounding x makes far
/// less, and a restart from the true residual meets the tolerance.
TYPED_TEST(Ends, ConvergedWhereARestartFromWithinRoundingHelps) {
  for (const std::string precond : {"none", "jacobi"}) {
    NamedSolve<double, TypeParam> solver{biharmonic1d(500), std::vector<double>(500, 1.0), precond};
    solver.stop.rtol = 1e-6;
    solver.stop.max_iterations = 20000;
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
    EXPECT_GE(s.result.restarts, 1);
    EXPECT_GT(s.result.attainable, 10 * s.result.target) << "the bound is far off";
    expect_honest(solver.entries, solver.b, s, solver.stop);
    // What no restart can reach: it ends near what rounding x makes, with the best x it had.
    solver.stop.rtol = 1e-9;
    const auto t = solver.run();
    EXPECT_EQ(t.result.status, Status::stagnated) << t.result.advice;
    EXPECT_LE(t.result.residual, 10 * t.result.rounding);
    EXPECT_TRUE(holds(t.result.advice, "restart")) << t.result.advice;
    expect_honest(solver.entries, solver.b, t, solver.stop);
  }
}

/// An operator of which one product p'Ap is 0, as from rounding.
template <class Exec>
class LosesOneProduct final : public krysol::Operator<double, Exec> {
 public:
  LosesOneProduct(const krysol::Operator<double, Exec>& a, int lost)
      : krysol::Operator<double, Exec>(a.rows, a.cols), a_(a), lost_(lost) {}
  std::string_view name() const override { return a_.name(); }
  krysol::Offset nnz() const override { return a_.nnz(); }
  std::int64_t bytes() const override { return a_.bytes(); }
  void apply_to(const Exec& exec, double alpha, krysol::ConstVector<double, Exec> x, double beta,
                const krysol::Vector<double, Exec>& y) const override {
    a_.apply_to(exec, alpha, x, beta, y);
  }
  void apply_to(const Exec& exec, double alpha, const krysol::MultiVector<double, Exec>& x,
                double beta, const krysol::MultiVector<double, Exec>& y) const override {
    a_.apply_to(exec, alpha, x, beta, y);
  }
  double apply_dot_to(const Exec& exec, krysol::ConstVector<double, Exec> x,
                      const krysol::Vector<double, Exec>& y,
                      krysol::ReductionWorkspace<Exec>& sums) const override {
    const double pq = a_.apply_dot_to(exec, x, y, sums);
    return ++products_ == lost_ ? 0 : pq;
  }

 private:
  const krysol::Operator<double, Exec>& a_;
  int lost_;
  mutable int products_ = 0;
};

/// A direction that is used up within rounding is not yet proof: one restart from the true residual
/// tells. Where that loses its first direction as well, A is not positive definite.
TYPED_TEST(Ends, ConvergedWhereOneDirectionWasUsedUp) {
  const auto host = to_csr(poisson2d(20, 15)).matrix;
  const auto a = krysol::make_operator<double, TypeParam>("csr", host);
  const auto m = krysol::make_preconditioner<double, TypeParam>("jacobi", host).m;
  const auto b = to_device<TypeParam>(random_vector<double>(300, 4));
  const auto solved = [&](int lost) {
    const LosesOneProduct<TypeParam> spoilt(*a, lost);
    const auto x = to_device<TypeParam>(std::vector<double>(300));
    return krysol::solve<double, TypeParam>("cg", TypeParam{}, spoilt, b, x, *m);
  };
  const auto whole = solved(0);
  EXPECT_EQ(whole.status, Status::converged);
  EXPECT_EQ(whole.restarts, 0);
  const auto r = solved(10);
  EXPECT_EQ(r.status, Status::converged) << r.advice;
  EXPECT_EQ(r.restarts, 1);
  EXPECT_GT(r.iterations, whole.iterations);
  EXPECT_EQ(solved(1).status, Status::indefinite_matrix) << "not after a step that went well";
}

TYPED_TEST(Ends, TruthfullyWhereTheConditionIsBad) {
  // 1e8, 1e10 and 1e12
  for (const Index n : {150, 500, 1600}) {
    const auto a = biharmonic1d(n);
    for (const std::string precond : {"none", "jacobi"}) {
      NamedSolve<double, TypeParam> solver{a, random_vector<double>(static_cast<std::size_t>(n), 3),
                                           precond};
      solver.stop.max_iterations = n == 1600 ? 2 * n : 30 * n;
      const auto s = solver.run();
      expect_honest(a, solver.b, s, solver.stop);
      // The largest takes more iterations than are allowed; that is a truthful end too.
      EXPECT_TRUE(s.result.status == Status::converged || s.result.status == Status::stagnated ||
                  (n == 1600 && s.result.status == Status::max_iterations))
          << n << precond << to_string(s.result.status) << s.result.advice;
      if (s.result.status == Status::stagnated) {
        EXPECT_LE(s.result.residual, s.result.attainable);
      }
    }
  }
}

TYPED_TEST(Ends, TruthfullyForHilbertMatrices) {
  for (const Index n : {6, 9, 12}) {  // conditions 1e7, 5e11, 2e16
    auto a = no_entries<double>(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) a.add(i, j, 1.0 / (i + j + 1));
    }
    for (const double rtol : {1e-6, 1e-14}) {
      NamedSolve<double, TypeParam> solver{a,
                                           std::vector<double>(static_cast<std::size_t>(n), 1.0)};
      solver.stop.rtol = rtol;
      solver.stop.max_iterations = 2000;
      const auto s = solver.run();
      expect_honest(a, solver.b, s, solver.stop);
      EXPECT_NE(s.result.status, Status::indefinite_matrix) << n << ": " << s.result.advice;
      EXPECT_NE(s.result.status, Status::not_finite) << n << ": " << s.result.advice;
    }
  }
}

void expect_negative_curvature(const Triplets<double>& a, const SolveResult& r) {
  ASSERT_EQ(r.breakdown.direction.size(), static_cast<std::size_t>(a.rows));
  std::vector<long double> p;
  for (const auto& v : r.breakdown.direction) p.push_back(v.real());
  EXPECT_NEAR(static_cast<double>(norm(p)), 1, 1e-14);
  const auto curvature = static_cast<double>(dot(p, a * p));
  EXPECT_NEAR(r.breakdown.curvature, curvature, 1e-12 * std::abs(curvature));
  EXPECT_LT(curvature, 0);
  EXPECT_EQ(r.breakdown.iteration, r.iterations + 1);
  double sum = 0;
  double before = 1;
  for (const auto& share : r.breakdown.largest) {
    EXPECT_LE(share.share, before);
    before = share.share;
    sum += share.share;
    EXPECT_NEAR(share.share,
                static_cast<double>(p[static_cast<std::size_t>(share.row)] *
                                    p[static_cast<std::size_t>(share.row)]),
                1e-14);
  }
  EXPECT_EQ(r.breakdown.largest.size(), std::min<std::size_t>(5, p.size()));
  EXPECT_LE(sum, 1 + 1e-14);
  const auto largest = std::max_element(
      p.begin(), p.end(), [](long double u, long double v) { return std::abs(u) < std::abs(v); });
  EXPECT_EQ(r.breakdown.largest[0].row, largest - p.begin());
  EXPECT_TRUE(holds(r.advice, "A is not positive definite")) << r.advice;
  EXPECT_TRUE(holds(r.advice, "at iteration " + std::to_string(r.iterations + 1))) << r.advice;
  EXPECT_TRUE(holds(r.advice, std::to_string(r.breakdown.largest[0].row + 1) + " (")) << r.advice;
}

TYPED_TEST(Ends, IndefiniteWithADirectionThatProvesIt) {
  std::vector<double> eigenvalues;
  for (int k = 0; k < 40; ++k) eigenvalues.push_back(k < 3 ? -1 - k : k);
  auto shifted = poisson2d(12, 12);  // minus 1: some eigenvalues are below 0, the diagonal is not
  for (std::size_t k = 0; k < shifted.values.size(); ++k) {
    if (shifted.row_idx[k] == shifted.col_idx[k]) shifted.values[k] -= 1;
  }
  for (const auto& a : {random_spd(eigenvalues, 4), shifted, diagonal({1, 2, -3, 4})}) {
    NamedSolve<double, TypeParam> solver{
        a, random_vector<double>(static_cast<std::size_t>(a.rows), 5)};
    const auto s = solver.run();
    ASSERT_EQ(s.result.status, Status::indefinite_matrix) << s.result.advice;
    expect_negative_curvature(a, s.result);
    expect_honest(a, solver.b, s, solver.stop);
  }
}

TYPED_TEST(Ends, IndefiniteNamesTheOneRowThatIs) {
  auto a = poisson2d(12, 12);
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (a.row_idx[k] == 77 && a.col_idx[k] == 77) a.values[k] = -2;
  }
  NamedSolve<double, TypeParam> solver{a, random_vector<double>(144, 6)};
  const auto s = solver.run();
  ASSERT_EQ(s.result.status, Status::indefinite_matrix) << s.result.advice;
  expect_negative_curvature(a, s.result);
  EXPECT_EQ(s.result.breakdown.largest[0].row, 77);
  EXPECT_TRUE(holds(s.result.advice, "78 (")) << s.result.advice;
}

TYPED_TEST(Ends, IndefiniteForAComplexMatrixToo) {
  using T = Kokkos::complex<double>;
  std::vector<double> eigenvalues = {-2, -1, 1, 2, 3, 4, 5, 6, 7, 8};
  const auto a = as<std::complex<double>>(random_spd(eigenvalues, 7));
  NamedSolve<T, TypeParam> solver{a, random_vector<T>(10, 8)};
  const auto s = solver.run();
  ASSERT_EQ(s.result.status, Status::indefinite_matrix) << s.result.advice;
  const auto p = widen(s.result.breakdown.direction);
  const auto curvature = static_cast<double>(std::real(dot(p, a * p)));
  EXPECT_LT(curvature, 0);
  EXPECT_NEAR(s.result.breakdown.curvature, curvature, 1e-12);
}

TYPED_TEST(Ends, ConvergedForASingularSystemThatHasASolution) {
  const auto a = free_ends(60);
  NamedSolve<double, TypeParam> solver{a, {}};
  for (const auto bi : a* widen(random_vector<double>(60, 9))) {
    solver.b.push_back(static_cast<double>(bi));
  }
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
  expect_honest(a, solver.b, s, solver.stop);
}

TYPED_TEST(Ends, NeverConvergedForASingularSystemThatHasNone) {
  const auto a = free_ends(60);
  {  // all of b is in the null space
    NamedSolve<double, TypeParam> solver{a, std::vector<double>(60, 1.0)};
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::indefinite_matrix) << s.result.advice;
    EXPECT_EQ(s.result.breakdown.curvature, 0);
    EXPECT_TRUE(holds(s.result.advice, "singular")) << s.result.advice;
    expect_honest(a, solver.b, s, solver.stop);
  }
  for (const std::string precond : {"none", "jacobi"}) {  // some of b is
    NamedSolve<double, TypeParam> solver{a, random_vector<double>(60, 10), precond};
    const auto s = solver.run();
    EXPECT_NE(s.result.status, Status::converged) << s.result.advice;
    expect_honest(a, solver.b, s, solver.stop);
  }
  {  // p'Ap = 0 in the second iteration
    NamedSolve<double, TypeParam> solver{diagonal({1, 0}), {1, 1}};
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::indefinite_matrix) << s.result.advice;
    EXPECT_TRUE(holds(s.result.advice, "singular")) << s.result.advice;
    EXPECT_LE(s.result.iterations, 4);
    expect_honest(solver.entries, solver.b, s, solver.stop);
  }
}

TYPED_TEST(Ends, IndefinitePreconditioner) {
  const auto t = poisson2d(10, 10);
  krysol::Csr<double, TypeParam> a;
  from_csr(to_csr(t).matrix, a);
  const auto b = random_vector<double>(100, 11);
  const auto x = to_device<TypeParam>(std::vector<double>(100));
  const auto run = [&](double factor) {
    Solved<double> s{krysol::cg(a, to_device<TypeParam>(b), x, users_own::Multiple{factor}), {}};
    s.x = to_host(x);
    return s;
  };
  for (const double factor : {-1.0, 0.0}) {
    const auto s = run(factor);
    EXPECT_EQ(s.result.status, Status::indefinite_preconditioner);
    EXPECT_EQ(s.result.iterations, 0);
    EXPECT_EQ(s.x, std::vector<double>(100));
    EXPECT_TRUE(holds(s.result.advice, "preconditioner is not positive definite"))
        << s.result.advice;
    expect_honest(t, b, s, StoppingCriteria{});
  }
  const auto undefined = run(undefined_number);
  EXPECT_EQ(undefined.result.status, Status::not_finite) << undefined.result.advice;
  EXPECT_EQ(undefined.x, std::vector<double>(100));
}

TYPED_TEST(Ends, NotFiniteForInfOrNanInTheMatrix) {
  for (const double bad : {undefined_number, infinite, -infinite}) {
    for (const auto& format : krysol::list_formats()) {
      auto solver = ordinary<TypeParam>();
      solver.format = format.name;
      solver.entries.add(123, 124, bad);
      if (format.symmetric_only) solver.entries.add(124, 123, bad);
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, Status::not_finite) << format.name;
      EXPECT_EQ(s.result.iterations, 0);
      EXPECT_EQ(s.result.breakdown.row, 123) << format.name;
      EXPECT_TRUE(holds(s.result.advice, "b - A x0 is not finite at row 124")) << s.result.advice;
    }
  }
}

TYPED_TEST(Ends, NotFiniteForInfOrNanInTheRightHandSide) {
  for (const double bad : {undefined_number, infinite, -infinite}) {
    auto solver = ordinary<TypeParam>();
    solver.b[5] = 1e200;  // finite, though its square is not
    solver.b[211] = bad;
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::not_finite);
    EXPECT_EQ(s.result.breakdown.row, 211);
    EXPECT_TRUE(holds(s.result.advice, "b is not finite at row 212")) << s.result.advice;
    EXPECT_EQ(s.x, std::vector<double>(300));
  }
}

TYPED_TEST(Ends, NotFiniteForInfOrNanInTheGuess) {
  for (const double bad : {undefined_number, infinite, -infinite}) {
    auto solver = ordinary<TypeParam>();
    solver.x0 = random_vector<double>(300, 12);
    solver.x0[0] = bad;  // a corner, whose own row is the first to name it
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::not_finite);
    EXPECT_EQ(s.result.breakdown.row, 0);
    EXPECT_TRUE(holds(s.result.advice, "starting guess")) << s.result.advice;
  }
}

TYPED_TEST(Ends, NotFiniteWhereAnIterationOverflows) {
  auto a = poisson1d(50);
  for (double& v : a.values) v *= 8e307;  // 2 v is finite, 4 v is not
  NamedSolve<double, TypeParam> solver{a, std::vector<double>(50, 1e300)};
  for (std::size_t i = 1; i < 50; i += 2) solver.b[i] = -1e300;
  const auto s = solver.run();
  EXPECT_EQ(s.result.status, Status::not_finite) << s.result.advice;
  EXPECT_EQ(s.x, std::vector<double>(50)) << "x must be that of the iteration before";
  EXPECT_TRUE(holds(s.result.advice, "overflowed or was undefined at iteration 1"))
      << s.result.advice;
}

TYPED_TEST(Ends, NamesTheSizesThatDoNotFit) {
  const auto attempt = [](Index rows, Index cols, std::size_t b, std::size_t x) {
    NamedSolve<double, TypeParam> solver{random_sparse<double>(rows, cols, 2, 13),
                                         std::vector<double>(b)};
    solver.x0 = std::vector<double>(x);
    return message_of([&] { solver.run(); });
  };
  EXPECT_EQ(attempt(10, 10, 10, 10), "nothing was thrown");
  EXPECT_EQ(attempt(10, 11, 10, 11), "krysol::cg: A must be square, it is 10 x 11");
  EXPECT_EQ(attempt(10, 10, 9, 10), "krysol::cg: A has 10 rows, b 9 entries and x 10");
  EXPECT_EQ(attempt(10, 10, 10, 12), "krysol::cg: A has 10 rows, b 10 entries and x 12");
}

TYPED_TEST(Ends, AnswersAnUnknownSolverWithTheTable) {
  auto solver = ordinary<TypeParam>();
  std::string known;
  for (const auto& m : krysol::list_solvers()) known.append(" ").append(m.name);
  EXPECT_EQ(known.substr(0, 3), " cg");
  for (const std::string name : {"gmres2", "", "CG", "cg:1"}) {
    solver.method = name;
    EXPECT_EQ(message_of([&] { solver.run(); }), "unknown solver '" + name + "'; known:" + known);
  }
}

// ---- what an iteration costs

TYPED_TEST(Ends, WithinTheBudgetOfBytes) {
  for (const auto& format : krysol::list_formats()) {
    auto solver = ordinary<TypeParam>();
    solver.format = format.name;
    const auto host = to_csr(solver.entries).matrix;
    const auto a = krysol::make_operator<double, TypeParam>(solver.format, host);
    const auto r = solver.run().result;
    ASSERT_EQ(r.status, Status::converged);
    EXPECT_EQ(r.spmv.calls, r.iterations);
    EXPECT_EQ(r.preconditioner.calls, 0) << "jacobi is part of the vector loops";
    const double rows = static_cast<double>(host.rows) * static_cast<double>(r.iterations);
    const double matrix = static_cast<double>(a->bytes()) * static_cast<double>(r.iterations);
    EXPECT_LE(r.spmv.bytes + r.vectors.bytes, matrix + 104 * rows) << format.name;
    // p, q, r, x and p again cannot cost less than reading and writing each once.
    EXPECT_GE(r.spmv.bytes + r.vectors.bytes, matrix + 64 * rows) << format.name;
  }
}

// ---- the sentences

TEST(Advice, NamesEveryStatus) {
  const std::vector<std::pair<Status, std::string>> names = {
      {Status::converged, "converged"},
      {Status::max_iterations, "max_iterations"},
      {Status::time_limit, "time_limit"},
      {Status::interrupted, "interrupted"},
      {Status::stagnated, "stagnated"},
      {Status::indefinite_matrix, "indefinite_matrix"},
      {Status::indefinite_preconditioner, "indefinite_preconditioner"},
      {Status::not_symmetric, "not_symmetric"},
      {Status::not_finite, "not_finite"}};
  for (const auto& [status, name] : names) {
    EXPECT_EQ(krysol::to_string(status), name);
    SolveResult r;
    r.status = status;
    EXPECT_FALSE(krysol::advice(r).empty()) << name;
  }
}

TEST(Advice, HoldsTheNumbers) {
  SolveResult r;
  r.iterations = 123;
  r.residual = 4.5e-3;
  r.target = 6.7e-8;
  r.attainable = 8.9e-2;
  r.b_norm = 1;
  r.restarts = 2;
  const auto expect = [&](Status status, const std::vector<std::string>& parts) {
    r.status = status;
    for (const auto& part : parts) {
      EXPECT_TRUE(holds(krysol::advice(r), part)) << part << ": " << krysol::advice(r);
    }
  };
  expect(Status::converged, {"123 iterations", "2 restarts"});
  expect(Status::max_iterations, {"123 iterations", "4.50e-03", "6.70e-08", "preconditioner"});
  expect(Status::time_limit, {"123 iterations", "4.50e-03", "6.70e-08", "time limit"});
  expect(Status::interrupted, {"123 iterations", "4.50e-03", "6.70e-08"});
  expect(Status::stagnated, {"4.50e-03", "8.90e-02", "6.70e-08", "Ask for less"});
  expect(Status::indefinite_preconditioner, {"iteration 123", "jacobi"});
  expect(Status::not_finite, {"at iteration 124", "scale the system"});
  r.seconds = 1.23;
  r.iterations_left = 77;
  r.initial_residual = 1;
  r.cg.emplace().spectrum.condition = 3.4e5;
  for (const auto status : {Status::max_iterations, Status::time_limit, Status::interrupted}) {
    expect(status, {"About 77 more iterations (0.77 s)", "condition number of M^-1 A is at least"});
  }
  expect(Status::max_iterations, {"A better preconditioner"});
  expect(Status::stagnated, {"at least 3.4e+05"});
  r.cg->spectrum.at_least = false;
  expect(Status::stagnated, {"M^-1 A is 3.4e+05"});
  r.iterations_left = 12301;
  expect(Status::time_limit, {"The end is not in sight"});
  r.iterations_left = 10;
  expect(Status::max_iterations, {"About 10 more iterations (0.1 s)", "Allow them"});
  r.rounding = 5.6e-4;
  expect(Status::max_iterations, {"out of reach", "5.6e-04", "Ask for less"});
  expect(Status::interrupted, {"out of reach"});
  r.cg->spectrum.condition = 1e13;
  r.residual = 9.8e7;
  expect(Status::max_iterations,
         {"9.80e+07", "nearly singular, or singular", "|b - Ax| was 1.00e+00 at the start"});
  r.cg->error.upper_estimate = 2e-3;
  r.cg->error.solution_norm = 4;
  r.residual = 1e-9;
  expect(Status::converged, {"|x - x*|_A is about 5.0e-04 |x*|_A or more", "1e+13"});
  r.breakdown.row = 41;
  expect(Status::not_finite, {"row 42"});
  r.breakdown.col = 6;
  r.breakdown.value = {1.5, 0};
  r.breakdown.mirrored_value = {-2.5, 3};
  expect(Status::not_finite, {"A(42, 7) is not a finite number"});
  expect(Status::not_symmetric, {"A(42, 7) = 1.5", "A(7, 42) = -2.5+3i", "GMRES"});
  expect(Status::indefinite_matrix, {"row 42 is 1.5"});
}

TEST(Advice, ListsTheLargestRowsInOrder) {
  const std::vector<std::complex<double>> p = {{0.1, 0}, {0, 0.5},  {0, 0},   {-0.7, 0},
                                               {0.3, 0}, {0, -0.2}, {0.05, 0}};
  const auto shares = krysol::largest_shares(p);
  std::vector<Index> rows;
  for (const auto& s : shares) rows.push_back(s.row);
  EXPECT_EQ(rows, (std::vector<Index>{3, 1, 4, 5, 0}));
  const double total = 0.01 + 0.25 + 0.49 + 0.09 + 0.04 + 0.0025;
  EXPECT_NEAR(shares[0].share, 0.49 / total, 1e-15);
  EXPECT_EQ(krysol::largest_shares({{1, 0}, {0, 0}}).size(), 1U) << "rows without a share";
  EXPECT_TRUE(krysol::largest_shares({}).empty());
}

}  // namespace
