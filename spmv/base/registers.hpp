// Eight numbers in vector registers as wide as those of the processor that is compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// Defined where code is compiled for a processor alone, and the compiler has vector types.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__) && \
    !defined(KOKKOS_ENABLE_OPENMPTARGET)
#define KRYSOL_VECTOR_TYPES
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#endif

namespace krysol {

/// Numbers that kernels of the host compute with at once, on any processor: what slices hold, and
/// packs of vectors. Their order in memory is the same in every build.
inline constexpr int pack_width = 8;

/// Neighbouring entries of x that one operation chooses eight from, as Registers::choose does.
inline constexpr int window_entries = 16;
/// In place of one of them: none.
inline constexpr std::uint8_t no_entry = 0x80;

/// Bytes of a vector register: those of AVX-512, of AVX, of SSE2 and NEON.
#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

namespace detail {

/// Where the compiler has vector types they say what an array can only hint at: g++ keeps arrays
/// that are summed up in memory. A compiler for GPUs sees the same layout, and takes each number by
/// itself.
#ifdef KRYSOL_VECTOR_TYPES
template <class T>
inline constexpr bool has_vector_type = std::is_floating_point_v<T> && sizeof(T) <= 8;
#else
template <class T>
inline constexpr bool has_vector_type = false;
#endif

/// Bytes of the longest register that the processor that is compiled for loads from several places
/// by one instruction; 0 where it has none.
#if defined(KRYSOL_VECTOR_TYPES) && defined(__AVX512F__)
constexpr int gathered_bytes = 64;
#elif defined(KRYSOL_VECTOR_TYPES) && defined(__AVX2__)
constexpr int gathered_bytes = 32;
#else
constexpr int gathered_bytes = 0;
#endif

/// True where such an instruction loads n numbers of T, four or eight, in registers of AVX at
/// least.
template <class T, int n>
inline constexpr bool has_gather = static_cast<int>(n * sizeof(T)) >= 32 &&
                                   static_cast<int>(n * sizeof(T)) <= gathered_bytes;

}  // namespace detail

/// n numbers of T in one register, or in two halves where that is too short. (A vector of the
/// compiler that is longer than the processor's registers goes through memory: twice the time of a
/// plain loop.) All of it is inlined, and nothing takes or returns a register by value but through
/// these: how functions would hand them over depends on the processor that a file is compiled for.
/// `bytes` tells instances for different processors apart, so that one program may hold both.
template <class T, int n, int bytes = register_bytes,
          bool one = static_cast<int>(n * sizeof(T)) <= bytes>
struct Registers;

#ifdef KRYSOL_VECTOR_TYPES

namespace detail {
template <class T, int n>
struct VectorOf {
  using type __attribute__((vector_size(n * sizeof(T)))) = T;
};

#if defined(__AVX2__)
/// For four bits: where, of eight halves of four numbers that follow each other, lane l takes its
/// two from, so that lanes whose bit is set take the next number each.
struct HalvesInOrder {
  alignas(32) std::int32_t place[8];
};
constexpr HalvesInOrder halves_of(unsigned bits) {
  HalvesInOrder halves = {};
  std::int32_t next = 0;
  for (unsigned l = 0; l < 4; ++l) {
    halves.place[2 * l] = 2 * next;
    halves.place[2 * l + 1] = 2 * next + 1;
    if ((bits >> l & 1U) != 0 && next < 3) ++next;
  }
  return halves;
}
inline constexpr HalvesInOrder halves_in_order[16] = {
    halves_of(0),  halves_of(1),  halves_of(2),  halves_of(3), halves_of(4),  halves_of(5),
    halves_of(6),  halves_of(7),  halves_of(8),  halves_of(9), halves_of(10), halves_of(11),
    halves_of(12), halves_of(13), halves_of(14), halves_of(15)};
#endif
}  // namespace detail

template <class T, int n, int bytes>
struct Registers<T, n, bytes, true> {
  using Vector = typename detail::VectorOf<T, n>::type;
  /// As many integers as wide as T, of which a comparison sets all bits or none.
  using Mask = decltype(Vector{} == Vector{});
  /// Indices of as many numbers of an array.
  using Places = typename detail::VectorOf<std::int32_t, n>::type;

