// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SpMV and an iteration of Jacobi-CG, beside other libraries, on a model problem.
//
// Sample runs:  OMP_NUM_THREADS=2 cg_peers poisson:100
//               OMP_NUM_THREADS=2 cg_peers jumps:128 11 csr,sell_c_sigma,symmetric
//
// The candidates take turns, so that a machine that slows down slows all of them; what counts is
// the ratio of medians within this run. b = A*ones; CG runs to a fixed number of iterations.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <Eigen/Sparse>
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
#include <KokkosSparse_spmv.hpp>
#endif
#ifdef KRYSOL_HAVE_MKL
#include <mkl.h>
#endif

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace {

using namespace krysol;
using Exec = Host;

struct Candidate {
  std::string name;
  double bytes;  // by its own count, 0 where nobody counted
  std::function<void()> run;
  std::vector<double> seconds{};
};

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
}

void time_interleaved(std::vector<Candidate>& candidates, int repeats) {
  for (int k = -1; k < repeats; ++k) {  // the first turn warms up
    for (Candidate& c : candidates) {
      Kokkos::Timer timer;
      c.run();
      if (k >= 0) c.seconds.push_back(timer.seconds());
    }
  }
}

void print(std::string_view title, const std::vector<Candidate>& candidates, double per,
           std::size_t reference, double bandwidth) {
  fmt::print("{:<34}{:>10}{:>18}{:>9}{:>9}{:>9}\n", title, "ms", "10 % .. 90 %", "ratio", "GB/s",
             "of bw");
  const double base = quantile(candidates[reference].seconds, 0.5);
  for (const Candidate& c : candidates) {
    const double t = quantile(c.seconds, 0.5);
    fmt::print("{:<34}{:>10.3f}{:>9.3f}{:>9.3f}{:>9.2f}", c.name, 1e3 * t / per,
               1e3 * quantile(c.seconds, 0.1) / per, 1e3 * quantile(c.seconds, 0.9) / per,
               base / t);
    if (c.bytes > 0) {
      fmt::print("{:>9.1f}{:>8.0f} %", c.bytes * per / t / 1e9,
                 100 * c.bytes * per / t / 1e9 / bandwidth);
    }
    fmt::print("\n");
  }
}

struct Triad {
  const double* b;
  const double* c;
  double* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { a[i] = b[i] + 3 * c[i]; }
};

#ifdef KRYSOL_HAVE_MKL
/// CG as a user writes it on MKL: inspector-executor SpMV with its hints, BLAS-1, VML for Jacobi.
struct MklCg {
  sparse_matrix_t a{};
  matrix_descr descr{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_LOWER, SPARSE_DIAG_NON_UNIT};
  std::vector<double> inverse, r, z, p, q;

  MklCg(MKL_INT n, MKL_INT* row_ptr, MKL_INT* col_idx, double* values)
      : inverse(static_cast<std::size_t>(n)), r(inverse), z(inverse), p(inverse), q(inverse) {
    for (MKL_INT i = 0; i < n; ++i) {
      for (MKL_INT k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        if (col_idx[k] == i) inverse[static_cast<std::size_t>(i)] = 1 / values[k];
      }
    }
    mkl_sparse_d_create_csr(&a, SPARSE_INDEX_BASE_ZERO, n, n, row_ptr, row_ptr + 1, col_idx,
                            values);
    mkl_sparse_set_mv_hint(a, SPARSE_OPERATION_NON_TRANSPOSE, descr, 1000);
    mkl_sparse_optimize(a);
  }
  void multiply(const double* x, double* y) {
    mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, a, descr, x, 0, y);
  }
  void solve(const double* b, double* x, int iterations) {
    const auto n = static_cast<MKL_INT>(r.size());
    std::fill(x, x + n, 0.0);
    cblas_dcopy(n, b, 1, r.data(), 1);
    vdMul(n, inverse.data(), r.data(), z.data());
    cblas_dcopy(n, z.data(), 1, p.data(), 1);
    double rho = cblas_ddot(n, r.data(), 1, z.data(), 1);
    for (int k = 0; k < iterations; ++k) {
      multiply(p.data(), q.data());
      const double alpha = rho / cblas_ddot(n, p.data(), 1, q.data(), 1);
      cblas_daxpy(n, alpha, p.data(), 1, x, 1);
      cblas_daxpy(n, -alpha, q.data(), 1, r.data(), 1);
      if (cblas_dnrm2(n, r.data(), 1) == 0) return;
      vdMul(n, inverse.data(), r.data(), z.data());
      const double next = cblas_ddot(n, r.data(), 1, z.data(), 1);
      cblas_daxpby(n, 1, z.data(), 1, next / rho, p.data(), 1);
      rho = next;
    }
  }
};
#endif

