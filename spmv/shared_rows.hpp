// Rows that share offsets and values: stencils with constant coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/joined_slices.hpp>

namespace krysol {

/// Row i is of kind q = row_kind[i]: its entry j is A(i, i + offset[k]) = values[k] with
/// k = kind_ptr[q] + j. slice_kind[s] is the kind of all of the C rows from s C; joined(j) where
/// they have joined list j, with joined_values[8 k + l] for row l at its place k; or -1. Bytes a
/// multiplication (double): 4 a slice, 2 a row of mixed slices, 12 an entry of the lists, 69 of the
/// joined ones, 8 a column of x, 16 a row of y.
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
  Kokkos::View<Index*, Exec> slice_kind;        // [slices] joined(j) for list j, -1 where mixed
  Kokkos::View<std::uint16_t*, Exec> row_kind;  // [rows]
  Kokkos::View<Index*, Exec> kind_ptr;          // [kinds + 1]
  Kokkos::View<Index*, Exec> offset;            // [kind_ptr[kinds]]
  Kokkos::View<S*, Exec> values;                // [kind_ptr[kinds]]
  JoinedSlices<Exec> joined;                    // on a host
  Kokkos::View<S*, Exec> joined_values;         // [8 joined.ptr[lists]]

  Offset nnz() const { return entries; }
};

/// What a multiplication reads: of row_kind the rows of mixed slices.
template <class S, class Exec>
std::int64_t bytes(const SharedRows<S, Exec>& a) {
  return static_cast<std::int64_t>(
             (a.values.extent(0) + a.joined_values.extent(0)) * sizeof(S) +
             (a.slice_kind.extent(0) + a.kind_ptr.extent(0) + a.offset.extent(0)) * sizeof(Index) +
             static_cast<std::size_t>(a.mixed_rows) * sizeof(std::uint16_t)) +
         bytes_of_joined(a.joined);
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
  JoinedRows joined_lists;
  const S* joined_values;

  /// `slices` slices of kind q from row `first`, in registers.
  template <int slices>
  KOKKOS_INLINE_FUNCTION void add_slices(std::int64_t first, Index q, T* sum) const {
    if constexpr (is_pack<T>) {
      static_assert(slices * C == pack_width);
      multiply_pack_rows<false>(x + first, offset + kind_ptr[q], kind_ptr[q + 1] - kind_ptr[q],
                                values + kind_ptr[q], sum);
      return;
    }
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
      constexpr int wide = is_pack<T> ? 1 : 4;
      int w = 0;
      while (w < count) {  // blocks begin with a slice
        const std::int64_t s = (first + w) / C;
        const Index q = slice_kind[s];
        if (q < -1) {
          const Index j = joined(q);
          joined_lists.multiply(j, x + (first + w),
                                joined_values + Offset{joined_lists.ptr[j]} * pack_width, sum + w);
          w += C;
        } else if (q < 0) {
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
  return {a.slice_kind.data(), a.row_kind.data(), a.kind_ptr.data(),     a.offset.data(),
          a.values.data(),     x.data(),          joined_rows(a.joined), a.joined_values.data()};
}

/// [8 lists.ptr[lists]] the values of joined lists; of_kinds: [kinds.kind_ptr[kinds]].
template <class S>
std::vector<S> values_of_joined(const JoinedLists& lists, const RowKinds& kinds,
                                const std::vector<S>& of_kinds) {
  std::vector<S> values(lists.offset.size() * pack_width);
  std::vector<S> entries;  // of eight rows
  for (std::size_t j = 0; j + 1 < lists.ptr.size(); ++j) {
    entries.clear();
    for (std::size_t l = 0; l < pack_width; ++l) {
      const std::size_t q = lists.kind[j * pack_width + l];
      entries.insert(entries.end(), of_kinds.begin() + kinds.kind_ptr[q],
                     of_kinds.begin() + kinds.kind_ptr[q + 1]);
    }
    fill_joined(lists, static_cast<Index>(j), entries.data(),
                values.data() + static_cast<std::size_t>(lists.ptr[j]) * pack_width);
  }
  return values;
}

/// Throws FormatRefusal where too few rows are alike.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SharedRows<S, Exec>& a) {
  constexpr double most_places = 2;  // an entry: the lists stay in cache
  const RowKinds kinds = find_kinds(a.name, host, true);
  const std::vector<Index> offset = offsets_of(kinds, host);
  const KindSlices plan =
      plan_kind_slices(kinds, offset, host.row_ptr.data(), host.rows, host.cols,
                       SharedRows<S, Exec>::slice, Tiles<Exec>::tiled, most_places);
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
  a.offset = copy_of<Exec>("shared_rows.offset", offset);
  a.values = copy_of<Exec>("shared_rows.values", values);
  set_joined(plan.joined, a.joined);
  a.joined_values =
      copy_of<Exec>("shared_rows.joined_values", values_of_joined(plan.joined, kinds, values));
}

}  // namespace krysol
