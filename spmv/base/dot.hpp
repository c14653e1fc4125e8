// The inner product: what an operator's fused product and the solvers share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <krysol/spmv/base/reduction.hpp>
#include <krysol/spmv/base/scalar.hpp>

namespace krysol {

template <class T>
struct DotTerm {
  const T* x;
  const T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    term[0] = real_product(x[i], y[i]);
  }
};

/// The real part of x'y, x conjugated. Bytes a row: 16.
template <class T, class Exec>
double dot(const Exec& exec, const Vector<T, Exec>& x, const Vector<T, Exec>& y,
           ReductionWorkspace<Exec>& sums) {
  return sum_over<1>("krysol::dot", exec, static_cast<std::int64_t>(x.extent(0)), sums,
                     DotTerm<std::remove_const_t<T>>{x.data(), y.data()})[0];
}

/// A complex inner product in double; a real one has no imaginary part.
template <class T>
using Inner = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

template <class T, int K>
struct InnerTerms {
  static constexpr std::ptrdiff_t parts = is_complex<T> ? 2 : 1;
  const T* x[K];
  const T* y[K];
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    for (int k = 0; k < K; ++k) {
      term[parts * k] = real_product(x[k][i], y[k][i]);
      if constexpr (is_complex<T>) {
        const T& u = x[k][i];
        const T& v = y[k][i];
        term[parts * k + 1] = static_cast<double>(u.real()) * static_cast<double>(v.imag()) -
                              static_cast<double>(u.imag()) * static_cast<double>(v.real());
      }
    }
  }
};

/// x(k)'y(k) for 0 <= k < K, x conjugated, by one pass over the rows and one reduction: what
/// Gram-Schmidt and methods for unsymmetric matrices are made of. Vectors of [n], all of one
/// length. Bytes a row: 16 K.
template <int K, class T, class Exec>
std::array<Inner<T>, K> inner_products(const Exec& exec,
                                       const std::array<ConstVector<T, Exec>, K>& x,
                                       const std::array<ConstVector<T, Exec>, K>& y,
                                       ReductionWorkspace<Exec>& sums) {
  constexpr int parts = InnerTerms<T, K>::parts;
  InnerTerms<T, K> terms;
  for (std::size_t k = 0; k < K; ++k) {
    terms.x[k] = x[k].data();
    terms.y[k] = y[k].data();
  }
  const auto total = sum_over<K * parts>("krysol::inner_products", exec,
                                         static_cast<std::int64_t>(x[0].extent(0)), sums, terms);
  std::array<Inner<T>, K> out;
  for (std::size_t k = 0; k < K; ++k) {
    if constexpr (is_complex<T>) {
      out[k] = Inner<T>(total[2 * k], total[2 * k + 1]);
    } else {
      out[k] = total[k];
    }
  }
  return out;
}

/// x'y, x conjugated. Bytes a row: 16.
template <class T, class Exec>
Inner<T> inner_product(const Exec& exec, const ConstVector<T, Exec>& x,
                       const ConstVector<T, Exec>& y, ReductionWorkspace<Exec>& sums) {
  return inner_products<1, T, Exec>(exec, {x}, {y}, sums)[0];
}

}  // namespace krysol
