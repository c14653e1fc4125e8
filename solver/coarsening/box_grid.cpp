// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/box_grid.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace krysol::multigrid {
namespace {

constexpr std::int64_t sampled_nodes = 1024;

/// visit(node, other) for the connections of some nodes.
template <class Visit>
void each_sampled(const Offset* row_ptr, const Index* col_idx, Index rows, Index block,
                  const Visit& visit) {
  const std::int64_t nodes = rows / block;
  const std::int64_t stride = std::max<std::int64_t>(1, nodes / sampled_nodes);
  std::uint32_t noise = 1;  // not all at the beginning of lines, whose length may divide the stride
  for (std::int64_t first = 0; first < nodes; first += stride) {
    noise = noise * 1664525U + 1013904223U;
    const std::int64_t node = std::min(nodes - 1, first + (noise >> 8U) % stride);
    const Offset row = Offset{node} * block;
    for (Offset k = row_ptr[row]; k < row_ptr[row + 1]; ++k) {
      visit(static_cast<Index>(node), col_idx[k] / block);
    }
  }
}

/// The middles of runs of one or three neighbouring distances beyond 1; empty where there are
/// others, or more than four.
std::vector<Index> middles(const std::set<Index>& distances) {
  std::vector<Index> found;
  auto d = distances.begin();
  if (d == distances.end() || *d != 1) return {};
  for (++d; d != distances.end();) {
    const Index first = *d;
    Index last = first;
    for (++d; d != distances.end() && *d == last + 1; ++d) last = *d;
    if (last != first && last != first + 2) return {};
    found.push_back((first + last) / 2);
    if (found.size() > 4) return {};
  }
  return found;
}

/// The neighbours of a node in ascending order: how far away in the numbering, and their direction.
struct Neighbour {
  Index distance;
  std::uint8_t direction;
};

/// Of a node that has neighbours in these directions. Those of all nodes of a grid are as far away,
/// but two of them may be where a line has two nodes.
struct Neighbours {
  std::array<Neighbour, grid_directions> of{};
  std::size_t count = 0;

  Neighbours(const BoxGrid& grid, std::uint32_t inside) {
    for (int d = 0; d < grid_directions; ++d) {
      if ((inside >> static_cast<unsigned>(d) & 1U) == 0) continue;
      const auto step = steps_of(d);
      of[count++] = {grid.node(step[0], step[1], step[2]), static_cast<std::uint8_t>(d)};
    }
  }
};

}  // namespace

std::optional<BoxGrid> box_grid(const Offset* row_ptr, const Index* col_idx, Index rows,
                                Index block) {
  constexpr std::size_t most_distances = 13;  // half of the neighbours in a cube of 27
  const Index nodes = rows / block;
  std::set<Index> distances;
  each_sampled(row_ptr, col_idx, rows, block, [&](Index node, Index other) {
    if (other > node && distances.size() <= most_distances) distances.insert(other - node);
  });
  if (distances.size() > most_distances) return std::nullopt;
  const std::vector<Index> far = middles(distances);
  if (far.empty() || far.size() == 3) return std::nullopt;
  BoxGrid grid;
  const Index nx = far[0];
  // One plane away lie one run of distances, or three that are a line apart.
  const Index plane = far.size() == 1 ? nodes : far.size() == 2 ? far[1] : far[2];
  if (far.size() == 4 && (far[1] != plane - nx || far[3] != plane + nx)) return std::nullopt;
  if (nx < 4 || plane % nx != 0 || nodes % plane != 0) return std::nullopt;
  grid.dimensions = far.size() == 1 ? 2 : 3;
  grid.nodes = {nx, plane / nx, nodes / plane};
  if (grid.dimensions == 3 && grid.nodes[1] < 4) return std::nullopt;
  bool near = true;
  each_sampled(row_ptr, col_idx, rows, block, [&](Index node, Index other) {
    const auto a = place_in(grid, node);
    const auto b = place_in(grid, other);
    for (std::size_t d = 0; d < 3; ++d) near = near && std::abs(a[d] - b[d]) <= 1;
  });
  return near ? std::optional(grid) : std::nullopt;
}

std::uint32_t directions_inside(const BoxGrid& grid, const std::array<Index, 3>& place) {
  std::uint32_t inside = 0;
  for (int d = 0; d < grid_directions; ++d) {
    const auto step = steps_of(d);
    bool in = true;
    for (std::size_t n = 0; n < 3; ++n) {
      const Index to = place[n] + step[n];
      in = in && to >= 0 && to < grid.nodes[n];
    }
    if (in) inside |= std::uint32_t{1} << static_cast<unsigned>(d);
  }
  return inside;
}

std::optional<GridPattern> grid_pattern(const Offset* row_ptr, const Index* col_idx, Index rows,
                                        Index block, const BoxGrid& grid) {
  const std::int64_t lines = std::int64_t{grid.nodes[1]} * grid.nodes[2];
  GridPattern out;
  out.grid = grid;
  out.direction =
      host_array<std::uint8_t>("grid.direction", static_cast<std::size_t>(row_ptr[rows]));
  std::vector<std::uint32_t> present(static_cast<std::size_t>(lines), 0);
  std::vector<char> fits(static_cast<std::size_t>(lines), 1);
  host_for("krysol::grid_pattern", lines, [&, to = out.direction.data()](std::int64_t line) {
    const Index nx = grid.nodes[0];
    // Between the ends of a line all nodes have the neighbours that its second node has.
    const auto y = static_cast<Index>(line % grid.nodes[1]);
    const auto z = static_cast<Index>(line / grid.nodes[1]);
    const Neighbours at_first(grid, directions_inside(grid, {0, y, z}));
    const Neighbours between(grid, directions_inside(grid, {1, y, z}));
    const Neighbours at_last(grid, directions_inside(grid, {nx - 1, y, z}));
    std::uint32_t seen = 0;
    bool good = true;
    for (Index x = 0; x < nx && good; ++x) {
      const Index node = grid.node(x, y, z);
      const Neighbours& neighbours = x == 0 ? at_first : x + 1 == nx ? at_last : between;
      for (Index u = 0; u < block && good; ++u) {
        const Offset row = Offset{node} * block + u;
        std::size_t n = 0;
        for (Offset k = row_ptr[row]; k < row_ptr[row + 1] && good; ++k) {
          const Index away = (block == 1 ? col_idx[k] : col_idx[k] / block) - node;
          while (n < neighbours.count && neighbours.of[n].distance < away) ++n;
          good = n < neighbours.count && neighbours.of[n].distance == away;
          if (!good) break;
          const std::uint8_t d = neighbours.of[n].direction;
          seen |= std::uint32_t{1} << d;
          to[k] = d;
        }
      }
    }
    present[static_cast<std::size_t>(line)] = seen;
    fits[static_cast<std::size_t>(line)] = good ? 1 : 0;
  });
  if (std::find(fits.begin(), fits.end(), 0) != fits.end()) return std::nullopt;
  for (const std::uint32_t seen : present) out.present |= seen;
  return out;
}

}  // namespace krysol::multigrid
