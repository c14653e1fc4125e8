// The smallest useful program outside of the tree: reads the matrix file named by its argument.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <iostream>
#include <variant>

#include <krysol/io/matrix_market.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  if (argc != 2) return 2;
  const auto file = krysol::read_matrix(argv[1]);
  const auto rows = std::visit([](const auto& matrix) { return matrix.rows; }, file.matrix);
  std::cout << rows << " rows\n";
  return rows > 0 ? 0 : 1;
}
