// Products by a format against the oracle: the matrices, the bound, and how they are compared.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <krysol/spmv/select/format_list.hpp>
#include <krysol/spmv/select/formats.hpp>
#include "fitting.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace krysol_tests {

using krysol::HostCsr;
using krysol::Real;
using krysol::ReductionWorkspace;
using krysol::RowSchedule;

/// An operator of the library: what its users multiply by, and the same for every format.
template <class T, class Exec>
struct Made {
  using execution_space = Exec;

  std::shared_ptr<const krysol::Operator<T, Exec>> op;
  Index rows = op->rows;
  Index cols = op->cols;

  krysol::Offset nnz() const { return op->nnz(); }
  std::int64_t bytes() const { return op->bytes(); }
};
template <class T, class Exec, class X, class Y>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Made<T, Exec>& a, const X& x,
           std::type_identity_t<T> beta, const Y& y) {
  apply(exec, alpha, *a.op, x, beta, y);
}
template <class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Made<T, Exec>& a,
           const krysol::MultiVector<T, Exec>& x, std::type_identity_t<T> beta,
           const krysol::MultiVector<T, Exec>& y) {
  apply(exec, alpha, *a.op, x, beta, y);
}
template <class T, class Exec>
double apply_dot(const Exec& exec, const Made<T, Exec>& a,
                 std::type_identity_t<krysol::ConstVector<T, Exec>> x,
                 const krysol::Vector<T, Exec>& y, ReductionWorkspace<Exec>& sums) {
  return apply_dot(exec, *a.op, x, y, sums);
}

inline std::string name_of(RowSchedule schedule) {
  switch (schedule) {
    case RowSchedule::thread:
      return "thread";
    case RowSchedule::lanes:
      return "lanes";
    case RowSchedule::balanced:
      return "balanced";
    case RowSchedule::automatic:
      break;
  }
  return {};
}

/// The same numbers as doubles, which an operator of less precision rounds to what they are. Not in
/// Case: what nvcc makes of the type there g++ does not take, where to_csr was instantiated before.
inline HostCsr<double> widened(const HostCsr<float>& a) {
  HostCsr<double> wide{a.rows, a.cols, a.row_ptr, a.col_idx, {}};
  wide.values = krysol::allocate<decltype(wide.values)>("values", a.nnz());
  for (std::size_t k = 0; k < a.values.extent(0); ++k) wide.values(k) = a.values(k);
  return wide;
}

/// A format with vectors of type T; for csr also a schedule. The library's own kernels are tested
/// where it has such an operator; others are compiled into the tests.
template <class F, class T, RowSchedule schedule = RowSchedule::automatic>
struct Case {
  using Format = F;
  using Stored = typename F::value_type;
  using Scalar = T;
  using Space = typename F::execution_space;

