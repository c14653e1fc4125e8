// From the unknowns of a level to those of the finer one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include <krysol/solver/coarsening/aggregation.hpp>

namespace krysol::multigrid {

/// Vectors that A turns into almost nothing, which every level must hold: constants for a
/// Laplacian, rigid-body motions in elasticity.
template <class S>
struct NearNullSpace {
  Index count = 0;      // k
  HostArray<S> values;  // [rows k] that of vector c in row i at k i + c
};

/// One vector of ones for each of `block` unknowns a node.
template <class S>
NearNullSpace<S> constants(Index rows, Index block);

/// T, with k columns an aggregate: row i has q[k i .. k i + k) in those of the aggregate that the
/// node of row i is in.
template <class S>
struct Tentative {
  HostArray<S> q;           // [rows k]; 0 in rows of nodes that are in no aggregate
  NearNullSpace<S> coarse;  // Bc, for the rows of the next level
};

/// T with orthonormal columns such that B = T Bc in the rows of nodes that are in an aggregate: for
/// each aggregate the factors Q and R of its rows of B. A column that depends on the others in
/// those rows is 0 in T. Vanek, Mandel & Brezina 1996, algorithm 4.1.
template <class S>
Tentative<S> tentative(const Aggregates& aggregates, Index block, const NearNullSpace<S>& b);

/// A bound of the eigenvalues of D^-1 F, see `smoothed`, from that of its row sums and one of those
/// of A. Row sums are near what they bound for an M-matrix; elsewhere those of A are the better
/// guess.
inline double bound_of_filtered(double largest_sum, double largest) {
  constexpr double of_m_matrix = 2.2;
  return largest_sum <= of_m_matrix ? largest_sum : std::min(largest_sum, std::max(largest, 1.0));
}

/// P = (I - omega D^-1 F) T, omega = 4 / 3 over the largest eigenvalue of D^-1 F, for an A with
/// ones on its diagonal. F is A without the weak entries; those between equal unknowns of two nodes
/// are added to its diagonal D such that, with one unknown a node, F b = A b for the near-null
/// vector b: P then reproduces what A turns into 0. Vanek, Mandel & Brezina 1996, section 5.1.
/// largest: a bound of the eigenvalues of A.
template <class S>
HostCsr<S> smoothed(const HostCsr<S>& a, const Strength& strength, double largest,
                    const Aggregates& aggregates, const NearNullSpace<S>& b, const Tentative<S>& t,
                    RowMemory<S>& memory);

}  // namespace krysol::multigrid
