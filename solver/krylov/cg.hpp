// Conjugate gradients, preconditioned, for symmetric (Hermitian) positive definite systems.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tuple>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/krylov/fused.hpp>
#include <krysol/solver/krylov/monitor.hpp>
#include <krysol/solver/outcome/lanczos_monitor.hpp>
#include <krysol/solver/outcome/named_options.hpp>

namespace krysol {

/// What cg takes beside the stopping criteria.
struct CgOptions {
  double lambda_min = 0;  // no larger than any eigenvalue of M^-1 A, for ErrorBounds; 0: none known

  /// Bytes that a second Lanczos process, from a pseudo-random start, may move to confirm that the
  /// smallest eigenvalue has converged. Where it would need more, or rows are spread over
  /// processes, that eigenvalue is not called converged. 0: no second process, and "converged"
  /// holds only as far as the first residual shows the spectrum. A step counts 100 kB besides its
  /// bytes. Not included in the seconds and counters of the solve.
  double confirm = 0;

  /// By name: {{"lambda_min", "1e-3"}, {"confirm", "1e9"}}. Throws as OptionReader does.
  static CgOptions read(std::string_view name, const NamedOptions& options) {
    const OptionReader reader("solver", name, options, {"lambda_min", "confirm"});
    return {reader.number("lambda_min", 0), reader.number("confirm", 0)};
  }
};

/// Everything that an iteration keeps. All vectors stay in the memory of Exec.
template <class T, class Exec, class A, class M, class ApplyM>
struct CgRun {
  const Exec& exec;
  const A& a;
  M m;             // z(i) from r(i), in a fused loop
  ApplyM apply_m;  // makes z from all of r, where m needs that
  const CgOptions& options;
  Monitor<T, Exec, A>& monitor;

  Vector<T, Exec> r = monitor.vector(0, "cg.r");  // [rows] scale (b - A x), by its recurrence
  Vector<T, Exec> p = monitor.vector(1, "cg.p");  // [rows] direction
  Vector<T, Exec>& q = monitor.q;                 // [rows] A p, and b - A x where that is computed
  SolveResult& result = monitor.result;
  bool flexible = false;  // M is not the same linear map in each call
  LanczosMonitor lanczos{};
  bool used_up = false;  // a direction of p'Ap = 0 was met, and a restart tried

  std::int64_t rows() const { return monitor.rows(); }

  void solve() {
    result.cg.emplace();
    result.cg->flexible = flexible;
    result.cg->preconditioned = !std::is_same_v<M, fused::NoPreconditioner<T>>;
    const std::optional<Status> end = monitor.begin();
    const Status status = end ? *end : iterate();
    if (result.iterations > 0) result.cg->error.solution_norm = solution_norm();
    monitor.finish(status);
    if (!flexible && result.status != Status::indefinite_matrix &&
        result.status != Status::indefinite_preconditioner) {
      result.cg->spectrum = lanczos.spectrum(monitor.epsilon);
      if (options.confirm > 0 && result.cg->spectrum.smallest.converged) {
        if (result.status == Status::interrupted) {  // nobody waits for it
          set_smallest_converged(result.cg->spectrum, false);
        } else {
          confirm_smallest();
        }
      }
    }
    lanczos.conclude(options.lambda_min, monitor.epsilon, result);
    result.advice = advice(result);
  }

  Status iterate() {
    double rho = first_direction();  // z = M^-1 r, p = z, rho = r'z
    bool first = true;
    for (std::int64_t k = 1;; ++k) {
      if (!is_finite(rho)) return monitor.end_early(Status::not_finite);
      if (!(rho > 0)) return monitor.end_early(Status::indefinite_preconditioner);
      // q = A p
      const double pq = multiply();
      if (!is_finite(pq) || !(pq > 0)) {
        if (const auto end = broke_down(pq, first)) return *end;
        rho = first_direction();
        first = true;
        monitor.lost_iteration(k);
        if (monitor.at_limit(k)) return monitor.end_early(Status::max_iterations);
        continue;
      }
      // alpha = r'z / p'Ap;  r = r - alpha q;  z = M^-1 r
      const double alpha = rho / pq;
      const auto [rr, rho_next] = residual_step(alpha);
      if (!is_finite(rr) || !is_finite(rho_next)) return monitor.end_early(Status::not_finite);
      // x = x + alpha p;  beta = r'z / previous r'z;  p = z + beta p
      const double beta = flexible ? conjugate_beta(pq) : rho_next / rho;
      direction_step(alpha, beta);
      rho = rho_next;
      first = false;

      const double recurrence = std::sqrt(rr) / monitor.scale;
      if (flexible) {
        lanczos.step(k, recurrence);
      } else {
        lanczos.step(k, alpha, rho, recurrence);
      }
      const Verdict seen = monitor.after_iteration(k, recurrence);
      if (seen.end) return *seen.end;
      if (seen.restart) {
        rho = first_direction();
        first = true;
      }
      const auto predict = [&] { return lanczos.iterations_left(result.target); };
      if (const auto end = monitor.limit(k, predict)) return *end;
    }
  }

