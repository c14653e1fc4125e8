// Conjugate gradients, preconditioned, for symmetric (Hermitian) positive definite systems.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <stdexcept>
#include <tuple>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/krylov/rounding.hpp>
#include <krysol/solver/outcome/advice.hpp>
#include <krysol/solver/outcome/lanczos_monitor.hpp>
#include <krysol/solver/outcome/solver.hpp>

namespace krysol {

/// Everything that an iteration keeps. All vectors stay in the memory of Exec.
template <class T, class Exec, class A, class M, class ApplyM>
struct CgRun {
  const Exec& exec;
  const A& a;
  ConstVector<T, Exec> b;
  Vector<T, Exec> x;
  M m;             // z(i) from r(i), in a fused loop
  ApplyM apply_m;  // makes z from all of r, where m needs that
  const StoppingCriteria& stop;
  const Observer& observer;

  Vector<T, Exec> r{};  // [rows] scale (b - A x), by its recurrence
  Vector<T, Exec> p{};  // [rows] direction
  Vector<T, Exec> q{};  // [rows] A p
  Vector<T, Exec> e{};  // [rows] scale times the correction to x since the last true residual
  ReductionWorkspace<Exec> sums{};
  double scale = 1;              // a power of two that keeps squares of r in range
  double goal = 0;               // the recurrence's norm at which the true residual is computed
  double matrix_norm = 0;        // |A|_2, estimated when it is first needed
  std::int64_t next_look = 256;  // at the rounding of x
  bool used_up = false;          // a direction of p'Ap = 0 was met, and a restart tried
  LanczosMonitor lanczos{};
  SolveResult result{};
  Kokkos::Timer clock{};

  std::int64_t rows() const { return static_cast<std::int64_t>(x.extent(0)); }
  double row_bytes(double words) const { return words * sizeof(T) * static_cast<double>(rows()); }

  /// Bytes of one A p: the matrix, p once, q written with its write-allocate.
  double spmv_bytes() const {
    const auto matrix = static_cast<double>(bytes_of(a));
    return matrix > 0 ? matrix + row_bytes(3) : 0;
  }

  // --- the steps of the iteration, in order ---

  double multiply() {
    Kokkos::Timer timer;
    const double pq = apply_dot(exec, a, p, q, sums);
    result.spmv.add(timer.seconds(), spmv_bytes());
    return pq;
  }

  std::array<double, 2> residual_step(double alpha) {
    using namespace cg_kernels;
    Kokkos::Timer timer;
    if constexpr (std::is_same_v<M, Applied<T>>) {
      axpby<T>(exec, from_double<T>(-alpha), q, T(1), r);
      exec.fence("krysol::cg(r)");
      result.vectors.add(timer.seconds(), row_bytes(3));
      precondition();
      timer.reset();
      const auto terms = residual_terms();
      result.vectors.add(timer.seconds(), row_bytes(2));
      return terms;
    } else {
      const auto terms =
          sum_over<2>("krysol::cg(r, r'r, r'z)", exec, rows(), sums,
                      ResidualStep<T, M>{from_double<T>(alpha), q.data(), r.data(), m});
      result.vectors.add(timer.seconds(), row_bytes(3) + diagonal_bytes());
      return terms;
    }
  }

  void direction_step(double alpha, double beta) {
    Kokkos::Timer timer;
    for_each("krysol::cg(x, p)", exec, rows(),
             cg_kernels::DirectionStep<T, M>{from_double<T>(alpha), from_double<T>(beta), r.data(),
                                             m, p.data(), e.data()});
    exec.fence("krysol::cg(x, p)");
    result.vectors.add(timer.seconds(), row_bytes(5) + diagonal_bytes());
  }

  // --- what they are made of ---

  double diagonal_bytes() const { return M::bytes * static_cast<double>(rows()); }

  void precondition() {
    if constexpr (std::is_same_v<M, cg_kernels::Applied<T>>) {
      Kokkos::Timer timer;
      apply_m.apply(exec, ConstVector<T, Exec>(r), apply_m.z);
      exec.fence("krysol::cg(M)");
      result.preconditioner.add(timer.seconds(), apply_m.bytes());
    }
  }

  std::array<double, 2> residual_terms() {
    return sum_over<2>("krysol::cg(r'r, r'z)", exec, rows(), sums,
                       cg_kernels::ResidualTerms<T, M>{r.data(), m});
  }

