// From the nodes of a coarser grid to those of a grid.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <vector>

#include <krysol/solver/coarsening/box_grid.hpp>

namespace krysol::multigrid {

/// One direction of a grid: which of its planes of nodes the next level keeps. The first and the
/// last are kept, and of two neighbours at least one.
struct CoarsePlanes {
  std::vector<Index>
      below;  // [planes] the last kept one up to each, by its number on the next level
  std::vector<Index> kept;  // [planes of the next level]
  std::vector<double>
      upper;  // [planes] between two kept ones: the share of the upper one, by place

  bool between(Index plane) const {
    return kept[static_cast<std::size_t>(below[static_cast<std::size_t>(plane)])] != plane;
  }
};

/// Grids of two levels.
struct GridCoarsening {
  BoxGrid fine;
  BoxGrid coarse;
  std::array<CoarsePlanes, 3> planes;

  /// [planes along x, then y, then z] 2 below + between.
  std::vector<Index> parents_of_planes() const;
  /// Nodes along x from one kept node to the next.
  Index period() const { return fine.nodes[0] == coarse.nodes[0] ? 1 : 2; }
};

/// P [nodes, nodes of the coarse grid].
struct Interpolation {
  HostCsr<double> p;
  HostArray<std::uint8_t> repeated;  // [nodes] 1: weights are those of the node a period before, in
                                     // the same line
};

/// The places of planes of nodes in each direction.
using GridPlaces = std::array<std::vector<double>, 3>;

/// 0, 1, 2, ... in each direction.
GridPlaces uniform_places(const BoxGrid& grid);

/// Every second plane of `halved` directions is kept, and the last one; of the others all are.
/// places: of `fine`, then of the coarse grid.
GridCoarsening coarsen(const BoxGrid& fine, const std::array<bool, 3>& halved, GridPlaces& places);

/// An entry is much weaker than another below this share of it; the margin keeps coefficients that
/// are ten times as large on one side, whatever they were scaled with.
inline constexpr double share_of_much_weaker = 0.1 * (1 - 1e-10);

/// How strongly the nodes of a grid are connected, by the entries to the same unknown.
struct DirectionStrengths {
  /// Along each direction: the sum of the entries to all neighbours one step on or back, over that
  /// along the strongest; in the mean over all nodes.
  std::array<double, 3> mean{};
  /// The share of the nodes whose largest entries along x and y, y and z, z and x differ by more
  /// than ten times.
  std::array<double, 3> uneven{};
};

/// A: with `block` rows a node.
DirectionStrengths direction_strengths(const HostCsr<double>& a, Index block,
                                       const GridPattern& pattern);

/// [nodes] 1 where the rows of a node are those of the node `period` before it along x, moved with
/// it: where coefficients are constant, what is made from them need not be made again.
HostArray<std::uint8_t> repeated_rows(const HostCsr<double>& a, Index block, const BoxGrid& grid,
                                      Index period);

/// Kept nodes take the value of their own. Rows add up to 1, or are 0 where a node is connected to
/// no other; they have an entry for each corner of a coarse cell that a node is between, ascending.
/// Multilinear: by the places of planes, for each unknown of a node alike; it is exact for what is
/// linear in the places, so for the motions of a rigid body.
Interpolation multilinear_interpolation(const GridCoarsening& c);

/// The least sum of weights by a matrix over the sum of their absolute values, and over that of all
/// entries of the row.
inline constexpr double least_sum_of_weights = 0.3;
inline constexpr double rounding_of_weights = 1e-10;

/// Likewise, by the entries of a matrix with one row a node: a node between kept planes of some
/// directions takes the mean of its neighbours along these, weighted with its entries, summed over
/// the other directions; first nodes on edges of coarse cells, then on faces, then inside. It
/// follows jumps of coefficients. Where weights would have either sign to much the same amount, or
/// are what rounding left of 0, the places decide. repeated: of A's rows. Dendy, J. Comput. Phys.
/// 48, 1982, DOI 10.1016/0021-9991(82)90057-2; as there but for rows that do not add up to 0, whose
/// weights are normalized.
Interpolation operator_interpolation(const HostCsr<double>& a, const GridPattern& pattern,
                                     const GridCoarsening& c,
                                     const HostArray<std::uint8_t>& repeated);

}  // namespace krysol::multigrid
