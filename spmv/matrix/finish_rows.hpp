// The last step of assembly: sorts the entries of each row and sums duplicates.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Sorts the entries of each row, which stand in any order of their columns, and sums those of one
/// place in the order in which they stand. `matrix` has its sizes and arrays, and `row_ptr` [rows +
/// 1] says where the rows lie; `duplicates` is set as `to_csr` counts them for a file with that
/// `symmetry`. What duplicates leave free is given back where it is more than an eighth, unless
/// memory is `scarce`: that takes a copy.
template <class S>
void finish_rows(Assembled<S>& out, Symmetry symmetry, bool scarce = false);

}  // namespace krysol
