// A matrix whose values are in another precision.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/multigrid/cycle_kernels.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::multigrid {

/// The matrix with each value rounded to S, or as it is; the pattern is the same arrays. Nothing is
/// checked, unlike in reduced_precision: levels are scaled. Bytes a value: 12 (double to float).
template <class S, class W>
HostCsr<S> rounded_values(const HostCsr<W>& a) {
  if constexpr (std::is_same_v<S, W>) {
    return a;
  } else {
    HostCsr<S> out;
    out.rows = a.rows;
    out.cols = a.cols;
    out.row_ptr = a.row_ptr;
    out.col_idx = a.col_idx;
    out.values = allocate<decltype(out.values)>("multigrid.values", a.nnz());
    host_for("krysol::multigrid(rounded)", a.nnz(),
             [from = a.values.data(), to = out.values.data()](std::int64_t k) {
               to[k] = rounded<S>(from[k]);
             });
    return out;
  }
}

}  // namespace krysol::multigrid
