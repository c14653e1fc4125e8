// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/grid_interpolation.hpp>

#include <algorithm>
#include <cmath>

namespace krysol::multigrid {
namespace {

/// col % block of one column after another, without dividing where one follows the other.
class UnknownOfColumn {
 public:
  explicit UnknownOfColumn(Index block) : block_(block) {}

  Index operator()(Index col) {
    if (block_ == 1) return 0;
    const bool next = col == col_ + 1;
    unknown_ = !next ? col % block_ : unknown_ + 1 == block_ ? 0 : unknown_ + 1;
    col_ = col;
    return unknown_;
  }

 private:
  Index block_;
  Index col_ = -2;
  Index unknown_ = 0;
};

CoarsePlanes planes_of(Index n, bool halved, std::vector<double>& places) {
  CoarsePlanes p;
  p.below.resize(as_size(n));
  p.upper.assign(as_size(n), 0);
  std::vector<double> kept_places;
  for (Index i = 0; i < n; ++i) {
    if (!halved || i % 2 == 0 || i + 1 == n) {
      p.kept.push_back(i);
      kept_places.push_back(places[as_size(i)]);
    }
    p.below[as_size(i)] = static_cast<Index>(p.kept.size()) - 1;
  }
  for (Index i = 0; i < n; ++i) {
    if (!p.between(i)) continue;
    const double from = places[as_size(i - 1)];
    p.upper[as_size(i)] = (places[as_size(i)] - from) / (places[as_size(i + 1)] - from);
  }
  places = std::move(kept_places);
  return p;
}

/// The pattern of an interpolation: a row has 2^d entries where its node is between kept planes in
/// d directions. Values, and what is repeated, are left open.
Interpolation interpolation_pattern(const GridCoarsening& c) {
  const Index nx = c.fine.nodes[0];
  const Index ny = c.fine.nodes[1];
  const std::int64_t lines = std::int64_t{ny} * c.fine.nodes[2];
  std::vector<Offset> before(as_size(nx) + 1, 0);  // entries of a line of kept nodes, up to each
  for (Index x = 0; x < nx; ++x)
    before[as_size(x) + 1] = before[as_size(x)] + (c.planes[0].between(x) ? 2 : 1);
  const auto parents = [&](std::int64_t line) {
    return Offset{c.planes[1].between(static_cast<Index>(line % ny)) ? 2 : 1} *
           (c.planes[2].between(static_cast<Index>(line / ny)) ? 2 : 1);
  };
  Interpolation out;
  out.repeated = host_array<std::uint8_t>("grid.repeated", as_size(c.fine.size()));
  HostCsr<double>& p = out.p;
  p.rows = c.fine.size();
  p.cols = c.coarse.size();
  p.row_ptr = host_array<Offset>("grid.row_ptr", as_size(p.rows) + 1);
  std::vector<Offset> first(as_size(lines) + 1, 0);
  for (std::int64_t l = 0; l < lines; ++l)
    first[as_size(l + 1)] = first[as_size(l)] + parents(l) * before.back();
  p.col_idx = host_array<Index>("grid.col_idx", as_size(first.back()));
  p.values = host_array<double>("grid.values", as_size(first.back()));
  p.row_ptr.data()[p.rows] = first.back();
  host_for("krysol::grid_interpolation(pattern)", lines,
           [&, row_ptr = p.row_ptr.data(), col_idx = p.col_idx.data()](std::int64_t line) {
             const auto y = static_cast<Index>(line % ny);
             const auto z = static_cast<Index>(line / ny);
             const Offset each = parents(line);
             const Index uy = c.planes[1].between(y) ? 1 : 0;
             const Index uz = c.planes[2].between(z) ? 1 : 0;
             for (Index x = 0; x < nx; ++x) {
               Offset k = first[as_size(line)] + each * before[as_size(x)];
               row_ptr[line * nx + x] = k;
               const Index ux = c.planes[0].between(x) ? 1 : 0;
               const Index own =
                   c.coarse.node(c.planes[0].below[as_size(x)], c.planes[1].below[as_size(y)],
                                 c.planes[2].below[as_size(z)]);
               for (Index dz = 0; dz <= uz; ++dz) {
                 for (Index dy = 0; dy <= uy; ++dy) {
                   for (Index dx = 0; dx <= ux; ++dx)
                     col_idx[k++] = own + c.coarse.node(dx, dy, dz);
                 }
               }
             }
           });
  return out;
}

/// Whether two rows hold as many numbers, and the same.
bool same_weights(const HostCsr<double>& p, Index row, Index other) {
  const Offset* const row_ptr = p.row_ptr.data();
  const Offset count = row_ptr[row + 1] - row_ptr[row];
  const double* const values = p.values.data();
  return count == row_ptr[other + 1] - row_ptr[other] &&
         std::equal(values + row_ptr[row], values + row_ptr[row + 1], values + row_ptr[other]);
}

/// The entries of an interpolation for nodes between kept planes in `mask` (bits 1, 2, 4 for x, y,
/// z), in the order of their columns: bit n of corner q says that it is the upper one in direction
/// n. Bits that are not in mask are 0.
struct Corners {
  int count = 1;
  std::array<int, 8> upper{};  // [count]

