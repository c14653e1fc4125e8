// Preconditioners that are made of products by A, or of those of parts of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <krysol/solver/composed/chebyshev.hpp>
#include <krysol/solver/composed/schwarz.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/solver/solve.hpp>
#include "dense.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::Chebyshev;
using krysol::ChebyshevOptions;

template <class Exec>
class ComposedPreconditioner : public testing::Test {};
using ComposedSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(ComposedPreconditioner, ComposedSpaces, SpaceName);

template <class Exec>
std::vector<double> result_of(const krysol::AnyPreconditioner<double, Exec>& m,
                              const std::vector<double>& r) {
  const krysol::ConstVector<double, Exec> from = to_device<Exec>(r);
  const auto z = to_device<Exec>(std::vector<double>(r.size(), 7.0));
  m.apply(Exec{}, from, z);
  Kokkos::fence();
  return to_host(z);
}

/// T_n(x).
long double chebyshev_polynomial(int n, long double x) {
  long double before = 1;
  long double now = x;
  if (n == 0) return 1;
  for (int k = 1; k < n; ++k) {
    const long double next = 2 * x * now - before;
    before = now;
    now = next;
  }
  return now;
}

/// On eigenvectors: 1 - lambda p(lambda) is the scaled and shifted polynomial that is 1 at 0.
TYPED_TEST(ComposedPreconditioner, ChebyshevIsThePolynomialThatIsSmallestOnItsInterval) {
  constexpr int n = 20;
  const auto a = to_csr(poisson1d(n)).matrix;
  for (const int degree : {1, 2, 5, 12}) {
    const ChebyshevOptions options{.degree = degree, .ratio = 7, .largest = 4.1};
    const std::shared_ptr<const krysol::Operator<double, TypeParam>> op =
        krysol::make_operator<double, TypeParam>("csr", a);
    const krysol::PreconditionerOf<Chebyshev<double, TypeParam>, double, TypeParam> m(
        Chebyshev<double, TypeParam>(op, {}, options));
    const long double low = options.largest / options.ratio;
    const long double theta = (options.largest + low) / 2;
    const long double delta = (options.largest - low) / 2;
    for (int i = 1; i <= n; ++i) {
      std::vector<double> v(n);
      for (int j = 0; j < n; ++j)
        v[static_cast<std::size_t>(j)] = std::sin(i * (j + 1) * std::numbers::pi / (n + 1));
      const long double lambda = grid_eigenvalue(n, i);
      const long double left = chebyshev_polynomial(degree + 1, (theta - lambda) / delta) /
                               chebyshev_polynomial(degree + 1, theta / delta);
      const auto z = result_of(m, v);
      for (std::size_t j = 0; j < v.size(); ++j) {
        EXPECT_NEAR(z[j], static_cast<double>((1 - left) / lambda) * v[j], 1e-12)
            << degree << ' ' << i;
      }
    }
  }
}

TYPED_TEST(ComposedPreconditioner, ChebyshevNeedsFewerIterationsTheHigherItsDegree) {
  const auto t = jump_coefficients2d(20, 100);
  std::int64_t before = 1000;
  for (const char* name :
       {"jacobi", "chebyshev:1", "chebyshev:4", "chebyshev:degree=12,ratio=100"}) {
    NamedSolve<double, TypeParam> solver{t, random_vector<double>(400, 1), name};
    solver.stop.rtol = 1e-10;
    const auto [result, x] = solver.run();
    EXPECT_TRUE(result.converged()) << name;
    EXPECT_LT(result.iterations, 3 * before / 4) << name;
    before = result.iterations;
    // It is found from the sum of some eigenvectors that none is beyond.
    EXPECT_LE(result.cg->spectrum.largest.value, 2) << name;
  }
}

