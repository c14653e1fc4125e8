// Groups of rows: which rows are taken together, nodes of every size, and rows that lack columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Offset;
using krysol::RowGroup;
using krysol::RowGroupPlan;

template <class On>
class GroupsOfRows : public testing::Test {};
using RowGroupCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(GroupsOfRows, RowGroupCases, OnName);

/// Nodes of `unknowns` rows each, in a band, from row `first` on, so that none begins where a
/// multiple of its size does. Of every `lacks`-th row one entry is missing; 0: of none. Where they
/// are `apart`, a node names others all over the matrix, and no two nodes the same.
template <class V>
Triplets<V> nodes(Index unknowns, Index count, Index half_band, Index first, Index lacks,
                  bool apart = false) {
  auto t = no_entries<V>(first + unknowns * count, first + unknowns * count);
  Random random(23);
  for (Index i = 0; i < first; ++i) t.add(i, i, random.entry<V>());
  for (Index node = 0; node < count; ++node) {
    std::vector<Index> named;
    for (Index d = -half_band; d <= half_band; ++d) {
      const Index other = apart ? (node + d * (37 + node % 11) + 5 * count) % count : node + d;
      if (other >= 0 && other < count) named.push_back(other * unknowns);
    }
    for (Index u = 0; u < unknowns; ++u) {
      const Index row = first + node * unknowns + u;
      const auto entries = static_cast<Index>(named.size()) * unknowns;
      for (Index k = 0; k < entries; ++k) {
        if (lacks > 0 && row % lacks == 0 && k == row % entries) continue;
        t.add(row, first + named[static_cast<std::size_t>(k / unknowns)] + k % unknowns,
              random.entry<V>());
      }
    }
  }
  return t;
}

TYPED_TEST(GroupsOfRows, EqualTheOracleForNodesOfEverySize) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::RowGroups<T, typename TypeParam::Space>;
  for (Index unknowns = 1; unknowns <= 2 * krysol::largest_group + 1; ++unknowns) {
    for (const Index half_band : {0, 1, 4}) {
      for (const Index lacks : {0, 1, 3, 7}) {
        const auto entries = nodes<FileScalar<T>>(unknowns, 31, half_band, 3, lacks);
        Format a;
        from_csr(krysol::to_csr(entries).matrix, a);
        const std::string name = std::to_string(unknowns) + ", " + std::to_string(half_band) +
                                 ", " + std::to_string(lacks);
        EXPECT_EQ(a.nnz(), static_cast<Offset>(entries.values.size())) << name;
        expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
        expect_dot<Format, T>(a, entries, name);
      }
    }
  }
}

/// An entry of x that one row of a group lacks, and another has.
TYPED_TEST(GroupsOfRows, DependOnlyOnTheEntriesOfXThatTheyName) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::RowGroups<T, typename TypeParam::Space>;
  const auto entries = nodes<FileScalar<T>>(6, 31, 1, 3, 3);
  Format a;
  from_csr(krysol::to_csr(entries).matrix, a);
  for (const Index bad : {4, 50, 101, 188}) {
    std::vector<T> x(static_cast<std::size_t>(a.cols), T(1));
    x[static_cast<std::size_t>(bad)] = quiet_nan<T>();
    std::vector<bool> named(static_cast<std::size_t>(a.rows), false);
    for (std::size_t k = 0; k < entries.values.size(); ++k) {
      if (entries.col_idx[k] == bad) named[static_cast<std::size_t>(entries.row_idx[k])] = true;
    }
    const auto y = times(a, x);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(is_finite(y[i]), !named[i]) << i;
  }
}

RowGroupPlan plan_of(const Triplets<double>& entries, bool host) {
  const auto csr = krysol::to_csr(entries).matrix;
  return krysol::plan_row_groups(csr.row_ptr.data(), csr.col_idx.data(), csr.rows, host, 256);
}

Index rows_of(const RowGroupPlan& plan, std::size_t q) {
  return plan.group[q + 1].row - plan.group[q].row;
}

