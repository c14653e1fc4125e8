// Matrices whose values are stored in half the bytes (float for double).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

template <class S>
struct ReducedPrecisionOf;
template <>
struct ReducedPrecisionOf<double> {
  using type = float;
};
template <>
struct ReducedPrecisionOf<Kokkos::complex<double>> {
  using type = Kokkos::complex<float>;
};
/// float for double, complex<float> for complex<double>.
template <class S>
using ReducedPrecision = typename ReducedPrecisionOf<S>::type;

/// The matrix with each value rounded to the nearest of its narrower type: relative errors of at
/// most 2^-24, and below 2^-126 absolute ones of at most 2^-150. The pattern is the same arrays.
/// Throws FormatRefusal with place and value of the first one that float cannot reach; Inf and NaN
/// stay what they are. Bytes a value: 12 (double). Instantiated for double and complex<double>.
template <class S>
HostCsr<ReducedPrecision<S>> reduced_precision(const HostCsr<S>& a);

}  // namespace krysol
