// The rows of P'AP on grids, summed for one node after the other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <krysol/solver/coarsening/grid_interpolation.hpp>

namespace krysol::multigrid {

inline constexpr std::array<int, 3> unit_of_direction{1, 3, 9};  // see grid_directions

/// The fine planes whose nodes a coarse plane has a part in.
struct Support {
  Index first;
  Index last;
};

inline Support support_of(const CoarsePlanes& p, Index coarse) {
  const Index own = p.kept[as_size(coarse)];
  const auto last = static_cast<Index>(p.kept.size()) - 1;
  return {coarse > 0 && p.kept[as_size(coarse - 1)] + 1 < own ? own - 1 : own,
          coarse < last && own + 1 < p.kept[as_size(coarse + 1)] ? own + 1 : own};
}

/// Along one direction, what the neighbours of a fine plane (the one before, itself, the next) lie
/// between, as seen from a coarse plane: where their lower parent is, times the direction's unit,
/// and the direction's bit where there is an upper one too.
struct Surroundings {
  std::array<int, 3> base{};
  std::array<int, 3> mask{};

  bool operator==(const Surroundings&) const = default;
};

/// Of each fine plane: those seen from its lower parent, and from its upper one. There are few of
/// them, so that what follows from three of them is made once.
class SurroundingsOfPlanes {
 public:
  SurroundingsOfPlanes(const CoarsePlanes& planes, Index count, std::size_t direction) {
    const auto in = [&](Index plane) { return plane >= 0 && plane < count; };
    for (Index plane = 0; plane < count; ++plane) {
      const Index below = planes.below[as_size(plane)];
      between_.push_back(planes.between(plane));
      for (Index from = below; from <= below + 1; ++from) {
        Surroundings s;
        for (int step = 0; step < 3; ++step) {
          const Index to = plane + step - 1;
          if (!in(to)) continue;
          s.base[as_size(step)] =
              (planes.below[as_size(to)] - from + 1) * unit_of_direction[direction];
          s.mask[as_size(step)] = planes.between(to) ? 1 << direction : 0;
        }
        const auto found = std::find(kinds_.begin(), kinds_.end(), s);
        kind_.push_back(static_cast<int>(found - kinds_.begin()));
        if (found == kinds_.end()) kinds_.push_back(s);
      }
      below_.push_back(below);
    }
  }

  std::size_t count() const { return kinds_.size(); }
  const Surroundings& operator[](std::size_t kind) const { return kinds_[kind]; }
  bool between(Index plane) const { return between_[as_size(plane)]; }
  /// Is the coarse plane the upper parent of the fine one?
  bool is_upper(Index plane, Index coarse) const { return below_[as_size(plane)] != coarse; }
  std::size_t kind(Index plane, Index coarse) const {
    return as_size(kind_[2 * as_size(plane) + (is_upper(plane, coarse) ? 1 : 0)]);
  }

 private:
  std::vector<Surroundings> kinds_;
  std::vector<int> kind_;  // [2 planes]
  std::vector<bool> between_;
  std::vector<Index> below_;
};

/// Where the corners of a coarse cell are from its lowest one, as directions, for each mask of
/// directions that a node is between kept planes in; in the order of P's columns.
struct CornerDirections {
  std::array<std::array<int, 8>, 8> of{};
  std::array<int, 8> count{};

  CornerDirections() {
    for (int mask = 0; mask < 8; ++mask) {
      int n = 0;
      for (int q = 0; q < 8; ++q) {
        if ((q & ~mask) != 0) continue;
        of[as_size(mask)][as_size(n++)] = (q & 1) * unit_of_direction[0] +
                                          (q >> 1 & 1) * unit_of_direction[1] +
                                          (q >> 2 & 1) * unit_of_direction[2];
      }
      count[as_size(mask)] = n;
    }
  }
};

/// For a neighbour of a fine node: its parents that are a coarse node or come after it, their
/// directions from that and their places in the neighbour's row of P. The product is symmetric, so
/// that entries to the nodes before are known from their rows.
struct ParentsOfNeighbour {
  std::int8_t count = 0;
  std::array<std::int8_t, 8> direction{};
  std::array<std::int8_t, 8> place{};
};

constexpr Index nodes_at_once = 8;  // of a line, in the lanes of registers

/// The parents of all neighbours, for each three kinds of surroundings of a fine node.
class ParentTables {
 public:
  explicit ParentTables(const GridCoarsening& c) {
    for (std::size_t n = 0; n < 3; ++n) planes.emplace_back(c.planes[n], c.fine.nodes[n], n);
    find_last_eight(c);
    const CornerDirections corners;
    tables_.resize(planes[0].count() * planes[1].count() * planes[2].count());
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Surroundings& x = planes[0][t % planes[0].count()];
      const Surroundings& y = planes[1][t / planes[0].count() % planes[1].count()];
      const Surroundings& z = planes[2][t / planes[0].count() / planes[1].count()];
      for (int d = 0; d < grid_directions; ++d) {
        const auto dx = as_size(d % 3);
        const auto dy = as_size(d / 3 % 3);
        const auto dz = as_size(d / 9);
        const int first = x.base[dx] + y.base[dy] + z.base[dz];
        const auto m = as_size(x.mask[dx] | y.mask[dy] | z.mask[dz]);
        ParentsOfNeighbour& of = tables_[t][as_size(d)];
        for (int q = 0; q < corners.count[m]; ++q) {
          const int direction = first + corners.of[m][as_size(q)];
          if (direction < grid_own) continue;
          of.direction[as_size(of.count)] = static_cast<std::int8_t>(direction);
          of.place[as_size(of.count)] = static_cast<std::int8_t>(q);
          ++of.count;
        }
      }
    }
  }

