// Coordinates filled in by hand: any order, and rows that reach across segments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products.hpp"

namespace {

using namespace krysol_tests;

template <class C>
class CooByHand : public testing::Test {};
using CooCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(CooByHand, CooCases, OnName);

template <class T, class Exec>
krysol::Coo<T, Exec> coo_by_hand(const Triplets<FileScalar<T>>& t, bool sorted) {
  krysol::Coo<T, Exec> a;
  a.rows = t.rows;
  a.cols = t.cols;
  a.row_idx = to_device<Exec>(t.row_idx);
  a.col_idx = to_device<Exec>(t.col_idx);
  std::vector<T> values;
  for (const auto& v : t.values) values.push_back(T(v));
  a.values = to_device<Exec>(values);
  a.sorted_by_row = sorted;
  return a;
}

/// Rows that fill several segments, that end with one, and that share one; and rows without any.
template <class T, class Exec>
Triplets<FileScalar<T>> rows_across_segments() {
  constexpr auto segment = static_cast<Index>(krysol::coo_segment<Exec>);
  auto t = no_entries<FileScalar<T>>(12, 50);
  Random random(71);
  const auto add_row = [&](Index row, Index entries) {
    for (Index k = 0; k < entries; ++k) {
      t.add(row, random.below(50), random.entry<FileScalar<T>>());
    }
  };
  add_row(0, segment);          // one segment to its end
  add_row(1, 35 * segment);     // more than a GPU adds up at a time
  add_row(3, segment - 5);      // short of the end
  add_row(4, 5);                // to the end
  add_row(6, 1);                // first in a segment
  add_row(7, 2 * segment + 3);  // from within one across two into another
  add_row(8, 2);
  add_row(9, 2);
  add_row(10, 1);  // 11 stays empty
  return t;
}

TYPED_TEST(CooByHand, TakesEntriesInAnyOrderWithDuplicates) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto t = random_sparse<FileScalar<T>>(60, 50, 20, 72);
  const auto a = coo_by_hand<T, Exec>(t, false);
  EXPECT_EQ(a.nnz(), 60 * 20);
  expect_product<krysol::Coo<T, Exec>, T>(a, t, "any order", {0.0, 1.0, -1.0, -2.7});
  const auto square = random_sparse<FileScalar<T>>(50, 50, 20, 73);
  const auto b = coo_by_hand<T, Exec>(square, false);
  const auto x = random_vector<T>(50, 74);
  const auto y = to_device<Exec>(std::vector<T>(50));
  ReductionWorkspace<Exec> sums;
  const double got = apply_dot(Exec{}, b, to_device<Exec>(x), y, sums);
  const Product<T> exact(square, x);
  long double want = 0;
  long double size = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    want += std::real(conjugate(widen(x[i])) * exact.sum[i]);
    size += std::abs(widen(x[i])) * (exact.terms[i] + 60) * exact.absolute[i];
  }
  EXPECT_LE(std::abs(got - want), 4 * eps<T>() * size);
}

TYPED_TEST(CooByHand, RowsMayReachAcrossSegments) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto t = rows_across_segments<T, Exec>();
  expect_product<krysol::Coo<T, Exec>, T>(coo_by_hand<T, Exec>(t, true), t, "no carries",
                                          {0.0, 1.0, -2.7});
  auto a = coo_by_hand<T, Exec>(t, true);
  a.carries = krysol::Carries<Exec>(krysol::coo_carries(a.nnz(), krysol::coo_segment<Exec>));
  expect_product<krysol::Coo<T, Exec>, T>(a, t, "carries", {0.0, 1.0, -2.7});
}

TYPED_TEST(CooByHand, SumsOfSortedEntriesRepeatBitForBit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = coo_by_hand<T, Exec>(rows_across_segments<T, Exec>(), true);
  const auto x = random_vector<T>(50, 75);
  const auto first = times(a, x);
  for (int k = 0; k < 10; ++k) EXPECT_EQ(times(a, x), first);
}

/// Two of each segment, and no more: that is memory which every matrix of the format holds.
TEST(CooCarries, AreTwoOfEachSegment) {
  for (const krysol::Offset length : {1, 7, 4096}) {
    for (const krysol::Offset nnz : {0, 1, 6, 7, 8, 4095, 4096, 4097, 12288}) {
      std::int64_t segments = 0;
      for (krysol::Offset first = 0; first < nnz; first += length) ++segments;
      EXPECT_EQ(krysol::coo_carries(nnz, length), 2 * segments) << nnz << " by " << length;
    }
  }
}

/// Empty places hold anything, belong to no row, and may stand between two of a row.
TYPED_TEST(CooByHand, AddsEachCarryToItsRowAndNothingElse) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using R = krysol::Real<T>;
  constexpr Index rows = 40;
  Random random(76);
  std::vector<Index> carry_row = {-1};
  std::vector<T> carry = {T(1000)};
  std::vector<T> expected(static_cast<std::size_t>(rows) + 2, T(7));  // one before, one behind
  for (Index row = 0; row < rows; ++row) {
    const Index count = row == 20 ? 100 : random.below(4);  // more than a GPU adds up at a time
    for (Index k = 0; k < count; ++k) {
      if (carry_row.back() >= 0 && random.below(3) == 0) {
        carry_row.push_back(-1);
        carry.push_back(T(1000));
      }
      const auto v = static_cast<R>(1 + random.below(9));
      carry_row.push_back(row);
      carry.push_back(T(v));
      expected[static_cast<std::size_t>(row) + 1] += T(2 * v);
    }
  }
  carry_row.push_back(-1);
  carry.push_back(T(1000));
  const auto of_rows = to_device<Exec>(carry_row);
  const auto sums = to_device<Exec>(carry);
  const auto y = to_device<Exec>(std::vector<T>(expected.size(), T(7)));
  krysol::add_carries(
      "test.carries", Exec{},
      krysol::CarriesOfRows<T, Exec>{of_rows.data(), sums.data(),
                                     static_cast<std::int64_t>(carry.size()), T(2), y.data() + 1});
  Exec{}.fence();
  EXPECT_EQ(to_host(y), expected);
}

}  // namespace
