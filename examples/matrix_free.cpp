// An operator of one's own, without a matrix, given to conjugate gradients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is needed is a struct with `rows` and `cols` and a free function `apply` beside it. The same
// operator is then assembled, and both solves are compared: same iterations, same residual.
#include <cmath>
#include <cstdio>
#include <string>

#include <krysol/solver/krylov/cg.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace heat {

/// One implicit Euler step of u_t = Laplace u on n x n x n cells: I + tau times the 7-point star,
/// with u = 0 around. Stored: three numbers.
struct ImplicitStep {
  krysol::Index n;
  double tau;
  krysol::Index rows = n * n * n;
  krysol::Index cols = rows;
};

/// y := alpha A x + beta y, found by krysol::cg through its argument `a`. Where beta is zero y must
/// not be read: it may hold NaN. Bytes a row: 8 of x, 16 of y.
///
/// A free function template, since nvcc takes no KOKKOS_LAMBDA in constructors, in private members
/// and in functions with deduced return type.
template <class Exec>
void apply(const Exec& exec, double alpha, const ImplicitStep& a,
           const krysol::ConstVector<double, Exec>& x, double beta,
           const krysol::Vector<double, Exec>& y) {
  const krysol::Index n = a.n;
  const double tau = a.tau;
  Kokkos::parallel_for(
      "heat::apply", Kokkos::RangePolicy<Exec>(exec, 0, a.rows),
      KOKKOS_LAMBDA(const krysol::Index row) {
        const krysol::Index i = row % n;
        const krysol::Index j = row / n % n;
        const krysol::Index k = row / (n * n);
        double sum = (1 + 6 * tau) * x(row);
        if (k > 0) sum -= tau * x(row - n * n);
        if (j > 0) sum -= tau * x(row - n);
        if (i > 0) sum -= tau * x(row - 1);
        if (i + 1 < n) sum -= tau * x(row + 1);
        if (j + 1 < n) sum -= tau * x(row + n);
        if (k + 1 < n) sum -= tau * x(row + n * n);
        y(row) = beta == 0 ? alpha * sum : alpha * sum + beta * y(row);
      });
}

/// The heat at the beginning: hot in one octant of the cube.
template <class Exec>
void fill(const Exec& exec, krysol::Index n, const krysol::Vector<double, Exec>& u) {
  Kokkos::parallel_for(
      "heat::fill", Kokkos::RangePolicy<Exec>(exec, 0, n * n * n),
      KOKKOS_LAMBDA(const krysol::Index row) {
        const bool hot = row % n < n / 2 && row / n % n < n / 2 && row / (n * n) < n / 2;
        u(row) = hot ? 1 : 0;
      });
}

/// The same operator as a matrix, its arrays filled row by row: what a code does that already
/// stores compressed rows. Columns ascend in each row.
krysol::HostCsr<double> assemble(const ImplicitStep& a) {
  using krysol::Index;
  const Index n = a.n;
  const auto rows = static_cast<std::size_t>(a.rows);
  const Index step[] = {-n * n, -n, -1, 0, 1, n, n * n};
  const auto inside = [&](Index row, Index s) {
    const Index width = s < 0 ? -s : s;  // 1, n or n^2: along i, j or k
    if (s == 0) return true;
    const Index at = row / width % n;
    return s < 0 ? at > 0 : at + 1 < n;
  };
  krysol::HostCsr<double> csr;
  csr.rows = csr.cols = a.rows;
  csr.row_ptr = Kokkos::View<krysol::Offset*, krysol::Host>("row_ptr", rows + 1);
  for (Index row = 0; row < a.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    csr.row_ptr(r + 1) = csr.row_ptr(r);
    for (const Index s : step) csr.row_ptr(r + 1) += inside(row, s) ? 1 : 0;
  }
  const auto nnz = static_cast<std::size_t>(csr.row_ptr(rows));
  csr.col_idx = Kokkos::View<Index*, krysol::Host>("col_idx", nnz);
  csr.values = Kokkos::View<double*, krysol::Host>("values", nnz);
  std::size_t k = 0;
  for (Index row = 0; row < a.rows; ++row) {
    for (const Index s : step) {
      if (!inside(row, s)) continue;
      csr.col_idx(k) = row + s;
      csr.values(k) = s == 0 ? 1 + 6 * a.tau : -a.tau;
      ++k;
    }
  }
  return csr;
}

}  // namespace heat

namespace {

template <class A, class Exec>
krysol::SolveResult solve(const char* text, const A& a, const krysol::Vector<double, Exec>& b) {
  const krysol::Vector<double, Exec> x("x", b.extent(0));
  // The diagonal is constant, so nothing is to be gained by dividing by it.
  const auto result = krysol::cg(a, b, x, krysol::Identity{});
  std::printf("%-12s %s after %lld iterations, |b - Ax| = %.6e |b|, %.1f bytes a row stored\n",
              text, std::string(krysol::to_string(result.status)).c_str(),
              static_cast<long long>(result.iterations), result.residual / result.b_norm,
              static_cast<double>(krysol::bytes_of(a)) / a.rows);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  using Exec = Kokkos::DefaultExecutionSpace;
  const heat::ImplicitStep a{.n = 48, .tau = 100};

  const krysol::Vector<double, Exec> b("b", static_cast<std::size_t>(a.rows));
  heat::fill(Exec{}, a.n, b);
  const auto without = solve("matrix-free:", a, b);

  krysol::Csr<double, Exec> csr;
  krysol::from_csr(heat::assemble(a), csr);
  const auto with = solve("assembled:", csr, b);

  // The sums of the two are rounded in different orders, so not every bit agrees.
  const bool same = without.converged() && with.converged() &&
                    without.iterations == with.iterations &&
                    std::abs(without.residual - with.residual) <= 1e-6 * with.residual;
  std::printf("%s\n", same ? "the same" : "NOT the same");
  return same ? 0 : 1;
}
