// The whole analysis of a matrix, as matrix_info prints it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/analysis/host_rows.hpp>
#include <krysol/analysis/matrix_report.hpp>

namespace krysol::analysis {

struct AnalysisOptions {
  bool lanczos = true;
  int lanczos_steps = 60;
};

/// Everything but `file`, times and versions. O(rows + cols + nnz) memory, and as much time but for
/// sorting and the Lanczos steps, which are that long each. Columns of `a` must ascend in a row, as
/// to_csr leaves them. Instantiated for double and Kokkos::complex<double>.
template <class S>
MatrixReport matrix_report_of(const HostCsr<S>& a, const AnalysisOptions& options = {});

}  // namespace krysol::analysis
