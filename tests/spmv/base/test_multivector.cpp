// Several vectors at once: every format gives each of them what it gives one alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::MultiVector;
using krysol::pack_width;

template <class List>
struct CasesOn;
template <class... Exec>
struct CasesOn<TypeList<Exec...>> {
  using type = Join<PlainCases<double, double, Exec>...,
#ifdef KRYSOL_TEST_ALL_TYPES  // kernels that no library holds
                    PlainCases<float, Kokkos::complex<double>, Exec>...,
#endif
                    CsrCases<double, Exec>...>;
};

template <class C>
class SeveralVectors : public testing::Test {};
using Cases = ForGtest<CasesOn<Spaces>::type>::type;
TYPED_TEST_SUITE(SeveralVectors, Cases, CaseName);

template <class T, class Exec>
MultiVector<T, Exec> side_by_side(const std::vector<std::vector<T>>& columns, std::size_t rows) {
  const auto x = krysol::zero_multivector<T>(Exec{}, "x", static_cast<std::int64_t>(rows),
                                             static_cast<int>(columns.size()));
  Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace> on_host("x", rows, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < rows; ++i) on_host(i, c) = columns[c][i];
  }
  copy_columns(Exec{}, Kokkos::create_mirror_view_and_copy(Exec{}, on_host), x);
  return x;
}

template <class T, class Exec>
std::vector<std::vector<T>> columns_of(const MultiVector<T, Exec>& x) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Exec> all("x", static_cast<std::size_t>(x.rows),
                                                         static_cast<std::size_t>(x.cols));
  copy_columns(Exec{}, x, all);
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, all);
  std::vector<std::vector<T>> columns(all.extent(1), std::vector<T>(all.extent(0)));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < all.extent(0); ++i) columns[c][i] = on_host(i, c);
  }
  return columns;
}

template <class T>
std::vector<std::vector<T>> random_columns(std::size_t rows, int count, unsigned seed) {
  std::vector<std::vector<T>> columns;
  for (int c = 0; c < count; ++c) {
    columns.push_back(random_vector<T>(rows, seed + static_cast<unsigned>(c)));
  }
  return columns;
}

TYPED_TEST(SeveralVectors, AreEachMultipliedAsOneAlone) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    const auto entries = triplets_of(host);
    const auto rows = static_cast<std::size_t>(a.rows);
    for (const int k : {1, pack_width, pack_width + 3}) {
      const auto x = random_columns<T>(static_cast<std::size_t>(a.cols), k, 71);
      const auto y = random_columns<T>(rows, k, 91);
      for (const auto& [re, im] : {std::pair{1.0, 0.0}, {-0.7, 0.6}}) {
        const auto alpha = coefficient<T>(re);
        const auto beta = coefficient<T>(im);
        const auto product = side_by_side<T, Exec>(y, rows);
        apply(Exec{}, alpha, a, side_by_side<T, Exec>(x, static_cast<std::size_t>(a.cols)), beta,
              product);
        const auto got = columns_of(product);
        ASSERT_EQ(got.size(), static_cast<std::size_t>(k));
        for (std::size_t c = 0; c < got.size(); ++c) {
          const Product<T> exact(entries, x[c]);
          for (std::size_t i = 0; i < rows; ++i) {
            const auto expected =
                widen(alpha) * exact.sum[i] +
                (beta == T(0) ? Wide<T>(0) : Wide<T>(widen(beta) * widen(y[c][i])));
            ASSERT_LE(std::abs(widen(got[c][i]) - expected), exact.bound(i, alpha, beta, y[c][i]))
                << shape.name << ", " << k << " vectors, row " << i << " of vector " << c;
          }
        }
      }
    }
  }
}

TYPED_TEST(SeveralVectors, DoNotMixAndNeverReadYWhereBetaIsZero) {
  using S = typename TypeParam::Stored;
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto host = krysol::to_csr(fitting<typename TypeParam::Format>(
                                       random_sparse<FileScalar<S>>(300, 200, 6, 81)))
                        .matrix;
  const auto a = TypeParam::make(host);
  constexpr int k = pack_width + 3;
  const auto cols = static_cast<std::size_t>(a.cols);
  auto x = random_columns<T>(cols, k, 82);
  const auto multiply = [&](const T& before) {
    const auto y =
        side_by_side<T, Exec>(std::vector<std::vector<T>>(k, std::vector<T>(300, before)), 300);
    apply(Exec{}, T(1), a, side_by_side<T, Exec>(x, cols), T(0), y);
    return columns_of(y);
  };
  const auto clean = multiply(T(0));
  x[2][17] = quiet_nan<T>();
  const auto one_bad = multiply(infinity<T>());
  for (std::size_t c = 0; c < k; ++c) {
    if (c == 2) continue;
    EXPECT_EQ(one_bad[c], clean[c]) << "vector " << c;
  }
  int bad = 0;
  for (std::size_t i = 0; i < 300; ++i) bad += is_finite(one_bad[2][i]) ? 0 : 1;
  EXPECT_GT(bad, 0);
  EXPECT_LT(bad, 60);
}

