// Entries of matrices as Eigen has them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>

#include <krysol/spmv/base/scalar.hpp>

namespace krysol {

template <class T>
using EigenScalar = std::conditional_t<is_complex<T>, std::complex<Real<T>>, T>;

template <class T>
EigenScalar<T> to_eigen(const T& v) {
  if constexpr (is_complex<T>) {
    return {v.real(), v.imag()};
  } else {
    return v;
  }
}

template <class T>
T from_eigen(const EigenScalar<T>& v) {
  if constexpr (is_complex<T>) {
    return {v.real(), v.imag()};
  } else {
    return v;
  }
}

}  // namespace krysol
