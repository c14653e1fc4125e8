// What classical coarsening does in a row, on the host and on devices; see classical.hpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/base/types.hpp>

namespace krysol::multigrid::classical {

/// A, of which entries between equal unknowns of nodes count.
struct Matrix {
  const Offset* row_ptr;
  const Index* col_idx;
  const double* values;
  const std::uint8_t* unknown;  // [rows] null: all are equal
  KOKKOS_INLINE_FUNCTION bool same(Index i, Index j) const {
    return unknown == nullptr || unknown[i] == unknown[j];
  }
};

/// strong[k] := whether row i strongly depends on the column of entry k.
struct FindStrong {
  Matrix a;
  double theta;
  std::uint8_t* strong;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    constexpr double rounding = 1e-12;  // what is as large as theta says is strong
    const auto i = static_cast<Index>(row);
    double most = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col_idx[k];
      if (j != i && a.same(i, j) && -a.values[k] > most) most = -a.values[k];
    }
    const double least = theta * (1 - rounding) * most;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col_idx[k];
      const double v = -a.values[k];
      strong[k] = j != i && a.same(i, j) && v > 0 && v >= least ? 1 : 0;
    }
  }
};

/// In [0, 1), the same on every machine.
KOKKOS_INLINE_FUNCTION double noise(Index i) {
  auto bits = static_cast<std::uint32_t>(i) + 1;
  bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;
  bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
  bits ^= bits >> 16U;
  return static_cast<double>(bits) / 4294967296.0;
}

enum class Part : std::uint8_t { open, coarse, fine };

/// The graph of strong dependence, and what becomes of its unknowns.
struct Graph {
  const Offset* row_ptr;
  const Index* col_idx;
  const std::uint8_t* strong;   // [nnz]
  const Offset* dependent_ptr;  // [rows + 1]
  const Index* dependent;       // the rows that strongly depend on each
  double* measure;              // [rows]
  Part* part;                   // [rows]
  std::uint8_t* chosen;         // [rows] 0 at first

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_dependences(Index i, const Visit& visit) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (strong[k] != 0) visit(col_idx[k]);
    }
  }
  /// Larger, or as large with a larger number: no two neighbours are both the largest.
  KOKKOS_INLINE_FUNCTION bool above(Index i, Index j) const {
    return measure[i] > measure[j] || (measure[i] == measure[j] && i > j);
  }
};

/// An unknown that nobody depends on is not kept.
struct Measure {
  Graph graph;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    const Offset count = graph.dependent_ptr[i + 1] - graph.dependent_ptr[i];
    graph.measure[i] = static_cast<double>(count) + noise(i);
    graph.part[i] = count == 0 ? Part::fine : Part::open;
  }
};

/// Chooses an open unknown that is above all of its open neighbours.
struct Choose {
  Graph graph;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    if (graph.part[i] != Part::open) return;
    bool largest = true;
    const auto compare = [&](Index j) {
      largest = largest && (graph.part[j] != Part::open || graph.above(i, j));
    };
    graph.for_dependences(i, compare);
    for (Offset k = graph.dependent_ptr[i]; k < graph.dependent_ptr[i + 1]; ++k) {
      compare(graph.dependent[k]);
    }
    graph.chosen[i] = largest ? 1 : 0;
  }
};

/// Keeps what was chosen, and takes out what depends on it.
struct Mark {
  Graph graph;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    if (graph.part[i] != Part::open) return;
    if (graph.chosen[i] != 0) {
      graph.part[i] = Part::coarse;
      return;
    }
    bool depends = false;
    graph.for_dependences(i, [&](Index j) { depends = depends || graph.chosen[j] != 0; });
    if (depends) graph.part[i] = Part::fine;
  }
};

/// The `most` largest of n entries, in place and in their order, scaled to the sum of all; of those
/// as large as the last one, but for rounding, the first. Returns their number.
KOKKOS_INLINE_FUNCTION Offset keep_largest(Index* col, double* value, Offset n, Index most) {
  constexpr double cancelled = 1e-3;  // of the largest entry
  constexpr double rounding = 1e-10;
  if (n <= most) return n;
  double all = 0;
  double largest = 0;
  for (Offset k = 0; k < n; ++k) {
    all += value[k];
    largest = Kokkos::max(largest, Kokkos::abs(value[k]));
  }
  // Sizes from `bound` on are kept, and of those from `limit` on `ties`.
  double bound = 2 * largest;  // of none at first
  double limit = largest * (1 - rounding);
  Offset ties = most;
  for (;;) {
    Offset as_large = 0;
    double smaller = -1;
    for (Offset k = 0; k < n; ++k) {
      const double size = Kokkos::abs(value[k]);
      if (size >= limit && size < bound) ++as_large;
      if (size < limit && size > smaller) smaller = size;
    }
    if (as_large >= ties || smaller < 0) break;
    ties -= as_large;
    bound = limit;
    limit = smaller * (1 - rounding);
  }
  Offset kept = 0;
  double left = 0;
  for (Offset k = 0; k < n && kept < most; ++k) {
    const double size = Kokkos::abs(value[k]);
    if (!(size >= limit) || (size < bound && ties-- <= 0)) continue;
    col[kept] = col[k];
    value[kept] = value[k];
    left += value[kept++];
  }
  if (Kokkos::abs(left) > cancelled * largest) {
    for (Offset k = 0; k < kept; ++k) value[k] *= all / left;
  }
  return kept;
}