/// Of an operator without entries: D = I.
TYPED_TEST(ComposedPreconditioner, ChebyshevNeedsNoEntries) {
  const users_own::Laplacian laplacian{500, 500};
  std::vector<double> x(500);
  krysol::SolveReport report;
  const std::vector<double> b = random_vector<double>(500, 3);
  if constexpr (std::is_same_v<TypeParam, Kokkos::DefaultExecutionSpace>) {
    const auto with =
        krysol::solve(laplacian, b, x, {.preconditioner = "chebyshev:8", .report = &report});
    EXPECT_TRUE(with.converged());
    EXPECT_EQ(report.preconditioner, "chebyshev:8");
    std::vector<double> y(500);
    const auto without = krysol::solve(laplacian, b, y, {.preconditioner = "none"});
    EXPECT_LT(with.iterations, without.iterations / 4);
  }
}

TYPED_TEST(ComposedPreconditioner, ChebyshevRefusesWhatIsNotDefinite) {
  const auto a = to_csr(random_spd({-3, 1, 2, 3, 4, 5, 6, 7}, 3)).matrix;
  const auto made = krysol::make_preconditioner<double, TypeParam>("chebyshev", a);
  EXPECT_EQ(made.used, "jacobi");
  EXPECT_TRUE(holds(made.note, "the largest eigenvalue of A is not found by CG")) << made.note;
}

/// Without a matrix nothing else can be made.
TYPED_TEST(ComposedPreconditioner, ChebyshevGivesWayToNoneWhereThereIsNoMatrix) {
  const auto negative = to_csr(random_spd({-3, -1, -2, -4}, 3)).matrix;
  const auto op = krysol::make_operator<double, TypeParam>("csr", negative);
  const auto made =
      krysol::make_preconditioner<double, TypeParam>("chebyshev", {nullptr, op.get()});
  EXPECT_EQ(made.used, "none");
  EXPECT_TRUE(holds(made.note, "none is used instead")) << made.note;
  EXPECT_EQ(result_of(*made.m, {1, 2, 3, 4}), (std::vector<double>{1, 2, 3, 4}));
}

TYPED_TEST(ComposedPreconditioner, ChebyshevIsMadeForSmallSingularSystems) {
  for (const Index n : {3, 5, 10}) {
    const auto a = to_csr(neumann2d(n, 1)).matrix;
    const auto made = krysol::make_preconditioner<double, TypeParam>("chebyshev", a);
    EXPECT_EQ(made.used, "chebyshev") << n << ' ' << made.note;
  }
}

/// It multiplies by what A was.
TYPED_TEST(ComposedPreconditioner, ChebyshevHasArraysOfItsOwn) {
  const auto a = to_csr(poisson2d(6, 6)).matrix;
  const auto made = krysol::make_preconditioner<double, TypeParam>("chebyshev", a);
  const auto r = random_vector<double>(36, 1);
  const auto before = result_of(*made.m, r);
  for (std::size_t k = 0; k < a.values.extent(0); ++k) a.values(k) = 77;
  EXPECT_EQ(result_of(*made.m, r), before);
}

/// After an update it multiplies by the new A, in the Solver's format or its own.
TYPED_TEST(ComposedPreconditioner, ChebyshevFollowsAnUpdate) {
  if constexpr (std::is_same_v<TypeParam, Kokkos::DefaultExecutionSpace>) {
    const auto a = to_csr(poisson2d(12, 12)).matrix;
    auto other = to_csr(jump_coefficients2d(12, 100)).matrix;
    krysol::Solver solver(a, {.preconditioner = "chebyshev", .format = "csr"});
    solver.update(std::vector<double>(other.values.data(), other.values.data() + other.nnz()));
    const auto b = random_vector<double>(144, 2);
    std::vector<double> x(144);
    std::vector<double> y(144);
    const auto updated = solver.solve(b, x);
    const auto fresh = krysol::solve(other, b, y, {.preconditioner = "chebyshev", .format = "csr"});
    EXPECT_TRUE(updated.converged());
    EXPECT_EQ(updated.iterations, fresh.iterations);
    EXPECT_EQ(x, y);
  }
}

// ---- Schwarz

