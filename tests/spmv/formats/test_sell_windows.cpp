// Slices whose slots are pieces of diagonals, windows of neighbouring columns, or any columns:
// which entries go where, and that nothing else is read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/sell_windows.hpp>

#include <array>
#include <cstring>
#include <set>

#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Offset;
using krysol::SlotsOfSlice;
using krysol::WindowsPlan;

template <class On>
class SlicesOfWindows : public testing::Test {};
using WindowCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(SlicesOfWindows, WindowCases, OnName);

/// Row i holds the columns `cols_of(i)`, each once.
template <class V, class ColsOf>
Triplets<V> rows_of_columns(Index rows, Index cols, const ColsOf& cols_of) {
  auto t = no_entries<V>(rows, cols);
  Random random(29);
  for (Index i = 0; i < rows; ++i) {
    const std::vector<Index> named = cols_of(i);
    for (const Index j : std::set<Index>(named.begin(), named.end())) {
      t.add(i, j, random.entry<V>());
    }
  }
  return t;
}

/// Diagonals, columns near each other in any order, columns all over, and rows that lack some.
template <class V>
Triplets<V> mixed_rows(Index rows, Index cols) {
  return rows_of_columns<V>(rows, cols, [=](Index i) {
    std::vector<Index> named;
    const auto add = [&](Index j) {
      if (j >= 0 && j < cols) named.push_back(j);
    };
    add(i);
    if (i / 64 % 2 == 0) add(i + 3);
    for (const Index k : {0, 1, 2}) add(i / 8 * 8 + (5 * i + 3 * k) % 13);
    if (i % 3 != 0) add(i / 4 * 4 - 7);
    for (Index k = 0; k < i * 7 % 6; ++k) add((i * 131 + k * 977) % cols);
    if (i % 29 == 4) named.clear();
    return named;
  });
}

TYPED_TEST(SlicesOfWindows, EqualTheOracle) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::SellWindows<T, typename TypeParam::Space>;
  for (const Index rows : {1, 7, 8, 61, 300}) {
    for (const Index cols : {5, 15, 16, 17, 61, 400}) {
      const auto entries = mixed_rows<FileScalar<T>>(rows, cols);
      for (const Index sigma : {0, 1, 16, 512}) {
        Format a;
        a.sigma = sigma;
        from_csr(krysol::to_csr(entries).matrix, a);
        const std::string name =
            std::to_string(rows) + " x " + std::to_string(cols) + ":" + std::to_string(sigma);
        EXPECT_EQ(a.nnz(), static_cast<Offset>(entries.values.size())) << name;
        expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
        if (rows == cols) expect_dot<Format, T>(a, entries, name);
      }
    }
  }
}

/// The words of a slice, to look them up.
struct SliceWords {
  const SlotsOfSlice& slots;
  const Index* words;

  SliceWords(const SlotsOfSlice& of_slice, const Index* all_words)
      : slots(of_slice), words(all_words + of_slice.word) {}
  SliceWords(const WindowsPlan& plan, std::size_t s)
      : SliceWords(plan.slice[s], plan.words.data()) {}
  const Index* partial(Index d) const {
    return words + slots.diagonals + SlotsOfSlice::words_of_partial * d;
  }
  const Index* window(Index w) const {
    return partial(slots.partial) + SlotsOfSlice::words_of_window * w;
  }
  const std::uint8_t* places(Index w) const {
    return reinterpret_cast<const std::uint8_t*>(window(w) + 1);
  }
  const Index* scattered() const { return window(slots.windows); }

  /// The column that slot q names for lane l; -1: none.
  Index column(Index q, int l) const {
    if (q < slots.diagonals) return words[q] + l;
    q -= slots.diagonals;
    if (q < slots.partial) return (partial(q)[1] >> l & 1) != 0 ? partial(q)[0] + l : -1;
    q -= slots.partial;
    if (q < slots.windows) {
      return places(q)[l] == krysol::no_entry ? -1 : window(q)[0] + places(q)[l];
    }
    return scattered()[8 * (q - slots.windows) + l];
  }
};

