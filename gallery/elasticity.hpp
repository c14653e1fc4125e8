// Linear elasticity in trilinear hexahedra: three unknowns a node, 3 x 3 blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::gallery {

/// Of one element. Unknown 3 c + d is the displacement along d of corner c, which lies at
/// (c & 1, c >> 1 & 1, c >> 2).
using ElementStiffness = std::array<std::array<double, 24>, 24>;

/// K = integral of B^T D B over the unit cube by 2 x 2 x 2 Gauss points, which is exact there; D
/// is that of an isotropic material. Exactly symmetric.
/// T. Hughes: The finite element method. Dover 2000, chapters 2.7 and 3.
ElementStiffness hexahedron_stiffness(double youngs_modulus, double poissons_ratio);

/// cells[0] x cells[1] x cells[2] unit cubes of E = 1, nu = 0.3, clamped where z = 0: those nodes
/// are left out. The others are numbered along x, then y, then z; with X = cells[0] + 1 and
/// Y = cells[1] + 1, node (x, y, z) has the rows  3 ((z - 1) X Y + y X + x) + {0, 1, 2}.
/// 3 X Y cells[2] rows of up to 81 entries, zeros inside blocks kept as elements leave them.
/// Exactly symmetric and positive definite; of the six rigid motions the product is zero in every
/// row with z >= 2.
HostCsr<double> elasticity(const std::array<std::int64_t, 3>& cells);

}  // namespace krysol::gallery
