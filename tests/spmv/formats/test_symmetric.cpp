// One triangle: parts and their carries, blocks, words of 16 and 32 bits, and what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <krysol/spmv/formats/symmetric_bsr.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::Host;
using krysol::Offset;
using krysol::Symmetric;
using krysol::SymmetricBsr;

template <class C>
class OneTriangle : public testing::Test {};
using Entries = testing::Types<
#ifdef KRYSOL_HAVE_FLOAT
    float, Kokkos::complex<float>,
#endif
    double, Kokkos::complex<double>>;
struct EntryName {
  template <class T>
  static std::string GetName(int) {
    return entry_name<T>();
  }
};
TYPED_TEST_SUITE(OneTriangle, Entries, EntryName);

template <class V>
void add_pair(Triplets<V>& t, Index i, Index j, const V& v) {
  t.add(i, j, v);
  if constexpr (krysol::is_complex<V>) {
    t.add(j, i, std::conj(v));
  } else {
    t.add(j, i, v);
  }
}

/// A band whose rows have entries at random places, up to `reach` from the diagonal; every fifth
/// row has no diagonal entry.
template <class V>
Triplets<V> random_band(Index rows, Index reach, Index per_row, std::uint64_t seed) {
  auto t = no_entries<V>(rows, rows);
  Random random(seed);
  for (Index i = 0; i < rows; ++i) {
    if (i % 5 != 3) t.add(i, i, V(static_cast<krysol::Real<V>>(random.number())));
    if (i + reach < rows) add_pair(t, i, i + reach, random.entry<V>());
    for (Index k = 0; k < per_row; ++k) {
      const Index j = i + 1 + random.below(reach);
      if (j < rows) add_pair(t, i, j, random.entry<V>());
    }
  }
  return t;
}

/// Full b x b blocks within half_band of the diagonal, but for block row 5, which lacks one entry
/// and its mirror image, and block row 7, which lacks its diagonal block; `more` rows fill no
/// block.
template <class V>
Triplets<V> symmetric_blocks(Index b, Index block_rows, Index half_band, Index more) {
  auto t = no_entries<V>(b * block_rows + more, b * block_rows + more);
  Random random(18);
  for (Index i = 0; i < b * block_rows; ++i) {
    for (Index j = i; j < std::min(b * block_rows, (i / b + half_band + 1) * b); ++j) {
      if (i == 5 * b && j == 5 * b + 1) continue;
      if (i / b == 7 && j / b == 7) continue;
      if (i == j) {
        t.add(i, i, V(static_cast<krysol::Real<V>>(random.number())));
      } else {
        add_pair(t, i, j, random.entry<V>());
      }
    }
  }
  for (Index i = b * block_rows; i < t.rows; ++i) {
    t.add(i, i, V(1));
    add_pair(t, i, i - b, random.entry<V>());
  }
  return t;
}

template <class Format, class V>
Format made_from(const Triplets<V>& t) {
  Format a;
  from_csr(krysol::to_csr(t).matrix, a);
  return a;
}

template <class Format>
void expect_right(const Format& a, const Triplets<FileScalar<typename Format::value_type>>& t,
                  const std::string& name) {
  using T = typename Format::value_type;
  expect_product<Format, T>(a, t, name, {0.0, 1.0, -2.7});
  expect_dot<Format, T>(a, t, name);
}

/// As if a multiplication by wider vectors had left NaN in all of the scratch memory.
template <class Format>
void spoil_carries(const Format& a) {
  using Widest = std::array<double, 16>;  // eight complex numbers
  const auto lease = a.parts.carries.take(Host{});
  Widest* const held = lease->template sum<Widest>();
  std::fill_n(held, a.parts.carries.count(), Widest{});
  for (std::int64_t k = 0; k < a.parts.carries.count(); ++k) held[k].fill(quiet_nan<double>());
}

TYPED_TEST(OneTriangle, CarriesSumsAcrossParts) {
  using T = TypeParam;
  // Reaches on both sides of a vector, a tile and a part.
  for (const Index reach : {1, 7, 8, 9, 255, 256, 300, 3000}) {
    const auto entries = random_band<FileScalar<T>>(20001, reach, 9, 5);
    const auto a = made_from<Symmetric<T, Host>>(entries);
    EXPECT_GE(a.parts.count(), 4) << reach;
    EXPECT_EQ(a.nnz(), krysol::to_csr(entries).matrix.nnz());
    expect_right(a, entries, "reach " + std::to_string(reach));
  }
}

