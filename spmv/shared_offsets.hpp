// Rows that share lists of offsets, with values of their own: stencils with variable coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/joined_slices.hpp>

namespace krysol {

/// Row i is of kind q = row_kind[i]: its entry j is A(i, i + offset[kind_ptr[q] + j]). Slice s
/// holds the C rows from s C. Where all are of one kind, slice_kind[s] = q and entry j of row s C +
/// l has its value at slice_ptr[s] + j C + l, so that a vector register takes C rows and no list of
/// columns is read. Where slice_kind[s] = joined(j), its places are those of joined list j, in the
/// same way. Elsewhere slice_kind[s] = -1, and the values of its rows follow each other (on a GPU
/// they stand as in SellCSigma, padded). Bytes a multiplication (double): 8 a place, 12 a slice, 2
/// a row of mixed slices, 8 a column of x, 16 a row of y. An index-free relative of the
/// pattern-based CSR of Belgin, Back & Ribbens, ICS '09, DOI 10.1145/1542275.1542294.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SharedOffsets {
  static constexpr std::string_view name = "shared_offsets";
  static constexpr std::string_view good_for =
      "grids with variable coefficients: many rows with the same neighbours";
  static constexpr Index slice = Tiles<Exec>::tiled ? 8 : 32;  // C
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  std::int64_t mixed_rows = 0;                  // in mixed slices
  std::int64_t block = 1;                       // rows a block
  Kokkos::View<Offset*, Exec> slice_ptr;        // [slices + 1]
  Kokkos::View<Index*, Exec> slice_kind;        // [slices] joined(j) for list j, -1 where mixed
  Kokkos::View<std::uint16_t*, Exec> row_kind;  // [rows]
  Kokkos::View<Index*, Exec> kind_ptr;          // [kinds + 1]
  Kokkos::View<Index*, Exec> offset;            // [kind_ptr[kinds]]
  Kokkos::View<S*, Exec> values;                // [slice_ptr[slices]]
  JoinedSlices<Exec> joined;                    // on a host

  Offset nnz() const { return entries; }
};

/// What a multiplication reads: of row_kind the rows of mixed slices.
template <class S, class Exec>
std::int64_t bytes(const SharedOffsets<S, Exec>& a) {
  return static_cast<std::int64_t>(
             a.values.extent(0) * sizeof(S) + a.slice_ptr.extent(0) * sizeof(Offset) +
             (a.slice_kind.extent(0) + a.kind_ptr.extent(0) + a.offset.extent(0)) * sizeof(Index) +
             static_cast<std::size_t>(a.mixed_rows) * sizeof(std::uint16_t)) +
         bytes_of_joined(a.joined);
}

template <class S, class Exec>
EqualBlocks row_blocks(const SharedOffsets<S, Exec>& a) {
  return {a.rows, a.block};
}

/// Bytes a nonzero: 8, and its entry of x.
template <class S, class T, class Exec>
struct SharedOffsetsProduct {
  static constexpr Index C = SharedOffsets<S, Exec>::slice;
  const Offset* slice_ptr;
  const Index* slice_kind;
  const std::uint16_t* row_kind;
  const Index* kind_ptr;
  const Index* offset;
  const S* values;
  const T* x;
  JoinedRows joined_lists;

