// How many unknowns a node has, by the pattern of a matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::multigrid {

/// The b from 2 to `most` for which the entries fill most of the aligned blocks of b x b that they
/// touch, if that is 0.87 or more, b divides the rows, and blocks of b + 1 are less full
/// by 0.15; 1 where there is none. By 512 block rows for each b, from all over the matrix.
Index rows_of_node(const Offset* row_ptr, const Index* col_idx, Index rows, Index most = 6);

}  // namespace krysol::multigrid
