// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/multigrid.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <krysol/solver/coarsening/grid_modes.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/krylov/cg_kernels.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class W>
std::vector<SetupFact> facts_of(const multigrid::HostHierarchy<W>& h,
                                const multigrid::CycleOptions& cycle) {
  const auto of_first = [](double v, double first) {
    return fmt::format("{:.2f}", first > 0 ? v / first : 1.0);
  };
  double rows = 0;
  double nnz = 0;
  std::vector<multigrid::LevelSize> sizes = h.on_device;
  for (const auto& level : h.levels) sizes.push_back({level.a.rows, level.a.nnz()});
  for (const multigrid::LevelSize& level : sizes) {
    rows += level.rows;
    nnz += static_cast<double>(level.nnz);
  }
  const multigrid::LevelSize first = sizes.front();
  std::vector<SetupFact> facts = {
      {"levels", std::to_string(sizes.size())},
      {"coarsening", h.coarsening},
      {"smoother",
       std::string(multigrid::smoother_names[static_cast<std::size_t>(cycle.smoother)])},
      {"steps of a smoother", std::to_string(cycle.degree > 0 ? cycle.degree : h.degree)},
      {"rows a node", std::to_string(h.block)},
      {"near-null vectors", std::to_string(h.near_null)},
      {"rows of all levels over those of the first", of_first(rows, first.rows)},
      {"nonzeros of all levels over those of the first",
       of_first(nnz, static_cast<double>(first.nnz))}};
  if (!h.on_device.empty()) {
    facts.push_back({"levels that the device made", std::to_string(h.on_device.size())});
  }
  return facts;
}

template <class Levels>
void add_levels(const Levels& levels, std::vector<SetupFact>& facts) {
  int l = 0;
  for (const auto& level : levels) {
    facts.push_back(
        {fmt::format("level {}", ++l),
         fmt::format("{} rows, {} nonzeros, {}, {:.1f} MB{}", level.a.rows(), level.a.nnz(),
                     level.a.name(), static_cast<double>(level.a.bytes()) / 1e6,
                     level.smoother.summary())});
  }
}

void add_seconds(const multigrid::SetupSeconds& s, std::vector<SetupFact>& facts) {
  facts.push_back(
      {"seconds of the setup",
       fmt::format(
           "strength {:.3f}, aggregation {:.3f}, prolongation {:.3f}, products {:.3f}, scaling "
           "{:.3f}, bounds {:.3f}, coarsest level {:.3f}, formats {:.3f}",
           s.strength, s.aggregation, s.prolongation, s.product, s.scaling, s.bounds, s.coarsest,
           s.conversion)});
}

/// Those that every level holds without being told: constants of each unknown, and rotations.
template <class T>
NearNullVectors base_vectors(const HostCsr<T>& a, Index block) {
  const auto space = multigrid::near_null_space(multigrid::scaled_entries<double>(a, {}), block);
  NearNullVectors v;
  v.count = space.count;
  v.block = block;
  v.values.assign(space.values.data(), space.values.data() + space.values.extent(0));
  return v;
}

/// Behind the others, with their size: a largest entry of 1.
template <class T>
void append_vector(NearNullVectors& v, const T* x) {
  const auto k = static_cast<std::size_t>(v.count);
  const std::size_t rows = v.values.size() / k;
  double largest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  }
  std::vector<double> all((k + 1) * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(v.values.begin() + static_cast<std::ptrdiff_t>(k * i), k,
                all.begin() + static_cast<std::ptrdiff_t>((k + 1) * i));
    all[(k + 1) * i + k] = static_cast<double>(x[i]) / largest;
  }
  v.values = std::move(all);
  ++v.count;
}

/// How it would be said that something was done in another way than asked.
template <class W>
SetupNote note_of(const multigrid::HostHierarchy<W>& h) {
  SetupNote note;
  const auto last = h.levels.back().a.rows;
  if (!h.stalled.empty() && h.inverse.extent(0) == 0) {
    note.refusal = fmt::format("amg: {}", h.stalled);
    note.remedy = fmt::format("the last level has {} rows and is smoothed, not solved", last);
  } else if (h.null_space > 0) {
    note.remedy =
        fmt::format("amg: the last level is singular; {} of its {} directions are left out",
                    h.null_space, last);
  }
  return note;
}

}  // namespace

