// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/outcome/error_bounds.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/spmv/base/finite.hpp>

namespace krysol {
namespace {

constexpr double tolerated = 0.25;  // share of the squared error that a lower bound may miss
constexpr double memory = 1e-4;     // and how far back, in the squared error, its rate is taken

/// How much larger than its first term a sum to the end has been.
struct Tail {
  double worst = 1;
  bool seen = false;  // back to where the sum is 1 / memory of the last term; else to the start
};

Tail tail_of(const std::vector<double>& terms) {
  double sum = 0;
  Tail tail;
  for (std::size_t j = terms.size(); j-- > 0 && !tail.seen;) {
    sum += terms[j];
    tail.worst = std::max(tail.worst, sum / terms[j]);
    tail.seen = terms.back() <= memory * sum;
  }
  return tail;
}

std::vector<double> terms_of(const LanczosRun& run) {
  std::vector<double> terms;
  for (std::size_t j = 0; j < run.steps(); ++j) terms.push_back(run.alpha[j] * run.rho[j]);
  return terms;
}

void add_lower(const LanczosRun& run, std::size_t first, ErrorHistory& h) {
  const std::vector<double> terms = terms_of(run);
  const double rest = tail_of(terms).worst * terms.back();
  double sum = 0;  // without the last term; from the end, so that small terms are not lost
  for (std::size_t j = terms.size(); j-- > 0;) {
    if (j + 1 < terms.size()) sum += terms[j];
    // Too near to the end; for the first iterate anything is better than nothing.
    if (rest > tolerated * sum && j > 0) continue;
    h.lower[first + j] = std::sqrt(sum + terms.back()) / run.scale;
  }
}

void add_upper_estimate(const LanczosRun& run, std::size_t first, const RitzValue& smallest,
                        ErrorHistory& h) {
  const std::vector<double> terms = terms_of(run);
  std::vector<double> square;
  double phi = 1;
  for (std::size_t j = 0; j <= run.steps(); ++j) {
    square.push_back(run.rho[j] * phi / smallest.value);
    if (j < run.steps()) phi = phi / (phi + run.beta[j]);
  }
  const Tail tail = tail_of(terms);
  if (smallest.converged && tail.seen) {
    square.back() = std::min(square.back(), tail.worst * terms.back());
  }
  for (std::size_t j = run.steps(); j-- > 0;) {
    square[j] = std::min(square[j], terms[j] + square[j + 1]);
  }
  for (std::size_t j = 0; j < square.size(); ++j) {
    h.upper_estimate[first + j] = std::sqrt(square[j]) / run.scale;
  }
}

void add_upper_bound(const LanczosRun& run, std::size_t first, double lambda_min, ErrorHistory& h) {
  double phi = 1;
  double gamma = 1 / lambda_min;
  for (std::size_t j = 0; j <= run.steps(); ++j) {
    // gamma is a difference of near equals once lambda_min has been resolved; phi is not.
    const double simple = phi / lambda_min;
    const double factor = gamma > 0 ? std::min(gamma, simple) : simple;
    h.upper_bound[first + j] = std::sqrt(run.rho[j] * factor) / run.scale;
    if (j == run.steps()) break;
    const double rest = gamma - run.alpha[j];
    gamma = gamma > 0 && rest > 0 ? rest / (lambda_min * rest + run.beta[j]) : 0;
    phi = phi / (phi + run.beta[j]);
  }
}

}  // namespace

void add_error_bounds(const LanczosRun& run, std::size_t first, const RitzValue& smallest,
                      double lambda_min, ErrorHistory& h) {
  if (run.steps() == 0) return;
  const std::size_t end = first + run.steps() + 1;
  for (auto* column : {&h.lower, &h.upper_estimate, &h.upper_bound}) column->resize(end, not_known);
  add_lower(run, first, h);
  add_upper_estimate(run, first, smallest, h);
  if (lambda_min > 0) add_upper_bound(run, first, lambda_min, h);
}

ErrorBounds last_bounds(const ErrorHistory& h) {
  ErrorBounds bounds;
  if (h.lower.empty()) return bounds;
  bounds.upper_estimate = h.upper_estimate.back();
  bounds.upper_bound = h.upper_bound.back();
  for (std::size_t k = h.lower.size(); k-- > 0;) {
    if (is_nan(h.lower[k])) continue;
    bounds.lower = h.lower[k];
    bounds.delay = static_cast<std::int64_t>(h.lower.size() - 1 - k);
    break;
  }
  return bounds;
}

}  // namespace krysol
