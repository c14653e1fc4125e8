// The example of README.md; a test keeps the two equal.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <iostream>

#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/select/formats.hpp>

int main() {
  const Kokkos::ScopeGuard kokkos;
  const krysol::Index n = 1000;
  krysol::Triplets<double> entries{n, n, krysol::Symmetry::symmetric, {}, {}, {}};
  for (krysol::Index i = 0; i < n; ++i) {
    entries.add(i, i, 2.5);  // in any order; entries of one place are summed
    if (i > 0) entries.add(i, i - 1, -1);
  }
  const auto csr = krysol::to_csr(entries).matrix;
  const auto a = krysol::make_operator("ell", csr);   // in that format, in the device's memory
  const krysol::Vector<double> b("b", n), x("x", n);  // Kokkos Views, there too
  Kokkos::deep_copy(b, 1.0);
  const auto result = krysol::cg(*a, b, x, krysol::make_jacobi(csr), {.rtol = 1e-10});
  std::cout << krysol::to_string(result.status) << ": " << result.advice << '\n';
}
