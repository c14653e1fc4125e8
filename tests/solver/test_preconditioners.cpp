// Jacobi, block-Jacobi, and what holds of all preconditioners by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krysol/solver/cholesky/elimination.hpp>
#include <krysol/solver/precond/block_jacobi.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::make_preconditioner;
using krysol::Real;
using krysol::to_csr;

template <class T, class Exec>
std::vector<T> applied(const krysol::AnyPreconditioner<T, Exec>& m, const std::vector<T>& r) {
  const auto z = to_device<Exec>(std::vector<T>(r.size()));
  m.apply(Exec{}, to_device<Exec>(r), z);
  Kokkos::fence();
  return to_host(z);
}

template <class T, class Exec>
std::vector<T> applied(const std::string& name, const HostCsr<T>& a, const std::vector<T>& r) {
  return applied(*make_preconditioner<T, Exec>(name, a).m, r);
}

/// Blocks of `block` rows, each random and positive definite, and the last one shorter.
Triplets<double> block_diagonal(Index rows, Index block) {
  auto t = no_entries<double>(rows, rows);
  for (Index first = 0; first < rows; first += block) {
    const Index size = std::min(block, rows - first);
    const auto one = random_spd(one_to(size), static_cast<std::uint64_t>(first));
    for (std::size_t k = 0; k < one.values.size(); ++k) {
      t.add(first + one.row_idx[k], first + one.col_idx[k], one.values[k]);
    }
  }
  return t;
}

template <class C>
class Preconditioner : public testing::Test {};
using PreconditionerCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Preconditioner, PreconditionerCases, OnName);

TYPED_TEST(Preconditioner, NoneReturnsTheResidual) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson1d(100))).matrix;
  const auto r = random_vector<T>(100, 1);
  EXPECT_EQ((applied<T, Exec>("none", a, r)), r);
}

TYPED_TEST(Preconditioner, JacobiDividesByTheDiagonal) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto t = as<FileScalar<T>>(jump_coefficients2d(20, 1e3));
  const auto a = to_csr(t).matrix;
  const auto d = dense(t);
  const auto r = random_vector<T>(400, 2);
  const auto z = applied<T, Exec>("jacobi", a, r);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const auto want = widen(r[i]) / d(i, i);
    EXPECT_LE(std::abs(widen(z[i]) - want),
              4 * std::numeric_limits<Real<T>>::epsilon() * std::abs(want));
  }
}

TYPED_TEST(Preconditioner, JacobiPassesOverRowsWithoutAUsableDiagonal) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto t = no_entries<FileScalar<T>>(5, 5);
  t.add(0, 0, 4);
  t.add(1, 1, 0);
  t.add(2, 2, std::numeric_limits<Real<T>>::infinity());
  t.add(3, 3, std::numeric_limits<Real<T>>::quiet_NaN());  // row 4 has none
  EXPECT_EQ((applied<T, Exec>("jacobi", to_csr(t).matrix, std::vector<T>(5, T(8)))),
            (std::vector<T>{T(2), T(8), T(8), T(8), T(8)}));
  EXPECT_EQ((make_preconditioner<T, Exec>("jacobi", to_csr(t).matrix).note),
            "jacobi: 4 diagonal entries are missing, zero or not finite, the first at row 2; 1 is "
            "used instead");
}

TYPED_TEST(Preconditioner, BlockJacobiSolvesItsBlocks) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const Index block : {1, 2, 3, 4, 7, 64}) {
    for (const Index rows : {1, 5, 64, 130}) {
      const auto t = as<FileScalar<T>>(block_diagonal(rows, block));
      const auto a = to_csr(t).matrix;
      const auto r = random_vector<T>(static_cast<std::size_t>(rows), 3);
      auto made = make_preconditioner<T, Exec>("block-jacobi:" + std::to_string(block), a);
      EXPECT_EQ(made.note, "");
      const auto z = applied(*made.m, r);
      const auto back = dense(t) * widen(z);  // A is its blocks, so A z = r
      for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_LE(std::abs(back[i] - widen(r[i])), static_cast<Real<T>>(50 * block * block) *
                                                       std::numeric_limits<Real<T>>::epsilon())
            << block << " of " << rows << ", row " << i;
      }
    }
  }
}

