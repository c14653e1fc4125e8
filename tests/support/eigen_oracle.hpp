// Eigen's dense solvers as oracles. Their templates are compiled in eigen_oracle.cpp alone: they
// take a compiler longer than the tests do, and copies that are optimised otherwise than the
// library's would round otherwise. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <vector>

#include "dense_matrix.hpp"

namespace krysol_tests {

/// A V = V diag(values), V'V = I.
struct HermitianEigen {
  std::vector<double> values;             // [n] ascending
  Dense<std::complex<double>> vectors{};  // [n x n] column k belongs to values[k]
};
HermitianEigen hermitian_eigen(const Dense<std::complex<double>>& a);

/// [min(rows, cols)] descending.
std::vector<double> singular_values(const Dense<std::complex<double>>& a);

/// Whether the sparse Cholesky factorization of the matrix with these entries meets positive pivots
/// only.
bool has_cholesky(int n, const std::vector<int>& row_idx, const std::vector<int>& col_idx,
                  const std::vector<double>& values);

/// A B, and |A| |B|, by which its rounding error is bounded.
template <class E>
struct EigenProduct {
  Dense<E> value{};
  Dense<decltype(std::abs(E{}))> size{};
};
template <class E>
EigenProduct<E> eigen_product(const Dense<E>& a, const Dense<E>& b);

}  // namespace krysol_tests
