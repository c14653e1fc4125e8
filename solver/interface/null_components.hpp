// Null vectors of a matrix that can be seen from its rows: those of Neumann problems and graphs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// Components of the matrix's graph all of whose rows sum to 0, as far as rounding shows:
/// |sum of a(i, :)| <= 32 eps sum of |a(i, :)|. For a symmetric (Hermitian) A, 1 on such a
/// component and 0 elsewhere is a null vector v, and A x = b has solutions only where v'b = 0 for
/// each.
struct NullComponents {
  std::vector<Index> component{};  // [rows] from 0; -1: in none. Empty where there is none at all
  std::vector<Index> size{};       // [components] rows of each

  Index count() const { return static_cast<Index>(size.size()); }
};

/// O(rows) where few rows sum to 0 without being in such a component next to others; else O(nnz).
template <class T>
NullComponents null_components(const HostCsr<T>& a);

/// Rows with one nonzero entry, on the diagonal; in a symmetric matrix so are their columns.
template <class T>
Index rows_of_diagonal_alone(const HostCsr<T>& a);

/// The means of v over each component: the part of v outside the range of A is these numbers on
/// their components.
template <class T>
std::vector<T> means(const NullComponents& null, const Vector<T>& v);

/// |the part of v with these means|_2.
template <class T>
double norm_of_means(const NullComponents& null, const std::vector<T>& mean);

/// v := v + factor (these means on their components).
template <class T>
void add_means(const NullComponents& null, const std::vector<T>& mean, double factor,
               const Vector<T>& v);

}  // namespace krysol
