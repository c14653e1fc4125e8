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
/// of a node. Rows hold an entry for each neighbour in the directions that some row may need. Each
/// row is summed by itself, in the order of the nodes and their entries: no bit depends on the
/// number of threads. repeated: of the rows of A, see repeated_rows.
GridMatrix grid_product(const HostCsr<double>& a, Index block, const GridPattern& pattern,
                        const GridCoarsening& c, const HostArray<std::uint8_t>& repeated,
                        const Interpolation& interpolation);

}  // namespace krysol::multigrid