  using Table = std::array<ParentsOfNeighbour, grid_directions>;
  /// As a coarse node sees them from a fine node that it is a parent of.
  const Table& at(const std::array<Index, 3>& place, const std::array<Index, 3>& coarse) const {
    const std::size_t x = planes[0].kind(place[0], coarse[0]);
    const std::size_t y = planes[1].kind(place[1], coarse[1]);
    const std::size_t z = planes[2].kind(place[2], coarse[2]);
    return tables_[x + planes[0].count() * (y + planes[1].count() * z)];
  }

  std::vector<SurroundingsOfPlanes> planes;  // [3]
  /// From each coarse node of a line from 1 up to this on, nodes_at_once of them are as far from
  /// the next in the arrays as are the nodes next to them, if inner nodes of lines have all
  /// neighbours.
  Index last_eight = 0;

 private:
  void find_last_eight(const GridCoarsening& c) {
    const std::vector<Index>& kept = c.planes[0].kept;
    const Index period = c.period();
    const auto all = static_cast<Index>(kept.size());
    Index even = 0;  // planes
    while (even < all && kept[as_size(even)] == period * even) ++even;
    for (last_eight = even - 1 - nodes_at_once; last_eight >= 1; --last_eight) {
      const Support own = support_of(c.planes[0], last_eight + nodes_at_once - 1);
      if (own.last <= c.fine.nodes[0] - 2) return;
    }
  }
  std::vector<Table> tables_;
};

/// Sums the rows of one coarse node after the other, without the entries to nodes before it.
class ProductOfNode {
 public:
  ProductOfNode(const HostCsr<double>& a, Index block, const GridPattern& pattern,
                const GridCoarsening& c, const ParentTables& parents, const HostCsr<double>& p)
      : a_(a),
        block_(block),
        direction_(pattern.direction.data()),
        c_(c),
        parents_(parents),
        p_(p),
        sums_(as_size(grid_directions) * as_size(block) * as_size(block)),
        sizes_(as_size(block)),
        present_(pattern.present) {
    for (int d = 0; d < grid_directions; ++d) {
      const auto step = steps_of(d);
      distance_[as_size(d)] = c.fine.node(step[0], step[1], step[2]);
    }
  }

  /// To be called before the nodes of a line are summed.
  void begin_line(Index y, Index z) {
    const BoxGrid& fine = c_.fine;
    const Support of_y = support_of(c_.planes[1], y);
    const Support of_z = support_of(c_.planes[2], z);
    even_ = block_ == 1 && fine.nodes[0] > 2;
    for (Index k = of_z.first; even_ && k <= of_z.last; ++k) {
      for (Index j = of_y.first; even_ && j <= of_y.last; ++j) {
        const Offset* const row_ptr = a_.row_ptr.data() + fine.node(0, j, k);
        const Offset full = std::popcount(present_ & directions_inside(fine, {1, j, k}));
        const Index between = fine.nodes[0] - 2;
        even_ = row_ptr[1 + between] - row_ptr[1] == full * between;
      }
    }
  }

