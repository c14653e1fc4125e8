// MINRES, preconditioned, for symmetric (Hermitian) systems that need not be definite.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/krylov/fused.hpp>
#include <krysol/solver/krylov/monitor.hpp>
#include <krysol/solver/outcome/named_options.hpp>

namespace krysol {

inline constexpr MethodTraits minres_traits{
    .name = "minres",
    .title = "MINRES",
    .needs_symmetry = true,
    .smallest = "residual of its Krylov space, in the norm of M^-1",
    .best_in = "the norm of the residual"};

namespace minres_kernels {

/// next := q / gamma - (delta / gamma) v - (gamma / before) old, in old's place; z = M^-1 next;
/// terms of next'z and next'next. Bytes a row: 32, with a diagonal 24 more.
template <class T, class M>
struct LanczosStep {
  T of_q;
  T of_v;
  T of_old;
  const T* q;
  const T* v;
  T* old;
  M m;
  T* z;  // not written where M = I
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const T next = of_q * q[i] - of_v * v[i] - of_old * old[i];
    old[i] = next;
    const T zi = m(i, next);
    if constexpr (!std::is_same_v<M, fused::NoPreconditioner<T>>) z[i] = zi;
    term[0] = real_product(next, zi);
    term[1] = abs_squared(next);
  }
};

/// The same without z, which needs all of next first. Bytes a row: 32.
template <class T>
struct NextVector {
  T of_q;
  T of_v;
  T of_old;
  const T* q;
  const T* v;
  T* old;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    old[i] = of_q * q[i] - of_v * v[i] - of_old * old[i];
  }
};

/// z := M^-1 v; terms of v'z and v'v. Bytes a row: 24, and 8 of a diagonal.
template <class T, class M>
struct FirstStep {
  const T* v;
  M m;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const T zi = m(i, v[i]);
    if constexpr (std::is_same_v<M, fused::Diagonal<T>>) z[i] = zi;
    term[0] = real_product(v[i], zi);
    term[1] = abs_squared(v[i]);
  }
};

/// w := (z / gamma - alpha3 old - alpha2 w) / alpha1 in old's place; e := e + step w;
/// r := s^2 r + (c eta / gamma_next) next; terms of r'r. Bytes a row: 72.
template <class T>
struct SolutionStep {
  T of_z;
  T of_old;
  T of_w;
  T step;
  T of_r;
  T of_next;
  const T* z;
  const T* w;
  const T* next;
  T* old;
  T* e;
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const T wi = of_z * z[i] - of_old * old[i] - of_w * w[i];
    old[i] = wi;
    e[i] += step * wi;
    const T ri = of_r * r[i] + of_next * next[i];
    r[i] = ri;
    term[0] = abs_squared(ri);
  }
};

}  // namespace minres_kernels

/// Everything that an iteration keeps. All vectors stay in the memory of Exec.
template <class T, class Exec, class A, class M, class ApplyM>
struct MinresRun {
  const Exec& exec;
  const A& a;
  M m;             // z(i) from v(i), in a fused loop
  ApplyM apply_m;  // makes z from all of v, where m needs that
  Monitor<T, Exec, A>& monitor;

  static constexpr bool identity = std::is_same_v<M, fused::NoPreconditioner<T>>;
  static constexpr bool applied = std::is_same_v<M, fused::Applied<T>>;

  Vector<T, Exec> r = monitor.vector(0, "minres.r");      // [rows] scale (b - A x), by recurrence
  Vector<T, Exec> v = monitor.vector(1, "minres.v");      // [rows] Lanczos vector times gamma
  Vector<T, Exec> next = monitor.vector(2, "minres.v'");  // [rows] the one before, then the next
  Vector<T, Exec> w = monitor.vector(3, "minres.w");      // [rows] direction
  Vector<T, Exec> old = monitor.vector(4, "minres.w'");   // [rows] the one before it
  Vector<T, Exec> z = identity ? v : monitor.vector(5, "minres.z");  // [rows] M^-1 v
  Vector<T, Exec> z_next = identity ? next : monitor.vector(6, "minres.z'");
  Vector<T, Exec>& q = monitor.q;  // [rows] A z, and b - A x where that is computed
  SolveResult& result = monitor.result;