  // --- the steps of the iteration, in order ---

  /// r := the true residual, scaled; p := M^-1 r. Returns r'z.
  double first_direction() {
    monitor.start(r);
    const double rho = direction_of_residual();
    lanczos.start(rho, monitor.scale, result.residual);
    return rho;
  }

  double multiply() {
    const TimedWork work("SpMV", result.spmv);
    const double pq = apply_dot(exec, a, p, q, monitor.sums);
    work.done(monitor.spmv_bytes());
    return pq;
  }

  std::array<double, 2> residual_step(double alpha) {
    if constexpr (std::is_same_v<M, fused::Applied<T>>) {
      {
        const TimedWork work("vectors", result.vectors);
        axpby<T>(exec, from_double<T>(-alpha), q, T(1), r);
        exec.fence("krysol::cg(r)");
        work.done(monitor.row_bytes(3));
      }
      precondition();
      const TimedWork work("vectors", result.vectors);
      const auto terms = residual_terms();
      work.done(monitor.row_bytes(2));
      return terms;
    } else {
      const TimedWork work("vectors", result.vectors);
      const auto terms =
          sum_over<2>("krysol::cg(r, r'r, r'z)", exec, rows(), monitor.sums,
                      cg_kernels::ResidualStep<T, M>{from_double<T>(alpha), q.data(), r.data(), m});
      work.done(monitor.row_bytes(3) + diagonal_bytes());
      return terms;
    }
  }

  /// -q'z / p'Ap, which makes p = z + beta p conjugate to p whatever M was before.
  double conjugate_beta(double pq) {
    const TimedWork work("vectors", result.vectors);
    const double qz = sum_over<1>("krysol::cg(q'z)", exec, rows(), monitor.sums,
                                  cg_kernels::ConjugacyTerm<T, M>{q.data(), r.data(), m})[0];
    work.done(monitor.row_bytes(2));
    return -qz / pq;
  }

  void direction_step(double alpha, double beta) {
    const TimedWork work("vectors", result.vectors);
    for_each("krysol::cg(x, p)", exec, rows(),
             cg_kernels::DirectionStep<T, M>{from_double<T>(alpha), from_double<T>(beta), r.data(),
                                             m, p.data(), monitor.e.data()});
    exec.fence("krysol::cg(x, p)");
    work.done(monitor.row_bytes(5) + diagonal_bytes());
  }

  // --- what they are made of ---

  /// p := M^-1 r. Returns r'z.
  double direction_of_residual() {
    precondition();
    for_each("krysol::cg(p)", exec, rows(),
             cg_kernels::FirstDirection<T, M>{r.data(), m, p.data()});
    return residual_terms()[1];
  }

  double diagonal_bytes() const { return M::bytes * static_cast<double>(rows()); }

  void precondition() {
    if constexpr (std::is_same_v<M, fused::Applied<T>>) {
      const TimedWork work("preconditioner", result.preconditioner);
      apply_m.apply(exec, ConstVector<T, Exec>(r), apply_m.z);
      exec.fence("krysol::cg(M)");
      work.done(apply_m.bytes());
    }
  }

  std::array<double, 2> residual_terms() {
    return sum_over<2>("krysol::cg(r'r, r'z)", exec, rows(), monitor.sums,
                       cg_kernels::ResidualTerms<T, M>{r.data(), m});
  }

  // --- after the solve ---

