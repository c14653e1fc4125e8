// Multiplying slices with columns of 16 bits: near slices, slices in pages and far ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>

#include <krysol/spmv/kernels/short_slices.hpp>

namespace krysol {

// ---- a slice's entries of x, at slot k of the slice

template <class T>
struct NearSlice {
  const std::uint16_t* low;
  const T* x;  // at the slice's first column

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return low[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& of_code(unsigned code) const { return x[code]; }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const { return of_code(low[k]); }
  KOKKOS_INLINE_FUNCTION bool one_piece(Offset) const { return true; }
};

template <class T>
struct PagedSlice {
  const std::uint16_t* low;
  const Index* page;
  const T* x;

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return low[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& of_code(unsigned code) const {
    return x[page[code >> page_bits] + static_cast<Index>(code)];
  }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const { return of_code(low[k]); }
  KOKKOS_INLINE_FUNCTION bool one_piece(Offset k) const {
    return low[k] >> page_bits == low[k + 7] >> page_bits;
  }
};

template <class T>
struct FarSlice {
  const std::uint16_t* low;
  const std::uint16_t* high;
  const T* x;

  KOKKOS_INLINE_FUNCTION bool there(Offset k) const { return high[k] != no_column; }
  KOKKOS_INLINE_FUNCTION const T& entry(Offset k) const {
    return x[low[k] | static_cast<std::uint32_t>(high[k]) << 16U];
  }
};

/// How eight rows read x.
struct ReadSlice {
  bool runs;     // some eight of their columns follow each other
  bool gathers;  // see gathers_pay
};

/// The values of a slice, one a slot.
template <class S>
struct PlainValues {
  static constexpr Offset ahead = 768;  // slots: 6 KiB of doubles, beyond the next page
  const S* values;

