// Arithmetic that differs between real and complex entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <complex>
#include <cstdint>

namespace krysol {

/// The real type beneath T: `Real<Kokkos::complex<double>>` is double.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<Kokkos::complex<R>> {
  using type = R;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

/// The type that kernels compute with: complex numbers of the host become Kokkos's.
template <class T>
using DeviceScalar = std::conditional_t<is_complex<T>, Kokkos::complex<Real<T>>, T>;

/// The complex conjugate; a real number is its own.
template <class T>
KOKKOS_INLINE_FUNCTION T conjugate(const T& v) {
  if constexpr (is_complex<T>) {
    return Kokkos::conj(v);
  } else {
    return v;
  }
}

/// is_finite (finite.hpp) on devices too: an IEEE 754 number is finite where not all bits of its
/// exponent are set.
KOKKOS_INLINE_FUNCTION bool has_finite_bits(double v) {
  constexpr std::uint64_t exponent = 0x7FF0000000000000U;
  return (Kokkos::bit_cast<std::uint64_t>(v) & exponent) != exponent;
}
KOKKOS_INLINE_FUNCTION bool has_finite_bits(const Kokkos::complex<double>& v) {
  return has_finite_bits(v.real()) && has_finite_bits(v.imag());
}

template <class T>
KOKKOS_INLINE_FUNCTION Real<T> real_part(const T& v) {
  if constexpr (is_complex<T>) {
    return v.real();
  } else {
    return v;
  }
}

template <class T>
KOKKOS_INLINE_FUNCTION Real<T> imaginary_part(const T& v) {
  if constexpr (is_complex<T>) {
    return v.imag();
  } else {
    return Real<T>(0);
  }
}

/// A number of the host's arithmetic in a vector's type.
template <class T>
KOKKOS_INLINE_FUNCTION T from_double(double v) {
  return T(static_cast<Real<T>>(v));
}

/// |v|^2 in double.
template <class T>
KOKKOS_INLINE_FUNCTION double abs_squared(const T& v) {
  const auto re = static_cast<double>(real_part(v));
  if constexpr (is_complex<T>) {
    const auto im = static_cast<double>(imaginary_part(v));
    return re * re + im * im;
  } else {
    return re * re;
  }
}

/// The real part of conj(a) b in double: one term of the real inner product.
template <class T>
KOKKOS_INLINE_FUNCTION double real_product(const T& a, const T& b) {
  const double re = static_cast<double>(real_part(a)) * static_cast<double>(real_part(b));
  if constexpr (is_complex<T>) {
    return re + static_cast<double>(imaginary_part(a)) * static_cast<double>(imaginary_part(b));
  } else {
    return re;
  }
}

}  // namespace krysol
