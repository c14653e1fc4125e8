// What loops over the rows of csr ask memory for before they need it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/matrix/reduced_precision.hpp>
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::to_csr;
using DeviceComplex = Kokkos::complex<double>;

/// Sums of rows [first, last) by a host's loop that asks memory for so much ahead.
template <krysol::Ahead ahead, class T, bool few = false, class Product>
std::vector<T> sums_of_rows(const Product& product, Index first, Index last) {
  std::vector<T> sums(static_cast<std::size_t>(last - first));
  product.template add_rows<ahead, few>(first, last - first, sums.data());
  return sums;
}

/// Rows of 0 to `most` entries in columns all over; `few`: at most eight in the mean.
template <class T>
void ask_ahead(Index most, bool few) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  constexpr Index n = 600;
  auto t = no_entries<FileScalar<T>>(n, n);
  const auto random = random_vector<FileScalar<T>>(static_cast<std::size_t>(n) * 41, 17);
  std::size_t k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i % (most + 1); ++j) t.add(i, (i + 13 * j) % n, random[k++]);
  }
  krysol::Csr<T, Exec> a;
  from_csr(to_csr(t).matrix, a);
  EXPECT_FALSE(a.scattered) << "all of it stays in the caches";
  a.scattered = true;
  const auto x = to_device<Exec>(random_vector<T>(n, 18));
  const auto product = row_product(a, krysol::ConstVector<T, Exec>(x));
  EXPECT_EQ(product.few_a_row, few);
  // The last rows for which there are entries of x to ask for.
  Index last = n;
  while (!product.may_ask_for_x(a.row_ptr(last))) --last;
  EXPECT_LT(last, n);
  EXPECT_GT(last, n / 2);
  const auto want = sums_of_rows<krysol::Ahead::nothing, T>(product, 0, last);
  EXPECT_TRUE((sums_of_rows<krysol::Ahead::matrix, T>(product, 0, last)) == want);
  EXPECT_TRUE((sums_of_rows<krysol::Ahead::matrix_and_x, T>(product, 0, last)) == want);
  EXPECT_TRUE((sums_of_rows<krysol::Ahead::nothing, T, true>(product, 0, last)) == want);
  EXPECT_TRUE((sums_of_rows<krysol::Ahead::matrix, T, true>(product, 0, last)) == want);
  EXPECT_TRUE((sums_of_rows<krysol::Ahead::matrix_and_x, T, true>(product, 0, last)) == want);
  a.scattered = false;
  EXPECT_FALSE(row_product(a, krysol::ConstVector<T, Exec>(x)).may_ask_for_x(0));
}

TEST(Csr, AsksMemoryAheadWithoutChangingASum) {
  ask_ahead<double>(40, false);
  ask_ahead<double>(7, true);
  ask_ahead<DeviceComplex>(40, false);
  ask_ahead<DeviceComplex>(7, true);
}

/// Sums of rows [first, last) in lanes, by one instruction for several entries of x or by loads.
template <krysol::Ahead ahead, bool instruction, int n, class T, class Product>
std::vector<T> sums_in_lanes(const Product& product, Index first, Index last) {
  std::vector<T> sums(static_cast<std::size_t>(last - first));
  product.template add_rows_in_lanes<ahead, instruction, n>(first, last - first, sums.data());
  return sums;
}