/// Every row in one group, lists and values without a gap; blocks begin with groups.
void expect_whole(const RowGroupPlan& plan, Index rows, Offset nnz) {
  ASSERT_FALSE(plan.group.empty());
  EXPECT_EQ(plan.group.front().row, 0);
  EXPECT_EQ(plan.group.back().row, rows);
  EXPECT_EQ(plan.group.back().values, nnz);
  EXPECT_EQ(plan.group.back().columns + krysol::pack_width,
            static_cast<Offset>(plan.col_idx.size()));
  EXPECT_EQ(plan.group.back().masks, static_cast<Offset>(plan.mask.size()));
  for (std::size_t q = 0; q + 1 < plan.group.size(); ++q) {
    const RowGroup& mine = plan.group[q];
    const Index g = rows_of(plan, q);
    EXPECT_GE(g, 1) << q;
    EXPECT_LE(g, krysol::largest_group) << q;
    for (Index r = mine.row; r < mine.row + g; ++r) {
      EXPECT_EQ(plan.group_of[static_cast<std::size_t>(r)], static_cast<Index>(q));
    }
    const Offset columns = plan.group[q + 1].columns - mine.columns;
    const Offset masks = plan.group[q + 1].masks - mine.masks;
    Offset entries = mine.full < 0 ? columns * g : Offset{mine.full} * g;
    if (mine.full >= 0) {
      EXPECT_EQ(masks, columns - mine.full) << q;
    }
    for (Offset m = mine.masks; m < mine.masks + masks; ++m) {
      const unsigned bits = plan.mask[static_cast<std::size_t>(m)];
      EXPECT_LT(bits, 1U << static_cast<unsigned>(g)) << q;
      EXPECT_GT(bits, 0U) << q;
      entries += __builtin_popcount(bits);
    }
    EXPECT_EQ(plan.group[q + 1].values - mine.values, entries) << q;
  }
  for (const Index row : plan.block_row) {
    if (row == rows) continue;
    const Index q = plan.group_of[static_cast<std::size_t>(row)];
    EXPECT_EQ(plan.group[static_cast<std::size_t>(q)].row, row);
  }
}

TEST(RowGroupPlans, TakeTheRowsOfANodeTogether) {
  for (const Index unknowns : {4, 5, 6, 8}) {
    const auto entries = nodes<double>(unknowns, 500, 4, 3, 0, true);
    const RowGroupPlan plan = plan_of(entries, true);
    expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
    // Three rows before the nodes, and rows that a part of the plan ends in.
    EXPECT_LE(plan.group.size(), 500U + 4U + 4U) << unknowns;
    std::size_t as_lanes = 0;
    for (std::size_t q = 0; q + 1 < plan.group.size(); ++q) {
      as_lanes += plan.group[q].full > 0 && rows_of(plan, q) == unknowns ? 1 : 0;
    }
    EXPECT_GE(as_lanes, 495U) << unknowns;
    EXPECT_LE(plan.mask.size(), 3U) << unknowns;  // of the three rows
  }
  // Two and three long rows with the same columns share a gather: their values stay as in csr.
  for (const Index unknowns : {2, 3}) {
    const auto entries = nodes<double>(unknowns, 500, 15, 3, 0, true);
    const RowGroupPlan plan = plan_of(entries, true);
    expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
    std::size_t shared = 0;
    for (std::size_t q = 0; q + 1 < plan.group.size(); ++q) {
      shared += plan.group[q].full < 0 && rows_of(plan, q) == unknowns ? 1 : 0;
    }
    EXPECT_GE(shared, 495U) << unknowns;
  }
}

TEST(RowGroupPlans, KeepRowsTogetherThatLackAFewColumns) {
  const auto entries = nodes<double>(6, 500, 4, 3, 2, true);
  const RowGroupPlan plan = plan_of(entries, true);
  expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
  EXPECT_LE(plan.group.size(), 520U);
  EXPECT_GE(plan.mask.size(), 1000U);
  EXPECT_LE(plan.mask.size(), 1503U);  // three rows of a node lack one entry each
}

TEST(RowGroupPlans, LeaveRowsAloneThatShareNothing) {
  const auto entries = random_sparse<double>(5000, 5000, 20, 3);
  const RowGroupPlan plan = plan_of(entries, true);
  expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
  EXPECT_GE(plan.group.size(), 4990U);
  EXPECT_TRUE(plan.mask.empty());
}

/// Two entries a row: taken one by one they cost less than what a group begins and ends with.
TEST(RowGroupPlans, LeaveShortRowsAlone) {
  const auto entries = nodes<double>(2, 500, 0, 0, 0, true);
  const RowGroupPlan plan = plan_of(entries, true);
  expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
  EXPECT_EQ(plan.group.size(), 1001U);
}

TEST(RowGroupPlans, HaveNoMasksForDevices) {
  const auto entries = nodes<double>(6, 500, 4, 3, 2);
  const RowGroupPlan plan = plan_of(entries, false);
  expect_whole(plan, entries.rows, krysol::to_csr(entries).matrix.nnz());
  EXPECT_TRUE(plan.mask.empty());
  for (std::size_t q = 0; q + 1 < plan.group.size(); ++q) EXPECT_LT(plan.group[q].full, 0) << q;
}

