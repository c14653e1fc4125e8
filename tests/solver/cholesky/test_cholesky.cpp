// Sparse Cholesky: where L has entries, that L L^H is the matrix, singular and indefinite ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <krysol/solver/cholesky/cholesky.hpp>
#include <krysol/solver/cholesky/factors.hpp>
#include <krysol/solver/registry.hpp>
#include "dense.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "solving.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::make_preconditioner;
using krysol::Offset;
using krysol::Status;
using krysol::to_csr;
using krysol::sparse_cholesky::Elimination;

constexpr double unlimited = std::numeric_limits<double>::infinity();

Elimination elimination_of(const HostCsr<double>& a) {
  return *krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, unlimited);
}

/// A diagonally dominant symmetric matrix with some entries at random places.
Triplets<double> scattered(Index n, double a_row, std::uint64_t seed) {
  Random random(seed);
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) t.add(i, i, 8 * a_row);
  for (int k = 0; k < n * a_row / 2; ++k) {
    const Index i = random.below(n);
    const Index j = random.below(n);
    if (i == j) continue;
    const double v = random.number();
    t.add(i, j, v);
    t.add(j, i, v);
  }
  return t;
}

/// Full first row and column.
Triplets<double> arrow(Index n) {
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) t.add(i, i, i == 0 ? 2 * n : 4);
  for (Index i = 1; i < n; ++i) {
    t.add(0, i, 1);
    t.add(i, 0, 1);
  }
  return t;
}

/// Grids in pieces, a dense one, what has no neighbours, and what fills in.
std::vector<Triplets<double>> patterns() {
  return {poisson1d(17),
          poisson2d(12, 11),
          poisson3d(5),
          arrow(40),
          scattered(60, 3, 1),
          scattered(60, 1, 2),
          no_entries<double>(0, 0),
          random_spd(std::vector<double>(30, 2), 3),
          jump_coefficients2d(9, 1e3)};
}

/// Rows of L below the diagonal, by elimination of a dense pattern in the order of `e`.
std::vector<std::vector<bool>> filled(const HostCsr<double>& a, const Elimination& e) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<bool>> l(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto j = static_cast<std::size_t>(a.col_idx(static_cast<std::size_t>(k)));
      l[static_cast<std::size_t>(e.place[i])][static_cast<std::size_t>(e.place[j])] = true;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; l[i][k] && j < i; ++j) {
        if (l[j][k]) l[i][j] = l[j][i] = true;
      }
    }
  }
  return l;
}

TEST(Elimination, HasAPlaceForEachEntryOfL) {
  for (const auto& t : patterns()) {
    const auto a = to_csr(t).matrix;
    const Elimination e = elimination_of(a);
    const auto n = static_cast<std::size_t>(a.rows);
    ASSERT_EQ(e.order.size(), n);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_EQ(e.place[static_cast<std::size_t>(e.order[k])], static_cast<Index>(k));
    }
    const auto l = filled(a, e);
    double stored = 0;
    double flops = 0;
    EXPECT_EQ(e.first.back(), a.rows);
    for (Index s = 0; s < e.supernodes(); ++s) {
      const auto at = static_cast<std::size_t>(s);
      const auto begin = e.row_idx.begin() + e.row_begin[at];
      const auto end = e.row_idx.begin() + e.row_begin[at + 1];
      EXPECT_TRUE(std::is_sorted(begin, end));
      EXPECT_EQ(*begin, e.first[at]);
      EXPECT_EQ(std::adjacent_find(begin, end), end);
      EXPECT_EQ(static_cast<double>(e.value_begin[at]), stored);
      stored += static_cast<double>(e.columns_of(s)) * e.rows_of(s);
      for (Index q = 0; q < e.columns_of(s); ++q) {
        flops += static_cast<double>(e.rows_of(s) - q) * (e.rows_of(s) - q);
        const auto j = static_cast<std::size_t>(e.first[at] + q);
        EXPECT_EQ(begin[q], e.first[at] + q);
        for (std::size_t i = j + 1; i < n; ++i) {
          if (l[i][j]) {
            EXPECT_TRUE(std::binary_search(begin, end, static_cast<Index>(i)));
          }
        }
      }
      // What it adds to is done later, and has all of its other rows.
      const auto below = begin + e.columns_of(s);
      if (below == end) {
        EXPECT_EQ(e.parent[at], -1);
        continue;
      }
      const auto up = static_cast<std::size_t>(e.parent[at]);
      ASSERT_GT(e.parent[at], s);
      EXPECT_LE(e.first[up], *below);
      EXPECT_GT(e.first[up + 1], *below);
      EXPECT_TRUE(std::includes(e.row_idx.begin() + e.row_begin[up],
                                e.row_idx.begin() + e.row_begin[up + 1], below, end));
    }
    EXPECT_EQ(e.entries(), stored);
    EXPECT_DOUBLE_EQ(e.flops, flops);
  }
}

