// Adding up slots that lie side by side, one a row, with their columns: what the padded and the
// sorted formats have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/kernels/gathers.hpp>
#include <krysol/spmv/kernels/row_loop.hpp>

/// A member function for hosts that is called, not copied into its caller: loops whose pointers
/// then find registers.
#if defined(__GNUC__)
#define KRYSOL_KEEP_APART __attribute__((noinline))
#else
#define KRYSOL_KEEP_APART
#endif

namespace krysol {

/// True where slices ask for values further on though these come from the caches. With the
/// registers of AVX2 that is 0.86 to 0.93 of the time on a Xeon with AMX, with those of AVX-512
/// 0.95 to 1.1, with those of SSE2, where the loops have no register to spare, 1.2.
template <class T>
inline constexpr bool asks_within_caches = detail::has_vector_type<T>&& register_bytes == 32;

/// total + a b of real numbers, rounded once where the processor can. Written as a fused operation
/// because a compiler fuses or not by the loop around it (g++ multiplies eight at once and then
/// adds one after another where it thinks that faster), and loops with the same sums, such as those
/// of apply and apply_dot, must have the same bits.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T multiply_add(const T& a, const T& b, const T& total) {
#if (defined(__FMA__) || defined(__aarch64__)) && !defined(__CUDA_ARCH__) && \
    !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, total);
  if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(a, b, total);
#endif
  return total + a * b;
}

/// The sum of v[j] x[col[j]] for 0 <= j < n, in eight chains. One function for all loops that call
/// it: where a compiler fuses multiplications and additions depends on what is around them, and the
/// product with a dot product has the bits of the product alone.
template <class S, class T>
KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION T long_row(const T* x, const Index* col, Index n,
                                                    const S* v) {
  constexpr int chains = 8;
  Index j = 0;
  T chain[chains] = {};
  for (; j + chains <= n; j += chains) {
    prefetch(v + j + 512);
#pragma omp simd
    for (int l = 0; l < chains; ++l) {
      chain[l] += static_cast<T>(v[j + l]) * x[col[j + l]];
    }
  }
  T total = ((chain[0] + chain[4]) + (chain[2] + chain[6])) +
            ((chain[1] + chain[5]) + (chain[3] + chain[7]));
  for (; j < n; ++j) total += static_cast<T>(v[j]) * x[col[j]];
  return total;
}

/// The sum of v[j] x[col[j]] for 0 <= j < n, in eight chains where it is long, unless each number
/// is a pack of eight already.
template <class S, class T>
KOKKOS_FORCEINLINE_FUNCTION T chained_row(const T* x, const Index* col, Index n, const S* v) {
  if constexpr (!is_pack<T>) {
    if (n >= 24) return long_row(x, col, n, v);
  }
  T total = T(0);
  Index j = 0;
  if constexpr (!is_pack<T>) {
    for (; j + 4 <= n; j += 4) {  // the same sum with fewer branches
      for (Index l = j; l < j + 4; ++l) {
        total = multiply_add(static_cast<T>(v[l]), x[col[l]], total);
      }
    }
  }
  for (; j < n; ++j) {
    if constexpr (is_pack<T>) prefetch(x + col[j] + pack_rows_ahead);
    total = multiply_add(static_cast<T>(v[j]), x[col[j]], total);
  }
  return total;
}

/// sum[l] += value[l] x[col[l]] for l < count; a column -1 only pads and is never multiplied, so
/// that an Inf elsewhere in x stays elsewhere.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void gather_each_slot(const Index* col, const S* value, int count,
                                             const T* x, T* sum) {
  for (int l = 0; l < count; ++l) {
    if (col[l] >= 0) sum[l] += static_cast<T>(value[l]) * x[col[l]];
  }
}

namespace detail {

template <class S, class T>
inline constexpr bool in_vectors = has_vector_type<S>&& has_vector_type<T>;

/// The first `count` of eight entries; the others are zeros in column 0.
template <class S>
KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void copy_few(const Index* col, const S* value, int count,
                                                       Index* to_col, S* to_value) {
  for (int l = 0; l < pack_width; ++l) {
    to_col[l] = l < count ? col[l] : 0;
    to_value[l] = l < count ? value[l] : S(0);
  }
}

}  // namespace detail

/// sum[l] += value[l] x[col[l]] for eight columns that all exist. gathers: see gathers_pay, here
/// and below.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_entries(const Index* col, const S* value, const T* x,
                                              [[maybe_unused]] bool gathers, EightSums<T>& sum) {
  if constexpr (detail::in_vectors<S, T>) {
    EightSums<T> in;
    EightSums<T> values;
    in.gather(x, col, gathers);
    values.load(value);
    sum.add_product(values, in);
  } else {
    for (int l = 0; l < pack_width; ++l) sum[l] += static_cast<T>(value[l]) * x[col[l]];
  }
}

/// The same for l < count < 8. Rows end anywhere, and a loop over what is left of each is a
/// mispredicted branch: here eight entries are read, those of the next row among them, and not
/// summed. So there must be eight, of the `stored` ones from these on; else they are copied. Where
/// there are none x may be empty, too.
template <class S, class T>
requires detail::in_vectors<S, T> KOKKOS_FORCEINLINE_FUNCTION void add_first_entries(
    const Index* col, const S* value, int count, Offset stored, const T* x, bool gathers,
    EightSums<T>& sum) {
  Index few_cols[pack_width];
  S few_values[pack_width];
  if (stored < pack_width) {
    if (count == 0) return;
    detail::copy_few(col, value, count, few_cols, few_values);
    col = few_cols;
    value = few_values;
  }
  const unsigned first = (1U << static_cast<unsigned>(count)) - 1U;
  EightSums<T> in;
  EightSums<T> values;
  in.gather(x, col, gathers);
  in.keep_bits(first);
  values.load(value);
  values.keep_bits(first);
  sum.add_product(values, in);
}