TYPED_TEST(Preconditioner, BlocksOfOneRowEqualJacobi) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(jump_coefficients2d(20, 1e3))).matrix;
  const auto r = random_vector<T>(400, 4);
  const auto z = applied<T, Exec>("jacobi", a, r);
  const auto blocks = applied<T, Exec>("block-jacobi:1", a, r);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_LE(std::abs(widen(z[i]) - widen(blocks[i])),
              8 * std::numeric_limits<Real<T>>::epsilon() * std::abs(widen(z[i])));
  }
}

TYPED_TEST(Preconditioner, BlockJacobiIsSymmetricToTheBit) {
  using T = typename TypeParam::Scalar;
  const auto a = to_csr(as<FileScalar<T>>(block_diagonal(23, 5))).matrix;
  const auto made = krysol::invert_diagonal_blocks(a, 5);
  for (std::size_t i = 0; i < 23; ++i) {
    for (std::size_t j = i / 5 * 5; j < std::min<std::size_t>(23, i / 5 * 5 + 5); ++j) {
      EXPECT_EQ(made.inverse[(j % 5) * 23 + i], krysol::conjugate(made.inverse[(i % 5) * 23 + j]));
    }
  }
}

TYPED_TEST(Preconditioner, BlockJacobiTakesTheDiagonalOfABlockThatIsNotPositiveDefinite) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto t = no_entries<FileScalar<T>>(6, 6);
  for (Index i = 0; i < 6; ++i) t.add(i, i, 2);
  t.add(2, 3, 5);  // eigenvalues -3 and 7
  t.add(3, 2, 5);
  const auto a = to_csr(t).matrix;
  const auto made = make_preconditioner<T, Exec>("block-jacobi:2", a);
  EXPECT_EQ(
      made.note,
      "block-jacobi: 1 block(s) are not positive definite, the first at row 3; their diagonal "
      "is used instead");
  const auto z = applied(*made.m, std::vector<T>(6, T(1)));
  for (const T& zi : z) {
    EXPECT_LE(std::abs(widen(zi) - Wide<T>(0.5L)), 4 * std::numeric_limits<Real<T>>::epsilon());
  }
  const auto counted = krysol::make_block_jacobi<Exec>(a, 2);
  EXPECT_EQ(counted.fallback_blocks, 1);
  EXPECT_EQ(counted.first_fallback, 2);
}

TYPED_TEST(Preconditioner, AnswersAnUnknownNameOrNumberWithTheTable) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  std::string known;
  for (const auto& m : krysol::list_preconditioners()) known += " " + std::string(m.name);
  EXPECT_EQ(known, " none jacobi block-jacobi ic0 ic fsai ssor chebyshev schwarz amg cholesky");
  const auto a = to_csr(as<FileScalar<T>>(poisson1d(8))).matrix;
  for (const std::string name :
       {"jakobi", "", "Jacobi", "jacobi:3", "jacobi:", "none:1", "ic0:1"}) {
    EXPECT_EQ(message_of([&] { make_preconditioner<T, Exec>(name, a); }),
              "unknown preconditioner '" + name + "'; known:" + known);
  }
  for (const std::string name :
       {"block-jacobi:0", "block-jacobi:-2", "block-jacobi:", "block-jacobi:2x", "block-jacobi: 2",
        "block-jacobi:99999999999"}) {
    EXPECT_EQ(
        message_of([&] { make_preconditioner<T, Exec>(name, a); }),
        "preconditioner '" + name + "': expected a whole number from 1 on after 'block-jacobi:'");
  }
  for (const std::string name : {"ssor:1e-300", "ssor:1.9999999"}) {
    EXPECT_TRUE(message_of([&] {
                  make_preconditioner<T, Exec>(name, a);
                }).starts_with("ssor: a weight of "))
        << name;
  }
  for (const std::string name : {"ssor:0", "ssor:2", "ssor:-1", "ssor:", "ssor:1x", "ssor:nan"}) {
    EXPECT_EQ(message_of([&] { make_preconditioner<T, Exec>(name, a); }),
              "preconditioner '" + name + "': expected a number above 0 and below 2 after 'ssor:'");
  }
  EXPECT_EQ(message_of([&] { make_preconditioner<T, Exec>("block-jacobi:65", a); }),
            "block-jacobi: a block of 65 rows; 1 to 64 can be inverted");
}

