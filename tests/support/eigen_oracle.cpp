// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "eigen_oracle.hpp"

#include <algorithm>

#include <Eigen/Eigenvalues>
#include <Eigen/Sparse>

namespace krysol_tests {
namespace {

template <class E>
using RowMajor = Eigen::Matrix<E, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class E>
Eigen::Map<const RowMajor<E>> map(const Dense<E>& a) {
  return {a.entries.data(), static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols)};
}

template <class E>
Dense<E> entries(const RowMajor<E>& a) {
  return {static_cast<std::size_t>(a.rows()), static_cast<std::size_t>(a.cols()),
          std::vector<E>(a.data(), a.data() + a.size())};
}

}  // namespace

HermitianEigen hermitian_eigen(const Dense<std::complex<double>>& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> eigen{Eigen::MatrixXcd(map(a))};
  const Eigen::VectorXd& values = eigen.eigenvalues();
  return {{values.data(), values.data() + values.size()},
          entries<std::complex<double>>(eigen.eigenvectors())};
}

std::vector<double> singular_values(const Dense<std::complex<double>>& a) {
  // The eigenvalues of [0 A; A' 0] are the singular values, their negatives, and zeros.
  const std::size_t n = a.rows + a.cols;
  Dense<std::complex<double>> both{n, n};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) {
      both(i, a.rows + j) = a(i, j);
      both(a.rows + j, i) = std::conj(a(i, j));
    }
  }
  std::vector<double> values = hermitian_eigen(both).values;
  std::reverse(values.begin(), values.end());
  values.resize(std::min(a.rows, a.cols));
  return values;
}

bool has_cholesky(int n, const std::vector<int>& row_idx, const std::vector<int>& col_idx,
                  const std::vector<double>& values) {
  std::vector<Eigen::Triplet<double>> triplets;
  for (std::size_t k = 0; k < values.size(); ++k) {
    triplets.emplace_back(row_idx[k], col_idx[k], values[k]);
  }
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>(matrix).info() == Eigen::Success;
}

template <class E>
EigenProduct<E> eigen_product(const Dense<E>& a, const Dense<E>& b) {
  using Real = decltype(std::abs(E{}));
  return {entries<E>(map(a).lazyProduct(map(b))),
          entries<Real>(map(a).cwiseAbs().lazyProduct(map(b).cwiseAbs()))};
}
template EigenProduct<float> eigen_product(const Dense<float>&, const Dense<float>&);
template EigenProduct<double> eigen_product(const Dense<double>&, const Dense<double>&);
template EigenProduct<std::complex<float>> eigen_product(const Dense<std::complex<float>>&,
                                                         const Dense<std::complex<float>>&);
template EigenProduct<std::complex<double>> eigen_product(const Dense<std::complex<double>>&,
                                                          const Dense<std::complex<double>>&);

}  // namespace krysol_tests
