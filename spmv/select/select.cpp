// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/select.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include <fmt/core.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/spmv/base/processor.hpp>
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

/// Seconds that choosing may take where a multiplication takes so many.
double allowed_seconds(const SelectOptions& options, double product) {
  return std::max(options.unnoticed_seconds, options.most_share * options.products * product);
}

/// What an earlier run measured, as far as this one finds the same.
class Earlier {
 public:
  /// None of it where the conversion of its fastest would take more than choosing may.
  Earlier(const SelectOptions& options, std::string_view base) {
    const FormatChoice* const choice = options.earlier;
    if (choice == nullptr) return;
    for (const FormatTrial& t : choice->trials) {
      if (!t.measured || !(t.seconds > 0)) continue;
      if (t.name == base) base_ = &t;
      if (t.name != base && (witness_ == nullptr || t.seconds < witness_->seconds)) witness_ = &t;
    }
    if (base_ == nullptr || witness_ == nullptr) return;
    const double most = allowed_seconds(options, base_->seconds);
    if (witness_->convert_seconds <= most) measured_ = choice->trials;
  }

  /// The one that is timed first, to see whether it is to csr what it was.
  bool is_witness(std::string_view name) const {
    return !measured_.empty() && witness_->name == name;
  }
  void compare(const FormatTrial& trial, double base_seconds) {
    if (!is_witness(trial.name)) return;
    constexpr double alike = 1.25;
    const double change = trial.seconds / base_seconds / (witness_->seconds / base_->seconds);
    trusted_ = change < alike && change > 1 / alike;
  }
  /// Why a format is not timed again; empty where it is.
  std::string rules_out(std::string_view name) const {
    constexpr double clearly_slower = 1.1;
    if (!trusted_) return {};
    const FormatTrial& best = base_->seconds < witness_->seconds ? *base_ : *witness_;
    for (const FormatTrial& t : measured_) {
      if (t.name != name || !t.measured || t.seconds < clearly_slower * best.seconds) continue;
      return fmt::format("{:.2f} times the time of {} in an earlier run", t.seconds / best.seconds,
                         best.name);
    }
    return {};
  }
  bool trusted() const { return trusted_; }

 private:
  std::span<const FormatTrial> measured_;  // empty where nothing is made of it
  const FormatTrial* base_ = nullptr;
  const FormatTrial* witness_ = nullptr;  // the fastest but for base
  bool trusted_ = false;
};

/// Multiplications by csr that moving each entry once was seen to take, at least: 4 to 15.
constexpr double moving_once = 8;

/// All formats but `base`: what an earlier run found fastest, and then those that would take least
/// together with their conversion, were the multiplications ahead as fast as their bytes, because
/// what they win makes most of the others needless to convert. Within the caches bytes are not all:
/// there each format says what one of its bytes costs. Those that use the arrays of base are first:
/// they are timed in any case, and in few multiplications while these arrays are in the caches.
std::vector<Candidate> candidates(const MatrixProfile& matrix, std::string_view base,
                                  const Earlier& earlier, double products) {
  const auto of_csr = static_cast<double>(std::max<std::int64_t>(matrix.csr_bytes(), 1));
  const bool cached = matrix.on_host() && !beyond_cache(matrix.csr_bytes() + matrix.vector_bytes());
  const auto cost = [&](const FormatEstimate& e) {  // in multiplications by csr
    const double bytes = static_cast<double>(e.bytes) * (cached ? e.cached : 1);
    return moving_once * e.conversion + products * bytes / of_csr;
  };
  std::vector<Candidate> all;
  for (const FormatInfo& f : list_formats()) {
    if (f.name != base) all.push_back({f, f.estimate(matrix)});
  }
  std::stable_sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.estimate.shares_csr != b.estimate.shares_csr) return a.estimate.shares_csr;
    const bool a_first = earlier.is_witness(a.name());
    const bool b_first = earlier.is_witness(b.name());
    if (a_first != b_first) return a_first;
    return cost(a.estimate) < cost(b.estimate);
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
  const std::function<double(std::string_view)>& clock;
  ReductionWorkspace<Exec> sums{};
};