  Vector v;

  /// v[l] = from[l].
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void load(const S* from) {
    typename detail::VectorOf<S, n>::type as_stored;
    std::memcpy(&as_stored, from, sizeof(as_stored));
    if constexpr (std::is_same_v<S, T>) {
      v = as_stored;
    } else {
      v = __builtin_convertvector(as_stored, Vector);
    }
  }
  /// to[l] = v[l].
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to) const { std::memcpy(to, &v, sizeof(v)); }
  /// v[l] = item(first + l).
  template <class Item>
  KOKKOS_FORCEINLINE_FUNCTION void set(const Item& item, int first = 0) {
    set_each(item, first, std::make_integer_sequence<int, n>{});
  }
  /// v[l] = x[at[l]]: by the processor's instruction, where it has one and `instruction` asks for
  /// it (see gathers_pay), else by a load for each.
  KOKKOS_FORCEINLINE_FUNCTION void gather(const T* x, const Places& at, bool instruction) {
    if (detail::has_gather<T, n> && instruction) {
      gather_at(x, at);
    } else {
      set([&](int l) { return x[at[l]]; });
    }
  }
  /// The same with at[l] = index[l].
  KOKKOS_FORCEINLINE_FUNCTION void gather(const T* x, const std::int32_t* index, bool instruction) {
    if (detail::has_gather<T, n> && instruction) {
      Places at;
      std::memcpy(&at, index, sizeof(at));
      gather_at(x, at);
    } else {
      set([=](int l) { return x[index[l]]; });
    }
  }
  /// The same, and x[0] where an index is negative.
  KOKKOS_FORCEINLINE_FUNCTION void gather_or_first(const T* x, const std::int32_t* index,
                                                   bool instruction) {
    if (detail::has_gather<T, n> && instruction) {
      Places at;
      std::memcpy(&at, index, sizeof(at));
      gather_at(x, at & ~(at >> 31));
    } else {
      set([=](int l) { return x[index[l] & ~(index[l] >> 31)]; });
    }
  }
  /// The same, and 0 where an index is negative.
  KOKKOS_FORCEINLINE_FUNCTION void gather_existing(const T* x, const std::int32_t* index,
                                                   bool instruction) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
    if constexpr (sizeof(T) == 8 && n == 8) {
      if (instruction) {
        const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index));
        const auto there = static_cast<__mmask8>(~_mm256_movepi32_mask(at));
        v = reinterpret_cast<Vector>(
            _mm512_mask_i32gather_pd(_mm512_setzero_pd(), there, at, x, 8));
        return;
      }
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 8 && n == 4) {
      if (instruction) {
        gather_not_negative(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(index)));
        return;
      }
    }
#endif
    gather_or_first(x, index, instruction);
    clear_where_negative(index);
  }
  /// v[l] = from[at[l]] for at[l] < window_entries, 0 where at[l] = no_entry. May read all of the
  /// window_entries entries; those that no lane names have no effect.
  KOKKOS_FORCEINLINE_FUNCTION void choose(const T* from, const std::uint8_t* at, bool instruction) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    if constexpr (sizeof(T) == 8 && n == 8) {
      const __m128i bytes_at = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
      const auto there = static_cast<__mmask8>(~_mm_movepi8_mask(bytes_at));
      v = reinterpret_cast<Vector>(_mm512_maskz_permutex2var_pd(
          there, _mm512_loadu_pd(from), _mm512_maskz_cvtepu8_epi64(0xff, bytes_at),
          _mm512_loadu_pd(from + 8)));
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 8 && n == 4) {
      if (instruction) {
        std::int32_t four = 0;
        std::memcpy(&four, at, sizeof(four));
        gather_not_negative(from, _mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
        return;
      }
    }
#endif
    if (detail::has_gather<T, n> && instruction) {
      typename detail::VectorOf<std::uint8_t, n>::type bytes_at;
      std::memcpy(&bytes_at, at, sizeof(bytes_at));
      gather_at(from, __builtin_convertvector(bytes_at & (window_entries - 1), Places));
    } else {
      set([=](int l) { return from[at[l] & (window_entries - 1)]; });
    }
    clear_where_none(at);
  }
  /// v[l] = from[first + l] where bit l of `bits` is set, else 0; reads nothing else. One of `bits`
  /// is set at least. lane: of the first number here, among those that `bits` speaks of.
  KOKKOS_FORCEINLINE_FUNCTION void load_where(const T* from, std::int32_t first, unsigned bits,
                                              int lane = 0) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
    if constexpr (n == 8) {
      const auto there = static_cast<__mmask8>(bits);
      if constexpr (sizeof(T) == 8) {
        v = reinterpret_cast<Vector>(_mm512_maskz_loadu_pd(there, from + first));
      } else {
        v = reinterpret_cast<Vector>(_mm256_maskz_loadu_ps(there, from + first));
      }
      return;
    }
