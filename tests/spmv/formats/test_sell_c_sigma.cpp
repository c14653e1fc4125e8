// Sliced ELL: which slices may read x as it lies, and places that only pad.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/sell_c_sigma.hpp>

#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Index;
using Sell = krysol::SellCSigma<double, krysol::Host>;

/// Row i holds the columns `cols_of(i)`, each with its own value.
template <class ColsOf>
krysol::HostCsr<double> matrix_of(Index rows, Index cols, const ColsOf& cols_of) {
  auto t = no_entries<double>(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (const Index j : cols_of(i)) t.add(i, j, 1 + i + 100.0 * j);
  }
  return krysol::to_csr(t).matrix;
}

Sell sell_of(const krysol::HostCsr<double>& host, Index sigma) {
  Sell a;
  a.sigma = sigma;
  from_csr(host, a);
  return a;
}

void expect_exact(const krysol::HostCsr<double>& host, const Sell& a, std::vector<double> x) {
  const krysol::Vector<double, krysol::Host> y("y", static_cast<std::size_t>(a.rows));
  apply(krysol::Host{}, 1, a, to_device<krysol::Host>(x), 0, y);
  for (Index i = 0; i < host.rows; ++i) {
    double exact = 0;
    for (auto k = host.row_ptr(static_cast<std::size_t>(i));
         k < host.row_ptr(static_cast<std::size_t>(i) + 1); ++k) {
      exact += host.values(static_cast<std::size_t>(k)) *
               x[static_cast<std::size_t>(host.col_idx(static_cast<std::size_t>(k)))];
    }
    ASSERT_EQ(y(static_cast<std::size_t>(i)), exact) << "row " << i;  // small whole numbers
  }
}

std::vector<double> whole_numbers(Index n) {
  std::vector<double> x;
  for (Index j = 0; j < n; ++j) x.push_back(j % 11 - 5);
  return x;
}

TEST(SellCSigma, KnowsTheSlicesWhoseRowsNameColumnsSideBySide) {
  // Slice 0: a diagonal; slice 1: the same column in all rows; slice 2: two diagonals and another
  // place where one row leaves the line; slice 3: one diagonal among columns of all rows; slice 4:
  // four rows alone.
  const auto host = matrix_of(36, 48, [](Index i) -> std::vector<Index> {
    if (i < 8) return {i};
    if (i < 16) return {3};
    if (i < 24) return {i, i + 9, i == 20 ? 47 : i + 18};
    if (i < 32) return {0, i, 47};
    return {i};
  });
  const Sell a = sell_of(host, 1);
  if (Sell::slice_rows != 8) GTEST_SKIP() << "slices of " << Sell::slice_rows << " rows";
  ASSERT_EQ(a.neighbours.extent(0), 5u);
  EXPECT_EQ(a.neighbours(0), 1);
  EXPECT_EQ(a.neighbours(1), 0);
  EXPECT_EQ(a.neighbours(2), 1);
  EXPECT_EQ(a.neighbours(3), 0);  // a third
  EXPECT_EQ(a.neighbours(4), 0);  // padded: not all eight
  expect_exact(host, a, whole_numbers(48));
}

TEST(SellCSigma, PaddingIsNeverMultiplied) {
  // Column 0 is named by no row; rows of 0 to 5 entries, so that most places pad somewhere.
  const auto host = matrix_of(61, 70, [](Index i) {
    std::vector<Index> cols;
    for (Index k = 0; k < (i * 7) % 6; ++k) cols.push_back(1 + (i * 5 + k * 11) % 69);
    return cols;
  });
  for (const Index sigma : {1, 16, 64}) {
    const Sell a = sell_of(host, sigma);
    auto x = whole_numbers(70);
    for (const double bad : {quiet_nan<double>(), infinity<double>()}) {
      x[0] = bad;
      expect_exact(host, a, x);
    }
  }
}

TEST(SellCSigma, SlicesOfTheLastColumnsReadNothingBeyond) {
  const auto host = matrix_of(8, 8, [](Index i) -> std::vector<Index> { return {i}; });
  expect_exact(host, sell_of(host, 1), whole_numbers(8));
}

}  // namespace