/// Seconds of a multiplication; of several in a row where one is too short for the clock.
template <class S, class Exec>
double time_once(const Contender<S, Exec>& c, TimedVectors<S, Exec>& work, int times) {
  const Exec exec{};
  exec.fence();
  Kokkos::Timer timer;
  for (int k = 0; k < times; ++k) {
    if (work.with_dot) {
      apply_dot(exec, *c.op, ConstVector<S, Exec>(work.x), work.y, work.sums);
    } else {
      apply(exec, S(1), *c.op, ConstVector<S, Exec>(work.x), S(0), work.y);
    }
  }
  exec.fence();
  return work.clock ? work.clock(c.trial->name) : timer.seconds() / times;
}

/// So many that the clock can tell.
int repeats(double once) {
  constexpr double shortest = 10e-6;
  return std::clamp(static_cast<int>(shortest / std::max(once, 1e-9)), 1, 100);
}

/// The least seconds of multiplications one after another, `least` of them and more until one gains
/// nothing: what was converted just now comes into the caches step by step, in up to five. Three,
/// where they take more than `hopeless`.
template <class S, class Exec>
double settled(const Contender<S, Exec>& c, TimedVectors<S, Exec>& work, int least,
               double hopeless = std::numeric_limits<double>::infinity()) {
  constexpr double gain = 0.95;
  constexpr int most = 8;
  double best = time_once(c, work, 1);
  bool gained = true;
  for (int k = 1; k < least || (gained && k < most); ++k) {
    const double seconds = time_once(c, work, repeats(best));
    gained = seconds < gain * best;
    best = std::min(best, seconds);
    if (k >= 2 && best > hopeless) break;
  }
  return best;
}

template <class S, class Exec>
void time_alone(Contender<S, Exec>& c, TimedVectors<S, Exec>& work,
                double hopeless = std::numeric_limits<double>::infinity()) {
  c.trial->seconds = settled(c, work, 4, hopeless);
  c.trial->measured = true;
}

/// Times b, and where it is near a, which was timed before, a as well and both in turns,
/// `most_turns` of them; sets the least time of each. same_arrays: b has those of a, which was
/// timed just now: then three multiplications tell that it is slower.
template <class S, class Exec>
void compare_in_turns(Contender<S, Exec>& a, Contender<S, Exec>& b, bool same_arrays,
                      int most_turns, TimedVectors<S, Exec>& work) {
  constexpr double a_little_slower = 1.05;
  constexpr double much_faster = 0.9;
  const double far = same_arrays ? a_little_slower : 1.25;
  const double beyond_hope = same_arrays ? a_little_slower : 3;
  time_alone(b, work, beyond_hope * a.trial->seconds);
  const double ratio = b.trial->seconds / a.trial->seconds;
  if (ratio > far || ratio < 1 / far) return;
  a.trial->seconds = settled(a, work, 3);
  for (int k = 0; k < most_turns; ++k) {
    const double now = b.trial->seconds / a.trial->seconds;
    if (now > a_little_slower || now < much_faster) return;
    b.trial->seconds = std::min(b.trial->seconds, settled(b, work, 2));
    a.trial->seconds = std::min(a.trial->seconds, settled(a, work, 2));
  }
}

/// Combines words, in blocks, so that nothing but reading them takes time.
struct ReadWords {
  static constexpr std::int64_t block = 4096;  // words
  const char* bytes;
  std::int64_t count;

  void operator()(std::int64_t b, std::uint64_t& all) const {
    const std::int64_t last = std::min(count, (b + 1) * block);
    constexpr int lanes = 32;  // chains of operations that do not wait for each other
    std::uint64_t bits[lanes] = {};
    std::int64_t w = b * block;
    for (; w + lanes <= last; w += lanes) {
      std::uint64_t word[lanes];
      std::memcpy(word, bytes + 8 * w, sizeof(word));
      for (int l = 0; l < lanes; ++l) bits[l] ^= word[l];
    }
    for (; w < last; ++w) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + 8 * w, sizeof(word));
      bits[0] ^= word;
    }
    for (int l = 0; l < lanes; ++l) all += bits[l];
  }
};

/// Seconds to read an array of the matrix once, by the host's cores.
double reading_seconds(const void* begin, std::int64_t bytes) {
  const std::int64_t count = bytes / std::int64_t{sizeof(std::uint64_t)};
  constexpr int times = 3;  // the first finds nothing in the caches, the second not all
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < times; ++k) {
    Kokkos::Timer timer;
    std::uint64_t all = 0;
    Kokkos::parallel_reduce("krysol::select(read)",
                            Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(
                                0, (count + ReadWords::block - 1) / ReadWords::block),
                            ReadWords{static_cast<const char*>(begin), count}, all);
    best = std::min(best, timer.seconds());
  }
  return best;
}

