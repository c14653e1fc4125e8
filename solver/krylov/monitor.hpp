// What every method shares: the true residual, when to stop, and what is told of the solve.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include <krysol/solver/krylov/asymmetry.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/krylov/rounding.hpp>
#include <krysol/solver/krylov/thread_choice.hpp>
#include <krysol/solver/krylov/workspace.hpp>
#include <krysol/solver/outcome/advice.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/solver/outcome/timed_work.hpp>

namespace krysol {

namespace monitor_kernels {

/// r := scale r. Bytes a row: 16.
template <class T>
struct Scale {
  T scale;
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { r[i] *= scale; }
};

/// x := x + scale e; e := 0. Bytes a row: 32.
template <class T>
struct TakeCorrection {
  T scale;
  T* e;
  T* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    x[i] += scale * e[i];
    e[i] = T(0);
  }
};

}  // namespace monitor_kernels

/// What follows from a look at the iteration: an end, a restart from the true residual, or neither.
struct Verdict {
  std::optional<Status> end{};
  bool restart = false;
};

/// Accompanies a method that updates a residual r and a correction e to x by recurrences, both
/// times `scale`. The recurrence only triggers the test: where its |r| meets the tolerance, b - A x
/// is computed, and that decides. e is summed apart from x, so that its own rounding shrinks with
/// each restart (van der Vorst & Ye, SISC 22(3), 2000, DOI 10.1137/S1064827599353865).
///
///     Monitor<T, Exec, A> monitor(traits, exec, a, b, x, stop, observer, work);
///     if (const auto end = monitor.begin()) return monitor.finish(*end);
///     monitor.start(r);                        // r := scale (b - A x)
///     for (k = 1;; ++k) {
///       ...                                    // one multiplication by A; e, r of the method
///       const Verdict seen = monitor.after_iteration(k, |r| / scale);
///       if (seen.end) return monitor.finish(*seen.end);
///       if (seen.restart) monitor.start(r), ...
///       if (const auto end = monitor.limit(k, predict)) return monitor.finish(*end);
///     }
///
/// Throws std::invalid_argument, naming the method, where sizes do not fit, b and x overlap, or a
/// stopping criterion makes no sense. All vectors stay in the memory of Exec.
template <class T, class Exec, class A>
struct Monitor {
  static constexpr double epsilon = static_cast<double>(std::numeric_limits<Real<T>>::epsilon());
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr std::size_t first_free = 5;  // vector of the workspace, for methods

  ThreadChoice<Exec> threads;
  const Exec& exec;  // for the iteration in progress: what was given, or fewer of its threads
  const A& a;
  ConstVector<T, Exec> b;  // [rows]
  Vector<T, Exec> x;       // [rows] without e / scale
  const StoppingCriteria& stop;
  const Observer& observer;
  Workspace<T, Exec>& work;
  ReductionWorkspace<Exec>& sums;

  Vector<T, Exec> q{};          // [rows] b - A x after take_correction; room for the method between
  Vector<T, Exec> e{};          // [rows] scale times the correction to x since the last look
  double scale = 1;             // a power of two that keeps squares of r in range
  double goal = 0;              // the recurrence's norm at which the true residual is computed
  double matrix_norm = 0;       // |A|_2, estimated when it is first needed
  Vector<T, Exec> kept{};       // [rows] x as it was before a restart from within rounding
  double kept_norm = infinite;  // its |b - A x|
  std::int64_t max_iterations = 0;
  std::int64_t next_look = 256;  // at the rounding of x
  bool votes = false;            // processes agree on time limits and observers
  bool iterated = false;
  SolveResult result{};
  Kokkos::Timer clock{};

  Monitor(const MethodTraits& method, const Exec& space, const A& matrix,
          const ConstVector<T, Exec>& rhs, const Vector<T, Exec>& guess,
          const StoppingCriteria& criteria, const Observer& seen, Workspace<T, Exec>& workspace)
      : threads(space),
        exec(threads.exec()),
        a(matrix),
        b(rhs),
        x(guess),
        stop(criteria),
        observer(seen),
        work(workspace),
        sums(workspace.sums) {
    const std::string name = "krysol::" + std::string(method.name);
    check_system(name, a.rows, a.cols, b.extent(0), x.extent(0));
    check_apart(name, b.data(), x.data(), x.extent(0) * sizeof(T));
    check_stop(name, stop);
    if (static_cast<bool>(sums.all_reduce.sum) != static_cast<bool>(sums.all_reduce.max)) {
      throw std::invalid_argument(name + ": an all-reduce needs both its sum and its max");
    }
    result.method = method;
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(x.extent(0)); }
  double row_bytes(double words) const { return words * sizeof(T) * static_cast<double>(rows()); }

  /// Bytes of one A p: the matrix, p once, q written with its write-allocate.
  double spmv_bytes() const {
    const auto matrix = static_cast<double>(bytes_of(a));
    return matrix > 0 ? matrix + row_bytes(3) : 0;
  }

