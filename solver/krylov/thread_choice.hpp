// All threads of a host or one of them, whichever makes iterations faster: measured while they run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <krysol/spmv/base/processor.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

namespace krysol {

/// When to try another number of threads, from the times of iterations alone.
///
/// Threads meet at the end of each kernel, and all wait for the slowest. Where another process
/// takes a core, the thread on it is suspended for some milliseconds each time, and one thread
/// alone may be ten times as fast; and kernels of a few microseconds do not pay for waking the
/// other threads. The bits of a solve do not depend on the number of threads, so it may change
/// between iterations.
///
/// Iterations with all threads are timed in windows of some milliseconds, longer than the time
/// slice of a process. A trial with one thread follows where iterations are short, where their mean
/// time is well above the least, or where the calling thread lacked its core for a quarter of the
/// time. The faster number is kept; the other is tried again after 16 times the length of the
/// trial, and after each trial that it loses the wait doubles. The first iteration after a change
/// is not counted unless it is long, because the caches hold what the other number of threads read.
class ThreadTrials {
 public:
  static constexpr double short_iteration = 30e-6;  // s: three kernels, waking threads for each
  static constexpr double disturbed = 1.5;          // mean over least seconds of an iteration
  static constexpr double own_core = 0.75;          // of the time, at the least
  static constexpr double benefit = 0.9;            // time of one thread over that of all, at most
  static constexpr int least_count = 4;             // iterations of a window
  static constexpr int short_count = 8;             // likewise, where they are short
  static constexpr double window = 10e-3;           // s
  static constexpr double longest_wait = 0.5;       // s between trials, unless they are long

  /// An iteration took so many seconds, and the calling thread had a core for that share of the
  /// last milliseconds. True where the next one is to have the other number.
  bool add(double seconds, double share = 1) {
    if (std::exchange(changed_, false) && seconds < window) return false;
    ++count_;
    sum_ += seconds;
    least_ = std::min(least_, seconds);
    // A trial in which iterations take twice as long is lost at once: of many threads, or of long
    // iterations, it might take longer than the solve.
    if (trial_ && sum_ >= window && sum_ > 2 * kept_ * count_) return end_of_trial();
    if (count_ < least_count) return false;
    const bool is_short = sum_ < short_iteration * count_;
    // A window of short iterations need not be long: they do not pay, whatever else runs. Nor one
    // of those with one thread that are tried in their place.
    const bool few =
        (is_short && (first_ || trial_)) || (trial_ && one_ && kept_ < short_iteration);
    if (sum_ < window && !(few && count_ >= short_count)) return false;
    if (trial_) return end_of_trial();
    waited_ += sum_;
    const bool due = first_ || waited_ >= wait_;
    const bool worth_it =
        one_ || is_short || sum_ > disturbed * least_ * count_ || share < own_core;
    first_ = false;
    kept_ = sum_ / count_;
    clear();
    if (!due || !worth_it) return false;
    trial_ = true;
    change();
    return true;
  }

  /// The number of threads that the next iteration is to have: one, or all.
  bool one() const { return one_; }

 private:
  void clear() {
    count_ = 0;
    sum_ = 0;
    least_ = std::numeric_limits<double>::infinity();
  }
  void change() {
    one_ = !one_;
    changed_ = true;
  }
  /// Keeps the number that was tried, or goes back.
  bool end_of_trial() {
    const double tried = sum_ / count_;
    const double spent = sum_;
    const bool better = one_ ? tried < benefit * kept_ : benefit * tried < kept_;
    clear();
    trial_ = false;
    waited_ = 0;
    wait_ = better ? 16 * spent : std::max(2 * wait_, 16 * spent);
    wait_ = std::min(wait_, std::max(longest_wait, 16 * spent));
    if (better) return false;
    change();
    return true;
  }

  bool one_ = false;
  bool trial_ = false;
  bool first_ = true;
  bool changed_ = true;
  int count_ = 0;
  double sum_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double kept_ = 0;    // s an iteration, of the number before the trial
  double waited_ = 0;  // s since the last trial
  double wait_ = 0;
};

/// The instance of Exec that an iteration is to use: the one that was given, or one with a single
/// thread where ThreadTrials finds that faster. Always the one that was given where Exec has no
/// threads, or that has one.
template <class Exec>
class ThreadChoice {
 public:
  explicit ThreadChoice(const Exec& given) : given_(given), current_(given) {
    usable_ = threads_of(given) > 1;
  }
  ThreadChoice(const ThreadChoice&) = delete;
  ThreadChoice& operator=(const ThreadChoice&) = delete;

  /// Stays the same object; another instance after an iteration, perhaps.
  const Exec& exec() const { return current_; }

  /// Between two iterations, when all that was launched is done.
  void after_iteration() {
    if (!usable_) return;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    const bool begun = last_ != Clock::time_point{};
    last_ = now;
    if (!begun || now - looked_ > std::chrono::milliseconds(5)) look(now);
    if (!begun) return;
    if (!trials_.add(seconds, share_)) return;
    if (trials_.one()) {
      if (!one_) one_ = single(given_);
      current_ = *one_;
    } else {
      current_ = given_;
    }
    last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Where all threads share their cores with others, each iteration may take equally long.
  void look(Clock::time_point now) {
    const double used = thread_seconds();
    if (looked_ != Clock::time_point{}) {
      share_ = (used - used_) / std::chrono::duration<double>(now - looked_).count();
    }
    used_ = used;
    looked_ = now;
  }
  static int threads_of([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_OPENMP)
    // Within a parallel region of the caller no instance can be made or ended.
    if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
      return omp_get_level() == 0 ? exec.impl_thread_pool_size() : 1;
    }
#endif
    return 1;
  }
  static Exec single([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_OPENMP)
    if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return Kokkos::OpenMP(1);
#endif
    return exec;
  }

  Exec given_;
  Exec current_;
  std::optional<Exec> one_{};
  bool usable_ = false;
  ThreadTrials trials_{};
  Clock::time_point last_{};
  Clock::time_point looked_{};
  double used_ = 0;   // s of the calling thread, when it was looked at
  double share_ = 1;  // of the time since the look before that
};

}  // namespace krysol
