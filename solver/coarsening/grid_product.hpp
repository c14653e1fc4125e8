// P'AP on grids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/grid_interpolation.hpp>

namespace krysol::multigrid {

/// A matrix with `block` rows a node of a grid.
struct GridMatrix {
  HostCsr<double> a;
  GridPattern pattern;
  HostArray<double> size;  // [rows] of a product P'AP: the sums of P(i, row)^2 A(i, i)
};

/// P'AP with P the interpolation of nodes (see grid_interpolation.hpp), the same for each unknown
/// of a node; of a symmetric A, so that entries to the nodes before a node are those of their rows.
/// Rows hold an entry for each neighbour in the directions that some row may need. Each row is
/// summed by itself, in the order of the nodes and their entries: no bit depends on the number of
/// threads. repeated: of the rows of A, see repeated_rows.
GridMatrix grid_product(const HostCsr<double>& a, Index block, const GridPattern& pattern,
                        const GridCoarsening& c, const HostArray<std::uint8_t>& repeated,
                        const Interpolation& interpolation);

/// The values alone, and as result the sizes, where `to` is such a product already: of matrices
/// with the pattern of A.
HostArray<double> grid_product_values(const HostCsr<double>& a, Index block,
                                      const GridPattern& pattern, const GridCoarsening& c,
                                      const HostArray<std::uint8_t>& repeated,
                                      const Interpolation& interpolation,
                                      const HostCsr<double>& to);

}  // namespace krysol::multigrid
