// Grids and their interpolation, in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/solver/coarsening/grid_interpolation.hpp>
#include <krysol/solver/device_coarsening/rows.hpp>

namespace krysol::device_coarsening {

/// A BoxGrid as kernels take it: nodes in each direction, numbered along x, then y, then z.
struct GridNodes {
  Index x = 1;
  Index y = 1;
  Index z = 1;

  /// Places along each direction, or steps.
  struct Place {
    Index x;
    Index y;
    Index z;
  };
  KOKKOS_INLINE_FUNCTION Place place(Index node) const {
    return {node % x, node / x % y, node / x / y};
  }
  KOKKOS_INLINE_FUNCTION Index node(const Place& p) const { return p.x + x * (p.y + y * p.z); }
};

inline GridNodes nodes_of(const multigrid::BoxGrid& grid) {
  return {grid.nodes[0], grid.nodes[1], grid.nodes[2]};
}

/// Steps from one node to another.
KOKKOS_INLINE_FUNCTION GridNodes::Place steps_between(const GridNodes::Place& from,
                                                      const GridNodes::Place& to) {
  return {to.x - from.x, to.y - from.y, to.z - from.z};
}

/// bad := 1 where an entry of row i is of no neighbour, or the nodes of its entries do not ascend.
struct FindMisplaced {
  const Offset* row_ptr;
  const Index* col_idx;
  GridNodes grid;
  Index block;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, int& bad) const {
    const auto own = grid.place(static_cast<Index>(i / block));
    Index before = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index other = col_idx[k] / block;
      const auto step = steps_between(own, grid.place(other));
      const bool near =
          step.x >= -1 && step.x <= 1 && step.y >= -1 && step.y <= 1 && step.z >= -1 && step.z <= 1;
      if (!near || other < before) bad = 1;
      before = other;
    }
  }
};

/// Whether all entries of A, with `block` rows a node, are what multigrid::grid_pattern takes.
/// Bytes: 4 an entry, 8 a row.
template <class S, class Exec>
bool has_pattern_of_grid(const Exec& exec, const Csr<S, Exec>& a, Index block,
                         const multigrid::BoxGrid& grid) {
  if (a.rows != grid.size() * block) return false;
  int bad = 0;
  Kokkos::parallel_reduce(
      "krysol::has_pattern_of_grid",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
      FindMisplaced{a.row_ptr.data(), a.col_idx.data(), nodes_of(grid), block},
      Kokkos::Max<int>(bad));
  return bad < 1;  // the least int, where nothing is bad
}

/// S A S, of which entries are read as those of S A.
template <class S>
struct ScaledMatrix {
  const Offset* row_ptr;
  const Index* col_idx;
  const S* values;
  const double* scale;  // [rows] S

  /// Entry k of A, times the scale of its row.
  KOKKOS_INLINE_FUNCTION double entry(Offset k) const {
    const double s = scale[col_idx[k]];
    return s > 0 ? real_part(values[k]) / s : 0;
  }
};

template <class S, class Exec>
ScaledMatrix<S> scaled_matrix(const Csr<S, Exec>& a, const Vector<double, Exec>& scale) {
  return {a.row_ptr.data(), a.col_idx.data(), a.values.data(), scale.data()};
}

/// What multigrid::direction_strengths adds up for a node: three of its means, then of its shares.
template <class S>
struct StrengthsOfNode {
  ScaledMatrix<S> a;
  GridNodes grid;
  Index block;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node, double* term) const {
    const auto own = grid.place(static_cast<Index>(node));
    double sum[3] = {};
    double most[3] = {};
    for (Index u = 0; u < block; ++u) {
      const std::int64_t row = node * block + u;
      const double s = a.scale[row];
      for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        if (a.col_idx[k] % block != u || !(s > 0)) continue;
        const double v = a.entry(k) / s;
        const auto step = steps_between(own, grid.place(a.col_idx[k] / block));
        const bool along[3] = {step.x != 0, step.y != 0, step.z != 0};
        for (int n = 0; n < 3; ++n) {
          if (!along[n]) continue;
          sum[n] -= v;
          most[n] = Kokkos::max(most[n], Kokkos::abs(v));
        }
      }
    }
    const double strongest = Kokkos::max(sum[0], Kokkos::max(sum[1], sum[2]));
    for (int n = 0; n < 3; ++n) {
      const int other = (n + 1) % 3;
      const double less = Kokkos::min(most[n], most[other]);
      const double more = Kokkos::max(most[n], most[other]);
      const bool counts = strongest > 0;
      term[n] = counts ? Kokkos::max(sum[n], 0.0) / strongest : 0;
      term[3 + n] = counts && less < multigrid::share_of_much_weaker * more ? 1 : 0;
    }
  }
};