  /// The first of eight nodes of a line, x among them, that are summed together; or -1.
  Index first_of_eight(Index x) const {
    const Index first = std::min(x, parents_.last_eight);
    return even_ && first >= 1 && x - first < nodes_at_once ? first : -1;
  }
  /// Sums those of eight nodes; take(lane) makes those of one the last ones.
  void add_eight(const std::array<Index, 3>& coarse) {
    std::fill(sums_of_eight_.begin(), sums_of_eight_.end(), 0.0);
    std::fill(sizes_of_eight_.begin(), sizes_of_eight_.end(), 0.0);
    for_support(coarse, [&](const std::array<Index, 3>& place) { add_lanes(coarse, place); });
  }
  void take(Index lane) {
    for (std::size_t d = 0; d < grid_directions; ++d) {
      sums_[d] = sums_of_eight_[nodes_at_once * d + as_size(lane)];
    }
    sizes_[0] = sizes_of_eight_[as_size(lane)];
  }

  /// [27 block block] of each direction the block, by rows: of the node that was summed last.
  const double* last() const { return sums_.data(); }
  /// [block] of the diagonal entries, see GridMatrix.
  const double* sizes() const { return sizes_.data(); }

  /// Sums those of a node.
  void add(const std::array<Index, 3>& coarse) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
    for_support(coarse, [&](const std::array<Index, 3>& place) {
      if (block_ == 1) {
        add_row<1>(coarse, place);
      } else if (block_ == 2) {
        add_row<2>(coarse, place);
      } else if (block_ == 3) {
        add_row<3>(coarse, place);
      } else {
        add_row<0>(coarse, place);
      }
    });
  }

 private:
  /// The fine nodes that a coarse node has a part in.
  template <class F>
  void for_support(const std::array<Index, 3>& coarse, const F& f) const {
    std::array<Support, 3> s{};
    for (std::size_t n = 0; n < 3; ++n) s[n] = support_of(c_.planes[n], coarse[n]);
    for (Index z = s[2].first; z <= s[2].last; ++z) {
      for (Index y = s[1].first; y <= s[1].last; ++y) {
        for (Index x = s[0].first; x <= s[0].last; ++x) f(std::array<Index, 3>{x, y, z});
      }
    }
  }

  /// The place of a coarse node in the row of P of a node that it has a part in.
  int place_in_row(const std::array<Index, 3>& coarse, const std::array<Index, 3>& place) const {
    int entry = 0;
    int bit = 1;
    for (std::size_t n = 0; n < 3; ++n) {
      const SurroundingsOfPlanes& planes = parents_.planes[n];
      if (!planes.between(place[n])) continue;
      if (planes.is_upper(place[n], coarse[n])) entry += bit;
      bit *= 2;
    }
    return entry;
  }

  /// What a row of A next to `place` adds; known: the block, or 0.
  template <Index known>
  void add_row(const std::array<Index, 3>& coarse, const std::array<Index, 3>& place) {
    const Index block = known > 0 ? known : block_;
    const Index node = c_.fine.node(place[0], place[1], place[2]);
    const int entry = place_in_row(coarse, place);
    const double* const weights = p_.values.data();
    const Offset* const row_of_p = p_.row_ptr.data();
    const double weight = weights[row_of_p[node] + entry];
    if (weight == 0) return;
    const ParentTables::Table& parents = parents_.at(place, coarse);
    double* const sums = sums_.data();
    for (Index u = 0; u < block; ++u) {
      const Offset row = Offset{node} * block + u;
      for (Offset k = a_.row_ptr.data()[row]; k < a_.row_ptr.data()[row + 1]; ++k) {
        const int d = direction_[k];
        const Index other = node + distance_[as_size(d)];
        const Index v = block == 1 ? 0 : a_.col_idx.data()[k] - other * block;
        const double value = weight * a_.values.data()[k];
        if (d == grid_own && u == v) sizes_[as_size(u)] += weight * value;
        const double* const to_parent = weights + row_of_p[other];
        const ParentsOfNeighbour& of = parents[as_size(d)];
        for (int q = 0; q < of.count; ++q) {
          sums[(Offset{of.direction[as_size(q)]} * block + u) * block + v] +=
              value * to_parent[of.place[as_size(q)]];
        }
      }
    }
  }

  /// add_row<1> for eight coarse nodes of a line, each as far from the next as are the nodes next
  /// to them, their rows and their weights.
  void add_lanes(const std::array<Index, 3>& coarse, const std::array<Index, 3>& place) {
    const Index period = c_.period();
    const Index node = c_.fine.node(place[0], place[1], place[2]);
    const double* const weights = p_.values.data();
    const Offset* const row_of_p = p_.row_ptr.data();
    const Offset row = a_.row_ptr.data()[node];
    const Offset end = a_.row_ptr.data()[node + 1];
    const Offset next_row = a_.row_ptr.data()[node + period] - row;
    const Offset next_weight = row_of_p[node + period] - row_of_p[node];
    const double* const own = weights + row_of_p[node] + place_in_row(coarse, place);
    std::array<double, nodes_at_once> weight;
    for (Index l = 0; l < nodes_at_once; ++l) weight[as_size(l)] = own[next_weight * l];
    const ParentTables::Table& parents = parents_.at(place, coarse);
    for (Offset k = row; k < end; ++k) {
      const int d = direction_[k];
      const ParentsOfNeighbour& of = parents[as_size(d)];
      if (of.count == 0) continue;
      const double* const values = a_.values.data() + k;
      std::array<double, nodes_at_once> value;
      for (Index l = 0; l < nodes_at_once; ++l) {
        value[as_size(l)] = weight[as_size(l)] * values[next_row * l];
      }
      if (d == grid_own) {
        for (std::size_t l = 0; l < nodes_at_once; ++l) sizes_of_eight_[l] += weight[l] * value[l];
      }
      const Index other = node + distance_[as_size(d)];
      const double* const of_other = weights + row_of_p[other];
      const Offset next_other = row_of_p[other + period] - row_of_p[other];
      for (int q = 0; q < of.count; ++q) {
        const double* const to_parent = of_other + of.place[as_size(q)];
        double* const sums =
            sums_of_eight_.data() + Offset{nodes_at_once} * of.direction[as_size(q)];
#pragma omp simd
        for (Index l = 0; l < nodes_at_once; ++l) {
          sums[l] += value[as_size(l)] * to_parent[next_other * l];
        }
      }
    }
  }

  const HostCsr<double>& a_;
  Index block_;
  const std::uint8_t* direction_;
  const GridCoarsening& c_;
  const ParentTables& parents_;
  const HostCsr<double>& p_;
  std::array<Index, grid_directions> distance_{};  // of a neighbour's number
  std::vector<double> sums_;
  std::vector<double> sizes_;
  std::uint32_t present_;
  bool even_ = false;  // inner nodes of the fine lines next to this line have all directions
  std::array<double, std::size_t{nodes_at_once} * grid_directions> sums_of_eight_{};
  std::array<double, nodes_at_once> sizes_of_eight_{};
};