void compare(const std::string& problem, int repeats, const std::vector<std::string>& names) {
  const Exec exec{};
  const HostCsr<double> csr = gallery::make_problem(problem);
  const auto n = static_cast<std::size_t>(csr.rows);
  const auto nnz = static_cast<std::size_t>(csr.nnz());
  Vector<double, Exec> ones("ones", n), b("b", n), x("x", n), y("y", n);
  Kokkos::deep_copy(ones, 1.0);

  // The peers' matrices: Eigen's and MKL's with 32-bit row pointers, as they come.
  Eigen::setNbThreads(exec.concurrency());
  using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  EigenMatrix eigen(csr.rows, csr.cols);
  eigen.resizeNonZeros(static_cast<Eigen::Index>(nnz));
  for (std::size_t i = 0; i <= n; ++i) eigen.outerIndexPtr()[i] = static_cast<int>(csr.row_ptr(i));
  std::copy_n(csr.col_idx.data(), nnz, eigen.innerIndexPtr());
  std::copy_n(csr.values.data(), nnz, eigen.valuePtr());
  Eigen::VectorXd eigen_x = Eigen::VectorXd::Ones(csr.rows), eigen_y(csr.rows);
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  using KkMatrix = KokkosSparse::CrsMatrix<double, int, Exec, void, int>;
  KkMatrix::row_map_type::non_const_type row_map("row_map", n + 1);
  for (std::size_t i = 0; i <= n; ++i) row_map(i) = static_cast<int>(csr.row_ptr(i));
  const KkMatrix kk("A", csr.rows, csr.cols, static_cast<int>(nnz), csr.values, row_map,
                    csr.col_idx);
  KokkosSparse::SPMVHandle<Exec, KkMatrix, Vector<double, Exec>, Vector<double, Exec>> handle;
#endif
#ifdef KRYSOL_HAVE_MKL
  MklCg mkl(csr.rows, eigen.outerIndexPtr(), eigen.innerIndexPtr(), eigen.valuePtr());
#endif

  // Triad of this run, write-allocate counted.
  const std::size_t long_n = 16 << 20;
  Vector<double, Exec> ta("a", long_n), tb("b", long_n), tc("c", long_n);
  std::vector<Candidate> triad{{"triad", 32.0 * static_cast<double>(long_n), [&] {
                                  for_each("triad", exec, static_cast<std::int64_t>(long_n),
                                           Triad{tb.data(), tc.data(), ta.data()});
                                }}};
  time_interleaved(triad, repeats);

  std::vector<std::unique_ptr<Operator<double, Exec>>> formats;
  std::vector<Candidate> spmv;
  const double vectors = 24.0 * static_cast<double>(n);
  for (const std::string& name : names) {
    try {
      formats.push_back(make_operator<double, Exec>(name, csr));
    } catch (const FormatRefusal& refusal) {
      fmt::print("passed over: {}\n", refusal.what());
      continue;
    }
    const auto& op = *formats.back();
    spmv.push_back({fmt::format("krysol {}", name), static_cast<double>(op.bytes()) + vectors,
                    [&] { apply(exec, 1.0, op, ConstVector<double, Exec>(ones), 0.0, y); }});
  }
  apply(exec, 1.0, *formats[0], ConstVector<double, Exec>(ones), 0.0, b);
  const double csr32 = 12.0 * static_cast<double>(nnz) + 4.0 * static_cast<double>(n) + vectors;
#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
  spmv.push_back({"Kokkos Kernels", csr32, [&] {
                    KokkosSparse::spmv(exec, &handle, KokkosSparse::NoTranspose, 1.0, kk, ones, 0.0,
                                       y);
                    exec.fence();
                  }});
#endif
  spmv.push_back({"Eigen", csr32, [&] { eigen_y.noalias() = eigen * eigen_x; }});
#ifdef KRYSOL_HAVE_MKL
  spmv.push_back({"MKL inspector-executor", csr32, [&] { mkl.multiply(ones.data(), y.data()); }});
#endif
  time_interleaved(spmv, 3 * repeats);
  time_interleaved(triad, repeats);
  const double bandwidth = triad[0].bytes / quantile(triad[0].seconds, 0.5) / 1e9;

  constexpr int iterations = 50;
  const auto jacobi = make_jacobi<Exec>(csr);
  std::vector<Candidate> cg_runs;
  double vector_bytes = 104.0 * static_cast<double>(n);
  for (std::size_t f = 0; f < formats.size(); ++f) {
    const auto& op = *formats[f];
    cg_runs.push_back({fmt::format("krysol {}, Jacobi-CG", op.name()),
                       static_cast<double>(op.bytes()) + vector_bytes, [&] {
                         Kokkos::deep_copy(exec, x, 0.0);
                         StoppingCriteria stop;
                         stop.rtol = 0;
                         stop.max_iterations = iterations;
                         cg(exec, op, ConstVector<double, Exec>(b), x, jacobi, stop);
                       }});
  }
  Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper> eigen_cg(eigen);
  eigen_cg.setTolerance(0);
  eigen_cg.setMaxIterations(iterations);
  const Eigen::VectorXd eigen_b = Eigen::Map<Eigen::VectorXd>(b.data(), csr.rows);
  cg_runs.push_back({"Eigen ConjugateGradient", 0, [&] { eigen_x = eigen_cg.solve(eigen_b); }});
#ifdef KRYSOL_HAVE_MKL
  cg_runs.push_back({"CG on MKL", 0, [&] { mkl.solve(b.data(), eigen_y.data(), iterations); }});
#endif
  time_interleaved(cg_runs, repeats);
  time_interleaved(triad, repeats);

  fmt::print("{}, {} rows, {} nonzeros, {} threads, b = A*ones\n\n", problem, n, nnz,
             exec.concurrency());
  print("memory", triad, 1, 0, bandwidth);
  print("\nSpMV", spmv, 1, 0, bandwidth);
  print("\nan iteration (set-up in it)", cg_runs, iterations, 0, bandwidth);
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const std::string problem = argc > 1 ? argv[1] : "poisson:100";
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 11;
  std::istringstream list(
      argc > 3 ? argv[3] : "csr,sell_c_sigma,stencil_pattern,stencil,symmetric,symmetric_bsr");
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  if (repeats < 1 || names.empty() || names.front() != "csr") {
    std::fprintf(stderr,
                 "usage: cg_peers [problem, poisson:100] [repeats, 11] [formats: csr,...]\n");
    return 2;
  }
  try {
    compare(problem, repeats, names);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cg_peers: %s\n", error.what());
    return 2;
  }
  return 0;
}