/// Takes an array out of the caches, in blocks.
struct DropFromCaches {
  static constexpr std::int64_t block = 65536;  // bytes
  const char* begin;
  std::int64_t bytes;

  void operator()(std::int64_t b) const {
    drop_from_caches(begin + b * block, std::min(block, bytes - b * block));
  }
};

/// The arrays of csr leave the caches, so that a format is timed as it runs in the solve ahead:
/// with the caches for itself. The lines of what was multiplied with again and again stay there for
/// as long as fifty multiplications by another, each of which took 1.5 times as long on a Xeon.
template <class S>
void drop_arrays(const HostCsr<S>& csr) {
  const auto drop = [](const auto& array) {
    const auto bytes = static_cast<std::int64_t>(array.extent(0) * sizeof(*array.data()));
    Kokkos::parallel_for("krysol::select(drop)",
                         Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(
                             0, (bytes + DropFromCaches::block - 1) / DropFromCaches::block),
                         DropFromCaches{reinterpret_cast<const char*>(array.data()), bytes});
  };
  drop(csr.values);
  drop(csr.col_idx);
  drop(csr.row_ptr);
}

/// The fastest that anything was read in this run.
class Roofline {
 public:
  explicit Roofline(std::int64_t vectors) : vectors_(vectors) {}

  void add(const FormatTrial& t) {
    if (t.measured) add(t.bytes + vectors_, t.seconds);
  }
  void add(std::int64_t bytes, double seconds) {
    if (seconds > 0) rate_ = std::max(rate_, static_cast<double>(bytes) / seconds);
  }
  /// That a format of so many bytes takes at least.
  double least_seconds(std::int64_t bytes) const {
    constexpr double benefit_of_doubt = 1.3;
    return rate_ > 0 ? static_cast<double>(bytes + vectors_) / (benefit_of_doubt * rate_) : 0;
  }
  /// Why a format of so many bytes cannot be faster than the best; empty where it could be.
  std::string rules_out(std::int64_t bytes, const FormatTrial& best) const {
    if (!best.measured || least_seconds(bytes) < best.seconds) return {};
    return fmt::format("its {} alone take longer than {} does", in_megabytes(bytes), best.name);
  }

 private:
  std::int64_t vectors_;
  double rate_ = 0;  // bytes/s
};

/// Seconds since it was made that choosing could use. On a host only those in which the calling
/// thread ran: where other processes have its core half of the time, the solve ahead takes twice as
/// long too.
template <class Exec>
class UsedSeconds {
 public:
  double operator()() const {
    if (!on_host<Exec>) return clock_.seconds();
    return thread_seconds() - began_;
  }

 private:
  Kokkos::Timer clock_{};
  double began_ = thread_seconds();
};

/// What choosing may cost, and what a further format would.
class Budget {
 public:
  explicit Budget(const SelectOptions& options) : options_(options) {}

  /// Of a conversion that was made.
  void add(const FormatTrial& t, const FormatEstimate& estimate) {
    if (estimate.shares_csr) return;
    longest_ = std::max(longest_, t.convert_seconds / estimate.conversion);
  }
  bool is_spent(double seconds, const FormatTrial& best, double base_seconds) const {
    return seconds > allowed_seconds(options_, std::min(best.seconds, base_seconds));
  }
  /// Why a format is not tried after so many seconds of choosing; empty where it may be.
  std::string rules_out(const FormatEstimate& estimate, double spent, const FormatTrial& best,
                        double base_seconds) const {
    if (estimate.shares_csr) return {};
    constexpr double timed = 6;  // multiplications
    const double next =
        estimate.conversion * std::max(moving_once * base_seconds, longest_) + timed * base_seconds;
    if (!is_spent(spent + next, best, base_seconds)) return {};
    const double all = options_.products * std::min(best.seconds, base_seconds);
    return fmt::format(
        "choosing had taken {:.0f} % of the time of {:.0f} multiplications by {}, and would take "
        "some {:.0f} % with it",
        100 * spent / all, options_.products, best.name, 100 * (spent + next) / all);
  }

 private:
  const SelectOptions& options_;
  double longest_ = 0;  // s, of one that moves each entry once
};

