// Slices of several patterns of rows: what is masked, what is not, and that nothing is multiplied
// that a row does not have. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>

#include <krysol/spmv/formats/stencil.hpp>
#include <krysol/spmv/formats/stencil_pattern.hpp>
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Host;
using krysol::HostCsr;
using krysol::Index;
using krysol::PatternSlices;
using krysol::RowPatterns;

constexpr Index slice = krysol::pack_width;

struct Planned {
  HostCsr<double> a;
  RowPatterns patterns;
  std::vector<Index> offset;
  PatternSlices plan;

  explicit Planned(HostCsr<double> matrix, bool host = true, double most_slots = 2)
      : a(std::move(matrix)),
        patterns(find_patterns("test", a, false)),
        offset(offsets_of(patterns, a)),
        plan(krysol::plan_pattern_slices(patterns, offset, a.row_ptr.data(), a.rows, a.cols, slice,
                                         host, most_slots)) {}
};

/// Lines of 12 points begin and end within slices of 8.
HostCsr<double> grid() { return krysol::to_csr(poisson2d(12, 41)).matrix; }

TEST(MaskedSlices, NameWhatEachOfTheirRowsNames) {
  const Planned p(grid());
  int seen = 0;
  for (std::size_t s = 0; s < p.plan.pattern.size(); ++s) {
    if (p.plan.pattern[s] >= -1) continue;
    ++seen;
    const auto list = static_cast<std::size_t>(krysol::masked(p.plan.pattern[s]));
    const auto begin = static_cast<std::size_t>(p.plan.masked.ptr[list]);
    const auto end = static_cast<std::size_t>(p.plan.masked.ptr[list + 1]);
    EXPECT_EQ(p.plan.slice_ptr[s + 1] - p.plan.slice_ptr[s],
              static_cast<std::int64_t>(slice * (end - begin)));
    for (std::size_t l = 0; l < slice; ++l) {
      const std::size_t i = s * slice + l;
      std::vector<Index> mine;
      for (std::size_t k = begin; k < end; ++k) {
        if ((p.plan.masked.rows[k] >> l & 1U) != 0) {
          mine.push_back(static_cast<Index>(i) + p.plan.masked.offset[k]);
        }
      }
      const Index* of_row = p.a.col_idx.data();
      EXPECT_EQ(mine, std::vector<Index>(of_row + p.a.row_ptr(i), of_row + p.a.row_ptr(i + 1)))
          << "row " << i;
    }
  }
  // Three slices make two lines. The lines between the first and the last repeat two of them.
  EXPECT_GT(seen, 30);
  EXPECT_LT(p.plan.masked.ptr.size(), 12U);
}

/// All that masked slices read of x, what they multiply by nothing too, is there.
void expect_within(const Planned& p) {
  for (std::size_t s = 0; s < p.plan.pattern.size(); ++s) {
    if (p.plan.pattern[s] >= -1) continue;
    const auto list = static_cast<std::size_t>(krysol::masked(p.plan.pattern[s]));
    const auto first = static_cast<Index>(s * slice);
    const auto begin = static_cast<std::size_t>(p.plan.masked.ptr[list]);
    const auto last = static_cast<std::size_t>(p.plan.masked.ptr[list + 1]) - 1;
    EXPECT_GE(first + p.plan.masked.offset[begin], 0);
    EXPECT_LE(first + p.plan.masked.offset[last] + slice, p.a.cols);
  }
}

TEST(MaskedSlices, StayWithinTheMatrix) {
  const Planned p(grid());  // 492 rows: 61 slices and a half
  EXPECT_EQ(p.plan.pattern.front(), -1) << "row 1 names column 0, row 0 would name -1";
  EXPECT_EQ(p.plan.pattern.back(), -1) << "of four rows";
  const auto mixed = std::count(p.plan.pattern.begin(), p.plan.pattern.end(), -1);
  EXPECT_LE(mixed, 6);
  EXPECT_EQ(p.plan.mixed_rows, slice * mixed - 4);
  expect_within(p);
  // Lines of which the last slice begins within the matrix and would read past its end.
  for (Index width = 9; width < 18; ++width) {
    for (Index height = 6; height < 10; ++height) {
      SCOPED_TRACE(testing::Message() << width << " x " << height);
      expect_within(Planned(krysol::to_csr(poisson2d(width, height)).matrix));
    }
  }
}