/// Which kinds of slots a plan has depends on the build; here each is made by hand.
TYPED_TEST(SlicesOfWindows, MultiplySlotsOfEachKind) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  constexpr Index lanes = krysol::pack_width;
  const SlotsOfSlice slots{.diagonals = 1, .partial = 3, .windows = 1, .scattered = 1};
  std::vector<Index> words = {4, -2, 0b11111100, 25, 0b00011111, 11, 0b01010101};
  std::array<Index, 2> places{};
  std::array<std::uint8_t, lanes> place = {15, 0, 3, krysol::no_entry, 9, 3, 1, 14};
  std::memcpy(places.data(), place.data(), sizeof(places));
  words.insert(words.end(), {14, places[0], places[1]});
  words.insert(words.end(), {28, -1, 0, 7, -1, 21, 13, 2});
  const SliceWords named(slots, words.data());
  auto entries = no_entries<FileScalar<T>>(lanes, 30);
  std::vector<T> values(static_cast<std::size_t>(slots.slots() * lanes), T(0));
  for (Index q = 0; q < slots.slots(); ++q) {
    for (int l = 0; l < lanes; ++l) {
      if (named.column(q, l) < 0) continue;
      const int value = 1 + (5 * q + 3 * l) % 7;
      values[static_cast<std::size_t>(lanes * q + l)] = T(value);
      entries.add(l, named.column(q, l), FileScalar<T>(value));
    }
  }
  krysol::SellWindows<T, Space> a;
  a.rows = lanes;
  a.cols = entries.cols;
  a.sigma = 1;
  a.entries = static_cast<Offset>(entries.values.size());
  a.slice = krysol::to_device<Space>("slice", std::vector<SlotsOfSlice>{slots});
  a.words = krysol::to_device<Space>("words", words);
  a.values = krysol::to_device<Space>("values", values);
  a.block_row = krysol::to_device<Space>("block_row", std::vector<Index>{0, lanes});
  expect_product<krysol::SellWindows<T, Space>, T>(a, entries, "by hand", {0.0, 1.0, -2.7});
  for (Index bad = 0; bad < a.cols; ++bad) {
    std::vector<T> x(static_cast<std::size_t>(a.cols), T(1));
    x[static_cast<std::size_t>(bad)] = quiet_nan<T>();
    const auto y = times(a, x);
    for (int l = 0; l < lanes; ++l) {
      bool has = false;
      for (Index q = 0; q < slots.slots(); ++q) has = has || named.column(q, l) == bad;
      EXPECT_EQ(is_finite(y[static_cast<std::size_t>(l)]), !has) << l << ", " << bad;
    }
  }
}