  /// [rows] vector number k of the method.
  Vector<T, Exec> vector(std::size_t k, const char* label) {
    return work.vector(exec, first_free + k, label, rows());
  }

  /// Norms, target and b - A x0; an end where there is nothing to iterate for.
  std::optional<Status> begin() {
    q = work.vector(exec, 0, "krysol.q", rows());
    e = work.vector(exec, 1, "krysol.e", rows());
    Kokkos::deep_copy(exec, e, T(0));
    agree();
    result.b_norm = norm2(exec, b, sums);
    result.target = std::max(stop.atol, stop.rtol * result.b_norm);
    result.initial_residual = true_residual();
    result.history = {result.initial_residual};
    if (!is_finite(result.b_norm) || !is_finite(result.initial_residual)) {
      result.breakdown.row =
          first_not_finite(is_finite(result.b_norm) ? ConstVector<T, Exec>(q) : b);
      return Status::not_finite;
    }
    if (result.b_norm == 0) {  // A 0 = 0, whatever was guessed
      Kokkos::deep_copy(exec, x, T(0));
      result.residual = 0;
    }
    if (result.residual <= result.target) return Status::converged;
    return std::nullopt;
  }

  /// r := the true residual, scaled, for a recurrence that begins; q takes r's memory.
  void start(Vector<T, Exec>& r) {
    iterated = true;
    std::swap(r, q);
    scale = unit_scale(largest_part<T>(exec, r, sums));
    if constexpr (std::is_same_v<Real<T>, float>) {
      scale = std::clamp(scale, std::ldexp(1.0, -120), std::ldexp(1.0, 120));
    }
    for_each("krysol::monitor(scale)", exec, rows(),
             monitor_kernels::Scale<T>{from_double<T>(scale), r.data()});
    // Below eps |b| no residual can be told from rounding; a goal of 0 would never be reached.
    goal = std::max(result.target, epsilon * result.b_norm);
  }

  /// Iteration k has been made, and its recurrence has |r| = `recurrence`.
  Verdict after_iteration(std::int64_t k, double recurrence) {
    result.iterations = k;
    result.history.push_back(recurrence);
    return recurrence <= goal ? look(recurrence) : Verdict{};
  }

  /// Iteration k was a multiplication, though x stays.
  void lost_iteration(std::int64_t k) {
    result.iterations = k;
    result.history.push_back(result.residual);
  }

  bool at_limit(std::int64_t k) const { return k >= max_iterations; }

  /// What ends the solve after iteration k other than its residual. predict(): iterations left.
  template <class Predict>
  std::optional<Status> limit(std::int64_t k, const Predict& predict) {
    if (at_limit(k)) return end_early(Status::max_iterations);
    look_at_rounding(k);
    threads.after_iteration();
    const double seconds = clock.seconds();
    double late = stop.time_limit_s > 0 && seconds >= stop.time_limit_s ? 1 : 0;
    double unwanted = late == 0 && observer && !observer(progress(k, seconds, predict())) ? 1 : 0;
    if (votes) {
      double ballot[] = {late, unwanted};
      sums.all_reduce.max(ballot, 2);
      late = ballot[0];
      unwanted = ballot[1];
    }
    if (late > 0) return end_early(Status::time_limit);
    if (unwanted > 0) return end_early(Status::interrupted);
    return std::nullopt;
  }

  /// The recurrence says "converged", or cannot go on: see what is true. Goes on with the
  /// recurrence where it has drifted little; a restart is counted.
  Verdict look(double recurrence) {
    const double norm = take_correction();
    result.history.back() = norm;
    if (!is_finite(norm)) return {Status::not_finite};
    if (norm <= result.target) return {Status::converged};
    const double drift = norm - recurrence;
    if (drift < 0.5 * result.target) {  // the tolerance is in reach, whatever attainable() fears
      goal = std::min(0.7 * goal, result.target - 1.5 * drift);
      return {};
    }
    if (within_rounding(norm) && !restart_helps(norm)) return {Status::stagnated};
    ++result.restarts;
    return {std::nullopt, true};
  }

  /// Ends early with the x so far, unless that turns out to be good enough.
  Status end_early(Status status) {
    const double norm = take_correction();
    result.history.back() = norm;
    if (is_finite(norm) && norm <= result.target) return Status::converged;
    take_kept(norm);
    return status;
  }

  /// Whether |b - A x| = `norm`, or that of an x before it, may be nothing but rounding.
  bool within_rounding(double norm) { return std::min(norm, kept_norm) <= attainable(); }

