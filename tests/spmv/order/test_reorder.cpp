// Orders of rows: what they do to a matrix, and that they are orders at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <krysol/spmv/order/partition.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include "messages.hpp"
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Offset;
using krysol::Permutation;

Permutation rcm(const HostCsr<double>& a) {
  return krysol::reverse_cuthill_mckee(a.row_ptr.data(), a.col_idx.data(), a.rows);
}

Index bandwidth(const HostCsr<double>& a) {
  Index most = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      most = std::max(most, std::abs(a.col_idx(static_cast<std::size_t>(k)) - i));
    }
  }
  return most;
}

Permutation shuffled(Index n, unsigned seed) {
  Permutation order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  for (Index i = n; i > 1; --i) {
    std::swap(order[static_cast<std::size_t>(i - 1)],
              order[static_cast<std::size_t>(random.below(i))]);
  }
  return order;
}

void expect_order(const Permutation& order, Index rows) {
  Permutation sorted = order;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) ASSERT_EQ(sorted[static_cast<std::size_t>(i)], i);
}

TEST(Reorder, FindsTheBandOfAMatrixThatWasShuffled) {
  struct Grid {
    HostCsr<double> matrix;
    Index width;  // of its narrowest level: no order has a smaller bandwidth by much
  };
  const Grid grids[] = {{krysol::to_csr(poisson1d(500)).matrix, 1},
                        {krysol::to_csr(poisson2d(12, 80)).matrix, 12},
                        {krysol::to_csr(poisson2d(40, 40)).matrix, 40}};
  for (const auto& [a, width] : grids) {
    const auto mixed = krysol::reordered(a, shuffled(a.rows, 3));
    ASSERT_GT(bandwidth(mixed), a.rows / 2);
    const Permutation order = rcm(mixed);
    expect_order(order, a.rows);
    const auto found = krysol::reordered(mixed, order);
    EXPECT_LE(bandwidth(found), width + 1);
    EXPECT_LT(krysol::mean_bandwidth(found.row_ptr.data(), found.col_idx.data(), found.rows),
              width + 1);
  }
}

TEST(Reorder, IsAnOrderForEveryPattern) {
  auto hub = no_entries<double>(50, 50);  // and rows that nobody names
  for (Index i = 0; i < 40; ++i) {
    hub.add(7, i, 1);
    hub.add(i, 7, 1);
  }
  auto one_way = no_entries<double>(60, 60);  // the way back does not exist
  for (Index i = 0; i + 1 < 60; i += 2) one_way.add(i + 1, i, 1);
  for (Index i = 0; i + 7 < 60; i += 3) one_way.add(i, i + 7, 1);
  const Triplets<double> patterns[] = {no_entries<double>(0, 0), no_entries<double>(9, 9), hub,
                                       one_way, random_sparse<double>(300, 300, 3, 8)};
  for (const auto& t : patterns) {
    const auto a = krysol::to_csr(t).matrix;
    expect_order(rcm(a), a.rows);
  }
}

TEST(Reorder, MovesRowsAndColumnsAlike) {
  const auto t = random_sparse<double>(80, 80, 5, 4);
  const auto a = krysol::to_csr(t).matrix;
  const Permutation order = shuffled(80, 9);
  const auto moved = krysol::reordered(a, order);
  krysol::check(moved);
  ASSERT_EQ(moved.nnz(), a.nnz());
  const auto dense = [](const HostCsr<double>& m) {
    std::vector<double> d(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.cols));
    for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows); ++i) {
      for (auto k = static_cast<std::size_t>(m.row_ptr(i));
           k < static_cast<std::size_t>(m.row_ptr(i + 1)); ++k) {
        if (k > static_cast<std::size_t>(m.row_ptr(i))) {
          EXPECT_LT(m.col_idx(k - 1), m.col_idx(k));
        }
        d[i * static_cast<std::size_t>(m.cols) + static_cast<std::size_t>(m.col_idx(k))] =
            m.values(k);
      }
    }
    return d;
  };
  const auto before = dense(a);
  const auto after = dense(moved);
  for (std::size_t i = 0; i < 80; ++i) {
    for (std::size_t j = 0; j < 80; ++j) {
      EXPECT_EQ(
          after[i * 80 + j],
          before[static_cast<std::size_t>(order[i]) * 80 + static_cast<std::size_t>(order[j])]);
    }
  }
  std::vector<double> v(80);
  std::iota(v.begin(), v.end(), 0.0);
  EXPECT_EQ(krysol::inverse_permute(order, krysol::permute(order, v)), v);
  EXPECT_EQ(krysol::permute(order, v)[3], order[3]);
}