  explicit Corners(int mask) {
    count = 0;
    for (int q = 0; q < 8; ++q) {
      if ((q & ~mask) == 0) upper[as_size(count++)] = q;
    }
  }
};

struct CornersOfMasks {
  std::array<Corners, 8> of{Corners(0), Corners(1), Corners(2), Corners(3),
                            Corners(4), Corners(5), Corners(6), Corners(7)};
};

/// Multilinear weights.
void by_place(const GridCoarsening& c, const std::array<Index, 3>& place, const Corners& corners,
              double* weight) {
  for (int q = 0; q < corners.count; ++q) {
    double w = 1;
    for (std::size_t n = 0; n < 3; ++n) {
      const auto i = as_size(place[n]);
      if (!c.planes[n].between(place[n])) continue;
      const double upper = c.planes[n].upper[i];
      w *= (corners.upper[as_size(q)] >> n & 1) != 0 ? upper : 1 - upper;
    }
    weight[q] = w;
  }
}

/// The entries of one node's row, summed over the directions outside of its mask.
class Collapsed {
 public:
  explicit Collapsed(int mask) : mask_(mask) {
    for (int d = 0; d < grid_directions; ++d) {
      const auto step = steps_of(d);
      int to = grid_own;
      constexpr std::array<int, 3> unit{1, 3, 9};
      for (std::size_t n = 0; n < 3; ++n) {
        if ((mask >> n & 1) != 0) to += step[n] * unit[n];
      }
      target_[as_size(d)] = static_cast<std::uint8_t>(to);
      if (to == d && d != grid_own)
        neighbours_[as_size(count_++)] = Neighbour{d, free_of(step), upper_of(step)};
    }
  }

  /// The weights of the corners of the coarse cell, of which P has those of all neighbours along
  /// the mask. False where they are of either sign to much the same amount, or nothing.
  bool weights(const HostCsr<double>& a, const std::uint8_t* direction, Index row,
               const HostCsr<double>& p, const BoxGrid& grid, const CornersOfMasks& corners,
               double* weight) const {
    std::array<double, grid_directions> sum{};
    double all = 0;
    for (Offset k = a.row_ptr.data()[row]; k < a.row_ptr.data()[row + 1]; ++k) {
      sum[target_[direction[k]]] += a.values.data()[k];
      all += std::abs(a.values.data()[k]);
    }
    double total = 0;
    double size = 0;
    for (int n = 0; n < count_; ++n) {
      const double v = -sum[as_size(neighbours_[as_size(n)].direction)];
      total += v;
      size += std::abs(v);
    }
    if (!(total > least_sum_of_weights * size && total > rounding_of_weights * all)) return false;
    const Corners& own = corners.of[as_size(mask_)];
    std::array<double, 8> of_corner{};
    for (int n = 0; n < count_; ++n) {
      const Neighbour& neighbour = neighbours_[as_size(n)];
      const double v = -sum[as_size(neighbour.direction)] / total;
      if (v == 0) continue;
      const auto step = steps_of(neighbour.direction);
      const Index other = row + grid.node(step[0], step[1], step[2]);
      const double* const from = p.values.data() + p.row_ptr.data()[other];
      const Corners& free = corners.of[as_size(neighbour.free)];
      for (int q = 0; q < free.count; ++q) {
        of_corner[as_size(neighbour.upper | free.upper[as_size(q)])] += v * from[q];
      }
    }
    for (int q = 0; q < own.count; ++q) weight[q] = of_corner[as_size(own.upper[as_size(q)])];
    return true;
  }

  /// Whether a flag is set for all neighbours along the mask.
  bool all(const std::uint8_t* flag, Index row, const BoxGrid& grid) const {
    for (int n = 0; n < count_; ++n) {
      const auto step = steps_of(neighbours_[as_size(n)].direction);
      if (flag[row + grid.node(step[0], step[1], step[2])] == 0) return false;
    }
    return true;
  }