#ifndef KRYSOL_FOR_FLOAT
MultigridOptions MultigridOptions::read(std::string_view name, const NamedOptions& options) {
  const OptionReader reader("preconditioner", name, options,
                            {"cycle", "degree", "strength", "block", "coarsest", "precision",
                             "coarsening", "aggressive", "vectors", "smoother"});
  MultigridOptions o;
  const auto cycle = reader.one_of("cycle", {"v", "w", "k"});
  o.cycle.visits = cycle == 0 ? 1 : 2;
  o.cycle.krylov = cycle == 2;
  o.cycle.smoother = static_cast<multigrid::SmootherKind>(reader.one_of(
      "smoother", {"chebyshev", "l1-jacobi", "spai0", "gauss-seidel", "block", "line"}));
  o.cycle.degree = reader.whole_number_to("degree", 16, o.cycle.degree);
  o.levels.strength = reader.number_from("strength", 0, 1, o.levels.strength);
  o.levels.block = reader.whole_number_to("block", 64, 0);
  o.levels.coarsest = reader.whole_number_to("coarsest", 2000, o.levels.coarsest);
  o.levels.coarsening = static_cast<multigrid::Coarsening>(
      reader.one_of("coarsening", {"auto", "aggregates", "classical"}));
  o.levels.aggressive = reader.whole_number_to("aggressive", 10, o.levels.aggressive);
  if (o.levels.aggressive > 0 && o.levels.coarsening != multigrid::Coarsening::classical) {
    throw std::invalid_argument(
        fmt::format("preconditioner '{}': 'aggressive' is for coarsening=classical", name));
  }
  o.vectors = reader.whole_number_to("vectors", 8, o.vectors);
  if (o.vectors > 0 && o.levels.coarsening == multigrid::Coarsening::classical) {
    throw std::invalid_argument(
        fmt::format("preconditioner '{}': 'vectors' are for other coarsening than classical, which "
                    "holds constants alone",
                    name));
  }
  o.in_double = reader.one_of("precision", {"float", "double"}) == 1;
  return o;
}
#endif

template <class T, class Exec>
Multigrid<T, Exec>::Multigrid(const HostCsr<T>& a, const MultigridOptions& options,
                              std::string_view format, bool keep)
    : Multigrid(a, options, format, keep, false) {}

template <class T, class Exec>
Multigrid<T, Exec>::Multigrid(const HostCsr<T>& a, const MultigridOptions& options,
                              std::string_view format, bool keep, bool host_alone)
    : options_(options),
      grid_(format == "stencil" || format == "stencil_pattern"),
      host_alone_(host_alone) {
  const bool of_reals =
      options.vectors > 0 || options.levels.coarsening == multigrid::Coarsening::classical;
  if (is_complex<T> && of_reals) {
    throw std::invalid_argument(
        "amg: coarsening=classical and vectors are for real matrices, and this one is complex");
  }
  set_up(a, options.levels, keep);
  if (options.vectors > 0) find_vectors(a, keep);
}

