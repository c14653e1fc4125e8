// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/device_levels.hpp>

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <krysol/solver/device_coarsening/classical.hpp>
#include <krysol/solver/device_coarsening/grids.hpp>
#include <krysol/solver/device_coarsening/prolongation.hpp>
#include <krysol/solver/multigrid/classical_levels.hpp>
#include <krysol/solver/multigrid/device_scaling.hpp>
#include <krysol/solver/multigrid/grid_levels.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol::multigrid {
namespace {

namespace on = krysol::device_coarsening;

template <class W>
struct DivideRows {
  const double* scale;
  Index k;
  W* b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const double by = scale[i] > 0 ? 1 / scale[i] : 0;
    for (Index c = 0; c < k; ++c) b[i * k + c] *= from_double<W>(by);
  }
};

/// A row is a thread's, in several kernels: one of 10^5 entries would be waited for.
constexpr Offset longest_on_device = 4096;

/// The levels under way: the last of them and what is added to it.
template <class W, class Exec>
class Growing {
 public:
  Growing(const Exec& exec, const HierarchyOptions& options, Index rows, SetupSeconds& seconds)
      : seconds(seconds), exec_(exec), least_(std::max(rows, options.coarsest)) {}

  /// Makes A, scaled, the finest level; false where a row is too long.
  bool begin(const HostCsr<W>& a, const HostArray<double>& scale_of_a) {
    scale = in_memory_of<Exec>(scale_of_a);
    fine = scaled_on_device<W, Exec>(exec_, a, scale);
    count(seconds.scaling);
    return has_short_rows();
  }
  bool goes_on() const {
    return fine.rows > least_ && levels.size() + 1 < most_levels && has_short_rows();
  }
  void find_bound() {
    set_schedule(fine, RowSchedule::automatic);
    largest_ = bound_of_level(exec_, fine);
    count(seconds.bounds);
  }
  double bound() const { return largest_; }

  /// Ends a level with its P from the unknowns of the next, which are not scaled, and makes the
  /// next. blocks: of R and A P.
  void add(Csr<W, Exec> p, const on::ProductBlocks& of_ap, const on::ProductBlocks& of_rap) {
    DeviceLevel<W, Exec> level;
    level.p = std::move(p);
    level.r = on::adjoint(exec_, level.p);
    Csr<W, Exec> next =
        on::product(exec_, level.r, on::product(exec_, fine, level.p, of_ap), of_rap);
    count(seconds.product);
    level.scale = scale;
    scale = scale_of_level(exec_, next, level.r, levels.size() + 2);
    scale_next<W, Exec>(exec_, level.p, level.r, next, scale);
    set_schedule(level.p, RowSchedule::automatic);
    set_schedule(level.r, RowSchedule::automatic);
    level.a = std::move(fine);
    level.largest = largest_;
    levels.push_back(std::move(level));
    fine = std::move(next);
  }

  void count(double& of_step) {
    exec_.fence("krysol::multigrid(device levels)");
    watch_.add_to(of_step);
  }
  /// The level after those, for the host, that is not scaled.
  HostLevel<W> rest() const {
    HostLevel<W> level;
    level.a = on_the_host(unscaled(exec_, fine, scale));
    level.scale = on_the_host<double, Exec>(scale);
    return level;
  }
  std::vector<LevelSize> sizes() const {
    std::vector<LevelSize> all;
    for (const auto& level : levels) all.push_back({level.a.rows, level.a.nnz()});
    return all;
  }

  SetupSeconds& seconds;
  Csr<W, Exec> fine;           // with ones on its diagonal
  Vector<double, Exec> scale;  // that gave it those
  DeviceLevels<W, Exec> levels;

 private:
  bool has_short_rows() const { return on::longest_row(exec_, fine) <= longest_on_device; }

  Exec exec_;
  Index least_;
  double largest_ = 0;
  Stopwatch watch_;
};

}  // namespace