  /// Within rounding: whether another restart may lower |b - A x| = `norm`. attainable() is a
  /// bound; what x can have may lie far below it, at the residual that rounding x alone makes, and
  /// the restarts come near to that as long as each halves the norm (as iterative refinement in one
  /// precision does: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section
  /// 12.2). Keeps x; where no restart helps, x becomes the best so far. One product.
  bool restart_helps(double norm) {
    constexpr double near_floor = 3;  // restarts were seen to end at 2 to 2.5 times it
    see_rounding(work.vector(exec, 3, "krysol.w", rows()));  // a restart begins with q
    if (!(norm <= 0.5 * kept_norm) || norm <= near_floor * result.rounding) {
      take_kept(norm);
      return false;
    }
    if (kept.extent(0) == 0) kept = work.vector(exec, 4, "krysol.kept", rows());
    Kokkos::deep_copy(exec, kept, x);
    kept_norm = norm;
    return true;
  }

  /// x := x + e / scale, q := b - A x; returns |b - A x|.
  double take_correction() {
    const TimedWork timed("true residuals", result.residuals);
    for_each("krysol::monitor(x += e)", exec, rows(),
             monitor_kernels::TakeCorrection<T>{from_double<T>(1 / scale), e.data(), x.data()});
    const double norm = true_residual();
    timed.done(spmv_bytes() + row_bytes(8));
    return norm;
  }

  /// e := 0: x was better without it, with the true residual that was last computed.
  void drop_correction() {
    Kokkos::deep_copy(exec, e, T(0));
    result.history.back() = result.residual;
  }

  double true_residual() {
    Kokkos::deep_copy(exec, q, b);
    apply(exec, T(-1), a, ConstVector<T, Exec>(x), T(1), q);
    result.residual = norm2(exec, q, sums);
    return result.residual;
  }

  /// The level below which |b - A x| cannot be told from rounding: 10 eps (|A|_2 |x|_2 + |b|_2).
  /// |A|_2 comes from a power iteration, which can only underestimate it.
  double attainable() {
    const double ax = norm_of_a() * norm2(exec, x, sums);
    result.attainable = 10 * epsilon * (ax + result.b_norm);
    if (result.b_norm > 0) result.growth = ax / result.b_norm;
    return result.attainable;
  }
  double norm_of_a() {
    if (matrix_norm == 0) {
      matrix_norm = estimate_norm<T>(exec, a, work.vector(exec, 2, "krysol.v", rows()),
                                     work.vector(exec, 3, "krysol.w", rows()), sums);
    }
    return matrix_norm;
  }

  /// Looks at ever longer intervals: less than 0.5 % of the products. Overwrites q.
  void look_at_rounding(std::int64_t k) {
    if (k < next_look) return;
    next_look = 2 * k;
    see_rounding(q);
  }

  /// `room` is overwritten. One product.
  void see_rounding(const Vector<T, Exec>& room) {
    Kokkos::Timer timer;
    result.rounding = rounding_residual<T>(exec, a, x, e, 1 / scale,
                                           work.vector(exec, 2, "krysol.d", rows()), room, sums);
    result.residuals.seconds += timer.seconds();
    result.residuals.bytes += spmv_bytes() + row_bytes(6);
  }

  /// x := the x that was kept, where that is better than x with |b - A x| = `norm`.
  void take_kept(double norm) {
    if (kept.extent(0) == 0 || norm <= kept_norm) return;
    Kokkos::deep_copy(exec, x, kept);
    result.history.back() = true_residual();
  }

  /// Sets status and seconds, and sees whether an unsymmetric A explains a failure. The method adds
  /// what it alone knows, and then the sentence: result.advice = advice(result).
  void finish(Status status) {
    result.status = status;
    if (result.iterations > 0 && !result.converged()) look_at_rounding(next_look);
    result.seconds = clock.seconds();
    const bool suspect = status == Status::max_iterations || status == Status::indefinite_matrix ||
                         status == Status::inconsistent || status == Status::not_finite;
    if (!iterated || !suspect || !result.method.needs_symmetry) return;
    const double seen = asymmetry_seen<T>(exec, a, q, 2, work);
    if (!is_finite(seen) || seen <= tolerated_asymmetry<T>()) return;
    result.status = Status::not_symmetric;
    result.breakdown.asymmetry = seen;
    result.breakdown.complex_entries = is_complex<T>;
  }

 private:
  /// What all processes must know alike.
  void agree() {
    double all_rows = static_cast<double>(rows());
    if (sums.all_reduce.spread()) {
      double any = stop.time_limit_s > 0 || observer ? 1 : 0;
      sums.all_reduce.max(&any, 1);
      votes = any > 0;
      sums.all_reduce.sum(&all_rows, 1);
    }
    max_iterations =
        stop.max_iterations > 0 ? stop.max_iterations : 10 * static_cast<std::int64_t>(all_rows);
  }

  Index first_not_finite(const ConstVector<T, Exec>& v) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      if (!is_finite(host(i))) return static_cast<Index>(i);
    }
    return -1;
  }

  Progress progress(std::int64_t k, double seconds, std::int64_t left) const {
    const double seconds_left =
        left < 0 ? -1 : seconds / static_cast<double>(k) * static_cast<double>(left);
    return {k, result.history.back(), result.target, seconds, left, seconds_left, result.rounding};
  }
};

}  // namespace krysol
