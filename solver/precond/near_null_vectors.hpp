// What a user knows of the vectors that A turns into almost nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// Vectors that A turns into almost nothing beside its largest eigenvalue: constants for a
/// Laplacian, the motions of a rigid body in elasticity. Multigrid keeps them on every level.
struct NearNullVectors {
  Index count = 0;
  std::vector<double> values;  // [rows count] that of vector c in row i at count i + c
  Index block = 0;             // rows a node, where that is known; else 0
};

inline constexpr Index most_near_null_vectors = 24;

/// Of an elastic body whose nodes have as many rows as dimensions, displacements along x, y(, z):
/// the translations, then the rotations u_p = -x_q, u_q = x_p around the middle of the nodes for
/// (p, q) = (x, y), (x, z), (y, z), scaled to be about as large. coordinates: [nodes dimensions]
/// node by node. Three vectors in two dimensions, six in three. Throws std::invalid_argument for
/// other dimensions, and where a number is missing or not finite.
NearNullVectors rigid_body_modes(const std::vector<double>& coordinates, Index dimensions);

/// Throws std::invalid_argument, naming the number, unless there are 1 to
/// most_near_null_vectors vectors of finite numbers for so many rows, and nodes of `block` rows
/// make those up.
void check_near_null(const NearNullVectors& v, Index rows);

/// For rows in another order: row i of the result is row order[i]. Nodes are not known then.
NearNullVectors reordered(const NearNullVectors& v, const std::vector<Index>& order);

}  // namespace krysol