  double gamma = 0;            // sqrt(v'z)
  double gamma_before = 1;     // of the Lanczos vector before
  double eta = 0;              // the residual in the norm of M^-1, times scale, with a sign
  double c = 1, c_before = 1;  // rotations that make the tridiagonal matrix triangular
  double s = 0, s_before = 0;
  double largest = 0;          // of the tridiagonal matrix: |M^-1 A|, or less
  std::int64_t next_look = 1;  // whether the residual is the smallest there is
  int looks = 0;
  // Of the Lanczos process since the last restart:
  double first_eta = 0;
  std::int64_t first = 0;                   // iterations before it
  double level = 0;                         // eta when it last fell by more than rounding
  std::int64_t level_since = 0;             // the iteration of that
  double least_reached = monitor.infinite;  // see looks_smallest
  std::int64_t trial_ends = 0;  // iteration by which a restart must have lowered eta; 0: none

  std::int64_t rows() const { return monitor.rows(); }

  void solve() {
    const std::optional<Status> end = monitor.begin();
    monitor.finish(end ? *end : iterate());
    if (result.status == Status::max_iterations || result.status == Status::time_limit ||
        result.status == Status::interrupted) {
      result.iterations_left = iterations_left_at_this_rate(result.history, result.target);
    }
    result.advice = advice(result);
  }

  Status iterate() {
    // v = r, z = M^-1 v, gamma = eta = sqrt(v'z)
    if (const auto end = first_vector(0)) return *end;
    for (std::int64_t k = 1;; ++k) {
      // q = A z;  delta = z'A z / gamma^2
      const double delta = multiply() / gamma / gamma;
      // v' = q / gamma - (delta / gamma) v - (gamma / previous gamma) previous v;  z' = M^-1 v'
      const auto [vz, vv] = lanczos_step(delta);
      if (!is_finite(delta) || !is_finite(vz) || !is_finite(vv)) {
        return monitor.end_early(Status::not_finite);
      }
      if (vz < 0 || (vz == 0 && vv > 0)) {
        return monitor.end_early(Status::indefinite_preconditioner);
      }
      const double gamma_next = std::sqrt(vz);
      // The last column of the tridiagonal matrix, by both rotations before and a new one.
      const double alpha0 = c * delta - c_before * s * gamma;
      const double alpha1 = std::hypot(alpha0, gamma_next);
      const double alpha2 = s * delta + c_before * c * gamma;
      const double alpha3 = s_before * gamma;
      largest = std::max({largest, std::abs(delta), gamma_next});
      // |A M^-1 r| of the residual so far, in units of |A M^-1||r|
      const double reached = std::hypot(alpha0, c * gamma_next) / largest;
      if (alpha1 == 0 || looks_smallest(k, reached)) {
        ++looks;
        next_look = 2 * k;
        if (const auto end = smallest_residual()) return *end;
        ++result.restarts;
        monitor.lost_iteration(k);
        if (monitor.at_limit(k)) return monitor.end_early(Status::max_iterations);
        if (const auto end = first_vector(k)) return *end;
        trial_ends = k + trial;
        continue;
      }
      const double c_next = alpha0 / alpha1;
      const double s_next = gamma_next / alpha1;
      // w = (z / gamma - alpha3 previous w' - alpha2 previous w) / alpha1;  x = x + c eta w
      const double step = c_next * eta;
      eta *= -s_next;
      const double rr = solution_step(alpha1, alpha2, alpha3, step, s_next, c_next, gamma_next);
      if (!is_finite(rr)) return monitor.end_early(Status::not_finite);
      c_before = c;
      c = c_next;
      s_before = s;
      s = s_next;
      gamma_before = gamma;
      gamma = gamma_next;
      std::swap(v, next);
      std::swap(z, z_next);
      std::swap(w, old);

      const Verdict seen = monitor.after_iteration(k, std::sqrt(rr) / monitor.scale);
      if (seen.end) return *seen.end;
      if (seen.restart) {
        if (const auto end = first_vector(k)) return *end;
      }
      if (k == trial_ends) {
        trial_ends = 0;
        if (!(std::abs(eta) < (1 - fall) * first_eta)) {
          monitor.drop_correction();
          return Status::inconsistent;
        }
      }
      const auto predict = [&] {
        return iterations_left_at_this_rate(result.history, result.target);
      };
      if (const auto end = monitor.limit(k, predict)) return *end;
    }
  }