template <class W, class Exec>
DeviceLevels<W, Exec> make_device_levels(const Exec& exec, const HostCsr<W>& a,
                                         const HierarchyOptions& options, NearNullSpace<W>& b,
                                         HostHierarchy<W>& h, Index rows) {
  Growing<W, Exec> growing(exec, options, rows, h.seconds);
  Index block = h.block;
  if (a.rows <= std::max(rows, options.coarsest) || !growing.begin(a, h.scale) ||
      !on::has_full_blocks(exec, growing.fine, block)) {
    return {};
  }
  on::NearNullSpace<W, Exec> vectors{b.count, in_memory_of<Exec>(b.values)};
  while (growing.goes_on()) {
    growing.find_bound();
    const Csr<W, Exec>& fine = growing.fine;
    const auto weight = on::strength(exec, fine, block, options.strength);
    growing.count(h.seconds.strength);
    const on::Aggregates<Exec> aggregates =
        on::aggregate(exec, on::graph_of(fine, block), fine.rows / block, weight);
    growing.count(h.seconds.aggregation);
    const Index of_next = vectors.count;
    const double next_rows = static_cast<double>(aggregates.count) * of_next;
    if (aggregates.count == 0 || next_rows > least_coarsening_of_aggregates * fine.rows) {
      break;  // the host says so, where its aggregates are no better
    }
    on::Tentative<W, Exec> t = on::tentative(exec, aggregates, block, vectors);
    Csr<W, Exec> p = on::smoothed(exec, fine, block, weight, growing.bound(), vectors, t.t);
    growing.count(h.seconds.prolongation);
    growing.add(std::move(p), {block, block, of_next}, {of_next, block, of_next});
    vectors = std::move(t.coarse);
    on::for_rows("krysol::multigrid(near null)", exec, growing.fine.rows,
                 DivideRows<W>{growing.scale.data(), of_next, vectors.values.data()});
    growing.count(h.seconds.scaling);
    block = of_next;
  }
  if (growing.levels.empty()) return {};
  HostLevel<W> rest;
  rest.a = on_the_host(growing.fine);
  rest.block = block;
  rest.unit = on_the_host<double, Exec>(growing.scale);
  b = {vectors.count, on_the_host<W, Exec>(vectors.values)};
  h.levels.push_back(std::move(rest));
  h.on_device = growing.sizes();
  growing.count(h.seconds.conversion);
  return std::move(growing.levels);
}

template <class Exec>
std::optional<GridStart> make_device_grids(const Exec& exec, const HostCsr<double>& a,
                                           const HierarchyOptions& options,
                                           const HostHierarchy<double>& h, SetupSeconds& seconds,
                                           DeviceLevels<double, Exec>& levels, Index rows) {
  if (options.near_null || a.rows <= std::max(rows, options.coarsest)) return std::nullopt;
  Growing<double, Exec> growing(exec, options, rows, seconds);
  const auto has_all_entries = [&](Index block, const BoxGrid& of_distances) {
    // Most matrices that are no grids show it before they are taken to the device.
    if (growing.fine.rows == 0 && !growing.begin(a, h.scale)) return false;
    return on::has_pattern_of_grid(exec, growing.fine, block, of_distances);
  };
  std::optional<GridStart> grid = find_grid(a, h.block, options, has_all_entries);
  growing.count(seconds.strength);
  if (!grid) return std::nullopt;
  const Index block = grid->block;
  grid->degree = h.degree;
  while (growing.goes_on()) {
    growing.find_bound();
    const DirectionStrengths strengths =
        on::direction_strengths(exec, growing.fine, growing.scale, block, grid->grid);
    const auto halved = strong_directions(strengths, options.strength, grid->grid);
    if (growing.levels.empty() && are_uneven(strengths, halved)) {
      grid->degree = degree_of_uneven_grids;
    }
    growing.count(seconds.strength);
    if (std::none_of(halved.begin(), halved.end(), [](bool is) { return is; })) break;
    const GridCoarsening c = coarsen(grid->grid, halved, grid->places);
    Csr<double, Exec> p = on::grid_interpolation(exec, growing.fine, growing.scale, block, c);
    scale_in_place<double, Exec>(exec, p, inverted(exec, growing.scale).data(), nullptr);
    growing.count(seconds.prolongation);
    growing.add(std::move(p), {}, {});
    growing.count(seconds.scaling);
    grid->grid = c.coarse;
  }
  if (growing.levels.empty()) return std::nullopt;
  grid->level = growing.rest();
  grid->before = growing.sizes();
  growing.count(seconds.conversion);
  levels = std::move(growing.levels);
  return grid;
}

