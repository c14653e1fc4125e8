// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/outcome/lanczos.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace krysol {
namespace {

constexpr std::size_t most_lanes = 16;  // shifts at a time: their divisions overlap

constexpr double smallest_pivot = 1e-30;

/// 1 + alpha s, kept from 0 by a relative change of s that is far below rounding.
double pivot(double alpha, double s) {
  const double d = 1 + alpha * s;
  return std::abs(d) < smallest_pivot ? smallest_pivot : d;
}

/// The first rows of T in units of T(1,1), so that no shift leaves the range of double.
struct Tridiagonal {
  std::vector<double> alpha;
  const std::vector<double>& beta;
  double unit;

  Tridiagonal(const LanczosRun& run, std::size_t steps)
      : alpha(run.alpha.begin(), run.alpha.begin() + static_cast<std::ptrdiff_t>(steps)),
        beta(run.beta),
        unit(1 / run.alpha[0]) {
    for (double& a : alpha) a *= unit;
  }

  /// Gershgorin: no eigenvalue is larger.
  double bound() const {
    double largest = 0;
    double left = 0;  // T(j,j-1)
    for (std::size_t j = 0; j < alpha.size(); ++j) {
      const double diagonal = 1 / alpha[j] + (j > 0 ? beta[j - 1] / alpha[j - 1] : 0);
      const double right = j + 1 < alpha.size() ? std::sqrt(beta[j]) / alpha[j] : 0;
      largest = std::max(largest, diagonal + left + right);
      left = right;
    }
    return largest;
  }

  /// How many eigenvalues are below each shift.
  template <std::size_t lanes>
  std::array<std::size_t, lanes> below(const std::array<double, lanes>& shift) const {
    std::array<double, lanes> s;
    std::array<std::size_t, lanes> count{};
    for (std::size_t w = 0; w < lanes; ++w) s[w] = -shift[w];
    for (std::size_t j = 0; j < alpha.size(); ++j) {
      for (std::size_t w = 0; w < lanes; ++w) {
        const double d = pivot(alpha[j], s[w]);
        count[w] += d < 0 ? 1 : 0;
        s[w] = beta[j] * (s[w] / d) - shift[w];
      }
    }
    return count;
  }

  /// The `count` smallest and `count` largest eigenvalues, ascending.
  template <std::size_t lanes>
  std::vector<double> extremes(std::size_t count) const {
    const std::size_t steps = alpha.size();
    std::array<double, lanes> low;
    std::array<double, lanes> high;
    std::array<double, lanes> middle;
    low.fill(1e-40 * bound());
    high.fill(1.000001 * bound());
    std::array<std::size_t, lanes> wanted{};  // how many smaller ones precede each
    const std::size_t both = std::min(2 * count, steps);
    for (std::size_t w = 0; w < lanes; ++w) {
      const std::size_t at = std::min(w, both - 1);
      wanted[w] = at < count ? at : steps - (both - at);
    }
    // Halving the logarithm: 92 / 2^40 is below 1e-10.
    for (int pass = 0; pass < 40; ++pass) {
      for (std::size_t w = 0; w < lanes; ++w) middle[w] = std::sqrt(low[w]) * std::sqrt(high[w]);
      const auto smaller = below<lanes>(middle);
      for (std::size_t w = 0; w < lanes; ++w) {
        (smaller[w] > wanted[w] ? high[w] : low[w]) = middle[w];
      }
    }
    std::vector<double> values;
    for (std::size_t w = 0; w < both; ++w) {
      values.push_back(std::sqrt(low[w]) * std::sqrt(high[w]) * unit);
    }
    return values;
  }
};

/// The larger eigenvalue of [a t; t d] and its vector (c, s).
double larger_of_two(double a, double t, double d, double& c, double& s) {
  const double half = 0.5 * (d - a);
  const double above = half + std::sqrt(half * half + t * t);
  if (above <= 0 || t == 0) {
    c = half > 0 ? 0 : 1;
    s = 1 - c;
    return std::max(a, d);
  }
  const double length = std::sqrt(t * t + above * above);
  c = std::abs(t) / length;
  s = std::copysign(above / length, t);
  return a + above;
}

}  // namespace

void LanczosRun::start(double first_rho, double scale_of_r) {
  *this = {};
  rho.push_back(first_rho);
  scale = scale_of_r;
  direction_ = first_rho;
}

