// The example of README.md; a test keeps the two equal.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <iostream>

#include <krysol/krysol.hpp>

int main() {
  const int n = 1000;
  krysol::Triplets<double> entries{n, n, krysol::Symmetry::symmetric, {}, {}, {}};
  for (int i = 0; i < n; ++i) {
    entries.add(i, i, 2.5);  // in any order; entries of one place are summed
    if (i > 0) entries.add(i, i - 1, -1);
  }
  const auto a = krysol::to_csr(entries).matrix;  // or csr_view(n, row_ptr, col_idx, values)
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n);  // the starting guess, then the solution
  const auto result = krysol::solve(a, b, x, {.preconditioner = "ic0", .stop = {.rtol = 1e-10}});
  std::cout << krysol::to_string(result.status) << ": " << result.advice << '\n';
}
