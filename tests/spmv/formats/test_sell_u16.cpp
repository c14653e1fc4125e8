// Columns of 16 bits: near slices, slices in pages and far ones, their limits, and refusals.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Offset;
using krysol::ShortSlice;

template <class On>
class SellU16 : public testing::Test {};
using SellU16Cases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(SellU16, SellU16Cases, OnName);

template <class Exec>
constexpr Index slice_rows = krysol::ShortSlices<Exec>::slice_rows;

/// `slices` slices of rows, row i with the columns base + 3 i, base + 3 i + 1, ... of its own.
template <class V, class Exec>
Triplets<V> near_rows(Index slices, Index cols) {
  auto t = no_entries<V>(slices * slice_rows<Exec>, cols);
  Random random(61);
  for (Index i = 0; i < t.rows; ++i) {
    for (Index k = 0; k < 4 + i % 3; ++k) t.add(i, 1000 + 3 * i + k, random.entry<V>());
  }
  return t;
}

/// What the format holds in row i, from its arrays: columns, and values in their order.
template <class S, class Exec>
void expect_entries(const krysol::SellU16<S, Exec>& a, const HostCsr<S>& host,
                    const std::string& name) {
  constexpr Index C = slice_rows<Exec>;
  const auto slice_ptr = to_host(a.slice_ptr);
  const auto slice = to_host(a.slice);
  const auto page = to_host(a.page);
  const auto low = to_host(a.low);
  const auto high = to_host(a.high);
  const auto row = to_host(a.row);
  const auto values = to_host(a.values);
  Offset entries = 0;
  for (std::size_t s = 0; s < slice.size(); ++s) {
    const ShortSlice of = slice[s];
    for (Index l = 0; l < C; ++l) {
      const auto lane = s * C + static_cast<std::size_t>(l);
      const std::size_t i =
          row.empty() || lane >= row.size() ? lane : static_cast<std::size_t>(row[lane]);
      Offset length = 0;
      if (lane < static_cast<std::size_t>(host.rows)) {
        length = host.row_ptr(i + 1) - host.row_ptr(i);
      }
      Offset j = 0;
      for (Offset k = slice_ptr[s] + l; k < slice_ptr[s + 1]; k += C, ++j) {
        const auto at = static_cast<std::size_t>(k);
        const auto far_at = static_cast<std::size_t>(Offset{of.at} * C + k - slice_ptr[s]);
        const bool there =
            of.pages == 0 ? high[far_at] != krysol::no_column : low[at] != krysol::no_column;
        ASSERT_EQ(there, j < length) << name << ", row " << i;
        if (!there) continue;
        std::int64_t col = low[at];
        if (of.pages == 0) col |= std::int64_t{high[far_at]} << 16;
        if (of.pages == 1) col += of.at;
        if (of.pages > 1) {
          ASSERT_LT(low[at] >> krysol::page_bits, of.pages) << name;
          col += page[static_cast<std::size_t>(of.at + (low[at] >> krysol::page_bits))];
        }
        const auto from = static_cast<std::size_t>(host.row_ptr(i) + j);
        ASSERT_EQ(col, host.col_idx(from)) << name << ", row " << i;
        ASSERT_EQ(values[at], host.values(from)) << name << ", row " << i;
        ++entries;
      }
      ASSERT_GE(j, length) << name << ", row " << i;
    }
  }
  EXPECT_EQ(entries, host.nnz()) << name;
}

TYPED_TEST(SellU16, HoldEveryEntryInItsPlace) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::SellU16<T, typename TypeParam::Space>;
  for (const auto& shape : shapes<T>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    for (const Index sigma : {0, 1, 64}) {
      Format a;
      a.sigma = sigma;
      from_csr(host, a);
      expect_entries(a, host, shape.name + ", " + std::to_string(sigma));
    }
  }
}

/// The widest near slice, and the narrowest that is not.
TYPED_TEST(SellU16, AreNearUpTo65535Columns) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using Format = krysol::SellU16<T, Exec>;
  using V = FileScalar<T>;
  for (const Index reach : {65533, 65534, 65535, 65536}) {
    auto entries = near_rows<V, Exec>(6, 70000);
    entries.add(slice_rows<Exec> + 1, 5, V(2));
    entries.add(slice_rows<Exec> + 2, 5 + reach, V(3));
    const auto host = krysol::to_csr(entries).matrix;
    Format a;
    a.sigma = 1;
    from_csr(host, a);
    const std::string name = std::to_string(reach);
    const auto slice = to_host(a.slice);
    EXPECT_EQ(slice[0].pages, 1) << name;
    EXPECT_EQ(slice[0].at, 1000) << name;
    if (reach <= 65534) {
      EXPECT_EQ(slice[1].pages, 1) << name;
      EXPECT_EQ(slice[1].at, 5) << name;
    } else {
      EXPECT_EQ(slice[1].pages, 2) << name;  // columns 0 to 4095, and the far one
    }
    expect_entries(a, host, name);
    expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
  }
}

