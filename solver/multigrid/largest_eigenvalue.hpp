// A bound of the largest eigenvalue, which polynomial smoothers and prolongators need.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include <krysol/solver/coarsening/row_builder.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/outcome/lanczos.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol::multigrid {

/// The largest row sum of |A|, which no eigenvalue exceeds (Gershgorin). scale: [rows] where A is
/// still to be multiplied with its diagonal matrix from both sides; else empty. Throws
/// PreconditionerRefusal where an entry is not finite.
template <class S>
double largest_row_sum(const HostCsr<S>& a, const HostArray<double>& scale = {});

/// That of an M-matrix with ones on its diagonal is 2 at most, and near what it bounds.
inline constexpr double near_row_sum = 2.2;

/// 1.02 times the largest Ritz value of twelve Lanczos steps from a pseudo-random start plus the
/// norm of its residual (Zhou & Li, Linear Algebra Appl. 435, 2011, DOI 10.1016/j.laa.2010.06.034,
/// bound of section 3), for M^-1 A with a positive semidefinite A. multiply(p, q): q := A p;
/// returns p'q. precondition(r): z = M^-1 r. The same bits for any number of threads. Throws
/// PreconditionerRefusal where the first step finds A not to be positive definite.
template <class S, class Exec, class MultiplyDot, class Precondition>
double lanczos_bound(const Exec& exec, std::int64_t rows, ReductionWorkspace<Exec>& sums,
                     const MultiplyDot& multiply, const Precondition& precondition) {
  constexpr int steps = 12;
  constexpr double margin = 1.02;
  const auto r = uninitialized<S>(exec, "multigrid.r", rows);
  const auto p = uninitialized<S>(exec, "multigrid.p", rows);
  const auto q = uninitialized<S>(exec, "multigrid.q", rows);
  for_each("krysol::lanczos_bound(start)", exec, rows, cg_kernels::Noise<S>{r.data()});
  Kokkos::deep_copy(exec, p, precondition(r));
  LanczosRun run;  // that conjugate gradients for A e = r are
  double rho = dot(exec, r, p, sums);
  run.start(rho, 1);
  for (int k = 0; k < steps && rho > 0; ++k) {
    const double pq = multiply(p, q);
    if (!(pq > 0) && k == 0) {
      throw PreconditionerRefusal("amg: r'Ar is not positive for a random r", -1);
    }
    if (!(pq > 0)) break;
    const double alpha = rho / pq;
    axpby<S>(exec, from_double<S>(-alpha), q, S(1), r);
    const Vector<S, Exec> z = precondition(r);
    const double next = dot(exec, r, z, sums);
    run.add(alpha, next);
    axpby<S>(exec, S(1), z, from_double<S>(next / rho), p);
    rho = next;
  }
  const std::vector<double> ends = extreme_eigenvalues(run, run.steps(), 1);
  if (ends.empty()) return 0;
  return margin * (ends.back() + residual_bound(run, run.steps(), ends.back()));
}

/// A bound of the eigenvalues of a symmetric (Hermitian) positive semidefinite A with ones on its
/// diagonal: the largest row sum where that is at most `near_row_sum`; else, if that is less, what
/// Lanczos steps show. Bytes: those of A, or of thirteen products by it. Throws as both do.
template <class S>
double largest_eigenvalue(const HostCsr<S>& a);

}  // namespace krysol::multigrid
