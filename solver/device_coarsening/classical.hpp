// Classical coarsening, in the memory of a device; see coarsening/classical.hpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/classical_rows.hpp>
#include <krysol/solver/device_coarsening/sparse_product.hpp>

namespace krysol::device_coarsening {

namespace classical = multigrid::classical;

/// See multigrid::Unknowns; empty: all are equal.
template <class Exec>
using Unknowns = Vector<std::uint8_t, Exec>;

struct WriteUnknowns {
  Index block;
  std::uint8_t* unknown;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    unknown[i] = static_cast<std::uint8_t>(i % block);
  }
};

/// Where nodes have `block` rows, one after the other.
template <class Exec>
Unknowns<Exec> unknowns_of(const Exec& exec, Index rows, Index block) {
  if (block == 1) return {};
  auto unknown = uninitialized<std::uint8_t>(exec, "classical.unknowns", rows);
  for_rows("krysol::unknowns_of", exec, rows, WriteUnknowns{block, unknown.data()});
  return unknown;
}

template <class Exec>
classical::Matrix matrix_of(const Csr<double, Exec>& a, const Unknowns<Exec>& unknown) {
  return {a.row_ptr.data(), a.col_idx.data(), a.values.data(),
          unknown.extent(0) > 0 ? unknown.data() : nullptr};
}

/// As multigrid::strong_dependence. Bytes: 25 an entry.
template <class Exec>
Vector<std::uint8_t, Exec> strong_dependence(const Exec& exec, const Csr<double, Exec>& a,
                                             const Unknowns<Exec>& unknown, double theta) {
  auto strong = uninitialized<std::uint8_t>(exec, "classical.strong", a.nnz());
  for_rows("krysol::strong_dependence", exec, a.rows,
           classical::FindStrong{matrix_of(a, unknown), theta, strong.data()});
  return strong;
}

struct CountStrong {
  const Offset* row_ptr;
  const std::uint8_t* strong;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Offset n = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) n += strong[k];
    length[i + 1] = n;
  }
};

struct WriteStrong {
  const Offset* row_ptr;
  const Index* col_idx;
  const std::uint8_t* strong;
  const Offset* strong_ptr;
  Index* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Offset n = strong_ptr[i];
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (strong[k] != 0) to[n++] = col_idx[k];
    }
  }
};

/// Row j: the rows that strongly depend on it, without values.
template <class Exec>
Csr<double, Exec> dependents(const Exec& exec, const Csr<double, Exec>& a,
                             const Vector<std::uint8_t, Exec>& strong) {
  const auto row_ptr = zeros<Offset>(exec, "classical.row_ptr", std::int64_t{a.rows} + 1);
  for_rows("krysol::dependents(count)", exec, a.rows,
           CountStrong{a.row_ptr.data(), strong.data(), row_ptr.data()});
  const auto s = pattern_of<double>(a.rows, a.cols, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::dependents", exec, a.rows,
           WriteStrong{a.row_ptr.data(), a.col_idx.data(), strong.data(), row_ptr.data(),
                       s.col_idx.data()});
  return transposed_pattern(exec, s);
}

/// sum: of unknowns that are open after it.
struct MarkAndCount {
  classical::Mark mark;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Offset& sum) const {
    mark(i);
    if (mark.graph.part[i] == classical::Part::open) sum += 1;
  }
};

struct CountCoarse {
  const classical::Part* part;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    length[i + 1] = part[i] == classical::Part::coarse ? 1 : 0;
  }
};

template <class Exec>
struct Splitting {
  Vector<Index, Exec> coarse;  // [rows] the number of an unknown on the next level, or -1
  Index count = 0;
};

