// Levels that are grids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>

namespace krysol::multigrid {

/// Makes the levels of h, the first of them A scaled by h.scale, as ever coarser grids: every
/// second node of the directions that nodes are strongly connected along, at least options.strength
/// times as strongly as along the strongest of those that still have three nodes. P follows the
/// matrix where nodes are one row, else the places (grid_interpolation.hpp). Where what is strong
/// differs from node to node, smoothers of degree 4 suit it. Sets h.block, h.near_null, h.degree
/// and h.grid. False, with h as it was, where the pattern of A is no grid with nodes of h.block
/// rows, or of two or three where h.block is 1 and not asked for; where P does not hold the vectors
/// of options.near_null; or where a level has a diagonal entry that is not positive. Throws
/// OutOfMemory.
bool coarsen_grids(const HostCsr<double>& a, const HierarchyOptions& options,
                   HostHierarchy<double>& h, Stopwatch& watch);

}  // namespace krysol::multigrid
