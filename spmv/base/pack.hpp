// Several numbers that are computed with as one: the entries of a row of a multivector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/registers.hpp>
#include <krysol/spmv/base/scalar.hpp>
#if defined(__SSE2__) && defined(KRYSOL_VECTOR_TYPES)
#include <immintrin.h>
#endif

namespace krysol {

namespace detail {

#ifdef KOKKOS_ENABLE_OPENMPTARGET
inline constexpr std::size_t most_alignment = 16;  // memory of the target has no more
#else
inline constexpr std::size_t most_alignment = 64;
#endif
template <class T>
inline constexpr std::size_t pack_alignment = sizeof(T) * pack_width < most_alignment
                                                  ? sizeof(T) * pack_width
                                                  : most_alignment;

}  // namespace detail

/// v[c] for 0 <= c < pack_width. Its arithmetic is that of its numbers, each by itself, so that a
/// kernel written for vectors of T multiplies vectors of Pack<T> as it stands.
template <class T>
struct alignas(detail::pack_alignment<T>) Pack {
  static constexpr bool vector = detail::has_vector_type<T>;

  EightSums<T> v;

#ifdef KOKKOS_ENABLE_OPENMPTARGET
  /// Kokkos' sums over the lanes of a thread begin there with whatever this makes.
  KOKKOS_INLINE_FUNCTION Pack() {
    for (int c = 0; c < pack_width; ++c) v[c] = T(0);
  }
#else
  Pack() = default;
#endif
  /// Not trivial, so that functions take packs by reference. The ABI would pass a trivial pack in
  /// registers as wide as a file is compiled for, and two files that differ in that would call each
  /// other's instances of one template.
  KOKKOS_INLINE_FUNCTION Pack(const Pack& b) {
    if constexpr (vector) {
      v = b.v;
    } else {
      for (int c = 0; c < pack_width; ++c) v[c] = b.v[c];
    }
  }
  Pack& operator=(const Pack&) = default;
  /// The same number in each place.
  template <class S>
  requires std::constructible_from<T, S> KOKKOS_INLINE_FUNCTION explicit Pack(const S& number) {
    const T same = widened(number);
    if constexpr (vector) {
      v.fill(same);
    } else {
      for (int c = 0; c < pack_width; ++c) v[c] = same;
    }
  }

  template <class S>
  KOKKOS_INLINE_FUNCTION static T widened(const S& number) {
    if constexpr (std::is_arithmetic_v<S>) {
      return static_cast<T>(static_cast<Real<T>>(number));
    } else {
      return static_cast<T>(number);
    }
  }

  KOKKOS_INLINE_FUNCTION T operator[](int c) const { return reinterpret_cast<const T*>(&v)[c]; }
  KOKKOS_INLINE_FUNCTION void set(int c, const T& number) { reinterpret_cast<T*>(&v)[c] = number; }

  KOKKOS_INLINE_FUNCTION Pack& operator+=(const Pack& b) {
    if constexpr (vector) {
      v += b.v;
    } else {
      for (int c = 0; c < pack_width; ++c) v[c] += b.v[c];
    }
    return *this;
  }
  KOKKOS_INLINE_FUNCTION Pack& operator*=(const Pack& b) {
    if constexpr (vector) {
      v *= b.v;
    } else {
      for (int c = 0; c < pack_width; ++c) v[c] *= b.v[c];
    }
    return *this;
  }
  KOKKOS_INLINE_FUNCTION friend Pack operator+(const Pack& a, const Pack& b) {
    Pack c = a;
    return c += b;
  }
  KOKKOS_INLINE_FUNCTION friend Pack operator*(const Pack& a, const Pack& b) {
    Pack c = a;
    return c *= b;
  }
  KOKKOS_INLINE_FUNCTION friend bool operator==(const Pack& a, const Pack& b) {
    for (int c = 0; c < pack_width; ++c) {
      if (a[c] != b[c]) return false;
    }
    return true;
  }
};

template <class T>
inline constexpr bool is_pack = false;
template <class T>
inline constexpr bool is_pack<Pack<T>> = true;

/// True where a pack can be written past the caches, which saves reading the line it is written to.
template <class T>
inline constexpr bool can_stream = false;
#if defined(__SSE2__) && defined(KRYSOL_VECTOR_TYPES)
template <>
inline constexpr bool can_stream<Pack<double>> = true;

/// y := v. Other threads may see it later than what is written after it, until end_of_streams().
KOKKOS_FORCEINLINE_FUNCTION void stream(const Pack<double>& v, Pack<double>& y) {
  const auto* from = reinterpret_cast<const double*>(&v);
  auto* to = reinterpret_cast<double*>(&y);
#if defined(__AVX512F__)
  _mm512_stream_pd(to, _mm512_load_pd(from));
#elif defined(__AVX__)
  for (int c = 0; c < pack_width; c += 4) _mm256_stream_pd(to + c, _mm256_load_pd(from + c));
#else
  for (int c = 0; c < pack_width; c += 2) _mm_stream_pd(to + c, _mm_load_pd(from + c));
#endif
}
inline void end_of_streams() { _mm_sfence(); }
#else
KOKKOS_INLINE_FUNCTION void end_of_streams() {}
#endif

/// How far ahead to ask for the packs of x that a matrix names, in places: each is a cache line, or
/// two, and rows that a mesh or a grid brings together leave the second cache before they are done.
inline constexpr std::int64_t packs_ahead = 224;

/// The same in rows, where a row's neighbours are guessed from those of a row before it.
inline constexpr int pack_rows_ahead = 32;

/// y += v, number by number, atomically.
template <class T>
KOKKOS_INLINE_FUNCTION void add_atomically(T& y, const T& v) {
  Kokkos::atomic_add(&y, v);
}
template <class T>
KOKKOS_INLINE_FUNCTION void add_atomically(Pack<T>& y, const Pack<T>& v) {
  T* lanes = reinterpret_cast<T*>(&y);
  for (int c = 0; c < pack_width; ++c) Kokkos::atomic_add(lanes + c, v[c]);
}

}  // namespace krysol