#elif defined(__AVX2__)
    if constexpr (n == 8 && sizeof(T) == 4) {
      const __m256i there = _mm256_sllv_epi32(_mm256_set1_epi32(static_cast<int>(bits)),
                                              _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
      v = reinterpret_cast<Vector>(_mm256_maskload_ps(from + first, there));
      return;
    } else if constexpr (n == 4 && sizeof(T) == 8) {
      // Of each 64 bits the upper ones, which hold `bits` as well, are shifted out.
      const __m256i there =
          _mm256_sllv_epi64(_mm256_set1_epi32(static_cast<int>(bits)),
                            _mm256_setr_epi64x(63 - lane, 62 - lane, 61 - lane, 60 - lane));
      v = reinterpret_cast<Vector>(_mm256_maskload_pd(from + first + lane, there));
      return;
    }
#endif
    const int some = __builtin_ctz(bits);  // in place of those that may not be read
    set([=](int l) { return from[first + ((bits >> l & 1U) != 0 ? l : some)]; }, lane);
    keep_bits(bits, lane);
  }
  KOKKOS_FORCEINLINE_FUNCTION void fill(T number) {
    v = Vector{};
    set([number](int) { return number; });
  }
  /// v[l] += a[l] b[l], rounded once where the processor can.
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const Registers& a, const Registers& b) {
    v += a.v * b.v;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const Registers& b) { v += b.v; }
  KOKKOS_FORCEINLINE_FUNCTION void operator*=(const Registers& b) { v *= b.v; }
  /// The same where bit l of `bits` is set; v[l] stays as it is where not, whatever a[l] and b[l].
  KOKKOS_FORCEINLINE_FUNCTION void add_product_where(unsigned bits, const Registers& a,
                                                     const Registers& b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8 && n == 8) {
      v = reinterpret_cast<Vector>(
          _mm512_mask3_fmadd_pd(reinterpret_cast<__m512d>(a.v), reinterpret_cast<__m512d>(b.v),
                                reinterpret_cast<__m512d>(v), static_cast<__mmask8>(bits)));
      return;
    }
#endif
    const Vector total = v + a.v * b.v;
    v = lanes_of_bits(bits, std::make_integer_sequence<int, n>{}) != 0 ? total : v;
  }
  /// v[l] = the next of `from` for each bit l of `bits` that is set, ascending; where none is set
  /// any of from[0 .. n). Reads n numbers, whatever the bits.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void expand(const S* from, unsigned bits) {
    if constexpr (!std::is_same_v<S, T>) {
      Registers<S, n, bytes> as_stored;
      S each[n];
      as_stored.expand(from, bits);
      as_stored.store(each);
      load(each);
    } else {
#if defined(__AVX512F__)
      if constexpr (sizeof(T) == 8 && n == 8) {
        v = reinterpret_cast<Vector>(
            _mm512_maskz_expandloadu_pd(static_cast<__mmask8>(bits), from));
        return;
      }
#endif
#if defined(__AVX512F__) && defined(__AVX512VL__)
      if constexpr (sizeof(T) == 4 && n == 8) {
        v = reinterpret_cast<Vector>(
            _mm256_maskz_expandloadu_ps(static_cast<__mmask8>(bits), from));
        return;
      }
#endif
#if defined(__AVX2__)
      if constexpr (sizeof(T) == 8 && n == 4) {
        const auto places = _mm256_load_si256(
            reinterpret_cast<const __m256i*>(detail::halves_in_order[bits & 15U].place));
        v = reinterpret_cast<Vector>(_mm256_permutevar8x32_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), places));
        return;
      }