const std::vector<std::string> all_kinds = {
    "none",
    "jacobi",
    "block-jacobi:3",
    "ic0",
    "ic",
    "ic:3",
    "fsai",
    "ssor",
    "ssor:1.3",
    "schwarz:12",
    "schwarz:9,overlap=2,local=ic0",
    "amg:precision=double",
    "amg:coarsest=4,precision=double",
    "amg:coarsest=4,precision=double,cycle=w,degree=1",
    "amg:coarsest=4,precision=double,smoother=l1-jacobi",
    "amg:coarsest=4,precision=double,smoother=spai0",
    "amg:coarsest=4,precision=double,smoother=gauss-seidel",
    "amg:coarsest=4,precision=double,smoother=block,block=3",
    "amg:coarsest=4,precision=double,smoother=line"};

TYPED_TEST(Preconditioner, IsSymmetricAndPositiveDefinite) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(jump_coefficients2d(6, 100))).matrix;
  for (const auto& name : all_kinds) {
    const auto m = make_preconditioner<T, Exec>(name, a).m;
    std::vector<std::vector<Wide<T>>> columns;  // of M^-1
    for (std::size_t j = 0; j < 36; ++j) {
      std::vector<T> unit(36, T(0));
      unit[j] = T(1);
      columns.push_back(widen(applied(*m, unit)));
    }
    for (std::size_t i = 0; i < 36; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_LE(std::abs(columns[i][j] - conjugate(columns[j][i])),
                  50 * std::numeric_limits<Real<T>>::epsilon() *
                      std::sqrt(std::real(columns[i][i]) * std::real(columns[j][j])))
            << name << ' ' << i << ' ' << j;
      }
    }
    Dense<Wide<T>> inverse(36, 36);
    for (std::size_t i = 0; i < 36; ++i) {
      for (std::size_t j = 0; j < 36; ++j) inverse(i, j) = columns[j][i];
    }
    const auto l = cholesky(inverse);  // NaN where it is not positive definite
    for (std::size_t i = 0; i < 36; ++i) EXPECT_GT(std::real(l(i, i)), 0) << name;
  }
}

TYPED_TEST(Preconditioner, UpdatedForOtherValuesEqualsOneMadeForThem) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto before = to_csr(as<FileScalar<T>>(jump_coefficients2d(12, 10))).matrix;
  auto t = jump_coefficients2d(12, 10);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    t.values[k] *= t.row_idx[k] == t.col_idx[k] ? 1.75 : 1.25;
  }
  const auto after = to_csr(as<FileScalar<T>>(t)).matrix;
  const auto r = random_vector<T>(144, 5);
  for (const auto& name : all_kinds) {
    auto made = make_preconditioner<T, Exec>(name, before);
    const auto* same = made.m.get();
    const auto old = applied(*made.m, r);
    update_preconditioner(made, after);
    EXPECT_EQ(made.m.get(), same) << name << " was made anew";
    EXPECT_EQ(made.used, name);
    EXPECT_EQ(applied(*made.m, r), (applied<T, Exec>(name, after, r))) << name;
    EXPECT_EQ(applied(*made.m, r) == old, name == "none") << name;
  }
}

TYPED_TEST(Preconditioner, NamesTheRowWhereAnUpdateHasAnotherPattern) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson2d(4, 3))).matrix;
  auto t = poisson2d(4, 3);
  t.add(7, 5, -1);
  t.add(5, 7, -1);
  const auto denser = to_csr(as<FileScalar<T>>(t)).matrix;
  const auto smaller = to_csr(as<FileScalar<T>>(poisson2d(4, 2))).matrix;
  const auto r = random_vector<T>(12, 6);
  for (const std::string name : {"ic0", "ic", "ssor", "cholesky"}) {
    auto made = make_preconditioner<T, Exec>(name, a);
    const auto before = applied(*made.m, r);
    const std::string row = name.starts_with("ic") ? "8" : "6";  // 6 and 8 share a colour
    EXPECT_EQ(
        message_of([&] { update_preconditioner(made, denser); }),
        name + ": row " + row + " has nonzeros at other places than when the matrix was analysed");
    EXPECT_EQ(message_of([&] { update_preconditioner(made, smaller); }),
              name + ": a matrix of 8 rows where one of 12 was " +
                  (name == "cholesky" ? "set up" : "analysed"));
    EXPECT_EQ(applied(*made.m, r), before) << "it must be left as it was";
  }
  for (const std::string name : {"jacobi", "block-jacobi", "fsai", "schwarz", "amg"}) {
    auto made = make_preconditioner<T, Exec>(name, a);
    EXPECT_EQ(message_of([&] { update_preconditioner(made, smaller); }),
              name + ": a matrix of 8 rows where one of 12 was set up");
  }
}