/// Where on a line of the coarse grid the sums of a node are those of the node before it: where all
/// rows of A that it has a part in are repeated, and all weights next to them.
class RepeatedNodes {
 public:
  RepeatedNodes(const GridCoarsening& c, const HostArray<std::uint8_t>& rows,
                const HostArray<std::uint8_t>& weights)
      : c_(c), rows_(rows.data()), weights_(weights.data()) {}

  void begin_line(Index y, Index z) {
    const Support of_y = support_of(c_.planes[1], y);
    const Support of_z = support_of(c_.planes[2], z);
    on_line(rows_, of_y, of_z, row_);
    on_line(weights_, widened(of_y, c_.fine.nodes[1]), widened(of_z, c_.fine.nodes[2]), weight_);
  }

  bool operator()(Index x) const {
    if (x == 0) return false;
    const Support own = support_of(c_.planes[0], x);
    const Support before = support_of(c_.planes[0], x - 1);
    const Index period = c_.period();
    if (own.first - period != before.first || own.last - period != before.last) return false;
    const Support wide = widened(own, c_.fine.nodes[0]);
    return std::all_of(row_.begin() + own.first, row_.begin() + own.last + 1,
                       [](std::uint8_t is) { return is != 0; }) &&
           std::all_of(weight_.begin() + wide.first, weight_.begin() + wide.last + 1,
                       [](std::uint8_t is) { return is != 0; });
  }

 private:
  static Support widened(const Support& s, Index planes) {
    return {std::max<Index>(0, s.first - 1), std::min<Index>(planes - 1, s.last + 1)};
  }
  void on_line(const std::uint8_t* flag, const Support& y, const Support& z,
               std::vector<std::uint8_t>& all) const {
    const Index nx = c_.fine.nodes[0];
    all.assign(as_size(nx), 1);
    for (Index k = z.first; k <= z.last; ++k) {
      for (Index j = y.first; j <= y.last; ++j) {
        const std::uint8_t* const line = flag + c_.fine.node(0, j, k);
        for (Index i = 0; i < nx; ++i) all[as_size(i)] &= line[i];
      }
    }
  }

  const GridCoarsening& c_;
  const std::uint8_t* rows_;
  const std::uint8_t* weights_;
  std::vector<std::uint8_t> row_;
  std::vector<std::uint8_t> weight_;
};

}  // namespace krysol::multigrid
