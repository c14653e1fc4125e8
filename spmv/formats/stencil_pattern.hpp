// Rows that share lists of offsets, with values of their own: stencils with variable coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/masked_slices.hpp>
#include <krysol/spmv/kernels/slices.hpp>

namespace krysol {

/// Row i is of pattern q = row_pattern[i]: its entry j is A(i, i + offset[pattern_ptr[q] + j]).
/// Slice s holds the C rows from s C. Where all are of one pattern, slice_kind[s] = q and entry j
/// of row s C + l has its value at slice_ptr[s] + j C + l, so that a vector register takes C rows
/// and no list of columns is read. Where slice_kind[s] = masked(j), its slots are those of masked
/// list j, in the same way. Elsewhere slice_kind[s] = -1, and the values of its rows follow each
/// other (on a GPU they stand as in SellCSigma, padded). Bytes a multiplication (double): 8 a slot,
/// 12 a slice, 2 a row of mixed slices, 8 a column of x, 16 a row of y. An index-free relative of
/// the pattern-based CSR of Belgin, Back & Ribbens, ICS '09, DOI 10.1145/1542275.1542294.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct StencilPattern {
  static constexpr std::string_view name = "stencil_pattern";
  static constexpr std::string_view good_for =
      "grids with variable coefficients: many rows with the same neighbours";
  static constexpr Index slice = slice_rows_of(Tiles<Exec>::tiled);  // C
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  std::int64_t mixed_rows = 0;                     // in mixed slices
  std::int64_t block = 1;                          // rows a block
  Kokkos::View<Offset*, Exec> slice_ptr;           // [slices + 1]
  Kokkos::View<Index*, Exec> slice_kind;           // [slices] masked(j) for list j, -1 where mixed
  Kokkos::View<std::uint16_t*, Exec> row_pattern;  // [rows]
  Kokkos::View<Index*, Exec> pattern_ptr;          // [patterns + 1]
  Kokkos::View<Index*, Exec> offset;               // [pattern_ptr[patterns]]
  Kokkos::View<S*, Exec> values;                   // [slice_ptr[slices]]
  MaskedSlices<Exec> masked;                       // on a host

  Offset nnz() const { return entries; }
  /// Bytes: a lower bound, the values and 12 a slice, without the lists that slices share.
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    const RowSample sample = sample_rows(matrix, false);
    const std::int64_t bytes = matrix.nnz() * matrix.entry_bytes() +
                               std::int64_t{matrix.rows()} / slice_rows_of(matrix.on_host()) *
                                   static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset));
    return {.bytes = bytes,
            .refusal = sample.refusal,
            .conversion = sample.conversion(),
            .cached = matrix.per_byte(sample.over_csr(true, matrix.mean_row()), bytes)};
  }
};

/// What a multiplication reads: of row_pattern the rows of mixed slices.
template <class S, class Exec>
std::int64_t bytes(const StencilPattern<S, Exec>& a) {
  return static_cast<std::int64_t>(
             a.values.extent(0) * sizeof(S) + a.slice_ptr.extent(0) * sizeof(Offset) +
             (a.slice_kind.extent(0) + a.pattern_ptr.extent(0) + a.offset.extent(0)) *
                 sizeof(Index) +
             static_cast<std::size_t>(a.mixed_rows) * sizeof(std::uint16_t)) +
         bytes_of_masked(a.masked);
}

template <class S, class Exec>
EqualBlocks row_blocks(const StencilPattern<S, Exec>& a) {
  return {a.rows, a.block};
}

/// Bytes a nonzero: 8, and its entry of x.
template <class S, class T, class Exec>
struct StencilPatternProduct {
  static constexpr Index C = StencilPattern<S, Exec>::slice;
  const Offset* slice_ptr;
  const Index* slice_kind;
  const std::uint16_t* row_pattern;
  const Index* pattern_ptr;
  const Index* offset;
  const S* values;
  const T* x;
  MaskedRows masked_lists;

  /// C rows of pattern q from row `first`.
  KOKKOS_INLINE_FUNCTION void add_slice(std::int64_t first, Index q, Offset k, T* sum) const {
    constexpr Offset ahead = 512;  // 4 KiB
    if constexpr (is_pack<T>) {
      static_assert(C == pack_width);
      multiply_pack_rows<true>(x + first, offset + pattern_ptr[q],
                               pattern_ptr[q + 1] - pattern_ptr[q], values + k, sum);
      return;
    }
    T mine[C] = {};
    for (Index j = pattern_ptr[q]; j < pattern_ptr[q + 1]; ++j, k += C) {
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
          masked_lists.multiply(masked(slice_kind[s]), x + (first + w), values + k, sum + w);
          continue;
        }
        const int lanes = count - w < C ? count - w : C;
        for (int l = 0; l < lanes; ++l) {
          const Index q = row_pattern[first + w + l];
          const Index n = pattern_ptr[q + 1] - pattern_ptr[q];
          sum[w + l] = chained_row(x + (first + w + l), offset + pattern_ptr[q], n, values + k);
          k += n;
        }
      }
    } else {
      const std::int64_t s = first / C;
      const Index q = slice_kind[s] >= 0 ? slice_kind[s] : row_pattern[first];
      Offset k = slice_ptr[s] + first % C;
      T total = T(0);
      for (Index j = pattern_ptr[q]; j < pattern_ptr[q + 1]; ++j, k += C) {
        total += static_cast<T>(values[k]) * x[first + offset[j]];
      }
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
StencilPatternProduct<S, T, Exec> row_product(const StencilPattern<S, Exec>& a,
                                              const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_ptr.data(),
          a.slice_kind.data(),
          a.row_pattern.data(),
          a.pattern_ptr.data(),
          a.offset.data(),
          a.values.data(),
          x.data(),
          masked_rows(a.masked)};
}

