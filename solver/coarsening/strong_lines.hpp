// Lines of rows that are strongly coupled to the one before.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::multigrid {

/// All rows, parted into lines, and for each line the factors L D L^H of the tridiagonal matrix of
/// its diagonal entries and of the couplings from each row to the one before. A row that is in no
/// line is one by itself.
template <class S>
struct StrongLines {
  std::vector<Index> begin;            // [lines + 1] place of each line's first row
  std::vector<Index> row;              // [rows] at each place
  std::vector<S> lower;                // [rows] L's entry of the row before; 0 for a first one
  std::vector<double> inverse_pivots;  // [rows] 1 / D
  Index coupled_rows = 0;              // in lines of several
};

/// Rows i and j are strongly coupled where |a_ij| > 0.5 sqrt(m_i m_j) with m_i the largest |a_ik|,
/// k != i. Those with one or two such couplings make lines, along couplings between them; a ring is
/// opened at its smallest row. The tridiagonal part of a positive definite matrix need not be
/// positive definite: a line ends where a pivot would be below 0.01. A: ones on its diagonal, or 0
/// in a row of zeros.
template <class S>
StrongLines<S> strong_lines(const HostCsr<S>& a);

}  // namespace krysol::multigrid