 private:
  struct Neighbour {
    int direction = 0;
    int free = 0;   // bits of the mask in which it is between kept planes, as the node is
    int upper = 0;  // bits in which it is on the upper one
  };

  int free_of(const std::array<Index, 3>& step) const {
    int bits = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      if (step[n] == 0) bits |= mask_ & (1 << n);
    }
    return bits;
  }
  static int upper_of(const std::array<Index, 3>& step) {
    int bits = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      if (step[n] > 0) bits |= 1 << n;
    }
    return bits;
  }

  int mask_;
  int count_ = 0;
  std::array<std::uint8_t, grid_directions> target_{};
  std::array<Neighbour, grid_directions> neighbours_{};
};

int directions_in(int mask) { return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1); }

int mask_of(const GridCoarsening& c, Index x, Index y, Index z) {
  return (c.planes[0].between(x) ? 1 : 0) | (c.planes[1].between(y) ? 2 : 0) |
         (c.planes[2].between(z) ? 4 : 0);
}

}  // namespace

std::vector<Index> GridCoarsening::parents_of_planes() const {
  std::vector<Index> parents;
  for (std::size_t n = 0; n < 3; ++n) {
    for (Index i = 0; i < fine.nodes[n]; ++i) {
      parents.push_back(2 * planes[n].below[as_size(i)] + (planes[n].between(i) ? 1 : 0));
    }
  }
  return parents;
}

GridPlaces uniform_places(const BoxGrid& grid) {
  GridPlaces places;
  for (std::size_t n = 0; n < 3; ++n) {
    for (Index i = 0; i < grid.nodes[n]; ++i) places[n].push_back(i);
  }
  return places;
}

GridCoarsening coarsen(const BoxGrid& fine, const std::array<bool, 3>& halved, GridPlaces& places) {
  GridCoarsening c;
  c.fine = fine;
  c.coarse.dimensions = fine.dimensions;
  for (std::size_t n = 0; n < 3; ++n) {
    c.planes[n] = planes_of(fine.nodes[n], halved[n], places[n]);
    c.coarse.nodes[n] = static_cast<Index>(c.planes[n].kept.size());
  }
  return c;
}

DirectionStrengths direction_strengths(const HostCsr<double>& a, Index block,
                                       const GridPattern& pattern) {
  const Index nodes = a.rows / block;
  constexpr std::int64_t step = 512;
  const EqualBlocks pieces{nodes, step};
  std::vector<DirectionStrengths> sums(as_size(pieces.count()));
  std::array<std::array<double, 3>, grid_directions> along{};
  for (int d = 0; d < grid_directions; ++d) {
    for (std::size_t n = 0; n < 3; ++n) along[as_size(d)][n] = steps_of(d)[n] != 0 ? 1 : 0;
  }
  host_for("krysol::direction_strengths", pieces.count(), [&](std::int64_t piece) {
    DirectionStrengths all;
    for (std::int64_t i = pieces.first(piece); i < pieces.last(piece); ++i) {
      std::array<double, 3> sum{};
      std::array<double, 3> most{};
      for (Offset row = i * block; row < (i + 1) * block; ++row) {
        const auto unknown = static_cast<Index>(row - i * block);
        UnknownOfColumn of(block);
        for (Offset k = a.row_ptr.data()[row]; k < a.row_ptr.data()[row + 1]; ++k) {
          if (of(a.col_idx.data()[k]) != unknown) continue;
          const auto& by = along[pattern.direction.data()[k]];
          const double v = a.values.data()[k];
          for (std::size_t n = 0; n < 3; ++n) {
            sum[n] -= by[n] * v;
            most[n] = std::max(most[n], by[n] * std::abs(v));
          }
        }
      }
      const double strongest = *std::max_element(sum.begin(), sum.end());
      if (!(strongest > 0)) continue;
      for (std::size_t n = 0; n < 3; ++n) all.mean[n] += std::max(sum[n], 0.0) / strongest;
      for (std::size_t n = 0; n < 3; ++n) {
        const std::size_t other = (n + 1) % 3;
        const auto [less, more] = std::minmax(most[n], most[other]);
        if (less < share_of_much_weaker * more) all.uneven[n] += 1;
      }
    }
    sums[as_size(piece)] = all;
  });
  DirectionStrengths mean;
  for (const DirectionStrengths& sum : sums) {
    for (std::size_t n = 0; n < 3; ++n) {
      mean.mean[n] += sum.mean[n] / nodes;
      mean.uneven[n] += sum.uneven[n] / nodes;
    }
  }
  return mean;
}

