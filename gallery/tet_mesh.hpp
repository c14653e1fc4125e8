// A Laplacian on an unstructured mesh of tetrahedra, numbered as a mesh generator would.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::gallery {

/// A box of (n + 1)^3 cells whose inner points, n^3 of them, are moved by up to 0.15 of a cell
/// along each axis. Each cell is cut into six tetrahedra: every point has a random priority; each
/// face is cut by the diagonal through its point of the lowest, so that neighbours agree, and the
/// cell's point of the lowest is joined to the triangles of the three faces that it is not on
/// (J. Dompierre et al.: How to subdivide pyramids, prisms and hexahedra into tetrahedra. 8th
/// International Meshing Roundtable, 1999). A node has 14 neighbours on average, from 6 up to 26.
struct TetMesh {
  using Point = std::array<double, 3>;

  std::int64_t n = 0;
  /// [n^3] inner points, counted along x, y, z, to rows and back. Numbers are those of a Delaunay
  /// generator: half of the points, at random, come last, a quarter before them and so on, each
  /// round along a Morton curve (N. Amenta, S. Choi, G. Rote: Incremental constructions con BRIO.
  /// SoCG 2003, DOI 10.1145/777792.777824).
  std::vector<Index> row_of_node;
  std::vector<Index> node_of_row;
};

/// n^3 inner points, as near to `rows` as it gets.
TetMesh make_tet_mesh(std::int64_t rows);

/// Where the node of a row lies, in widths of a cell.
TetMesh::Point position(const TetMesh& mesh, Index row);

/// A(i, j) = integral of grad N_i . grad N_j, linear elements; the boundary's nodes are eliminated.
/// Exactly symmetric and positive definite. A row all of whose neighbours are inner points sums to
/// zero, and its product with any linear function of the position is zero.
HostCsr<double> stiffness(const TetMesh& mesh);

}  // namespace krysol::gallery
