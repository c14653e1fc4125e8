// Adding up places that lie side by side, one a row, with their columns: what the padded and the
// sorted formats have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

/// The same for the eight rows of a vector register, on a host. Where they name eight neighbouring
/// columns, as on grids, x is read as it lies; a gather costs several times as much.
template <class S, class T>
KOKKOS_INLINE_FUNCTION void add_eight_places(const Index* col, const S* value, const T* x, T* sum) {
  constexpr int lanes = 8;
  const Index begin = col[0];
  std::uint32_t off = 0;  // any bit that differs from begin, begin + 1, ...
#pragma omp simd reduction(| : off)
  for (int l = 0; l < lanes; ++l) {
    off |= static_cast<std::uint32_t>(col[l]) ^
           (static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(l));
  }
  if (off == 0 && begin >= 0) {
    const T* run = x + begin;
#pragma omp simd
    for (int l = 0; l < lanes; ++l) sum[l] += static_cast<T>(value[l]) * run[l];
  } else {
    add_each_place(col, value, lanes, x, sum);
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