/// A supernode has no row below its columns in which none of them has an entry: such rows would be
/// computed with, and change nothing.
TEST(Elimination, HasNoRowWithoutAnEntryOfL) {
  for (const auto& t : patterns()) {
    const auto a = to_csr(t).matrix;
    const Elimination e = elimination_of(a);
    const auto l = filled(a, e);
    for (Index s = 0; s < e.supernodes(); ++s) {
      const auto at = static_cast<std::size_t>(s);
      const auto last = static_cast<std::size_t>(e.first[at + 1]);
      const auto end = e.row_idx.begin() + e.row_begin[at + 1];
      for (auto row = e.row_idx.begin() + e.row_begin[at] + e.columns_of(s); row != end; ++row) {
        const auto i = static_cast<std::size_t>(*row);
        EXPECT_GE(i, last);
        bool needed = false;
        for (auto j = static_cast<std::size_t>(e.first[at]); j < last; ++j) {
          needed = needed || l[i][j];
        }
        EXPECT_TRUE(needed) << "row " << i << " of supernode " << s << " of " << a.rows << " rows";
      }
    }
  }
}

TEST(Elimination, StopsWhereThereIsTooMuchFill) {
  for (const auto& t : patterns()) {
    const auto a = to_csr(t).matrix;
    const auto l = filled(a, elimination_of(a));
    double below = 0;
    for (std::size_t i = 0; i < l.size(); ++i) {
      below += static_cast<double>(
          std::count(l[i].begin(), l[i].begin() + static_cast<std::ptrdiff_t>(i), true));
    }
    const auto with = [&](double most) {
      return krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, most)
          .has_value();
    };
    EXPECT_TRUE(with(below));
    if (below > 0) {
      EXPECT_FALSE(with(below - 1));
    }
  }
}

/// In the order of the rows 20^3 and 40^3 entries would be needed, and for the arrow all.
TEST(Elimination, OrdersAgainstFill) {
  const auto fits = [](const Triplets<double>& t, double most) {
    const auto a = to_csr(t).matrix;
    return krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, most)
        .has_value();
  };
  EXPECT_TRUE(fits(poisson2d(20, 20), 5500));
  EXPECT_TRUE(fits(poisson2d(40, 40), 28000));
  EXPECT_TRUE(fits(arrow(1000), 999));
}

template <class C>
class Cholesky : public testing::Test {};
using CholeskyCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Cholesky, CholeskyCases, OnName);

template <class T, class Exec>
std::vector<T> applied_factors(const krysol::AnyPreconditioner<T, Exec>& m,
                               const std::vector<T>& r) {
  const auto z = to_device<Exec>(std::vector<T>(r.size()));
  m.apply(Exec{}, to_device<Exec>(r), z);
  Kokkos::fence();
  return to_host(z);
}

TYPED_TEST(Cholesky, SolvesWithTheMatrix) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& real : patterns()) {
    auto t = as<FileScalar<T>>(real);
    if constexpr (krysol::is_complex<T>) {  // D^H A D with |d(i)| = 1 is Hermitian, and as definite
      const FileScalar<T> turns[] = {{1, 0}, {0, 1}, {-1, 0}};
      for (std::size_t k = 0; k < t.values.size(); ++k) {
        t.values[k] *= std::conj(turns[t.row_idx[k] % 3]) * turns[t.col_idx[k] % 3];
      }
    }
    const auto a = to_csr(t).matrix;
    const auto made = make_preconditioner<T, Exec>("cholesky", a);
    EXPECT_EQ(made.note, "");
    const auto r = random_vector<T>(static_cast<std::size_t>(t.rows), 5);
    const auto want = solve_factor(krysol_tests::cholesky(dense(t)), widen(r));
    const auto z = widen(applied_factors(*made.m, r));
    // The oracle reads float values too; only z is rounded to them.
    EXPECT_LE(norm(z - want), 1e4L * std::numeric_limits<krysol::Real<T>>::epsilon() * norm(want));
  }
}