TYPED_TEST(Preconditioner, GivesWayAndComesBackAsTheValuesChange) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto good = to_csr(as<FileScalar<T>>(poisson2d(4, 3))).matrix;
  auto t = as<FileScalar<T>>(poisson2d(4, 3));
  t.add(6, 6, -5);
  const auto bad = to_csr(t).matrix;
  const auto r = random_vector<T>(12, 7);
  for (const std::string name : {"ic0", "ic", "fsai", "ssor", "schwarz", "amg", "cholesky"}) {
    auto made = make_preconditioner<T, Exec>(name, good);
    EXPECT_EQ(made.note, "");
    update_preconditioner(made, bad);
    EXPECT_EQ(made.used, "jacobi");
    EXPECT_EQ(made.note, (name == "schwarz"
                              ? "schwarz: the matrix of the part of row 7 is not positive definite "
                                "there"
                              : name + ": row 7 has -1 on the diagonal") +
                             std::string("; jacobi is used instead"));
    EXPECT_EQ(applied(*made.m, r), (applied<T, Exec>("jacobi", bad, r)));
    update_preconditioner(made, good);
    EXPECT_EQ(made.used, name);
    EXPECT_EQ(made.note, "");
    EXPECT_EQ(applied(*made.m, r), (applied<T, Exec>(name, good, r)));
  }
}

TYPED_TEST(Preconditioner, SaysWhatItIs) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson1d(8))).matrix;
  for (const auto& info : krysol::list_preconditioners()) {
    const auto made = make_preconditioner<T, Exec>(info.name, a);
    EXPECT_EQ(made.m->name(), info.name);
    EXPECT_FALSE(info.good_for.empty());
  }
  EXPECT_TRUE((make_preconditioner<T, Exec>("jacobi", a).m->is_diagonal()));
  EXPECT_TRUE((make_preconditioner<T, Exec>("none", a).m->is_diagonal()));
  EXPECT_FALSE((make_preconditioner<T, Exec>("block-jacobi", a).m->is_diagonal()));
}

/// What each reads and writes, with r and z.
TYPED_TEST(Preconditioner, CountsItsBytes) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson2d(9, 8))).matrix;
  const auto bytes = [&](const char* name) {
    return make_preconditioner<T, Exec>(name, a).m->bytes();
  };
  constexpr double n = 72;
  constexpr double below = 127;  // entries below the diagonal
  constexpr double t = sizeof(T);
  constexpr double real = sizeof(Real<T>);
  EXPECT_EQ(bytes("none"), 0);
  EXPECT_EQ(bytes("jacobi"), n * (2 * t + real));
  // r, z, a pivot, two passes over a vector between; row pointers and places twice; entries twice.
  const double of_sweeps = n * (7 * t + real + 2 * 8 + 2 * 4) + 2 * below * (t + 4);
  EXPECT_EQ(bytes("ic0"), of_sweeps);
  EXPECT_EQ(bytes("ssor"), of_sweeps);
  EXPECT_EQ(bytes("block-jacobi:4"), n * (4 * t + 3 * t));
  // The inverse of the only level, in double, and what becomes of r and z on their way to it.
  const double in_double = krysol::is_complex<T> ? 16 : 8;
  EXPECT_EQ(bytes("amg"), n * n * in_double + n * (3 * t + 4 * in_double / 2));
  const auto l =
      krysol::sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, 1e9);
  EXPECT_EQ(bytes("cholesky"), 2 * in_double * l->entries() + n * (2 * t + 4 * in_double + 16));
}

TYPED_TEST(Preconditioner, TakesAMatrixWithoutRows) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(no_entries<FileScalar<T>>(0, 0)).matrix;
  for (const auto& info : krysol::list_preconditioners()) {
    EXPECT_TRUE((applied<T, Exec>(std::string(info.name), a, std::vector<T>{})).empty());
  }
}

}  // namespace
