// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <krysol/spmv/spaces.hpp>

namespace krysol {
namespace {

/// What row lengths tell of each format's bytes.
struct Model {
  std::int64_t csr = 0;
  std::int64_t ell = 0;
  std::int64_t sell = 0;
  std::int64_t jds = 0;
  std::int64_t hyb = 0;
  std::int64_t coo = 0;
  Index sigma = 1;
};

template <class S, class Exec>
Model look_at_lengths(const HostCsr<S>& a) {
  constexpr auto place = static_cast<std::int64_t>(sizeof(S) + sizeof(Index));
  const Offset* row_ptr = a.row_ptr.data();
  Model m;
  m.csr = bytes(a);
  m.ell = std::int64_t{longest_row(a)} * a.rows * place;
  m.coo = a.nnz() * (place + static_cast<std::int64_t>(sizeof(Index)));
  m.jds = a.nnz() * place + std::int64_t{a.rows} * static_cast<std::int64_t>(sizeof(Index));
  const Offset width = hyb_width(row_ptr, a.rows);
  Offset rest = 0;
  for (Index i = 0; i < a.rows; ++i) {
    rest += std::max<Offset>(0, row_ptr[i + 1] - row_ptr[i] - width);
  }
  m.hyb = width * a.rows * place + rest * (place + static_cast<std::int64_t>(sizeof(Index)));
  constexpr Index slice = SellCSigma<S, Exec>::slice;
  const SliceSize sell = choose_window(row_ptr, a.rows, slice);
  m.sigma = sell.sigma;
  m.sell = sell.places * place + a.rows / slice * 12 + (sell.sigma > 1 ? a.rows * 4 : 0);
  return m;
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// Why a format need not be tried; empty where it should be.
template <class Exec>
std::string ruled_out(std::string_view name, const Model& m) {
  const auto more_than = [](std::int64_t mine, double factor, std::int64_t other,
                            std::string_view whose) {
    if (static_cast<double>(mine) <= factor * static_cast<double>(other)) return std::string{};
    return fmt::format("{} against {} of {}", megabytes(mine), megabytes(other), whose);
  };
  if (name == "coo") return more_than(m.coo, 1, m.csr, "csr");
  if (name == "sell_c_sigma") return more_than(m.sell, 1.5, m.csr, "csr");
  if (name == "ell" || name == "ellpack_r") {
    if (auto why = more_than(m.ell, 1.3, m.csr, "csr"); !why.empty()) return why;
    // Many streams instead of one: on a host never faster.
    if (on_host<Exec>) return "sell_c_sigma reads the same places in one stream";
  }
  if (name == "jds" && on_host<Exec> &&
      static_cast<double>(m.sell) < 1.3 * static_cast<double>(m.jds)) {
    return fmt::format("sell_c_sigma pads to {} of {} only, in one stream", megabytes(m.sell),
                       megabytes(m.jds));
  }
  if (name == "kokkos_kernels" && on_host<Exec>) {
    return "the same bytes as csr, without its blocks of equal work";
  }
  if (name == "hyb") return more_than(m.hyb, on_host<Exec> ? 0.95 : 1.1, m.sell, "sell_c_sigma");
  return {};
}

template <class S, class Exec>
struct Contender {
  std::unique_ptr<Operator<S, Exec>> op;
  FormatTrial* trial = nullptr;
};

/// What the timed multiplications work on.
template <class S, class Exec>
struct Workspace {
  Vector<S, Exec> x;
  Vector<S, Exec> y;
  bool with_dot = false;
  BlockSums<Exec> sums{};
};

/// Seconds of a multiplication; of several in a row where one is too short for the clock.
template <class S, class Exec>
double time_once(const Operator<S, Exec>& a, Workspace<S, Exec>& work, int times) {
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
void compare(Contender<S, Exec>& a, Contender<S, Exec>& b, Workspace<S, Exec>& work) {
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

template <class S, class Exec>
Contender<S, Exec> make_contender(const HostCsr<S>& csr, FormatTrial& trial) {
  Kokkos::Timer timer;
  auto op = make_operator<S, Exec>(trial.name, csr);
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
  const auto formats = list_formats();
  choice.trials.reserve(formats.size());  // contenders point into it
  FormatTrial base;
  base.name = "csr";
  choice.trials.push_back(base);
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
      if (f.name == "csr") continue;
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

  const Model model = look_at_lengths<S, Exec>(csr);
  const Vector<S, Exec> x = fresh<Vector<S, Exec>>("select.x", csr.cols);
  const Vector<S, Exec> y = zeros<S>(Exec{}, "select.y", csr.rows);
  Kokkos::deep_copy(x, S(1));
  Workspace<S, Exec> work{x, y, options.with_dot && csr.rows == csr.cols};
  double csr_seconds = std::numeric_limits<double>::infinity();
  for (const auto& f : formats) {
    if (f.name == "csr") continue;
    FormatTrial& trial = choice.trials.emplace_back();
    trial.name = f.name;
    if (f.name == "sell_c_sigma") trial.name += fmt::format(":{}", model.sigma);
    trial.remark = ruled_out<Exec>(f.name, model);
    if (!trial.remark.empty()) continue;
    Contender<S, Exec> challenger;
    try {
      challenger = make_contender<S, Exec>(csr, trial);
    } catch (const FormatRefusal& refusal) {
      trial.remark = refusal.what();
      continue;
    }
    compare(best, challenger, work);
    if (best.trial->name == "csr") csr_seconds = std::min(csr_seconds, best.trial->seconds);
    if (trial.seconds < 0.98 * best.trial->seconds) best = std::move(challenger);
  }
  choice.trials[0].seconds = csr_seconds;
  for (FormatTrial& t : choice.trials) {
    if (!t.measured || t.name == "csr") continue;
    t.break_even = t.seconds < csr_seconds ? t.convert_seconds / (csr_seconds - t.seconds)
                                           : std::numeric_limits<double>::infinity();
  }
  // What is converted already costs nothing more; the break-even matters where it is not.
  return finish(best.trial->name == "csr"
                    ? "no other format is faster by more than 2 %"
                    : fmt::format("{:.2f} times the speed of csr; the conversion pays after {:.0f} "
                                  "multiplications",
                                  csr_seconds / best.trial->seconds,
                                  std::ceil(best.trial->break_even)));
}

#define KRYSOL_INSTANTIATE(S, Exec)                                            \
  template std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>&, \
                                                            const SelectOptions&, FormatChoice&);
KRYSOL_FOR_EACH_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