  // --- the steps of the iteration, in order ---

  /// r := the true residual, scaled; all else as at the start, after k iterations.
  std::optional<Status> first_vector(std::int64_t k) {
    monitor.start(r);
    Kokkos::deep_copy(exec, v, r);
    for (const auto* zeroed : {&next, &w, &old}) Kokkos::deep_copy(exec, *zeroed, T(0));
    if constexpr (applied) precondition(v, z);
    const auto [vz, vv] = terms(v, z);
    if (!is_finite(vz) || !is_finite(vv)) return monitor.end_early(Status::not_finite);
    if (!(vz > 0)) return monitor.end_early(Status::indefinite_preconditioner);
    gamma = eta = std::sqrt(vz);
    gamma_before = 1;
    c = c_before = 1;
    s = s_before = 0;
    first = level_since = k;
    first_eta = level = eta;
    least_reached = monitor.infinite;
    trial_ends = 0;
    return std::nullopt;
  }

  double multiply() {
    const TimedWork work("SpMV", result.spmv);
    const double zq = apply_dot(exec, a, z, q, monitor.sums);
    work.done(monitor.spmv_bytes());
    return zq;
  }

  std::array<double, 2> lanczos_step(double delta) {
    const T of_q = from_double<T>(1 / gamma);
    const T of_v = from_double<T>(delta / gamma);
    const T of_old = from_double<T>(gamma / gamma_before);
    if constexpr (applied) {
      {
        const TimedWork work("vectors", result.vectors);
        for_each(
            "krysol::minres(v)", exec, rows(),
            minres_kernels::NextVector<T>{of_q, of_v, of_old, q.data(), v.data(), next.data()});
        exec.fence("krysol::minres(v)");
        work.done(monitor.row_bytes(4));
      }
      precondition(next, z_next);
      const TimedWork work("vectors", result.vectors);
      const auto sums = terms(next, z_next);
      work.done(monitor.row_bytes(2));
      return sums;
    } else {
      const TimedWork work("vectors", result.vectors);
      const auto sums =
          sum_over<2>("krysol::minres(v, v'z)", exec, rows(), monitor.sums,
                      minres_kernels::LanczosStep<T, M>{of_q, of_v, of_old, q.data(), v.data(),
                                                        next.data(), m, z_next.data()});
      work.done(monitor.row_bytes(identity ? 4 : 6) + M::bytes * static_cast<double>(rows()));
      return sums;
    }
  }

  double solution_step(double alpha1, double alpha2, double alpha3, double step, double s_next,
                       double c_next, double gamma_next) {
    const TimedWork work("vectors", result.vectors);
    const double of_next = gamma_next > 0 ? c_next * eta / gamma_next : 0;
    const double rr =
        sum_over<1>("krysol::minres(x, r'r)", exec, rows(), monitor.sums,
                    minres_kernels::SolutionStep<T>{
                        from_double<T>(1 / gamma / alpha1), from_double<T>(alpha3 / alpha1),
                        from_double<T>(alpha2 / alpha1), from_double<T>(step),
                        from_double<T>(s_next * s_next), from_double<T>(of_next), z.data(),
                        w.data(), next.data(), old.data(), monitor.e.data(), r.data()})[0];
    work.done(monitor.row_bytes(9));
    return rr;
  }