/// Rows of P by extended+i. Points: the kept unknowns that a row interpolates from, and their
/// weights, in the order in which they are met: add(j), unless it is there; weight_of(j), null
/// where it is not; count, points, weights.
struct ExtendedRow {
  Matrix a;
  const std::uint8_t* strong;  // [nnz]
  const Index* coarse;         // [rows] the number on the next level, or -1
  Index most;                  // entries of a row

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_strong(Index i, const Visit& visit) const {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (strong[k] != 0) visit(a.col_idx[k]);
    }
  }

  /// visit(j) for each point of row i, which is not kept, as often as it is met.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_points(Index i, const Visit& visit) const {
    for_strong(i, [&](Index j) {
      if (coarse[j] >= 0) {
        visit(j);
      } else {
        for_strong(j, [&](Index k) {
          if (coarse[k] >= 0) visit(k);
        });
      }
    });
  }

  /// At most so many points has row i.
  KOKKOS_INLINE_FUNCTION Offset bound(Index i) const {
    Offset n = 0;
    if (coarse[i] < 0) for_points(i, [&](Index) { ++n; });
    return n;
  }

  /// Writes row i of P to col and value, which may be the arrays of `points`; returns its entries.
  template <class Points>
  KOKKOS_INLINE_FUNCTION Offset write(Index i, Points& points, Index* col, double* value) const {
    for_points(i, [&](Index j) { points.add(j); });
    const double diagonal = sum_row(i, points);
    Offset used = 0;
    for (Offset n = 0; n < points.count; ++n) {
      const Index j = points.points[n];
      const double w = -points.weights[n] / diagonal;
      if (!(diagonal > 0) || w == 0 || !has_finite_bits(w)) continue;
      col[used] = coarse[j];
      value[used++] = w;
    }
    return keep_largest(col, value, used, most);
  }

 private:
  /// Collects the row in the weights of its points; returns the diagonal that is left.
  template <class Points>
  KOKKOS_INLINE_FUNCTION double sum_row(Index i, Points& points) const {
    double diagonal = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col_idx[k];
      if (!a.same(i, j)) continue;
      const double v = a.values[k];
      double* const w = j == i || coarse[j] < 0 ? nullptr : points.weight_of(j);
      if (w != nullptr) {
        *w += v;
      } else if (j == i || strong[k] == 0 || !distribute(v, j, i, points, diagonal)) {
        diagonal += v;
      }
    }
    return diagonal;
  }

  /// What row i gets from its neighbour k, which is not kept, to those whose values k follows.
  template <class Points>
  KOKKOS_INLINE_FUNCTION bool distribute(double v, Index k, Index i, Points& points,
                                         double& diagonal) const {
    double sum = 0;
    for (Offset q = a.row_ptr[k]; q < a.row_ptr[k + 1]; ++q) {
      if (share_of(q, k, i, points, diagonal) != nullptr) sum += a.values[q];
    }
    if (sum == 0) return false;
    for (Offset q = a.row_ptr[k]; q < a.row_ptr[k + 1]; ++q) {
      double* const to = share_of(q, k, i, points, diagonal);
      if (to != nullptr) *to += v * (a.values[q] / sum);
    }
    return true;
  }

  /// Where the share of entry q, of row k, goes to; null: it has none.
  template <class Points>
  KOKKOS_INLINE_FUNCTION double* share_of(Offset q, Index k, Index i, Points& points,
                                          double& diagonal) const {
    const Index l = a.col_idx[q];
    if (l == k || !(a.values[q] < 0) || !a.same(k, l)) return nullptr;
    if (l == i) return &diagonal;
    return coarse[l] < 0 ? nullptr : points.weight_of(l);
  }
};

}  // namespace krysol::multigrid::classical
