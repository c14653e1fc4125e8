// Partitions the rows into parts with few entries between them, by METIS where it was found.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/order/order_choice.hpp>

namespace krysol {

/// True where Krysol was built with METIS (Debian: libmetis-dev).
bool can_partition();

/// The part of each row, from 0 to parts - 1: of similar size, with few entries between rows of
/// different parts; some may be empty. Otherwise as partition_order.
std::vector<Index> partition_rows(const Offset* row_ptr, const Index* col_idx, Index rows,
                                  Index parts);

/// An order in which the rows of a part stand together: rows / rows_per_part parts of similar size,
/// between which few entries lie, so that the x that a part names stays in a cache. In a part the
/// rows stand as in reverse Cuthill-McKee. Rows i and j are neighbours where A(i, j) or A(j, i) is
/// an entry. row_ptr: [rows + 1], col_idx: [nnz], of a square matrix. The same order on every run.
/// Throws std::invalid_argument where can_partition() is false or the entries are more than METIS
/// can count, std::bad_alloc where METIS finds no memory. Karypis & Kumar, SIAM J. Sci. Comput.
/// 20(1), 1998, DOI 10.1137/S1064827595287997.
Permutation partition_order(const Offset* row_ptr, const Index* col_idx, Index rows,
                            Index rows_per_part);

}  // namespace krysol