TEST(Reorder, SaysWhatItChoseAndWhy) {
  const auto mixed = krysol::reordered(krysol::to_csr(poisson2d(40, 40)).matrix, shuffled(1600, 3));
  krysol::OrderChoice choice;
  EXPECT_EQ(krysol::reorder("none", mixed, 200, choice).values.data(), mixed.values.data());
  EXPECT_EQ(choice.name, "none");
  krysol::reorder("rcm", mixed, 200, choice);
  EXPECT_EQ(choice.name, "rcm");
  EXPECT_LT(choice.bandwidth_after, 45);
  EXPECT_GT(choice.bandwidth_before, 300);
  EXPECT_EQ(choice.order.size(), 1600U);
  krysol::reorder("auto", mixed, 200, choice);
  EXPECT_EQ(choice.name, "none");
  EXPECT_TRUE(choice.order.empty());
  EXPECT_FALSE(choice.reason.empty());
}

TEST(Reorder, PaysWhereWaitingForXTakesLongerThanFindingAnOrder) {
  // 1 M entries: 50 ms. A multiplication waits 1 ms.
  EXPECT_NEAR(krysol::order_budget(3e-3, 2e-3, 100, 1000000).cost, 0.05, 1e-15);
  EXPECT_NEAR(krysol::order_budget(3e-3, 2e-3, 100, 1000000).saved, 0.1, 1e-15);
  EXPECT_TRUE(krysol::order_budget(3e-3, 2e-3, 51, 1000000).pays());
  EXPECT_FALSE(krysol::order_budget(3e-3, 2e-3, 49, 1000000).pays());
  EXPECT_FALSE(krysol::order_budget(3e-3, 2e-3, 51, 2000000).pays());
  const auto noise = krysol::order_budget(2e-3, 3e-3, 1e9, 1000000);
  EXPECT_EQ(noise.saved, 0) << "x is free: there is nothing to save, and nothing to lose";
  EXPECT_FALSE(noise.pays());
  EXPECT_TRUE(krysol::is_worth_keeping(1.06));
  EXPECT_FALSE(krysol::is_worth_keeping(1.04));
  EXPECT_FALSE(krysol::is_worth_keeping(0.5));
}

/// A clock that says what it is told: multiplications take `before`, then `after`.
struct ToldTimes {
  double before = 0;
  double after = 0;
  double reading = 0;
  int products_timed = 0;

  krysol::OrderClock<double> clock() {
    return {[this](const HostCsr<double>&) { return products_timed++ == 0 ? before : after; },
            [this](const HostCsr<double>&) { return reading; }};
  }
};

/// Entries far enough from the diagonal for auto to ask for times.
HostCsr<double> far_apart() {
  const auto a = krysol::reordered(krysol::to_csr(poisson1d(50000)).matrix, shuffled(50000, 5));
  EXPECT_GT(krysol::mean_bandwidth(a.row_ptr.data(), a.col_idx.data(), a.rows), 10000);
  return a;
}

TEST(Reorder, AutoTakesAnOrderThatPays) {
  const auto a = far_apart();
  ToldTimes times{1e-3, 0.5e-3, 0.4e-3};  // 0.6 ms to save; an order takes 7.5 ms
  krysol::OrderChoice choice;
  const auto moved = krysol::reorder("auto", a, 13, choice, times.clock());
  EXPECT_EQ(choice.name, "rcm");
  EXPECT_EQ(times.products_timed, 2);
  EXPECT_EQ(choice.order, rcm(a));
  EXPECT_DOUBLE_EQ(choice.speed_up, 2);
  EXPECT_LT(choice.bandwidth_after, 1);
  EXPECT_GT(choice.seconds, 0);
  EXPECT_TRUE(holds(choice.reason, "; csr multiplies 2.00 times as fast")) << choice.reason;
  const auto expected = krysol::reordered(a, choice.order);
  ASSERT_EQ(moved.nnz(), a.nnz());
  for (std::size_t k = 0; k < moved.values.extent(0); ++k) {
    ASSERT_EQ(moved.col_idx(k), expected.col_idx(k));
    ASSERT_EQ(moved.values(k), expected.values(k));
  }
}