  /// Looks for an eigenvalue below the smallest Ritz value, of which b may have had nothing.
  void confirm_smallest() {
    const Kokkos::Profiling::ScopedRegion region("krysol::cg(confirm)");
    constexpr double bytes_of_a_step = 1e5;  // what starting its kernels costs
    Spectrum& s = result.cg->spectrum;
    const double first = result.initial_residual;
    const std::int64_t steps = confirming_steps(s.condition, rows(), result.iterations,
                                                first > 0 ? result.residual / first : 1);
    const double step = bytes_of_a_step + monitor.spmv_bytes() + monitor.row_bytes(8);
    bool confirmed = false;
    const bool spread = monitor.sums.all_reduce.spread();  // no process knows the rows of others
    if (!spread && static_cast<double>(steps) * step <= options.confirm) {
      const auto counters = std::tuple(result.spmv, result.vectors, result.preconditioner);
      const Kokkos::Timer timer;
      const LanczosRun run = from_noise(steps, 0.99 * s.smallest.value);
      const double seconds = timer.seconds();
      std::tie(result.spmv, result.vectors, result.preconditioner) = counters;
      const Spectrum other = spectrum_of(run);
      confirmed = !result.cg->not_definite && other.known() &&
                  other.smallest.value >= 0.99 * s.smallest.value;
      s = merged(s, other);
      s.confirming_steps = static_cast<std::int64_t>(run.steps());
      s.confirming_seconds = seconds;
    }
    set_smallest_converged(s, confirmed);
  }

  /// CG on A e = r for an r that has a part of every eigenvector, as long as nothing below `end`
  /// shows. x is not touched.
  LanczosRun from_noise(std::int64_t steps, double end) {
    constexpr double nothing_left = 1e-30;
    LanczosRun run;
    for_each("krysol::cg(start)", exec, rows(), cg_kernels::Noise<T>{r.data()});
    double rho = direction_of_residual();
    const double first = rho;
    run.start(rho, 1);
    for (std::int64_t k = 0; k < steps && rho > nothing_left * first; ++k) {
      const double pq = multiply();
      if (!is_finite(pq) || !(pq > 0)) {
        result.cg->not_definite = true;
        break;
      }
      const double alpha = rho / pq;
      const double rho_next = residual_step(alpha)[1];
      if (!is_finite(rho_next) || !(rho_next > 0)) break;
      direction_step(alpha, rho_next / rho);
      run.add(alpha, rho_next);
      rho = rho_next;
      if (run.smallest < end) break;
    }
    return run;
  }

  /// p'Ap is not positive. Where that is more than rounding, A is not positive definite; where it
  /// is not, the direction is used up and the solve restarts once: then nothing is returned.
  std::optional<Status> broke_down(double pq, bool first) {
    const double norm = monitor.take_correction();
    result.history.back() = norm;
    if (!is_finite(pq) || !is_finite(norm)) return Status::not_finite;
    if (norm <= result.target) return Status::converged;
    const bool rounded = monitor.within_rounding(norm);
    const double p_norm = norm2(exec, p, monitor.sums);
    const double rounding = 10 * monitor.epsilon * monitor.norm_of_a() * p_norm * p_norm;
    if (pq >= -rounding) {
      if (rounded && !monitor.restart_helps(norm)) return Status::stagnated;
      if (!first && !used_up) {
        used_up = true;
        ++result.restarts;
        return std::nullopt;
      }
      if (rounded) return Status::stagnated;
      pq = 0;  // what it cannot be told from
    }
    record_direction(pq, p_norm);
    return Status::indefinite_matrix;
  }

  void record_direction(double pq, double p_norm) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, p);
    BreakdownCertificate& evidence = result.breakdown;
    evidence.iteration = result.iterations + 1;
    evidence.curvature = pq / p_norm / p_norm;
    evidence.direction.reserve(host.extent(0));
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      evidence.direction.emplace_back(static_cast<double>(real_part(host(i))) / p_norm,
                                      static_cast<double>(imaginary_part(host(i))) / p_norm);
    }
    evidence.largest = largest_shares(evidence.direction);
  }

  /// |x*|_A from below: |x*|_A^2 - |x* - x|_A^2 = x'(b + r) with r = b - A x, which q holds
  /// (Strakos & Tichy, BIT 45, 2005, DOI 10.1007/s10543-005-0032-1). Bytes a row: 40.
  double solution_norm() {
    Kokkos::Timer timer;
    const Vector<T, Exec>& x = monitor.x;
    const ConstVector<T, Exec>& b = monitor.b;
    const double x_scale = unit_scale(largest_part<T>(exec, x, monitor.sums));
    const double b_scale = unit_scale(largest_part<const T>(exec, b, monitor.sums));
    const double energy =
        sum_over<1>("krysol::cg(x'(b + r))", exec, rows(), monitor.sums,
                    cg_kernels::Energy<T>{x.data(), b.data(), q.data(), x_scale, b_scale})[0];
    result.residuals.seconds += timer.seconds();
    result.residuals.bytes += monitor.row_bytes(5);
    return energy > 0 ? std::sqrt(energy) / std::sqrt(x_scale) / std::sqrt(b_scale) : not_known;
  }
};

