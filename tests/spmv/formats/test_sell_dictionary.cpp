// A table of values: counts on both sides of its limits, values by their bits, and refusals.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>

#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Offset;

template <class On>
class SellDictionary : public testing::Test {};
using SellDictionaryCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(SellDictionary, SellDictionaryCases, OnName);

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(T)) == 0;
}

/// A band of rows of 1 to 9 entries that take `count` values in turn, the first of them 1/1024.
template <class V>
Triplets<V> rows_of_values(Index rows, Index count) {
  auto t = no_entries<V>(rows, rows);
  Index next = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < 1 + i % 9; ++k) {
      t.add(i, (i + k) % rows, V(static_cast<Real<V>>(1 + next++ % count) / 1024));
    }
  }
  return t;
}

TYPED_TEST(SellDictionary, EqualsTheOracleForAnyNumberOfValues) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using Format = krysol::SellDictionary<T, Exec>;
  for (const Index count : {1, 2, 15, 16, 17, 255, 256, 257, 3000}) {
    const auto entries = rows_of_values<FileScalar<T>>(1003, count);
    const auto host = krysol::to_csr(entries).matrix;
    const std::string name = std::to_string(count) + " values";
    for (const Index sigma : {0, 1, 512}) {
      Format a;
      a.sigma = sigma;
      from_csr(host, a);
      EXPECT_EQ(a.distinct, count) << name;
      EXPECT_EQ(a.code.extent(0) > 0, count <= 256) << name;
      EXPECT_EQ(a.long_code.extent(0) > 0, count > 256) << name;
      expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
      expect_dot<Format, T>(a, entries, name);
    }
  }
}

TYPED_TEST(SellDictionary, NumbersValuesInTheOrderOfTheEntries) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  // Several pieces on several threads, and values that the second piece is the first to name.
  const auto host = [] {
    auto t = no_entries<FileScalar<T>>(50000, 50000);
    for (Index i = 0; i < t.rows; ++i) {
      for (Index k = 0; k < 6; ++k) {
        t.add(i, (i + 7 * k) % t.rows, FileScalar<T>(static_cast<Real<T>>(i / 100 + 1 + k % 2)));
      }
    }
    return krysol::to_csr(t).matrix;
  }();
  krysol::SellDictionary<T, Exec> a;
  from_csr(host, a);
  std::vector<T> seen;
  for (std::size_t k = 0; k < host.values.extent(0); ++k) {
    if (std::find(seen.rbegin(), seen.rend(), host.values(k)) == seen.rend()) {
      seen.push_back(host.values(k));
    }
  }
  const auto table = to_host(a.table);
  ASSERT_EQ(static_cast<std::size_t>(a.distinct), seen.size());
  for (std::size_t v = 0; v < seen.size(); ++v) EXPECT_EQ(table[v], seen[v]) << v;
}

TYPED_TEST(SellDictionary, TellsValuesApartByTheirBits) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using R = Real<T>;
  const R nan = std::numeric_limits<R>::quiet_NaN();
  const std::vector<T> values = {T(R(0)), T(-R(0)), T(nan),
                                 T(-nan), T(R(1)),  T(std::numeric_limits<R>::infinity())};
  auto entries = no_entries<FileScalar<T>>(600, 600);
  for (Index i = 0; i < 600; ++i) entries.add(i, i, FileScalar<T>(1));
  auto host = krysol::to_csr(entries).matrix;
  for (std::size_t k = 0; k < 600; ++k) host.values(k) = values[k % values.size()];
  krysol::SellDictionary<T, Exec> a;
  from_csr(host, a);
  EXPECT_EQ(a.distinct, 6);
  const auto table = to_host(a.table);
  for (std::size_t v = 0; v < values.size(); ++v) EXPECT_TRUE(same_bits(table[v], values[v])) << v;
  // Each row as csr has it.
  const auto y = times(a, std::vector<T>(600, T(R(2))));
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t v = i % values.size();
    EXPECT_EQ(is_finite(y[i]), v < 2 || v == 4) << i;
    if (is_finite(y[i])) {
      EXPECT_EQ(y[i], T(R(v == 4 ? 2 : 0))) << i;
    }
  }
}

TYPED_TEST(SellDictionary, StoresEachValueOnceAndTakesAnyColumns) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using Format = krysol::SellDictionary<T, Exec>;
  auto entries = random_sparse<FileScalar<T>>(3000, 200000, 9, 71);  // far slices
  for (auto& v : entries.values) v = FileScalar<T>(static_cast<Real<T>>(v == v ? 3 : 0));
  const auto host = krysol::to_csr(entries).matrix;
  Format a;
  from_csr(host, a);
  EXPECT_LE(a.distinct, 3);  // 3, and sums of duplicates
  EXPECT_GT(a.high.extent(0), 0);
  expect_product<Format, T>(a, entries, "scattered", {0.0, 1.0, -2.7});
  // 1 byte for a value, 4 for a column, and what slices and rows take.
  EXPECT_LT(krysol::bytes_of(a), 7 * host.nnz() + 4 * host.rows);
}

TEST(SellDictionaries, SayHowManyValuesAreTooMany) {
  const auto diagonal = [](Index n) {
    auto t = no_entries<double>(n, n);
    for (Index i = 0; i < n; ++i) t.add(i, i, 1 + i);
    return krysol::to_csr(t).matrix;
  };
  using Format = krysol::SellDictionary<double, krysol::Host>;
  Format a;
  EXPECT_EQ(message_of([&] { from_csr(diagonal(65536), a); }), "nothing was thrown");
  EXPECT_EQ(a.distinct, 65536);
  EXPECT_EQ(
      message_of([&] {
        Format b;
        from_csr(diagonal(65537), b);
      }),
      "sell_dictionary: 65537 distinct values among 65537 of 65537 nonzeros; a table holds at "
      "most 65536");
  // As soon as it is seen: a piece of the entries for each thread, each of values of its own.
  const std::string message = message_of([&] {
    Format b;
    from_csr(diagonal(1000000), b);
  });
  EXPECT_TRUE(
      holds(message, "sell_dictionary: 65537 distinct values among 65537 of 1000000 nonzeros"))
      << message;
}

TEST(SellDictionaries, AreSampled) {
  const auto few = krysol::to_csr(rows_of_values<double>(30000, 5)).matrix;
  EXPECT_EQ(krysol::sample_values(few).distinct, 5);
  EXPECT_GE(krysol::sample_values(few).looked_at, 4096);
  const auto many = krysol::to_csr(random_sparse<double>(3000, 3000, 9, 1)).matrix;
  const auto sample = krysol::sample_values(many);
  EXPECT_EQ(sample.distinct, sample.looked_at);
  EXPECT_EQ(krysol::sample_values(krysol::to_csr(no_entries<double>(5, 5)).matrix).looked_at, 0);
}

}  // namespace
