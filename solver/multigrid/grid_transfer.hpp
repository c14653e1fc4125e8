// Vectors between two grids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/spmv/base/reduction.hpp>

namespace krysol::multigrid {

/// The entries of diag(of_fine)^-1 P diag(of_coarse), for each unknown of a node those of its
/// corners; what is scaled by 0 takes no part.
template <class R>
HostArray<R> scaled_weights(const GridStep& step, Index block, const HostArray<double>& of_fine,
                            const HostArray<double>& of_coarse) {
  const Offset* const row_ptr = step.p.row_ptr.data();
  const Index* const col_idx = step.p.col_idx.data();
  const double* const values = step.p.values.data();
  const double* const fine = of_fine.data();
  const double* const coarse = of_coarse.data();
  auto weights = host_array<R>("grid.weight", static_cast<std::size_t>(step.p.nnz() * block));
  R* const to = weights.data();
  host_for("krysol::grid_transfer(weights)", step.p.rows, [=](std::int64_t i) {
    const Offset begin = row_ptr[i];
    const Offset count = row_ptr[i + 1] - begin;
    for (Index u = 0; u < block; ++u) {
      const double s = fine[i * block + u];
      const double inverse = s > 0 ? 1 / s : 0;
      for (Offset e = 0; e < count; ++e) {
        const double of_column = coarse[Offset{col_idx[begin + e]} * block + u];
        to[begin * block + u * count + e] = static_cast<R>(inverse * of_column * values[begin + e]);
      }
    }
  });
  return weights;
}

/// The weights of an interpolation, without the columns that a grid shows: of unknown u of a node
/// those of its corners, u after u, node after node, as in Interpolation. Bytes an application:
/// those of weights, and of both vectors.
template <class R, class Exec>
struct GridTransfer {
  Index block = 1;
  std::array<Index, 3> fine{1, 1, 1};    // nodes in each direction
  std::array<Index, 3> coarse{1, 1, 1};  // likewise of the coarse grid
  Vector<R, Exec> weight;                // [entries of P block]
  Vector<Offset, Exec> line;             // [lines] of fine nodes: entries of P before each
  Vector<Index, Exec> before;            // [nodes along x] entries of a line of kept nodes before
                                         // each, and between kept lines twice or four times those
  Vector<Index, Exec> plane;             // [nodes along x, then y, then z] 2 below + between
  Vector<Index, Exec> kept;              // [coarse nodes along x, then y, then z] the fine plane

  GridTransfer() = default;
  /// With the weights that scaled_weights gives.
  GridTransfer(const GridStep& step, Index rows_of_node, const HostArray<double>& of_fine,
               const HostArray<double>& of_coarse)
      : block(rows_of_node),
        fine(step.coarsening.fine.nodes),
        coarse(step.coarsening.coarse.nodes) {
    const GridCoarsening& c = step.coarsening;
    const std::int64_t lines = std::int64_t{fine[1]} * fine[2];
    const auto first = host_array<Offset>("grid.line", static_cast<std::size_t>(lines));
    for (std::int64_t l = 0; l < lines; ++l) first.data()[l] = step.p.row_ptr.data()[l * fine[0]];
    std::vector<Index> places;
    std::vector<Index> numbers;
    for (const CoarsePlanes& of_direction : c.planes) {
      numbers.insert(numbers.end(), of_direction.kept.begin(), of_direction.kept.end());
    }
    const std::vector<Index> planes = c.parents_of_planes();
    Index entries = 0;
    for (Index x = 0; x < fine[0]; ++x) {
      places.push_back(entries);
      entries += 1 + planes[as_size(x)] % 2;
    }
    line = in_memory_of<Exec>(first);
    before = to_device<Exec>("grid.before", places);
    plane = to_device<Exec>("grid.plane", planes);
    kept = to_device<Exec>("grid.kept", numbers);
    weight = in_memory_of<Exec>(scaled_weights<R>(step, block, of_fine, of_coarse));
  }

  std::int64_t fine_lines() const { return std::int64_t{fine[1]} * fine[2]; }
  std::int64_t coarse_lines() const { return std::int64_t{coarse[1]} * coarse[2]; }
};

template <class R, class Exec>
std::int64_t bytes(const GridTransfer<R, Exec>& t) {
  return static_cast<std::int64_t>(t.weight.extent(0) * sizeof(R) +
                                   t.line.extent(0) * sizeof(Offset));
}

/// The arrays of a GridTransfer, for kernels.
template <class R>
struct GridTransferArrays {
  Index block;
  Index nx, ny, nz;
  Index cx, cy, cz;
  const R* weight;
  const Offset* line;
  const Index* before;
  const Index* plane;
  const Index* kept;

