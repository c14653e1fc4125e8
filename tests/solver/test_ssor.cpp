// Symmetric over-relaxation by colours, against its formula.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krysol/solver/precond/ssor.hpp>
#include "preconditioner_oracles.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;

template <class C>
class Ssor : public testing::Test {};
using SsorCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(Ssor, SsorCases, OnName);

TYPED_TEST(Ssor, EqualsItsFormula) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& problem : {poisson1d(30), poisson2d(9, 7), poisson3d(4), biharmonic1d(20),
                              random_spd(one_to(20), 3)}) {
    const auto t = as<FileScalar<T>>(problem);
    const auto r = random_vector<T>(static_cast<std::size_t>(t.rows), 1);
    for (const double w : {1.0, 0.5, 1.6}) {
      const auto m = krysol::make_ssor<Exec>(to_csr(t).matrix, w);
      const auto z = to_device<Exec>(std::vector<T>(r.size()));
      m.apply(Exec{}, to_device<Exec>(r), z);
      Kokkos::fence();
      // M z = r, and its parts are no larger than the sum of absolute values says.
      const auto back = dense_ssor(dense(t), static_cast<long double>(w)) * widen(to_host(z));
      EXPECT_LE(norm(back - widen(r)),
                5000 * std::numeric_limits<Real<T>>::epsilon() * norm(widen(r)))
          << w << ", " << t.rows << " rows";
    }
  }
}

TEST(Colours, AreTwoForAGridAndNeverShared) {
  const auto colours = [](const Triplets<double>& t) {
    const auto s = krysol::analyze_ssor(to_csr(t).matrix);
    return s.colour.empty() ? 0 : 1 + *std::max_element(s.colour.begin(), s.colour.end());
  };
  EXPECT_EQ(colours(poisson1d(9)), 2);
  EXPECT_EQ(colours(poisson2d(8, 5)), 2);
  EXPECT_EQ(colours(poisson3d(5)), 2);
  EXPECT_EQ(colours(biharmonic1d(20)), 3);
  EXPECT_EQ(colours(no_entries<double>(4, 4)), 1);
  EXPECT_EQ(colours(no_entries<double>(0, 0)), 0);
  auto upper = random_sparse<double>(60, 60, 3, 8);  // couplings of one side count as well
  const auto s = krysol::analyze_ssor(to_csr(upper).matrix);
  for (std::size_t k = 0; k < upper.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(upper.row_idx[k]);
    const auto j = static_cast<std::size_t>(upper.col_idx[k]);
    EXPECT_TRUE(i == j || s.colour[i] != s.colour[j]) << i << ", " << j;
  }
}

TEST(Colours, AreThoseOfTheOracle) {
  const auto t = jump_coefficients2d(9, 10);
  const auto s = krysol::analyze_ssor(to_csr(t).matrix);
  const auto want = greedy_colours(dense(t));
  EXPECT_TRUE(std::equal(want.begin(), want.end(), s.colour.begin(), s.colour.end(),
                         [](std::size_t w, Index c) { return w == static_cast<std::size_t>(c); }));
}

TYPED_TEST(Ssor, RefusesWeightsOutsideZeroToTwo) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = to_csr(as<FileScalar<T>>(poisson1d(8))).matrix;
  EXPECT_EQ(message_of([&] { krysol::make_ssor<Exec>(a, 2); }),
            "ssor: a weight of 2; it must be between 0 and 2, by 1e-06 at least");
  EXPECT_EQ(message_of([&] { krysol::make_ssor<Exec>(a, 0); }),
            "ssor: a weight of 0; it must be between 0 and 2, by 1e-06 at least");
}

}  // namespace
