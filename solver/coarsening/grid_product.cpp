// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/grid_product.hpp>

#include <algorithm>
#include <bit>
#include <optional>

#include <krysol/solver/coarsening/grid_product_sums.hpp>

namespace krysol::multigrid {
namespace {

int opposite(int d) { return grid_directions - 1 - d; }

constexpr std::uint32_t bit_of(int d) { return std::uint32_t{1} << static_cast<unsigned>(d); }

/// Calls f(d) for each direction d, ascending.
template <class F>
void for_directions(std::uint32_t directions, const F& f) {
  for (; directions != 0; directions &= directions - 1) f(std::countr_zero(directions));
}

/// The directions that the product has entries in: along those that are coarsened, all; each with
/// its opposite.
std::uint32_t directions_of_product(const GridPattern& pattern, const GridCoarsening& c) {
  std::uint32_t all = bit_of(grid_own);
  for_directions(pattern.present, [&](int d) { all |= bit_of(d) | bit_of(opposite(d)); });
  for (std::size_t n = 0; n < 3; ++n) {
    if (c.fine.nodes[n] == c.coarse.nodes[n]) continue;
    for_directions(all, [&](int d) {
      const int middle = d - steps_of(d)[n] * unit_of_direction[n];
      all |= bit_of(middle - unit_of_direction[n]) | bit_of(middle) |
             bit_of(middle + unit_of_direction[n]);
    });
  }
  return all;
}

/// The directions that the nodes of a line of a grid have neighbours in, of those in `present`.
class NeighboursOnLine {
 public:
  NeighboursOnLine(const BoxGrid& grid, std::uint32_t present, Index y, Index z)
      : last_(grid.nodes[0] - 1) {
    const auto at = [&](Index x) { return present & directions_inside(grid, {x, y, z}); };
    first_node_ = at(0);
    middle_ = at(std::min<Index>(1, last_));
    last_node_ = at(last_);
  }

  std::uint32_t operator()(Index x) const {
    return x == last_ ? last_node_ : x == 0 ? first_node_ : middle_;
  }
  /// Entries of one row of each node.
  Offset count() const {
    Offset all = std::popcount(first_node_);
    if (last_ > 0) all += std::popcount(last_node_);
    return all + Offset{std::max<Index>(0, last_ - 1)} * std::popcount(middle_);
  }

 private:
  Index last_;
  std::uint32_t first_node_;
  std::uint32_t middle_;
  std::uint32_t last_node_;
};

constexpr std::uint32_t before_own = bit_of(grid_own) - 1;

/// Lines of nodes along x.
struct Lines {
  BoxGrid grid;

