// Incomplete Cholesky: against its definition, where it needs a shift, and where it cannot be.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <krysol/solver/precond/ic0.hpp>
#include "preconditioner_oracles.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::make_preconditioner;

/// Positive definite, with a negative pivot in the last row of its factor without fill (Kershaw,
/// J. Comput. Phys. 26, 1978, DOI 10.1016/0021-9991(78)90098-0).
Triplets<double> kershaw() {
  auto t = no_entries<double>(4, 4, krysol::Symmetry::symmetric);
  for (Index i = 0; i < 4; ++i) t.add(i, i, 3);
  for (Index i = 1; i < 4; ++i) t.add(i, i - 1, -2);
  t.add(3, 0, 2);
  return t;
}

/// Two levels of 10000 rows each, and then a chain of 500 rows.
Triplets<double> wide_and_small_levels() {
  const Index half = 10000;
  auto t = no_entries<double>(2 * half + 500, 2 * half + 500);
  const auto couple = [&](Index i, Index j) {
    t.add(i, j, -1);
    t.add(j, i, -1);
  };
  for (Index i = 0; i < t.rows; ++i) t.add(i, i, 4);
  for (Index i = 0; i < half; ++i) {
    couple(half + i, i);
    couple(half + i, (i + 1) % half);
  }
  for (Index i = 2 * half; i < t.rows; ++i) couple(i, i - 1);
  return t;
}

/// Both triangles, so that `as` can turn it.
Triplets<double> expanded(const Triplets<double>& half) {
  auto t = no_entries<double>(half.rows, half.cols);
  for (std::size_t k = 0; k < half.values.size(); ++k) {
    t.add(half.row_idx[k], half.col_idx[k], half.values[k]);
    if (half.row_idx[k] != half.col_idx[k]) {
      t.add(half.col_idx[k], half.row_idx[k], half.values[k]);
    }
  }
  return t;
}

template <class T, class Exec>
std::vector<T> applied(const krysol::Ic0<T, Exec>& m, const std::vector<T>& r) {
  const auto z = to_device<Exec>(std::vector<T>(r.size()));
  m.apply(Exec{}, to_device<Exec>(r), z);
  Kokkos::fence();
  return to_host(z);
}

/// Small levels by a team, whatever the space.
template <class T, class Exec>
void as_a_gpu(const krysol::LevelScheduledSolve<T, Exec>& m, const krysol::Vector<T, Exec>& r,
              const krysol::Vector<T, Exec>& z) {
  const auto launch = [&](const auto& row, const krysol::SweepStep& step) {
    if (step.wide) {
      krysol::launch_step(Exec{}, row, step, m.level_begin.data());
    } else {
      krysol::launch_small_levels(Exec{}, row, step, m.level_begin.data());
    }
  };
  const krysol::Vector<T, Exec> y("y", r.extent(0));
  for (std::size_t s = 0; s < m.steps.extent(0); ++s) {
    launch(krysol::sweep_row<true>(m, r.data(), y.data(), z.data()), m.steps(s));
  }
  for (std::size_t s = m.steps.extent(0); s-- > 0;) {
    launch(krysol::sweep_row<false>(m, r.data(), y.data(), z.data()), m.steps(s));
  }
  Kokkos::fence();
}

template <class C>
class Ic0 : public testing::Test {};
using Ic0Cases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Ic0, Ic0Cases, OnName);

TYPED_TEST(Ic0, EqualsItsDefinition) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& problem : {poisson1d(50), poisson2d(13, 9), poisson2d(8, 12, 0.01), poisson3d(6),
                              jump_coefficients2d(12, 1e3), random_spd(one_to(30), 3)}) {
    const auto t = as<FileScalar<T>>(problem);
    const auto r = random_vector<T>(static_cast<std::size_t>(t.rows), 1);
    const auto m = krysol::make_ic0<Exec>(to_csr(t).matrix);
    EXPECT_EQ(m.shift, 0);
    const auto z = applied(m, r);
    const auto want = oracle("ic0", dense(t))(widen(r));
    EXPECT_LE(norm(widen(z) - want), 2000 * std::numeric_limits<Real<T>>::epsilon() * norm(want));
  }
}