TYPED_TEST(OneTriangle, TakesNothingThatItsScratchMemoryHeld) {
  using T = TypeParam;
  using V = FileScalar<T>;
  for (const Index reach : {1, 8, 300}) {
    const auto entries = random_band<V>(20001, reach, 9, 5);
    const auto a = made_from<Symmetric<T, Host>>(entries);
    ASSERT_GE(a.parts.count(), 4) << reach;
    spoil_carries(a);
    expect_right(a, entries, "reach " + std::to_string(reach));
  }
  const auto entries = symmetric_blocks<V>(3, 3000, 8, 1);
  const auto a = made_from<SymmetricBsr<T, Host>>(entries);
  ASSERT_GE(a.parts.count(), 4);
  spoil_carries(a);
  expect_right(a, entries, "blocks");
}

TYPED_TEST(OneTriangle, TakesRowsThatShareOffsetsEightAtATime) {
  using T = TypeParam;
  const auto entries = as<FileScalar<T>>(poisson2d(301, 200));  // sides no multiple of 8
  const auto a = made_from<Symmetric<T, Host>>(entries);
  EXPECT_GE(a.parts.count(), 16);
  // Nine words where all eight rows have theirs; 0, 1 and 301 are the offsets.
  EXPECT_LT(a.short_pattern.extent(0), static_cast<std::size_t>(a.rows));
  expect_right(a, entries, "grid");
}

TYPED_TEST(OneTriangle, HandsSumsOnPastSeveralParts) {
  using T = TypeParam;
  // The first row has entries in all parts, and a band makes the matrix large enough for several.
  auto entries = random_band<FileScalar<T>>(30000, 20, 6, 7);
  for (Index j = 1000; j < 30000; j += 997)
    add_pair(entries, 0, j, FileScalar<T>(static_cast<krysol::Real<T>>(j % 7)));
  const auto a = made_from<Symmetric<T, Host>>(entries);
  EXPECT_GE(a.parts.count(), 4);
  const auto carry_ptr = to_host(a.parts.carry_ptr);
  const auto part_row = to_host(a.parts.part_row);
  EXPECT_GT(carry_ptr[1], part_row[3] - part_row[1]);
  expect_right(a, entries, "arrow");
}

TYPED_TEST(OneTriangle, HasWordsOf32BitsWhereOffsetsNeedThem) {
  using T = TypeParam;
  for (const Index reach : {krysol::longest_short_reach, krysol::longest_short_reach + 1}) {
    auto entries = symmetric_blocks<FileScalar<T>>(2, 35000, 1, 0);
    Random random(9);
    add_pair(entries, 11, 11 + reach, random.entry<FileScalar<T>>());
    const auto a = made_from<Symmetric<T, Host>>(entries);
    const bool is_short = reach == krysol::longest_short_reach;
    EXPECT_EQ(a.short_pattern.extent(0) > 0, is_short);
    EXPECT_EQ(a.long_pattern.extent(0) > 0, !is_short);
    expect_right(a, entries, std::to_string(reach));
    SymmetricBsr<T, Host> blocks;
    blocks.block = 2;
    from_csr(krysol::to_csr(entries).matrix, blocks);
    EXPECT_EQ(blocks.long_pattern.extent(0) > 0, !is_short);
    expect_right(blocks, entries, std::to_string(reach));
  }
}

TYPED_TEST(OneTriangle, TakesBlocksOfEverySize) {
  using T = TypeParam;
  for (Index b = 2; b <= krysol::largest_block; ++b) {
    for (const Index half_band : {0, 1, 40}) {
      const auto entries = symmetric_blocks<FileScalar<T>>(b, 133, half_band, b - 1);
      const auto host = krysol::to_csr(entries).matrix;
      SymmetricBsr<T, Host> a;
      from_csr(host, a);
      const std::string name = std::to_string(b) + ", " + std::to_string(half_band);
      EXPECT_EQ(a.block, b) << name;
      EXPECT_EQ(a.nnz(), host.nnz()) << name;
      expect_right(a, entries, name);
    }
  }
}

