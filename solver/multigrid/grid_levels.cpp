// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/grid_levels.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/solver/coarsening/grid_product.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol::multigrid {
namespace {

/// Whether P, for each unknown of a node, holds the vectors: takes the values of nodes that are
/// kept to those between. Nodes that are connected to no other have no part in it.
bool holds(const HostCsr<double>& p, const GridCoarsening& c, Index block,
           const NearNullVectors& v) {
  constexpr double rounding = 1e-8;
  constexpr std::int64_t step = 4096;
  const EqualBlocks pieces{p.rows, step};
  std::vector<char> held(as_size(pieces.count()), 1);
  const auto value = [&](Index node, Index u, Index k) {
    return v.values[(as_size(node) * as_size(block) + as_size(u)) * as_size(v.count) + as_size(k)];
  };
  host_for("krysol::multigrid(held)", pieces.count(), [&](std::int64_t piece) {
    for (std::int64_t i = pieces.first(piece); i < pieces.last(piece); ++i) {
      const double* const weight = p.values.data();
      const bool alone = std::all_of(weight + p.row_ptr.data()[i], weight + p.row_ptr.data()[i + 1],
                                     [](double w) { return w == 0; });
      for (Index u = 0; u < block && !alone; ++u) {
        for (Index k = 0; k < v.count; ++k) {
          double sum = 0;
          double size = 0;
          for (Offset e = p.row_ptr.data()[i]; e < p.row_ptr.data()[i + 1]; ++e) {
            const auto place = place_in(c.coarse, p.col_idx.data()[e]);
            const double from = value(c.fine.node(c.planes[0].kept[as_size(place[0])],
                                                  c.planes[1].kept[as_size(place[1])],
                                                  c.planes[2].kept[as_size(place[2])]),
                                      u, k);
            sum += p.values.data()[e] * from;
            size = std::max(size, std::abs(from));
          }
          const double own = value(static_cast<Index>(i), u, k);
          size = std::max(size, std::abs(own));
          if (!(std::abs(sum - own) <= rounding * size)) held[as_size(piece)] = 0;
        }
      }
    }
  });
  return std::find(held.begin(), held.end(), 0) == held.end();
}

}  // namespace

std::optional<GridStart> find_grid(
    const HostCsr<double>& a, Index block, const HierarchyOptions& options,
    const std::function<bool(Index, const BoxGrid&)>& has_all_entries) {
  constexpr Index most = 3;  // rows a node that a grid is looked for with
  const bool asked = options.block > 0 || (options.near_null && options.near_null->block > 0);
  for (Index rows = block; rows <= (asked || block > 1 ? block : most); ++rows) {
    if (a.rows % rows != 0) continue;
    const auto grid = box_grid(a.row_ptr.data(), a.col_idx.data(), a.rows, rows);
    if (grid && has_all_entries(rows, *grid)) return GridStart{rows, *grid, uniform_places(*grid)};
  }
  return std::nullopt;
}

std::array<bool, 3> strong_directions(const DirectionStrengths& strengths, double strong,
                                      const BoxGrid& grid) {
  constexpr Index fewest = 3;  // nodes
  const auto& strength = strengths.mean;
  double strongest = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    if (grid.nodes[n] >= fewest) strongest = std::max(strongest, strength[n]);
  }
  std::array<bool, 3> halved{};
  for (std::size_t n = 0; n < 3; ++n) {
    halved[n] = grid.nodes[n] >= fewest && strength[n] >= strong * strongest;
  }
  return halved;
}

bool are_uneven(const DirectionStrengths& strengths, const std::array<bool, 3>& halved) {
  constexpr double many = 0.1;  // of the nodes
  for (std::size_t n = 0; n < 3; ++n) {
    if (halved[n] && halved[(n + 1) % 3] && strengths.uneven[n] > many) return true;
  }
  return false;
}

bool coarsen_grids(const HostCsr<double>& a, const HierarchyOptions& options,
                   const FirstGrids& first, HostHierarchy<double>& h, Stopwatch& watch) {
  std::optional<GridStart> start;
  if (first) {
    start = first(a, h, h.seconds);
    watch.reset();  // it has counted its own time
  }
  const bool is_first = !start;  // the level that the host begins with is that of A
  std::optional<GridPattern> pattern;
  if (is_first) {
    start = find_grid(a, h.block, options, [&](Index rows, const BoxGrid& grid) {
      pattern = grid_pattern(a.row_ptr.data(), a.col_idx.data(), a.rows, rows, grid);
      return pattern.has_value();
    });
    if (!start) return false;
    start->degree = h.degree;
    start->level.a = a;
    start->level.scale = h.scale;
  } else {
    const HostCsr<double>& next = start->level.a;
    pattern = grid_pattern(next.row_ptr.data(), next.col_idx.data(), next.rows, start->block,
                           start->grid);
    if (!pattern) return false;
  }
  const Index block = start->block;
  HostLevel<double> level = std::move(start->level);
  level.block = block;
  GridMatrix fine{level.a, std::move(*pattern), {}};
  GridPlaces places = std::move(start->places);
  std::string stalled;
  std::vector<HostLevel<double>> levels;
  watch.add_to(h.seconds.strength);
  for (;;) {
    try {
      if (!levels.empty()) {
        const std::size_t number = start->before.size() + levels.size() + 1;
        level.scale = scale_of(fine.a, number, rounding_of_level, fine.size);
      }
      watch.add_to(h.seconds.scaling);
      bound_by_row_sums(level);
    } catch (const PreconditionerRefusal&) {
      if (is_first && levels.empty()) throw;
      return false;
    }
    watch.add_to(h.seconds.bounds);
    if (level.a.rows <= options.coarsest) break;
    const DirectionStrengths strengths = direction_strengths(fine.a, block, fine.pattern);
    const auto halved = strong_directions(strengths, options.strength, fine.pattern.grid);
    if (is_first && levels.empty() && are_uneven(strengths, halved))
      start->degree = degree_of_uneven_grids;
    watch.add_to(h.seconds.strength);
    if (std::none_of(halved.begin(), halved.end(), [](bool is) { return is; })) {
      stalled = "no direction of the grid has three nodes left";
      break;
    }
    GridCoarsening c = coarsen(fine.pattern.grid, halved, places);
    const auto repeated = repeated_rows(fine.a, block, fine.pattern.grid, c.period());
    Interpolation p = block == 1 ? operator_interpolation(fine.a, fine.pattern, c, repeated)
                                 : multilinear_interpolation(c);
    if (is_first && levels.empty() && options.near_null &&
        !holds(p.p, c, block, *options.near_null)) {
      return false;
    }
    watch.add_to(h.seconds.prolongation);
    GridMatrix next = grid_product(fine.a, block, fine.pattern, c, repeated, p);
    level.grid = GridStep{std::move(c), std::move(p.p), std::move(fine.pattern), p.repeated};
    fine = std::move(next);
    watch.add_to(h.seconds.product);
    levels.push_back(std::move(level));
    level = {};
    level.a = fine.a;
    level.block = block;
  }
  levels.push_back(std::move(level));
  h.levels = std::move(levels);
  h.stalled = std::move(stalled);
  h.on_device = std::move(start->before);
  h.degree = start->degree;
  h.block = block;
  h.near_null = options.near_null ? options.near_null->count : block;
  h.grid = true;
  h.coarsening = "grids";
  return true;
}

}  // namespace krysol::multigrid
