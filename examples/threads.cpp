// Eight threads of a program solve eight systems at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

#include <krysol/krysol.hpp>

namespace {

/// tridiag(-1, 2 + shift, -1) x = b with the x* = (1, ..., 1) as its solution. Returns |x - x*|.
double error_of(int n, double shift) {
  krysol::Triplets<double> entries{n, n, krysol::Symmetry::symmetric, {}, {}, {}};
  std::vector<double> b;
  for (int i = 0; i < n; ++i) {
    entries.add(i, i, 2 + shift);
    if (i > 0) entries.add(i, i - 1, -1);
    b.push_back(shift + (i == 0 ? 1 : 0) + (i + 1 == n ? 1 : 0));
  }
  std::vector<double> x(b.size());
  const auto a = krysol::to_csr(entries).matrix;
  if (!krysol::solve(a, b, x, {.stop = {.rtol = 1e-12}}).converged()) return 1;
  double sum = 0;
  for (const double v : x) sum += (v - 1) * (v - 1);
  return std::sqrt(sum);
}

}  // namespace

int main() {
  krysol::ensure_kokkos();
  std::vector<double> errors(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < errors.size(); ++t) {
    threads.emplace_back([&errors, t] {
      errors[t] = error_of(1000 + 100 * static_cast<int>(t), 0.1 * static_cast<double>(t + 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool right = true;
  for (const double error : errors) right = right && error < 1e-8;
  std::cout << (right ? "eight threads, eight right answers\n" : "a wrong answer\n");
  return right ? 0 : 1;
}