TYPED_TEST(Ic0, EqualsTheMatrixWhereThatHasNonzeros) {
  using T = typename TypeParam::Scalar;
  const auto a = to_csr(as<FileScalar<T>>(jump_coefficients2d(9, 100))).matrix;
  const auto structure = krysol::analyze_ic0(a);
  const auto f = krysol::factorize_ic0(structure, a);
  const auto n = static_cast<std::size_t>(a.rows);
  Dense<Wide<T>> l(n, n);  // (I + N) sqrt(D)
  for (std::size_t i = 0; i < n; ++i) {
    for (auto k = static_cast<std::size_t>(structure.row_ptr[i]);
         k < static_cast<std::size_t>(structure.row_ptr[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(structure.col_idx[k]);
      l(i, j) = widen(f.values.lower[k]) * widen(std::sqrt(f.values.diagonal[j]));
    }
    l(i, i) = widen(std::sqrt(f.values.diagonal[i]));
  }
  const auto want = dense(a);
  int differences = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Wide<T> product{};
      for (std::size_t k = 0; k <= std::min(i, j); ++k) product += l(i, k) * conjugate(l(j, k));
      const auto difference = static_cast<double>(std::abs(product - want(i, j)));
      const double size = 100 * std::numeric_limits<Real<T>>::epsilon();
      if (want(i, j) != Wide<T>(0)) {
        EXPECT_LE(difference, 100 * size) << i << ", " << j;
      } else {
        differences += difference > size ? 1 : 0;
      }
    }
  }
  EXPECT_GT(differences, 0) << "without fill some places must differ";
}

TYPED_TEST(Ic0, TakesOneIterationWhereThereIsNoFill) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& problem : {poisson1d(30), random_spd(one_to(20), 4)}) {
    NamedSolve<T, Exec> solver{as<FileScalar<T>>(problem),
                               random_vector<T>(static_cast<std::size_t>(problem.rows), 2), "ic0"};
    solver.stop.rtol = std::is_same_v<krysol::Real<T>, float> ? 1e-4 : 1e-10;
    const auto s = solver.run();
    EXPECT_EQ(s.result.status, Status::converged) << s.result.advice;
    EXPECT_EQ(s.result.iterations, 1);
  }
}

TYPED_TEST(Ic0, ShiftsTheDiagonalWhereAPivotIsNotPositive) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto t = as<FileScalar<T>>(expanded(kershaw()));
  const auto wide = dense(t);
  EXPECT_EQ(dense_ic0(wide).bad_row, 3);
  int attempts = 2;
  long double shift = krysol::smallest_ic0_shift;
  for (; dense_ic0(wide, shift).bad_row >= 0; shift *= 2) ++attempts;
  EXPECT_GT(attempts, 2);

  const auto a = to_csr(t).matrix;
  const auto m = krysol::make_ic0<Exec>(a);
  EXPECT_EQ(m.first_bad_row, 3);
  EXPECT_EQ(m.shift, static_cast<double>(shift));
  EXPECT_EQ(m.attempts, attempts);
  const auto r = random_vector<T>(4, 3);
  const auto want = solve_factor(dense_ic0(wide, shift).l, widen(r));
  EXPECT_LE(norm(widen(applied(m, r)) - want),
            200 * std::numeric_limits<Real<T>>::epsilon() * norm(want));

  const auto made = make_preconditioner<T, Exec>("ic0", a);
  EXPECT_EQ(made.used, "ic0");
  EXPECT_EQ(made.refusal, "");
  EXPECT_EQ(made.note,
            "ic0: row 4 has no positive pivot; A + 0.256 diag(A) is factorized instead, the shift "
            "that attempt 10 found");
}

