// What holds for every format, schedule, entry type and execution space. The cases come from the
// list `Formats`: a format that is added there is tested here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krysol/spmv/formats.hpp>
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::BlockSums;
using krysol::CsrSchedule;
using krysol::HostCsr;
using krysol::Real;

/// A format with vectors of type T; for csr also a schedule.
template <class F, class T, CsrSchedule schedule = CsrSchedule::automatic>
struct Case {
  using Format = F;
  using Stored = typename F::value_type;
  using Scalar = T;
  using Space = typename F::execution_space;

  static F make(const HostCsr<Stored>& host) {
    F a;
    from_csr(host, a);
    if constexpr (schedule != CsrSchedule::automatic) set_schedule(a, schedule);
    return a;
  }
  static std::string name() {
    std::string name(F::name);
    if (schedule == CsrSchedule::thread) name += "_thread";
    if (schedule == CsrSchedule::lanes) name += "_lanes";
    if (schedule == CsrSchedule::balanced) name += "_balanced";
    name += "_" + entry_name<Stored>();
    if (!std::is_same_v<Stored, T>) name += "_times_" + entry_name<T>();
    return name + "_" + Space::name();
  }
};

struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return C::name();
  }
};

template <class List, class T>
struct WithVectors;
template <class... F, class T>
struct WithVectors<TypeList<F...>, T> {
  using type = TypeList<Case<F, T>...>;
};
template <class S, class T, class Exec>
using PlainCases = typename WithVectors<krysol::Formats<S, Exec>, T>::type;

template <class T, class Exec>
using CsrCases = TypeList<Case<krysol::Csr<T, Exec>, T, CsrSchedule::thread>,
                          Case<krysol::Csr<T, Exec>, T, CsrSchedule::lanes>,
                          Case<krysol::Csr<T, Exec>, T, CsrSchedule::balanced>>;

template <class List>
struct AllCases;
template <class... C>
struct AllCases<TypeList<C...>> {
  using type = Join<PlainCases<typename C::Scalar, typename C::Scalar, typename C::Space>...,
                    CsrCases<typename C::Scalar, typename C::Space>...>;
};
template <class List>
struct AllMixedCases;
template <class... Exec>
struct AllMixedCases<TypeList<Exec...>> {
  using type = Join<PlainCases<float, double, Exec>...,
                    PlainCases<double, Kokkos::complex<double>, Exec>...>;
};

// ---- matrices

template <class S>
struct Shape {
  std::string name;
  Triplets<FileScalar<S>> entries;
};

/// Numbers of rows on both sides of every tile, block and team; empty in every way; long rows.
template <class S>
std::vector<Shape<S>> shapes() {
  using V = FileScalar<S>;
  std::vector<Shape<S>> all = {{"0 x 0", no_entries<V>(0, 0)},
                               {"0 x 5", no_entries<V>(0, 5)},
                               {"5 x 0", no_entries<V>(5, 0)},
                               {"no entries", no_entries<V>(70, 40)},
                               {"tridiagonal", as<V>(poisson1d(200))},
                               {"two-dimensional", as<V>(poisson2d(13, 17))},
                               {"square", random_sparse<V>(300, 300, 5, 3)},
                               {"wide", random_sparse<V>(20, 300, 6, 4)},
                               {"tall", random_sparse<V>(300, 20, 6, 5)},
                               {"long rows", random_sparse<V>(30, 400, 120, 6)}};
  for (const Index rows : {1, 7, 8, 63, 64, 65, 511, 512, 513, 1100}) {
    all.push_back({std::to_string(rows) + " rows", random_sparse<V>(rows, 41, 4, 10)});
  }
  Shape<S> one{"1 x 1", no_entries<V>(1, 1)};
  one.entries.add(0, 0, Random(11).entry<V>());
  all.push_back(one);

  Shape<S> holes{"empty rows", no_entries<V>(150, 30)};
  Random random(12);
  for (Index i = 0; i < 150; ++i) {
    for (Index k = 0; i % 3 != 0 && k < i % 7; ++k) {
      holes.entries.add(i, random.below(30), random.entry<V>());
    }
  }
  all.push_back(holes);

  Shape<S> row{"one dense row", no_entries<V>(130, 130)};
  for (Index i = 0; i < 130; ++i) {
    row.entries.add(i, i, random.entry<V>());
    row.entries.add(77, i, random.entry<V>());
  }
  all.push_back(row);
  return all;
}

