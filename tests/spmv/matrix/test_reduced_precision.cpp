// Values of half the bytes, by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krysol/spmv/matrix/reduced_precision.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;
using krysol::make_operator;
using krysol::make_reduced_operator;
using krysol::reduced_precision;
using krysol::to_csr;
using DeviceComplex = Kokkos::complex<double>;

/// Kokkos Kernels' csr multiplies vectors of its own entry type only.
bool has_reduced(const std::string& name) { return name != "kokkos_kernels"; }

template <class List>
struct WideEntriesOn;
template <class... Exec>
struct WideEntriesOn<TypeList<Exec...>> {
  using type = Join<TypeList<On<double, Exec>, On<DeviceComplex, Exec>>...>;
};

template <class C>
class ReducedPrecisionStorage : public testing::Test {};
using ReducedPrecisionCases = ForGtest<WideEntriesOn<Spaces>::type>::type;
TYPED_TEST_SUITE(ReducedPrecisionStorage, ReducedPrecisionCases, OnName);

TYPED_TEST(ReducedPrecisionStorage, MultipliesTheRoundedMatrixInTheTypeOfTheVectors) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto general = random_sparse<FileScalar<T>>(700, 700, 6, 21);
  int seen = 0;
  for (const std::string& name : names_of_formats()) {
    if (!has_reduced(name)) continue;
    const auto host = to_csr(fitting(name, general)).matrix;
    const auto a = make_reduced_operator<T, Exec>(name, host);
    EXPECT_EQ(a->name(), name.substr(0, name.find(':')));
    EXPECT_EQ(a->nnz(), host.nnz()) << name;
    // The oracle's bound is one of double, so that a sum in float, or a value that was not rounded,
    // misses it by seven digits.
    const auto rounded = triplets_of(reduced_precision(host));
    expect_product<krysol::Operator<T, Exec>, T>(*a, rounded, name, {0.0, 1.0, -2.7});
    expect_dot<krysol::Operator<T, Exec>, T>(*a, rounded, name);
    const auto x = random_vector<T>(static_cast<std::size_t>(a->cols), 22);
    const auto wide = times(*make_operator<T, Exec>(name, host), x);
    const auto narrow = times(*a, x);
    const Product<T> exact(triplets_of(host), x);
    long double largest = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const auto difference = std::abs(widen(wide[i]) - widen(narrow[i]));
      ASSERT_LE(difference,
                std::ldexp(1.0L, -24) * exact.absolute[i] + 2 * exact.bound(i, T(1), T(0), T(0)))
          << name << ", row " << i;
      largest = std::max(largest, difference);
    }
    EXPECT_GT(largest, 1e-9L) << name << " did not round";
    ++seen;
  }
  EXPECT_GE(seen, 12);
}

TYPED_TEST(ReducedPrecisionStorage, MultipliesSeveralVectors) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  constexpr int vectors = 11;
  const auto general = random_sparse<FileScalar<T>>(300, 300, 5, 31);
  for (const std::string& name : names_of_formats()) {
    if (!has_reduced(name)) continue;
    const auto host = to_csr(fitting(name, general)).matrix;
    const auto a = make_reduced_operator<T, Exec>(name, host);
    const auto rounded = triplets_of(reduced_precision(host));
    const Exec exec;
    const auto n = static_cast<std::size_t>(a->rows);
    const auto x = krysol::zero_multivector<T>(exec, "x", a->cols, vectors);
    const auto y = krysol::zero_multivector<T>(exec, "y", a->rows, vectors);
    std::vector<std::vector<T>> columns;
    for (int c = 0; c < vectors; ++c) {
      columns.push_back(random_vector<T>(n, 32 + static_cast<std::uint64_t>(c)));
      copy_column(exec, to_device<Exec>(columns.back()), x, c);
    }
    apply(exec, T(1), *a, x, T(0), y);
    const auto column = to_device<Exec>(std::vector<T>(n));
    for (int c = 0; c < vectors; ++c) {
      copy_column(exec, y, c, column);
      exec.fence();
      const auto got = to_host(column);
      const Product<T> exact(rounded, columns[static_cast<std::size_t>(c)]);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(widen(got[i]) - exact.sum[i]), exact.bound(i, T(1), T(0), T(0)))
            << name << ", column " << c << ", row " << i;
      }
    }
  }
}

TYPED_TEST(ReducedPrecisionStorage, TakesHalfTheBytesOfTheValues) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto general = random_sparse<FileScalar<T>>(900, 900, 6, 41);
  for (const std::string& name : names_of_formats()) {
    if (!has_reduced(name)) continue;
    const auto host = to_csr(fitting(name, general)).matrix;
    const auto same = make_operator<T, Exec>(name, host)->bytes();
    const auto narrow = make_reduced_operator<T, Exec>(name, host)->bytes();
    // One triangle, and what is off its diagonal once: at least half of the entries less one a row.
    const auto stored = name.starts_with("symmetric") ? host.nnz() / 2 : host.nnz();
    const auto half = static_cast<std::int64_t>(sizeof(T)) / 2;
    EXPECT_GE(same - narrow, stored * half) << name;
    if (name == "csr:thread") {
      EXPECT_EQ(same - narrow, stored * half);
    }
  }
}