TEST(Reorder, AutoLooksForNoOrderThatCannotPay) {
  const auto a = far_apart();
  ToldTimes times{1e-3, 0.5e-3, 0.4e-3};
  krysol::OrderChoice choice;
  const auto same = krysol::reorder("auto", a, 12, choice, times.clock());
  EXPECT_EQ(choice.name, "none");
  EXPECT_EQ(times.products_timed, 1);
  EXPECT_EQ(choice.seconds, 0) << "no order was looked for";
  EXPECT_TRUE(choice.order.empty());
  EXPECT_EQ(same.values.data(), a.values.data());
  EXPECT_EQ(choice.reason,
            "12 multiplications wait 0.0072 s for x, an order takes about 0.0075 s to find");
}

/// A grid whose lines are long: neighbours stand far apart, and are read line by line.
TEST(Reorder, AutoLooksForNoOrderWhereXIsAtHand) {
  const auto a = krysol::to_csr(poisson2d(30000, 6)).matrix;
  ToldTimes times{1, 0.1, 0.1};  // of a machine that was slow for a moment
  krysol::OrderChoice choice;
  const auto same = krysol::reorder("auto", a, 1000, choice, times.clock());
  EXPECT_EQ(choice.name, "none");
  EXPECT_GT(choice.bandwidth_before, 8192);
  EXPECT_EQ(times.products_timed, 0);
  EXPECT_EQ(same.values.data(), a.values.data());
  EXPECT_TRUE(holds(choice.reason, " % of the reads of x are of lines that are not at hand"))
      << choice.reason;
}

TEST(Reorder, AutoDropsAnOrderThatBringsLittle) {
  const auto a = far_apart();
  ToldTimes times{1e-3, 0.97e-3, 0.4e-3};
  krysol::OrderChoice choice;
  const auto same = krysol::reorder("auto", a, 1000, choice, times.clock());
  EXPECT_EQ(choice.name, "none");
  EXPECT_EQ(times.products_timed, 2);
  EXPECT_TRUE(choice.order.empty());
  EXPECT_EQ(choice.bandwidth_after, choice.bandwidth_before);
  EXPECT_GT(choice.seconds, 0);
  EXPECT_EQ(same.values.data(), a.values.data());
  EXPECT_EQ(choice.reason, "rcm makes a multiplication 1.03 times as fast only");
}

TEST(Reorder, AutoMeasuresByTheClockOfThisMachine) {
  const auto a = far_apart();
  const auto clock = krysol::measuring_clock<double>();
  EXPECT_GT(clock.product(a), 0);
  EXPECT_GT(clock.reading(a), 0);
  krysol::OrderChoice choice;
  krysol::reorder("auto", a, 0, choice);
  EXPECT_EQ(choice.name, "none") << "nothing to multiply, nothing to save";
  EXPECT_FALSE(choice.reason.empty());
}

TEST(Reorder, RefusesWhatIsNoOrder) {
  const auto a = krysol::to_csr(poisson1d(4)).matrix;
  EXPECT_EQ(message_of([&] {
              krysol::reordered(a, {0, 1, 1, 3});
            }),
            "krysol::reordered: row 1 stands twice or is none of 0 to 3");
  EXPECT_EQ(message_of([&] {
              krysol::reordered(a, {0, 1, 4, 3});
            }),
            "krysol::reordered: row 4 stands twice or is none of 0 to 3");
  EXPECT_EQ(message_of([&] {
              krysol::reordered(a, {0, 1, 2});
            }),
            "krysol::reordered: an order of 3 rows for 4");
  krysol::OrderChoice choice;
  EXPECT_EQ(message_of([&] { krysol::reorder("amd", a, 200, choice); }),
            krysol::can_partition() ? "unknown order 'amd'; known: none rcm metis auto"
                                    : "unknown order 'amd'; known: none rcm auto");
  const auto wide = krysol::to_csr(random_sparse<double>(3, 5, 1, 2)).matrix;
  EXPECT_EQ(message_of([&] { krysol::reorder("rcm", wide, 200, choice); }),
            "krysol::reordered: a square matrix is needed, this one is 3 x 5");
}