/// As multigrid::independent_sets, the same sets.
template <class Exec>
Splitting<Exec> independent_sets(const Exec& exec, const Csr<double, Exec>& a,
                                 const Vector<std::uint8_t, Exec>& strong) {
  const Csr<double, Exec> depending = dependents(exec, a, strong);
  const auto measure = uninitialized<double>(exec, "classical.measure", a.rows);
  const auto part = uninitialized<classical::Part>(exec, "classical.part", a.rows);
  const auto chosen = zeros<std::uint8_t>(exec, "classical.chosen", a.rows);
  const classical::Graph graph{
      a.row_ptr.data(),         a.col_idx.data(), strong.data(), depending.row_ptr.data(),
      depending.col_idx.data(), measure.data(),   part.data(),   chosen.data()};
  for_rows("krysol::independent_sets(measure)", exec, a.rows, classical::Measure{graph});
  Offset open = a.rows;
  // Each round chooses the open unknown of the largest measure, at least.
  while (open > 0) {
    for_rows("krysol::independent_sets(choose)", exec, a.rows, classical::Choose{graph});
    open = 0;
    Kokkos::parallel_reduce(
        "krysol::independent_sets(mark)",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
        MarkAndCount{{graph}}, open);
  }
  const auto before = zeros<Offset>(exec, "classical.before", std::int64_t{a.rows} + 1);
  for_rows("krysol::independent_sets(count)", exec, a.rows,
           CountCoarse{part.data(), before.data()});
  Splitting<Exec> s;
  s.count = static_cast<Index>(sum_lengths(exec, before));
  s.coarse = uninitialized<Index>(exec, "classical.coarse", a.rows);
  for_rows("krysol::independent_sets(number)", exec, a.rows,
           NumberCounted{before.data(), s.coarse.data()});
  return s;
}

/// size[i + 1] := places for the points of row i.
struct CountPoints {
  classical::ExtendedRow row;
  Offset* size;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    size[i + 1] = places_for(row.bound(static_cast<Index>(i)));
  }
};

/// The points of a row, found by a hash table.
struct HashedPoints {
  Index* points;
  double* weights;
  Index* table;  // [places] which point is there; -1: none
  Offset places;
  Offset count = 0;

  KOKKOS_INLINE_FUNCTION void clear() const {
    for (Offset s = 0; s < places; ++s) table[s] = -1;
  }
  /// The place of j, or the free one where it belongs.
  KOKKOS_INLINE_FUNCTION Offset place_of(Index j) const {
    Offset at = hashed(j, places);
    while (table[at] >= 0 && points[table[at]] != j) at = (at + 1) & (places - 1);
    return at;
  }
  KOKKOS_INLINE_FUNCTION double* weight_of(Index j) const {
    if (places == 0) return nullptr;
    const Index n = table[place_of(j)];
    return n < 0 ? nullptr : weights + n;
  }
  KOKKOS_INLINE_FUNCTION void add(Index j) {
    const Offset at = place_of(j);
    if (table[at] >= 0) return;
    table[at] = static_cast<Index>(count);
    points[count] = j;
    weights[count++] = 0;
  }
};

/// Rows that have `most` entries at most: those of row i from i most on.
struct ShortRows {
  Index most;
  Offset* length;  // [rows + 1] length[i + 1] of row i
  Index* col_idx;  // [rows most]
  double* values;

  /// Takes the first n entries of a row, their columns ascending.
  KOKKOS_INLINE_FUNCTION void take(std::int64_t i, const Index* col, const double* value,
                                   Offset n) const {
    const Offset begin = i * most;
    for (Offset k = 0; k < n; ++k) {
      Offset at = begin + k;
      for (; at > begin && col_idx[at - 1] > col[k]; --at) {
        col_idx[at] = col_idx[at - 1];
        values[at] = values[at - 1];
      }
      col_idx[at] = col[k];
      values[at] = value[k];
    }
    length[i + 1] = n;
  }
};

struct InterpolateRow {
  classical::ExtendedRow row;
  const Offset* first_place;  // [rows + 1]
  Index first_row;
  Index* points;  // of the rows from first_row on
  double* weights;
  Index* table;
  ShortRows p;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const auto i = static_cast<Index>(first_row + n);
    if (row.coarse[i] >= 0) {
      const double one = 1;
      p.take(i, row.coarse + i, &one, 1);
      return;
    }
    const Offset at = first_place[i] - first_place[first_row];
    HashedPoints mine{points + at, weights + at, table + at, first_place[i + 1] - first_place[i]};
    mine.clear();
    const Offset used = row.write(i, mine, mine.points, mine.weights);
    p.take(i, mine.points, mine.weights, used);
  }
};

