// Whether numbers are finite, by their bits: a file compiled with -ffast-math takes std::isfinite
// for true. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <krysol/spmv/base/scalar.hpp>

namespace krysol {

/// False for Inf and NaN: an IEEE 754 number is finite where not all bits of its exponent are set.
/// Real or complex numbers of float or double.
template <class T>
KOKKOS_INLINE_FUNCTION bool has_finite_bits(const T& v) {
  if constexpr (is_complex<T>) {
    return has_finite_bits(v.real()) && has_finite_bits(v.imag());
  } else if constexpr (std::is_same_v<T, float>) {
    constexpr std::uint32_t exponent = 0x7F800000U;
    return (Kokkos::bit_cast<std::uint32_t>(v) & exponent) != exponent;
  } else {
    static_assert(std::is_same_v<T, double>);
    constexpr std::uint64_t exponent = 0x7FF0000000000000U;
    return (Kokkos::bit_cast<std::uint64_t>(v) & exponent) != exponent;
  }
}

}  // namespace krysol
