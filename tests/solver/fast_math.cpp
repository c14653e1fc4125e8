// A caller who compiles our templates with -ffast-math: a NaN must not become "converged". A
// program of its own, as such code must not be mixed with that of other tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/precond/jacobi.hpp>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

struct Laplacian {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

struct LaplacianRow {
  std::int64_t n;
  double alpha;
  const double* x;
  double beta;
  double* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const double left = i > 0 ? x[i - 1] : 0;
    const double right = i + 1 < n ? x[i + 1] : 0;
    const double sum = alpha * (2 * x[i] - left - right);
    y[i] = beta == 0 ? sum : sum + beta * y[i];
  }
};

void apply(const Exec& exec, double alpha, const Laplacian& a,
           const krysol::ConstVector<double, Exec>& x, double beta,
           const krysol::Vector<double, Exec>& y) {
  krysol::for_each("laplacian", exec, a.rows,
                   LaplacianRow{a.rows, alpha, x.data(), beta, y.data()});
}

int failures = 0;

/// bits: of b(7), or of x0(7).
void expect(const char* what, std::uint64_t bits, bool in_b, krysol::Status expected) {
  std::vector<double> b(50, 1.0);
  std::vector<double> x0(50, 0.0);
  (in_b ? b : x0)[7] = std::bit_cast<double>(bits);
  const auto x = krysol::to_device<Exec>("x", x0);
  const auto r =
      krysol::cg(Exec{}, Laplacian{50, 50}, krysol::to_device<Exec>("b", b), x, krysol::Identity{});
  if (r.status == expected) return;
  ++failures;
  std::printf("%s: %s, where %s is expected\n", what, std::string(to_string(r.status)).c_str(),
              std::string(to_string(expected)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  using krysol::Status;
  expect("1 in b", 0x3ff0000000000000U, true, Status::converged);
  expect("NaN in b", 0x7ff8000000000000U, true, Status::not_finite);
  expect("Inf in b", 0x7ff0000000000000U, true, Status::not_finite);
  expect("NaN in x0", 0x7ff8000000000000U, false, Status::not_finite);
  expect("-Inf in x0", 0xfff0000000000000U, false, Status::not_finite);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
