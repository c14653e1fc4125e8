// Rows that share offsets and values: stencils with constant coefficients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include <krysol/spmv/kernels/masked_slices.hpp>
#include <krysol/spmv/kernels/slices.hpp>

namespace krysol {

/// Row i is of pattern q = row_pattern[i]: its entry j is A(i, i + offset[k]) = values[k] with
/// k = pattern_ptr[q] + j. slice_kind[s] is the pattern of all of the C rows from s C; masked(j)
/// where they have masked list j, with masked_values[8 k + l] for row l at its slot k; or -1. Bytes
/// a multiplication (double): 4 a slice, 2 a row of mixed slices, 12 an entry of the lists, 69 of
/// the masked ones, 8 a column of x, 16 a row of y.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Stencil {
  static constexpr std::string_view name = "stencil";
  static constexpr std::string_view good_for =
      "grids with constant coefficients: many rows that are equal but for their place";
  static constexpr bool looks_at_values = true;
  static constexpr Index slice = slice_rows_of(Tiles<Exec>::tiled);  // C
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  std::int64_t mixed_rows = 0;                     // in mixed slices
  Kokkos::View<Index*, Exec> slice_kind;           // [slices] masked(j) for list j, -1 where mixed
  Kokkos::View<std::uint16_t*, Exec> row_pattern;  // [rows]
  Kokkos::View<Index*, Exec> pattern_ptr;          // [patterns + 1]
  Kokkos::View<Index*, Exec> offset;               // [pattern_ptr[patterns]]
  Kokkos::View<S*, Exec> values;                   // [pattern_ptr[patterns]]
  MaskedSlices<Exec> masked;                       // on a host
  Kokkos::View<S*, Exec> masked_values;            // [8 masked.ptr[lists]]

  Offset nnz() const { return entries; }
  /// Bytes: a lower bound, 4 a slice, without the lists that slices share.
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    const RowSample sample = sample_rows(matrix, true);
    const std::int64_t bytes =
        std::int64_t{matrix.rows()} / slice_rows_of(matrix.on_host()) * std::int64_t{sizeof(Index)};
    return {.bytes = bytes,
            .refusal = sample.refusal,
            .conversion = sample.conversion(),
            .cached = matrix.per_byte(sample.over_csr(false, matrix.mean_row()), bytes)};
  }
};

/// What a multiplication reads: of row_pattern the rows of mixed slices.
template <class S, class Exec>
std::int64_t bytes(const Stencil<S, Exec>& a) {
  return static_cast<std::int64_t>(
             (a.values.extent(0) + a.masked_values.extent(0)) * sizeof(S) +
             (a.slice_kind.extent(0) + a.pattern_ptr.extent(0) + a.offset.extent(0)) *
                 sizeof(Index) +
             static_cast<std::size_t>(a.mixed_rows) * sizeof(std::uint16_t)) +
         bytes_of_masked(a.masked);
}

template <class S, class Exec>
EqualBlocks row_blocks(const Stencil<S, Exec>& a) {
  return {a.rows, rows_of_block<Exec>(a.rows)};
}

/// Bytes a nonzero: none but its entry of x.
template <class S, class T, class Exec>
struct StencilProduct {
  static constexpr Index C = Stencil<S, Exec>::slice;
  const Index* slice_kind;
  const std::uint16_t* row_pattern;
  const Index* pattern_ptr;
  const Index* offset;
  const S* values;
  const T* x;
  MaskedRows masked_lists;
  const S* masked_values;

  /// `slices` slices of pattern q from row `first`, in registers.
  template <int slices>
  KOKKOS_INLINE_FUNCTION void add_slices(std::int64_t first, Index q, T* sum) const {
    if constexpr (is_pack<T>) {
      static_assert(slices * C == pack_width);
      multiply_pack_rows<false>(x + first, offset + pattern_ptr[q],
                                pattern_ptr[q + 1] - pattern_ptr[q], values + pattern_ptr[q], sum);
      return;
    }
    constexpr int n = slices * C;
    T mine[n] = {};
    for (Index k = pattern_ptr[q]; k < pattern_ptr[q + 1]; ++k) {
      const T value = static_cast<T>(values[k]);
      const T* from = x + (first + offset[k]);
#pragma omp simd
      for (int l = 0; l < n; ++l) mine[l] += value * from[l];
    }
    if (pattern_ptr[q] <
        pattern_ptr[q + 1]) {  // the last entry is the first to come to a slot of x
      const T* ahead = x + (first + offset[pattern_ptr[q + 1] - 1]) + 512;
      for (int l = 0; l < n; l += 8) prefetch(ahead + l);
    }
    for (int l = 0; l < n; ++l) sum[l] = mine[l];
  }

  KOKKOS_INLINE_FUNCTION T row(std::int64_t i, Index q) const {
    const Index begin = pattern_ptr[q];
    return chained_row(x + i, offset + begin, pattern_ptr[q + 1] - begin, values + begin);
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
          const Index j = masked(q);
          masked_lists.multiply(j, x + (first + w),
                                masked_values + Offset{masked_lists.ptr[j]} * pack_width, sum + w);
          w += C;
        } else if (q < 0) {
          const int lanes = count - w < C ? count - w : C;
          for (int l = 0; l < lanes; ++l) {
            sum[w + l] = row(first + w + l, row_pattern[first + w + l]);
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
      sum[0] = row(first, q >= 0 ? q : row_pattern[first]);
    }
  }
};

template <class S, class T, class Exec>
StencilProduct<S, T, Exec> row_product(const Stencil<S, Exec>& a,
                                       const Kokkos::View<const T*, Exec>& x) {
  return {a.slice_kind.data(),   a.row_pattern.data(),  a.pattern_ptr.data(),
          a.offset.data(),       a.values.data(),       x.data(),
          masked_rows(a.masked), a.masked_values.data()};
}