TEST(SchwarzParts, HoldEveryRowAndItsNeighbours) {
  const auto a = to_csr(poisson2d(20, 17)).matrix;
  for (const Index overlap : {1, 2}) {
    const auto p =
        krysol::make_schwarz_parts(a.row_ptr.data(), a.col_idx.data(), a.rows, {40, overlap});
    EXPECT_GE(p.parts(), 7);
    EXPECT_LE(p.parts(), 9);
    std::vector<int> inside(340, 0);  // of some part with all of its neighbours
    for (Index part = 0; part < p.parts(); ++part) {
      const auto begin = p.row.begin() + p.part_ptr[static_cast<std::size_t>(part)];
      const auto end = p.row.begin() + p.part_ptr[static_cast<std::size_t>(part) + 1];
      EXPECT_TRUE(std::is_sorted(begin, end));
      const std::set<Index> rows(begin, end);
      EXPECT_EQ(rows.size(), static_cast<std::size_t>(end - begin));
      for (const Index i : rows) {
        bool all = true;
        for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
          all = all && rows.contains(a.col_idx(static_cast<std::size_t>(k)));
        }
        if (all) inside[static_cast<std::size_t>(i)] = 1;
      }
    }
    EXPECT_EQ(std::count(inside.begin(), inside.end(), 1), 340);
    for (std::size_t i = 0; i < 340; ++i) {
      for (Index c = p.copy_ptr[i]; c < p.copy_ptr[i + 1]; ++c) {
        EXPECT_EQ(p.row[static_cast<std::size_t>(p.copy[static_cast<std::size_t>(c)])],
                  static_cast<Index>(i));
      }
    }
  }
}

/// The sum over the parts, by dense matrices.
TYPED_TEST(ComposedPreconditioner, SchwarzIsTheSumOverItsParts) {
  const auto t = jump_coefficients2d(9, 50);
  const auto a = to_csr(t).matrix;
  const auto wide = dense(t);
  const krysol::SchwarzOptions options{.rows_per_part = 20, .overlap = 1};
  const auto p = krysol::make_schwarz_parts(a.row_ptr.data(), a.col_idx.data(), a.rows, options);
  ASSERT_GT(p.parts(), 2);
  const auto r = random_vector<double>(81, 9);
  std::vector<long double> expected(81, 0);
  const auto weight = [&](std::size_t i) {
    return 1 / std::sqrt(static_cast<long double>(p.copy_ptr[i + 1] - p.copy_ptr[i]));
  };
  for (Index part = 0; part < p.parts(); ++part) {
    const auto first = static_cast<std::size_t>(p.part_ptr[static_cast<std::size_t>(part)]);
    const auto size =
        static_cast<std::size_t>(p.part_ptr[static_cast<std::size_t>(part) + 1]) - first;
    Dense<long double> local(size, size);
    std::vector<long double> of_r(size);
    const auto row = [&](std::size_t k) { return static_cast<std::size_t>(p.row[first + k]); };
    for (std::size_t i = 0; i < size; ++i) {
      of_r[i] = weight(row(i)) * static_cast<long double>(r[row(i)]);
      for (std::size_t j = 0; j < size; ++j) local(i, j) = wide(row(i), row(j));
    }
    const auto l = cholesky(local);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k) of_r[i] -= l(i, k) * of_r[k];
      of_r[i] /= l(i, i);
    }
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t k = i + 1; k < size; ++k) of_r[i] -= l(k, i) * of_r[k];
      of_r[i] /= l(i, i);
    }
    for (std::size_t i = 0; i < size; ++i) expected[row(i)] += weight(row(i)) * of_r[i];
  }
  const auto made = krysol::make_preconditioner<double, TypeParam>("schwarz:20", a);
  EXPECT_EQ(made.note, "");
  const auto z = result_of(*made.m, r);
  for (std::size_t i = 0; i < 81; ++i) {
    EXPECT_NEAR(z[i], static_cast<double>(expected[i]),
                static_cast<double>(1e-12L * std::abs(expected[i])) + 1e-13);
  }
}