  /// x := x + e, q := b - A x; returns |b - A x|.
  double take_correction() {
    Kokkos::Timer timer;
    for_each("krysol::cg(x += e)", exec, rows(),
             cg_kernels::TakeCorrection<T>{from_double<T>(1 / scale), e.data(), x.data()});
    const double norm = true_residual();
    result.residuals.add(timer.seconds(), spmv_bytes() + row_bytes(8));
    return norm;
  }

  double true_residual() {
    Kokkos::deep_copy(exec, q, b);
    apply(exec, T(-1), a, ConstVector<T, Exec>(x), T(1), q);
    result.residual = norm2(exec, q, sums);
    return result.residual;
  }

  /// r := q, scaled; p := M^-1 r. Returns r'z.
  double start_from_true_residual() {
    std::swap(r, q);
    scale = unit_scale(largest_part<T>(exec, r));
    if constexpr (std::is_same_v<Real<T>, float>) {
      scale = std::clamp(scale, std::ldexp(1.0, -120), std::ldexp(1.0, 120));
    }
    for_each("krysol::cg(scale)", exec, rows(),
             cg_kernels::Scale<T>{from_double<T>(scale), r.data()});
    precondition();
    for_each("krysol::cg(p)", exec, rows(),
             cg_kernels::FirstDirection<T, M>{r.data(), m, p.data()});
    // Below eps |b| no residual can be told from rounding; a goal of 0 would never be reached.
    goal = std::max(result.target,
                    static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) * result.b_norm);
    const double rho = residual_terms()[1];
    lanczos.start(rho, scale, result.residual);
    return rho;
  }