/// Registers load whole windows: what no row of the slice names must not matter, nor what only
/// other rows of it do.
TYPED_TEST(SlicesOfWindows, DependOnlyOnTheEntriesOfXThatTheyName) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::SellWindows<T, typename TypeParam::Space>;
  const auto entries = mixed_rows<FileScalar<T>>(150, 170);
  for (const Index sigma : {1, 64}) {
    Format a;
    a.sigma = sigma;
    from_csr(krysol::to_csr(entries).matrix, a);
    for (Index bad = 0; bad < 170; bad += 3) {
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
}

WindowsPlan windows_of(const krysol::HostCsr<double>& a, Index sigma = 1) {
  return krysol::plan_windows(a.row_ptr.data(), a.col_idx.data(), a.rows, a.cols, sigma, 256);
}

/// Each entry has a slot of its lane for itself, which names its column, and all other lanes of
/// slots name none; words and slots follow each other without a gap, windows lie within the
/// columns.
void expect_whole(const WindowsPlan& plan, const krysol::HostCsr<double>& a) {
  ASSERT_EQ(plan.slice.size(), static_cast<std::size_t>((a.rows + 7) / 8));
  Offset slot = 0;
  Offset word = 0;
  for (std::size_t s = 0; s < plan.slice.size(); ++s) {
    const SliceWords mine(plan, s);
    EXPECT_EQ(mine.slots.slot, slot) << s;
    EXPECT_EQ(mine.slots.word, word) << s;
    slot += mine.slots.slots();
    word += mine.slots.words();
    std::set<std::pair<Index, int>> taken;
    for (int l = 0; l < krysol::pack_width; ++l) {
      const std::int64_t i = plan.row_of(static_cast<std::int64_t>(s), l, a.rows);
      if (i < 0) continue;
      for (Offset k = a.row_ptr(static_cast<std::size_t>(i));
           k < a.row_ptr(static_cast<std::size_t>(i) + 1); ++k) {
        const Index q = plan.slot[static_cast<std::size_t>(k)];
        ASSERT_GE(q, 0);
        ASSERT_LT(q, mine.slots.slots());
        EXPECT_EQ(mine.column(q, l), a.col_idx(static_cast<std::size_t>(k)));
        EXPECT_TRUE(taken.insert({q, l}).second) << s << ", " << l << ", " << q;
      }
    }
    for (Index q = 0; q < mine.slots.slots(); ++q) {
      for (int l = 0; l < krysol::pack_width; ++l) {
        if (taken.count({q, l}) == 0) {
          EXPECT_EQ(mine.column(q, l), -1) << s;
        }
      }
    }
    for (Index w = 0; w < mine.slots.windows; ++w) {
      EXPECT_GE(mine.window(w)[0], 0);
      EXPECT_LE(mine.window(w)[0], a.cols - krysol::window_entries);
    }
  }
  EXPECT_EQ(plan.slots, slot);
  EXPECT_EQ(static_cast<Offset>(plan.words.size()), word);
  ASSERT_FALSE(plan.block_row.empty());
  EXPECT_EQ(plan.block_row.back(), a.rows);
  for (std::size_t b = 0; b + 1 < plan.block_row.size(); ++b) EXPECT_EQ(plan.block_row[b] % 8, 0);
}

TEST(WindowPlans, PlaceEveryEntryOnce) {
  for (const Index rows : {1, 8, 61, 300}) {
    for (const Index cols : {5, 16, 17, 400}) {
      const auto a = krysol::to_csr(mixed_rows<double>(rows, cols)).matrix;
      for (const Index sigma : {0, 1, 16, 512}) expect_whole(windows_of(a, sigma), a);
    }
  }
}

/// The plan of a matrix in its order, looked over.
template <class ColsOf>
WindowsPlan plan_of_rows(Index rows, Index cols, const ColsOf& cols_of) {
  const auto a = krysol::to_csr(rows_of_columns<double>(rows, cols, cols_of)).matrix;
  WindowsPlan plan = windows_of(a);
  expect_whole(plan, a);
  return plan;
}

void expect_slots(const SlotsOfSlice& mine, Index diagonals, Index partial, Index windows,
                  Index scattered) {
  EXPECT_EQ(mine.diagonals, diagonals);
  EXPECT_EQ(mine.partial, partial);
  EXPECT_EQ(mine.windows, windows);
  EXPECT_EQ(mine.scattered, scattered);
}

TEST(WindowPlans, TakeDiagonalsThatAllRowsHave) {
  const WindowsPlan plan = plan_of_rows(24, 60, [](Index i) -> std::vector<Index> {
    if (i < 8) return {i, i + 20, i + 40};
    if (i == 12) return {i, i + 30};
    return {i, i + 20, i + 36};
  });
  expect_slots(plan.slice[0], 3, 0, 0, 0);
  expect_slots(plan.slice[1], 1, 0, 2, 0);  // row 12 lacks both, and what it has is near one
  expect_slots(plan.slice[2], 3, 0, 0, 0);
}

/// Rows 1 to 7 of the first slice have a diagonal that begins a column before the first; the last
/// three and four rows lack two that would end beyond the last column.
TEST(WindowPlans, TakeDiagonalsThatMostRowsHave) {
  constexpr Index n = 24;
  const WindowsPlan plan = plan_of_rows(n, n, [](Index i) {
    std::vector<Index> named;
    for (const Index off : {-9, -1, 0, 3, 4, 12}) {
      if (i + off >= 0 && i + off < n && !(off == 12 && i % 3 == 0)) named.push_back(i + off);
    }
    return named;
  });
  if (krysol::instruction_set() == "x86-64-v4") {
    expect_slots(plan.slice[0], 3, 0, 2, 0);
    return;  // windows cost little more there
  }
  expect_slots(plan.slice[0], 3, 2, 0, 0);
  EXPECT_EQ(SliceWords(plan, 0).partial(0)[0], -1);
  EXPECT_EQ(SliceWords(plan, 0).partial(0)[1], 0xfe);
  EXPECT_EQ(SliceWords(plan, 0).partial(1)[0], 12);
  EXPECT_EQ(SliceWords(plan, 0).partial(1)[1], 0b10110110);
  expect_slots(plan.slice[2], 3, 2, 0, 0);
  EXPECT_EQ(SliceWords(plan, 2).partial(0)[1], 0x1f);
  EXPECT_EQ(SliceWords(plan, 2).partial(1)[1], 0x0f);
}

/// Eight rows read sixteen columns, each its own two, in no order; then the last sixteen.
TEST(WindowPlans, TakeColumnsNearEachOtherInAnyOrder) {
  const WindowsPlan plan = plan_of_rows(16, 100, [](Index i) -> std::vector<Index> {
    const Index from = i < 8 ? 32 : 84;
    return {from + (i * 5 + 3) % 8, from + 8 + (i * 3 + 1) % 8};
  });
  expect_slots(plan.slice[0], 0, 0, 2, 0);
  expect_slots(plan.slice[1], 0, 0, 2, 0);
  EXPECT_EQ(SliceWords(plan, 0).window(1)[0], 40);
  EXPECT_EQ(SliceWords(plan, 1).window(1)[0], 84);  // 92 and sixteen are beyond the columns
}

TEST(WindowPlans, TakeAnyColumnsWhereFewAreNear) {
  const WindowsPlan plan = plan_of_rows(8, 5000, [](Index i) -> std::vector<Index> {
    return {i * 400, i * 400 + 150, 4000 + (i < 3 ? i : 100 * i)};
  });
  expect_slots(plan.slice[0], 0, 0, 0, 3);
}

/// A slot of a window costs less than one of any columns, but for three rows none is made.
TEST(WindowPlans, NeedFourRowsForAWindow) {
  for (const Index near : {3, 4, 5}) {
    const WindowsPlan plan = plan_of_rows(8, 9000, [=](Index i) -> std::vector<Index> {
      if (i < near) return {i * 2, 1000 + i * 3};
      return {};
    });
    expect_slots(plan.slice[0], 0, 0, near < 4 ? 0 : 2, near < 4 ? 2 : 0);
  }
}

/// Four rows near each other and four that are not: a window for the four leaves as many slots of
/// any columns as there were.
TEST(WindowPlans, MakeNoWindowThatSavesNothing) {
  const WindowsPlan plan = plan_of_rows(8, 9000, [](Index i) -> std::vector<Index> {
    if (i < 4) return {i};
    return {1000 * i};
  });
  expect_slots(plan.slice[0], 0, 0, 0, 1);
}

TEST(WindowPlans, HaveNoWindowsWithinFewerColumnsThanOne) {
  const WindowsPlan plan = plan_of_rows(8, 15, [](Index i) -> std::vector<Index> {
    return {i * 5 % 8, 8 + i * 3 % 7};
  });
  expect_slots(plan.slice[0], 0, 0, 0, 2);
}

/// Columns that do not ascend, as those of an operator that was given them so, and one twice.
TEST(WindowPlans, LeaveRowsAsTheyAreWhoseColumnsDoNotAscend) {
  constexpr Index rows = 8;
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col_idx;
  for (Index i = 0; i < rows; ++i) {
    for (const Index j : {i + 9, i, i + 9}) col_idx.push_back(j);
    row_ptr.push_back(static_cast<Offset>(col_idx.size()));
  }
  const WindowsPlan plan = krysol::plan_windows(row_ptr.data(), col_idx.data(), rows, 40, 1, 256);
  expect_slots(plan.slice[0], 0, 0, 0, 3);
  for (std::size_t k = 0; k < col_idx.size(); ++k) {
    EXPECT_EQ(plan.slot[k], static_cast<Index>(k % 3));
    EXPECT_EQ(plan.words[8 * (k % 3) + k / 3], col_idx[k]);
  }
}

/// Long rows among short ones, everywhere: a slice of rows in their order has slots for the
/// longest.
TEST(WindowPlans, SortRowsWhereThatCostsLess) {
  const auto uneven = krysol::to_csr(rows_of_columns<double>(2000, 50000, [](Index i) {
                        std::vector<Index> named;
                        const Index length = i % 8 == 3 ? 40 : 4;
                        for (Index k = 0; k < length; ++k) {
                          named.push_back((i * 7919 + k * 1237) % 50000);
                        }
                        return named;
                      })).matrix;
  const WindowsPlan plan = windows_of(uneven, 0);
  EXPECT_EQ(plan.sigma, 512);
  expect_whole(plan, uneven);
}

/// Where the sample sees no entry, nothing speaks for another order of the rows.
TEST(WindowPlans, LeaveRowsAsTheyAreWhereTheSampleIsEmpty) {
  const auto here_and_there = rows_of_columns<double>(
      4096, 4096, [](Index i) { return std::vector<Index>(i % 1024 == 700 ? 1 : 0, i); });
  for (const auto& entries : {here_and_there, no_entries<double>(40, 40)}) {
    SCOPED_TRACE(entries.rows);
    const auto a = krysol::to_csr(entries).matrix;
    const WindowsPlan plan = windows_of(a, 0);
    EXPECT_EQ(plan.sigma, 1);
    expect_whole(plan, a);
    const auto estimate = krysol::estimate_windows(krysol::MatrixProfile(a, true));
    EXPECT_EQ(estimate.variant, std::to_string(plan.sigma));
  }
}

TEST(WindowPlans, AreEstimatedFromASample) {
  const auto grid = rows_of_columns<double>(9000, 9100, [](Index i) -> std::vector<Index> {
    return {i, i + 1, i + 50, i + 100};
  });
  for (const auto& entries : {grid, mixed_rows<double>(6000, 6000)}) {
    const auto a = krysol::to_csr(entries).matrix;
    const auto estimate = krysol::estimate_windows(krysol::MatrixProfile(a, true));
    EXPECT_EQ(estimate.refusal, "");
    krysol::SellWindows<double, krysol::Host> format;
    from_csr(a, format);
    EXPECT_EQ(estimate.variant, std::to_string(format.sigma));
    EXPECT_NEAR(static_cast<double>(estimate.bytes), static_cast<double>(bytes(format)),
                0.1 * static_cast<double>(bytes(format)));
  }
  const auto here_and_there = krysol::to_csr(rows_of_columns<double>(4096, 4096, [](Index i) {
                                return std::vector<Index>(i % 1024 == 700 ? 1 : 0, i);
                              })).matrix;
  EXPECT_EQ(krysol::estimate_windows(krysol::MatrixProfile(here_and_there, true)).bytes, 4 * 12);
  const auto empty = krysol::to_csr(no_entries<double>(40, 40)).matrix;
  EXPECT_EQ(krysol::estimate_windows(krysol::MatrixProfile(empty, true)).bytes, 0);
}

}  // namespace
