// Matrices that are made, not read: the model problems of solvers, and random ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::gallery {

/// A line of `--list`.
struct ProblemInfo {
  std::string_view name;
  std::string_view what;
};
std::vector<ProblemInfo> list_problems();

/// The matrix of that name, with its size after a colon:
///   poisson:N     7-point Laplacian on N^3 points, homogeneous Dirichlet boundary
///   poisson27:N   27-point Laplacian on N^3 points: 26, and -1 for all neighbours
///   poisson2d:N   5-point Laplacian on N^2 points
///   jumps:N       7-point finite volumes on N^3 cells, each with a coefficient of 1e-3 to 1e3
///   anisotropy:N  5 points on N^2, 1000 times stronger along x
///   rotated:N[:D] bilinear elements on N^2 squares, clamped at one side, 100 times stronger along
///                 D degrees from x (default: 30)
///   fem:N         27-point stencil on N^3 nodes times a 3 x 3 block, three unknowns a node
///   elasticity:N  N^3 trilinear hexahedra of a linear elastic cube, clamped at one side
///   beam:N        N x N x 4 N of them, clamped at one end
///   beam2d:N      the same in plane strain, N x 4 N bilinear elements
///   neumann:N     7 points on N^3 without boundary values: constants are the null space
///   neumann2d:N   the same with 5 points on N^2
///   wathen:N      N^2 elements of eight nodes with random densities (Wathen 1987)
///   mesh:N        linear tetrahedra, about N unknowns, numbered as mesh generators do
///   laplacian:N[:P]  of a random graph of N nodes, 7 entries a row on average, in P parts that
///                 are not connected (default: 1): each has constants in the null space
///   graph:N       N rows of power-law lengths, 17 on average, columns crowded at the front
///   random:N[:D]  N x N with a share D of places filled (default: 0.01), at random
/// All but the last two are symmetric, and positive definite but for neumann, neumann2d and
/// laplacian, which are semidefinite. The same name is the same matrix on every machine. Throws
/// std::invalid_argument for others, OutOfMemory where there is less memory than it takes.
HostCsr<double> make_problem(std::string_view text);

/// True for names of problems whose matrix equals its transpose: all but graph and random.
bool is_symmetric_problem(std::string_view text);

/// True where the text looks like a problem and not like a file's name.
bool is_problem(std::string_view text);

}  // namespace krysol::gallery