  /// The level below which |b - A x| cannot be told from rounding: 10 eps (|A|_2 |x|_2 + |b|_2).
  /// |A|_2 comes from a power iteration, which can only underestimate it.
  double attainable() {
    if (matrix_norm == 0) matrix_norm = estimate_norm<T>(exec, a, sums);
    result.attainable = 10 * static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) *
                        (matrix_norm * norm2(exec, x, sums) + result.b_norm);
    return result.attainable;
  }

  /// Looks at ever longer intervals: less than 0.5 % of the products.
  void look_at_rounding(std::int64_t k) {
    if (k < next_look) return;
    next_look = 2 * k;
    Kokkos::Timer timer;
    result.rounding = rounding_residual<T>(exec, a, x, e, 1 / scale, q, sums);
    result.residuals.seconds += timer.seconds();
    result.residuals.bytes += spmv_bytes() + row_bytes(6);
  }

  /// The recurrence says "converged": see whether it is true. Returns true where the solve is over.
  /// Otherwise goes on with the recurrence where it has drifted little, or restarts from the true
  /// residual (which sets rho). The correction is summed apart from x, so that its own rounding
  /// shrinks with each restart (van der Vorst & Ye, SISC 22(3), 2000,
  /// DOI 10.1137/S1064827599353865).
  bool settled(double recurrence, double& rho) {
    const double norm = take_correction();
    result.history.back() = norm;
    if (!std::isfinite(norm)) return finish(Status::not_finite);
    if (norm <= result.target) return finish(Status::converged);
    const double drift = norm - recurrence;
    if (drift < 0.5 * result.target) {  // the tolerance is in reach, whatever attainable() fears
      goal = std::min(0.7 * goal, result.target - 1.5 * drift);
      return false;
    }
    if (norm <= attainable()) return finish(Status::stagnated);
    ++result.restarts;
    rho = start_from_true_residual();
    return false;
  }

  /// p'Ap is not positive. Where that is more than rounding, A is not positive definite; where it
  /// is not, the direction is used up and the solve restarts once. Returns true where it is over.
  bool broke_down(double pq, bool first_direction, double& rho) {
    const double norm = take_correction();
    result.history.back() = norm;
    if (!std::isfinite(pq) || !std::isfinite(norm)) return finish(Status::not_finite);
    if (norm <= result.target) return finish(Status::converged);
    const double level = attainable();
    const double p_norm = norm2(exec, p, sums);
    const double rounding = 10 * static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) *
                            matrix_norm * p_norm * p_norm;
    if (pq >= -rounding) {
      if (norm <= level) return finish(Status::stagnated);
      if (!first_direction && !used_up) {
        used_up = true;
        ++result.restarts;
        rho = start_from_true_residual();
        return false;
      }
      pq = 0;  // what it cannot be told from
    }
    record_direction(pq, p_norm);
    return finish(Status::indefinite_matrix);
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

  bool finish(Status status) {
    result.status = status;
    if (result.iterations > 0) {
      result.error.solution_norm = solution_norm();
      if (!result.converged()) look_at_rounding(next_look);
    }
    result.seconds = clock.seconds();
    lanczos.conclude(stop.lambda_min, result);
    result.advice = advice(result);
    return true;
  }

  /// |x*|_A from below: |x*|_A^2 - |x* - x|_A^2 = x'(b + r) with r = b - A x, which q holds
  /// (Strakos & Tichy, BIT 45, 2005, DOI 10.1007/s10543-005-0032-1). Bytes a row: 40.
  double solution_norm() {
    Kokkos::Timer timer;
    const double x_scale = unit_scale(largest_part<T>(exec, x));
    const double b_scale = unit_scale(largest_part<const T>(exec, b));
    const double energy =
        sum_over<1>("krysol::cg(x'(b + r))", exec, rows(), sums,
                    cg_kernels::Energy<T>{x.data(), b.data(), q.data(), x_scale, b_scale})[0];
    result.residuals.seconds += timer.seconds();
    result.residuals.bytes += row_bytes(5);
    return energy > 0 ? std::sqrt(energy) / std::sqrt(x_scale) / std::sqrt(b_scale) : not_known;
  }

  /// Ends early with the x so far, unless that turns out to be good enough.
  bool finish_early(Status status) {
    const double norm = take_correction();
    result.history.back() = norm;
    return finish(norm <= result.target ? Status::converged : status);
  }

  void solve() {
    r = uninitialized<T>(exec, "cg.r", rows());
    p = uninitialized<T>(exec, "cg.p", rows());
    q = uninitialized<T>(exec, "cg.q", rows());
    e = zeros<T>(exec, "cg.e", rows());

    result.b_norm = norm2(exec, b, sums);
    result.target = std::max(stop.atol, stop.rtol * result.b_norm);
    result.initial_residual = true_residual();
    result.history = {result.initial_residual};
    if (!std::isfinite(result.b_norm) || !std::isfinite(result.initial_residual)) {
      result.breakdown.row =
          first_not_finite(std::isfinite(result.b_norm) ? ConstVector<T, Exec>(q) : b);
      finish(Status::not_finite);
      return;
    }
    if (result.b_norm == 0) {  // A 0 = 0, whatever was guessed
      Kokkos::deep_copy(exec, x, T(0));
      result.residual = 0;
    }
    if (result.residual <= result.target) {
      finish(Status::converged);
      return;
    }
    iterate();
  }

  Index first_not_finite(const ConstVector<T, Exec>& v) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      if (!std::isfinite(real_part(host(i))) || !std::isfinite(imaginary_part(host(i)))) {
        return static_cast<Index>(i);
      }
    }
    return -1;
  }

  Progress progress(std::int64_t k, double seconds) {
    const std::int64_t left = lanczos.iterations_left(result.target);
    const double seconds_left =
        left < 0 ? -1 : seconds / static_cast<double>(k) * static_cast<double>(left);
    return {k, result.history.back(), result.target, seconds, left, seconds_left, result.rounding};
  }

  void iterate() {
    const std::int64_t limit = stop.max_iterations > 0 ? stop.max_iterations : 10 * rows();
    bool first_direction = true;
    double rho = start_from_true_residual();  // p = z = M^-1 r, rho = r'z
    for (std::int64_t k = 1;; ++k) {
      if (!(rho > 0)) {
        finish_early(std::isfinite(rho) ? Status::indefinite_preconditioner : Status::not_finite);
        return;
      }
      // q = A p
      const double pq = multiply();
      if (!(pq > 0) || !std::isfinite(pq)) {
        if (broke_down(pq, first_direction, rho)) return;
        result.iterations = k;  // a multiplication, though x stays
        result.history.push_back(result.residual);
        first_direction = true;
        if (k < limit) continue;
        finish_early(Status::max_iterations);
        return;
      }
      // alpha = r'z / p'Ap;  r = r - alpha q;  z = M^-1 r
      const double alpha = rho / pq;
      const auto [rr, rho_next] = residual_step(alpha);
      if (!std::isfinite(rr) || !std::isfinite(rho_next)) {
        finish_early(Status::not_finite);
        return;
      }
      // x = x + alpha p;  beta = r'z / previous r'z;  p = z + beta p
      direction_step(alpha, rho_next / rho);
      rho = rho_next;
      first_direction = false;

      const double recurrence = std::sqrt(rr) / scale;
      lanczos.step(k, alpha, rho, recurrence);
      result.iterations = k;
      result.history.push_back(recurrence);
      if (recurrence <= goal) {
        const std::int64_t before = result.restarts;
        if (settled(recurrence, rho)) return;
        first_direction = result.restarts > before;
      }
      if (k >= limit) {
        finish_early(Status::max_iterations);
        return;
      }
      look_at_rounding(k);
      const double seconds = clock.seconds();
      if (stop.time_limit_s > 0 && seconds >= stop.time_limit_s) {
        finish_early(Status::time_limit);
        return;
      }
      if (observer && !observer(progress(k, seconds))) {
        finish_early(Status::interrupted);
        return;
      }
    }
  }
};