struct TruncateRow {
  const Offset* row_ptr;
  Index* col_idx;
  double* values;
  ShortRows p;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Offset begin = row_ptr[i];
    const Offset kept =
        classical::keep_largest(col_idx + begin, values + begin, row_ptr[i + 1] - begin, p.most);
    p.take(i, col_idx + begin, values + begin, kept);
  }
};

struct CopyShortRow {
  ShortRows from;
  const Offset* row_ptr;
  Index* col_idx;
  double* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      col_idx[k] = from.col_idx[i * from.most + k - row_ptr[i]];
      values[k] = from.values[i * from.most + k - row_ptr[i]];
    }
  }
};

/// Rows of `most` entries at most, which write(rows) sets.
template <class Exec, class Write>
Csr<double, Exec> short_rows(const Exec& exec, Index rows, Index cols, Index most,
                             const Write& write) {
  const auto row_ptr = zeros<Offset>(exec, "classical.row_ptr", std::int64_t{rows} + 1);
  const auto col_idx = uninitialized<Index>(exec, "classical.col_idx", std::int64_t{rows} * most);
  const auto values = uninitialized<double>(exec, "classical.values", std::int64_t{rows} * most);
  const ShortRows all{most, row_ptr.data(), col_idx.data(), values.data()};
  write(all);
  auto p = csr_of<double>(rows, cols, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::short_rows", exec, rows,
           CopyShortRow{all, row_ptr.data(), p.col_idx.data(), p.values.data()});
  return p;
}

/// As multigrid::extended_interpolation; the columns of a row ascend. A row is a thread's; places:
/// of hash tables in memory at a time, 16 bytes each with their points.
template <class Exec>
Csr<double, Exec> extended_interpolation(const Exec& exec, const Csr<double, Exec>& a,
                                         const Unknowns<Exec>& unknown,
                                         const Vector<std::uint8_t, Exec>& strong,
                                         const Splitting<Exec>& splitting, Index most,
                                         Offset places = most_places) {
  const classical::ExtendedRow row{matrix_of(a, unknown), strong.data(), splitting.coarse.data(),
                                   most};
  const auto first_place = zeros<Offset>(exec, "classical.first_place", std::int64_t{a.rows} + 1);
  for_rows("krysol::extended_interpolation(points)", exec, a.rows,
           CountPoints{row, first_place.data()});
  const Offset all = sum_lengths(exec, first_place);
  const RowGroups groups(first_place, all, places);
  const auto points = uninitialized<Index>(exec, "classical.points", groups.largest);
  const auto table = uninitialized<Index>(exec, "classical.table", groups.largest);
  const auto weights = uninitialized<double>(exec, "classical.weights", groups.largest);
  return short_rows(exec, a.rows, splitting.count, most, [&](const ShortRows& p) {
    for (std::size_t g = 0; g + 1 < groups.first.size(); ++g) {
      for_rows("krysol::extended_interpolation", exec, groups.first[g + 1] - groups.first[g],
               InterpolateRow{row, first_place.data(), groups.first[g], points.data(),
                              weights.data(), table.data(), p});
    }
  });
}

/// As multigrid::truncated; the columns of a row ascend. Writes to the arrays of p.
template <class Exec>
Csr<double, Exec> truncated(const Exec& exec, Csr<double, Exec>&& p, Index most) {
  return short_rows(exec, p.rows, p.cols, most, [&](const ShortRows& to) {
    for_rows("krysol::truncated", exec, p.rows,
             TruncateRow{p.row_ptr.data(), p.col_idx.data(), p.values.data(), to});
  });
}

struct TakeUnknowns {
  const std::uint8_t* unknown;
  const Index* coarse;
  std::uint8_t* of_next;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (coarse[i] >= 0) of_next[coarse[i]] = unknown[i];
  }
};

/// Those of the next level's rows.
template <class Exec>
Unknowns<Exec> unknowns_of_next(const Exec& exec, const Unknowns<Exec>& unknown,
                                const Splitting<Exec>& splitting) {
  if (unknown.extent(0) == 0) return {};
  auto next = uninitialized<std::uint8_t>(exec, "classical.unknowns", splitting.count);
  for_rows("krysol::unknowns_of_next", exec, static_cast<std::int64_t>(unknown.extent(0)),
           TakeUnknowns{unknown.data(), splitting.coarse.data(), next.data()});
  return next;
}

}  // namespace krysol::device_coarsening