/// `pages` pages of 4096 columns, the first and the last column of each, and a slice of them alone.
template <class V, class Exec>
Triplets<V> rows_in_pages(Index pages) {
  constexpr Index apart = 3 * krysol::page_columns;
  auto t = near_rows<V, Exec>(8, pages * apart + krysol::page_columns);
  Random random(62);
  for (Index p = 0; p < pages; ++p) {
    const Index first = (pages - p) * apart;
    const Index i = 2 * slice_rows<Exec> + p % slice_rows<Exec>;
    t.add(i, first, random.entry<V>());
    t.add(i, first + krysol::page_columns - 1, random.entry<V>());
  }
  return t;
}

TYPED_TEST(SellU16, StandInUpTo15Pages) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using Format = krysol::SellU16<T, Exec>;
  // The slice's own columns, from 1000 on, lie in the first page.
  for (const Index pages : {6, 13, 14, 15}) {
    const auto entries = rows_in_pages<FileScalar<T>, Exec>(pages);
    const auto host = krysol::to_csr(entries).matrix;
    Format a;
    a.sigma = 1;
    from_csr(host, a);
    const std::string name = std::to_string(pages);
    const auto slice = to_host(a.slice);
    const bool fits = pages + 1 <= krysol::most_pages;
    EXPECT_EQ(slice[2].pages, fits ? pages + 1 : 0) << name;
    EXPECT_EQ(a.high.extent(0) > 0, !fits) << name;
    expect_entries(a, host, name);
    expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
    // No place that only pads reads an Inf into a row, whatever it is given to read.
    auto x = std::vector<T>(static_cast<std::size_t>(a.cols), T(1));
    const Index row = 2 * slice_rows<Exec>;
    const auto col = static_cast<std::size_t>(
        host.col_idx(static_cast<std::size_t>(host.row_ptr(static_cast<std::size_t>(row)))));
    x[0] = infinity<T>();
    x[col] = infinity<T>();
    const auto y = times(a, x);
    for (Index i = 0; i < a.rows; ++i) {
      bool named = false;
      for (Offset k = host.row_ptr(static_cast<std::size_t>(i));
           k < host.row_ptr(static_cast<std::size_t>(i) + 1); ++k) {
        named = named || static_cast<std::size_t>(host.col_idx(static_cast<std::size_t>(k))) == col;
      }
      EXPECT_EQ(is_finite(y[static_cast<std::size_t>(i)]), !named) << name << ", row " << i;
    }
  }
}

/// Eight neighbours are read as they lie, unless a page ends among them.
TYPED_TEST(SellU16, ReadNeighboursAcrossPages) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using Format = krysol::SellU16<T, Exec>;
  using V = FileScalar<T>;
  Random random(63);
  for (const Index first : {4000, 4088, 4089, 4092, 4095}) {
    auto entries = no_entries<V>(10 * slice_rows<Exec> + 3, 300000);
    for (Index i = 0; i < entries.rows; ++i) {
      for (const Index offset : {0, 2 * 4096, 100000, 110000, 111111}) {
        entries.add(i, first + offset + i, random.entry<V>());
      }
    }
    const auto host = krysol::to_csr(entries).matrix;
    Format a;
    from_csr(host, a);
    const auto slice = to_host(a.slice);
    EXPECT_GT(slice[0].pages, 1) << first;
    EXPECT_EQ(slice[0].runs, 1) << first;
    expect_entries(a, host, std::to_string(first));
    expect_product<Format, T>(a, entries, std::to_string(first), {0.0, 1.0});
    expect_product<krysol::SellDictionary<T, Exec>, T>(
        [&] {
          krysol::SellDictionary<T, Exec> b;
          from_csr(host, b);
          return b;
        }(),
        entries, std::to_string(first) + ", sell_dictionary", {0.0, 1.0});
  }
}

