// Rows that are summed in the lanes of a vector register: their ends, and the sums of several.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// Whether rows may be summed so: the processor that is compiled for loads several entries of x by
/// one instruction, and chooses which.
#if defined(KRYSOL_VECTOR_TYPES) && (defined(__AVX512VL__) || defined(__AVX2__))
template <class S, class T>
inline constexpr bool has_row_lanes = detail::in_vectors<S, T>;
#else
template <class S, class T>
inline constexpr bool has_row_lanes = false;
#endif

/// Entries of a row that are multiplied at once: a register full; four, where rows have few.
template <class T, bool few>
inline constexpr int lanes_of_rows =
#if defined(__AVX512VL__)
    few && sizeof(T) == 8 ? 4 : pack_width;
#else
    sizeof(T) == 8 ? 4 : pack_width;
#endif

#if defined(KRYSOL_VECTOR_TYPES) && (defined(__AVX512VL__) || defined(__AVX2__))
namespace detail {

#if defined(__AVX512VL__)
KOKKOS_FORCEINLINE_FUNCTION __mmask8 first_lanes(int count) {
  return static_cast<__mmask8>((1U << static_cast<unsigned>(count)) - 1U);
}
#else
/// From 8 - count on: as many lanes with all bits set, and lanes without.
alignas(64) inline constexpr std::int32_t ends_of_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
alignas(64) inline constexpr std::int64_t ends_of_64[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

KOKKOS_FORCEINLINE_FUNCTION __m128i first_four_of_32(int count) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(ends_of_32 + 8 - count));
}
KOKKOS_FORCEINLINE_FUNCTION __m256i first_eight_of_32(int count) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ends_of_32 + 8 - count));
}
KOKKOS_FORCEINLINE_FUNCTION __m256i first_four_of_64(int count) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ends_of_64 + 8 - count));
}
#endif

}  // namespace detail

/// to.v[l] = from[l] for l < count < n, else 0; reads nothing else.
template <class S, class T, int n>
KOKKOS_FORCEINLINE_FUNCTION void load_first(const S* from, int count, Registers<T, n>& to) {
  using Vector = typename Registers<T, n>::Vector;
#if defined(__AVX512VL__)
  const __mmask8 first = detail::first_lanes(count);
  if constexpr (sizeof(T) == 4) {
    to.v = reinterpret_cast<Vector>(_mm256_maskz_loadu_ps(first, from));
  } else if constexpr (n == 8 && sizeof(S) == 4) {
    to.v =
        reinterpret_cast<Vector>(_mm512_maskz_cvtps_pd(first, _mm256_maskz_loadu_ps(first, from)));
  } else if constexpr (n == 8) {
    to.v = reinterpret_cast<Vector>(_mm512_maskz_loadu_pd(first, from));
  } else if constexpr (sizeof(S) == 4) {
    to.v = reinterpret_cast<Vector>(_mm256_cvtps_pd(_mm_maskz_loadu_ps(first, from)));
  } else {
    to.v = reinterpret_cast<Vector>(_mm256_maskz_loadu_pd(first, from));
  }
#else
  if constexpr (sizeof(T) == 4) {
    to.v = reinterpret_cast<Vector>(_mm256_maskload_ps(from, detail::first_eight_of_32(count)));
  } else if constexpr (sizeof(S) == 4) {
    to.v = reinterpret_cast<Vector>(
        _mm256_cvtps_pd(_mm_maskload_ps(from, detail::first_four_of_32(count))));
  } else {
    to.v = reinterpret_cast<Vector>(_mm256_maskload_pd(from, detail::first_four_of_64(count)));
  }
#endif
}