TEST(MaskedSlices, AreNoneOnAGpu) {
  const Planned p(grid(), false);
  EXPECT_EQ(*std::min_element(p.plan.pattern.begin(), p.plan.pattern.end()), -1);
  EXPECT_EQ(p.plan.masked.ptr, std::vector<Index>{0});
}

/// There each row of a slice has as many places as the longest of its rows.
TEST(MaskedSlices, HaveRoomForTheirLongestRowsOnAGpu) {
  const Planned p(grid(), false);
  const auto rows = static_cast<std::size_t>(p.a.rows);
  ASSERT_EQ(p.plan.slice_ptr.size(), p.plan.pattern.size() + 1);
  EXPECT_EQ(p.plan.slice_ptr[0], 0);
  for (std::size_t s = 0; s < p.plan.pattern.size(); ++s) {
    krysol::Offset longest = 0;
    for (std::size_t i = s * slice; i < std::min(rows, (s + 1) * slice); ++i) {
      longest = std::max(longest, p.a.row_ptr(i + 1) - p.a.row_ptr(i));
    }
    EXPECT_EQ(p.plan.slice_ptr[s + 1] - p.plan.slice_ptr[s], longest * slice) << s;
  }
  EXPECT_GT(std::count(p.plan.pattern.begin(), p.plan.pattern.end(), -1), 10);
}

/// A row whose columns do not ascend has no place in a list, and keeps its slice from being masked.
TEST(MaskedSlices, LeaveRowsOutOfOrderAlone) {
  HostCsr<double> a = grid();
  const std::size_t row = std::size_t{20} * 12;
  const auto k = static_cast<std::size_t>(a.row_ptr(row));
  std::swap(a.col_idx(k), a.col_idx(k + 1));
  std::swap(a.values(k), a.values(k + 1));
  EXPECT_EQ(Planned(a).plan.pattern[row / slice], -1);
  EXPECT_LT(Planned(grid()).plan.pattern[row / slice], -1);
}

/// Rows that have little in common would be mostly places of no use.
TEST(MaskedSlices, LeaveRowsApartThatHaveLittleInCommon) {
  auto t = no_entries<double>(800, 800);
  for (Index i = 0; i < 800; ++i) {
    for (const Index d : {0, 3, 8}) t.add(i, (i + 50 + d + 11 * (i % 8)) % 800, 1 + d);
  }
  const Planned p(krysol::to_csr(t).matrix);
  EXPECT_EQ(std::count(p.plan.pattern.begin(), p.plan.pattern.end(), -1), 100);
  const Planned q(grid(), true, 1);
  EXPECT_EQ(*std::min_element(q.plan.pattern.begin(), q.plan.pattern.end()), -1);
}

template <class Format>
void expect_inf_stays_in_its_rows() {
  const auto host = grid();
  Format a;
  from_csr(host, a);
  const auto n = static_cast<std::size_t>(host.rows);
  const Host exec;
  for (std::size_t j = 0; j < n; j += 5) {
    const krysol::Vector<double, Host> x("x", n);
    const krysol::Vector<double, Host> y("y", n);
    x(j) = std::numeric_limits<double>::infinity();
    apply(exec, 1.0, a, x, 0.0, y);
    exec.fence();
    for (std::size_t i = 0; i < n; ++i) {
      const Index* begin = host.col_idx.data() + host.row_ptr(i);
      const Index* end = host.col_idx.data() + host.row_ptr(i + 1);
      const bool named = std::find(begin, end, static_cast<Index>(j)) != end;
      ASSERT_EQ(std::isinf(y(i)), named) << "row " << i << ", Inf at " << j;
      ASSERT_EQ(y(i) == 0, !named) << "row " << i << ", Inf at " << j;
    }
  }
}