template <class T, class Exec>
void Multigrid<T, Exec>::set_up(const HostCsr<T>& a, const multigrid::HierarchyOptions& levels,
                                bool keep) {
  const HostCsr<StoredInDouble> in_double = multigrid::scaled_entries<StoredInDouble>(a, {});
  DeviceLevels on_device;
  multigrid::FirstLevels<StoredInDouble> make_first;
  if constexpr (!on_host<Exec> && !is_complex<T>) {
    // Other smoothers are made from what is on the host.
    if (!host_alone_ && options_.cycle.smoother == multigrid::SmootherKind::chebyshev) {
      // Nothing where it is refused: the host says so, or takes aggregates; or where there is no
      // memory: levels of float may have room yet.
      const auto start_of = [](const auto& make) -> decltype(make()) {
        try {
          return make();
        } catch (const PreconditionerRefusal&) {
        } catch (const OutOfMemory&) {
        }
        return std::nullopt;
      };
      make_first.grids = [&](const auto& matrix, const auto& h, auto& seconds) {
        return start_of([&] {
          return multigrid::make_device_grids(Exec{}, matrix, levels, h, seconds, on_device);
        });
      };
      make_first.classical = [&](const auto& matrix, const auto& h, auto& seconds) {
        return start_of([&] {
          return multigrid::make_device_classical(Exec{}, matrix, levels, h, seconds, on_device);
        });
      };
      make_first.aggregates = [&](const auto& matrix, auto& h, auto& b) {
        on_device.clear();  // grids that led to none
        try {
          on_device = multigrid::make_device_levels(Exec{}, matrix, levels, b, h);
        } catch (const OutOfMemory&) {
        }
      };
    }
  }
  multigrid::HostHierarchy<StoredInDouble> host =
      multigrid::make_hierarchy(in_double, levels, make_first);
  store(host, false, on_device);
  kept_ = nullptr;
  kept_on_device_ = nullptr;
  if (!keep) return;
  HostCsr<StoredInDouble> first = in_double;
  if constexpr (!on_host<Exec> && !is_complex<T>) {
    if (!on_device.empty()) {
      try {
        kept_on_device_ = std::make_shared<DeviceUpdate>(Exec{}, std::move(on_device), in_double,
                                                         host.levels.front(), options_.in_double);
      } catch (const OutOfMemory&) {  // an update makes all anew
        return;
      }
      first = host.levels.front().a;
    }
  }
  kept_ = std::make_shared<multigrid::HierarchyUpdate<StoredInDouble>>(
      std::move(host), first, levels.coarsest, options_.in_double && on_host<Exec>);
}

/// Takes levels from the host, after those that the device has made. same_patterns: as those have
/// that are stored.
template <class T, class Exec>
void Multigrid<T, Exec>::store(multigrid::HostHierarchy<StoredInDouble>& host, bool same_patterns,
                               const DeviceLevels& on_device) {
  Kokkos::Timer timer;
  std::vector<SetupFact> facts = facts_of(host, options_.cycle);
  if (options_.in_double) {
    in_double_ = std::make_shared<const multigrid::Hierarchy<StoredInDouble, Exec>>(
        host, options_.cycle, grid_, nullptr, on_device);
    add_levels(in_double_->levels(), facts);
  } else {
    levels_ = std::make_shared<const multigrid::Hierarchy<Stored, Exec>>(
        host, options_.cycle, grid_, same_patterns ? levels_.get() : nullptr, on_device);
    add_levels(levels_->levels(), facts);
  }
  Exec{}.fence("krysol::multigrid(setup)");
  host.seconds.conversion += timer.seconds();
  add_seconds(host.seconds, facts);
  facts_ = std::move(facts);
  note_ = note_of(host);
  block_ = host.block;
}

/// x := x - M^-1 A x, again and again: what is left is what M does not reduce.
template <class T, class Exec>
typename Multigrid<T, Exec>::Slow Multigrid<T, Exec>::slowest(const Csr<T, Exec>& a) const {
  constexpr int steps = 12;
  const Exec exec;
  ReductionWorkspace<Exec> sums;
  Slow slow;
  slow.x = uninitialized<T>(exec, "multigrid.slow", a.rows);
  const auto y = uninitialized<T>(exec, "multigrid.of_slow", a.rows);
  const auto z = uninitialized<T>(exec, "multigrid.correction", a.rows);
  for_each("krysol::multigrid(noise)", exec, a.rows, cg_kernels::Noise<T>{slow.x.data()});
  double before = 0;
  for (int k = 0; k <= steps; ++k) {
    const double energy = apply_dot(exec, a, slow.x, y, sums);
    if (!(energy > 0) || !is_finite(energy)) break;
    if (k > 0) slow.rate = std::sqrt(energy / before);
    if (k == steps) break;
    // As large again, so that nothing underflows.
    const double unit = 1 / std::sqrt(energy);
    apply(exec, ConstVector<T, Exec>(y), z);
    axpby<T>(exec, from_double<T>(-unit), ConstVector<T, Exec>(z), from_double<T>(unit), slow.x);
    before = 1;
  }
  return slow;
}