TYPED_TEST(OneTriangle, CarriesBlocksAcrossParts) {
  using T = TypeParam;
  for (const Index b : {2, 3, 8}) {
    const auto entries = symmetric_blocks<FileScalar<T>>(b, 9000 / b, 24 / b, 1);
    const auto a = made_from<SymmetricBsr<T, Host>>(entries);
    EXPECT_EQ(a.block, b);
    EXPECT_GE(a.parts.count(), 4) << b;
    // An index for a block, and some for the two block rows that are not full.
    EXPECT_LT(a.short_pattern.extent(0),
              a.values.extent(0) / static_cast<std::size_t>(b * b) * 3 / 2 + 300)
        << b;
    expect_right(a, entries, std::to_string(b));
  }
}

/// Numbers that end where a page ends; the next one may not be touched.
template <class T>
class BeforeAnEdge {
 public:
  explicit BeforeAnEdge(const std::vector<T>& from) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = from.size() * sizeof(T);
    const std::size_t pages = (bytes + page - 1) / page * page;
    size_ = pages + page;
    void* const all =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return;
    begin_ = static_cast<char*>(all);
    if (::mprotect(begin_ + pages, page, PROT_NONE) != 0) return;
    data_ = reinterpret_cast<T*>(begin_ + (pages - bytes));
    std::copy(from.begin(), from.end(), data_);
  }
  ~BeforeAnEdge() {
    if (begin_ != nullptr) ::munmap(begin_, size_);
  }
  BeforeAnEdge(const BeforeAnEdge&) = delete;
  BeforeAnEdge& operator=(const BeforeAnEdge&) = delete;
  T* data() const { return data_; }  // null where this system has no such pages

 private:
  char* begin_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

TYPED_TEST(OneTriangle, ReadsNothingBehindX) {
  using T = TypeParam;
  for (Index b = 2; b <= krysol::largest_block; ++b) {
    const auto entries = symmetric_blocks<FileScalar<T>>(b, 48, 3, 0);
    const auto a = made_from<SymmetricBsr<T, Host>>(entries);
    ASSERT_EQ(a.block, b);
    const auto n = static_cast<std::size_t>(a.rows);
    const auto numbers = random_vector<T>(n, 21);
    const BeforeAnEdge<T> x(numbers);
    const BeforeAnEdge<T> y(std::vector<T>(n, T(1)));
    ASSERT_TRUE(x.data() != nullptr && y.data() != nullptr);
    apply(Host{}, T(1), a, krysol::Vector<T, Host>(x.data(), n), T(0),
          krysol::Vector<T, Host>(y.data(), n));
    Kokkos::fence();
    const Product<T> exact(entries, numbers);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(magnitude(widen(y.data()[i]) - exact.sum[i]), exact.bound(i, T(1), T(0), T(0)))
          << b << ", row " << i;
    }
  }
}

/// The order of each sum, as the layout gives it: the same numbers on any machine and any number of
/// threads. Whole numbers would hide another order.
TEST(OneTriangleSums, HaveTheOrderOfTheParts) {
  const auto entries = random_band<double>(6000, 40, 9, 5);
  const auto host = krysol::to_csr(entries).matrix;
  const auto a = made_from<Symmetric<double, Host>>(entries);
  ASSERT_GE(a.parts.count(), 2);
  const auto part_row = to_host(a.parts.part_row);
  const auto x = random_vector<double>(6000, 3);
  // Row by row: what a part adds to rows after its end comes last, part by part.
  std::vector<double> y(6000);
  std::vector<std::vector<double>> carry(part_row.size(), std::vector<double>(6000));
  for (std::size_t p = 0; p + 1 < part_row.size(); ++p) {
    for (Index i = part_row[p]; i < part_row[p + 1]; ++i) {
      double own = 0;
      double chain[4] = {};
      std::vector<Offset> right;
      const auto row = static_cast<std::size_t>(i);
      for (auto k = host.row_ptr(row); k < host.row_ptr(row + 1); ++k) {
        const Index j = host.col_idx(static_cast<std::size_t>(k));
        if (j == i) own = host.values(static_cast<std::size_t>(k)) * x[row];
        if (j > i) right.push_back(k);
      }
      for (std::size_t n = 0; n < right.size(); ++n) {
        const auto k = static_cast<std::size_t>(right[n]);
        const auto j = static_cast<std::size_t>(host.col_idx(k));
        double& c = chain[n < right.size() / 4 * 4 ? n % 4 : 0];
        c = std::fma(host.values(k), x[j], c);
        double& to = static_cast<Index>(j) < part_row[p + 1] ? y[j] : carry[p][j];
        to = std::fma(host.values(k), x[row], to);
      }
      y[row] += own + ((chain[0] + chain[2]) + (chain[1] + chain[3]));
    }
  }
  for (std::size_t p = 0; p + 1 < part_row.size(); ++p) {
    for (auto j = static_cast<std::size_t>(part_row[p + 1]); j < y.size(); ++j) y[j] += carry[p][j];
  }
  const auto got = times(a, x);
  // A compiler may fuse a product with its sum, or not: one rounding of the largest of the terms.
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(got[i], y[i], 1e-14) << i;
}

