// Which unknowns of a matrix are strongly connected.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {

/// Nodes are `block` rows each, one after the other. Node I is strongly connected to node J where
///
///     |A_IJ| > theta sqrt(m_I m_J),  m_I = max over K != I of |A_IK|
///
/// with |.| the Frobenius norm of a block, |a_ij| of an entry. The relation is symmetric where A
/// is. It compares neighbours with each other, as in Ruge & Stuben 1987, and not with the diagonal,
/// as in Vanek, Mandel & Brezina 1996: 26 equal neighbours would all be weak beside their sum.
struct Strength {
  Index block = 1;
  Index nodes = 0;
  HostArray<const Offset> row_ptr;  // [nodes + 1] of the graph; of A where block is 1
  HostArray<const Index> col_idx;   // neighbours of each node, and itself
  HostArray<std::uint8_t> weight;   // 0: the node itself, or a weak neighbour; else 1 to 255 by
                                    // |A_IJ| / sqrt(m_I m_J)
  HostArray<std::uint8_t> weight_of_row;  // [nnz of A] that of each entry's block; `weight` itself
                                          // where block is 1
};

/// a.rows must be a multiple of block; A with ones on its diagonal. theta from 0 on.
template <class S>
Strength strong_connections(const HostCsr<S>& a, Index block, double theta);

}  // namespace krysol::multigrid