TYPED_TEST(ComposedPreconditioner, SchwarzWithOnePartIsExact) {
  const auto t = poisson2d(15, 15);
  NamedSolve<double, TypeParam> solver{t, random_vector<double>(225, 1), "schwarz:225"};
  EXPECT_LE(solver.run().result.iterations, 2);
  std::int64_t before = 0;
  for (const char* name :
       {"schwarz:60,overlap=3", "schwarz:60", "schwarz:60,local=ic0", "jacobi"}) {
    solver.precond = name;
    const auto result = solver.run().result;
    EXPECT_TRUE(result.converged()) << name;
    EXPECT_GT(result.iterations, before) << name;
    before = result.iterations;
  }
}

TEST(SchwarzParts, NameTheRowOfAPartThatIsNotDefinite) {
  auto t = poisson2d(10, 10);
  t.add(57, 57, -9);
  const auto a = to_csr(t).matrix;
  for (const char* name : {"schwarz:30", "schwarz:30,local=ic0"}) {
    const auto made = krysol::make_preconditioner<double, krysol::Host>(name, a);
    EXPECT_EQ(made.used, "jacobi");
    EXPECT_EQ(made.refusal,
              "schwarz: the matrix of the part of row 58 is not positive definite there")
        << name;
  }
  const auto refused = [&](const char* name) {
    return message_of([&] { krysol::make_preconditioner<double, krysol::Host>(name, a); });
  };
  EXPECT_TRUE(holds(refused("schwarz:0"), "expected a whole number from 1 on"));
  EXPECT_TRUE(holds(refused("schwarz:local=lu"), "must be one of cholesky ic0"));
  EXPECT_TRUE(holds(refused("schwarz:overlap=17"), "1 to 16"));
}

/// What the factorization of the parts did differently names rows of theirs, which is said.
TEST(SchwarzParts, SayWhoseRowsANoteCounts) {
  auto t = no_entries<double>(12, 12);
  for (Index i = 0; i < 12; ++i) {
    t.add(i, i, 1);
    if (i + 1 < 12) {
      t.add(i, i + 1, 0.499);
      t.add(i + 1, i, 0.499);
    }
    if (i + 3 < 12) {
      t.add(i, i + 3, -0.45);
      t.add(i + 3, i, -0.45);
    }
  }
  const auto a = to_csr(t).matrix;
  const auto alone = krysol::make_preconditioner<double, krysol::Host>("ic0", a);
  ASSERT_TRUE(holds(alone.note, "has no positive pivot")) << alone.note;
  const auto made = krysol::make_preconditioner<double, krysol::Host>("schwarz:12,local=ic0", a);
  EXPECT_EQ(made.note, "schwarz, rows counted over all parts: " + alone.note);
}

TEST(SchwarzParts, RefuseAnotherPattern) {
  const auto a = to_csr(poisson2d(6, 6)).matrix;
  auto t = poisson2d(6, 6);
  t.add(3, 20, -0.1);
  t.add(20, 3, -0.1);
  const auto other = to_csr(t).matrix;
  for (const char* name : {"schwarz:36", "schwarz:36,local=ic0"}) {  // one part, which sees it
    auto made = krysol::make_preconditioner<double, krysol::Host>(name, a);
    EXPECT_EQ(message_of([&] { krysol::update_preconditioner(made, other); }),
              "schwarz: the matrix has nonzeros at other places than when its parts were made");
    krysol::update_preconditioner(made, a);
    EXPECT_EQ(made.used, name);
  }
}

TEST(SchwarzParts, AreThoseOfAnEmptyMatrix) {
  const auto a = to_csr(no_entries<double>(0, 0)).matrix;
  const auto made = krysol::make_preconditioner<double, krysol::Host>("schwarz", a);
  EXPECT_EQ(made.note, "");
  EXPECT_EQ(made.m->report()[0].value, "0");
}

}  // namespace
