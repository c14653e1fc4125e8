// The loops over rows of a cycle.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/scalar.hpp>

namespace krysol::multigrid {

/// A number in another precision.
template <class To, class From>
KOKKOS_INLINE_FUNCTION To rounded(const From& v) {
  if constexpr (is_complex<To>) {
    return To(static_cast<Real<To>>(v.real()), static_cast<Real<To>>(v.imag()));
  } else {
    return static_cast<To>(v);
  }
}

/// to := factor S from, in double. Bytes a row: 16 (double to float).
template <class To, class From, class R>
struct ScaleRows {
  double factor;
  const R* scale;
  const From* from;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using Wide = std::conditional_t<is_complex<To>, Kokkos::complex<double>, double>;
    to[i] = rounded<To>(factor * static_cast<double>(scale[i]) * rounded<Wide>(from[i]));
  }
};

/// d := b r; x := d. Bytes a row: 12 (float).
template <class S>
struct FirstStep {
  Real<S> b;
  const S* r;
  S* d;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S step = b * r[i];
    d[i] = step;
    x[i] = step;
  }
};

/// d := a d + b r; x := x + d. Bytes a row: 20.
template <class S>
struct Step {
  Real<S> a;
  Real<S> b;
  const S* r;
  S* d;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S step = a * d[i] + b * r[i];
    d[i] = step;
    x[i] += step;
  }
};

/// x := x + d + b r; d := b r: the first step after a correction d. Bytes a row: 20.
template <class S>
struct FirstStepAfter {
  Real<S> b;
  const S* r;
  S* d;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S step = b * r[i];
    x[i] += d[i] + step;
    d[i] = step;
  }
};

/// x := inverse r, in the precision of the inverse, [rows rows] by columns. Bytes: 8 a place
/// (double).
template <class S, class W>
struct MultiplyDense {
  std::int64_t rows;
  const W* inverse;
  const S* r;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    W sum = W(0);
    for (std::int64_t j = 0; j < rows; ++j) sum += inverse[j * rows + i] * rounded<W>(r[j]);
    x[i] = rounded<S>(sum);
  }
};

/// x := x + y. Bytes a row: 12.
template <class S>
struct Add {
  const S* y;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { x[i] += y[i]; }
};

}  // namespace krysol::multigrid
