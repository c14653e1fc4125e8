// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/grid_product.hpp>

#include <algorithm>
#include <bit>

namespace krysol::multigrid {
namespace {

constexpr std::array<int, 3> unit{1, 3, 9};  // of directions

bool goes(std::uint32_t directions, int d) {
  return (directions >> static_cast<unsigned>(d) & 1U) != 0;
}

/// The directions that the product has entries in: along those that are coarsened, all.
std::uint32_t directions_of_product(const GridPattern& pattern, const GridCoarsening& c) {
  std::uint32_t all = pattern.present | std::uint32_t{1} << static_cast<unsigned>(grid_own);
  for (std::size_t n = 0; n < 3; ++n) {
    if (c.fine.nodes[n] == c.coarse.nodes[n]) continue;
    for (int d = 0; d < grid_directions; ++d) {
      if (!goes(all, d)) continue;
      const int middle = d - steps_of(d)[n] * unit[n];
      all |= std::uint32_t{1} << static_cast<unsigned>(middle - unit[n]);
      all |= std::uint32_t{1} << static_cast<unsigned>(middle);
      all |= std::uint32_t{1} << static_cast<unsigned>(middle + unit[n]);
    }
  }
  return all;
}

/// The fine planes whose nodes a coarse plane has a part in.
struct Support {
  Index first;
  Index last;
};

Support support_of(const CoarsePlanes& p, Index coarse) {
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
          s.base[as_size(step)] = (planes.below[as_size(to)] - from + 1) * unit[direction];
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
        of[as_size(mask)][as_size(n++)] =
            (q & 1) * unit[0] + (q >> 1 & 1) * unit[1] + (q >> 2 & 1) * unit[2];
      }
      count[as_size(mask)] = n;
    }
  }
};

/// For a neighbour of a fine node: the directions of its parents from a coarse node, in the order
/// of P's columns.
struct ParentsOfNeighbour {
  std::int8_t count = 0;
  std::array<std::int8_t, 8> direction{};
};

/// The parents of all neighbours, for each three kinds of surroundings of a fine node.
class ParentTables {
 public:
  explicit ParentTables(const GridCoarsening& c) {
    for (std::size_t n = 0; n < 3; ++n) planes.emplace_back(c.planes[n], c.fine.nodes[n], n);
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
        of.count = static_cast<std::int8_t>(corners.count[m]);
        for (std::size_t q = 0; q < as_size(of.count); ++q) {
          of.direction[q] = static_cast<std::int8_t>(first + corners.of[m][q]);
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

 private:
  std::vector<Table> tables_;
};

/// Sums the rows of one coarse node after the other.
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
        sizes_(as_size(block)) {
    for (int d = 0; d < grid_directions; ++d) {
      const auto step = steps_of(d);
      distance_[as_size(d)] = c.fine.node(step[0], step[1], step[2]);
    }
  }

  /// The sums of the node before.
  const double* last() const { return sums_.data(); }
  /// [block] of the diagonal entries, see GridMatrix.
  const double* sizes() const { return sizes_.data(); }

  /// [27 block block]: of each direction the block, by rows.
  const double* operator()(const std::array<Index, 3>& coarse) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
    std::array<Support, 3> s{};
    for (std::size_t n = 0; n < 3; ++n) s[n] = support_of(c_.planes[n], coarse[n]);
    for (Index z = s[2].first; z <= s[2].last; ++z) {
      for (Index y = s[1].first; y <= s[1].last; ++y) {
        for (Index x = s[0].first; x <= s[0].last; ++x) {
          if (block_ == 1) {
            add<1>(coarse, {x, y, z});
          } else if (block_ == 2) {
            add<2>(coarse, {x, y, z});
          } else if (block_ == 3) {
            add<3>(coarse, {x, y, z});
          } else {
            add<0>(coarse, {x, y, z});
          }
        }
      }
    }
    return sums_.data();
  }