TYPED_TEST(SellU16, HoldTheLastColumnOfAll) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  constexpr Index cols = std::numeric_limits<Index>::max();
  auto entries = near_rows<FileScalar<T>, Exec>(40, cols);
  Random random(64);
  for (Index i = 0; i < 2 * slice_rows<Exec>; ++i) {  // a slice in pages, and a far one
    for (Index k = 0; k < (i < slice_rows<Exec> ? 3 : 20); ++k) {
      entries.add(i, cols - 1 - k * 100000000, random.entry<FileScalar<T>>());
    }
  }
  const auto host = krysol::to_csr(entries).matrix;
  krysol::SellU16<T, Exec> a;
  a.sigma = 1;
  from_csr(host, a);
  const auto slice = to_host(a.slice);
  EXPECT_EQ(slice[0].pages, 4);
  EXPECT_EQ(slice[1].pages, 0);
  EXPECT_EQ(slice[2].pages, 1);
  expect_entries(a, host, "2^31 - 1 columns");
}

TEST(ShortSlices, SayWhatRulesThemOut) {
  using Format = krysol::SellU16<double, krysol::Host>;
  auto entries = no_entries<double>(800, 2100000);
  for (Index i = 0; i < 800; ++i) {
    for (Index k = 0; k < 20; ++k) entries.add(i, 100000 * k + 97 * i, 1);
  }
  const auto scattered = krysol::to_csr(entries).matrix;
  Format a;
  EXPECT_EQ(message_of([&] { from_csr(scattered, a); }),
            "sell_u16: only 0 of 16000 "
            "nonzeros are in slices of 8 rows that read x within 65535 columns or in at most "
            "15 pages of 4096; three quarters are the least that pay. An order by --reorder "
            "rcm may bring them together");
  const auto share =
      krysol::short_share(scattered.row_ptr.data(), scattered.col_idx.data(), 800, 8, 512);
  EXPECT_EQ(share.near, 0);
  EXPECT_EQ(share.near_or_pages, 0);
  for (const char* wrong : {"0", "x", "-3", "", "8x"}) EXPECT_FALSE(set_variant(a, wrong)) << wrong;
  EXPECT_TRUE(set_variant(a, "64"));
  EXPECT_EQ(a.sigma, 64);
}

/// Three quarters, to the entry.
TEST(ShortSlices, AllowAQuarterToBeFar) {
  const auto rows = [](Index far_slices) {
    auto t = no_entries<double>(16 * 8, 30000000);
    for (Index i = 0; i < t.rows; ++i) {
      for (Index k = 0; k < 20; ++k) t.add(i, i / 8 < far_slices ? k * 1000000 + i : i + k, 1);
    }
    return krysol::to_csr(t).matrix;
  };
  krysol::SellU16<double, krysol::Host> a;
  EXPECT_EQ(message_of([&] { from_csr(rows(4), a); }), "nothing was thrown");
  EXPECT_TRUE(holds(message_of([&] { from_csr(rows(5), a); }), "only 1760 of 2560 nonzeros"));
  const auto all = rows(4);
  const auto share = krysol::short_share(all.row_ptr.data(), all.col_idx.data(), all.rows, 8, 1);
  EXPECT_DOUBLE_EQ(share.near, 0.75);  // few slices: all of them are looked at
  EXPECT_DOUBLE_EQ(share.near_or_pages, 0.75);
  const auto pages = krysol::to_csr(rows_in_pages<double, krysol::Host>(9)).matrix;
  const auto of_pages =
      krysol::short_share(pages.row_ptr.data(), pages.col_idx.data(), pages.rows, 8, 1);
  EXPECT_EQ(of_pages.near_or_pages, 1);
  EXPECT_LT(of_pages.near, 1);
  EXPECT_GT(of_pages.near, 0.7);
}

/// Rows that are near by themselves and far from each other: what counts is the whole slice.
TEST(ShortSlices, AreSampledAsWholeSlices) {
  for (const Index slices : {1, 3, 16, 17, 1000}) {
    auto t = no_entries<double>(slices * 8, 9000000);
    for (Index i = 0; i < t.rows; ++i) {
      // Four pages within 65535 columns; the eight rows of a slice have 32 pages.
      for (Index k = 0; k < 4; ++k) t.add(i, i % 8 * 1000000 + k * 5000 + i, 1);
    }
    const auto a = krysol::to_csr(t).matrix;
    const auto of_slices = krysol::short_share(a.row_ptr.data(), a.col_idx.data(), a.rows, 8, 1);
    EXPECT_EQ(of_slices.near, 0) << slices;
    EXPECT_EQ(of_slices.near_or_pages, 0) << slices;
    const auto of_rows = krysol::short_share(a.row_ptr.data(), a.col_idx.data(), a.rows, 1, 1);
    EXPECT_EQ(of_rows.near, 1) << slices;
    EXPECT_EQ(of_rows.near_or_pages, 1) << slices;
  }
}

}  // namespace
