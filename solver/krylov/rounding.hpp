// What rounding does to b - A x, estimated with products by A alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include <krysol/solver/krylov/blas1.hpp>

namespace krysol {

/// Entries of mixed size and sign: some part of every eigenvector.
template <class T>
struct Scatter {
  T* v;
  /// In [-0.45, 0.55), the same for each i on every machine.
  KOKKOS_INLINE_FUNCTION static Real<T> number(std::int64_t i) {
    const auto bits = static_cast<std::uint32_t>(i) * 2654435761U;
    return static_cast<Real<T>>(bits >> 8) / Real<T>(1 << 24) - Real<T>(0.45);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { v[i] = T(number(i)); }
};

/// |A|_2 from a power iteration, which can only underestimate it. v, w: [rows] are overwritten.
/// Twenty products.
template <class T, class Exec, class A>
double estimate_norm(const Exec& exec, const A& a, const Vector<T, Exec>& v,
                     const Vector<T, Exec>& w, ReductionWorkspace<Exec>& sums) {
  const auto rows = static_cast<std::int64_t>(a.rows);
  for_each("krysol::estimate_norm(v)", exec, rows, Scatter<T>{v.data()});
  double norm = 0;
  for (int k = 0; k < 20; ++k) {
    const double length = norm2(exec, v, sums);
    if (!is_finite(length) || !(length > 0)) break;
    axpby<T>(exec, from_double<T>(1 / length), ConstVector<T, Exec>(v), T(0), w);
    apply(exec, T(1), a, ConstVector<T, Exec>(w), T(0), v);
    norm = std::max(norm, norm2(exec, v, sums));
  }
  return norm;
}

/// d := (x + scale e) times random numbers of the size of half a unit in the last place.
/// Bytes a row: 32.
template <class T>
struct RoundingOf {
  const T* x;
  const T* e;
  T scale;
  T* d;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Real<T> unit = Kokkos::Experimental::epsilon_v<Real<T>> / 2;
    d[i] = (unit * Scatter<T>::number(i)) * (x[i] + scale * e[i]);
  }
};

/// |A d|, with d as large as the rounding of x + scale e: about the smallest |b - A x| that a
/// vector of this precision can have, unless it is exact by chance. d and `work` are overwritten.
/// One product.
template <class T, class Exec, class A>
double rounding_residual(const Exec& exec, const A& a, const Vector<T, Exec>& x,
                         const Vector<T, Exec>& e, double scale, const Vector<T, Exec>& d,
                         const Vector<T, Exec>& work, ReductionWorkspace<Exec>& sums) {
  const auto rows = static_cast<std::int64_t>(a.rows);
  for_each("krysol::rounding_residual", exec, rows,
           RoundingOf<T>{x.data(), e.data(), from_double<T>(scale), d.data()});
  apply(exec, T(1), a, ConstVector<T, Exec>(d), T(0), work);
  return norm2(exec, work, sums);
}

}  // namespace krysol
