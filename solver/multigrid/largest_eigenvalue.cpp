// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/outcome/lanczos.hpp>
#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol::multigrid {
namespace {

/// |v|; its square may be out of range.
double modulus(double v) { return std::abs(v); }
double modulus(const Kokkos::complex<double>& v) { return std::hypot(v.real(), v.imag()); }

template <class S>
double largest_row_sum(const HostCsr<S>& a, const HostArray<double>& scale) {
  constexpr std::int64_t step = 4096;
  const EqualBlocks pieces{a.rows, step};
  const bool scaled = scale.extent(0) > 0;
  std::vector<double> largest(static_cast<std::size_t>(pieces.count()), 0);
  host_for("krysol::row_sums", pieces.count(), [&](std::int64_t p) {
    double most = 0;
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      double sum = 0;
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        const double column = scaled ? scale.data()[a.col_idx.data()[k]] : 1;
        sum += modulus(from_double<S>(column) * a.values.data()[k]);
      }
      if (scaled) sum *= scale.data()[i];
      if (!(sum <= most)) most = sum;  // NaN too, and for good
      if (!is_finite(most)) break;
    }
    largest[static_cast<std::size_t>(p)] = most;
  });
  double most = 0;
  for (const double sum : largest) {
    if (!is_finite(sum))
      throw PreconditionerRefusal("amg: a level has an entry that is not finite", -1);
    most = std::max(most, sum);
  }
  return most;
}

/// The largest Ritz value and its residual, of the Lanczos process that conjugate gradients for
/// A e = r are.
template <class S>
double lanczos_bound(const HostCsr<S>& host, int steps) {
  const Host exec;
  const std::int64_t rows = host.rows;
  Csr<S, Host> a;
  from_csr(host, a);
  ReductionWorkspace<Host> sums;
  const auto r = uninitialized<S>(exec, "multigrid.r", rows);
  const auto p = uninitialized<S>(exec, "multigrid.p", rows);
  const auto q = uninitialized<S>(exec, "multigrid.q", rows);
  for_each("krysol::largest_eigenvalue(start)", exec, rows, cg_kernels::Noise<S>{r.data()});
  Kokkos::deep_copy(exec, p, r);
  LanczosRun run;
  double rho = dot(exec, r, r, sums);
  run.start(rho, 1);
  for (int k = 0; k < steps && rho > 0; ++k) {
    const double pq = apply_dot(exec, a, p, q, sums);
    if (!(pq > 0) && k == 0) {
      throw PreconditionerRefusal("amg: r'Ar is not positive for a random r", -1);
    }
    if (!(pq > 0)) break;
    const double alpha = rho / pq;
    axpby<S>(exec, from_double<S>(-alpha), q, S(1), r);
    const double next = dot(exec, r, r, sums);
    run.add(alpha, next);
    axpby<S>(exec, S(1), r, from_double<S>(next / rho), p);
    rho = next;
  }
  const std::vector<double> ends = extreme_eigenvalues(run, run.steps(), 1);
  if (ends.empty()) return 0;
  return ends.back() + residual_bound(run, run.steps(), ends.back());
}

}  // namespace

template <class S>
double largest_eigenvalue(const HostCsr<S>& a, const HostArray<double>& scale) {
  constexpr double near_enough = 2.2;  // 2 for an M-matrix
  constexpr int steps = 12;
  constexpr double margin = 1.02;
  const double sums = largest_row_sum(a, scale);
  if (sums <= near_enough) return std::max(sums, 1.0);
  return std::min(sums, margin * lanczos_bound(scaled_entries<S>(a, scale), steps));
}

template double largest_eigenvalue(const HostCsr<double>&, const HostArray<double>&);
template double largest_eigenvalue(const HostCsr<Kokkos::complex<double>>&,
                                   const HostArray<double>&);

}  // namespace krysol::multigrid