/// For preconditioners that are part of the fused loops.
struct NothingToApply {};

/// For those that are not: where z lives.
template <class M, class T, class Exec>
struct ApplyToVector {
  const M& m;
  Vector<T, Exec> z;

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& to) const {
    m.apply(exec, r, to);
  }
  double bytes() const { return static_cast<double>(bytes_of(m)); }
};

/// Solves A x = b for a symmetric (Hermitian) positive definite A.
///
///     r = b - A x,  z = M^-1 r,  p = z
///     repeat: alpha = r'z / p'Ap,  x = x + alpha p,  r = r - alpha A p,  z = M^-1 r,
///             beta = r'z / previous r'z,  p = z + beta p
///
/// a         rows x rows, any LinearOperator; the loop reads it once an iteration
/// b, x      [rows], not overlapping; x holds the starting guess and then the solution
/// m         symmetric positive definite; Identity{} for none
/// stop      |b - A x|_2 <= max(atol, rtol |b|_2), for the residual computed from x itself: when
/// the
///           recurrence says so, b - A x is computed, and the solve restarts from it where the two
///           have drifted apart
/// observer  called after each iteration; false ends the solve
///
/// Two reductions an iteration. Bytes a row and iteration in double, beside the matrix, with
/// Jacobi: A p 24 (p, and q written with its write-allocate), r 32, x and p 48: 104 together, 96 as
/// named. Sums are taken in an order that does not depend on the number of threads, so neither do
/// the bits of the result. Throws std::invalid_argument where sizes do not fit; all else is in the
/// result. Hestenes & Stiefel, J. Res. NBS 49, 1952, DOI 10.6028/jres.049.044; Saad 2003, Alg. 9.1.
template <class Exec, class A, class T, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult
cg(const Exec& exec, const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b,
   const Vector<T, Exec>& x, const M& m, const StoppingCriteria& stop = {},
   const Observer& observer = {}) {
  using namespace cg_kernels;
  const Kokkos::Profiling::ScopedRegion region("krysol::cg");
  check_system("krysol::cg", a.rows, a.cols, b.extent(0), x.extent(0));
  check_stop("krysol::cg", stop);
  const auto run = [&](auto fused, auto apply_m) {
    CgRun<T, Exec, A, decltype(fused), decltype(apply_m)> state{exec,  a,       b,    x,
                                                                fused, apply_m, stop, observer};
    state.solve();
    return std::move(state.result);
  };
  const auto run_applied = [&] {
    const auto z = uninitialized<T>(exec, "cg.z", static_cast<std::int64_t>(x.extent(0)));
    return run(Applied<T>{z.data()}, ApplyToVector<M, T, Exec>{m, z});
  };
  if constexpr (std::is_same_v<M, Identity>) {
    return run(NoPreconditioner<T>{}, NothingToApply{});
  } else if constexpr (requires { m.is_diagonal(); }) {
    if (!m.is_diagonal()) return run_applied();
    const ConstVector<Real<T>, Exec> inverse = m.inverse_diagonal();
    if (inverse.extent(0) == 0) return run(NoPreconditioner<T>{}, NothingToApply{});
    return run(Diagonal<T>{inverse.data()}, NothingToApply{});
  } else if constexpr (DiagonalPreconditioner<M, T, Exec>) {
    return run(Diagonal<T>{m.inverse_diagonal().data()}, NothingToApply{});
  } else {
    return run_applied();
  }
}

/// The same on the default instance of x's space.
template <class A, class T, class Exec, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult
cg(const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b, const Kokkos::View<T*, Exec>& x,
   const M& m, const StoppingCriteria& stop = {}, const Observer& observer = {}) {
  return cg(Exec{}, a, b, x, m, stop, observer);
}

}  // namespace krysol