/// A pivot is used as long as it is more than rounding: 16 eps of the diagonal.
TYPED_TEST(Ic0, UsesSmallPivotsThatAreNotRounding) {
  using T = typename TypeParam::Scalar;
  using R = Real<T>;
  const auto factor = [](R pivot) {
    auto t = no_entries<FileScalar<T>>(2, 2, krysol::Symmetry::symmetric);
    t.add(0, 0, 1);
    t.add(1, 1, 1);
    t.add(1, 0, std::sqrt(R(1) - pivot));
    return krysol::make_ic0<typename TypeParam::Space>(to_csr(t).matrix);
  };
  constexpr R eps = std::numeric_limits<R>::epsilon();
  EXPECT_EQ(factor(40 * eps).shift, 0);
  EXPECT_EQ(factor(1000 * eps).shift, 0);
  EXPECT_GT(factor(5 * eps).shift, 0);
  EXPECT_EQ(factor(5 * eps).first_bad_row, 1);
}

TYPED_TEST(Ic0, DoesNotMindTheScaleOfRows) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto t = as<FileScalar<T>>(jump_coefficients2d(10, 10));
  const auto r = random_vector<T>(100, 4);
  const auto plain = applied(krysol::make_ic0<Exec>(to_csr(t).matrix), r);
  const auto scale = [](std::size_t i) {
    return static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(i * 7 % 31) - 15));
  };
  std::vector<T> scaled_r;
  for (std::size_t i = 0; i < r.size(); ++i) scaled_r.push_back(scale(i) * r[i]);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    t.values[k] *= scale(static_cast<std::size_t>(t.row_idx[k])) *
                   scale(static_cast<std::size_t>(t.col_idx[k]));
  }
  const auto m = krysol::make_ic0<Exec>(to_csr(t).matrix);
  EXPECT_EQ(m.shift, 0);
  auto z = applied(m, scaled_r);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = scale(i) * z[i];
  EXPECT_EQ(z, plain) << "powers of two change no bit";
}

TYPED_TEST(Ic0, GivesTheSameBitsHoweverTheLevelsAreWorkedOn) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(wide_and_small_levels())).matrix;
  const auto rows = static_cast<std::size_t>(a.rows);
  auto m = krysol::make_ic0<Exec>(a);
  const auto r = to_device<Exec>(random_vector<T>(rows, 5));
  const auto z = to_device<Exec>(std::vector<T>(rows));
  m.apply(Exec{}, r, z);
  const auto first = to_host(z);
  for (int k = 0; k < 3; ++k) {
    m.apply(Exec{}, r, z);
    EXPECT_EQ(to_host(z), first);
  }
  for (const int threads : {0, 1, 64}) {
    if (threads == 1 && !krysol::on_host<Exec>) continue;  // a chain of rows is for one thread
    m.structure = std::make_shared<const krysol::Ic0Structure>(krysol::analyze_ic0(a, threads));
    m.sweeps = krysol::make_sweeps<T, Exec>(m.structure->sweeps);
    m.update(a);
    Kokkos::deep_copy(z, T(0));
    m.apply(Exec{}, r, z);
    EXPECT_EQ(to_host(z), first) << threads;
    if (threads == 1) continue;
    Kokkos::deep_copy(z, T(0));
    as_a_gpu(m.sweeps, r, z);
    EXPECT_EQ(to_host(z), first) << threads;
  }
  int wide = 0;  // of the last one
  for (std::size_t s = 0; s < m.sweeps.steps.extent(0); ++s) wide += m.sweeps.steps(s).wide ? 1 : 0;
  EXPECT_EQ(wide, 2);
  EXPECT_EQ(m.sweeps.steps.extent(0), 3U);
}

TYPED_TEST(Ic0, TakesRowsInAnyOrderAndWithDuplicates) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto sorted = to_csr(as<FileScalar<T>>(poisson2d(7, 6))).matrix;
  const auto rows = static_cast<std::size_t>(sorted.rows);
  std::vector<krysol::Offset> row_ptr = {0};
  std::vector<Index> col_idx;
  std::vector<T> values;
  for (std::size_t i = 0; i < rows; ++i) {  // each entry as two halves, columns descending
    for (auto k = static_cast<std::size_t>(sorted.row_ptr(i + 1));
         k-- > static_cast<std::size_t>(sorted.row_ptr(i));) {
      for (int half = 0; half < 2; ++half) {
        col_idx.push_back(sorted.col_idx(k));
        values.push_back(Real<T>(0.5) * sorted.values(k));
      }
    }
    row_ptr.push_back(static_cast<krysol::Offset>(values.size()));
  }
  HostCsr<T> a;
  a.rows = a.cols = sorted.rows;
  a.row_ptr = krysol::on_device<krysol::Host>("row_ptr", row_ptr);
  a.col_idx = krysol::on_device<krysol::Host>("col_idx", col_idx);
  a.values = krysol::on_device<krysol::Host>("values", values);
  const auto r = random_vector<T>(rows, 6);
  EXPECT_EQ(applied(krysol::make_ic0<Exec>(a), r), applied(krysol::make_ic0<Exec>(sorted), r));
}

