// What a page shows of a matrix, from the matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include <krysol/analysis/host_rows.hpp>
#include <krysol/report/html/picture_data.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::report::html {

/// Of the matrix as it was read. O(nnz).
template <class S>
MatrixPicture picture_of(const HostCsr<S>& a) {
  constexpr int cells = 96;
  MatrixPicture out;
  const SpyLayout layout = spy_layout(a.rows, a.cols, cells);
  if (layout.height > 0) {
    out.spy = cells_of(spy_density(analysis::pattern_of(a), layout.height, layout.width));
  }
  const Offset* const row_ptr = a.row_ptr.data();
  for (Index i = 0; i < a.rows; ++i) {
    std::size_t bin = 0;
    for (Offset n = row_ptr[i + 1] - row_ptr[i]; n > 0; n /= 2) ++bin;
    if (out.row_lengths.size() <= bin) out.row_lengths.resize(bin + 1);
    ++out.row_lengths[bin];
  }
  const S* const values = a.values.data();
  for (Offset k = 0; k < a.nnz(); ++k) {
    const double size = analysis::magnitude(values[k]);
    if (size > 0 && std::isfinite(size)) {
      ++out.magnitudes[static_cast<int>(std::floor(std::log10(size)))];
    } else if (size == 0) {
      ++out.zeros;
    }
  }
  return out;
}

}  // namespace krysol::report::html
