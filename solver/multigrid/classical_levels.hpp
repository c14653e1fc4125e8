// Levels by classical coarsening.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>

namespace krysol::multigrid {

/// Entries of a row of P.
inline constexpr Index most_of_a_row = 4;
/// Rows of the next level over those of this.
inline constexpr double least_classical_coarsening = 0.9;

/// Makes the levels of h, the first of them A scaled by h.scale, by independent sets and
/// extended+i interpolation with four entries a row (classical.hpp); the first options.aggressive
/// of them by doing so twice, which leaves a fraction of the unknowns and of the nonzeros. Unknowns
/// of a node of h.block rows are coarsened apart from each other. Goes on from what `first` makes.
/// Sets h.near_null and h.coarsening. Throws as make_hierarchy does. Ruge & Stuben, in: Multigrid
/// Methods, SIAM 1987, chapter 4.
void coarsen_classically(const HostCsr<double>& a, const HierarchyOptions& options,
                         const FirstClassical& first, HostHierarchy<double>& h, Stopwatch& watch);

}  // namespace krysol::multigrid
