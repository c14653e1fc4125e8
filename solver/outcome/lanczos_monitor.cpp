// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/outcome/lanczos_monitor.hpp>

#include <algorithm>
#include <cmath>

namespace krysol {
namespace {

constexpr std::int64_t first_prediction = 10;  // before that nothing has been seen
constexpr double drifted =
    2;  // |b - A x| over the recurrence's |r|: x is no longer what that bounds
constexpr double of_rounding = 10;  // |b - A x| over what rounding x makes: errors are its, too
constexpr std::size_t runs_of_interest = 4;  // the longest know most of the spectrum

/// Whether rounding of A alone moves the smallest eigenvalue by as much as it is.
bool is_lost_in_rounding(const Spectrum& spectrum, double epsilon) {
  return spectrum.known() && spectrum.condition * epsilon * 500 > 1;
}

}  // namespace

void LanczosMonitor::start(double rho, double scale, double residual) {
  if (best_.empty()) best_.push_back(residual);
  best_.back() = residual;  // the recurrence had drifted to less than that
  if (runs_.empty() || runs_.back().lanczos.steps() > 0) runs_.emplace_back();
  runs_.back().lanczos.start(rho, scale);
  next_prediction_ = 0;
}

void LanczosMonitor::step(std::int64_t iteration, double alpha, double rho, double residual) {
  Run& run = runs_.back();
  const auto k = static_cast<std::size_t>(iteration);
  if (run.lanczos.steps() == 0) run.first = k - 1;
  run.lanczos.add(alpha, rho);
  const double smallest = run.lanczos.smallest;
  smallest_ = smallest_ > 0 ? std::min(smallest_, smallest) : smallest;
  largest_ = std::max(largest_, run.lanczos.largest);
  step(iteration, residual);
}

void LanczosMonitor::step(std::int64_t iteration, double residual) {
  const auto k = static_cast<std::size_t>(iteration);
  smallest_after_.resize(k + 1, smallest_);
  best_.resize(k, best_.back());  // an iteration that ended in a restart made no step
  best_.push_back(std::min(best_.back(), residual));
  last_ = residual;
}

std::int64_t LanczosMonitor::iterations_left(double target) {
  if (best_.empty()) return -1;
  const auto k = static_cast<std::int64_t>(best_.size()) - 1;
  if (k < first_prediction || !(target > 0)) return -1;
  if (k >= next_prediction_) {
    next_prediction_ = k + 1 + k / 16;
    const double now = best_.back();
    const std::int64_t middle = k / 2;
    const double earlier = best_[static_cast<std::size_t>(middle)];
    const double observed = std::log(earlier / now) / static_cast<double>(k - middle);
    double guaranteed = 0;
    if (smallest_ > 0) {
      const double before = smallest_after_[static_cast<std::size_t>(middle)];
      const double fell = before > 0 ? smallest_ / before : 1;
      const double root = std::sqrt(std::max(1.0, largest_ / smallest_));
      guaranteed = std::log1p(2 / (root - 1)) * std::sqrt(fell);
    }
    const double left = std::log(now / target) / std::max(observed, guaranteed);
    predicted_end_ = left < 1e15 ? k + static_cast<std::int64_t>(std::ceil(left)) : -1;
  }
  if (predicted_end_ < 0) return -1;
  return std::max<std::int64_t>(1, predicted_end_ - k);
}

void LanczosMonitor::conclude(double lambda_min, double epsilon, SolveResult& result) {
  if (!result.converged() && result.status != Status::stagnated) {
    next_prediction_ = 0;
    result.iterations_left = iterations_left(result.target);
  }
  CgInsight& seen = *result.cg;
  ErrorHistory& h = seen.error_history;
  seen.null_direction = std::any_of(runs_.begin(), runs_.end(),
                                    [](const Run& run) { return run.lanczos.null_direction; });
  // Without a positive definite A and M there is no A-norm, and 0 is inside the spectrum.
  const bool definite = seen.spectrum.known() && !seen.not_definite && !seen.null_direction;
  const double solution_norm = definite ? seen.error.solution_norm : not_known;
  // Rounding of A may move the smallest by that much.
  const double slack = 1e-6 * lambda_min + 100 * epsilon * seen.spectrum.largest.value;
  const bool refuted =
      definite && lambda_min > 0 && seen.spectrum.smallest.value < lambda_min - slack;
  if (definite) {
    for (const Run& run : runs_) {
      add_error_bounds(run.lanczos, run.first, seen.spectrum.smallest, refuted ? 0 : lambda_min, h);
    }
  }
  // What rounding keeps from the recurrence, over the root of the smallest eigenvalue, is an error
  // of any size then, and the smallest eigenvalue itself is not known.
  if (is_lost_in_rounding(seen.spectrum, epsilon)) {
    h.lower.clear();
    h.upper_bound.clear();
  }
  for (auto* column : {&h.lower, &h.upper_estimate, &h.upper_bound}) {
    column->resize(result.history.size(), not_known);
  }
  seen.error = last_bounds(h);
  if (result.residual > drifted * last_) {
    seen.error.upper_estimate = seen.error.upper_bound = not_known;
  }
  if (result.residual < of_rounding * result.rounding) {
    seen.error.lower = not_known;
    seen.error.delay = 0;
  }
  seen.error.solution_norm = solution_norm;
  seen.error.lambda_min_refuted = refuted;
}

Spectrum LanczosMonitor::spectrum(double epsilon) const {
  std::vector<const Run*> longest;
  for (const Run& run : runs_) longest.push_back(&run);
  std::stable_sort(longest.begin(), longest.end(), [](const Run* a, const Run* b) {
    return a->lanczos.steps() > b->lanczos.steps();
  });
  if (longest.size() > runs_of_interest) longest.resize(runs_of_interest);
  Spectrum spectrum;
  for (const Run* run : longest) {
    spectrum = merged(spectrum, spectrum_of(run->lanczos));
  }
  if (is_lost_in_rounding(spectrum, epsilon)) set_smallest_converged(spectrum, false);
  return spectrum;
}

}  // namespace krysol