template <class S>
Triplets<FileScalar<S>> triplets_of(const HostCsr<S>& a) {
  auto t = no_entries<FileScalar<S>>(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(a.row_ptr(row));
         k < static_cast<std::size_t>(a.row_ptr(row + 1)); ++k) {
      t.add(i, a.col_idx(k), FileScalar<S>(a.values(k)));
    }
  }
  return t;
}

// ---- the oracle and its bound

template <class T>
long double eps() {
  return static_cast<long double>(std::numeric_limits<Real<T>>::epsilon());
}

/// A x in long double, and what bounds the error of each of its rows.
template <class T>
struct Product {
  std::vector<Wide<T>> sum;           // [rows] A x
  std::vector<long double> absolute;  // [rows] |A| |x|
  std::vector<long double> terms;     // [rows] entries

  template <class V>
  Product(const Triplets<V>& a, const std::vector<T>& x)
      : sum(static_cast<std::size_t>(a.rows)), absolute(sum.size()), terms(sum.size()) {
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      const auto i = static_cast<std::size_t>(a.row_idx[k]);
      const Wide<T> value(widen(a.values[k]));
      const Wide<T> xj = widen(x[static_cast<std::size_t>(a.col_idx[k])]);
      sum[i] += value * xj;
      absolute[i] += std::abs(value) * std::abs(xj);
      terms[i] += 1;
    }
  }

  /// |computed - exact| <= eps c (|beta||y| + |alpha| (terms + 3) |A||x|): each of a row's terms
  /// takes one rounding for its product and at most one for each addition, whatever their order;
  /// alpha, beta and the last addition take three more. c = 4 covers complex products.
  long double bound(std::size_t i, const T& alpha, const T& beta, const T& y) const {
    return 4 * eps<T>() *
           (std::abs(widen(beta)) * std::abs(widen(y)) +
            std::abs(widen(alpha)) * (terms[i] + 3) * absolute[i]);
  }
};

template <class T>
T coefficient(double v) {
  const auto re = static_cast<Real<T>>(v);
  if constexpr (krysol::is_complex<T>) {
    // Whole numbers stay real, so that beta = 0 and beta = 1 are among them.
    return v == std::round(v) ? T(re) : T(re, re / 2);
  } else {
    return re;
  }
}

template <class T>
T quiet_nan() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}
template <class T>
T infinity() {
  return T(std::numeric_limits<Real<T>>::infinity());
}

template <class T>
bool is_finite(const T& v) {
  return std::isfinite(krysol::real_part(v)) && std::isfinite(krysol::imaginary_part(v));
}

/// y := alpha A x + beta y on the device, from and to the host.
template <class F, class T>
std::vector<T> run(const F& a, const T& alpha, const std::vector<T>& x, const T& beta,
                   const std::vector<T>& y) {
  using Exec = typename F::execution_space;
  const auto device = to_device<Exec>(y);
  apply(Exec{}, alpha, a, to_device<Exec>(x), beta, device);
  Kokkos::fence();
  return to_host(device);
}

template <class F, class T>
std::vector<T> times(const F& a, const std::vector<T>& x) {
  return run(a, T(1), x, T(0), std::vector<T>(static_cast<std::size_t>(a.rows)));
}