  KOKKOS_INLINE_FUNCTION PlainValues from(Offset k) const { return {values + k}; }
  KOKKOS_INLINE_FUNCTION const S& operator()(Offset k) const { return values[k]; }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Offset k) const { prefetch(values + k + ahead); }
  template <class T>
  requires(detail::in_vectors<S, T>) KOKKOS_FORCEINLINE_FUNCTION
      void load(Offset k, EightSums<T>& eight) const {
    eight.load(values + k);
  }
};

// ---- eight rows in vector registers, on a host

#ifdef KRYSOL_VECTOR_TYPES
namespace detail {
using EightCodes = std::uint16_t __attribute__((vector_size(16)));

KOKKOS_FORCEINLINE_FUNCTION EightCodes load_codes(const std::uint16_t* low) {
  EightCodes codes;
  std::memcpy(&codes, low, sizeof codes);
  return codes;
}

/// The eight codes follow each other.
KOKKOS_FORCEINLINE_FUNCTION bool in_a_row(const std::uint16_t* low) {
  const EightCodes codes = load_codes(low);
  const EightCodes off = codes - EightCodes{0, 1, 2, 3, 4, 5, 6, 7} - codes[0];
  std::uint64_t halves[2];
  std::memcpy(halves, &off, sizeof off);
  return (halves[0] | halves[1]) == 0;
}

template <class T, class Values>
KOKKOS_FORCEINLINE_FUNCTION void values_of_eight(const Values& value, Offset k,
                                                 EightSums<T>& eight) {
  if constexpr (requires { value.template load<T>(k, eight); }) {
    value.template load<T>(k, eight);
  } else {
    eight.set([&](int l) { return static_cast<T>(value(k + l)); });
  }
}

template <class T, template <class> class Columns>
KOKKOS_FORCEINLINE_FUNCTION void x_of_eight(const Columns<T>& x, Offset k, bool,
                                            EightSums<T>& eight) {
  eight.set([&](int l) { return x.entry(k + l); });
}
#if defined(__AVX2__)
using EightColumns = Index __attribute__((vector_size(32)));

/// Codes are the columns, from the slice's first on.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void x_of_eight(const NearSlice<T>& x, Offset k, bool gathers,
                                            EightSums<T>& eight) {
  if (gathers) {
    eight.gather(x.x, __builtin_convertvector(load_codes(x.low + k), EightColumns), true);
  } else {
    eight.set([&](int l) { return x.entry(k + l); });
  }
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void x_of_eight(const FarSlice<T>& x, Offset k, bool gathers,
                                            EightSums<T>& eight) {
  const auto low = __builtin_convertvector(load_codes(x.low + k), EightColumns);
  const auto high = __builtin_convertvector(load_codes(x.high + k), EightColumns);
  const EightColumns column = low | high << 16;
  eight.gather(x.x, column, gathers);
}
#if !defined(__clang__)
/// Pages are looked up in a register.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void x_of_eight(const PagedSlice<T>& x, Offset k, bool gathers,
                                            EightSums<T>& eight) {
  static_assert(page_table == 16);
  EightColumns first;
  EightColumns last;
  std::memcpy(&first, x.page, sizeof first);
  std::memcpy(&last, x.page + 8, sizeof last);
  const auto codes = __builtin_convertvector(load_codes(x.low + k), EightColumns);
  const EightColumns column = __builtin_shuffle(first, last, codes >> page_bits) + codes;
  eight.gather(x.x, column, gathers);
}
#endif
#endif

/// sum[l] += value(k + l) x(k + l) for the eight rows of a slice, where all have such a slot. x as
/// it lies where eight neighbours are named.
template <class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_full_place(const Columns& x, ReadSlice how,
                                                const Values& value, Offset k, EightSums<T>& sum) {
  EightSums<T> v;
  EightSums<T> in;
  values_of_eight<T>(value, k, v);
  if constexpr (requires { x.one_piece(k); }) {
    if (how.runs && in_a_row(x.low + k) && x.one_piece(k)) {
      in.load(&x.entry(k));
      sum.add_product(v, in);
      return;
    }
  }
  x_of_eight(x, k, how.gathers, in);
  sum.add_product(v, in);
}

/// The same for packs. What rows a little further on will need is guessed to lie as far ahead of
/// these rows' entries; slots side by side ask for it once.
template <bool fetch, class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_full_packs(const Columns& x, ReadSlice how,
                                                const Values& value, Offset k, bool last, T* sum) {
  if constexpr (requires { x.one_piece(k); }) {
    if (how.runs && in_a_row(x.low + k) && x.one_piece(k)) {
      const T* from = &x.entry(k);
      if (fetch && (last || x.low[k + pack_width] - x.low[k] > pack_rows_ahead)) {
        for (int l = 0; l < pack_width; ++l) prefetch(from + l + pack_rows_ahead);
      }
      for (int l = 0; l < pack_width; ++l) sum[l] += static_cast<T>(value(k + l)) * from[l];
      return;
    }
  }
  for (int l = 0; l < pack_width; ++l) {
    const T& in = x.entry(k + l);
    if constexpr (fetch) prefetch(&in + pack_rows_ahead);
    sum[l] += static_cast<T>(value(k + l)) * in;
  }
}

/// The same where some of the eight only pad. These read the slice's first code, and add nothing.
template <class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_partial_place(const Columns& x, const Values& value, Offset k,
                                                   EightSums<T>& sum) {
  if constexpr (requires { x.of_code(0U); }) {
    EightCodes codes = load_codes(x.low + k);
    codes &= reinterpret_cast<EightCodes>(codes != no_column);
    EightSums<T> v;
    EightSums<T> in;
    values_of_eight<T>(value, k, v);
    in.set([&](int l) { return x.of_code(codes[l]); });
    v *= in;
    v.clear_where_equal(x.low + k, no_column);
    sum += v;
  } else {
    EightSums<T> terms;
    terms.set([&](int l) {
      return x.there(k + l) ? static_cast<T>(value(k + l)) * x.entry(k + l) : T(0);
    });
    sum += terms;
  }
}
}  // namespace detail
#endif

/// The rows of a slice whose first `full_end` slots none of them lacks. Slots that only pad are
/// never multiplied into a sum, so that an Inf elsewhere in x stays elsewhere.
template <bool fetch, class T, class Columns, class Values>
KOKKOS_FORCEINLINE_FUNCTION void add_eight_rows(const Columns& x, [[maybe_unused]] ReadSlice how,
                                                const Values& value, Offset full_end, Offset end,
                                                T* sum) {
  constexpr int lanes = pack_width;
  if constexpr (detail::has_vector_type<T>) {
#ifdef KRYSOL_VECTOR_TYPES
    constexpr Offset ahead = 2048;  // 4 KiB
    EightSums<T> total = {};
    Offset k = 0;
    for (; k < full_end; k += lanes) {
      if constexpr (fetch) {
        value.fetch(k);
        prefetch(x.low + k + ahead);
      }
      detail::add_full_place<T>(x, how, value, k, total);
    }
    for (; k < end; k += lanes) detail::add_partial_place<T>(x, value, k, total);
    store_eight(total, lanes, sum);
  } else if constexpr (is_pack<T>) {
    constexpr Offset ahead = 2048;
    T total[lanes] = {};
    Offset k = 0;
    for (; k < full_end; k += lanes) {
      if constexpr (fetch) {
        value.fetch(k);
        prefetch(x.low + k + ahead);
      }
      detail::add_full_packs<fetch>(x, how, value, k, k + lanes == end, total);
    }
    for (; k < end; k += lanes) {
      for (int l = 0; l < lanes; ++l) {
        if (x.there(k + l)) total[l] += static_cast<T>(value(k + l)) * x.entry(k + l);
      }
    }
    for (int l = 0; l < lanes; ++l) sum[l] = total[l];
#endif
  } else {
    for (int l = 0; l < lanes; ++l) sum[l] = T(0);
    for (Offset k = 0; k < end; k += lanes) {
      for (int l = 0; l < lanes; ++l) {
        if (k < full_end || x.there(k + l)) sum[l] += static_cast<T>(value(k + l)) * x.entry(k + l);
      }
    }
  }
}

/// Bytes a slot: its column and its value, and its entry of x.
template <class T, class Exec>
struct ShortProduct {
  static constexpr Index C = ShortSlices<Exec>::slice_rows;
  const Offset* slice_ptr;
  const Index* full;
  const ShortSlice* slice;
  const Index* page;
  const std::uint16_t* low;
  const std::uint16_t* high;
  const T* x;
  bool beyond_cache;
  bool gathers;  // see gathers_pay

