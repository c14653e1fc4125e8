// From the arrays of a Fortran code, which count from 1, to x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <iostream>

#include <krysol/krysol.hpp>

int main() {
  //  4 -1  0       3
  // -1  4 -1  x =  2  is solved by x = (1, 1, 1)
  //  0 -1  4       3
  const int row_ptr[] = {1, 3, 6, 8};
  const int col_idx[] = {1, 2, 1, 2, 3, 2, 3};
  const double values[] = {4, -1, -1, 4, -1, -1, 4};
  const std::vector<double> b = {3, 2, 3};

  std::vector<double> x(3);
  const auto r = krysol::solve(krysol::csr_view(3, row_ptr, col_idx, values, 1), b, x);
  std::cout << krysol::to_string(r.status) << ": |b - A x| = " << r.residual << ", x = " << x[0]
            << ' ' << x[1] << ' ' << x[2] << ". " << r.advice << '\n';
  return r.converged() && std::abs(x[0] - 1) < 1e-7 && std::abs(x[1] - 1) < 1e-7 ? 0 : 1;
}