TEST(MultiVector, IsMultipliedByAnOperatorKnownByNameOnly) {
  const auto host = krysol::to_csr(as<double>(poisson2d(9, 8))).matrix;
  using Exec = Kokkos::DefaultExecutionSpace;
  for (const auto& format : krysol::list_formats()) {
    const auto a = krysol::make_operator<double, Exec>(format.name, host);
    const auto x = random_columns<double>(72, 5, 3);
    const auto y = krysol::zero_multivector<double>(Exec{}, "y", 72, 5);
    apply(Exec{}, 2, *a, side_by_side<double, Exec>(x, 72), 0, y);
    const auto got = columns_of(y);
    const auto one = krysol::zeros<double>(Exec{}, "one", 72);
    apply(Exec{}, 2, *a, to_device<Exec>(x[4]), 0, one);
    const auto alone = to_host(one);
    for (std::size_t i = 0; i < 72; ++i) {
      EXPECT_NEAR(got[4][i], alone[i], 1e-13) << format.name << ", row " << i;
    }
  }
}

TEST(MultiVector, BeyondTheCachesIsWrittenPastThem) {
  const krysol::Index n = 300000;  // 19 MB of results
  auto entries = no_entries<double>(n, n);
  for (krysol::Index i = 0; i < n; ++i) {
    for (const krysol::Index j : {i, (i + 7) % n}) entries.add(i, j, i % 5 + (j == i ? 1 : 0.5));
  }
  using Exec = Kokkos::DefaultExecutionSpace;
  const auto host = krysol::to_csr(entries).matrix;
  const auto x = random_columns<double>(static_cast<std::size_t>(n), 3, 9);
  for (const std::string_view format : {"csr", "sell_c_sigma", "coo"}) {
    const auto a = krysol::make_operator<double, Exec>(format, host);
    const auto y = krysol::zero_multivector<double>(Exec{}, "y", n, 3);
    apply(Exec{}, -2, *a, side_by_side<double, Exec>(x, static_cast<std::size_t>(n)), 0, y);
    const auto got = columns_of(y);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const auto k = static_cast<double>(i % 5);
        const double exact =
            -2 * ((k + 1) * x[c][i] + (k + 0.5) * x[c][(i + 7) % static_cast<std::size_t>(n)]);
        ASSERT_NEAR(got[c][i], exact, 1e-13) << format << ", row " << i << " of vector " << c;
      }
    }
  }
}

TEST(MultiVector, NamesTheSizesThatDoNotFit) {
  using Exec = Kokkos::DefaultExecutionSpace;
  const auto a = krysol::make_operator<double, Exec>(
      "csr", krysol::to_csr(random_sparse<double>(30, 40, 2, 51)).matrix);
  const auto attempt = [&](int x_rows, int x_cols, int y_rows, int y_cols) {
    return message_of([&] {
      apply(Exec{}, 1, *a, krysol::zero_multivector<double>(Exec{}, "x", x_rows, x_cols), 0,
            krysol::zero_multivector<double>(Exec{}, "y", y_rows, y_cols));
    });
  };
  EXPECT_EQ(attempt(40, 3, 30, 3), "nothing was thrown");
  EXPECT_EQ(attempt(30, 3, 30, 3),
            "krysol::apply(multivectors): 40 x 3 numbers are needed, not 30 x 3");
  EXPECT_EQ(attempt(40, 2, 30, 3),
            "krysol::apply(multivectors): 40 x 3 numbers are needed, not 40 x 2");
  EXPECT_EQ(attempt(40, 3, 31, 3),
            "krysol::apply(multivectors): 30 x 3 numbers are needed, not 31 x 3");
  EXPECT_EQ(attempt(40, 0, 31, 0),
            "krysol::apply(multivectors): 30 x 0 numbers are needed, not 31 x 0");
}

}  // namespace