/// to.v[l] = x[index[l]] for l < count < n, else 0. instruction: see gathers_pay. Without it n
/// entries of x are read, by columns that follow in the next rows, because choosing which takes
/// longer; where fewer than n are `stored` from index[0] on, x[index[0]] in their place.
template <class T, int n>
KOKKOS_FORCEINLINE_FUNCTION void gather_first(const T* x, const std::int32_t* index, int count,
                                              Offset stored, bool instruction,
                                              Registers<T, n>& to) {
  using Vector = typename Registers<T, n>::Vector;
  if (!instruction) {
    if (count == 0) {
      to.fill(T(0));
      return;
    }
    std::int32_t few[n];
    if (stored < n) {
      for (int l = 0; l < n; ++l) few[l] = index[l < count ? l : 0];
      index = few;
    }
    to.gather(x, index, false);
    to.keep_bits((1U << static_cast<unsigned>(count)) - 1U);
    return;
  }
#if defined(__AVX512VL__)
  const __mmask8 first = detail::first_lanes(count);
  if constexpr (sizeof(T) == 4) {
    to.v = reinterpret_cast<Vector>(_mm256_mmask_i32gather_ps(
        _mm256_setzero_ps(), first, _mm256_maskz_loadu_epi32(first, index), x, 4));
  } else if constexpr (n == 8) {
    to.v = reinterpret_cast<Vector>(_mm512_mask_i32gather_pd(
        _mm512_setzero_pd(), first, _mm256_maskz_loadu_epi32(first, index), x, 8));
  } else {
    to.v = reinterpret_cast<Vector>(_mm256_mmask_i32gather_pd(
        _mm256_setzero_pd(), first, _mm_maskz_loadu_epi32(first, index), x, 8));
  }
#else
  if constexpr (sizeof(T) == 4) {
    const __m256i first = detail::first_eight_of_32(count);
    to.v = reinterpret_cast<Vector>(_mm256_mask_i32gather_ps(_mm256_setzero_ps(), x,
                                                             _mm256_maskload_epi32(index, first),
                                                             _mm256_castsi256_ps(first), 4));
  } else {
    to.v = reinterpret_cast<Vector>(_mm256_mask_i32gather_pd(
        _mm256_setzero_pd(), x, _mm_maskload_epi32(index, detail::first_four_of_32(count)),
        _mm256_castsi256_pd(detail::first_four_of_64(count)), 8));
  }
#endif
}

/// to[l] = row[l].sum(), to the last bit, for n registers of n numbers: by a third of the
/// instructions, because each adds parts of two or more. (With masks, all of whose bits are set:
/// see Registers::gather_at.)
template <class T, int n>
KOKKOS_FORCEINLINE_FUNCTION void store_sums(const Registers<T, n>* row, T* to) {
  if constexpr (std::is_same_v<T, double> && n == 4) {
    __m256d half[2];  // of rows 0 and 2, 1 and 3
    for (int k = 0; k < 2; ++k) {
      const auto a = reinterpret_cast<__m256d>(row[k].v);
      const auto b = reinterpret_cast<__m256d>(row[k + 2].v);
      half[k] =
          _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
    }
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_unpacklo_pd(half[0], half[1]),
                                       _mm256_unpackhi_pd(half[0], half[1])));
    return;
  }
#if defined(__AVX512VL__)
  if constexpr (std::is_same_v<T, double> && n == 8) {
    __m512d half[4];  // of rows 0 and 2, 4 and 6, 1 and 3, 5 and 7
    for (int k = 0; k < 4; ++k) {
      const int l = k < 2 ? 4 * k : 4 * k - 7;
      const auto a = reinterpret_cast<__m512d>(row[l].v);
      const auto b = reinterpret_cast<__m512d>(row[l + 2].v);
      half[k] = _mm512_add_pd(_mm512_maskz_shuffle_f64x2(0xff, a, b, 0x44),
                              _mm512_maskz_shuffle_f64x2(0xff, a, b, 0xee));
    }
    const __m512d even = _mm512_add_pd(_mm512_maskz_shuffle_f64x2(0xff, half[0], half[1], 0x88),
                                       _mm512_maskz_shuffle_f64x2(0xff, half[0], half[1], 0xdd));
    const __m512d odd = _mm512_add_pd(_mm512_maskz_shuffle_f64x2(0xff, half[2], half[3], 0x88),
                                      _mm512_maskz_shuffle_f64x2(0xff, half[2], half[3], 0xdd));
    _mm512_storeu_pd(to, _mm512_add_pd(_mm512_maskz_unpacklo_pd(0xff, even, odd),
                                       _mm512_maskz_unpackhi_pd(0xff, even, odd)));
    return;
  }
#endif
  for (int l = 0; l < n; ++l) to[l] = row[l].sum();
}
#endif

}  // namespace krysol