#endif
      set([=](int l) { return from[__builtin_popcount(bits & ((1U << l) - 1U))]; });
    }
  }
  /// The sum of all: of both halves first, then of the halves of that.
  KOKKOS_FORCEINLINE_FUNCTION T sum() const {
    if constexpr (n == 1) {
      return v[0];
    } else if constexpr (n == 2) {
      return v[0] + v[1];
    } else {
      Registers<T, n / 2, bytes> low;
      Registers<T, n / 2, bytes> high;
      std::memcpy(&low.v, &v, sizeof(low.v));
      std::memcpy(&high.v, reinterpret_cast<const char*>(&v) + sizeof(low.v), sizeof(high.v));
      low += high;
      return low.sum();
    }
  }
  /// v[l] = 0 where index[l] < 0.
  KOKKOS_FORCEINLINE_FUNCTION void clear_where_negative(const std::int32_t* index) {
    typename detail::VectorOf<std::int32_t, n>::type i;
    std::memcpy(&i, index, sizeof(i));
    v = __builtin_convertvector(i, Mask) < 0 ? Vector{} : v;
  }
  /// v[l] = 0 where at[l] = no_entry.
  KOKKOS_FORCEINLINE_FUNCTION void clear_where_none(const std::uint8_t* at) {
    typename detail::VectorOf<std::uint8_t, n>::type bytes_at;
    std::memcpy(&bytes_at, at, sizeof(bytes_at));
    v = __builtin_convertvector(bytes_at == no_entry, Mask) != 0 ? Vector{} : v;
  }
  /// v[l] = 0 where code[l] = none.
  KOKKOS_FORCEINLINE_FUNCTION void clear_where_equal(const std::uint16_t* code,
                                                     std::uint16_t none) {
    typename detail::VectorOf<std::uint16_t, n>::type c;
    std::memcpy(&c, code, sizeof(c));
    v = __builtin_convertvector(c == none, Mask) != 0 ? Vector{} : v;
  }
  /// v[l] = 0 where bit first + l of `bits` is not set.
  KOKKOS_FORCEINLINE_FUNCTION void keep_bits(unsigned bits, int first = 0) {
    v = lanes_of_bits(bits >> first, std::make_integer_sequence<int, n>{}) != 0 ? v : Vector{};
  }

 private:
#if defined(__AVX2__)
  /// Four numbers of 64 bits: x[at[l]], 0 where at[l] is negative.
  KOKKOS_FORCEINLINE_FUNCTION void gather_not_negative(const T* x, const __m128i& at) {
    const __m256i there = ~_mm256_cvtepi32_epi64(at);
    v = reinterpret_cast<Vector>(_mm256_mask_i32gather_pd(_mm256_setzero_pd(),
                                                          reinterpret_cast<const double*>(x), at,
                                                          _mm256_castsi256_pd(there), 8));
  }
#endif
  KOKKOS_FORCEINLINE_FUNCTION void gather_at([[maybe_unused]] const T* x,
                                             [[maybe_unused]] const Places& at) {
// With masks, all of whose bits are set: g++ 12 warns of what stands in its plain ones.
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && n == 8) {
      const __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
      v = reinterpret_cast<Vector>(
          _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, reinterpret_cast<__m256i>(at), all, 4));
    } else if constexpr (sizeof(T) == 8 && n == 4) {
      const __m256d all = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
      v = reinterpret_cast<Vector>(
          _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, reinterpret_cast<__m128i>(at), all, 8));
    }
#endif
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8 && n == 8) {
      v = reinterpret_cast<Vector>(
          _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, reinterpret_cast<__m256i>(at), x, 8));
    }
