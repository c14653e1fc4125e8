// Rotations of an elastic body, where its nodes are a grid.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include <krysol/solver/coarsening/box_grid.hpp>
#include <krysol/solver/coarsening/prolongation.hpp>

namespace krysol::multigrid {

/// Constants of each unknown of a node and, where nodes have as many unknowns as their grid has
/// dimensions, the rotations that A turns into 0, as it does constants. In a plane (p, q)
///
///     u_p = alpha x_q, u_q = beta x_p
///
/// with x the place in the grid from its middle and the alpha and beta of the least |A u| over the
/// rows that A turns constants into 0 in; so the steps of the grid may differ in length. One is
/// taken where the square of that least is below 1e-6 of the mean for u_p = x_q and u_q = x_p
/// alone, which stretch the body as well. The unknowns of a node are displacements along x, y, z or
/// z, y, x. Numbers are as large as the constants in the mean.
template <class S>
NearNullSpace<S> near_null_space(const HostCsr<S>& a, Index block);

/// The same where there are rotations; else nothing, which costs no array.
template <class S>
std::optional<NearNullSpace<S>> with_rotations(const HostCsr<S>& a, Index block);

}  // namespace krysol::multigrid
