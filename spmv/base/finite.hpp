// Whether a number is finite, told from its bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>

namespace krysol {

namespace detail {

/// The bits of a number. Under -ffast-math they go through an empty piece of assembly, because
/// clang, which is told there that no number is NaN, concludes the same of its bits.
template <class Bits, class Number>
Bits bits_of(Number v) {
  Bits bits = std::bit_cast<Bits>(v);
#if defined(__GNUC__) && defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  asm("" : "+r"(bits));
#endif
  return bits;
}

}  // namespace detail

/// False for Inf and NaN: all bits of the exponent are set. Under -ffast-math, which a caller may
/// compile our templates with, compilers take std::isfinite for true and every comparison with NaN
/// for one with a number; they leave integers alone. IEEE 754-2019, section 3.4.
inline bool is_finite(double v) {
  constexpr std::uint64_t exponent = 0x7ff0000000000000U;
  return (detail::bits_of<std::uint64_t>(v) & exponent) != exponent;
}
inline bool is_finite(float v) {
  constexpr std::uint32_t exponent = 0x7f800000U;
  return (detail::bits_of<std::uint32_t>(v) & exponent) != exponent;
}
/// Both parts of a complex number, of Kokkos' or the host's.
template <class C>
requires requires(const C& v) { v.imag(); }
bool is_finite(const C& v) { return is_finite(v.real()) && is_finite(v.imag()); }

/// True for NaN alone: a magnitude beyond that of Inf. Likewise from the bits.
inline bool is_nan(double v) {
  constexpr std::uint64_t magnitude = 0x7fffffffffffffffU;
  constexpr std::uint64_t infinity = 0x7ff0000000000000U;
  return (detail::bits_of<std::uint64_t>(v) & magnitude) > infinity;
}
/// Either part of a complex number.
template <class C>
requires requires(const C& v) { v.imag(); }
bool is_nan(const C& v) { return is_nan(v.real()) || is_nan(v.imag()); }

}  // namespace krysol