TYPED_TEST(ReducedPrecisionStorage, RefusesWhatFloatCannotReachAndNamesThePlace) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto t = as<FileScalar<T>>(poisson1d(9000));
  for (auto& v : t.values) v *= 1e30;
  auto host = to_csr(t).matrix;
  const auto at = [&](Index row) {
    return static_cast<std::size_t>(host.row_ptr(static_cast<std::size_t>(row)));
  };
  const auto refusal = [&] {
    return message_of([&] { make_reduced_operator<T, Exec>("csr", host); });
  };
  EXPECT_EQ(refusal(), "nothing was thrown");
  host.values(at(8000)) = T(-1e39);
  host.values(at(5) + 2) = T(2.5e300);  // the first of both, in the order of the entries
  const std::string value = krysol::is_complex<T> ? "(2.5e+300, 0)" : "2.5e+300";
  EXPECT_EQ(refusal(), "krysol::reduced_precision: A(5, 6) = " + value +
                           " (counted from 0), and float ends at 3.4028235e+38; scale the matrix, "
                           "or keep its values as they are");
  EXPECT_THROW((make_reduced_operator<T, Exec>("csr", host)), krysol::FormatRefusal);
  EXPECT_NO_THROW((make_operator<T, Exec>("csr", host)));
  host.values(at(5) + 2) = T(1);
  EXPECT_TRUE(holds(refusal(), "A(8000, 7999) = "));
}

TYPED_TEST(ReducedPrecisionStorage, OfAnUnknownNameOrABrokenMatrixSaysTheSame) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  auto host = to_csr(as<FileScalar<T>>(poisson1d(5))).matrix;
  for (const std::string name : {"jdz", "csr:fast", "csr:"}) {
    EXPECT_EQ(message_of([&] { make_reduced_operator<T, Exec>(name, host); }),
              message_of([&] { make_operator<T, Exec>(name, host); }));
  }
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  EXPECT_EQ(message_of([&] { make_reduced_operator<T, Exec>("kokkos_kernels", host); }),
            "format 'kokkos_kernels' multiplies vectors of its values' own type only, so none "
            "of them can be stored in less precision");
#endif
  host.col_idx(0) = 5;
  EXPECT_EQ(message_of([&] { make_reduced_operator<T, Exec>("csr", host); }),
            "krysol::check(csr): row 0 names column 5 of 5 (counted from 0)");
}

TEST(ReducedPrecisionMatrix, RoundsToNearestAndKeepsInfAndNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double largest = std::numeric_limits<float>::max();
  auto t = no_entries<double>(1, 7);
  const std::vector<double> values = {0.1,           1 + 0x1p-24,
                                      1 + 0x1.8p-24, std::nextafter(largest, infinity),
                                      -infinity,     std::numeric_limits<double>::quiet_NaN(),
                                      1e-60};
  for (Index j = 0; j < 7; ++j) t.add(0, j, values[static_cast<std::size_t>(j)]);
  const auto a = reduced_precision(to_csr(t).matrix);
  EXPECT_EQ(a.values(0), 0.1F);
  EXPECT_EQ(a.values(1), 1.0F);  // a tie goes to the even one
  EXPECT_EQ(a.values(2), 1.0F + 0x1p-23F);
  EXPECT_EQ(a.values(3), std::numeric_limits<float>::max());
  EXPECT_EQ(a.values(4), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(a.values(5)));
  EXPECT_EQ(a.values(6), 0.0F);
}

TEST(ReducedPrecisionMatrix, OfAComplexMatrixLooksAtBothParts) {
  auto t = no_entries<std::complex<double>>(2, 2);
  t.add(0, 0, {0.1, -0.3});
  auto host = to_csr(t).matrix;
  EXPECT_EQ(reduced_precision(host).values(0), Kokkos::complex<float>(0.1F, -0.3F));
  host.values(0) = DeviceComplex(1, -1e40);
  EXPECT_TRUE(holds(message_of([&] { reduced_precision(host); }), "A(0, 0) = (1, -1e+40) "));
}

template <class S>
constexpr bool can_be_reduced = requires(const krysol::HostCsr<S>& a) {
  make_reduced_operator<S, krysol::Host>("csr", a);
};
static_assert(can_be_reduced<double> && can_be_reduced<DeviceComplex>);
static_assert(!can_be_reduced<float> && !can_be_reduced<Kokkos::complex<float>>);

}  // namespace