template <class T, class Exec>
void Multigrid<T, Exec>::find_vectors(const HostCsr<T>& host, bool keep) {
  if constexpr (!is_complex<T>) {
    constexpr double good = 0.3;  // a rate that needs nothing better
    Csr<T, Exec> a;
    from_csr(host, a);
    // How much less error for what is moved.
    const auto worth = [&](const Slow& slow) { return -std::log(slow.rate) / bytes(); };
    Slow slow = slowest(a);
    const double first_rate = slow.rate;
    auto vectors =
        options_.levels.near_null ? *options_.levels.near_null : base_vectors(host, block_);
    Multigrid best = *this;
    double best_rate = slow.rate;
    double best_worth = worth(slow);
    Index of_best = 0;
    Index found = 0;
    while (found < options_.vectors && vectors.count < most_near_null_vectors && slow.rate > good &&
           slow.rate < 1) {
      const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, slow.x);
      append_vector(vectors, x.data());
      ++found;
      multigrid::HierarchyOptions more = options_.levels;
      more.near_null = std::make_shared<const NearNullVectors>(vectors);
      try {
        set_up(host, more, keep);
      } catch (const PreconditionerRefusal&) {
        break;
      } catch (const std::bad_alloc&) {  // what there is has room
        break;
      }
      slow = slowest(a);
      if (!(worth(slow) > best_worth)) continue;
      best = *this;
      best_rate = slow.rate;
      best_worth = worth(slow);
      of_best = found;
    }
    *this = std::move(best);
    found_.push_back(
        {"near-null vectors that were found and kept", fmt::format("{} and {}", found, of_best)});
    found_.push_back({"share of an error that a cycle leaves, without and with them",
                      fmt::format("{:.3f} and {:.3f}", first_rate, best_rate)});
  }
}

template <class T, class Exec>
void Multigrid<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                               const Vector<T, Exec>& z) const {
  if (in_double_) {
    in_double_->apply(exec, r, z);
  } else {
    levels_->apply(exec, r, z);
  }
}

template <class T, class Exec>
double Multigrid<T, Exec>::bytes() const {
  return in_double_ ? in_double_->bytes(sizeof(T)) : levels_->bytes(sizeof(T));
}

template <class T, class Exec>
void Multigrid<T, Exec>::update(const HostCsr<T>& a) {
  check_rows(name, static_cast<std::size_t>(in_double_ ? in_double_->rows() : levels_->rows()), a);
  const HostCsr<StoredInDouble> in_double = multigrid::scaled_entries<StoredInDouble>(a, {});
  // Not there any more where this throws.
  auto kept = std::move(kept_);
  auto on_device = std::move(kept_on_device_);
  bool host_alone = host_alone_;
  if (kept && (on_device ? on_device->fits(in_double) : kept->fits(in_double))) {
    try {
      set_values(in_double, *kept, on_device.get());
      kept_ = std::move(kept);
      kept_on_device_ = std::move(on_device);
      return;
    } catch (const PreconditionerRefusal&) {  // other levels may do
    } catch (const OutOfMemory&) {
      if (!on_device) throw;
      host_alone = true;
    }
  }
  kept = nullptr;  // makes room
  on_device = nullptr;
  *this = Multigrid(a, options_, grid_ ? "stencil" : "", true, host_alone);
}

template <class T, class Exec>
void Multigrid<T, Exec>::set_values(const HostCsr<StoredInDouble>& a,
                                    multigrid::HierarchyUpdate<StoredInDouble>& kept,
                                    DeviceUpdate* on_device) {
  if constexpr (!on_host<Exec> && !is_complex<T>) {
    if (on_device != nullptr) {
      multigrid::SetupSeconds seconds;
      multigrid::Stopwatch watch;
      const auto scale = multigrid::scale_of(a, 1, 0);
      watch.add_to(seconds.scaling);
      const auto after = on_device->set_values(a, scale, seconds);
      store(kept.set_values(after, scale, seconds), true, on_device->levels());
      return;
    }
  }
  store(kept.set_values(a), true);
}

#define KRYSOL_INSTANTIATE(T, Exec) template class Multigrid<T, Exec>;
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
