// What holds for every format, schedule and execution space. The cases come from the list
// `Formats`: a format that is added there is tested here. Each file that includes this one has
// first named its entry type KRYSOL_TEST_ENTRY: compilers take minutes for one of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;

template <class List>
struct CasesOn;
template <class... Exec>
struct CasesOn<TypeList<Exec...>> {
  using Entry = KRYSOL_TEST_ENTRY;
  using type = Join<PlainCases<Entry, Entry, Exec>..., CsrCases<Entry, Exec>...>;
};

template <class C>
class Format : public testing::Test {};
using Cases = ForGtest<CasesOn<Spaces>::type>::type;
TYPED_TEST_SUITE(Format, Cases, CaseName);

TYPED_TEST(Format, EqualsTheOracleForEveryShapeAndFactor) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
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
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
    if (shape.entries.rows != shape.entries.cols) continue;
    const auto a = TypeParam::make(krysol::to_csr(shape.entries).matrix);
    expect_dot<typename TypeParam::Format, T>(a, shape.entries, shape.name);
    ++squares;
  }
  const auto large = fitting<typename TypeParam::Format>(
      random_sparse<FileScalar<T>>(3000, 3000, 5, 8));  // several blocks
  expect_dot<typename TypeParam::Format, T>(TypeParam::make(krysol::to_csr(large).matrix), large,
                                            "3000 rows");
  EXPECT_GE(squares, 5);
}

TYPED_TEST(Format, CountsItsEntriesAndBytes) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    EXPECT_EQ(a.nnz(), host.nnz()) << shape.name;
    // Only what rows or mirror images may share, or equal values, can be less than the values.
    constexpr bool shared = TypeParam::Format::name == "stencil";
    constexpr bool codes = TypeParam::Format::name == "sell_dictionary";
    const std::int64_t stored =
        krysol::is_symmetric_only<typename TypeParam::Format> ? a.nnz() / 2 : a.nnz();
    const std::int64_t least = shared  ? a.rows / 8
                               : codes ? a.nnz()
                                       : stored * static_cast<std::int64_t>(sizeof(T));
    EXPECT_GE(krysol::bytes_of(a), least) << shape.name;
  }
}

TYPED_TEST(Format, IgnoresYWhenBetaIsZero) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
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
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
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
  const auto entries =
      fitting<typename TypeParam::Format>(random_sparse<FileScalar<T>>(200, 150, 6, 31));
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto cols = static_cast<std::size_t>(a.cols);
  const auto x = random_vector<T>(cols, 32);
  const auto y = random_vector<T>(cols, 33);
  const auto two = T(2);  // exact, so that the vectors' own sum is the only rounding
  std::vector<T> sum(cols);
  std::vector<T> magnitudes(cols);
  for (std::size_t j = 0; j < cols; ++j) {
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
  const auto entries =
      fitting<typename TypeParam::Format>(random_sparse<FileScalar<T>>(4000, 4000, 9, 41));
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto x = to_device<Exec>(random_vector<T>(4000, 42));
  const auto y = to_device<Exec>(std::vector<T>(4000));
  ReductionWorkspace<Exec> sums;
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
  auto t = no_entries<V>(4, 4);
  for (const bool upper : {true, false}) {
    const auto add = [&](Index i, Index j, int v) {
      t.add(upper ? i : j, upper ? j : i, V(static_cast<Real<T>>(v)));
    };
    add(2, 3, 1);  // whole numbers: no rounding anywhere
    add(0, 1, 2);
    add(2, 0, 3);
    add(2, 3, 4);
    add(0, 1, -2);  // sums to a stored zero
    add(2, 3, 5);
  }
  const auto a = TypeParam::make(krysol::to_csr(t).matrix);
  EXPECT_EQ(a.nnz(), 6);
  EXPECT_EQ(times(a, std::vector<T>{T(1), T(10), T(100), T(1000)}),
            (std::vector<T>{T(300), T(0), T(10003), T(1000)}));
}

TYPED_TEST(Format, NamesTheSizesThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto entries =
      fitting<typename TypeParam::Format>(random_sparse<FileScalar<T>>(30, 40, 2, 51));
  const auto a = TypeParam::make(krysol::to_csr(entries).matrix);
  const auto of = [](std::size_t n) { return to_device<Exec>(std::vector<T>(n)); };
  const auto attempt = [&](std::size_t x, std::size_t y) {
    return message_of([&] { apply(Exec{}, T(1), a, of(x), T(0), of(y)); });
  };
  const auto cols = static_cast<std::size_t>(a.cols);
  const std::string n = std::to_string(cols);
  const auto refusal = [&](const std::string& x, const std::string& y) {
    return "krysol::apply: y = A x with A 30 x " + n + ", x of " + x + " entries and y of " + y +
           "; x needs " + n + " and y 30";
  };
  EXPECT_EQ(attempt(cols - 1, 30), refusal(std::to_string(cols - 1), "30"));
  EXPECT_EQ(attempt(cols, 31), refusal(n, "31"));
  EXPECT_EQ(attempt(cols, 30), "nothing was thrown");
  ReductionWorkspace<Exec> sums;
  const std::size_t wrong = a.rows == a.cols ? cols + 1 : cols;
  EXPECT_NE(message_of([&] { apply_dot(Exec{}, a, of(wrong), of(30), sums); }).find("30 x " + n),
            std::string::npos);
}

}  // namespace