HostArray<std::uint8_t> repeated_rows(const HostCsr<double>& a, Index block, const BoxGrid& grid,
                                      Index period) {
  auto repeated = host_array<std::uint8_t>("grid.repeated", as_size(grid.size()));
  const Index* const col_idx = a.col_idx.data();
  const double* const values = a.values.data();
  host_for("krysol::repeated_rows", grid.size(), [=, &a, to = repeated.data()](std::int64_t node) {
    to[node] = 0;
    if (node < period) return;  // at the beginning of other lines columns show it
    const Offset first = a.row_ptr.data()[node * block];
    const Offset last = a.row_ptr.data()[(node + 1) * block];
    const Offset other = a.row_ptr.data()[(node - period) * block];
    for (Index u = 1; u <= block; ++u) {
      if (a.row_ptr.data()[node * block + u] - first !=
          a.row_ptr.data()[(node - period) * block + u] - other) {
        return;
      }
    }
    for (Offset k = 0; k < last - first; ++k) {
      if (values[first + k] != values[other + k]) return;
      if (col_idx[first + k] != col_idx[other + k] + period * block) return;
    }
    to[node] = 1;
  });
  return repeated;
}

Interpolation multilinear_interpolation(const GridCoarsening& c) {
  Interpolation out = interpolation_pattern(c);
  HostCsr<double>& p = out.p;
  const CornersOfMasks corners;
  const std::int64_t lines = std::int64_t{c.fine.nodes[1]} * c.fine.nodes[2];
  host_for("krysol::multilinear_interpolation", lines, [&](std::int64_t line) {
    const auto y = static_cast<Index>(line % c.fine.nodes[1]);
    const auto z = static_cast<Index>(line / c.fine.nodes[1]);
    for (Index x = 0; x < c.fine.nodes[0]; ++x) {
      const Index node = c.fine.node(x, y, z);
      by_place(c, {x, y, z}, corners.of[as_size(mask_of(c, x, y, z))],
               p.values.data() + p.row_ptr.data()[node]);
      out.repeated.data()[node] = x >= c.period() && same_weights(p, node, node - c.period());
    }
  });
  return out;
}

Interpolation operator_interpolation(const HostCsr<double>& a, const GridPattern& pattern,
                                     const GridCoarsening& c,
                                     const HostArray<std::uint8_t>& repeated) {
  Interpolation out = interpolation_pattern(c);
  HostCsr<double>& p = out.p;
  const CornersOfMasks corners;
  const std::array<Collapsed, 8> collapsed{Collapsed(0), Collapsed(1), Collapsed(2), Collapsed(3),
                                           Collapsed(4), Collapsed(5), Collapsed(6), Collapsed(7)};
  const Index ny = c.fine.nodes[1];
  const std::int64_t lines = std::int64_t{ny} * c.fine.nodes[2];
  const Index period = c.period();
  for (int between = 0; between <= 3; ++between) {
    host_for("krysol::operator_interpolation", lines, [&](std::int64_t line) {
      const auto y = static_cast<Index>(line % ny);
      const auto z = static_cast<Index>(line / ny);
      const int of_line = mask_of(c, 0, y, z);
      const int more = between - directions_in(of_line);
      if (more < 0 || more > 1) return;
      std::uint8_t* const same = out.repeated.data();
      for (Index x = 0; x < c.fine.nodes[0]; ++x) {
        if (c.planes[0].between(x) != (more == 1)) continue;
        const Index node = c.fine.node(x, y, z);
        const int mask = of_line | more;
        const Collapsed& of_mask = collapsed[as_size(mask)];
        double* const weight = p.values.data() + p.row_ptr.data()[node];
        const Offset count = p.row_ptr.data()[node + 1] - p.row_ptr.data()[node];
        // The same rows, between nodes of which the same is true.
        if (repeated.data()[node] != 0 && x >= period && of_mask.all(same, node, c.fine) &&
            p.row_ptr.data()[node - period + 1] - p.row_ptr.data()[node - period] == count) {
          std::copy_n(p.values.data() + p.row_ptr.data()[node - period], count, weight);
          same[node] = 1;
          continue;
        }
        if (a.row_ptr.data()[node + 1] - a.row_ptr.data()[node] < 2) {
          std::fill_n(weight, count, 0.0);  // the others are nothing to it
        } else if (mask == 0) {
          *weight = 1;
        } else if (!of_mask.weights(a, pattern.direction.data(), node, p, c.fine, corners,
                                    weight)) {
          by_place(c, {x, y, z}, corners.of[as_size(mask)], weight);
        }
        same[node] = x >= period && same_weights(p, node, node - period);
      }
    });
  }
  return out;
}

}  // namespace krysol::multigrid