  /// C rows of kind q from row `first`.
  KOKKOS_INLINE_FUNCTION void add_slice(std::int64_t first, Index q, Offset k, T* sum) const {
    constexpr Offset ahead = 512;  // 4 KiB
    if constexpr (is_pack<T>) {
      static_assert(C == pack_width);
      multiply_pack_rows<true>(x + first, offset + kind_ptr[q], kind_ptr[q + 1] - kind_ptr[q],
                               values + k, sum);
      return;
    }
    T mine[C] = {};
    for (Index j = kind_ptr[q]; j < kind_ptr[q + 1]; ++j, k += C) {
      prefetch(values + k + ahead);
      const T* from = x + (first + offset[j]);
#pragma omp simd
      for (int l = 0; l < C; ++l) mine[l] += static_cast<T>(values[k + l]) * from[l];
    }
    for (int l = 0; l < C; ++l) sum[l] = mine[l];
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      for (int w = 0; w < count; w += C) {  // blocks begin with a slice
        const std::int64_t s = (first + w) / C;
        Offset k = slice_ptr[s];
        if (slice_kind[s] >= 0) {
          add_slice(first + w, slice_kind[s], k, sum + w);
          continue;
        }
        if (slice_kind[s] < -1) {
          joined_lists.multiply(joined(slice_kind[s]), x + (first + w), values + k, sum + w);
          continue;
        }
        const int lanes = count - w < C ? count - w : C;
        for (int l = 0; l < lanes; ++l) {
          const Index q = row_kind[first + w + l];
          const Index n = kind_ptr[q + 1] - kind_ptr[q];
          sum[w + l] = chained_row(x + (first + w + l), offset + kind_ptr[q], n, values + k);
          k += n;
        }
      }
    } else {
      const std::int64_t s = first / C;
      const Index q = slice_kind[s] >= 0 ? slice_kind[s] : row_kind[first];
      Offset k = slice_ptr[s] + first % C;
      T total = T(0);
      for (Index j = kind_ptr[q]; j < kind_ptr[q + 1]; ++j, k += C) {
        total += static_cast<T>(values[k]) * x[first + offset[j]];
      }
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
SharedOffsetsProduct<S, T, Exec> row_product(const SharedOffsets<S, Exec>& a,
                                             const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_ptr.data(), a.slice_kind.data(), a.row_kind.data(), a.kind_ptr.data(),
          a.offset.data(),    a.values.data(),     x.data(),          joined_rows(a.joined)};
}

/// Moves the values of slice s to their places.
template <class S, Index C, bool pad_mixed>
struct FillKindSlices {
  const Offset* row_ptr;
  const S* from;
  const KindSlices& plan;
  Index rows;
  S* values;

  void operator()(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t first = s * C;
    const auto lanes = static_cast<Index>(rows - first < C ? rows - first : C);
    const S* mine = from + row_ptr[first];
    S* to = values + plan.slice_ptr[at];
    const Index kind = plan.kind[at];
    if (kind < -1) {
      fill_joined(plan.joined, joined(kind), mine, to);
      return;
    }
    if (kind == -1 && !pad_mixed) {
      std::copy(mine, from + row_ptr[first + lanes], to);
      return;
    }
    const Offset places = (plan.slice_ptr[at + 1] - plan.slice_ptr[at]) / C;
    for (Index l = 0; l < C; ++l) {
      const Offset length = l < lanes ? row_ptr[first + l + 1] - row_ptr[first + l] : 0;
      for (Offset j = 0; j < places; ++j) {
        to[j * C + l] = j < length ? from[row_ptr[first + l] + j] : S(0);
      }
    }
  }
};

/// Throws FormatRefusal where too few rows are alike.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SharedOffsets<S, Exec>& a) {
  constexpr Index C = SharedOffsets<S, Exec>::slice;
  constexpr bool pad_mixed = !Tiles<Exec>::tiled;
  constexpr double most_places = 1.25;  // an entry: each is 8 bytes
  const RowKinds kinds = find_kinds(a.name, host, false);
  const std::vector<Index> offset = offsets_of(kinds, host);
  const KindSlices plan = plan_kind_slices(kinds, offset, host.row_ptr.data(), host.rows, host.cols,
                                           C, Tiles<Exec>::tiled, most_places);
  const Offset places = plan.slice_ptr.back();
  detail::refuse_padding(a.name, longest_row(host), places, host.nnz(),
                         places * static_cast<Offset>(sizeof(S)), bytes(host));
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  a.mixed_rows = plan.mixed_rows;
  a.block = rows_of_block(host.rows, host.nnz(), C, Tiles<Exec>::tiled, Tiles<Exec>::block);
  a.slice_ptr = copy_of<Exec>("shared_offsets.slice_ptr", plan.slice_ptr);
  a.slice_kind = copy_of<Exec>("shared_offsets.slice_kind", plan.kind);
  a.row_kind = copy_of<Exec>("shared_offsets.row_kind", kinds.of_row);
  a.kind_ptr = copy_of<Exec>("shared_offsets.kind_ptr", kinds.kind_ptr);
  a.offset = copy_of<Exec>("shared_offsets.offset", offset);
  set_joined(plan.joined, a.joined);
  a.values = fresh<decltype(a.values)>("shared_offsets.values", places);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  host_for("krysol::from_csr(shared_offsets)", static_cast<std::int64_t>(plan.kind.size()),
           FillKindSlices<S, C, pad_mixed>{host.row_ptr.data(), host.values.data(), plan, host.rows,
                                           values.data()});
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