void LanczosRun::add(double alpha_k, double next_rho) {
  if (null_direction) return;
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  const double beta_k = next_rho / rho.back();
  null_direction = rho.back() / alpha_k < rounding * largest * direction_;
  if (null_direction) return;
  direction_ = next_rho + beta_k * beta_k * direction_;
  if (alpha.empty()) {
    smallest = largest = 1 / alpha_k;
    inverse_corner_ = inverse_product_ = 1;
  } else {  // in units of alpha[0], so that no square overflows
    const double unit = alpha[0];
    const double pivot_k = unit / alpha_k;
    const double before = unit / alpha.back();
    const double b = beta.back();
    const double root = std::sqrt(b);
    double c = 0;
    double s = 0;
    largest = larger_of_two(largest * unit, root * before * last_of_largest_, pivot_k + b * before,
                            c, s) /
              unit;
    last_of_largest_ = s;
    const double growth = root * std::sqrt(before / pivot_k);
    inverse_corner_ = (b * before * inverse_corner_ + 1) / pivot_k;
    inverse_product_ *= -growth;
    smallest =
        1 / (unit * larger_of_two(1 / (smallest * unit), inverse_product_, inverse_corner_, c, s));
    inverse_product_ = c * inverse_product_ + s * inverse_corner_;
  }
  alpha.push_back(alpha_k);
  beta.push_back(beta_k);
  rho.push_back(next_rho);
}

std::vector<double> extreme_eigenvalues(const LanczosRun& run, std::size_t steps,
                                        std::size_t count) {
  count = std::min({count, steps, most_lanes / 2});
  if (count == 0) return {};
  const Tridiagonal t(run, steps);
  if (count == 1) return t.extremes<2>(count);
  return count <= 4 ? t.extremes<8>(count) : t.extremes<most_lanes>(count);
}

double residual_bound(const LanczosRun& run, std::size_t steps, double theta) {
  const Tridiagonal t(run, steps);
  const double shift = theta / t.unit;
  // Pivots from the top (s) and from the bottom (p); row j of T - shift I is left with s + p +
  // shift.
  std::vector<double> s(steps);
  s[0] = -shift;
  for (std::size_t j = 0; j + 1 < steps; ++j) {
    s[j + 1] = t.beta[j] * (s[j] / pivot(t.alpha[j], s[j])) - shift;
  }
  std::vector<double> p(steps);
  std::vector<double> up(steps);  // from component j - 1 of the vector to component j
  p[steps - 1] = 1 / t.alpha[steps - 1] - shift;
  for (std::size_t j = steps - 1; j > 0; --j) {
    double d = t.beta[j - 1] / t.alpha[j - 1] + p[j];
    if (std::abs(d) < smallest_pivot) d = smallest_pivot;
    up[j] = -std::sqrt(t.beta[j - 1]) / (t.alpha[j - 1] * d);
    p[j - 1] = p[j] / (t.alpha[j - 1] * d) - shift;
  }
  std::size_t joint = 0;
  for (std::size_t j = 1; j < steps; ++j) {
    if (std::abs(s[j] + p[j] + shift) < std::abs(s[joint] + p[joint] + shift)) joint = j;
  }
  double square = 1;
  double z = 1;
  for (std::size_t j = joint; j > 0; --j) {
    z *= -std::sqrt(t.beta[j - 1]) / pivot(t.alpha[j - 1], s[j - 1]);
    square += z * z;
  }
  z = 1;
  for (std::size_t j = joint + 1; j < steps; ++j) {
    z *= up[j];
    square += z * z;
  }
  const double last = std::abs(z) / std::sqrt(square);
  return std::sqrt(run.beta[steps - 1]) / run.alpha[steps - 1] * last;
}

