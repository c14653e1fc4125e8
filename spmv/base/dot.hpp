// The inner product: what an operator's fused product and the solvers share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

}  // namespace krysol