#ifdef KOKKOS_ENABLE_OPENMP
template <class Format, class V>
void expect_same_bits(const Triplets<V>& entries) {
  using T = typename Format::value_type;
  const auto a = made_from<Format>(entries);
  const auto x = to_device<Kokkos::OpenMP>(random_vector<T>(static_cast<std::size_t>(a.rows), 8));
  const auto run_with = [&](int threads) {
    const Kokkos::OpenMP exec(threads);
    const auto y = to_device<Kokkos::OpenMP>(std::vector<T>(static_cast<std::size_t>(a.rows)));
    krysol::ReductionWorkspace<Kokkos::OpenMP> sums;
    const double dot = apply_dot(exec, a, x, y, sums);
    return std::pair{dot, to_host(y)};
  };
  EXPECT_GE(a.parts.count(), 4);
  const auto one = run_with(1);
  for (const int threads : {2, 3, 4}) EXPECT_TRUE(run_with(threads) == one) << threads;
}

TYPED_TEST(OneTriangle, HasTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  using V = FileScalar<T>;
  expect_same_bits<Symmetric<T, Kokkos::OpenMP>>(random_band<V>(20001, 300, 9, 5));
  expect_same_bits<SymmetricBsr<T, Kokkos::OpenMP>>(symmetric_blocks<V>(3, 3000, 8, 1));
}
#endif

// ---- what is refused

template <class S>
std::string refusal_of(const HostCsr<S>& host) {
  const std::string one = message_of([&] {
    Symmetric<S, Host> a;
    from_csr(host, a);
  });
  const std::string other = message_of([&] {
    SymmetricBsr<S, Host> a;
    from_csr(host, a);
  });
  const auto said = [](const std::string& text) { return text.substr(text.find(": ") + 2); };
  if (one == "nothing was thrown") return one;
  EXPECT_EQ(said(one), said(other));
  EXPECT_TRUE(one.starts_with("symmetric: ")) << one;
  return said(one);
}

TEST(OneTriangleRefuses, APairOfEntriesThatDiffers) {
  auto t = random_band<double>(20001, 300, 9, 5);
  auto host = krysol::to_csr(t).matrix;
  const auto at = [&](Index i, Index j) -> double& {
    const auto row = static_cast<std::size_t>(i);
    auto k = static_cast<std::size_t>(host.row_ptr(row));
    while (host.col_idx(k) != j) ++k;
    return host.values(k);
  };
  const double kept = at(10000, 10300);
  at(10000, 10300) = 2.5;
  at(10300, 10000) = 2.25;
  EXPECT_EQ(refusal_of(host),
            "the matrix is not symmetric to the bit: A(10000, 10300) = 2.5, and A(10300, 10000) = "
            "2.25 (counted from 0)");
  at(9000, 9300) = 0.5;  // the first of several is named
  at(9300, 9000) = -0.5;
  EXPECT_TRUE(holds(refusal_of(host), "A(9000, 9300) = 0.5, and A(9300, 9000) = -0.5"));
  at(9000, 9300) = at(9300, 9000);
  at(10000, 10300) = at(10300, 10000) = kept;
  Symmetric<double, Host> a;
  from_csr(host, a);
  EXPECT_EQ(a.nnz(), host.nnz());
}