/// As multigrid::direction_strengths of A, from S A S. Bytes: 20 an entry.
template <class S, class Exec>
multigrid::DirectionStrengths direction_strengths(const Exec& exec, const Csr<S, Exec>& a,
                                                  const Vector<double, Exec>& scale, Index block,
                                                  const multigrid::BoxGrid& grid) {
  ReductionWorkspace<Exec> sums;
  const Index nodes = a.rows / block;
  const auto sum = sum_over<6>("krysol::direction_strengths", exec, nodes, sums,
                               StrengthsOfNode<S>{scaled_matrix(a, scale), nodes_of(grid), block});
  multigrid::DirectionStrengths mean;
  for (std::size_t n = 0; n < 3; ++n) {
    mean.mean[n] = sum[n] / nodes;
    mean.uneven[n] = sum[3 + n] / nodes;
  }
  return mean;
}

/// A coarsening as kernels take it.
struct CoarseningArrays {
  GridNodes fine;
  GridNodes coarse;
  const Index* parent;  // [planes along x, then y, then z] see GridCoarsening::parents_of_planes
  const double* upper;  // likewise: see CoarsePlanes

  KOKKOS_INLINE_FUNCTION Index parent_of(int direction, Index plane) const {
    return parent[(direction > 0 ? fine.x : 0) + (direction > 1 ? fine.y : 0) + plane];
  }
  /// Bits 1, 2, 4: the node is between kept planes along x, y, z.
  KOKKOS_INLINE_FUNCTION int mask(const GridNodes::Place& p) const {
    return (parent_of(0, p.x) & 1) | (parent_of(1, p.y) & 1) << 1 | (parent_of(2, p.z) & 1) << 2;
  }
  /// The node of the coarse grid that is the lowest corner of the cell around a node.
  KOKKOS_INLINE_FUNCTION GridNodes::Place corner(const GridNodes::Place& p) const {
    return {parent_of(0, p.x) / 2, parent_of(1, p.y) / 2, parent_of(2, p.z) / 2};
  }
  /// Multilinear, of the corner that is the upper one in the directions of the bits of q.
  KOKKOS_INLINE_FUNCTION double weight_by_place(const GridNodes::Place& p, int mask, int q) const {
    const Index planes[3] = {p.x, fine.x + p.y, fine.x + fine.y + p.z};
    double w = 1;
    for (int n = 0; n < 3; ++n) {
      if ((mask >> n & 1) == 0) continue;
      w *= (q >> n & 1) != 0 ? upper[planes[n]] : 1 - upper[planes[n]];
    }
    return w;
  }
};

/// Directions in a mask.
KOKKOS_INLINE_FUNCTION int bits_in(int mask) { return (mask & 1) + (mask >> 1 & 1) + (mask >> 2); }

/// visit(q, n) for the n-th corner of a node with that mask, ascending; see CoarseningArrays.
template <class Visit>
KOKKOS_INLINE_FUNCTION void for_corners(int mask, const Visit& visit) {
  int n = 0;
  for (int q = 0; q < 8; ++q) {
    if ((q & ~mask) == 0) visit(q, n++);
  }
}

struct CountCorners {
  CoarseningArrays c;
  Index block;
  Offset* length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    length[i + 1] = Offset{1} << bits_in(c.mask(c.fine.place(static_cast<Index>(i / block))));
  }
};

/// Row i of P, with multilinear weights.
template <class S>
struct WriteCorners {
  CoarseningArrays c;
  Index block;
  const Offset* row_ptr;
  Index* col_idx;
  S* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto place = c.fine.place(static_cast<Index>(i / block));
    const int mask = c.mask(place);
    const auto low = c.corner(place);
    const Offset first = row_ptr[i];
    for_corners(mask, [&](int q, int n) {
      const Index to = c.coarse.node({low.x + (q & 1), low.y + (q >> 1 & 1), low.z + (q >> 2)});
      col_idx[first + n] = to * block + static_cast<Index>(i % block);
      values[first + n] = from_double<S>(c.weight_by_place(place, mask, q));
    });
  }
};

