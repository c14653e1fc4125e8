// From an Eigen matrix to x and what is known of it. Kokkos is started by Krysol.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <iostream>
#include <vector>

#include <krysol/krysol.hpp>
#include <krysol/solver/interface/eigen.hpp>

namespace {

/// The 5-point Laplacian on n x n points.
Eigen::SparseMatrix<double> laplacian(int n) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int row = 0; row < n * n; ++row) {
    entries.emplace_back(row, row, 4);
    const auto couple = [&](bool inside, int col) {
      if (inside) entries.emplace_back(row, col, -1);
    };
    couple(row >= n, row - n);
    couple(row % n > 0, row - 1);
    couple(row % n + 1 < n, row + 1);
    couple(row + n < n * n, row + n);
  }
  Eigen::SparseMatrix<double> a(n * n, n * n);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

}  // namespace

int main() {
  const Eigen::SparseMatrix<double> a = laplacian(100);

  const Eigen::VectorXd b = Eigen::VectorXd::Ones(a.rows());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.rows());
  const krysol::SolveResult r = krysol::solve(a, b, x, {.preconditioner = "ic0"});
  std::cout << krysol::to_string(r.status) << ": |b - A x| = " << r.residual
            << ", |x - x*|_A <= " << r.cg->error.upper_estimate << ". " << r.advice << '\n';

  // The certificate is that of the x that was returned: Eigen finds the same residual.
  const double residual = (b - a * x).norm();
  return r.converged() && std::abs(residual - r.residual) < 1e-10 * b.norm() ? 0 : 1;
}