namespace {

constexpr std::size_t values_at_an_end = 4;

// How close a Ritz value must be, relative to itself, to be called an eigenvalue.
constexpr double converged_residual = 5e-3;
constexpr double converged_drift = 5e-2;  // over the last tenth of the steps
constexpr double beyond_doubt = 1e-4;     // so small a residual needs no history
// The same by the Kato-Temple bound residual^2 / gap, which is that of the error itself.
constexpr double converged_error = 2e-4;
constexpr double steady = 1e-3;

bool same(const RitzValue& a, const RitzValue& b) {
  // Copies of an eigenvalue differ by rounding, which is relative to the largest; a pair that its
  // residuals do not separate counts as copies too.
  return std::abs(a.value - b.value) <= a.residual + b.residual + 1e-9 * std::abs(a.value);
}

/// Keeps both ends, and of those between them the ones that converged, once each.
std::vector<RitzValue> distinct(const std::vector<RitzValue>& ascending) {
  std::vector<RitzValue> kept;
  for (const RitzValue& v : ascending) {
    if (kept.empty()) {
      kept.push_back(v);
    } else if (v.converged && !same(kept.back(), v)) {
      kept.push_back(v);
    }
  }
  const RitzValue& last = ascending.back();
  if (kept.back().value == last.value) return kept;
  if (kept.size() > 1 && same(kept.back(), last)) kept.pop_back();
  kept.push_back(last);
  return kept;
}

/// No longer converged where the end has moved of late.
void settle(RitzValue& end, double before) {
  const bool moved = std::abs(end.value - before) > converged_drift * end.value;
  if (moved && end.residual > beyond_doubt * end.value) end.converged = false;
}

/// Relative, by residual^2 / gap, where the next Ritz value is no copy and is itself close enough
/// to an eigenvalue that there is a gap.
double error_of_smallest(const std::vector<RitzValue>& ascending) {
  const RitzValue& end = ascending.front();
  for (std::size_t k = 1; k < ascending.size(); ++k) {
    const RitzValue& next = ascending[k];
    const double gap = next.value - next.residual - end.value;
    if (gap > steady * end.value) return end.residual * end.residual / (gap * end.value);
    if (next.value > (1 + converged_drift) * end.value) break;
  }
  return std::numeric_limits<double>::infinity();
}

void set_ends(Spectrum& s) {
  s.smallest = s.values.front();
  s.largest = s.values.back();
  s.condition = s.largest.value / s.smallest.value;
  s.at_least = !s.smallest.converged || !s.largest.converged;
}

}  // namespace

Spectrum spectrum_of(const LanczosRun& run) {
  Spectrum s;
  const std::size_t k = run.steps();
  if (k == 0) return s;
  const std::vector<double> ritz = extreme_eigenvalues(run, k, values_at_an_end);
  const std::vector<double> before =
      extreme_eigenvalues(run, std::max<std::size_t>(1, k - k / 10), 1);
  std::vector<RitzValue> values;
  for (const double theta : ritz) {
    const double residual = residual_bound(run, k, theta);
    constexpr double bisection = 1e-10;  // what extreme_eigenvalues leaves open
    values.push_back({theta, residual + bisection * theta, residual <= converged_residual * theta});
  }
  settle(values.front(), before.front());
  settle(values.back(), before.back());
  RitzValue& smallest = values.front();
  const double drift = before.front() - smallest.value;
  if (drift <= steady * smallest.value && error_of_smallest(values) <= converged_error) {
    smallest.converged = true;
  }
  s.values = distinct(values);
  set_ends(s);
  return s;
}

void set_smallest_converged(Spectrum& s, bool converged) {
  s.values.front().converged = s.smallest.converged = converged;
  s.at_least = !converged || !s.largest.converged;
}

std::int64_t confirming_steps(double condition, std::int64_t rows, std::int64_t iterations,
                              double reduction) {
  constexpr double least_part = 0.05;
  const double gain = std::log(2 * std::sqrt(condition * static_cast<double>(rows)) / least_part);
  const double chebyshev = 0.5 * std::sqrt(condition) * gain;
  const double observed = static_cast<double>(iterations) * gain / std::log(2 / reduction);
  const double steps = reduction < 1 ? std::min(chebyshev, observed) : chebyshev;
  constexpr double most = 1e15;
  return 10 + static_cast<std::int64_t>(std::min(steps, most));
}

Spectrum merged(const Spectrum& a, const Spectrum& b) {
  if (!a.known() || !b.known()) return a.known() ? a : b;
  std::vector<RitzValue> all = a.values;
  all.insert(all.end(), b.values.begin(), b.values.end());
  std::sort(all.begin(), all.end(),
            [](const RitzValue& u, const RitzValue& v) { return u.value < v.value; });
  // Two views of one end: the converged one speaks for both.
  const auto clear = [&](RitzValue& end, const RitzValue& other) {
    const double apart = std::abs(end.value - other.value);
    if (!end.converged && other.converged && apart <= 2 * converged_residual * other.value) {
      end.residual = std::min(end.residual, other.residual + apart);
      end.converged = true;
    }
  };
  for (const Spectrum* s : {&a, &b}) {
    clear(all.front(), s->smallest);
    clear(all.back(), s->largest);
  }
  Spectrum out;
  out.values = distinct(all);
  set_ends(out);
  return out;
}

}  // namespace krysol
