// Bilinear elements on a grid of squares: anisotropic diffusion and plane strain.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::gallery {

/// Of one element with c unknowns a corner: [4 c, 4 c] row by row. Unknown c p + d is unknown d of
/// corner p, which lies at (p & 1, p >> 1).
struct SquareStiffness {
  std::size_t unknowns = 1;  // c, 1 or 2
  std::vector<double> entries;
};

/// K = integral of grad N_a' D grad N_b by 2 x 2 Gauss points, which is exact: D has the eigenvalue
/// `ratio` along the direction at `degrees` to x, and 1 across. Exactly symmetric.
SquareStiffness diffusion_stiffness(double ratio, double degrees);

/// Of plane strain, E = 1, as hexahedron_stiffness (gallery/elasticity.hpp).
SquareStiffness plane_strain_stiffness(double poissons_ratio);

/// cells[0] x cells[1] unit squares, clamped where y = 0: those nodes are left out. The others are
/// numbered along x, then y; node (x, y) has the rows c ((y - 1) (cells[0] + 1) + x) + {0 .. c -
/// 1}. Zeros inside blocks are kept. Exactly symmetric and positive definite.
HostCsr<double> squares(const std::array<std::int64_t, 2>& cells, const SquareStiffness& element);

}  // namespace krysol::gallery
