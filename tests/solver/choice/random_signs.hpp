// A matrix that multigrid is no good for, though its pattern says otherwise.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <krysol/spmv/matrix/host_csr.hpp>
#include "problems.hpp"

namespace krysol_tests {

/// D A D with D(i,i) = 1 or -1 at random: to jacobi it is what A is, but what multigrid
/// interpolates is smooth for A alone.
inline krysol::HostCsr<double> with_random_signs(krysol::HostCsr<double> a) {
  const auto random = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
  const auto sign = [&random](krysol::Index i) {
    return random[static_cast<std::size_t>(i)] < 0 ? -1 : 1;
  };
  for (krysol::Index i = 0; i < a.rows; ++i) {
    for (krysol::Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      a.values(k) *= sign(i) * sign(a.col_idx(k));
    }
  }
  return a;
}

}  // namespace krysol_tests