/// The weights of nodes between kept planes in `between` directions, after those of nodes between
/// fewer; see multigrid::operator_interpolation.
template <class S>
struct InterpolateByMatrix {
  ScaledMatrix<S> a;
  CoarseningArrays c;
  int between;
  const Offset* row_ptr;
  S* values;

  /// A step of -1, 0 or 1 along the directions of the mask, as a direction (see
  /// multigrid::grid_directions); else 0.
  KOKKOS_INLINE_FUNCTION static int code(const GridNodes::Place& step, int mask) {
    return ((mask & 1) != 0 ? step.x + 1 : 1) + 3 * ((mask & 2) != 0 ? step.y + 1 : 1) +
           9 * ((mask & 4) != 0 ? step.z + 1 : 1);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto node = static_cast<Index>(i);
    const auto place = c.fine.place(node);
    const int mask = c.mask(place);
    if (bits_in(mask) != between) return;
    S* const weight = values + row_ptr[i];
    if (a.row_ptr[i + 1] - a.row_ptr[i] < 2) {  // the others are nothing to it
      for_corners(mask, [&](int, int n) { weight[n] = S(0); });
      return;
    }
    if (mask == 0) return;  // its own value
    double sum[multigrid::grid_directions] = {};
    double all = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const double v = a.entry(k);
      sum[code(steps_between(place, c.fine.place(a.col_idx[k])), mask)] -= v;
      all += Kokkos::abs(v);
    }
    sum[multigrid::grid_own] = 0;
    double total = 0;
    double size = 0;
    for (const double v : sum) {
      total += v;
      size += Kokkos::abs(v);
    }
    if (!(total > multigrid::least_sum_of_weights * size &&
          total > multigrid::rounding_of_weights * all)) {
      return;  // by place
    }
    double of_corner[8] = {};
    for (int d = 0; d < multigrid::grid_directions; ++d) {
      if (sum[d] == 0) continue;
      const GridNodes::Place step{d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
      const int along = (step.x != 0 ? 1 : 0) | (step.y != 0 ? 2 : 0) | (step.z != 0 ? 4 : 0);
      const int upper = (step.x > 0 ? 1 : 0) | (step.y > 0 ? 2 : 0) | (step.z > 0 ? 4 : 0);
      const S* const from = values + row_ptr[node + c.fine.node(step)];
      const double share = sum[d] / total;
      for_corners(mask & ~along,
                  [&](int q, int n) { of_corner[upper | q] += share * real_part(from[n]); });
    }
    for_corners(mask, [&](int q, int n) { weight[n] = from_double<S>(of_corner[q]); });
  }
};

/// P [rows, rows of the coarse grid] of A, from S A S with `block` rows a node: for one row a node
/// as multigrid::operator_interpolation makes it, else as multilinear_interpolation does, for each
/// unknown of a node by itself.
template <class S, class Exec>
Csr<S, Exec> grid_interpolation(const Exec& exec, const Csr<S, Exec>& a,
                                const Vector<double, Exec>& scale, Index block,
                                const multigrid::GridCoarsening& coarsening) {
  std::vector<double> upper;
  for (const multigrid::CoarsePlanes& planes : coarsening.planes) {
    upper.insert(upper.end(), planes.upper.begin(), planes.upper.end());
  }
  const auto parents = to_device<Exec>("grid.parents", coarsening.parents_of_planes());
  const auto shares = to_device<Exec>("grid.upper", upper);
  const CoarseningArrays c{nodes_of(coarsening.fine), nodes_of(coarsening.coarse), parents.data(),
                           shares.data()};
  const auto row_ptr = zeros<Offset>(exec, "grid.row_ptr", std::int64_t{a.rows} + 1);
  for_rows("krysol::grid_interpolation(count)", exec, a.rows,
           CountCorners{c, block, row_ptr.data()});
  Csr<S, Exec> p =
      csr_of<S>(a.rows, coarsening.coarse.size() * block, row_ptr, sum_lengths(exec, row_ptr));
  for_rows("krysol::grid_interpolation(by place)", exec, a.rows,
           WriteCorners<S>{c, block, row_ptr.data(), p.col_idx.data(), p.values.data()});
  for (int between = 0; between <= 3 && block == 1; ++between) {
    for_rows("krysol::grid_interpolation", exec, a.rows,
             InterpolateByMatrix<S>{scaled_matrix(a, scale), c, between, row_ptr.data(),
                                    p.values.data()});
  }
  return p;
}

}  // namespace krysol::device_coarsening