template <class S, class Exec>
Contender<S, Exec> make_contender(const HostCsr<S>& csr, FormatTrial& trial, bool mirrored) {
  Kokkos::Timer timer;
  auto op = detail::make_checked_operator<S, Exec>(trial.name, csr, mirrored);
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
  const Kokkos::Profiling::ScopedRegion region("krysol::select_format");
  Kokkos::Timer clock;
  const UsedSeconds<Exec> spent;
  choice = {};
  check(csr);  // once for all formats
  constexpr std::string_view base = Csr<S, Exec>::name;
  const auto formats = list_formats();
  choice.trials.reserve(formats.size());  // contenders point into it
  choice.trials.emplace_back().name = base;
  Contender<S, Exec> best = make_contender<S, Exec>(csr, choice.trials[0], options.mirrored);
  const auto finish = [&](std::string reason) {
    choice.name = best.trial->name;
    choice.reason = std::move(reason);
    if (choice.used_earlier) choice.reason += "; what an earlier run found slower was not timed";
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

  MatrixProfile profile(csr, on_host<Exec>);
  const Vector<S, Exec> x = allocate<Vector<S, Exec>>("select.x", csr.cols);
  const Vector<S, Exec> y = zeros<S>(Exec{}, "select.y", csr.rows);
  Kokkos::deep_copy(x, S(1));
  TimedVectors<S, Exec> work{x, y, options.with_dot && csr.rows == csr.cols, options.clock};
  Roofline roofline(profile.vector_bytes());
  if constexpr (on_host<Exec>) {
    const std::int64_t of_values = csr.nnz() * std::int64_t{sizeof(S)};
    roofline.add(of_values, reading_seconds(csr.values.data(), of_values));
  }
  Budget budget(options);
  Earlier earlier(options, base);
  time_alone(best, work);
  roofline.add(*best.trial);
  double base_seconds = best.trial->seconds;
  if (!options.clock) {  // another clock says nothing of reading
    profile.set_reading_share(roofline.least_seconds(profile.csr_bytes()) / base_seconds);
  }
  // Within the caches, but the second level has no room for csr and another format.
  const std::int64_t in_caches = profile.csr_bytes() + profile.vector_bytes();
  const bool crowded =
      on_host<Exec> && !beyond_cache(in_caches) && 2 * in_caches > cache_sizes().second;
  bool mirrored = options.mirrored;
  for (const Candidate& candidate : candidates(profile, base, earlier, options.products)) {
    FormatTrial& trial = choice.trials.emplace_back();
    trial.name = candidate.name();
    trial.remark = candidate.estimate.refusal;
    if (trial.remark.empty() && !candidate.estimate.shares_csr) {
      trial.remark = earlier.rules_out(trial.name);
    }
    // What an earlier run measured says more than a bound.
    if (trial.remark.empty() && !candidate.estimate.shares_csr && !options.clock &&
        !earlier.is_witness(trial.name)) {
      trial.remark = roofline.rules_out(candidate.estimate.bytes, *best.trial);
    }
    if (trial.remark.empty()) {
      trial.remark = budget.rules_out(candidate.estimate, spent(), *best.trial, base_seconds);
    }
    if (!trial.remark.empty()) continue;
    Contender<S, Exec> challenger;
    try {
      challenger = make_contender<S, Exec>(csr, trial, mirrored);
      mirrored |= candidate.format.symmetric_only;
    } catch (const FormatRefusal& refusal) {
      trial.remark = refusal.what();
      continue;
    } catch (const std::bad_alloc& e) {  // OutOfMemory among it; the best so far stays
      trial.remark = fmt::format("not enough memory: {}", e.what());
      continue;
    }
    budget.add(trial, candidate.estimate);
    if (crowded && !candidate.estimate.shares_csr) drop_arrays(csr);
    compare_in_turns(best, challenger, candidate.estimate.shares_csr,
                     budget.is_spent(spent(), *best.trial, base_seconds) ? 0 : 2, work);
    roofline.add(*best.trial);
    roofline.add(trial);
    if (best.trial->name == base) base_seconds = std::min(base_seconds, best.trial->seconds);
    earlier.compare(trial, base_seconds);
    if (trial.seconds < 0.98 * best.trial->seconds) best = std::move(challenger);
  }
  choice.trials[0].seconds = base_seconds;
  for (FormatTrial& t : choice.trials) {
    if (!t.measured || t.name == base) continue;
    t.break_even = t.seconds < base_seconds ? t.convert_seconds / (base_seconds - t.seconds)
                                            : std::numeric_limits<double>::infinity();
  }
  choice.used_earlier = earlier.trusted();
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