/// Columns that do not ascend, as those of an operator that was given them so.
TEST(RowGroupPlans, TakeRowsWhoseColumnsDoNotAscendAsTheyAre) {
  constexpr Index rows = 6;
  constexpr Index each = 60;
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col_idx;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < each; ++j) col_idx.push_back(each - 1 - j);
    row_ptr.push_back(static_cast<Offset>(col_idx.size()));
  }
  const RowGroupPlan plan =
      krysol::plan_row_groups(row_ptr.data(), col_idx.data(), rows, true, 256);
  expect_whole(plan, rows, Offset{rows} * each);
  ASSERT_EQ(plan.group.size(), 3U);
  EXPECT_EQ(rows_of(plan, 0), 3);
  EXPECT_EQ(plan.group[0].full, -1);
  EXPECT_TRUE(std::equal(plan.col_idx.begin(), plan.col_idx.begin() + each, col_idx.begin()));
}

TEST(RowGroupPlans, SayWhenFewColumnsAreShared) {
  const auto scattered = krysol::to_csr(random_sparse<double>(6000, 6000, 12, 5)).matrix;
  const auto of_scattered =
      krysol::estimate_row_groups(krysol::MatrixProfile(scattered, true)).refusal;
  EXPECT_EQ(of_scattered,
            "1.00 columns for each nonzero: neighbouring rows have too few of them in common");
  const auto fem = krysol::to_csr(nodes<double>(6, 500, 4, 3, 2)).matrix;
  const auto estimate = krysol::estimate_row_groups(krysol::MatrixProfile(fem, true));
  EXPECT_EQ(estimate.refusal, "");
  krysol::RowGroups<double, krysol::Host> a;
  from_csr(fem, a);
  EXPECT_NEAR(static_cast<double>(estimate.bytes), static_cast<double>(bytes(a)),
              0.1 * static_cast<double>(bytes(a)));
  EXPECT_LT(bytes(a), 0.8 * static_cast<double>(krysol::bytes(fem)));
}

/// Of rows alone, of short ones, of long ones with the same columns, of lanes, and of lanes with
/// masks. The bytes of groups are from a hundredth to more than half of all.
TEST(RowGroupPlans, AreEstimatedAsLargeAsTheyAre) {
  // Of the small ones all rows are looked at, 32 side by side, which nodes of 2 and 8 fill.
  const std::vector<Triplets<double>> all = {
      random_sparse<double>(5000, 5000, 20, 3), nodes<double>(2, 240, 0, 0, 0, true),
      nodes<double>(2, 240, 15, 0, 0, true), nodes<double>(8, 60, 4, 0, 0, true),
      nodes<double>(8, 60, 4, 0, 2, true)};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto csr = krysol::to_csr(all[k]).matrix;
    const RowGroupPlan plan = plan_of(all[k], true);
    const double lists = 4.0 * static_cast<double>(plan.group.back().columns) +
                         static_cast<double>(plan.group.back().masks) +
                         static_cast<double>(sizeof(RowGroup) * (plan.group.size() - 1));
    const double bytes = 8.0 * static_cast<double>(csr.nnz()) + lists;
    const auto estimate = krysol::estimate_row_groups(krysol::MatrixProfile(csr, true));
    EXPECT_NEAR(static_cast<double>(estimate.bytes), bytes, 0.02 * bytes) << "matrix " << k;
  }
}

/// Each row lacks another column of its node, so that all columns of a group have a mask. The
/// estimate looks at all rows, 32 side by side, and finds the groups of the plan.
TEST(RowGroupPlans, AreEstimatedWithTheirMasks) {
  for (const Index unknowns : {4, 8}) {
    const auto entries = nodes<double>(unknowns, 240 / unknowns, 0, 0, 1);
    const auto csr = krysol::to_csr(entries).matrix;
    const RowGroupPlan plan = plan_of(entries, true);
    expect_whole(plan, csr.rows, csr.nnz());
    EXPECT_EQ(plan.mask.size(), 240U) << unknowns;
    EXPECT_EQ(plan.group.back().columns, 240) << unknowns;
    EXPECT_EQ(plan.group.size(), static_cast<std::size_t>(240 / unknowns) + 1) << unknowns;
    const double bytes = 8.0 * static_cast<double>(csr.nnz()) +
                         4.0 * static_cast<double>(plan.group.back().columns) +
                         static_cast<double>(plan.mask.size()) +
                         static_cast<double>(sizeof(RowGroup) * (plan.group.size() - 1));
    const auto estimate = krysol::estimate_row_groups(krysol::MatrixProfile(csr, true));
    EXPECT_NEAR(static_cast<double>(estimate.bytes), bytes, 1) << unknowns;
  }
}

}  // namespace
