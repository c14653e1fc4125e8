// Levels that are grids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>

namespace krysol::multigrid {

/// The grid of A, where entries are of neighbours alone: of those that the distances between the
/// nodes of its entries show, for nodes of `block` rows, or of one to three where block is 1 and
/// was not asked for, the first that has_all_entries(rows a node, grid) takes.
std::optional<GridStart> find_grid(
    const HostCsr<double>& a, Index block, const HierarchyOptions& options,
    const std::function<bool(Index, const BoxGrid&)>& has_all_entries);

/// The directions to coarsen along: those with three nodes that are at least `strong` times as
/// strong as the strongest of these.
std::array<bool, 3> strong_directions(const DirectionStrengths& strengths, double strong,
                                      const BoxGrid& grid);

/// Whether what is strong differs from node to node, so that no choice of directions suits all.
bool are_uneven(const DirectionStrengths& strengths, const std::array<bool, 3>& halved);

/// Steps of the smoothers that suit those.
inline constexpr int degree_of_uneven_grids = 4;

/// Makes the levels of h, the first of them A scaled by h.scale, as ever coarser grids: every
/// second node of the directions that nodes are strongly connected along, at least options.strength
/// times as strongly as along the strongest of those that still have three nodes. P follows the
/// matrix where nodes are one row, else the places (grid_interpolation.hpp). Where what is strong
/// differs from node to node, smoothers of degree 4 suit it. Sets h.block, h.near_null, h.degree
/// and h.grid. first: may make first levels, or null. False, with nothing but h.seconds changed,
/// where the pattern of A is no grid with nodes of h.block rows, or of two or three where h.block
/// is 1 and not asked for; where P does not hold the vectors of options.near_null; or where a level
/// has a diagonal entry that is not positive. Throws OutOfMemory.
bool coarsen_grids(const HostCsr<double>& a, const HierarchyOptions& options,
                   const FirstGrids& first, HostHierarchy<double>& h, Stopwatch& watch);

}  // namespace krysol::multigrid
