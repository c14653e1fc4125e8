// The loops over rows of a cycle.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/row_loop.hpp>

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

/// A step of a smoother with the product before it: with the rows' sums of A y,
///
///     r := r_before - f A y;  d := a y + b weights r;  x := x + g y + d
///
/// r_before may be r, d must not be y, whose other rows are still read. No weights (null): ones.
/// Without `r` and `d` (null) they are not kept: nothing follows. fresh: x is 0 before. Bytes a row
/// (float): 24, 28 where d is in no cache; 16 without r and d; 4 more with weights.
template <class S>
struct SmoothingStep {
  static constexpr bool dot = false;
  Real<S> f;
  Real<S> a;
  Real<S> b;
  Real<S> g;
  const S* y;
  const S* r_before;
  const Real<S>* weights = nullptr;
  S* r;
  S* d;
  S* x;
  bool fresh = false;
  RowOrder order{};

  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t, int) const {}
  KOKKOS_FORCEINLINE_FUNCTION S* place(std::int64_t) const { return nullptr; }
  KOKKOS_INLINE_FUNCTION void row(std::int64_t i, const S& sum) const {
    const S residual = r_before[i] - f * sum;
    const Real<S> of_residual = weights != nullptr ? b * weights[i] : b;
    const S step = a * y[i] + of_residual * residual;
    x[i] = fresh ? g * y[i] + step : x[i] + (g * y[i] + step);
    if (r != nullptr) r[i] = residual;
    if (d != nullptr) d[i] = step;
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t first, int count, const S* sum) const {
    const SmoothingStep mine = *this;  // in registers, see RowLoop
    if (mine.order.row != nullptr) {
      for (int w = 0; w < count; ++w) mine.row(mine.order.row[first + w], sum[w]);
    } else if (mine.r != nullptr && mine.d != nullptr && !mine.fresh && mine.weights == nullptr) {
      const S* const from = mine.y + first;
      const S* const before = mine.r_before + first;
      S* const to_r = mine.r + first;
      S* const to_d = mine.d + first;
      S* const to_x = mine.x + first;
#pragma omp simd
      for (int w = 0; w < count; ++w) {
        const S residual = before[w] - mine.f * sum[w];
        const S step = mine.a * from[w] + mine.b * residual;
        to_r[w] = residual;
        to_d[w] = step;
        to_x[w] += mine.g * from[w] + step;
      }
    } else {
#pragma omp simd
      for (int w = 0; w < count; ++w) mine.row(first + w, sum[w]);
    }
  }
  KOKKOS_INLINE_FUNCTION void terms(std::int64_t, int, const S*, double*) const {}
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

/// product := rhs - residual, which is A c; terms of c'Ac, c'rhs, |rhs|^2, rhs'Ac and |Ac|^2. Bytes
/// a row: 16 (float).
template <class S>
struct FirstKrylovTerms {
  const S* c;
  const S* rhs;
  const S* residual;
  S* product;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const S r = rhs[i];
    const S ac = r - residual[i];
    product[i] = ac;
    term[0] = real_product(c[i], ac);
    term[1] = real_product(c[i], r);
    term[2] = abs_squared(r);
    term[3] = real_product(r, ac);
    term[4] = abs_squared(ac);
  }
};

/// rhs := rhs - t product, and r the same. Bytes a row: 16 (float).
template <class S>
struct NextRightHandSide {
  Real<S> t;
  const S* product;
  S* rhs;
  S* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S next = rhs[i] - t * product[i];
    rhs[i] = next;
    r[i] = next;
  }
};

/// Terms of d'Ac, d'Ad and d'rhs, where A d = rhs - residual and A c = product. Bytes a row: 16
/// (float).
template <class S>
struct SecondKrylovTerms {
  const S* d;
  const S* rhs;
  const S* residual;
  const S* product;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    term[0] = real_product(d[i], product[i]);
    term[1] = real_product(d[i], rhs[i] - residual[i]);
    term[2] = real_product(d[i], rhs[i]);
  }
};

/// to := a x + b y; `to` may be either. Bytes a row: 12 (float).
template <class S>
struct ScaledSum {
  Real<S> a;
  const S* x;
  Real<S> b;
  const S* y;
  S* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = a * x[i] + b * y[i]; }
};

/// x := x + y. Bytes a row: 12.
template <class S>
struct Add {
  const S* y;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { x[i] += y[i]; }
};

}  // namespace krysol::multigrid