  KOKKOS_INLINE_FUNCTION Index of_y(Index y) const { return plane[nx + y]; }
  KOKKOS_INLINE_FUNCTION Index of_z(Index z) const { return plane[nx + ny + z]; }
  /// Parents in the directions y and z of a line of fine nodes.
  KOKKOS_INLINE_FUNCTION Index parent_lines(Index y, Index z) const {
    return (1 + (of_y(y) & 1)) * (1 + (of_z(z) & 1));
  }
};

template <class R, class Exec>
GridTransferArrays<R> arrays_of(const GridTransfer<R, Exec>& t) {
  return {t.block,       t.fine[0],       t.fine[1],      t.fine[2],
          t.coarse[0],   t.coarse[1],     t.coarse[2],    t.weight.data(),
          t.line.data(), t.before.data(), t.plane.data(), t.kept.data()};
}

/// y := P x for the nodes [first, last) of a line; known: its parent lines, known_block: rows a
/// node or 0.
template <class S, class R>
struct Prolong {
  GridTransferArrays<R> t;
  const S* x;
  S* y;

  template <int known, int known_block>
  KOKKOS_INLINE_FUNCTION void nodes(Index j, Index k, Index first, Index last) const {
    const Index block = known_block > 0 ? known_block : t.block;
    const Index own = t.of_y(j) / 2 + t.cy * (t.of_z(k) / 2);
    const S* from[known];
    // Parent lines in the order of the weights: y before z.
    const Index two = t.of_y(j) & 1;
    for (int p = 0; p < known; ++p) {
      const Index dy = two != 0 ? p % 2 : 0;
      const Index dz = two != 0 ? p / 2 : p;
      from[p] = x + std::int64_t{own + dy + t.cy * dz} * t.cx * block;
    }
    const std::int64_t line = j + std::int64_t{t.ny} * k;
    const Offset begin = (t.line[line] + Offset{known} * t.before[first]) * block;
    const R* w = t.weight + begin;
    S* to = y + (line * t.nx + first) * block;
    for (Index i = first; i < last; ++i) {
      const std::int64_t below = std::int64_t{t.plane[i] / 2} * block;
      if ((t.plane[i] & 1) == 0) {
        for (Index u = 0; u < block; ++u) {
          S sum = S(0);
          for (int p = 0; p < known; ++p) sum += w[p] * from[p][below + u];
          w += known;
          *to++ = sum;
        }
      } else {
        for (Index u = 0; u < block; ++u) {
          S sum = S(0);
          for (std::int64_t p = 0; p < known; ++p) {
            sum += w[2 * p] * from[p][below + u] + w[2 * p + 1] * from[p][below + block + u];
          }
          w += 2 * known;
          *to++ = sum;
        }
      }
    }
  }
  template <int known>
  KOKKOS_INLINE_FUNCTION void of_block(Index j, Index k, Index first, Index last) const {
    if (t.block == 1) {
      nodes<known, 1>(j, k, first, last);
    } else {
      nodes<known, 0>(j, k, first, last);
    }
  }
  KOKKOS_INLINE_FUNCTION void range(Index j, Index k, Index first, Index last) const {
    switch (t.parent_lines(j, k)) {
      case 1:
        return of_block<1>(j, k, first, last);
      case 2:
        return of_block<2>(j, k, first, last);
      default:
        return of_block<4>(j, k, first, last);
    }
  }
  KOKKOS_INLINE_FUNCTION Index line_nodes() const { return t.nx; }
  KOKKOS_INLINE_FUNCTION Index line_planes() const { return t.ny; }
};

/// y := P' x for the nodes [first, last) of a coarse line.
template <class S, class R>
struct Restrict {
  GridTransferArrays<R> t;
  const S* x;
  S* y;