template <class F, class T, class V>
void expect_product(const F& a, const Triplets<V>& entries, const std::string& shape,
                    const std::vector<double>& factors) {
  const auto x = random_vector<T>(static_cast<std::size_t>(a.cols), 21);
  const auto y = random_vector<T>(static_cast<std::size_t>(a.rows), 22);
  const Product<T> exact(entries, x);
  for (const double alpha_re : factors) {
    for (const double beta_re : factors) {
      const auto alpha = coefficient<T>(alpha_re);
      const auto beta = coefficient<T>(beta_re);
      const std::vector<T> got = run(a, alpha, x, beta, y);
      ASSERT_EQ(got.size(), y.size()) << shape;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const Wide<T> want = widen(alpha) * exact.sum[i] + widen(beta) * widen(y[i]);
        ASSERT_LE(std::abs(widen(got[i]) - want), exact.bound(i, alpha, beta, y[i]))
            << shape << ", row " << i << ", alpha " << alpha_re << ", beta " << beta_re;
      }
    }
  }
}

template <class F, class T, class V>
void expect_dot(const F& a, const Triplets<V>& entries, const std::string& shape) {
  using Exec = typename F::execution_space;
  const auto n = static_cast<std::size_t>(a.rows);
  const auto x = random_vector<T>(n, 23);
  const Product<T> exact(entries, x);
  const auto y = to_device<Exec>(std::vector<T>(n, quiet_nan<T>()));
  BlockSums<Exec> sums;
  const double got = apply_dot(Exec{}, a, to_device<Exec>(x), y, sums);
  long double want = 0;
  long double bound = 0;
  for (std::size_t i = 0; i < n; ++i) {
    want += std::real(conjugate(widen(x[i])) * exact.sum[i]);
    bound += std::abs(widen(x[i])) *
             (exact.bound(i, T(1), T(0), T(0)) +
              4 * eps<double>() * static_cast<long double>(n + 2) * std::abs(exact.sum[i]));
  }
  EXPECT_LE(std::abs(got - want), bound) << shape;
  EXPECT_EQ(to_host(y), times(a, x)) << shape;
}

// ---- one storage and vector type

template <class C>
class Format : public testing::Test {};
using Cases = ForGtest<AllCases<EntriesAndSpaces>::type>::type;
TYPED_TEST_SUITE(Format, Cases, CaseName);

TYPED_TEST(Format, EqualsTheOracleForEveryShapeAndFactor) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes<T>()) {
    const auto a = TypeParam::make(krysol::to_csr(shape.entries).matrix);
    EXPECT_EQ(a.rows, shape.entries.rows);
    EXPECT_EQ(a.cols, shape.entries.cols);
    expect_product<typename TypeParam::Format, T>(a, shape.entries, shape.name,
                                                  {0.0, 1.0, -1.0, 0.3, -2.7});
  }
}

TYPED_TEST(Format, DotProductComesWithTheProduct) {
  using T = typename TypeParam::Scalar;
  int squares = 0;
  for (const auto& shape : shapes<T>()) {
    if (shape.entries.rows != shape.entries.cols) continue;
    const auto a = TypeParam::make(krysol::to_csr(shape.entries).matrix);
    expect_dot<typename TypeParam::Format, T>(a, shape.entries, shape.name);
    ++squares;
  }
  const auto large = random_sparse<FileScalar<T>>(3000, 3000, 5, 8);  // several blocks
  expect_dot<typename TypeParam::Format, T>(TypeParam::make(krysol::to_csr(large).matrix), large,
                                            "3000 rows");
  EXPECT_GE(squares, 5);
}

TYPED_TEST(Format, CountsItsEntriesAndBytes) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes<T>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    EXPECT_EQ(a.nnz(), host.nnz()) << shape.name;
    EXPECT_GE(krysol::bytes_of(a), host.nnz() * static_cast<std::int64_t>(sizeof(T))) << shape.name;
  }
}

