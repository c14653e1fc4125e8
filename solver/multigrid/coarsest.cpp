// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/coarsest.hpp>

#include <complex>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol::multigrid {
namespace {

template <class S>
using EigenScalar = std::conditional_t<is_complex<S>, std::complex<Real<S>>, S>;
template <class S>
using Matrix = Eigen::Matrix<EigenScalar<S>, Eigen::Dynamic, Eigen::Dynamic>;

template <class S>
Matrix<S> dense(const HostCsr<S>& a) {
  Matrix<S> m = Matrix<S>::Zero(a.rows, a.rows);
  // Rows that were emptied are no part of the null space: nothing leads to them.
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const S v = a.values.data()[k];
      if constexpr (is_complex<S>) {
        m(i, a.col_idx.data()[k]) += EigenScalar<S>(v.real(), v.imag());
      } else {
        m(i, a.col_idx.data()[k]) += v;
      }
    }
  }
  for (Index i = 0; i < a.rows; ++i) {
    if (m.row(i).isZero(0)) m(i, i) = EigenScalar<S>(1);
  }
  return (m + m.adjoint()) / 2;
}

template <class S>
Matrix<S> pseudo_inverse(const Matrix<S>& a, double least_share, Index& null_space) {
  const Eigen::SelfAdjointEigenSolver<Matrix<S>> solved(a);
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
  return solved.eigenvectors() * factor.asDiagonal() * solved.eigenvectors().adjoint();
}

}  // namespace

template <class S>
CoarsestInverse<S> coarsest_inverse(const HostCsr<S>& a) {
  CoarsestInverse<S> out;
  const auto rows = static_cast<std::size_t>(a.rows);
  Matrix<S> m = dense(a);
  const double lost = 1e-13 * a.rows;  // of the largest
  const Eigen::LLT<Matrix<S>> factors(m);
  bool definite = factors.info() == Eigen::Success;
  if (definite) {
    const Eigen::VectorXd pivots = factors.matrixLLT().diagonal().cwiseAbs2();
    definite = pivots.minCoeff() > lost * pivots.maxCoeff();
  }
  if (definite) {
    m = factors.solve(Matrix<S>::Identity(a.rows, a.rows));
  } else {
    m = pseudo_inverse<S>(m, lost, out.null_space);
  }
  out.inverse = host_array<S>("coarsest.inverse", rows * rows);
  for (Index j = 0; j < a.rows; ++j) {
    for (Index i = 0; i < a.rows; ++i) {
      const EigenScalar<S> v = (m(i, j) + Eigen::numext::conj(m(j, i))) / 2.0;
      S& to = out.inverse.data()[static_cast<std::size_t>(j) * rows + static_cast<std::size_t>(i)];
      if constexpr (is_complex<S>) {
        to = S(v.real(), v.imag());
      } else {
        to = v;
      }
    }
  }
  return out;
}

template CoarsestInverse<double> coarsest_inverse(const HostCsr<double>&);
template CoarsestInverse<Kokkos::complex<double>> coarsest_inverse(
    const HostCsr<Kokkos::complex<double>>&);

}  // namespace krysol::multigrid