TEST(MaskedSlices, MultiplyNothingThatARowDoesNotHave) {
  expect_inf_stays_in_its_rows<krysol::Stencil<double, Host>>();
  expect_inf_stays_in_its_rows<krysol::StencilPattern<double, Host>>();
}

/// A tile that ends with the matrix, within a slice: its rows are summed, and none after them.
template <class Format>
void expect_sums_of_rows_alone() {
  constexpr double untouched = 7;
  for (const Index height : {41, 40, 43}) {  // the last slice has 4, 8 and 4 rows
    const auto host = krysol::to_csr(poisson2d(12, height)).matrix;
    Format a;
    from_csr(host, a);
    const auto n = static_cast<std::size_t>(host.rows);
    const auto numbers = random_vector<double>(n, 5);
    const Kokkos::View<const double*, Host> x = to_device<Host>(numbers);
    const auto multiply = row_product(a, x);
    constexpr std::size_t tile = 256;
    for (std::size_t first = (n - tile + slice) / slice * slice; first < n; first += slice) {
      const std::size_t count = n - first;
      std::vector<double> sum(count + slice, untouched);
      multiply(krysol::NoTeam{}, static_cast<std::int64_t>(first), static_cast<int>(count),
               sum.data());
      for (std::size_t w = 0; w < count; ++w) {
        double expected = 0;
        for (auto k = host.row_ptr(first + w); k < host.row_ptr(first + w + 1); ++k) {
          const auto at = static_cast<std::size_t>(k);
          expected += host.values(at) * numbers[static_cast<std::size_t>(host.col_idx(at))];
        }
        ASSERT_NEAR(sum[w], expected, 1e-13) << "row " << first + w << " of " << n;
      }
      for (std::size_t w = count; w < sum.size(); ++w) {
        ASSERT_EQ(sum[w], untouched) << "tile from row " << first << " of " << n << ", sum " << w;
      }
    }
  }
}

TEST(MaskedSlices, SumNoRowsPastTheEndOfTheMatrix) {
  expect_sums_of_rows_alone<krysol::Stencil<double, Host>>();
  expect_sums_of_rows_alone<krysol::StencilPattern<double, Host>>();
}

/// Slices of one pattern, masked ones, and those that stay mixed.
TEST(StencilPattern, TakesOtherValuesInPlaceOfItsOwn) {
  for (const HostCsr<double>& host :
       {grid(), krysol::to_csr(poisson2d(1, 5)).matrix,
        krysol::to_csr(random_sparse<double>(200, 150, 6, 31)).matrix}) {
    krysol::StencilPattern<double, Host> before;
    from_csr(host, before);
    HostCsr<double> other = host;
    other.values = Kokkos::View<double*, Host>("other", host.values.extent(0));
    for (std::size_t k = 0; k < other.values.extent(0); ++k) {
      other.values(k) = 1 / (1 + static_cast<double>(k));
    }
    krysol::StencilPattern<double, Host> expected;
    from_csr(other, expected);
    const auto found =
        with_values(before, other.row_ptr.data(), krysol::StoredValue<double>{other.values.data()});
    EXPECT_EQ(to_host(found.values), to_host(expected.values));
    EXPECT_EQ(found.slice_ptr.data(), before.slice_ptr.data());
    EXPECT_NE(found.values.data(), before.values.data());
  }
}

/// Where hardly two rows are alike, nearly each has a list of its own, which is read with them.
TEST(SharedLists, AreCountedAmongTheBytes) {
  const auto host = krysol::to_csr(random_sparse<double>(200, 150, 6, 31)).matrix;
  krysol::Stencil<double, Host> values_too;
  from_csr(host, values_too);
  const auto with_values = static_cast<std::int64_t>(values_too.offset.extent(0));
  EXPECT_GT(with_values, host.nnz() / 2);
  EXPECT_GE(krysol::bytes(values_too), (4 + 8) * with_values);
  krysol::StencilPattern<double, Host> places;
  from_csr(host, places);
  const auto offsets = static_cast<std::int64_t>(places.offset.extent(0));
  EXPECT_GT(offsets, host.nnz() / 2);
  EXPECT_GE(krysol::bytes(places), 8 * host.nnz() + 4 * offsets);
}

}  // namespace
