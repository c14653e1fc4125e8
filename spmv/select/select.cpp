// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/select.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/select/format_list.hpp>

namespace krysol {
namespace {

/// What row lengths tell of each format's bytes; of the shared ones, the least that they could
/// take.
struct Model {
  std::int64_t vectors = 0;  // x read and y written, whatever the format
  std::int64_t csr = 0;
  std::int64_t stencil_pattern = 0;
  std::int64_t stencil = 0;
  std::int64_t bsr = 0;
  std::int64_t symmetric = 0;
  std::int64_t symmetric_bsr = 0;
  std::int64_t ell = 0;
  std::int64_t sell = 0;
  std::int64_t sell_u16 = 0;
  std::int64_t sell_dictionary = 0;
  std::int64_t jds = 0;
  std::int64_t hyb = 0;
  std::int64_t coo = 0;
  Index sigma = 1;
  double index_share = 1;  // of bsr, for each nonzero
  ShortShare short_share;
  ValueSample values;
  bool may_be_symmetric = false;
  double mean_row = 0;
  Index longest_row = 0;
};

template <class S, class Exec>
Model look_at_lengths(const HostCsr<S>& a) {
  constexpr auto place = static_cast<std::int64_t>(sizeof(S) + sizeof(Index));
  const Offset* row_ptr = a.row_ptr.data();
  Model m;
  constexpr auto entry = static_cast<std::int64_t>(sizeof(S));
  m.vectors = (std::int64_t{a.rows} + a.cols) * entry;
  m.csr = bytes(a);
  constexpr Index patterns_slice = Stencil<S, Exec>::slice;
  m.stencil = std::int64_t{a.rows} / patterns_slice * std::int64_t{sizeof(Index)};
  m.stencil_pattern = m.stencil + a.nnz() * entry +
                      std::int64_t{a.rows} / patterns_slice * std::int64_t{sizeof(Offset)};
  const BlockChoice blocks = choose_block(row_ptr, a.col_idx.data(), a.rows);
  m.index_share = blocks.indices;
  m.bsr = a.nnz() * entry +
          static_cast<std::int64_t>(blocks.indices * static_cast<double>(a.nnz()) * sizeof(Index));
  // One triangle with its diagonal; of lists that slices or runs of blocks share, the least.
  m.may_be_symmetric = on_host<Exec> && may_be_symmetric(a);
  constexpr auto word = static_cast<std::int64_t>(sizeof(std::uint16_t));
  const std::int64_t triangle = (a.nnz() + a.rows) / 2;
  m.symmetric = triangle * entry + triangle / Symmetric<S, Exec>::slice * word;
  m.symmetric_bsr = triangle * entry + static_cast<std::int64_t>(
                                           blocks.indices * static_cast<double>(triangle * word));
  m.longest_row = longest_row(a);
  m.mean_row = static_cast<double>(a.nnz()) / std::max<Index>(a.rows, 1);
  m.ell = std::int64_t{m.longest_row} * a.rows * place;
  m.coo = a.nnz() * (place + static_cast<std::int64_t>(sizeof(Index)));
  m.jds = a.nnz() * place + std::int64_t{a.rows} * static_cast<std::int64_t>(sizeof(Index));
  const Offset width = hyb_width(row_ptr, a.rows);
  Offset rest = 0;
  for (Index i = 0; i < a.rows; ++i) {
    rest += std::max<Offset>(0, row_ptr[i + 1] - row_ptr[i] - width);
  }
  m.hyb = width * a.rows * place + rest * (place + static_cast<std::int64_t>(sizeof(Index)));
  constexpr Index slice = SellCSigma<S, Exec>::slice_rows;
  const SliceSize sell = choose_window(row_ptr, a.rows, slice);
  m.sigma = sell.sigma;
  m.sell = sell.slots * place + std::int64_t{a.rows} / slice * 12 +
           (sell.sigma > 1 ? std::int64_t{a.rows} * 4 : 0);
  m.short_share = short_share(row_ptr, a.col_idx.data(), a.rows, slice, sell.sigma);
  m.values = sample_values(a);
  const std::int64_t short_slices =
      m.sell - sell.slots * (place - word) +
      std::int64_t{a.rows} / slice * (std::int64_t{sizeof(ShortSlice)});
  m.sell_u16 = short_slices + sell.slots * entry;
  const std::int64_t far = static_cast<std::int64_t>((1 - m.short_share.near_or_pages) *
                                                     static_cast<double>(sell.slots * word));
  const bool one_byte = m.values.distinct <= static_cast<std::int64_t>(short_codes);
  m.sell_dictionary = short_slices + far + sell.slots * (one_byte ? 1 : word);
  return m;
}

std::int64_t least_bytes(std::string_view name, const Model& m) {
  if (name == "stencil") return m.stencil;
  if (name == "stencil_pattern") return m.stencil_pattern;
  if (name == "bsr") return m.bsr;
  if (name == "symmetric") return m.symmetric;
  if (name == "symmetric_bsr") return m.symmetric_bsr;
  if (name == "ell" || name == "ellpack_r") return m.ell;
  if (name == "sell_c_sigma") return m.sell;
  if (name == "sell_u16") return m.sell_u16;
  if (name == "sell_dictionary") return m.sell_dictionary;
  if (name == "jds") return m.jds;
  if (name == "hyb") return m.hyb;
  if (name == "coo") return m.coo;
  return m.csr;
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
  if (name == "sell_u16" || name == "sell_dictionary") {
    constexpr double doubt = 0.1;  // of a sample
    // On hosts looking up pages costs more than the bytes that it saves.
    const double fit = on_host<Exec> ? m.short_share.near : m.short_share.near_or_pages;
    if (fit < least_short_share - doubt && (on_host<Exec> || name == "sell_u16")) {
      return fmt::format("of the nonzeros sampled, {:.0f} % are in slices {}", 100 * fit,
                         on_host<Exec> ? "that span at most 65535 columns" : "that 16 bits reach");
    }
    if (name == "sell_u16") return more_than(m.sell_u16, 1.5, m.csr, "csr");
    // Were there no more than a table holds, all equally often, a sample would repeat few.
    if (2 * m.values.distinct > m.values.looked_at) {
      return fmt::format("of {} values sampled {} differ", m.values.looked_at, m.values.distinct);
    }
    return more_than(m.sell_dictionary, 1, m.csr, "csr");
  }
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
  // Cutting within rows costs little where they are long, and is of use where they are uneven.
  if (name == "csr_merge" && m.mean_row < 24 && m.longest_row < 4 * m.mean_row) {
    return fmt::format("rows of {:.1f} and at most {} nonzeros are equal work as they are",
                       m.mean_row, m.longest_row);
  }
  if (name == "kokkos_kernels" && on_host<Exec>) {
    return "the same bytes as csr, without its blocks of equal work";
  }
  if (name.starts_with("symmetric") && !m.may_be_symmetric) {
    return "a sample of rows shows that the matrix is not symmetric to the bit";
  }
  if ((name == "bsr" || name == "symmetric_bsr") && m.index_share > 0.5) {
    return fmt::format("{:.2f} indices for each nonzero: too few of them lie in full blocks",
                       m.index_share);
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
  ReductionWorkspace<Exec> sums{};
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
    return fmt::format("its {} alone take longer than {} does", megabytes(bytes), best.name);
  }

 private:
  std::int64_t vectors_;
  double rate_ = 0;  // bytes/s
};

/// Why nothing more is tried after so many seconds of choosing; empty where something may be.
std::string budget_rules_out(double spent, double csr_seconds, const SelectOptions& options) {
  if (std::isinf(csr_seconds)) return {};  // not timed yet
  const double most = options.most_share * options.products * csr_seconds;
  if (spent <= std::max(most, options.unnoticed_seconds)) return {};
  return fmt::format("choosing had taken {:.0f} % of the time of {:.0f} multiplications by csr",
                     100 * spent / (options.products * csr_seconds), options.products);
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
  auto formats = list_formats();
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
  const Vector<S, Exec> x = allocate<Vector<S, Exec>>("select.x", csr.cols);
  const Vector<S, Exec> y = zeros<S>(Exec{}, "select.y", csr.rows);
  Kokkos::deep_copy(x, S(1));
  Workspace<S, Exec> work{x, y, options.with_dot && csr.rows == csr.cols};
  // The fewest bytes first: what they win makes most of the others needless to convert.
  std::stable_sort(formats.begin(), formats.end(), [&](const FormatInfo& a, const FormatInfo& b) {
    return least_bytes(a.name, model) < least_bytes(b.name, model);
  });
  Roofline roofline(model.vectors);
  double csr_seconds = std::numeric_limits<double>::infinity();
  for (const auto& f : formats) {
    if (f.name == "csr") continue;
    FormatTrial& trial = choice.trials.emplace_back();
    trial.name = f.name;
    // What looking at the lengths has found need not be found again.
    if (f.name == "sell_c_sigma" || f.name == "sell_u16" || f.name == "sell_dictionary") {
      trial.name += fmt::format(":{}", model.sigma);
    }
    trial.remark = ruled_out<Exec>(f.name, model);
    if (trial.remark.empty()) {
      trial.remark = roofline.rules_out(least_bytes(f.name, model), *best.trial);
    }
    if (trial.remark.empty()) {
      trial.remark = budget_rules_out(clock.seconds(), csr_seconds, options);
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
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
