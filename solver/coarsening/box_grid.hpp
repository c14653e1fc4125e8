// Grids found in the patterns of matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {

/// For subscripts.
inline std::size_t as_size(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Nodes numbered along x, then y, then z.
struct BoxGrid {
  int dimensions = 2;
  std::array<Index, 3> nodes{1, 1, 1};  // in each direction

  Index node(Index x, Index y, Index z) const { return x + nodes[0] * (y + nodes[1] * z); }
  Index size() const { return nodes[0] * nodes[1] * nodes[2]; }
};

/// Place of a node along each direction.
inline std::array<Index, 3> place_in(const BoxGrid& g, Index node) {
  return {node % g.nodes[0], node / g.nodes[0] % g.nodes[1], node / g.nodes[0] / g.nodes[1]};
}

/// The grid of a matrix with `block` rows a node, where each node is connected to such as differ by
/// at most one step in each direction: by the distances between connected nodes, of 1024 from all
/// over the matrix. Nothing where they show none of two or three dimensions with four nodes or more
/// along x and, in three, along y.
std::optional<BoxGrid> box_grid(const Offset* row_ptr, const Index* col_idx, Index rows,
                                Index block);

/// A neighbour dx, dy, dz steps away, each -1, 0 or 1, is direction (dx + 1) + 3 (dy + 1) +
/// 9 (dz + 1) of a node, the node itself direction 13. Neighbours ascend as their directions do.
inline constexpr int grid_directions = 27;
inline constexpr int grid_own = 13;

/// Steps along x, y and z to the neighbour in a direction.
inline std::array<Index, 3> steps_of(int direction) {
  return {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
}

/// Bit d: a node at that place has a neighbour in direction d.
std::uint32_t directions_inside(const BoxGrid& grid, const std::array<Index, 3>& place);

/// Which neighbour each entry of a matrix on a grid is of.
struct GridPattern {
  BoxGrid grid;
  HostArray<std::uint8_t> direction;  // [nnz]
  std::uint32_t present = 0;          // bit d: some node has an entry in direction d
};

/// Of each entry, all of which are looked at. Nothing where one is of no neighbour, or the nodes of
/// a row's entries do not ascend.
std::optional<GridPattern> grid_pattern(const Offset* row_ptr, const Index* col_idx, Index rows,
                                        Index block, const BoxGrid& grid);

}  // namespace krysol::multigrid
