// Rotations of an elastic body, where its nodes are a grid.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <optional>

#include <krysol/solver/multigrid/prolongation.hpp>

namespace krysol::multigrid {

/// Nodes numbered along x, then y, then z.
struct BoxGrid {
  int dimensions = 2;
  std::array<Index, 3> nodes{1, 1, 1};  // in each direction
};

/// The grid of a matrix with `block` rows a node, where each node is connected to such as differ by
/// at most one step in each direction: by the distances between connected nodes, of 1024 from all
/// over the matrix. Nothing where they show none of two or three dimensions with four nodes or more
/// along x and, in three, along y.
std::optional<BoxGrid> box_grid(const Offset* row_ptr, const Index* col_idx, Index rows,
                                Index block);

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