TYPED_TEST(Ic0, GivesWayToJacobiAndNamesTheRow) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto refusal = [](const Triplets<FileScalar<T>>& t) {
    const auto a = to_csr(t).matrix;
    EXPECT_THROW(krysol::make_ic0<Exec>(a), krysol::PreconditionerRefusal);
    const auto made = make_preconditioner<T, Exec>("ic0", a);
    EXPECT_EQ(made.requested, "ic0");
    EXPECT_EQ(made.used, "jacobi");
    EXPECT_EQ(made.m->name(), "jacobi");
    EXPECT_EQ(made.note, made.refusal + "; jacobi is used instead");
    return made.refusal;
  };
  auto t = as<FileScalar<T>>(poisson1d(5));
  t.add(2, 2, -2);
  EXPECT_EQ(refusal(t), "ic0: row 3 has no diagonal entry, or 0");
  t.add(2, 2, -3);
  EXPECT_EQ(refusal(t), "ic0: row 3 has -3 on the diagonal");
  t.add(2, 2, std::numeric_limits<Real<T>>::infinity());
  EXPECT_EQ(refusal(t), "ic0: row 3 has inf on the diagonal");
  t = as<FileScalar<T>>(poisson1d(5));
  t.add(3, 2, -100);
  t.add(2, 3, -100);
  EXPECT_EQ(refusal(t), "ic0: row 4 has no positive pivot, with any shift up to 4");
  t.add(3, 2, std::numeric_limits<Real<T>>::quiet_NaN());
  EXPECT_EQ(refusal(t), "ic0: row 4 has no positive pivot, with any shift up to 4");
}

TEST(Levels, AreAsManyAsTheLongestChainOfRows) {
  const auto levels = [](const Triplets<double>& t) {
    return krysol::analyze_ic0(to_csr(t).matrix).sweeps.levels;
  };
  EXPECT_EQ(levels(poisson1d(40)).count(), 40);
  EXPECT_EQ(levels(poisson2d(9, 5)).count(), 9 + 5 - 1);
  EXPECT_EQ(levels(poisson3d(10)).count(), 3 * 9 + 1);
  auto diagonal = no_entries<double>(6, 6);
  for (Index i = 0; i < 6; ++i) diagonal.add(i, i, 1);
  EXPECT_EQ(levels(diagonal).count(), 1);
  EXPECT_EQ(levels(no_entries<double>(0, 0)).count(), 0);
  const auto grid = levels(poisson2d(3, 3));
  EXPECT_EQ(grid.order, (std::vector<Index>{0, 1, 3, 2, 4, 6, 5, 7, 8}));
  EXPECT_EQ(grid.begin, (std::vector<Index>{0, 1, 3, 6, 8, 9}));
}

TEST(Levels, AreGroupedIntoStepsThatCoverEachPlaceOnce) {
  const auto pattern = krysol::analyze_ic0(to_csr(wide_and_small_levels()).matrix).sweeps;
  for (const bool host : {true, false}) {
    Index level = 0;
    Index place = 0;
    for (const auto& step : pattern.steps(host)) {
      EXPECT_EQ(step.first_level, level);
      EXPECT_EQ(step.first, place);
      EXPECT_TRUE(!step.wide || step.last_level == step.first_level + 1);
      level = step.last_level;
      place = step.last;
      EXPECT_EQ(place, pattern.levels.begin[static_cast<std::size_t>(level)]);
    }
    EXPECT_EQ(level, pattern.levels.count());
    EXPECT_EQ(place, 20500);
    EXPECT_EQ(pattern.steps(host).size(), 3U);
  }
}

}  // namespace
