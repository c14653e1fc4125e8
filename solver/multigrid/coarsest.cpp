// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/coarsest.hpp>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol::multigrid {
namespace {

using Matrix = Eigen::MatrixXd;

/// A, or [Re A, -Im A; Im A, Re A] of a complex A, whose (pseudo-)inverse has the same form: one
/// set of Eigen's routines to compile.
template <class S>
Matrix as_real(const HostCsr<S>& a) {
  const Index n = a.rows;
  const Index rows = is_complex<S> ? 2 * n : n;
  Matrix m = Matrix::Zero(rows, rows);
  for (Index i = 0; i < n; ++i) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const Index j = a.col_idx.data()[k];
      const S v = a.values.data()[k];
      m(i, j) += real_part(v);
      if constexpr (is_complex<S>) {
        m(n + i, n + j) += real_part(v);
        m(n + i, j) += imaginary_part(v);
        m(i, n + j) -= imaginary_part(v);
      }
    }
  }
  // Rows that were emptied are no part of the null space: nothing leads to them.
  for (Index i = 0; i < rows; ++i) {
    if (m.row(i).isZero(0)) m(i, i) = 1;
  }
  return (m + m.transpose()) / 2;
}

Matrix pseudo_inverse(const Matrix& a, double least_share, Index& null_space) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solved(a);
  const auto& lambda = solved.eigenvalues();
  const double least = least_share * lambda(lambda.size() - 1);
  if (lambda(0) < -least) {
    throw PreconditionerRefusal(
        fmt::format("amg: the coarsest matrix has an eigenvalue of {:.3g} of its largest",
                    lambda(0) / lambda(lambda.size() - 1)),
        -1);
  }
  Eigen::VectorXd factor = Eigen::VectorXd::Zero(lambda.size());
  null_space = 0;
  for (Eigen::Index k = 0; k < lambda.size(); ++k) {
    if (lambda(k) > least) {
      factor(k) = 1 / lambda(k);
    } else {
      ++null_space;
    }
  }
  return solved.eigenvectors() * factor.asDiagonal() * solved.eigenvectors().transpose();
}

}  // namespace

template <class S>
CoarsestInverse<S> coarsest_inverse(const HostCsr<S>& a) {
  CoarsestInverse<S> out;
  const auto rows = static_cast<std::size_t>(a.rows);
  Matrix m = as_real(a);
  const double lost = 1e-13 * a.rows;  // of the largest
  const Eigen::LLT<Matrix> factors(m);
  bool definite = factors.info() == Eigen::Success;
  if (definite) {
    const Eigen::VectorXd pivots = factors.matrixLLT().diagonal().cwiseAbs2();
    definite = pivots.minCoeff() > lost * pivots.maxCoeff();
  }
  if (definite) {
    m = factors.solve(Matrix::Identity(m.rows(), m.rows()));
  } else {
    m = pseudo_inverse(m, lost, out.null_space);
    if constexpr (is_complex<S>) out.null_space /= 2;
  }
  out.inverse = host_array<S>("coarsest.inverse", rows * rows);
  for (Index j = 0; j < a.rows; ++j) {
    for (Index i = 0; i < a.rows; ++i) {
      S& to = out.inverse.data()[static_cast<std::size_t>(j) * rows + static_cast<std::size_t>(i)];
      const double re = (m(i, j) + m(j, i)) / 2;
      if constexpr (is_complex<S>) {
        to = S(re, (m(a.rows + i, j) - m(a.rows + j, i)) / 2);
      } else {
        to = re;
      }
    }
  }
  return out;
}

template CoarsestInverse<double> coarsest_inverse(const HostCsr<double>&);
template CoarsestInverse<Kokkos::complex<double>> coarsest_inverse(
    const HostCsr<Kokkos::complex<double>>&);

}  // namespace krysol::multigrid