TYPED_TEST(Format, IgnoresYWhenBetaIsZero) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes<T>()) {
    const auto a = TypeParam::make(krysol::to_csr(shape.entries).matrix);
    const auto rows = static_cast<std::size_t>(a.rows);
    const auto x = random_vector<T>(static_cast<std::size_t>(a.cols), 24);
    for (const auto& alpha : {T(1), T(0), coefficient<T>(-0.7)}) {
      const auto clean = run(a, alpha, x, T(0), std::vector<T>(rows));
      for (const T& poison : {quiet_nan<T>(), infinity<T>()}) {
        ASSERT_EQ(run(a, alpha, x, T(0), std::vector<T>(rows, poison)), clean) << shape.name;
      }
    }
  }
}

TYPED_TEST(Format, EachRowDependsOnlyOnTheEntriesOfXThatItNames) {
  using T = typename TypeParam::Scalar;
  int untouched = 0;
  int touched = 0;
  for (const auto& shape : shapes<T>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    const auto x = random_vector<T>(static_cast<std::size_t>(a.cols), 25);
    const auto clean = times(a, x);
    for (const T& poison : {quiet_nan<T>(), infinity<T>()}) {
      auto bad = x;
      for (std::size_t j = 3; j < bad.size(); j += 11) bad[j] = poison;
      const auto got = times(a, bad);
      for (std::size_t i = 0; i < got.size(); ++i) {
        int named = 0;
        for (auto k = host.row_ptr(i); k < host.row_ptr(i + 1); ++k) {
          named += host.col_idx(static_cast<std::size_t>(k)) % 11 == 3 ? 1 : 0;
        }
        if (named == 0) {
          ASSERT_EQ(got[i], clean[i]) << shape.name << ", row " << i;
          ++untouched;
          continue;
        }
        ++touched;
        ASSERT_FALSE(is_finite(got[i])) << shape.name << ", row " << i;
        // One Inf among finite products is Inf. (Inf times a complex number may hold NaN.)
        if (named == 1 && !krysol::is_complex<T> && std::isinf(krysol::real_part(poison))) {
          ASSERT_TRUE(std::isinf(krysol::real_part(got[i]))) << shape.name << ", row " << i;
        }
      }
    }
  }
  EXPECT_GT(untouched, 1000);
  EXPECT_GT(touched, 1000);
}

TYPED_TEST(Format, IsLinear) {
  using T = typename TypeParam::Scalar;
  const auto entries = random_sparse<FileScalar<T>>(200, 150, 6, 31);
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto x = random_vector<T>(150, 32);
  const auto y = random_vector<T>(150, 33);
  const auto two = T(2);  // exact, so that the vectors' own sum is the only rounding
  std::vector<T> sum(150);
  std::vector<T> magnitudes(150);
  for (std::size_t j = 0; j < 150; ++j) {
    sum[j] = two * x[j] - y[j];
    magnitudes[j] = T(static_cast<Real<T>>(2 * std::abs(widen(x[j])) + std::abs(widen(y[j]))));
  }
  const auto ax = times(a, x);
  const auto ay = times(a, y);
  const auto asum = times(a, sum);
  const Product<T> exact(entries, magnitudes);
  for (std::size_t i = 0; i < asum.size(); ++i) {
    EXPECT_LE(std::abs(widen(asum[i]) - (widen(two) * widen(ax[i]) - widen(ay[i]))),
              3 * exact.bound(i, T(1), T(0), T(0)));
  }
}

TYPED_TEST(Format, RepeatsBitForBit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(4000, 4000, 9, 41);
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto x = to_device<Exec>(random_vector<T>(4000, 42));
  const auto y = to_device<Exec>(std::vector<T>(4000));
  BlockSums<Exec> sums;
  const double first_dot = apply_dot(Exec{}, a, x, y, sums);
  const auto first = to_host(y);
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(apply_dot(Exec{}, a, x, y, sums), first_dot);
    EXPECT_EQ(to_host(y), first);
  }
}

