// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest useful program outside of the tree: solves A x = ones for the matrix in the file
// that its argument names.
#include <Kokkos_Core.hpp>
#include <iostream>
#include <variant>

#include <krysol/io/read.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  if (argc != 2) return 2;
  const auto file = krysol::read_matrix(argv[1]);
  const auto csr = krysol::to_csr(std::get<krysol::Triplets<double>>(file.matrix)).matrix;

  using Exec = Kokkos::DefaultExecutionSpace;
  const auto a = krysol::make_operator<double, Exec>("csr", csr);
  const auto m = krysol::make_preconditioner<double, Exec>("jacobi", csr).m;
  krysol::Vector<double, Exec> x("x", a->cols), b("b", a->rows);
  Kokkos::deep_copy(b, 1.0);
  const auto result = krysol::solve<double, Exec>("cg", Exec{}, *a, b, x, *m);
  std::cout << result.iterations << " iterations, |b - A x| = " << result.residual << "\n";
  return result.converged() ? 0 : 1;
}