/// Entries whose row and column stand in different runs of `length` places.
std::int64_t between_runs(const HostCsr<double>& a, Index length) {
  std::int64_t between = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      if (a.col_idx(static_cast<std::size_t>(k)) / length != i / length) ++between;
    }
  }
  return between;
}

TEST(OrderByParts, KeepsNeighboursInParts) {
  const auto grid = krysol::to_csr(poisson2d(80, 80)).matrix;
  const auto mixed = krysol::reordered(grid, shuffled(grid.rows, 5));
  const Offset* row_ptr = mixed.row_ptr.data();
  const Index* col_idx = mixed.col_idx.data();
  if (!krysol::can_partition()) {
    EXPECT_EQ(message_of([&] { krysol::partition_order(row_ptr, col_idx, mixed.rows, 400); }),
              "krysol::partition_order: Krysol was built without METIS");
    krysol::OrderChoice choice;
    EXPECT_EQ(message_of([&] { krysol::reorder("metis", mixed, 200, choice); }),
              "unknown order 'metis'; known: none rcm auto; this Krysol was built without METIS");
    GTEST_SKIP() << "built without METIS";
  }
  const Permutation order = krysol::partition_order(row_ptr, col_idx, mixed.rows, 400);
  expect_order(order, mixed.rows);
  EXPECT_EQ(order, krysol::partition_order(row_ptr, col_idx, mixed.rows, 400));
  const auto parted = krysol::reordered(mixed, order);
  EXPECT_GT(between_runs(mixed, 400), mixed.nnz() / 2);
  // Sixteen squares of 20 x 20 have 2 * 2 * 3 * 80 entries between them; parts differ in size.
  EXPECT_LT(between_runs(parted, 400), 4 * 2 * 2 * 3 * 80);
  krysol::OrderChoice choice;
  const auto moved = krysol::reorder("metis", mixed, 200, choice);
  EXPECT_EQ(choice.name, "metis");
  EXPECT_EQ(moved.nnz(), mixed.nnz());
  EXPECT_LT(choice.bandwidth_after, choice.bandwidth_before);
}

TEST(OrderByParts, IsAnOrderForEveryPattern) {
  if (!krysol::can_partition()) GTEST_SKIP() << "built without METIS";
  auto one_way = no_entries<double>(60, 60);  // the way back does not exist
  for (Index i = 0; i + 7 < 60; i += 3) one_way.add(i, i + 7, 1);
  const Triplets<double> patterns[] = {no_entries<double>(0, 0), no_entries<double>(9, 9), one_way,
                                       random_sparse<double>(300, 300, 3, 8)};
  for (const auto& t : patterns) {
    const auto a = krysol::to_csr(t).matrix;
    for (const Index rows_per_part : {1, 7, 1000}) {
      expect_order(
          krysol::partition_order(a.row_ptr.data(), a.col_idx.data(), a.rows, rows_per_part),
          a.rows);
    }
  }
}

/// Of a chain every level is one row; of a grid they are its diagonals, of a box its layers from a
/// corner.
TEST(MeanLevelWidth, IsRowsOverLevels) {
  const auto width = [](const Triplets<double>& t) {
    const auto a = to_csr(t).matrix;
    return krysol::mean_level_width(a.row_ptr.data(), a.col_idx.data(), a.rows);
  };
  EXPECT_EQ(width(poisson1d(50)), 1);
  EXPECT_EQ(width(poisson2d(20, 30)), 600.0 / 49);
  EXPECT_EQ(width(poisson3d(8)), 512.0 / 22);
  EXPECT_EQ(width(no_entries<double>(0, 0)), 0);
  auto apart = poisson1d(10);  // row 0 in a component of its own
  for (std::size_t k = 0; k < apart.values.size(); ++k) {
    if (apart.row_idx[k] != apart.col_idx[k] && (apart.row_idx[k] == 0 || apart.col_idx[k] == 0)) {
      apart.row_idx[k] = apart.col_idx[k];
    }
  }
  EXPECT_EQ(width(apart), 0);
}

}  // namespace
