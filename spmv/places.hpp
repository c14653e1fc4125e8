// Adding up places that lie side by side, one a row, with their columns: what the padded and the
// sorted formats have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/pack.hpp>
#include <krysol/spmv/row_loop.hpp>

namespace krysol {

/// sum[l] += value[l] x[col[l]] for l < count; a column -1 only pads and is never multiplied, so
/// that an Inf elsewhere in x stays elsewhere.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_each_place(const Index* col, const S* value, int count, const T* x,
                                           T* sum) {
  for (int l = 0; l < count; ++l) {
    if (col[l] >= 0) sum[l] += static_cast<T>(value[l]) * x[col[l]];
  }
}

/// sum[l] += value[l] x[col[l]] for eight columns that all exist. Eight loads: where the processor
/// has an instruction that gathers, compilers take it, and it costs up to twice as much.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_entries(const Index* col, const S* value, const T* x,
                                              T* sum) {
  constexpr int lanes = 8;
  if constexpr (detail::has_vector_type<T> && lanes == pack_width) {
    const typename Pack<T>::Lanes in = {x[col[0]], x[col[1]], x[col[2]], x[col[3]],
                                        x[col[4]], x[col[5]], x[col[6]], x[col[7]]};
#pragma omp simd
    for (int l = 0; l < lanes; ++l) sum[l] += static_cast<T>(value[l]) * in[l];
  } else {
#pragma omp simd
    for (int l = 0; l < lanes; ++l) sum[l] += static_cast<T>(value[l]) * x[col[l]];
  }
}

/// sum[l] += value[l] x[col[l]] for the eight rows of a vector register, on a host. Where they name
/// eight neighbouring columns, as on grids, x is read as it lies.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_places(const Index* col, const S* value, const T* x, T* sum) {
  constexpr int lanes = 8;
  const Index begin = col[0];
  std::uint32_t off = 0;  // any bit that differs from begin, begin + 1, ...
  Index any = 0;          // negative where one of them only pads
#pragma omp simd reduction(| : off, any)
  for (int l = 0; l < lanes; ++l) {
    any |= col[l];
    off |= static_cast<std::uint32_t>(col[l]) ^
           (static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(l));
  }
  if (any < 0) {
    add_each_place(col, value, lanes, x, sum);
  } else if (off == 0) {
    const T* run = x + begin;
#pragma omp simd
    for (int l = 0; l < lanes; ++l) sum[l] += static_cast<T>(value[l]) * run[l];
  } else {
    add_eight_entries(col, value, x, sum);
  }
}

/// The same for any number of rows; asks for the places `ahead` of these.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_places(const Index* col, const S* value, int count, const T* x,
                                       T* sum, int ahead) {
  constexpr int lanes = 8;
  int w = 0;
  for (; w + lanes <= count; w += lanes) {
    prefetch(value + w + ahead);
    prefetch(col + w + ahead);
    add_eight_places(col + w, value + w, x, sum + w);
  }
  add_each_place(col + w, value + w, count - w, x, sum + w);
}

}  // namespace krysol