TEST(OneTriangleRefuses, AnEntryWithoutItsMirrorImage) {
  for (const bool above : {true, false}) {
    auto t = as<double>(poisson2d(50, 50));
    t.add(above ? 7 : 1000, above ? 1000 : 7, 0);  // stored, though it is zero
    EXPECT_EQ(refusal_of(krysol::to_csr(t).matrix),
              above ? "the matrix is not symmetric to the bit: A(7, 1000) = 0, and A(1000, 7) is "
                      "not stored (counted from 0)"
                    : "the matrix is not symmetric to the bit: A(1000, 7) = 0, and A(7, 1000) is "
                      "not stored (counted from 0)");
  }
  // As many above the diagonal as below it.
  auto t = as<double>(poisson2d(50, 50));
  t.add(7, 1000, 1);
  t.add(2000, 9, 1);
  EXPECT_TRUE(holds(refusal_of(krysol::to_csr(t).matrix), "A(7, 1000) = 1, and A(1000, 7) is not"));
  auto late = as<double>(poisson2d(50, 50));
  late.add(2000, 9, 1);
  late.add(2100, 2300, 1);
  EXPECT_TRUE(
      holds(refusal_of(krysol::to_csr(late).matrix), "A(2000, 9) = 1, and A(9, 2000) is not"));
}

TEST(OneTriangleRefuses, WhatIsNotHermitian) {
  using Complex = std::complex<double>;
  auto t = no_entries<Complex>(3, 3);
  t.add(0, 1, Complex(1, 2));
  t.add(1, 0, Complex(1, 2));
  EXPECT_EQ(refusal_of(krysol::to_csr(t).matrix),
            "the matrix is not Hermitian to the bit: A(0, 1) = (1, 2), and A(1, 0) = (1, 2) "
            "(counted from 0)");
  auto diagonal = no_entries<Complex>(3, 3);
  diagonal.add(2, 2, Complex(1, 2));
  EXPECT_TRUE(holds(refusal_of(krysol::to_csr(diagonal).matrix), "A(2, 2) = (1, 2)"));
}

TEST(OneTriangleRefuses, RectanglesAndColumnsOutOfOrder) {
  EXPECT_EQ(refusal_of(krysol::to_csr(random_sparse<double>(30, 40, 2, 51)).matrix),
            "a 30 x 40 matrix is not square");
  auto host = krysol::to_csr(as<double>(poisson1d(50))).matrix;
  std::swap(host.col_idx(29), host.col_idx(30));
  std::swap(host.values(29), host.values(30));
  EXPECT_EQ(refusal_of(host), "the columns of row 10 do not ascend (counted from 0)");
}

TEST(OneTriangleRefuses, MatricesThatReachTooFar) {
  const auto host = krysol::to_csr(symmetrised(random_sparse<double>(60000, 60000, 3, 5))).matrix;
  const std::string message = message_of([&] {
    Symmetric<double, Host> a;
    from_csr(host, a);
  });
  for (const char* part :
       {"symmetric: 4 parts of 15000 rows would hand on sums of ",
        " stored entries, because entries are up to 59", "Reorder the rows first"}) {
    EXPECT_TRUE(holds(message, part)) << part << " is missing in: " << message;
  }
  // The same pattern in the caches of a core is one part.
  Symmetric<double, Host> small;
  from_csr(krysol::to_csr(symmetrised(random_sparse<double>(6000, 6000, 3, 5))).matrix, small);
  EXPECT_EQ(small.parts.count(), 1);
}

TEST(OneTriangleRefuses, TooFewFullBlocksAndSizesOutOfRange) {
  const auto host = krysol::to_csr(random_band<double>(60000, 20, 9, 5)).matrix;
  const std::string message = message_of([&] {
    SymmetricBsr<double, Host> a;
    from_csr(host, a);
  });
  EXPECT_TRUE(holds(message, "symmetric_bsr: ")) << message;
  EXPECT_TRUE(holds(message, "at most half of them pay")) << message;
  SymmetricBsr<double, Host> a;
  for (const char* wrong : {"1", "9", "0", "x", "-3", ""}) {
    EXPECT_FALSE(set_variant(a, wrong)) << wrong;
  }
  EXPECT_TRUE(set_variant(a, "8"));
  a.block = 9;
  EXPECT_EQ(message_of([&] { from_csr(host, a); }),
            "krysol::from_csr(symmetric_bsr): blocks of 2 to 8, not of 9");
}

TEST(OneTriangleSums, KeepNaNForTheSolversToName) {
  auto t = as<double>(poisson1d(50));
  for (const auto& [i, j] : {std::pair{3, 4}, {4, 3}}) t.add(i, j, quiet_nan<double>());
  const auto a = made_from<Symmetric<double, Host>>(t);
  const auto y = times(a, std::vector<double>(50, 1.0));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(is_finite(y[i]), i != 3 && i != 4) << i;
}

}  // namespace
