// Rows that share offsets and values: stencils with constant coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/row_kinds.hpp>

namespace krysol {

/// Row i is of kind q = row_kind[i]: its entry j is A(i, i + offset[k]) = values[k] with
/// k = kind_ptr[q] + j. slice_kind[s] is the kind of all of the C rows from s C, or -1. Bytes a
/// multiplication (double): 4 a slice, 2 a row of mixed slices, 12 an entry of the lists, 8 a
/// column of x, 16 a row of y.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SharedRows {
  static constexpr std::string_view name = "shared_rows";
  static constexpr std::string_view good_for =
      "grids with constant coefficients: many rows that are equal but for their place";
  static constexpr bool looks_at_values = true;
  static constexpr Index slice = Tiles<Exec>::tiled ? 8 : 32;  // C
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  std::int64_t mixed_rows = 0;                  // in mixed slices
  Kokkos::View<Index*, Exec> slice_kind;        // [slices] -1 where mixed
  Kokkos::View<std::uint16_t*, Exec> row_kind;  // [rows]
  Kokkos::View<Index*, Exec> kind_ptr;          // [kinds + 1]
  Kokkos::View<Index*, Exec> offset;            // [kind_ptr[kinds]]
  Kokkos::View<S*, Exec> values;                // [kind_ptr[kinds]]

  Offset nnz() const { return entries; }
};

/// What a multiplication reads: of row_kind the rows of mixed slices.
template <class S, class Exec>
std::int64_t bytes(const SharedRows<S, Exec>& a) {
  return static_cast<std::int64_t>(
      a.values.extent(0) * sizeof(S) +
      (a.slice_kind.extent(0) + a.kind_ptr.extent(0) + a.offset.extent(0)) * sizeof(Index) +
      static_cast<std::size_t>(a.mixed_rows) * sizeof(std::uint16_t));
}

template <class S, class Exec>
EqualBlocks row_blocks(const SharedRows<S, Exec>& a) {
  return {a.rows, Tiles<Exec>::block};
}

/// Bytes a nonzero: none but its entry of x.
template <class S, class T, class Exec>
struct SharedRowsProduct {
  static constexpr Index C = SharedRows<S, Exec>::slice;
  const Index* slice_kind;
  const std::uint16_t* row_kind;
  const Index* kind_ptr;
  const Index* offset;
  const S* values;
  const T* x;

  /// `slices` slices of kind q from row `first`, in registers.
  template <int slices>
  KOKKOS_INLINE_FUNCTION void add_slices(std::int64_t first, Index q, T* sum) const {
    constexpr int n = slices * C;
    T mine[n] = {};
    for (Index k = kind_ptr[q]; k < kind_ptr[q + 1]; ++k) {
      const T value = static_cast<T>(values[k]);
      const T* from = x + (first + offset[k]);
#pragma omp simd
      for (int l = 0; l < n; ++l) mine[l] += value * from[l];
    }
    if (kind_ptr[q] < kind_ptr[q + 1]) {  // the last entry is the first to come to a place of x
      const T* ahead = x + (first + offset[kind_ptr[q + 1] - 1]) + 512;
      for (int l = 0; l < n; l += 8) prefetch(ahead + l);
    }
    for (int l = 0; l < n; ++l) sum[l] = mine[l];
  }

  KOKKOS_INLINE_FUNCTION T row(std::int64_t i, Index q) const {
    const Index begin = kind_ptr[q];
    return chained_row(x + i, offset + begin, kind_ptr[q + 1] - begin, values + begin);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      constexpr int wide = 4;
      int w = 0;
      while (w < count) {  // blocks begin with a slice
        const std::int64_t s = (first + w) / C;
        const Index q = slice_kind[s];
        if (q < 0) {
          const int lanes = count - w < C ? count - w : C;
          for (int l = 0; l < lanes; ++l) {
            sum[w + l] = row(first + w + l, row_kind[first + w + l]);
          }
          w += C;
        } else if (count - w >= wide * C && slice_kind[s + 1] == q && slice_kind[s + 2] == q &&
                   slice_kind[s + 3] == q) {
          add_slices<wide>(first + w, q, sum + w);
          w += wide * C;
        } else {
          add_slices<1>(first + w, q, sum + w);
          w += C;
        }
      }
    } else {
      const Index q = slice_kind[first / C];
      sum[0] = row(first, q >= 0 ? q : row_kind[first]);
    }
  }
};

template <class S, class T, class Exec>
SharedRowsProduct<S, T, Exec> row_product(const SharedRows<S, Exec>& a,
                                          const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_kind.data(), a.row_kind.data(), a.kind_ptr.data(),
          a.offset.data(),     a.values.data(),   x.data()};
}

/// Throws FormatRefusal where too few rows are alike.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SharedRows<S, Exec>& a) {
  const RowKinds kinds = find_kinds(a.name, host, true);
  const KindSlices plan =
      plan_kind_slices(kinds, host.row_ptr.data(), host.rows, SharedRows<S, Exec>::slice, false);
  std::vector<S> values;
  values.reserve(static_cast<std::size_t>(kinds.kind_ptr.back()));
  for (const Index i : kinds.first_row) {
    values.insert(values.end(), host.values.data() + host.row_ptr.data()[i],
                  host.values.data() + host.row_ptr.data()[i + 1]);
  }
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  a.mixed_rows = plan.mixed_rows;
  a.slice_kind = copy_of<Exec>("shared_rows.slice_kind", plan.kind);
  a.row_kind = copy_of<Exec>("shared_rows.row_kind", kinds.of_row);
  a.kind_ptr = copy_of<Exec>("shared_rows.kind_ptr", kinds.kind_ptr);
  a.offset = copy_of<Exec>("shared_rows.offset", offsets_of(kinds, host));
  a.values = copy_of<Exec>("shared_rows.values", values);
}

}  // namespace krysol