  static std::string format() {
    return std::string(F::name) +
           (schedule == RowSchedule::automatic ? "" : ":" + name_of(schedule));
  }
  static auto make(const HostCsr<Stored>& host) {
    if constexpr (std::is_same_v<Stored, T>) {
      return Made<T, Space>{krysol::make_operator<T, Space>(format(), host)};
    } else if constexpr (std::is_same_v<Stored, float> && std::is_same_v<T, double>) {
      return Made<T, Space>{krysol::make_reduced_operator<T, Space>(format(), widened(host))};
    } else {
      F a;
      from_csr(host, a);
      if constexpr (schedule != RowSchedule::automatic) set_schedule(a, schedule);
      return a;
    }
  }
  static std::string name() {
    std::string name(F::name);
    if (schedule != RowSchedule::automatic) name += "_" + name_of(schedule);
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

/// Kokkos Kernels' csr multiplies vectors of its own entry type only.
template <class F, class T>
constexpr bool takes_vectors_of = krysol::LinearOperator<F, T, typename F::execution_space>;

template <class List, class T>
struct WithVectors;
template <class... F, class T>
struct WithVectors<TypeList<F...>, T> {
  using type =
      Join<std::conditional_t<takes_vectors_of<F, T>, TypeList<Case<F, T>>, TypeList<>>...>;
};
template <class S, class T, class Exec>
using PlainCases = typename WithVectors<krysol::Formats<S, Exec>, T>::type;

template <class T, class Exec>
using CsrCases = TypeList<Case<krysol::Csr<T, Exec>, T, RowSchedule::thread>,
                          Case<krysol::Csr<T, Exec>, T, RowSchedule::lanes>,
                          Case<krysol::Csr<T, Exec>, T, RowSchedule::balanced>>;

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

  Shape<S> far{"rows far from each other", no_entries<V>(5000, 40)};
  for (const Index i : {0, 1, 1500, 1501, 4100, 4999}) {
    for (Index k = 0; k < 3; ++k) far.entries.add(i, random.below(40), random.entry<V>());
  }
  all.push_back(far);

  Shape<S> row{"one dense row", no_entries<V>(130, 130)};
  for (Index i = 0; i < 130; ++i) {
    row.entries.add(i, i, random.entry<V>());
    row.entries.add(77, i, random.entry<V>());
  }
  all.push_back(row);

  Shape<S> longer{"a row that a team shares", no_entries<V>(6, 1500)};
  for (Index i = 0; i < 6; ++i) {
    for (Index j = i; j < 1500; j += i == 2 ? 1 : 3) longer.entries.add(i, j, random.entry<V>());
  }
  all.push_back(longer);
  return all;
}

/// shapes(), as format F can hold them.
template <class F>
auto shapes_for() {
  auto all = shapes<typename F::value_type>();
  for (auto& shape : all) shape.entries = fitting<F>(shape.entries);
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

/// |v|, without std::abs's care for what overflows: long double has room for the square of any T,
/// and hypot was most of the time of tests with complex numbers.
inline long double magnitude(long double v) { return std::abs(v); }
inline long double magnitude(const std::complex<long double>& v) {
  return std::sqrt(v.real() * v.real() + v.imag() * v.imag());  // std::norm squares std::abs
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
      absolute[i] += magnitude(value) * magnitude(xj);
      terms[i] += 1;
    }
  }

  /// |computed - exact| <= eps c (|beta||y| + |alpha| (terms + 3) |A||x|): each of a row's terms
  /// takes one rounding for its product and at most one for each addition, whatever their order;
  /// alpha, beta and the last addition take three more. c = 4 covers complex products.
  long double bound(std::size_t i, const T& alpha, const T& beta, const T& y) const {
    return 4 * eps<T>() *
           (magnitude(widen(beta)) * magnitude(widen(y)) +
            magnitude(widen(alpha)) * (terms[i] + 3) * absolute[i]);
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

template <class F, class T, class A, class V>
void expect_product(const A& a, const Triplets<V>& entries, const std::string& shape,
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
        ASSERT_LE(magnitude(widen(got[i]) - want), exact.bound(i, alpha, beta, y[i]))
            << shape << ", row " << i << ", alpha " << alpha_re << ", beta " << beta_re;
      }
    }
  }
}

template <class F, class T, class A, class V>
void expect_dot(const A& a, const Triplets<V>& entries, const std::string& shape) {
  using Exec = typename A::execution_space;
  const auto n = static_cast<std::size_t>(a.rows);
  const auto x = random_vector<T>(n, 23);
  const Product<T> exact(entries, x);
  const auto y = to_device<Exec>(std::vector<T>(n, quiet_nan<T>()));
  ReductionWorkspace<Exec> sums;
  const double got = apply_dot(Exec{}, a, to_device<Exec>(x), y, sums);
  long double want = 0;
  long double bound = 0;
  for (std::size_t i = 0; i < n; ++i) {
    want += std::real(conjugate(widen(x[i])) * exact.sum[i]);
    bound += magnitude(widen(x[i])) *
             (exact.bound(i, T(1), T(0), T(0)) +
              4 * eps<double>() * static_cast<long double>(n + 2) * std::abs(exact.sum[i]));
  }
  EXPECT_LE(std::abs(got - want), bound) << shape;
  const auto dotted = to_host(y);
  const auto plain = times(a, x);
  if constexpr (krysol::is_complex<T>) {
    // A compiler may fuse either half of a complex product, in each loop its own.
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(std::abs(widen(dotted[i]) - widen(plain[i])), exact.bound(i, T(1), T(0), T(0)))
          << shape << ", row " << i;
    }
  } else {
    EXPECT_EQ(dotted, plain) << shape;
  }
}

}  // namespace krysol_tests