/// The same where a column -1 only pads: x[0] is read for those, without branches.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_or_padding(const Index* col, const S* value, const T* x,
                                                 [[maybe_unused]] bool gathers, EightSums<T>& sum) {
  if constexpr (detail::in_vectors<S, T>) {
    EightSums<T> in;
    EightSums<T> values;
    in.gather_existing(x, col, gathers);
    values.load(value);
    sum.add_product(values, in);
  } else {
    for (int l = 0; l < pack_width; ++l) {
      if (col[l] >= 0) sum[l] += static_cast<T>(value[l]) * x[col[l]];
    }
  }
}

/// sum[l] += value[l] x[at[l]] where at[l] < window_entries, which x has as many of; at[l] =
/// no_entry only pads, and value[l] is 0.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_from_window(const std::uint8_t* at, const S* value, const T* x,
                                            [[maybe_unused]] bool gathers, EightSums<T>& sum) {
  if constexpr (detail::in_vectors<S, T>) {
    EightSums<T> in;
    EightSums<T> values;
    in.choose(x, at, gathers);
    values.load(value);
    sum.add_product(values, in);
  } else {
    for (int l = 0; l < pack_width; ++l) {
      if (at[l] != no_entry) sum[l] += static_cast<T>(value[l]) * x[at[l]];
    }
  }
}

/// True where the columns are eight neighbours: col[l] = col[0] + l.
KOKKOS_INLINE_FUNCTION bool are_neighbours(const Index* col) {
  const auto begin = static_cast<std::uint32_t>(col[0]);
  std::uint32_t off = 0;  // any bit that differs from begin, begin + 1, ...
#pragma omp simd reduction(| : off)
  for (int l = 0; l < pack_width; ++l) {
    off |= static_cast<std::uint32_t>(col[l]) ^ (begin + static_cast<std::uint32_t>(l));
  }
  return off == 0;
}

/// sum[l] += value[l] x[begin + l].
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_neighbours(Index begin, const S* value, const T* x,
                                                 EightSums<T>& sum) {
  const T* run = x + begin;
  if constexpr (detail::in_vectors<S, T>) {
    EightSums<T> values;
    EightSums<T> in;
    values.load(value);
    in.load(run);
    sum.add_product(values, in);
  } else {
    for (int l = 0; l < pack_width; ++l) sum[l] += static_cast<T>(value[l]) * run[l];
  }
}

/// sum[l] += value[l] x[begin + l] where bit l of `lanes` is set, which one at least is; no other
/// entry of x is read, and `begin` may lie outside of it.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_some_neighbours(Index begin, unsigned lanes, const S* value,
                                                const T* x, EightSums<T>& sum) {
  if constexpr (detail::in_vectors<S, T>) {
    EightSums<T> values;
    EightSums<T> in;
    values.load(value);
    in.load_where(x, begin, lanes);
    sum.add_product(values, in);
  } else {
    for (int l = 0; l < pack_width; ++l) {
      if ((lanes >> l & 1U) != 0) sum[l] += static_cast<T>(value[l]) * x[begin + l];
    }
  }
}

/// sum[l] += value[l] x[col[l]] for the eight rows of a vector register, on a host. Where they name
/// eight neighbouring columns, as on grids, x is read as it lies.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void gather_eight_slots(const Index* col, const S* value, const T* x,
                                               bool gathers, EightSums<T>& sum) {
  Index any = 0;  // negative where one of them only pads
#pragma omp simd reduction(| : any)
  for (int l = 0; l < pack_width; ++l) any |= col[l];
  if (any < 0) {
    add_eight_or_padding(col, value, x, gathers, sum);
  } else if (are_neighbours(col)) {
    add_eight_neighbours(col[0], value, x, sum);
  } else {
    add_eight_entries(col, value, x, gathers, sum);
  }
}

/// out[l] = sum[l] for l < count <= 8.
template <class T>
KOKKOS_INLINE_FUNCTION void store_eight(const EightSums<T>& sum, int count, T* out) {
  if constexpr (detail::has_vector_type<T>) {
    if (count == pack_width) {
      sum.store(out);
      return;
    }
    T each[pack_width];
    sum.store(each);
    for (int l = 0; l < count; ++l) out[l] = each[l];
  } else {
    for (int l = 0; l < count; ++l) out[l] = sum[l];
  }
}

/// sum[l] += value[l] x[col[l]] for l < count, on a host, where a column -1 only pads. fetch: asks
/// for the slots that lie so far ahead of these.
template <int fetch, class S, class T>
KOKKOS_INLINE_FUNCTION void gather_slots(const Index* col, const S* value, int count, const T* x,
                                         bool gathers, T* sum) {
  int w = 0;
  for (; w + pack_width <= count; w += pack_width) {
    if constexpr (fetch > 0) {
      prefetch(value + w + fetch);
      prefetch(col + w + fetch);
    }
    EightSums<T> mine;
    if constexpr (detail::has_vector_type<T>) {
      mine.load(sum + w);
    } else {
      for (int l = 0; l < pack_width; ++l) mine[l] = sum[w + l];
    }
    gather_eight_slots(col + w, value + w, x, gathers, mine);
    store_eight(mine, pack_width, sum + w);
  }
  gather_each_slot(col + w, value + w, count - w, x, sum + w);
}

}  // namespace krysol