TYPED_TEST(Format, SumsDuplicatesInAnyOrder) {
  using T = typename TypeParam::Scalar;
  using V = FileScalar<T>;
  auto t = no_entries<V>(3, 4);
  t.add(2, 3, V(1));  // whole numbers: no rounding anywhere
  t.add(0, 1, V(2));
  t.add(2, 0, V(3));
  t.add(2, 3, V(4));
  t.add(0, 1, V(-2));  // sums to a stored zero
  t.add(2, 3, V(5));
  const auto a = TypeParam::make(krysol::to_csr(t).matrix);
  EXPECT_EQ(a.nnz(), 3);
  EXPECT_EQ(times(a, std::vector<T>{T(1), T(10), T(100), T(1000)}),
            (std::vector<T>{T(0), T(0), T(10003)}));
}

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TYPED_TEST(Format, NamesTheSizesThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries = random_sparse<FileScalar<T>>(30, 40, 2, 51);
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto of = [](std::size_t n) { return to_device<Exec>(std::vector<T>(n)); };
  const auto attempt = [&](std::size_t x, std::size_t y) {
    return message_of([&] { apply(Exec{}, T(1), a, of(x), T(0), of(y)); });
  };
  EXPECT_EQ(attempt(30, 30),
            "krysol::apply: y = A x with A 30 x 40, x of 30 entries and y of 30; x needs 40 and y "
            "30");
  EXPECT_EQ(attempt(40, 31),
            "krysol::apply: y = A x with A 30 x 40, x of 40 entries and y of 31; x needs 40 and y "
            "30");
  EXPECT_EQ(attempt(40, 30), "nothing was thrown");
  BlockSums<Exec> sums;
  EXPECT_NE(message_of([&] { apply_dot(Exec{}, a, of(40), of(30), sums); }).find("30 x 40"),
            std::string::npos);
}

// ---- values stored in one type, vectors of a wider one

template <class C>
class MixedPrecision : public testing::Test {};
using MixedCases = ForGtest<AllMixedCases<Spaces>::type>::type;
TYPED_TEST_SUITE(MixedPrecision, MixedCases, CaseName);

TYPED_TEST(MixedPrecision, ComputesInTheTypeOfTheVectors) {
  using S = typename TypeParam::Stored;
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes<S>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    // Duplicates were summed in the storage type, so the oracle starts from what is stored.
    expect_product<typename TypeParam::Format, T>(a, triplets_of(host), shape.name,
                                                  {0.0, 1.0, -2.7});
  }
}

TYPED_TEST(MixedPrecision, DotProductComesWithTheProduct) {
  using S = typename TypeParam::Stored;
  using T = typename TypeParam::Scalar;
  const auto host = krysol::to_csr(random_sparse<FileScalar<S>>(1500, 1500, 5, 61)).matrix;
  expect_dot<typename TypeParam::Format, T>(TypeParam::make(host), triplets_of(host), "1500 rows");
}

// ---- coordinates filled in by hand

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
  add_row(1, 3 * segment);      // three of them
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
  BlockSums<Exec> sums;
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
  expect_product<krysol::Coo<T, Exec>, T>(coo_by_hand<T, Exec>(t, true), t, "no scratch",
                                          {0.0, 1.0, -2.7});
  auto a = coo_by_hand<T, Exec>(t, true);
  a.scratch = krysol::coo_scratch(Exec{}, a.nnz());
  expect_product<krysol::Coo<T, Exec>, T>(a, t, "scratch", {0.0, 1.0, -2.7});
}

TYPED_TEST(CooByHand, SumsOfSortedEntriesRepeatBitForBit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = coo_by_hand<T, Exec>(rows_across_segments<T, Exec>(), true);
  const auto x = random_vector<T>(50, 75);
  const auto first = times(a, x);
  for (int k = 0; k < 10; ++k) EXPECT_EQ(times(a, x), first);
}

}  // namespace
