// Vector kernels of the solvers: the only ones. Each states its bytes a row in double; writing a
// vector that was not read counts twice, because its cache line is fetched first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

template <class T>
struct LargestPart {
  const T* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double& largest) const {
    const double re = Kokkos::fabs(static_cast<double>(real_part(v[i])));
    const double im = Kokkos::fabs(static_cast<double>(imaginary_part(v[i])));
    if (re > largest) largest = re;
    if (im > largest) largest = im;
  }
};

template <class T>
struct ScaledSquare {
  const T* v;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const double re = scale * static_cast<double>(real_part(v[i]));
    const double im = scale * static_cast<double>(imaginary_part(v[i]));
    term[0] = re * re + im * im;
  }
};

/// The power of two that brings `largest` to between 1/2 and 1; 1 for 0, Inf and NaN.
inline double unit_scale(double largest) {
  if (!is_finite(largest) || !(largest > 0)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  return std::ldexp(1.0, -exponent);
}

/// max over i of |Re v(i)|, |Im v(i)|, of all processes; a NaN is passed over. Bytes a row: 8.
template <class T, class Exec>
double largest_part(const Exec& exec, const Vector<T, Exec>& v,
                    const ReductionWorkspace<Exec>& sums) {
  double largest = 0;
  Kokkos::parallel_reduce("krysol::largest_part",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                              exec, 0, static_cast<std::int64_t>(v.extent(0))),
                          LargestPart<std::remove_const_t<T>>{v.data()},
                          Kokkos::Max<double>(largest));
  if (v.extent(0) == 0) largest = 0;
  if (sums.all_reduce.max) sums.all_reduce.max(&largest, 1);
  return largest;
}

/// |v|_2, also where squares of its entries would overflow or vanish; Inf or NaN where an entry is.
/// Bytes a row: 16.
template <class T, class Exec>
double norm2(const Exec& exec, const Vector<T, Exec>& v, ReductionWorkspace<Exec>& sums) {
  const double scale = unit_scale(largest_part<T>(exec, v, sums));
  const auto square = sum_over<1>("krysol::norm2", exec, static_cast<std::int64_t>(v.extent(0)),
                                  sums, ScaledSquare<std::remove_const_t<T>>{v.data(), scale});
  return std::sqrt(square[0]) / scale;
}

template <class T>
struct Axpby {
  T alpha;
  const T* x;
  T beta;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = beta == T(0) ? alpha * x[i] : alpha * x[i] + beta * y[i];
  }
};

/// y := alpha x + beta y; beta = 0 never reads y. Bytes a row: 24.
template <class T, class Exec>
void axpby(const Exec& exec, std::type_identity_t<T> alpha,
           const std::type_identity_t<ConstVector<T, Exec>>& x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  for_each("krysol::axpby", exec, static_cast<std::int64_t>(y.extent(0)),
           Axpby<T>{alpha, x.data(), beta, y.data()});
}

}  // namespace krysol