  template <class Columns, class Values>
  KOKKOS_INLINE_FUNCTION void add_row(const Columns& columns, const Values& values, Offset k,
                                      Offset end, T* sum) const {
    T total = T(0);
    for (; k < end; k += C) {
      if (columns.there(k)) total += static_cast<T>(values(k)) * columns.entry(k);
    }
    sum[0] = total;
  }

  /// The rows of a slice on a host, each kind of slice by a function of its own.
  template <bool fetch, class Columns, class Values>
  KRYSOL_KEEP_APART static void add_rows(const Columns columns, ReadSlice how, const Values values,
                                         Offset full_end, Offset end, T* sum) {
    static_assert(C == pack_width);
    add_eight_rows<fetch>(columns, how, values, full_end, end, sum);
  }

  template <bool fetch, class Columns, class Values>
  KOKKOS_INLINE_FUNCTION void add(const Columns& columns, const Values& values, std::int64_t s,
                                  Index lane, Offset end, T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      const Offset full_end = static_cast<Offset>(full[s]) * C;
      add_rows<fetch, Columns, Values>(columns, {slice[s].runs != 0, gathers}, values, full_end,
                                       end, sum);
    } else {
      add_row(columns, values, lane, end, sum);
    }
  }

  /// Slice s: on a host all its rows, on a GPU that of lane `lane`.
  template <bool fetch, class Values>
  KOKKOS_INLINE_FUNCTION void multiply(std::int64_t s, Index lane, const Values& all,
                                       T* sum) const {
    const Offset begin = slice_ptr[s];
    const Offset end = slice_ptr[s + 1] - begin;
    const ShortSlice of = slice[s];
    const auto values = all.from(begin);
    if (of.pages == 1) {
      add<fetch>(NearSlice<T>{low + begin, x + of.at}, values, s, lane, end, sum);
    } else if (of.pages > 1) {
      add<fetch>(PagedSlice<T>{low + begin, page + of.at, x}, values, s, lane, end, sum);
    } else {
      const std::uint16_t* upper = high + static_cast<Offset>(of.at) * C;
      add<fetch>(FarSlice<T>{low + begin, upper, x}, values, s, lane, end, sum);
    }
  }

  /// Rows [first, first + count) of a host; blocks begin with a slice.
  template <bool fetch, class Values>
  KOKKOS_INLINE_FUNCTION void add_slices(std::int64_t first, int count, const Values& values,
                                         T* sum) const {
    std::int64_t s = first / C;
    int w = 0;
    for (; w + C <= count; w += C, ++s) multiply<fetch>(s, 0, values, sum + w);
    if (w == count) return;
    T last[C];
    multiply<fetch>(s, 0, values, last);
    for (int l = 0; w + l < count; ++l) sum[w + l] = last[l];
  }

  /// What the loop over rows asks of a product.
  template <class Values>
  KOKKOS_INLINE_FUNCTION void rows(std::int64_t first, int count, const Values& values,
                                   T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (beyond_cache) {
        add_slices<true>(first, count, values, sum);
      } else {
        add_slices<false>(first, count, values, sum);
      }
    } else {
      multiply<false>(first / C, static_cast<Index>(first % C), values, sum);
    }
  }
};

/// matrix_bytes: all that a multiplication reads but x.
template <class T, class Exec>
ShortProduct<T, Exec> short_product(const ShortSlices<Exec>& a, std::int64_t matrix_bytes,
                                    const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_ptr.data(), a.full.data(), a.slice.data(), a.page.data(),
          a.low.data(),       a.high.data(), x.data(),       reads_beyond_cache(matrix_bytes, x),
          gathers_pay<T>()};
}

}  // namespace krysol
