// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/select.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol {
namespace {

/// A format that may be tried, and what it says of the matrix.
struct Candidate {
  FormatInfo format;
  FormatEstimate estimate;

  /// As make_operator takes it.
  std::string name() const {
    return estimate.variant.empty() ? std::string(format.name)
                                    : fmt::format("{}:{}", format.name, estimate.variant);
  }
};

/// All formats but `base`. The fewest bytes first: what they win makes most of the others needless
/// to convert.
std::vector<Candidate> candidates(const MatrixProfile& matrix, std::string_view base) {
  std::vector<Candidate> all;
  for (const FormatInfo& f : list_formats()) {
    if (f.name != base) all.push_back({f, f.estimate(matrix)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.estimate.bytes < b.estimate.bytes;
  });
  return all;
}

template <class S, class Exec>
struct Contender {
  std::unique_ptr<Operator<S, Exec>> op;
  FormatTrial* trial = nullptr;
};

/// What the timed multiplications work on.
template <class S, class Exec>
struct TimedVectors {
  Vector<S, Exec> x;
  Vector<S, Exec> y;
  bool with_dot = false;
  ReductionWorkspace<Exec> sums{};
};

/// Seconds of a multiplication; of several in a row where one is too short for the clock.
template <class S, class Exec>
double time_once(const Operator<S, Exec>& a, TimedVectors<S, Exec>& work, int times) {
  const Exec exec{};
  exec.fence();
  Kokkos::Timer timer;
  for (int k = 0; k < times; ++k) {
    if (work.with_dot) {
      apply_dot(exec, a, ConstVector<S, Exec>(work.x), work.y, work.sums);
    } else {
      apply(exec, S(1), a, ConstVector<S, Exec>(work.x), S(0), work.y);
    }
  }
  exec.fence();
  return timer.seconds() / times;
}

/// Both take turns; sets the least time of each.
template <class S, class Exec>
void compare(Contender<S, Exec>& a, Contender<S, Exec>& b, TimedVectors<S, Exec>& work) {
  constexpr int rounds = 3;
  constexpr double shortest = 50e-6;
  const auto repeats = [&](const Contender<S, Exec>& c) {
    const double once = time_once(*c.op, work, 1);  // warms up, too
    return std::clamp(static_cast<int>(shortest / std::max(once, 1e-9)), 1, 100);
  };
  const int times_a = repeats(a);
  const int times_b = repeats(b);
  a.trial->seconds = b.trial->seconds = std::numeric_limits<double>::infinity();
  for (int k = 0; k < rounds; ++k) {
    a.trial->seconds = std::min(a.trial->seconds, time_once(*a.op, work, times_a));
    b.trial->seconds = std::min(b.trial->seconds, time_once(*b.op, work, times_b));
  }
  a.trial->measured = b.trial->measured = true;
}

/// The fastest that any format moved its bytes so far.
class Roofline {
 public:
  explicit Roofline(std::int64_t vectors) : vectors_(vectors) {}

  void add(const FormatTrial& t) {
    if (t.measured) rate_ = std::max(rate_, static_cast<double>(t.bytes + vectors_) / t.seconds);
  }
  /// Why a format of so many bytes cannot be faster than the best; empty where it could be.
  std::string rules_out(std::int64_t bytes, const FormatTrial& best) const {
    constexpr double benefit_of_doubt = 1.3;
    if (rate_ == 0) return {};
    const double seconds = static_cast<double>(bytes + vectors_) / (benefit_of_doubt * rate_);
    if (seconds < best.seconds) return {};
    return fmt::format("its {} alone take longer than {} does", in_megabytes(bytes), best.name);
  }

 private:
  std::int64_t vectors_;
  double rate_ = 0;  // bytes/s
};

/// Why nothing more is tried after so many seconds of choosing; empty where something may be.
std::string budget_rules_out(double spent, std::string_view base, double base_seconds,
                             const SelectOptions& options) {
  if (std::isinf(base_seconds)) return {};  // not timed yet
  const double most = options.most_share * options.products * base_seconds;
  if (spent <= std::max(most, options.unnoticed_seconds)) return {};
  return fmt::format("choosing had taken {:.0f} % of the time of {:.0f} multiplications by {}",
                     100 * spent / (options.products * base_seconds), options.products, base);
}

template <class S, class Exec>
Contender<S, Exec> make_contender(const HostCsr<S>& csr, FormatTrial& trial) {
  Kokkos::Timer timer;
  auto op = detail::make_checked_operator<S, Exec>(trial.name, csr);
  Exec().fence();
  trial.convert_seconds = timer.seconds();
  trial.bytes = op->bytes();
  return {std::move(op), &trial};
}

}  // namespace

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 FormatChoice& choice) {
  Kokkos::Timer clock;
  choice = {};
  check(csr);  // once for all formats
  constexpr std::string_view base = Csr<S, Exec>::name;
  const auto formats = list_formats();
  choice.trials.reserve(formats.size());  // contenders point into it
  choice.trials.emplace_back().name = base;
  Contender<S, Exec> best = make_contender<S, Exec>(csr, choice.trials[0]);
  const auto finish = [&](std::string reason) {
    choice.name = best.trial->name;
    choice.reason = std::move(reason);
    choice.seconds = clock.seconds();
    return std::move(best.op);
  };
  const auto without_measuring = [&](const std::string& reason) {
    choice.trials[0].remark = "not timed";
    for (const auto& f : formats) {
      if (f.name == base) continue;
      FormatTrial& trial = choice.trials.emplace_back();
      trial.name = f.name;
      trial.remark = "not tried";
    }
    return finish(reason);
  };
  if (csr.nnz() < least_nnz_to_select) {
    return without_measuring(fmt::format("{} nonzeros are too few to measure for", csr.nnz()));
  }
  if (options.products < least_products_to_select) {
    return without_measuring(
        fmt::format("{} multiplications are too few to measure for", options.products));
  }

  const MatrixProfile profile(csr, on_host<Exec>);
  const Vector<S, Exec> x = allocate<Vector<S, Exec>>("select.x", csr.cols);
  const Vector<S, Exec> y = zeros<S>(Exec{}, "select.y", csr.rows);
  Kokkos::deep_copy(x, S(1));
  TimedVectors<S, Exec> work{x, y, options.with_dot && csr.rows == csr.cols};
  Roofline roofline(profile.vector_bytes());
  double base_seconds = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates(profile, base)) {
    FormatTrial& trial = choice.trials.emplace_back();
    trial.name = candidate.name();
    trial.remark = candidate.estimate.refusal;
    if (trial.remark.empty()) {
      trial.remark = roofline.rules_out(candidate.estimate.bytes, *best.trial);
    }
    if (trial.remark.empty()) {
      trial.remark = budget_rules_out(clock.seconds(), base, base_seconds, options);
    }
    if (!trial.remark.empty()) continue;
    Contender<S, Exec> challenger;
    try {
      challenger = make_contender<S, Exec>(csr, trial);
    } catch (const FormatRefusal& refusal) {
      trial.remark = refusal.what();
      continue;
    } catch (const std::bad_alloc& e) {  // OutOfMemory among it; the best so far stays
      trial.remark = fmt::format("not enough memory: {}", e.what());
      continue;
    }
    compare(best, challenger, work);
    roofline.add(*best.trial);
    roofline.add(trial);
    if (best.trial->name == base) base_seconds = std::min(base_seconds, best.trial->seconds);
    if (trial.seconds < 0.98 * best.trial->seconds) best = std::move(challenger);
  }
  choice.trials[0].seconds = base_seconds;
  for (FormatTrial& t : choice.trials) {
    if (!t.measured || t.name == base) continue;
    t.break_even = t.seconds < base_seconds ? t.convert_seconds / (base_seconds - t.seconds)
                                            : std::numeric_limits<double>::infinity();
  }
  // What is converted already costs nothing more; the break-even matters where it is not.
  if (best.trial->name == base) return finish("no other format is faster by more than 2 %");
  return finish(
      fmt::format("{:.2f} times the speed of {}; the conversion pays after {:.0f} multiplications",
                  base_seconds / best.trial->seconds, base, std::ceil(best.trial->break_even)));
}

#define KRYSOL_INSTANTIATE(S, Exec)                                            \
  template std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>&, \
                                                            const SelectOptions&, FormatChoice&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