template <class Exec>
std::optional<ClassicalStart> make_device_classical(const Exec& exec, const HostCsr<double>& a,
                                                    const HierarchyOptions& options,
                                                    const HostHierarchy<double>& h,
                                                    SetupSeconds& seconds,
                                                    DeviceLevels<double, Exec>& levels,
                                                    Index rows) {
  Growing<double, Exec> growing(exec, options, rows, seconds);
  if (a.rows <= std::max(rows, options.coarsest) || !growing.begin(a, h.scale)) return std::nullopt;
  on::Unknowns<Exec> unknown = on::unknowns_of(exec, a.rows, h.block);
  while (growing.goes_on()) {
    growing.find_bound();
    // P of one coarsening, and the unknowns of its columns.
    const auto interpolation_of = [&](const Csr<double, Exec>& level, on::Unknowns<Exec>& of_rows) {
      const auto strong = on::strong_dependence(exec, level, of_rows, options.strength);
      growing.count(seconds.strength);
      const on::Splitting<Exec> splitting = on::independent_sets(exec, level, strong);
      growing.count(seconds.aggregation);
      auto p = on::extended_interpolation(exec, level, of_rows, strong, splitting, most_of_a_row);
      of_rows = on::unknowns_of_next(exec, of_rows, splitting);
      growing.count(seconds.prolongation);
      return p;
    };
    Csr<double, Exec> fine = unscaled(exec, growing.fine, growing.scale);
    on::Unknowns<Exec> of_next = unknown;
    Csr<double, Exec> p = interpolation_of(fine, of_next);
    if (static_cast<Index>(growing.levels.size()) < options.aggressive && p.cols > 1) {
      const auto next = on::product(exec, on::adjoint(exec, p), on::product(exec, fine, p));
      growing.count(seconds.product);
      if (on::longest_row(exec, next) > longest_on_device) break;
      on::Unknowns<Exec> of_second = of_next;
      const Csr<double, Exec> second = interpolation_of(next, of_second);
      if (second.cols > 0) {
        p = on::truncated(exec, on::product(exec, p, second), most_of_a_row);
        of_next = of_second;
        growing.count(seconds.prolongation);
      }
    }
    if (p.cols == 0 || p.cols > least_classical_coarsening * fine.rows) break;  // the host says so
    fine = {};  // makes room for the products
    scale_in_place<double, Exec>(exec, p, inverted(exec, growing.scale).data(), nullptr);
    growing.add(std::move(p), {}, {});
    growing.count(seconds.scaling);
    unknown = of_next;
  }
  if (growing.levels.empty()) return std::nullopt;
  ClassicalStart start;
  const auto of_rest = on_the_host<std::uint8_t, Exec>(unknown);
  start.unknown.assign(of_rest.data(), of_rest.data() + of_rest.extent(0));
  start.level = growing.rest();
  start.before = growing.sizes();
  growing.count(seconds.conversion);
  levels = std::move(growing.levels);
  return start;
}

#define KRYSOL_INSTANTIATE(Unused, Exec)                                                          \
  template DeviceLevels<double, Exec> make_device_levels(                                         \
      const Exec&, const HostCsr<double>&, const HierarchyOptions&, NearNullSpace<double>&,       \
      HostHierarchy<double>&, Index);                                                             \
  template std::optional<GridStart> make_device_grids(                                            \
      const Exec&, const HostCsr<double>&, const HierarchyOptions&, const HostHierarchy<double>&, \
      SetupSeconds&, DeviceLevels<double, Exec>&, Index);                                         \
  template std::optional<ClassicalStart> make_device_classical(                                   \
      const Exec&, const HostCsr<double>&, const HierarchyOptions&, const HostHierarchy<double>&, \
      SetupSeconds&, DeviceLevels<double, Exec>&, Index);
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE, float)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