/// Where the slots of a matrix begin, and what they hold: arrays of a StencilPattern, or of a plan
/// for one.
struct PatternSlots {
  Index rows;
  const Offset* slice_ptr;
  const Index* slice_kind;
  const Index* masked_ptr;
  const std::uint8_t* masked_rows;
};

/// The value of an entry as it stands in the matrix.
template <class S>
struct StoredValue {
  const S* values;
  S operator()(std::int64_t /*row*/, Offset k) const { return values[k]; }
};

/// Moves the values of slice s to their slots: value(i, k) is that of entry k, of row i.
template <class S, Index C, bool pad_mixed, class Value>
struct FillPatternSlices {
  const Offset* row_ptr;
  Value value;
  PatternSlots slots;
  S* values;

  void operator()(std::int64_t s) const {
    const std::int64_t first = s * C;
    const auto lanes = static_cast<Index>(slots.rows - first < C ? slots.rows - first : C);
    S* to = values + slots.slice_ptr[s];
    const Index kind = slots.slice_kind[s];
    if (kind < -1) {
      const Index* const list = slots.masked_ptr + masked(kind);
      fill_masked(
          slots.masked_rows + list[0], list[1] - list[0],
          [this, first](int l, Offset k) { return value(first + l, k); }, row_ptr[first], to);
      return;
    }
    if (kind == -1 && !pad_mixed) {
      for (std::int64_t i = first; i < first + lanes; ++i) {
        for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) *to++ = value(i, k);
      }
      return;
    }
    const Offset n = (slots.slice_ptr[s + 1] - slots.slice_ptr[s]) / C;
    for (Index l = 0; l < C; ++l) {
      const std::int64_t i = first + l;
      const Offset length = l < lanes ? row_ptr[i + 1] - row_ptr[i] : 0;
      for (Offset j = 0; j < n; ++j) {
        to[j * C + l] = j < length ? value(i, row_ptr[i] + j) : S(0);
      }
    }
  }
};

/// On a host, a matrix with the pattern of `a` and other values: value(i, k) is that of entry k, of
/// row i, of a matrix in compressed rows. The other arrays are those of `a`.
template <class S, class Exec, class Value>
requires on_host<Exec> StencilPattern<S, Exec> with_values(const StencilPattern<S, Exec>& a,
                                                           const Offset* row_ptr,
                                                           const Value& value) {
  StencilPattern<S, Exec> other = a;
  other.values = allocate<decltype(a.values)>("stencil_pattern.values",
                                              static_cast<Offset>(a.values.extent(0)));
  const PatternSlots slots{a.rows, a.slice_ptr.data(), a.slice_kind.data(), a.masked.ptr.data(),
                           a.masked.rows.data()};
  host_for("krysol::with_values(stencil_pattern)",
           static_cast<std::int64_t>(a.slice_kind.extent(0)),
           FillPatternSlices<S, StencilPattern<S, Exec>::slice, false, Value>{row_ptr, value, slots,
                                                                              other.values.data()});
  return other;
}

/// Throws FormatRefusal where too few rows are alike.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, StencilPattern<S, Exec>& a) {
  constexpr Index C = StencilPattern<S, Exec>::slice;
  constexpr bool pad_mixed = !Tiles<Exec>::tiled;
  constexpr double most_slots = 1.25;  // an entry: each is 8 bytes
  const RowPatterns patterns = find_patterns(a.name, host, false);
  const std::vector<Index> offset = offsets_of(patterns, host);
  const PatternSlices plan = plan_pattern_slices(patterns, offset, host.row_ptr.data(), host.rows,
                                                 host.cols, C, Tiles<Exec>::tiled, most_slots);
  const Offset slots = plan.slice_ptr.back();
  refuse_padding(a.name, host, longest_row(host), slots, sizeof(S));
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  a.mixed_rows = plan.mixed_rows;
  a.block = rows_of_block(host.rows, host.nnz(), C, Tiles<Exec>::tiled, Tiles<Exec>::block);
  a.slice_ptr = to_device<Exec>("stencil_pattern.slice_ptr", plan.slice_ptr);
  a.slice_kind = to_device<Exec>("stencil_pattern.slice_kind", plan.pattern);
  a.row_pattern = to_device<Exec>("stencil_pattern.row_pattern", patterns.of_row);
  a.pattern_ptr = to_device<Exec>("stencil_pattern.pattern_ptr", patterns.pattern_ptr);
  a.offset = to_device<Exec>("stencil_pattern.offset", offset);
  set_masked(plan.masked, a.masked);
  a.values = allocate<decltype(a.values)>("stencil_pattern.values", slots);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  host_for("krysol::from_csr(stencil_pattern)", static_cast<std::int64_t>(plan.pattern.size()),
           FillPatternSlices<S, C, pad_mixed, StoredValue<S>>{
               host.row_ptr.data(),
               {host.values.data()},
               {host.rows, plan.slice_ptr.data(), plan.pattern.data(), plan.masked.ptr.data(),
                plan.masked.rows.data()},
               values.data()});
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
