// Twenty steps in time with a matrix whose values change and whose pattern stays: the order of the
// rows, the format and what the preconditioner found from the pattern are used again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <krysol/krysol.hpp>

namespace {

/// One implicit step of u_t = div(k(t) grad u) on n^3 cells: I + tau k(t) times the 7-point star.
struct Heat {
  int n;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<int> col_idx{};
  std::vector<double> values{};

  int rows() const { return n * n * n; }

  /// The pattern in the first call, and the values of this step in each.
  void assemble(double tau) {
    const bool first = col_idx.empty();
    values.clear();
    for (int row = 0; row < rows(); ++row) {
      const int at[] = {row / (n * n), row / n % n, row % n};
      const int step[] = {n * n, n, 1};
      const auto put = [&](int col, double value) {
        if (first) col_idx.push_back(col);
        values.push_back(value);
      };
      for (int d = 0; d < 3; ++d) {
        if (at[d] > 0) put(row - step[d], -tau);
      }
      put(row, 1 + 6 * tau);
      for (int d = 2; d >= 0; --d) {
        if (at[d] + 1 < n) put(row + step[d], -tau);
      }
      if (first) row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
    }
  }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  Heat heat{argc > 1 ? std::atoi(argv[1]) : 40};
  heat.assemble(1.0);
  const auto n = static_cast<std::size_t>(heat.rows());
  std::vector<double> u(n, 1.0);
  std::vector<double> before = u;

  krysol::ensure_kokkos();  // not part of the first step
  const double start = now();
  krysol::Solver solver(
      krysol::csr_view(heat.rows(), heat.row_ptr.data(), heat.col_idx.data(), heat.values.data()),
      {.preconditioner = "ic0"});
  double first = 0;
  double later = 0;
  for (int step = 1; step <= 20; ++step) {
    // The assembly is the caller's own work, and not timed.
    if (step > 1) heat.assemble(1.0 + 0.5 * std::sin(step));
    const double begin = step == 1 ? start : now();
    if (step > 1) solver.update();  // takes the values that now stand in the arrays
    before = u;
    const krysol::SolveResult r = solver.solve(before, u);
    const double seconds = now() - begin;
    (step == 1 ? first : later) += seconds;
    if (!r.converged()) {
      std::printf("step %d: %s\n", step, r.advice.c_str());
      return 1;
    }
  }
  const double share = later / 19 / first;
  std::printf("first step %.1f ms with its setup, the others %.1f ms: %.0f %% of it\n", 1e3 * first,
              1e3 * later / 19, 100 * share);
  return 0;
}
