// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/gallery/tet_mesh.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <krysol/gallery/assembly.hpp>

namespace krysol::gallery {
namespace {

using Point = TetMesh::Point;
using Cell = std::array<std::int64_t, 3>;

// Streams of random numbers; an index of a problem never reaches them.
constexpr std::uint64_t rounds = 1;
constexpr std::uint64_t priorities = 2;
constexpr std::uint64_t offsets = 3;  // to 5

/// Of a grid point; those on the boundary are 0 and n + 1 along an axis.
std::uint64_t number(const Cell& at, std::int64_t n) {
  return static_cast<std::uint64_t>((at[2] * (n + 2) + at[1]) * (n + 2) + at[0]);
}

bool is_inner(const Cell& at, std::int64_t n) {
  return std::all_of(at.begin(), at.end(), [n](std::int64_t c) { return c > 0 && c <= n; });
}

Point moved(const Cell& at, std::int64_t n) {
  Point p{};
  const bool inner = is_inner(at, n);
  for (std::size_t d = 0; d < 3; ++d) {
    p[d] = static_cast<double>(at[d]);
    if (inner) p[d] += 0.3 * uniform(offsets + d, number(at, n)) - 0.15;
  }
  return p;
}

Cell inner_point(std::int64_t node, std::int64_t n) {
  return {node % n + 1, node / n % n + 1, node / n / n + 1};
}

/// Bits 0, 3, 6, ... of a Morton number.
std::uint64_t spread_bits(std::uint64_t v) {
  v &= 0x1FFFFF;
  v = (v | v << 32) & 0x1F00000000FFFF;
  v = (v | v << 16) & 0x1F0000FF0000FF;
  v = (v | v << 8) & 0x100F00F00F00F00F;
  v = (v | v << 4) & 0x10C30C30C30C30C3;
  return (v | v << 2) & 0x1249249249249249;
}

Point difference(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The 3 x 3 x 3 points around a node; place 13 is the node.
struct Surroundings {
  std::array<Point, 27> position;
  std::array<std::uint64_t, 27> priority;
};

Surroundings look_around(const Cell& at, std::int64_t n) {
  Surroundings s{};
  for (int k = 0; k < 27; ++k) {
    const Cell there = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
    s.position[static_cast<std::size_t>(k)] = moved(there, n);
    s.priority[static_cast<std::size_t>(k)] = random_bits(priorities, number(there, n));
  }
  return s;
}

/// A row of the stiffness matrix by the place of the other node, and which of them are neighbours.
struct Stencil {
  std::array<double, 27> value{};
  std::array<bool, 27> used{};
};

/// Adds what a tetrahedron of these places gives to the row of place 13, if that is one of them.
/// |T| grad N_a . grad N_b = n_a . n_b / (6 |det|), n_a the cross product of two edges of the face
/// that a is not on.
void add_tetrahedron(const Surroundings& s, const std::array<std::size_t, 4>& places,
                     Stencil& row) {
  const auto* mine = std::find(places.begin(), places.end(), std::size_t{13});
  if (mine == places.end()) return;
  const auto at = [&](std::size_t k) -> const Point& { return s.position[places[k]]; };
  const Point a = difference(at(1), at(0));
  const Point b = difference(at(2), at(0));
  const Point c = difference(at(3), at(0));
  std::array<Point, 4> normal = {Point{}, cross(b, c), cross(c, a), cross(a, b)};
  for (std::size_t d = 0; d < 3; ++d) {
    normal[0][d] = -(normal[1][d] + normal[2][d] + normal[3][d]);
  }
  const double scale = 1 / (6 * std::abs(dot(a, normal[1])));
  const Point& own = normal[static_cast<std::size_t>(mine - places.begin())];
  for (std::size_t k = 0; k < 4; ++k) {
    row.value[places[k]] += dot(own, normal[k]) * scale;
    row.used[places[k]] = true;
  }
}

/// The six tetrahedra of the cell whose lowest corner is at that place.
void add_cell(const Surroundings& s, std::size_t lowest, Stencil& row) {
  const auto place = [lowest](std::size_t c) {
    return lowest + (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2);
  };
  const auto before = [&](std::size_t c, std::size_t d) {
    return s.priority[place(c)] < s.priority[place(d)];
  };
  std::size_t apex = 0;
  for (std::size_t c = 1; c < 8; ++c) {
    if (before(c, apex)) apex = c;
  }
  for (std::size_t d = 0; d < 3; ++d) {
    // The face across the cell: its corners in a circle, the first that of the lowest priority.
    const std::size_t e = std::size_t{1} << (d + 1) % 3;
    const std::size_t f = std::size_t{1} << (d + 2) % 3;
    const std::size_t corner = ~apex & (std::size_t{1} << d);
    const std::array<std::size_t, 4> circle = {corner, corner | e, corner | e | f, corner | f};
    std::size_t first = 0;
    for (std::size_t k = 1; k < 4; ++k) {
      if (before(circle[k], circle[first])) first = k;
    }
    for (std::size_t k = 1; k < 3; ++k) {
      add_tetrahedron(s,
                      {place(apex), place(circle[first]), place(circle[(first + k) % 4]),
                       place(circle[(first + k + 1) % 4])},
                      row);
    }
  }
}

}  // namespace

TetMesh make_tet_mesh(std::int64_t rows) {
  TetMesh mesh;
  mesh.n = std::max<std::int64_t>(1, std::llround(std::cbrt(static_cast<double>(rows))));
  const std::int64_t nodes = mesh.n * mesh.n * mesh.n;
  struct Key {
    int round;
    std::uint64_t curve;
    Index node;
  };
  std::vector<Key> order(static_cast<std::size_t>(nodes));
  host_for("krysol::problem(numbers)", nodes, [&](std::int64_t i) {
    const Cell at = inner_point(i, mesh.n);
    std::uint64_t curve = 0;
    for (std::size_t d = 0; d < 3; ++d)
      curve |= spread_bits(static_cast<std::uint64_t>(at[d])) << d;
    const int round = -std::countr_zero(random_bits(rounds, static_cast<std::uint64_t>(i)));
    order[static_cast<std::size_t>(i)] = {round, curve, static_cast<Index>(i)};
  });
  std::sort(order.begin(), order.end(), [](const Key& p, const Key& q) {
    return p.round != q.round ? p.round < q.round : p.curve < q.curve;
  });
  mesh.row_of_node.resize(order.size());
  mesh.node_of_row.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    mesh.node_of_row[k] = order[k].node;
    mesh.row_of_node[static_cast<std::size_t>(order[k].node)] = static_cast<Index>(k);
  }
  return mesh;
}

TetMesh::Point position(const TetMesh& mesh, Index row) {
  const std::int64_t node = mesh.node_of_row[static_cast<std::size_t>(row)];
  return moved(inner_point(node, mesh.n), mesh.n);
}

HostCsr<double> stiffness(const TetMesh& mesh) {
  const std::int64_t n = mesh.n;
  return assemble(n * n * n, [&mesh, n](std::int64_t i, Row& row) {
    const Cell at = inner_point(mesh.node_of_row[static_cast<std::size_t>(i)], n);
    const Surroundings around = look_around(at, n);
    Stencil stencil;
    static constexpr std::array<std::size_t, 8> cells = {0, 1, 3, 4, 9, 10, 12, 13};
    // Cells, and so the tetrahedra of an edge, in the same order from either end of it.
    for (const std::size_t lowest : cells) add_cell(around, lowest, stencil);
    for (std::size_t k = 0; k < 27; ++k) {
      const auto o = static_cast<std::int64_t>(k);
      const Cell there = {at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1};
      if (!stencil.used[k] || !is_inner(there, n)) continue;
      const std::int64_t node = ((there[2] - 1) * n + there[1] - 1) * n + there[0] - 1;
      row.push_back({mesh.row_of_node[static_cast<std::size_t>(node)], stencil.value[k]});
    }
    std::sort(row.begin(), row.end(), [](const Entry& p, const Entry& q) { return p.col < q.col; });
  });
}

}  // namespace krysol::gallery