  std::int64_t count() const { return std::int64_t{grid.nodes[1]} * grid.nodes[2]; }
  Index y(std::int64_t line) const { return static_cast<Index>(line % grid.nodes[1]); }
  Index z(std::int64_t line) const { return static_cast<Index>(line / grid.nodes[1]); }
  Index first_node(std::int64_t line) const { return static_cast<Index>(line * grid.nodes[0]); }
};

/// A product without values, see grid_product.
GridMatrix pattern_of_product(Index block, const GridPattern& pattern, const GridCoarsening& c) {
  GridMatrix out;
  out.pattern.grid = c.coarse;
  out.pattern.present = directions_of_product(pattern, c);
  const Lines lines{c.coarse};
  const auto neighbours = [&](std::int64_t line) {
    return NeighboursOnLine(c.coarse, out.pattern.present, lines.y(line), lines.z(line));
  };
  std::vector<Offset> first(as_size(lines.count()) + 1, 0);
  for (std::int64_t line = 0; line < lines.count(); ++line) {
    first[as_size(line + 1)] = first[as_size(line)] + neighbours(line).count() * block * block;
  }
  HostCsr<double>& to = out.a;
  to.rows = to.cols = c.coarse.size() * block;
  to.row_ptr = host_array<Offset>("grid.row_ptr", as_size(to.rows) + 1);
  to.col_idx = host_array<Index>("grid.col_idx", as_size(first.back()));
  out.pattern.direction = host_array<std::uint8_t>("grid.direction", as_size(first.back()));
  to.row_ptr.data()[to.rows] = first.back();
  host_for("krysol::grid_product(pattern)", lines.count(), [&](std::int64_t line) {
    const NeighboursOnLine on_line = neighbours(line);
    Offset k = first[as_size(line)];
    for (Index x = 0; x < c.coarse.nodes[0]; ++x) {
      const Index node = lines.first_node(line) + x;
      for (Index u = 0; u < block; ++u) {
        to.row_ptr.data()[Offset{node} * block + u] = k;
        for_directions(on_line(x), [&](int d) {
          const auto step = steps_of(d);
          const Index other = node + c.coarse.node(step[0], step[1], step[2]);
          for (Index v = 0; v < block; ++v, ++k) {
            to.col_idx.data()[k] = other * block + v;
            out.pattern.direction.data()[k] = static_cast<std::uint8_t>(d);
          }
        });
      }
    }
  });
  return out;
}

/// Sets the entries to nodes before a node from their rows, for each node of a line.
void mirror_line(const BoxGrid& grid, std::uint32_t present, Index block, Index y, Index z,
                 const HostCsr<double>& to) {
  const NeighboursOnLine on_line(grid, present, y, z);
  std::array<std::optional<NeighboursOnLine>, 9> others;  // of the lines around this
  for_directions(present & before_own, [&](int d) {
    const auto step = steps_of(d);
    const Index other_y = y + step[1];
    const Index other_z = z + step[2];
    if (other_y < 0 || other_y >= grid.nodes[1] || other_z < 0) return;
    auto& other = others[as_size(d / 3)];
    if (!other) other.emplace(grid, present, other_y, other_z);
  });
  const Offset* const row_ptr = to.row_ptr.data();
  double* const values = to.values.data();
  for (Index x = 0; x < grid.nodes[0]; ++x) {
    const Index node = grid.node(x, y, z);
    const Offset first = row_ptr[std::int64_t{node} * block];
    const Offset of_row = row_ptr[std::int64_t{node} * block + 1] - first;
    Offset place = 0;  // of a node in the rows of this
    for_directions(on_line(x) & before_own, [&](int d) {
      const auto step = steps_of(d);
      const std::int64_t other = std::int64_t{node + grid.node(step[0], step[1], step[2])} * block;
      const std::uint32_t back = bit_of(opposite(d)) - 1;
      const Offset place_there = std::popcount((*others[as_size(d / 3)])(x + step[0]) & back);
      for (Index u = 0; u < block; ++u) {
        for (Index v = 0; v < block; ++v) {
          values[first + u * of_row + place * block + v] =
              values[row_ptr[other + v] + place_there * block + u];
        }
      }
      ++place;
    });
  }
}

}  // namespace

HostArray<double> grid_product_values(const HostCsr<double>& a, Index block,
                                      const GridPattern& pattern, const GridCoarsening& c,
                                      const HostArray<std::uint8_t>& repeated,
                                      const Interpolation& interpolation,
                                      const HostCsr<double>& to) {
  auto size = host_array<double>("grid.size", as_size(to.rows));
  const std::uint32_t present = directions_of_product(pattern, c);
  const ParentTables parents(c);
  const Lines lines{c.coarse};
  host_for("krysol::grid_product", lines.count(), [&](std::int64_t line) {
    const Index y = lines.y(line);
    const Index z = lines.z(line);
    ProductOfNode product(a, block, pattern, c, parents, interpolation.p);
    RepeatedNodes same(c, repeated, interpolation.repeated);
    same.begin_line(y, z);
    product.begin_line(y, z);
    const NeighboursOnLine on_line(c.coarse, present, y, z);
    std::int64_t row = std::int64_t{lines.first_node(line)} * block;
    double* value = to.values.data() + to.row_ptr.data()[row];
    const auto set_rows = [&](Index x) {
      for (Index u = 0; u < block; ++u, ++row) {
        size.data()[row] = product.sizes()[u];
        value += Offset{std::popcount(on_line(x) & before_own)} * block;
        for_directions(on_line(x) & ~before_own, [&](int d) {
          const double* const sums = product.last() + (Offset{d} * block + u) * block;
          for (Index v = 0; v < block; ++v) *value++ = sums[v];
        });
      }
    };
    for (Index x = 0; x < c.coarse.nodes[0];) {
      const Index first = product.first_of_eight(x);
      if (same(x)) {
        set_rows(x++);
      } else if (first >= 0 && !same(x + 1)) {
        product.add_eight({first, y, z});
        for (const Index after = first + nodes_at_once; x < after; ++x) {
          product.take(x - first);
          set_rows(x);
        }
      } else {
        product.add({x, y, z});
        set_rows(x++);
      }
    }
  });
  host_for("krysol::grid_product(mirror)", lines.count(), [&](std::int64_t line) {
    mirror_line(c.coarse, present, block, lines.y(line), lines.z(line), to);
  });
  return size;
}

GridMatrix grid_product(const HostCsr<double>& a, Index block, const GridPattern& pattern,
                        const GridCoarsening& c, const HostArray<std::uint8_t>& repeated,
                        const Interpolation& interpolation) {
  GridMatrix out = pattern_of_product(block, pattern, c);
  out.a.values = host_array<double>("grid.values", out.a.col_idx.extent(0));
  out.size = grid_product_values(a, block, pattern, c, repeated, interpolation, out.a);
  return out;
}

}  // namespace krysol::multigrid