#endif
  }
  template <class Item, int... l>
  KOKKOS_FORCEINLINE_FUNCTION void set_each(const Item& item, int first,
                                            std::integer_sequence<int, l...>) {
    v = Vector{item(first + l)...};
  }
  template <int... l>
  KOKKOS_FORCEINLINE_FUNCTION static Mask lanes_of_bits(unsigned bits,
                                                        std::integer_sequence<int, l...>) {
    return (Mask{} + static_cast<int>(bits)) & Mask{(1 << l)...};
  }
};

template <class T, int n, int bytes>
struct Registers<T, n, bytes, false> {
  static constexpr int half = n / 2;
  using Places = typename detail::VectorOf<std::int32_t, n>::type;

  Registers<T, half, bytes> low;
  Registers<T, half, bytes> high;

  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void load(const S* from) {
    low.load(from);
    high.load(from + half);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to) const {
    low.store(to);
    high.store(to + half);
  }
  template <class Item>
  KOKKOS_FORCEINLINE_FUNCTION void set(const Item& item, int first = 0) {
    low.set(item, first);
    high.set(item, first + half);
  }
  KOKKOS_FORCEINLINE_FUNCTION void gather(const T* x, const Places& at, bool instruction) {
    typename detail::VectorOf<std::int32_t, half>::type halves[2];
    std::memcpy(halves, &at, sizeof(at));
    low.gather(x, halves[0], instruction);
    high.gather(x, halves[1], instruction);
  }
  KOKKOS_FORCEINLINE_FUNCTION void gather(const T* x, const std::int32_t* index, bool instruction) {
    low.gather(x, index, instruction);
    high.gather(x, index + half, instruction);
  }
  KOKKOS_FORCEINLINE_FUNCTION void gather_or_first(const T* x, const std::int32_t* index,
                                                   bool instruction) {
    low.gather_or_first(x, index, instruction);
    high.gather_or_first(x, index + half, instruction);
  }
  KOKKOS_FORCEINLINE_FUNCTION void gather_existing(const T* x, const std::int32_t* index,
                                                   bool instruction) {
    low.gather_existing(x, index, instruction);
    high.gather_existing(x, index + half, instruction);
  }
  KOKKOS_FORCEINLINE_FUNCTION void choose(const T* from, const std::uint8_t* at, bool instruction) {
    low.choose(from, at, instruction);
    high.choose(from, at + half, instruction);
  }
  KOKKOS_FORCEINLINE_FUNCTION void load_where(const T* from, std::int32_t first, unsigned bits,
                                              int lane = 0) {
    low.load_where(from, first, bits, lane);
    high.load_where(from, first, bits, lane + half);
  }
  KOKKOS_FORCEINLINE_FUNCTION void fill(T number) {
    low.fill(number);
    high.fill(number);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const Registers& a, const Registers& b) {
    low.add_product(a.low, b.low);
    high.add_product(a.high, b.high);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product_where(unsigned bits, const Registers& a,
                                                     const Registers& b) {
    low.add_product_where(bits, a.low, b.low);
    high.add_product_where(bits >> half, a.high, b.high);
  }
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void expand(const S* from, unsigned bits) {
    low.expand(from, bits);
    high.expand(from + __builtin_popcount(bits & ((1U << half) - 1U)), bits >> half);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const Registers& b) {
    low += b.low;
    high += b.high;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator*=(const Registers& b) {
    low *= b.low;
    high *= b.high;
  }
  KOKKOS_FORCEINLINE_FUNCTION T sum() const {
    auto both = low;
    both += high;
    return both.sum();
  }
  KOKKOS_FORCEINLINE_FUNCTION void clear_where_negative(const std::int32_t* index) {
    low.clear_where_negative(index);
    high.clear_where_negative(index + half);
  }
  KOKKOS_FORCEINLINE_FUNCTION void clear_where_equal(const std::uint16_t* code,
                                                     std::uint16_t none) {
    low.clear_where_equal(code, none);
    high.clear_where_equal(code + half, none);
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep_bits(unsigned bits, int first = 0) {
    low.keep_bits(bits, first);
    high.keep_bits(bits, first + half);
  }
};

#endif

/// Eight numbers that are summed up: in registers where T has a vector type.
template <class T>
using EightSums =
    std::conditional_t<detail::has_vector_type<T>, Registers<T, pack_width>, T[pack_width]>;

}  // namespace krysol