TYPED_TEST(Cholesky, KeepsTheOrderForOtherValues) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson2d(9, 8))).matrix;
  const auto other = to_csr(as<FileScalar<T>>(poisson2d(9, 8, 0.125))).matrix;
  auto made = make_preconditioner<T, Exec>("cholesky", a);
  const auto anew = make_preconditioner<T, Exec>("cholesky", other);
  update_preconditioner(made, other);
  const auto r = random_vector<T>(72, 6);
  EXPECT_EQ(applied_factors(*made.m, r), applied_factors(*anew.m, r));
}

/// Fronts that all cores work on, and subtrees for each.
TYPED_TEST(Cholesky, TakesLargeFronts) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto t = as<FileScalar<T>>(poisson3d(15));
  const Elimination e = elimination_of(to_csr(poisson3d(15)).matrix);
  Index largest = 0;
  for (Index s = 0; s < e.supernodes(); ++s) largest = std::max(largest, e.rows_of(s));
  ASSERT_GT(largest, 192);
  ASSERT_GT(e.flops, 1e7);
  NamedSolve<T, Exec> solver{t, random_vector<T>(3375, 7), "cholesky"};
  if (std::is_same_v<krysol::Real<T>, float>) solver.stop.rtol = 1e-5;
  const auto first = solver.run();
  EXPECT_EQ(first.result.status, Status::converged);
  EXPECT_LE(first.result.iterations, (std::is_same_v<krysol::Real<T>, float> ? 2 : 1));
  const auto again = solver.run();
  EXPECT_EQ(again.x, first.x);
}

#if defined(M_PERTURB)
/// Their memory is not cleared by who gives it: malloc fills it with a byte, and the other one.
TEST(CholeskyFactors, DoNotDependOnWhatTheirMemoryHeld) {
  for (const auto& t : patterns()) {
    const auto a = to_csr(t).matrix;
    const Elimination e = elimination_of(a);
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<double> ones(n, 1.0);
    const auto x = krysol::sparse_cholesky::numbers<double>(n);
    const auto solved_in = [&](int filled) {
      mallopt(M_PERTURB, filled);
      const auto factors = krysol::sparse_cholesky::numeric_factors<double>(
          e, a.row_ptr.data(), a.col_idx.data(), a.values.data(), ones.data());
      std::fill_n(x.get(), n, 1.0);
      krysol::sparse_cholesky::solve(e, factors, x.get());
      mallopt(M_PERTURB, 0);
      return std::vector<double>(x.get(), x.get() + n);
    };
    EXPECT_EQ(solved_in(1), solved_in(0x80));
  }
}
#endif

