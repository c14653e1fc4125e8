// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/joined_results.hpp>

#include <cmath>
#include <utility>

#include <krysol/solver/outcome/advice.hpp>

namespace krysol::choice {
namespace {

void add(const Counter& from, Counter& to) {
  to.seconds += from.seconds;
  to.calls += from.calls;
  to.bytes += from.bytes;
}

/// The x that both share is the last of `first` and the first of `next`.
std::vector<double> joined(std::vector<double> first, const std::vector<double>& next) {
  if (next.empty()) return first;
  if (!first.empty() && !std::isnan(next.front())) first.back() = next.front();
  first.insert(first.end(), next.begin() + 1, next.end());
  return first;
}

}  // namespace

void join(SolveResult& all, SolveResult next) {
  next.breakdown.iteration += next.breakdown.iteration > 0 ? all.iterations : 0;
  next.iterations += all.iterations;
  next.restarts += all.restarts;
  next.initial_residual = all.initial_residual;
  next.history = joined(std::move(all.history), next.history);
  next.seconds += all.seconds;
  add(all.spmv, next.spmv);
  add(all.vectors, next.vectors);
  add(all.preconditioner, next.preconditioner);
  add(all.residuals, next.residuals);
  if (all.cg && next.cg) {
    ErrorHistory& before = all.cg->error_history;
    ErrorHistory& h = next.cg->error_history;
    h.lower = joined(std::move(before.lower), h.lower);
    h.upper_estimate = joined(std::move(before.upper_estimate), h.upper_estimate);
    h.upper_bound = joined(std::move(before.upper_bound), h.upper_bound);
  }
  all = std::move(next);
  all.advice = advice(all);
}

}  // namespace krysol::choice