  /// What the fine line (j, k), in which the coarse one is parent `p` of `count`, adds;
  /// known_block: rows a node, or 0.
  template <int known_block>
  KOKKOS_INLINE_FUNCTION void add(Index j, Index k, Index p, Index count, Index first, Index last,
                                  S* to) const {
    const Index block = known_block > 0 ? known_block : t.block;
    const std::int64_t line = j + std::int64_t{t.ny} * k;
    const R* const w = t.weight + t.line[line] * block;
    const S* const from = x + line * t.nx * block;
    const std::int64_t each = std::int64_t{count} * block;
    for (Index i = first; i < last; ++i) {
      const Index own = t.kept[i];
      const bool lower = own > 0 && (t.plane[own - 1] & 1) != 0;
      const bool upper = own + 1 < t.nx && (t.plane[own + 1] & 1) != 0;
      const R* const of_own = w + each * t.before[own] + p;
      const S* const x_own = from + std::int64_t{own} * block;
      for (Index u = 0; u < block; ++u, ++to) {
        const std::int64_t of_u = std::int64_t{u} * count;
        S sum = of_own[of_u] * x_own[u];
        // Two entries a parent line: the lower, then the upper node.
        if (lower) sum += of_own[2 * of_u - 2 * each + p + 1] * x_own[u - block];
        if (upper) sum += of_own[2 * of_u + each + p] * x_own[u + block];
        *to += sum;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void range(Index j, Index k, Index first, Index last) const {
    S* const to = y + ((j + std::int64_t{t.cy} * k) * t.cx + first) * t.block;
    for (std::int64_t i = 0; i < std::int64_t{last - first} * t.block; ++i) to[i] = S(0);
    const Index fy = t.kept[t.cx + j];
    const Index fz = t.kept[t.cx + t.cy + k];
    for (Index z = fz > 0 ? fz - 1 : fz; z <= fz + 1 && z < t.nz; ++z) {
      const Index of_z = t.of_z(z);
      if (z != fz && (of_z & 1) == 0) continue;
      for (Index v = fy > 0 ? fy - 1 : fy; v <= fy + 1 && v < t.ny; ++v) {
        const Index of_y = t.of_y(v);
        if (v != fy && (of_y & 1) == 0) continue;
        const Index upper_y = v < fy ? 1 : 0;
        const Index upper_z = z < fz ? 1 : 0;
        const Index parent = upper_y + (1 + (of_y & 1)) * upper_z;
        if (t.block == 1) {
          add<1>(v, z, parent, t.parent_lines(v, z), first, last, to);
        } else {
          add<0>(v, z, parent, t.parent_lines(v, z), first, last, to);
        }
      }
    }
  }
  KOKKOS_INLINE_FUNCTION Index line_nodes() const { return t.cx; }
  KOKKOS_INLINE_FUNCTION Index line_planes() const { return t.cy; }
};

/// A line is a block's work on a host; else a node is a thread's.
template <class Work>
struct TransferLine {
  Work work;
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t line, const Member&) const {
    const Index ny = work.line_planes();
    work.range(static_cast<Index>(line % ny), static_cast<Index>(line / ny), 0, work.line_nodes());
  }
};
template <class Work>
struct TransferNode {
  Work work;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t node) const {
    const Index nx = work.line_nodes();
    const Index ny = work.line_planes();
    const auto x = static_cast<Index>(node % nx);
    const std::int64_t line = node / nx;
    work.range(static_cast<Index>(line % ny), static_cast<Index>(line / ny), x, x + 1);
  }
};

template <class Exec, class Work>
void transfer(const char* label, const Exec& exec, std::int64_t lines, const Work& work) {
  if constexpr (Tiles<Exec>::tiled) {
    for_each_block(label, exec, lines, 1, TransferLine<Work>{work});
  } else {
    for_each(label, exec, lines * work.line_nodes(), TransferNode<Work>{work});
  }
}

/// y := P x.
template <class S, class R, class Exec>
void multiply(const Exec& exec, const GridTransfer<R, Exec>& p,
              std::type_identity_t<ConstVector<S, Exec>> x, const Vector<S, Exec>& y) {
  transfer("krysol::multigrid(prolong)", exec, p.fine_lines(),
           Prolong<S, R>{arrays_of(p), x.data(), y.data()});
}

/// y := P' x.
template <class S, class R, class Exec>
void multiply_transposed(const Exec& exec, const GridTransfer<R, Exec>& p,
                         std::type_identity_t<ConstVector<S, Exec>> x, const Vector<S, Exec>& y) {
  transfer("krysol::multigrid(restrict)", exec, p.coarse_lines(),
           Restrict<S, R>{arrays_of(p), x.data(), y.data()});
}

}  // namespace krysol::multigrid
