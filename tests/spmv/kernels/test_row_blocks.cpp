// How rows are cut into blocks of similar work, and lanes given to them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Offset;
using krysol::RowBlockPlan;
using krysol::RowSchedule;

static_assert(std::is_same_v<Offset, std::int64_t>);
static_assert(std::is_same_v<decltype(HostCsr<double>::row_ptr)::value_type, std::int64_t>,
              "3 x 10^9 nonzeros must not overflow");
static_assert(sizeof(Index) == 4, "a column takes 4 bytes of the budget");

void expect_covers(const RowBlockPlan& plan, Index rows) {
  ASSERT_FALSE(plan.block_row.empty());
  EXPECT_EQ(plan.block_row.front(), 0);
  EXPECT_EQ(plan.block_row.back(), rows);
  EXPECT_TRUE(std::is_sorted(plan.block_row.begin(), plan.block_row.end(), std::less_equal<>{}));
}

TEST(PlanCsr, CutsRowsWhosePointersPass2To31) {
  const Offset big = Offset{3} << 30;  // 3.2e9
  const std::vector<Offset> row_ptr = {0, big, 2 * big, 2 * big + 1, 3 * big + 1, 4 * big};
  for (const bool host : {true, false}) {
    const RowBlockPlan plan =
        krysol::plan_row_blocks(row_ptr.data(), 5, RowSchedule::balanced, host, 1);
    expect_covers(plan, 5);
    EXPECT_EQ(plan.block_row, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(plan.lanes, host ? 1 : 32);
  }
  EXPECT_EQ(krysol::plan_row_blocks(row_ptr.data(), 5, RowSchedule::balanced, false, 512).block_row,
            (std::vector<Index>{0, 1, 2, 3, 4, 5}));
}

TEST(PlanCsr, GivesLongRowsOfADeviceATeam) {
  std::vector<Offset> row_ptr = {0};
  for (int i = 0; i < 900; ++i) row_ptr.push_back(row_ptr.back() + (i == 0 || i == 300 ? 2000 : 4));
  const auto plan = krysol::plan_row_blocks(row_ptr.data(), 900, RowSchedule::balanced, false, 256);
  expect_covers(plan, 900);
  const auto begins = [&plan](Index row) {
    return std::count(plan.block_row.begin(), plan.block_row.end(), row) == 1;
  };
  for (const Index row : {0, 1, 300, 301}) EXPECT_TRUE(begins(row)) << row;
  EXPECT_LT(plan.block_row.size(), 9U);
}

TEST(PlanCsr, GivesARowOfADeviceLanesByItsLength) {
  const std::pair<int, int> lanes_of_length[] = {{0, 1},  {7, 1},    {9, 1},    {14, 4},   {26, 4},
                                                 {75, 8}, {300, 16}, {900, 32}, {5000, 32}};
  for (const auto& [length, lanes] : lanes_of_length) {
    std::vector<Offset> row_ptr = {0};
    for (int i = 0; i < 50; ++i) row_ptr.push_back(row_ptr.back() + length);
    const auto plan =
        krysol::plan_row_blocks(row_ptr.data(), 50, RowSchedule::balanced, false, 256);
    EXPECT_EQ(plan.lanes, lanes) << length;
  }
}

TEST(PlanCsr, FitsBlocksOfADeviceIntoScratchMemory) {
  std::vector<Offset> row_ptr = {0};
  Random random(7);
  for (int i = 0; i < 9000; ++i) {
    const bool empty = i > 3000 && i < 6000;
    row_ptr.push_back(row_ptr.back() + (i % 700 == 5 ? 250 + random.below(900)
                                        : empty      ? 0
                                                     : i % 60));
  }
  const RowBlockPlan plan =
      krysol::plan_row_blocks(row_ptr.data(), 9000, RowSchedule::automatic, false, 256);
  expect_covers(plan, 9000);
  EXPECT_TRUE(plan.staged);
  int alone = 0;
  for (std::size_t b = 0; b + 1 < plan.block_row.size(); ++b) {
    const Index first = plan.block_row[b];
    const Index last = plan.block_row[b + 1];
    const auto entries = [&row_ptr](Index from, Index to) {
      return row_ptr[static_cast<std::size_t>(to)] - row_ptr[static_cast<std::size_t>(from)];
    };
    EXPECT_LE(last - first, krysol::staged_entries);
    for (Index i = first; i < last && last - first > 1; ++i) EXPECT_LE(entries(i, i + 1), 256);
    if (last - first > 1) {
      EXPECT_LE(entries(first, last), krysol::staged_entries);
    } else {
      ++alone;
    }
    if (b + 2 < plan.block_row.size() && last - first > 1 && entries(last, last + 1) <= 256) {
      EXPECT_TRUE(entries(first, last + 1) > krysol::staged_entries ||
                  last - first == krysol::staged_entries)
          << "block " << b << " has room for its neighbour's first row";
    }
  }
  EXPECT_GE(alone, 10);
}

TEST(PlanCsr, GivesShortRowsOfADeviceAThreadEach) {
  const auto plan_of = [](int length, int longest) {
    std::vector<Offset> row_ptr = {0};
    for (int i = 0; i < 1000; ++i) {
      row_ptr.push_back(row_ptr.back() + (i == 500 ? longest : length));
    }
    return krysol::plan_row_blocks(row_ptr.data(), 1000, RowSchedule::automatic, false, 256);
  };
  EXPECT_FALSE(plan_of(7, 16).staged);
  EXPECT_EQ(plan_of(7, 16).lanes, 1);
  EXPECT_EQ(plan_of(7, 16).block_row, (std::vector<Index>{0, 256, 512, 768, 1000}));
  EXPECT_TRUE(plan_of(7, 17).staged) << "one thread would sum 17 entries, and its team wait";
  EXPECT_TRUE(plan_of(8, 8).staged);
}

TEST(PlanCsr, KeepsBlocksOfAHostWithinItsCaches) {
  std::vector<Offset> row_ptr = {0};
  for (int i = 0; i < 10000; ++i) row_ptr.push_back(row_ptr.back() + 97);  // 100 with the overhead
  const auto blocks =
      krysol::plan_row_blocks(row_ptr.data(), 10000, RowSchedule::balanced, true, 512);
  expect_covers(blocks, 10000);
  EXPECT_EQ(blocks.block_row.size() - 1, 128U);  // 10^6 / 8192, and a multiple of eight
  EXPECT_EQ(blocks.block_row[1], 78);            // 10^4 / 128
  for (std::size_t b = 0; b + 1 < blocks.block_row.size(); ++b) {
    EXPECT_LE(blocks.block_row[b + 1] - blocks.block_row[b], 81);  // 8192 / 100
  }
}

TEST(PlanCsr, GivesThreadsThatTakeAsManyBlocksEachAsMuchToDo) {
  std::vector<Offset> row_ptr = {0};
  constexpr Index rows = 700;
  constexpr Offset longest = 47;
  for (Offset i = 0; i < rows; ++i) row_ptr.push_back(row_ptr.back() + 30 + i * i % 18);
  const auto plan = krysol::plan_row_blocks(row_ptr.data(), rows, RowSchedule::balanced, true, 64);
  expect_covers(plan, rows);
  const auto blocks = plan.block_row.size() - 1;
  EXPECT_EQ(blocks, 64U);
  const auto work_before = [&](Index i) { return row_ptr[static_cast<std::size_t>(i)] + 3 * i; };
  for (std::size_t b = 0; b <= blocks; ++b) {  // as near to b equal blocks as rows allow
    const double wanted = static_cast<double>(work_before(rows)) * static_cast<double>(b) /
                          static_cast<double>(blocks);
    EXPECT_NEAR(static_cast<double>(work_before(plan.block_row[b])), wanted, (longest + 3.0) / 2)
        << "block " << b << " of " << blocks;
  }
}

TEST(PlanCsr, CutsSmallMatricesIntoBlocksForManyThreads) {
  std::vector<Offset> row_ptr = {0};
  for (int i = 0; i < 1280; ++i) row_ptr.push_back(row_ptr.back() + 7);  // 10 with the overhead
  const auto blocks =
      krysol::plan_row_blocks(row_ptr.data(), 1280, RowSchedule::balanced, true, 512);
  expect_covers(blocks, 1280);
  EXPECT_EQ(blocks.block_row.size(), 65u);
  EXPECT_EQ(blocks.block_row[1], 20);
  EXPECT_EQ(krysol::plan_row_blocks(row_ptr.data(), 1280, RowSchedule::balanced, true, 512, 93)
                .block_row[1],
            20);  // each row as heavy as the others
  EXPECT_EQ(krysol::plan_row_blocks(row_ptr.data(), 40, RowSchedule::balanced, true, 512)
                .block_row.size(),
            41u);  // no more blocks than rows
}

TEST(PlanCsr, CoversAllRowsInEverySchedule) {
  for (const Index rows : {0, 1, 2, 511, 512, 513, 1024, 5000}) {
    Random random(static_cast<std::uint64_t>(rows));
    std::vector<Offset> row_ptr = {0};
    for (Index i = 0; i < rows; ++i) {
      row_ptr.push_back(row_ptr.back() + (i % 97 == 5 ? 3000 : random.below(9)));
    }
    for (const bool host : {true, false}) {
      for (const auto schedule : {RowSchedule::automatic, RowSchedule::thread, RowSchedule::lanes,
                                  RowSchedule::balanced}) {
        const RowBlockPlan plan =
            krysol::plan_row_blocks(row_ptr.data(), rows, schedule, host, 512);
        if (rows == 0) {
          EXPECT_EQ(plan.block_row, std::vector<Index>{0});
        } else {
          expect_covers(plan, rows);
        }
        EXPECT_TRUE(plan.lanes >= 1 && plan.lanes <= 32 && (plan.lanes & (plan.lanes - 1)) == 0);
        EXPECT_TRUE(schedule != RowSchedule::thread || plan.lanes == 1);
        EXPECT_TRUE(schedule != RowSchedule::lanes || plan.lanes >= 2);
      }
    }
  }
}

TEST(PlanCsr, BalancesEntriesBetweenBlocks) {
  std::vector<Offset> row_ptr = {0};
  for (Index i = 0; i < 8000; ++i) row_ptr.push_back(row_ptr.back() + (i < 2000 ? 40 : 4));
  const RowBlockPlan plan =
      krysol::plan_row_blocks(row_ptr.data(), 8000, RowSchedule::balanced, true, 100);
  const Offset mean = row_ptr.back() / 8000;
  for (std::size_t b = 0; b + 1 < plan.block_row.size(); ++b) {
    const auto first = static_cast<std::size_t>(plan.block_row[b]);
    const auto last = static_cast<std::size_t>(plan.block_row[b + 1]);
    EXPECT_LE(row_ptr[last] - row_ptr[first], 100 * (mean + 3));
  }
  EXPECT_LT(plan.block_row[1], 50);                                  // 40 entries a row
  EXPECT_GT(8000 - plan.block_row[plan.block_row.size() - 3], 200);  // 4 entries a row
}

TEST(PlanCsr, GivesALongRowABlockOfItsOwn) {
  std::vector<Offset> row_ptr = {0};
  for (Index i = 0; i < 1000; ++i) row_ptr.push_back(row_ptr.back() + (i == 300 ? 100000 : 2));
  const RowBlockPlan plan =
      krysol::plan_row_blocks(row_ptr.data(), 1000, RowSchedule::balanced, true, 8);
  const auto own = std::find(plan.block_row.begin(), plan.block_row.end(), 300);
  ASSERT_NE(own, plan.block_row.end());
  EXPECT_EQ(*(own + 1), 301);
}

TEST(PlanCsr, SeesWhereLengthsDifferFromRowToRow) {
  const auto uneven = [](Index rows, auto&& length) {
    std::vector<Offset> row_ptr = {0};
    for (Index i = 0; i < rows; ++i) row_ptr.push_back(row_ptr.back() + length(i));
    return krysol::are_uneven(row_ptr.data(), rows);
  };
  EXPECT_FALSE(uneven(0, [](Index) { return 0; }));
  EXPECT_FALSE(uneven(1, [](Index) { return 7; }));
  EXPECT_FALSE(uneven(1000, [](Index) { return 5; }));
  EXPECT_FALSE(uneven(1000, [](Index i) { return i % 20 == 0 ? 4 : 5; })) << "a grid's lines";
  EXPECT_FALSE(uneven(64 * 4096, [](Index i) { return i % 64 == 0 ? 4 : 5; }));
  EXPECT_TRUE(uneven(1000, [](Index i) { return i % 10 == 0 ? 4 : 5; }));
  EXPECT_TRUE(uneven(2, [](Index i) { return i; }));
  EXPECT_FALSE(uneven(100000, [](Index i) { return i < 50000 ? 3 : 8; }));
  EXPECT_TRUE(uneven(100000, [](Index i) { return i < 50000 ? 3 : i * 7 % 11; }));
}

}  // namespace
