// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/grid_levels.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/solver/coarsening/grid_product.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol::multigrid {
namespace {

/// The grid of A and its entries in it, with the rows of a node.
std::optional<std::pair<Index, GridPattern>> grid_of(const HostCsr<double>& a, Index block,
                                                     bool asked) {
  constexpr Index most = 3;  // rows a node that a grid is looked for with
  const Offset* const row_ptr = a.row_ptr.data();
  const Index* const col_idx = a.col_idx.data();
  for (Index b = block; b <= (asked || block > 1 ? block : most); ++b) {
    if (a.rows % b != 0) continue;
    const auto grid = box_grid(row_ptr, col_idx, a.rows, b);
    if (!grid) continue;
    auto pattern = grid_pattern(row_ptr, col_idx, a.rows, b, *grid);
    if (pattern) return std::pair(b, std::move(*pattern));
  }
  return std::nullopt;
}

/// The directions to coarsen along: strong: at least, over the strongest.
std::array<bool, 3> strong_directions(const std::array<double, 3>& strength, double strong,
                                      const BoxGrid& grid) {
  constexpr Index fewest = 3;  // nodes
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

/// Whether what is strong differs from node to node, so that no choice of directions suits all.
bool uneven(const DirectionStrengths& strengths, const std::array<bool, 3>& halved) {
  constexpr double many = 0.1;  // of the nodes
  for (std::size_t n = 0; n < 3; ++n) {
    if (halved[n] && halved[(n + 1) % 3] && strengths.uneven[n] > many) return true;
  }
  return false;
}

}  // namespace

bool coarsen_grids(const HostCsr<double>& a, const HierarchyOptions& options,
                   HostHierarchy<double>& h, Stopwatch& watch) {
  constexpr int of_uneven_grids = 4;  // steps of a smoother
  constexpr double rounding = 1e-13;
  auto found =
      grid_of(a, h.block, options.block > 0 || (options.near_null && options.near_null->block > 0));
  if (!found) return false;
  const Index block = found->first;
  GridMatrix fine{a, std::move(found->second), {}};
  GridPlaces places = uniform_places(fine.pattern.grid);
  int degree = h.degree;
  std::string stalled;
  std::vector<HostLevel<double>> levels;
  HostLevel<double> level;
  level.a = a;
  level.block = block;
  level.scale = h.scale;
  watch.add_to(h.seconds.strength);
  for (;;) {
    try {
      if (!levels.empty()) level.scale = scale_of(fine.a, levels.size() + 1, rounding, fine.size);
      watch.add_to(h.seconds.scaling);
      bound_by_row_sums(level);
    } catch (const PreconditionerRefusal&) {
      if (levels.empty()) throw;
      return false;
    }
    watch.add_to(h.seconds.bounds);
    if (level.a.rows <= options.coarsest) break;
    const DirectionStrengths strengths = direction_strengths(fine.a, block, fine.pattern);
    const auto halved = strong_directions(strengths.mean, options.strength, fine.pattern.grid);
    if (levels.empty() && uneven(strengths, halved)) degree = of_uneven_grids;
    watch.add_to(h.seconds.strength);
    if (std::none_of(halved.begin(), halved.end(), [](bool is) { return is; })) {
      stalled = "no direction of the grid has three nodes left";
      break;
    }
    GridCoarsening c = coarsen(fine.pattern.grid, halved, places);
    const auto repeated = repeated_rows(fine.a, block, fine.pattern.grid, c.period());
    Interpolation p = block == 1 ? operator_interpolation(fine.a, fine.pattern, c, repeated)
                                 : multilinear_interpolation(c);
    if (levels.empty() && options.near_null && !holds(p.p, c, block, *options.near_null)) {
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
  h.degree = degree;
  h.block = block;
  h.near_null = options.near_null ? options.near_null->count : block;
  h.grid = true;
  h.coarsening = "grids";
  return true;
}

}  // namespace krysol::multigrid
