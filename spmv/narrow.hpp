// Values of half the bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/csr.hpp>

namespace krysol {

template <class S>
struct NarrowOf;
template <>
struct NarrowOf<double> {
  using type = float;
};
template <>
struct NarrowOf<Kokkos::complex<double>> {
  using type = Kokkos::complex<float>;
};
/// float for double, complex<float> for complex<double>.
template <class S>
using Narrow = typename NarrowOf<S>::type;

/// The matrix with each value rounded to the nearest of its narrower type: relative errors of at
/// most 2^-24, and below 2^-126 absolute ones of at most 2^-150. The pattern is the same arrays.
/// Throws FormatRefusal with place and value of the first one that float cannot reach; Inf and NaN
/// stay what they are. Bytes a value: 12 (double). Instantiated for double and complex<double>.
template <class S>
HostCsr<Narrow<S>> narrowed(const HostCsr<S>& a);

}  // namespace krysol