  // --- what they are made of ---

  void precondition(const Vector<T, Exec>& from, const Vector<T, Exec>& to) {
    if constexpr (applied) {
      const TimedWork work("preconditioner", result.preconditioner);
      apply_m.apply(exec, ConstVector<T, Exec>(from), to);
      exec.fence("krysol::minres(M)");
      work.done(apply_m.bytes());
    }
  }

  /// v'z and v'v; makes z where M is a diagonal.
  std::array<double, 2> terms(const Vector<T, Exec>& from, const Vector<T, Exec>& to) {
    M in_loop = m;
    if constexpr (applied) in_loop.z = to.data();
    return sum_over<2>("krysol::minres(v'z)", exec, rows(), monitor.sums,
                       minres_kernels::FirstStep<T, M>{from.data(), in_loop, to.data()});
  }

  // Iterations that a restart has at most, and by how much it must lower eta in them, relatively.
  // Where the residual was the smallest there is they lower it by 1e-8 or less.
  static constexpr std::int64_t trial = 10;
  static constexpr double fall = std::max(1e-6, 10 * Monitor<T, Exec, A>::epsilon);

  /// Whether the residual may be the smallest that any x has, which only a product tells:
  /// `reached`, |A M^-1 r| / (|A M^-1||r|), is at the level of rounding; or eta no longer falls,
  /// and `reached`, which rounding makes grow again once it is over with, has been at its least.
  /// Further steps would be divided by an alpha1 that is rounding, and x be lost.
  bool looks_smallest(std::int64_t k, double reached) {
    constexpr double epsilon = Monitor<T, Exec, A>::epsilon;
    if (std::abs(eta) * (1 + std::sqrt(epsilon)) < level) {
      level = std::abs(eta);
      level_since = k;
    }
    least_reached = std::min(least_reached, reached);
    if (trial_ends > 0) {  // which rounding makes shorter
      if (reached > 10 * least_reached) trial_ends = k;
      return false;
    }
    const bool vanishes = !(reached > 1000 * epsilon) && looks < 20;
    const bool doubtful = reached <= std::sqrt(epsilon) && k >= next_look;
    const bool flat = k - level_since >= std::max<std::int64_t>(10, (k - first) / 10);
    const bool grows_again = reached < 1e-3 && reached > 10 * least_reached;
    return vanishes || doubtful || (flat && grows_again);
  }

  /// Where A M^-1 r vanishes to rounding, no x has a smaller r in the norm of M^-1: x meets the
  /// tolerance, or is as good as this precision allows, or there is no solution. Two products.
  std::optional<Status> smallest_residual() {
    const double norm = monitor.take_correction();
    result.history.back() = norm;
    if (!is_finite(norm)) return Status::not_finite;
    if (norm <= result.target) return Status::converged;
    if (norm <= monitor.attainable()) return Status::stagnated;
    const double a_norm = monitor.norm_of_a();
    const Vector<T, Exec> z_of_r = identity ? q : monitor.work.vector(exec, 2, "krysol.zr", rows());
    const Vector<T, Exec> product = monitor.work.vector(exec, 3, "krysol.azr", rows());
    if constexpr (applied) {
      precondition(q, z_of_r);
    } else {
      terms(q, z_of_r);
    }
    apply(exec, T(1), a, ConstVector<T, Exec>(z_of_r), T(0), product);
    const double z_norm = norm2(exec, z_of_r, monitor.sums);
    const bool vanishes =
        norm2(exec, product, monitor.sums) <= 1000 * monitor.epsilon * a_norm * z_norm;
    return vanishes ? std::optional(Status::inconsistent) : std::nullopt;
  }
};