/// Rows of 0 to 40 entries, whose columns x has numbers for, and infinity elsewhere.
template <class S, class T, int n>
void compare_in_lanes(double rounding) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  constexpr Index rows = 431;
  auto t = no_entries<double>(rows, 3 * rows);
  const auto random = random_vector<double>(std::size_t{rows} * 41, 19);
  std::vector<double> want(rows, 0);
  std::vector<double> size(rows, 0);
  auto x = random_vector<double>(3 * rows, 20);
  std::size_t k = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 17 * i % 41; ++j, ++k) {
      const Index column = 3 * ((i + 13 * j) % rows);
      const double product =
          static_cast<double>(static_cast<S>(random[k])) *
          static_cast<double>(static_cast<T>(x[static_cast<std::size_t>(column)]));
      t.add(i, column, random[k]);
      want[static_cast<std::size_t>(i)] += product;
      size[static_cast<std::size_t>(i)] += std::abs(product);
    }
  }
  std::vector<T> of_lanes(x.begin(), x.end());
  for (std::size_t c = 0; c < of_lanes.size(); ++c) {
    if (c % 3 != 0) of_lanes[c] = std::numeric_limits<T>::infinity();
  }
  krysol::Csr<S, Exec> a;
  const auto host = to_csr(t).matrix;
  if constexpr (std::is_same_v<S, double>) {
    from_csr(host, a);
  } else {
    from_csr(krysol::reduced_precision(host), a);
  }
  EXPECT_TRUE(a.uneven);
  a.scattered = true;
  const auto device_x = to_device<Exec>(of_lanes);
  const auto product = row_product(a, krysol::ConstVector<T, Exec>(device_x));
  const auto sums = sums_in_lanes<krysol::Ahead::nothing, true, n, T>(product, 0, rows);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_LE(std::abs(sums[i] - want[i]), rounding * 44 * size[i]) << i;
  }
  EXPECT_EQ((sums_in_lanes<krysol::Ahead::nothing, false, n, T>(product, 0, rows)), sums);
  EXPECT_EQ((sums_in_lanes<krysol::Ahead::matrix, true, n, T>(product, 0, rows)), sums);
  EXPECT_EQ((sums_in_lanes<krysol::Ahead::matrix, false, n, T>(product, 0, rows)), sums);
  // Several rows together, or each by itself.
  for (Index i = 0; i < rows; ++i) {
    EXPECT_EQ((sums_in_lanes<krysol::Ahead::nothing, true, n, T>(product, i, i + 1))[0],
              sums[static_cast<std::size_t>(i)])
        << i;
  }
}

/// In builds that have it, few: of the fewer lanes.
template <class S, class T, bool few>
void sum_in_lanes() {
  if constexpr (krysol::has_row_lanes<S, T>) {
    compare_in_lanes<S, T, krysol::lanes_of_rows<T, few>>(
        static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEST(Csr, SumsRowsInLanes) {
  if (!krysol::has_row_lanes<double, double>) {
    GTEST_SKIP() << "this processor, or this build, loads each entry of x by itself";
  }
  sum_in_lanes<double, double, false>();
  sum_in_lanes<double, double, true>();
  sum_in_lanes<float, double, false>();
  sum_in_lanes<float, double, true>();
  sum_in_lanes<float, float, true>();
}

/// Where there are no columns there is no x either.
TEST(Csr, ReadsNothingOfAnEmptyX) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  constexpr Index n = 20;
  krysol::Csr<double, Exec> a;
  ASSERT_TRUE(set_variant(a, "lanes"));  // all rows in eight chains
  from_csr(to_csr(no_entries<double>(n, 0)).matrix, a);
  const auto product = row_product(a, krysol::ConstVector<double, Exec>(nullptr, 0));
  ASSERT_TRUE(product.use_lanes);
  const auto sums = sums_of_rows<krysol::Ahead::nothing, double>(product, 0, n);
  EXPECT_EQ(sums, std::vector<double>(n, 0));
}

/// What is left of a row after eights is summed in a register with the begin of the next row.
TEST(Csr, KeepsNumbersOfTheNextRowOutOfASum) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  constexpr Index n = 64;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto t = no_entries<double>(n, n);
  std::vector<double> want;
  for (Index i = 0; i < n; i += 2) {
    const Index length = 24 + i / 2 % 8;
    for (Index j = 0; j < length; ++j) t.add(i, j, 1);
    want.push_back(length);
    if (i + 1 < n - 1) {
      t.add(i + 1, 60, i % 4 == 0 ? 1 : nan);
      want.push_back(i % 4 == 0 ? inf : nan);
    }
  }
  want.push_back(0);  // so that the last row with entries ends where the arrays do
  krysol::Csr<double, Exec> a;
  from_csr(to_csr(t).matrix, a);
  std::vector<double> ones(n, 1);
  ones[60] = inf;
  const auto x = to_device<Exec>(ones);
  const auto sums = sums_of_rows<krysol::Ahead::nothing, double>(
      row_product(a, krysol::ConstVector<double, Exec>(x)), 0, n);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(sums[i])) << i;
    } else {
      EXPECT_EQ(sums[i], want[i]) << i;
    }
  }
}

}  // namespace
