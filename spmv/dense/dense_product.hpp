// A product of dense blocks as its kernels see it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/dense/dense_view.hpp>

namespace krysol {

/// Lines of a factor, rows of A or columns of B: entry (line, k) is data[line across + k along].
template <class T>
struct DenseLines {
  const T* data = nullptr;
  Offset across = 0;
  Offset along = 0;
  bool conjugated = false;

  KOKKOS_INLINE_FUNCTION T operator()(Offset line, Offset k) const {
    const T& v = data[line * across + k * along];
    return conjugated ? conjugate(v) : v;
  }
};

/// sum += x y, as multiplications and additions that compilers turn into vector instructions; those
/// of complex types they do not.
template <class T>
KOKKOS_INLINE_FUNCTION void add_product(T& sum, const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    const auto re = sum.real() + x.real() * y.real() - x.imag() * y.imag();
    const auto im = sum.imag() + x.real() * y.imag() + x.imag() * y.real();
    sum = T(re, im);
  } else {
    sum += x * y;
  }
}

/// C := alpha A B + beta C. Where `pieces` is more than one, the sum over k < depth is cut into
/// pieces of `step`, and piece s goes to a C of its own, piece_stride entries after the one
/// before.
template <class T>
struct DenseProduct {
  DenseLines<T> a;
  DenseLines<T> b;
  T* c = nullptr;
  Offset row_stride = 0;
  Offset col_stride = 0;
  Offset piece_stride = 0;
  Offset rows = 0;
  Offset cols = 0;
  Offset depth = 0;
  Offset pieces = 1;
  Offset step = 0;
  T alpha = T(1);
  T beta = T(0);

  KOKKOS_INLINE_FUNCTION Offset first(Offset piece) const { return piece * step; }
  KOKKOS_INLINE_FUNCTION Offset last(Offset piece) const {
    return (piece + 1) * step < depth ? (piece + 1) * step : depth;
  }
  KOKKOS_INLINE_FUNCTION T* entry(Offset piece, Offset i, Offset j) const {
    return c + piece * piece_stride + i * row_stride + j * col_stride;
  }
  /// Gives entry (i, j) of a piece its sum.
  KOKKOS_INLINE_FUNCTION void store(Offset piece, Offset i, Offset j, const T& sum) const {
    T& target = *entry(piece, i, j);
    target = beta == T(0) ? alpha * sum : alpha * sum + beta * target;
  }
};

}  // namespace krysol
