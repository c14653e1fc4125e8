// How rows read x, of patterns whose share is known.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <krysol/spmv/kernels/missed_reads.hpp>

namespace {

using krysol::Index;
using krysol::missed_reads;
using krysol::Offset;

double missed(const std::vector<Index>& columns, std::int64_t entry_bytes = 8) {
  return missed_reads(columns.data(), static_cast<Offset>(columns.size()), entry_bytes);
}

/// Rows with entries in the columns i + offset[j].
std::vector<Index> diagonals(Index rows, const std::vector<Index>& offsets) {
  std::vector<Index> columns;
  for (Index i = 0; i < rows; ++i) {
    for (const Index offset : offsets) columns.push_back(i + offset);
  }
  return columns;
}

TEST(MissedReads, OfOneDiagonalAreOneInALine) {
  EXPECT_NEAR(missed(diagonals(100000, {0})), 1 / 8.0, 0.001);
  EXPECT_NEAR(missed(diagonals(100000, {0}), 16), 1 / 4.0, 0.001);
  EXPECT_NEAR(missed(diagonals(100000, {0, 1, 2})), 1 / 24.0, 0.001);
}

/// Diagonals whose distances are powers of two would all meet in one place of a cache that took the
/// lowest bits of an address.
TEST(MissedReads, OfDiagonalsFarApartAreOneInALineOfEach) {
  std::vector<Index> offsets;
  for (Index d = 0; d < 7; ++d) offsets.push_back(d * 16384);
  EXPECT_NEAR(missed(diagonals(20000, offsets)), 1 / 8.0, 0.02);
}

TEST(MissedReads, OfRandomColumnsAreNearlyAll) {
  std::mt19937 random(7);  // the same numbers everywhere, which distributions are not
  std::vector<Index> columns(200000);
  for (Index& j : columns) j = static_cast<Index>(random() % 10000000U);
  EXPECT_GT(missed(columns), 0.99);
  for (Index& j : columns) j %= 512;  // 64 lines: most of them have a place of their own
  EXPECT_LT(missed(columns), 0.2);
}

TEST(MissedReads, AreNoneWhereThereIsTooLittleToSee) {
  EXPECT_EQ(missed({}), 0);
  EXPECT_EQ(missed({3}), 0);
  EXPECT_EQ(missed(diagonals(1024, {0})), 0);
  EXPECT_NEAR(missed(diagonals(1032, {0})), 1 / 8.0, 1e-12);
}

}  // namespace