/// Solves A x = b for a symmetric (Hermitian) A, definite or not, by the x of the Krylov space with
/// the smallest residual in the norm of M^-1, which therefore never grows from step to step.
///
///     v = r = b - A x,  z = M^-1 v,  gamma = eta = sqrt(v'z)
///     repeat: delta = z'A z / gamma^2
///             v_next = A z / gamma - (delta / gamma) v - (gamma / gamma_before) v_before
///             z_next = M^-1 v_next,  gamma_next = sqrt(v_next'z_next)
///             alpha1, alpha2, alpha3: the new column of the tridiagonal matrix, after the two
///             rotations before and a new one, (c, s)
///             w = (z / gamma - alpha3 w_before_last - alpha2 w_last) / alpha1
///             x = x + c eta w,  eta = -s eta,  r = s^2 r + (c eta / gamma_next) v_next
///
/// a         rows x rows, any LinearOperator; the loop reads it once an iteration
/// b, x      [rows], not overlapping; x holds the starting guess and then the solution
/// m         symmetric positive definite, though A need not be; Identity{} for none
/// stop      |b - A x|_2 <= max(atol, rtol |b|_2), for the residual computed from x itself; see cg
/// observer  called after each iteration; false ends the solve
/// workspace vectors to work in and, where rows are spread over processes, their all-reduce;
///           nullptr: its own
///
/// A singular A is no obstacle where A x = b has a solution. Where it has none the solve ends as
/// `inconsistent` with a least-squares solution in the norm of M^-1, once A M^-1 r is at the level
/// of rounding, or |A M^-1 r| has become small against |A M^-1||r|, the residual has ceased to
/// fall, and ten iterations from the true residual do not lower it by a millionth. Of a few dozen
/// rows, of which the Lanczos vectors soon are all, it can go unseen. M that is seen
/// to be indefinite, v'M^-1 v <= 0, is indefinite_preconditioner.
///
/// Three reductions an iteration. Bytes a row and iteration in double, beside the matrix: A z 24,
/// v 32 and 24 with Jacobi, x and r 72: 128, or 152. Throws as cg does. Paige & Saunders, SIAM J.
/// Numer. Anal. 12(4), 1975, DOI 10.1137/0712047; with M as in Elman, Silvester & Wathen, Finite
/// Elements and Fast Iterative Solvers, 2nd ed., 2014, Alg. 4.1, DOI
/// 10.1093/acprof:oso/9780199678792.001.0001.
template <class Exec, class A, class T, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult minres(
    const Exec& exec, const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b,
    const Vector<T, Exec>& x, const M& m, const StoppingCriteria& stop = {},
    const Observer& observer = {}, const NoOptions& = {}, Workspace<T, Exec>* workspace = nullptr) {
  const Kokkos::Profiling::ScopedRegion region("krysol::minres");
  Workspace<T, Exec> own;
  Monitor<T, Exec, A> monitor(minres_traits, exec, a, b, x, stop, observer,
                              workspace != nullptr ? *workspace : own);
  const auto make_z = [&] { return monitor.vector(5, "minres.z"); };
  fused::choose<T, Exec>(m, make_z, [&](auto in_loop, auto apply_m) {
    MinresRun<T, Exec, A, decltype(in_loop), decltype(apply_m)> run{monitor.exec, a, in_loop,
                                                                    apply_m, monitor};
    run.solve();
  });
  return std::move(monitor.result);
}

/// The same on the default instance of x's space.
template <class A, class T, class Exec, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec> SolveResult
minres(const A& a, const std::type_identity_t<ConstVector<T, Exec>>& b,
       const Kokkos::View<T*, Exec>& x, const M& m, const StoppingCriteria& stop = {},
       const Observer& observer = {}, const NoOptions& options = {},
       Workspace<T, Exec>* workspace = nullptr) {
  return minres(Exec{}, a, b, x, m, stop, observer, options, workspace);
}

}  // namespace krysol