/// [8 lists.ptr[lists]] the values of masked lists; of_patterns: [patterns.pattern_ptr[patterns]].
template <class S>
std::vector<S> values_of_masked(const MaskedLists& lists, const RowPatterns& patterns,
                                const std::vector<S>& of_patterns) {
  std::vector<S> values(lists.offset.size() * pack_width);
  std::vector<S> entries;  // of eight rows
  for (std::size_t j = 0; j + 1 < lists.ptr.size(); ++j) {
    entries.clear();
    for (std::size_t l = 0; l < pack_width; ++l) {
      const std::size_t q = lists.pattern[j * pack_width + l];
      entries.insert(entries.end(), of_patterns.begin() + patterns.pattern_ptr[q],
                     of_patterns.begin() + patterns.pattern_ptr[q + 1]);
    }
    const auto first = static_cast<std::size_t>(lists.ptr[j]);
    fill_masked(
        lists.rows.data() + first, lists.length(static_cast<Index>(j)),
        [&entries](int, Offset k) { return entries[static_cast<std::size_t>(k)]; }, 0,
        values.data() + first * pack_width);
  }
  return values;
}

/// Throws FormatRefusal where too few rows are alike.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Stencil<S, Exec>& a) {
  constexpr double most_slots = 2;  // an entry: the lists stay in cache
  const RowPatterns patterns = find_patterns(a.name, host, true);
  const std::vector<Index> offset = offsets_of(patterns, host);
  const PatternSlices plan =
      plan_pattern_slices(patterns, offset, host.row_ptr.data(), host.rows, host.cols,
                          Stencil<S, Exec>::slice, Tiles<Exec>::tiled, most_slots);
  std::vector<S> values;
  values.reserve(static_cast<std::size_t>(patterns.pattern_ptr.back()));
  for (const Index i : patterns.first_row) {
    values.insert(values.end(), host.values.data() + host.row_ptr.data()[i],
                  host.values.data() + host.row_ptr.data()[i + 1]);
  }
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  a.mixed_rows = plan.mixed_rows;
  a.slice_kind = to_device<Exec>("stencil.slice_kind", plan.pattern);
  a.row_pattern = to_device<Exec>("stencil.row_pattern", patterns.of_row);
  a.pattern_ptr = to_device<Exec>("stencil.pattern_ptr", patterns.pattern_ptr);
  a.offset = to_device<Exec>("stencil.offset", offset);
  a.values = to_device<Exec>("stencil.values", values);
  set_masked(plan.masked, a.masked);
  a.masked_values =
      to_device<Exec>("stencil.masked_values", values_of_masked(plan.masked, patterns, values));
}

/// On a host, a matrix with the pattern of `a` and other values: value(i, k) is that of entry k, of
/// row i, of a matrix in compressed rows. The other arrays are those of `a`. Nothing where rows
/// that were alike are not alike any more.
template <class S, class Exec, class Value>
requires on_host<Exec> std::optional<Stencil<S, Exec>> with_values(const Stencil<S, Exec>& a,
                                                                   const Offset* row_ptr,
                                                                   const Value& value) {
  constexpr Index C = Stencil<S, Exec>::slice;
  constexpr Index rows_at_once = 4096;
  const std::uint16_t* const pattern_of = a.row_pattern.data();
  const Index* const list = a.pattern_ptr.data();
  Stencil<S, Exec> other = a;
  other.values =
      allocate<decltype(a.values)>("stencil.values", static_cast<Offset>(a.values.extent(0)));
  other.masked_values = allocate<decltype(a.values)>(
      "stencil.masked_values", static_cast<Offset>(a.masked_values.extent(0)));
  S* const values = other.values.data();
  std::vector<char> seen(a.pattern_ptr.extent(0), 0);
  for (Index i = 0; i < a.rows; ++i) {  // the first row of each pattern
    const Index q = pattern_of[i];
    if (seen[static_cast<std::size_t>(q)] != 0) continue;
    seen[static_cast<std::size_t>(q)] = 1;
    for (Index j = list[q]; j < list[q + 1]; ++j) values[j] = value(i, row_ptr[i] + j - list[q]);
  }
  std::atomic<bool> alike{true};
  const EqualBlocks pieces{a.rows, rows_at_once};
  host_for("krysol::with_values(stencil)", pieces.count(), [&](std::int64_t piece) {
    bool same = true;
    for (std::int64_t i = pieces.first(piece); i < pieces.last(piece) && same; ++i) {
      const S* const mine = values + list[pattern_of[i]];
      const Offset begin = row_ptr[i];
      const Offset count = row_ptr[i + 1] - begin;
      for (Offset k = 0; k < count; ++k) same &= value(i, begin + k) == mine[k];
    }
    if (!same) alike = false;
  });
  if (!alike) return std::nullopt;
  const auto lists = static_cast<std::size_t>(a.masked.ptr.extent(0));
  std::vector<char> filled(lists, 0);
  for (std::size_t s = 0; s < a.slice_kind.extent(0); ++s) {  // the first slice of each masked list
    const Index kind = a.slice_kind.data()[s];
    if (kind >= -1) continue;
    const auto j = static_cast<std::size_t>(masked(kind));
    if (filled[j] != 0) continue;
    filled[j] = 1;
    const Index* const of_list = a.masked.ptr.data() + j;
    const auto first = static_cast<std::int64_t>(s) * C;
    fill_masked(
        a.masked.rows.data() + of_list[0], of_list[1] - of_list[0],
        [&value, first](int l, Offset k) { return value(first + l, k); }, row_ptr[first],
        other.masked_values.data() + Offset{of_list[0]} * pack_width);
  }
  return other;
}

}  // namespace krysol
