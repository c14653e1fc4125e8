// Kokkos Kernels' matrices in krysol::solve and krysol::Solver. For programs that have Kokkos
// Kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <KokkosSparse_CrsMatrix.hpp>

#include <krysol/solver/interface/csr_view.hpp>

namespace krysol {

/// KokkosSparse::CrsMatrix of any ordinals, offsets and memory; its Views are kept alive. What is
/// shared and what a pass is made for: see MatrixInput. Rows must be sorted
/// (KokkosSparse::sort_crs_matrix). One in a device's memory is copied to the host, where matrices
/// are looked at.
template <class S, class Ordinal, class Device, class Traits, class Size>
struct MatrixAdapter<KokkosSparse::CrsMatrix<S, Ordinal, Device, Traits, Size>> {
  using scalar = std::remove_const_t<S>;
  static constexpr bool owned = false;
  static CsrArrays arrays(const KokkosSparse::CrsMatrix<S, Ordinal, Device, Traits, Size>& a) {
    // An empty matrix has no row pointers there.
    CsrArrays to =
        csr_view(static_cast<std::int64_t>(a.numRows()), static_cast<std::int64_t>(a.numCols()),
                 a.graph.row_map, a.graph.entries, a.values)
            .arrays;
    if (a.numRows() == 0) to.row_ptr = {};
    return to;
  }
};

}  // namespace krysol
