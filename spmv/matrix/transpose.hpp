// The transpose of a matrix on the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// A'. Columns ascend where they do in A. O(rows + cols + nnz).
template <class S>
HostCsr<S> transposed(const HostCsr<S>& a) {
  HostCsr<S> t;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr = zeros<Offset>(Host{}, "transposed.row_ptr", std::int64_t{t.rows} + 1);
  t.col_idx = allocate<decltype(t.col_idx)>("transposed.col_idx", a.nnz());
  t.values = allocate<decltype(t.values)>("transposed.values", a.nnz());
  const Offset* const row_ptr = a.row_ptr.data();
  const Index* const col_idx = a.col_idx.data();
  const S* const values = a.values.data();
  Offset* const ends = t.row_ptr.data();
  for (Offset k = 0; k < a.nnz(); ++k) ++ends[col_idx[k] + 1];
  for (Index j = 0; j < t.rows; ++j) ends[j + 1] += ends[j];
  // ends[j] moves to the end of row j while that is filled, which is where row j + 1 begins.
  Index* const to_col = t.col_idx.data();
  S* const to_value = t.values.data();
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Offset place = ends[col_idx[k]]++;
      to_col[place] = i;
      to_value[place] = values[k];
    }
  }
  std::copy_backward(ends, ends + t.rows, ends + t.rows + 1);
  ends[0] = 0;
  return t;
}

}  // namespace krysol
