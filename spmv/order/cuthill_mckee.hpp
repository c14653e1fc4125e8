// Rows that name each other near each other: reverse Cuthill-McKee.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/types.hpp>
#include <krysol/spmv/order/order_choice.hpp>

namespace krysol {

/// Reverse Cuthill-McKee: breadth first from a pseudo-peripheral row of each component, neighbours
/// by ascending degree, and all of it backwards. Rows that name each other come near each other, so
/// that a multiplication finds its entries of x in the cache, and triangles a short reach.
/// Neighbours of a row are the columns that it names. row_ptr: [rows + 1], col_idx: [nnz], of a
/// square matrix. Serial; O(nnz + sum of degree log degree). Cuthill & McKee, ACM '69, DOI
/// 10.1145/800195.805928; George & Liu, ACM TOMS 5(3), 1979, DOI 10.1145/355841.355845.
Permutation reverse_cuthill_mckee(const Offset* row_ptr, const Index* col_idx, Index rows);

/// Rows a level, in the mean, of a search breadth first from the far end of the component of row 0:
/// in the graph of a mesh about what separates one half of it from the other. 0 where less than
/// half of the rows are in that component. Serial; O(nnz).
double mean_level_width(const Offset* row_ptr, const Index* col_idx, Index rows);

/// The mean distance of an entry from the diagonal, |i - j|, in rows.
double mean_bandwidth(const Offset* row_ptr, const Index* col_idx, Index rows);

}  // namespace krysol