/// Most fronts add to their parents by way of stacks; large ones do not.
TEST(CholeskyFactors, OfLargeFrontsAndOfSmallOnes) {
  const auto t = poisson3d(22);
  const auto a = to_csr(t).matrix;
  const Elimination e = elimination_of(a);
  Offset most = 0;
  for (Index s = 0; s < e.supernodes(); ++s) {
    const Offset m = e.rows_of(s) - e.columns_of(s);
    most = std::max(most, m * m);
  }
  ASSERT_GT(most, Offset{1} << 17);
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> scale(n, 0.5);
  const auto factors = krysol::sparse_cholesky::numeric_factors<double>(
      e, a.row_ptr.data(), a.col_idx.data(), a.values.data(), scale.data());
  EXPECT_EQ(factors.lost, 0);
  const auto b = random_vector<double>(n, 8);
  const auto x = krysol::sparse_cholesky::numbers<double>(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = b[static_cast<std::size_t>(e.order[k])];
  krysol::sparse_cholesky::solve(e, factors, x.get());
  std::vector<double> solution(n);
  for (std::size_t k = 0; k < n; ++k) solution[static_cast<std::size_t>(e.order[k])] = x[k] / 4;
  EXPECT_LE(true_residual(t, b, solution), 1e-12L * norm(widen(b)));
}

std::vector<double> narrowed(const std::vector<long double>& v) { return {v.begin(), v.end()}; }

/// As many directions as components, each lost once; CG finds the solution in what is left.
TEST(CholeskyOfSingular, LosesAPivotForEachComponent) {
  using Exec = Kokkos::DefaultExecutionSpace;
  for (const Index parts : {1, 3}) {
    auto t = no_entries<double>(56 * parts, 56 * parts);
    const auto one = neumann2d(8, 7);
    for (Index p = 0; p < parts; ++p) {
      for (std::size_t k = 0; k < one.values.size(); ++k) {
        t.add(56 * p + one.row_idx[k], 56 * p + one.col_idx[k], one.values[k]);
      }
    }
    const auto made = make_preconditioner<double, Exec>("cholesky", to_csr(t).matrix);
    EXPECT_EQ(made.used, "cholesky");
    EXPECT_TRUE(made.note.starts_with("cholesky: " + std::to_string(parts) +
                                      " pivot(s) are nothing but rounding, the first at row "))
        << made.note;
    EXPECT_TRUE(made.note.ends_with("; 1 is used instead"));
    NamedSolve<double, Exec> solver{
        t, narrowed(t * widen(random_vector<double>(static_cast<std::size_t>(t.rows), 8))),
        "cholesky"};
    const auto solved = solver.run();
    EXPECT_EQ(solved.result.status, Status::converged);
    EXPECT_LE(solved.result.iterations, 3);
  }
}

TEST(CholeskyOfIndefinite, NamesTheRow) {
  using Exec = Kokkos::DefaultExecutionSpace;
  auto t = poisson1d(30);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == t.col_idx[k]) t.values[k] = 1.9;  // below the largest 2 cos(pi k / 31)
  }
  const auto made = make_preconditioner<double, Exec>("cholesky", to_csr(t).matrix);
  EXPECT_EQ(made.used, "jacobi");
  EXPECT_TRUE(made.note.starts_with("cholesky: the pivot of row ")) << made.note;
  EXPECT_TRUE(made.note.ends_with(", with ones on the diagonal of A; jacobi is used instead"));
  // By 1e-9 of the diagonal.
  auto nearly = free_ends(12);
  for (std::size_t k = 0; k < nearly.values.size(); ++k) {
    if (nearly.row_idx[k] == nearly.col_idx[k]) nearly.values[k] -= 1e-9;
  }
  EXPECT_EQ((make_preconditioner<double, Exec>("cholesky", to_csr(nearly).matrix).used), "jacobi");
}

TEST(CholeskyReport, SaysWhatLTakes) {
  using Exec = Kokkos::DefaultExecutionSpace;
  const auto a = to_csr(poisson2d(9, 8)).matrix;
  const Elimination e = elimination_of(a);
  const auto facts = make_preconditioner<double, Exec>("cholesky", a).m->report();
  ASSERT_EQ(facts.size(), 6U);
  EXPECT_EQ(facts[0].name, "entries of L");
  EXPECT_EQ(facts[0].value, std::to_string(static_cast<int>(e.entries())));
  EXPECT_EQ(facts[2].value, std::to_string(e.supernodes()));
  EXPECT_EQ(facts[4].value, "0");
  EXPECT_EQ(facts[5].name, "seconds of the setup");
}

/// A matrix that is symmetric but for rounding may hold an entry whose mirror is not stored: where
/// it is eliminated decides on which side of the diagonal it then is.
TEST(CholeskyOfRounded, LeavesOutEntriesWithoutAMirror) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Index n = 40;
    const auto t = seed % 2 == 0 ? scattered(n, 3, seed) : poisson2d(8, 5);
    auto more = t;
    for (std::uint64_t k = 0; k < 1 + seed % 20; ++k) {
      more.add(random.below(n), random.below(n), k % 3 == 0 ? 1e-14 : 0.0);
    }
    const auto a = to_csr(more).matrix;
    const Elimination e = elimination_of(a);
    for (Index s = 0; s < e.supernodes(); ++s) {
      const auto at = static_cast<std::size_t>(s);
      EXPECT_TRUE(std::is_sorted(e.row_idx.begin() + e.row_begin[at],
                                 e.row_idx.begin() + e.row_begin[at + 1]));
    }
    const auto r = random_vector<double>(static_cast<std::size_t>(n), seed);
    const auto of = [&](const HostCsr<double>& matrix) {
      const auto m = make_preconditioner<double, krysol::Host>("cholesky", matrix).m;
      const auto z = to_device<krysol::Host>(std::vector<double>(r.size()));
      m->apply(krysol::Host{}, to_device<krysol::Host>(r), z);
      return to_host(z);
    };
    const auto expected = of(to_csr(t).matrix);
    const auto found = of(a);
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-11) << seed;
  }
}

}  // namespace