 private:
  /// What a row of A next to `place` adds; known: the block, or 0.
  template <Index known>
  void add(const std::array<Index, 3>& coarse, const std::array<Index, 3>& place) {
    const Index block = known > 0 ? known : block_;
    const Index node = c_.fine.node(place[0], place[1], place[2]);
    int entry = 0;  // of P's row, the one for this coarse node
    int bit = 1;
    for (std::size_t n = 0; n < 3; ++n) {
      const SurroundingsOfPlanes& planes = parents_.planes[n];
      if (!planes.between(place[n])) continue;
      if (planes.is_upper(place[n], coarse[n])) entry += bit;
      bit *= 2;
    }
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
          sums[(Offset{of.direction[as_size(q)]} * block + u) * block + v] += value * to_parent[q];
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

}  // namespace

GridMatrix grid_product(const HostCsr<double>& a, Index block, const GridPattern& pattern,
                        const GridCoarsening& c, const HostArray<std::uint8_t>& repeated,
                        const Interpolation& interpolation) {
  GridMatrix out;
  out.pattern.grid = c.coarse;
  out.pattern.present = directions_of_product(pattern, c);
  const BoxGrid& grid = c.coarse;
  const Index nx = grid.nodes[0];
  const Index ny = grid.nodes[1];
  const std::int64_t lines = std::int64_t{ny} * grid.nodes[2];
  // Entries of one row of each node, at the first, a middle and the last node of a line.
  const auto entries_of = [&](std::int64_t line, Index x) {
    return std::popcount(
        out.pattern.present &
        directions_inside(grid, {x, static_cast<Index>(line % ny), static_cast<Index>(line / ny)}));
  };
  std::vector<Offset> first(as_size(lines) + 1, 0);
  for (std::int64_t line = 0; line < lines; ++line) {
    Offset entries = entries_of(line, 0);
    if (nx > 1) entries += entries_of(line, nx - 1);
    if (nx > 2) entries += Offset{nx - 2} * entries_of(line, 1);
    first[as_size(line + 1)] = first[as_size(line)] + entries * block * block;
  }
  HostCsr<double>& to = out.a;
  to.rows = to.cols = grid.size() * block;
  to.row_ptr = host_array<Offset>("grid.row_ptr", as_size(to.rows) + 1);
  to.col_idx = host_array<Index>("grid.col_idx", as_size(first.back()));
  to.values = host_array<double>("grid.values", as_size(first.back()));
  out.pattern.direction = host_array<std::uint8_t>("grid.direction", as_size(first.back()));
  to.row_ptr.data()[to.rows] = first.back();
  out.size = host_array<double>("grid.size", as_size(to.rows));
  const ParentTables parents(c);
  host_for("krysol::grid_product", lines, [&](std::int64_t line) {
    ProductOfNode product(a, block, pattern, c, parents, interpolation.p);
    RepeatedNodes same(c, repeated, interpolation.repeated);
    same.begin_line(static_cast<Index>(line % ny), static_cast<Index>(line / ny));
    Offset k = first[as_size(line)];
    for (Index x = 0; x < nx; ++x) {
      const std::array<Index, 3> place{x, static_cast<Index>(line % ny),
                                       static_cast<Index>(line / ny)};
      const std::uint32_t inside = out.pattern.present & directions_inside(grid, place);
      const double* const sums = same(x) ? product.last() : product(place);
      const Index node = grid.node(place[0], place[1], place[2]);
      for (Index u = 0; u < block; ++u) {
        to.row_ptr.data()[Offset{node} * block + u] = k;
        out.size.data()[Offset{node} * block + u] = product.sizes()[u];
        for (int d = 0; d < grid_directions; ++d) {
          if (!goes(inside, d)) continue;
          const auto step = steps_of(d);
          const Index other = node + grid.node(step[0], step[1], step[2]);
          for (Index v = 0; v < block; ++v, ++k) {
            to.col_idx.data()[k] = other * block + v;
            to.values.data()[k] = sums[(Offset{d} * block + u) * block + v];
            out.pattern.direction.data()[k] = static_cast<std::uint8_t>(d);
          }
        }
      }
    }
  });
  return out;
}

}  // namespace krysol::multigrid