/// Solves A x = b for a symmetric (Hermitian) positive definite A.
///
///     r = b - A x,  z = M^-1 r,  p = z
///     repeat: alpha = r'z / p'Ap,  x = x + alpha p,  r = r - alpha A p,  z = M^-1 r,
///             beta = r'z / previous r'z,  p = z + beta p
///
/// Where M is not the same linear map in each call (is_fixed), beta = -z'Ap / p'Ap, which costs
/// one more reduction and is the same number where it is: flexible CG (Notay, SISC 22(4), 2000,
/// DOI 10.1137/S1064827599362314, with a memory of one direction). Nothing is said then of the
/// spectrum and of the error's A-norm, which come from coefficients of a fixed M.
///
/// a         rows x rows, any LinearOperator; the loop reads it once an iteration
/// b, x      [rows], not overlapping; x holds the starting guess and then the solution
/// m         symmetric positive definite; Identity{} for none
/// stop      |b - A x|_2 <= max(atol, rtol |b|_2), for the residual computed from x itself: when
///           that of the recurrence does, b - A x is computed, and the solve restarts from it where
///           the two have drifted apart (solver/krylov/monitor.hpp)
/// observer  called after each iteration; false ends the solve
/// options   lambda_min and confirm: see CgOptions
/// workspace vectors to work in and, where rows are spread over processes, their all-reduce;
///           nullptr: its own
///
/// Two reductions an iteration. Bytes a row and iteration in double, beside the matrix, with
/// Jacobi: A p 24 (p, and q written with its write-allocate), r 32, x and p 48: 104 together, 96
/// without the write-allocate. Sums are taken in an order that does not depend on the number of
/// threads, so neither do the bits of the result. Symmetry of A is not checked beforehand: where
/// the iteration fails, two more products show whether A is unsymmetric
/// (solver/krylov/asymmetry.hpp). Throws std::invalid_argument where sizes do not fit, b and x
/// overlap, or a number of stop or options is negative or not finite; OutOfMemory; what a, m and
/// observer throw. Every other outcome is in the result. Hestenes & Stiefel, J. Res. NBS 49, 1952,
/// DOI 10.6028/jres.049.044; Saad 2003, Alg. 9.1.
template <class Exec, class A, class T, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult
cg(const Exec& exec, const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b,
   const Vector<T, Exec>& x, const M& m, const StoppingCriteria& stop = {},
   const Observer& observer = {}, const CgOptions& options = {},
   Workspace<T, Exec>* workspace = nullptr) {
  const Kokkos::Profiling::ScopedRegion region("krysol::cg");
  Workspace<T, Exec> own;
  Monitor<T, Exec, A> monitor(cg_traits, exec, a, b, x, stop, observer,
                              workspace != nullptr ? *workspace : own);
  check_number("krysol::cg", "lambda_min", options.lambda_min,
               "positive, or 0 where no bound is known");
  check_number("krysol::cg", "confirm", options.confirm, "a number of bytes, or 0");
  const auto make_z = [&] { return monitor.vector(2, "cg.z"); };
  fused::choose<T, Exec>(m, make_z, [&](auto in_loop, auto apply_m) {
    CgRun<T, Exec, A, decltype(in_loop), decltype(apply_m)> run{monitor.exec, a,       in_loop,
                                                                apply_m,      options, monitor};
    run.flexible = !is_fixed(m);
    run.solve();
  });
  return std::move(monitor.result);
}

/// The same on the default instance of x's space.
template <class A, class T, class Exec, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult
cg(const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b, const Kokkos::View<T*, Exec>& x,
   const M& m, const StoppingCriteria& stop = {}, const Observer& observer = {},
   const CgOptions& options = {}, Workspace<T, Exec>* workspace = nullptr) {
  return cg(Exec{}, a, b, x, m, stop, observer, options, workspace);
}

}  // namespace krysol
