// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/gallery/problems.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <krysol/gallery/assembly.hpp>
#include <krysol/gallery/bilinear.hpp>
#include <krysol/gallery/elasticity.hpp>
#include <krysol/gallery/tet_mesh.hpp>
#include <krysol/spmv/base/memory.hpp>

namespace krysol::gallery {
namespace {

HostCsr<double> poisson3d(std::int64_t n, double) {
  return assemble(n * n * n, [n](std::int64_t i, Row& row) {
    const std::int64_t x = i % n;
    const std::int64_t y = i / n % n;
    const std::int64_t z = i / n / n;
    const auto add = [&](bool inside, std::int64_t j, double v) {
      if (inside) row.push_back({static_cast<Index>(j), v});
    };
    add(z > 0, i - n * n, -1);
    add(y > 0, i - n, -1);
    add(x > 0, i - 1, -1);
    add(true, i, 6);
    add(x + 1 < n, i + 1, -1);
    add(y + 1 < n, i + n, -1);
    add(z + 1 < n, i + n * n, -1);
  });
}

/// A coefficient of 10^-3 to 10^3 for each cell; the harmonic mean of two on the face between them.
HostCsr<double> jumps3d(std::int64_t n, double) {
  return assemble(n * n * n, [n](std::int64_t i, Row& row) {
    const auto coefficient = [](std::int64_t cell) {
      return std::pow(10.0, 6 * uniform(1, static_cast<std::uint64_t>(cell)) - 3);
    };
    const double mine = coefficient(i);
    const std::int64_t at[3] = {i % n, i / n % n, i / n / n};
    const std::int64_t step[3] = {1, n, n * n};
    double diagonal = 0;
    const auto face = [&](int d, int side) {
      const std::int64_t other = at[d] + side;
      if (other < 0 || other >= n) {
        diagonal += 2 * mine;  // the boundary is half a cell away
        return 0.0;
      }
      const double theirs = coefficient(i + side * step[d]);
      const double mean = 2 * mine * theirs / (mine + theirs);
      diagonal += mean;
      return mean;
    };
    double before[3];
    double after[3];
    for (int d = 0; d < 3; ++d) {
      before[d] = face(d, -1);
      after[d] = face(d, 1);
    }
    for (int d = 2; d >= 0; --d) {
      if (before[d] > 0) row.push_back({static_cast<Index>(i - step[d]), -before[d]});
    }
    row.push_back({static_cast<Index>(i), diagonal});
    for (int d = 0; d < 3; ++d) {
      if (after[d] > 0) row.push_back({static_cast<Index>(i + step[d]), -after[d]});
    }
  });
}

HostCsr<double> five_points(std::int64_t n, double along_x) {
  return assemble(n * n, [n, along_x](std::int64_t i, Row& row) {
    const std::int64_t x = i % n;
    const std::int64_t y = i / n;
    const auto add = [&](bool inside, std::int64_t j, double v) {
      if (inside) row.push_back({static_cast<Index>(j), v});
    };
    add(y > 0, i - n, -1);
    add(x > 0, i - 1, -along_x);
    add(true, i, 2 + 2 * along_x);
    add(x + 1 < n, i + 1, -along_x);
    add(y + 1 < n, i + n, -1);
  });
}
HostCsr<double> poisson2d(std::int64_t n, double) { return five_points(n, 1); }
HostCsr<double> anisotropy2d(std::int64_t n, double) { return five_points(n, 1000); }

/// Calls visit(neighbour) for the points of the 3 x 3 x 3 around one that are on the grid, itself
/// among them, in ascending order.
template <class Visit>
void for_27_points(std::int64_t n, std::int64_t point, const Visit& visit) {
  const std::int64_t x = point % n;
  const std::int64_t y = point / n % n;
  const std::int64_t z = point / n / n;
  for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(n - 1, z + 1); ++k) {
    for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(n - 1, y + 1); ++j) {
      for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(n - 1, x + 1); ++i) {
        visit((k * n + j) * n + i);
      }
    }
  }
}

HostCsr<double> poisson27(std::int64_t n, double) {
  return assemble(n * n * n, [n](std::int64_t i, Row& row) {
    for_27_points(n, i, [&](std::int64_t other) {
      row.push_back({static_cast<Index>(other), other == i ? 26.0 : -1.0});
    });
  });
}

/// (27-point Laplacian of a Dirichlet problem) x (a positive definite 3 x 3 matrix).
HostCsr<double> blocks27(std::int64_t n, double) {
  return assemble(3 * n * n * n, [n](std::int64_t i, Row& row) {
    static constexpr double block[3][3] = {{2, 0.5, 0.25}, {0.5, 2, 0.5}, {0.25, 0.5, 2}};
    const std::int64_t node = i / 3;
    const auto c = static_cast<std::size_t>(i % 3);
    for_27_points(n, node, [&](std::int64_t other) {
      for (std::size_t d = 0; d < 3; ++d) {
        row.push_back({static_cast<Index>(3 * other + static_cast<std::int64_t>(d)),
                       (other == node ? 26 : -1) * block[c][d]});
      }
    });
  });
}

HostCsr<double> hexahedra(std::int64_t n, double) { return elasticity({n, n, n}); }
HostCsr<double> beam3d(std::int64_t n, double) { return elasticity({n, n, 4 * n}); }
HostCsr<double> beam2d(std::int64_t n, double) {
  return squares({n, 4 * n}, plane_strain_stiffness(0.3));
}
HostCsr<double> rotated2d(std::int64_t n, double degrees) {
  return squares({n, n}, diffusion_stiffness(100, degrees));
}

/// As many edges end in a point of a grid without boundary values as it has neighbours.
HostCsr<double> free_grid(const std::array<std::int64_t, 3>& points) {
  return assemble(points[0] * points[1] * points[2], [points](std::int64_t i, Row& row) {
    const std::int64_t at[3] = {i % points[0], i / points[0] % points[1],
                                i / points[0] / points[1]};
    const std::int64_t step[3] = {1, points[0], points[0] * points[1]};
    double neighbours = 0;
    for (std::size_t d = 3; d-- > 0;) {
      if (at[d] == 0) continue;
      row.push_back({static_cast<Index>(i - step[d]), -1});
      ++neighbours;
    }
    const std::size_t diagonal = row.size();
    row.push_back({static_cast<Index>(i), 0});
    for (std::size_t d = 0; d < 3; ++d) {
      if (at[d] + 1 == points[d]) continue;
      row.push_back({static_cast<Index>(i + step[d]), -1});
      ++neighbours;
    }
    row[diagonal].value = neighbours;
  });
}
HostCsr<double> neumann3d(std::int64_t n, double) { return free_grid({n, n, n}); }
HostCsr<double> neumann2d(std::int64_t n, double) { return free_grid({n, n, 1}); }

/// n x n elements of eight nodes, each with a random density: a consistent mass matrix. Wathen, IMA
/// J. Numer. Anal. 7, 1987, DOI 10.1093/imanum/7.4.449; numbered as by Higham, ACM TOMS 17(3),
/// 1991, DOI 10.1145/114697.116805.
HostCsr<double> wathen(std::int64_t n, double) {
  constexpr int element[8][8] = {{6, -6, 2, -8, 3, -8, 2, -6}, {-6, 32, -6, 20, -8, 16, -8, 20},
                                 {2, -6, 6, -6, 2, -8, 3, -8}, {-8, 20, -6, 32, -6, 20, -8, 16},
                                 {3, -8, 2, -6, 6, -6, 2, -8}, {-8, 16, -8, 20, -6, 32, -6, 20},
                                 {2, -8, 3, -8, 2, -6, 6, -6}, {-6, 20, -8, 16, -8, 20, -6, 32}};
  Triplets<double> t;
  t.rows = t.cols = static_cast<Index>(3 * n * n + 4 * n + 1);
  for (std::int64_t j = 1; j <= n; ++j) {
    for (std::int64_t i = 1; i <= n; ++i) {
      std::int64_t node[8];
      node[0] = 3 * j * n + 2 * i + 2 * j + 1;
      node[1] = node[0] - 1;
      node[2] = node[1] - 1;
      node[3] = (3 * j - 1) * n + 2 * j + i - 1;
      node[4] = 3 * (j - 1) * n + 2 * i + 2 * j - 3;
      node[5] = node[4] + 1;
      node[6] = node[5] + 1;
      node[7] = node[3] + 1;
      const double density = 100 * uniform(7, static_cast<std::uint64_t>((j - 1) * n + i - 1));
      for (std::size_t p = 0; p < 8; ++p) {
        for (std::size_t q = 0; q < 8; ++q) {
          t.add(static_cast<Index>(node[p] - 1), static_cast<Index>(node[q] - 1),
                density * element[p][q] / 45);
        }
      }
    }
  }
  return to_csr(t).matrix;
}

/// A ring through the nodes of each component, and two more edges of weight 1 from each node to
/// another of its component, at random.
HostCsr<double> graph_laplacian(std::int64_t n, double components) {
  const auto parts = static_cast<std::int64_t>(components);
  Triplets<double> t;
  t.rows = t.cols = static_cast<Index>(n);
  const auto edge = [&t](std::int64_t i, std::int64_t j) {
    if (i == j) return;
    t.add(static_cast<Index>(i), static_cast<Index>(i), 1);
    t.add(static_cast<Index>(j), static_cast<Index>(j), 1);
    t.add(static_cast<Index>(i), static_cast<Index>(j), -1);
    t.add(static_cast<Index>(j), static_cast<Index>(i), -1);
  };
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t first = n * p / parts;
    const std::int64_t size = n * (p + 1) / parts - first;
    for (std::int64_t i = 0; i < size; ++i) {
      edge(first + i, first + (i + 1) % size);
      for (std::uint64_t k = 0; k < 2; ++k) {
        const double u = uniform(8, 2 * static_cast<std::uint64_t>(first + i) + k);
        edge(first + i, first + static_cast<std::int64_t>(u * static_cast<double>(size)));
      }
    }
  }
  return to_csr(t).matrix;
}
HostCsr<double> tetrahedra(std::int64_t n, double) { return stiffness(make_tet_mesh(n)); }

/// Row lengths of a Pareto law with exponent 1.5 and least length 6; a column's chance falls with
/// its number as that of a node of a scale-free graph does.
HostCsr<double> power_law(std::int64_t n, double) {
  return assemble(n, [n](std::int64_t i, Row& row) {
    const auto position = static_cast<std::uint64_t>(i);
    const double length = 6 * std::pow(1 - uniform(2, position), -1 / 1.5);
    const auto wanted = static_cast<std::int64_t>(std::min({length, static_cast<double>(n), 1e5}));
    for (std::int64_t k = 0; k < wanted; ++k) {
      const double u = uniform(3 + position, static_cast<std::uint64_t>(k));
      const auto col = static_cast<Index>(static_cast<double>(n) * u * u * u);
      row.push_back({col, 1 - u});
    }
    std::sort(row.begin(), row.end(), [](const Entry& p, const Entry& q) { return p.col < q.col; });
    row.erase(std::unique(row.begin(), row.end(),
                          [](const Entry& p, const Entry& q) { return p.col == q.col; }),
              row.end());
  });
}

/// Each place of a row is filled with the chance `density`: steps to the next one are geometric.
HostCsr<double> random_square(std::int64_t n, double density) {
  return assemble(n, [n, density](std::int64_t i, Row& row) {
    const double log_empty = std::log1p(-std::min(density, 1 - 1e-16));
    double col = -1;
    for (std::uint64_t k = 0;; k += 2) {
      const auto stream = static_cast<std::uint64_t>(i) + 5;
      col += 1 + std::floor(std::log1p(-uniform(stream, k)) / log_empty);
      if (!(col < static_cast<double>(n))) return;
      row.push_back({static_cast<Index>(col), 2 * uniform(stream, k + 1) - 1});
    }
  });
}

/// A number that may follow the size, after another colon.
struct Parameter {
  const char* what = nullptr;  // null: there is none
  double usual = 0;
  double least = 0;  // itself excluded
  double most = 0;
  bool whole = false;
};

/// About the bytes of a problem of size n while it is made: factor n^power, for `random` times the
/// density, and 8 n.
struct Memory {
  int power;
  double factor;
  bool times_parameter = false;

  double bytes(double n, double parameter) const {
    constexpr double of_row_ptr = 8;
    return factor * std::pow(n, power) * (times_parameter ? parameter : 1) + of_row_ptr * n;
  }
};

struct Problem {
  ProblemInfo info;
  std::int64_t largest;  // size that 2^31 - 1 rows and 64 GB allow
  Memory memory;
  HostCsr<double> (*make)(std::int64_t n, double parameter);
  Parameter parameter{};
};

constexpr Problem problems[] = {
    {{"poisson", "poisson:N, 7-point Laplacian on N^3 points"}, 1000, {3, 100}, &poisson3d},
    {{"poisson27", "poisson27:N, 27-point Laplacian on N^3 points"}, 550, {3, 340}, &poisson27},
    {{"poisson2d", "poisson2d:N, 5-point Laplacian on N^2 points"}, 30000, {2, 70}, &poisson2d},
    {{"jumps", "jumps:N, 7 points on N^3 cells with coefficients of 1e-3 to 1e3"},
     1000,
     {3, 100},
     &jumps3d},
    {{"anisotropy", "anisotropy:N, 5 points on N^2, 1000 times stronger along x"},
     30000,
     {2, 70},
     &anisotropy2d},
    {{"rotated", "rotated:N[:DEGREES], N^2 bilinear elements, 100 times stronger along 30 degrees"},
     20000,
     {2, 120},
     &rotated2d,
     {"an angle between -360 and 360 degrees", 30, -360, 360}},
    {{"fem", "fem:N, 27 points on N^3 nodes, three unknowns a node"}, 300, {3, 2950}, &blocks27},
    {{"elasticity", "elasticity:N, N^3 trilinear hexahedra, clamped at one side, in 3 x 3 blocks"},
     270,
     {3, 2950},
     &hexahedra},
    {{"beam", "beam:N, N x N x 4N of them, clamped at one end"}, 170, {3, 11800}, &beam3d},
    {{"beam2d", "beam2d:N, plane strain, N x 4N bilinear elements, clamped at one end"},
     6000,
     {2, 1800},
     &beam2d},
    {{"neumann", "neumann:N, 7 points on N^3 without boundary values: singular"},
     1000,
     {3, 100},
     &neumann3d},
    {{"neumann2d", "neumann2d:N, 5 points on N^2 without boundary values: singular"},
     30000,
     {2, 70},
     &neumann2d},
    {{"wathen", "wathen:N, N^2 elements of eight nodes with random densities"},
     5000,
     {2, 2400},
     &wathen},
    {{"mesh", "mesh:N, linear tetrahedra of an unstructured mesh, about N unknowns"},
     300000000,
     {1, 400},
     &tetrahedra},
    {{"laplacian",
      "laplacian:N[:PARTS], of a random graph of N nodes in that many parts: singular"},
     100000000,
     {1, 430},
     &graph_laplacian,
     {"a whole number of parts from 1 to 1000", 1, 0, 1000, true}},
    {{"graph", "graph:N, N rows of power-law lengths"}, 300000000, {1, 220}, &power_law},
    {{"random", "random:N[:DENSITY], N x N, a share of its places filled (0.01)"},
     1000000000,
     {2, 12, true},
     &random_square,
     {"a density above 0 and up to 1", 0.01, 0, 1}},
};

[[noreturn]] void throw_unknown(std::string_view text) {
  std::string known;
  for (const Problem& p : problems) known += fmt::format(" {}:N", p.info.name);
  throw std::invalid_argument(
      fmt::format("'{}' is no problem that can be made; known:{}", text, known));
}

template <class Number>
bool read_all(std::string_view text, Number& number) {
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::vector<ProblemInfo> list_problems() {
  std::vector<ProblemInfo> list;
  for (const Problem& p : problems) list.push_back(p.info);
  return list;
}

bool is_symmetric_problem(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return is_problem(text) && name != "graph" && name != "random";
}

bool is_problem(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return name.size() < text.size() &&
         std::any_of(std::begin(problems), std::end(problems),
                     [&](const Problem& p) { return p.info.name == name; });
}

HostCsr<double> make_problem(std::string_view text) {
  const Kokkos::Profiling::ScopedRegion region("krysol::make_problem");
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Problem& p : problems) {
    if (p.info.name != name || name.size() == text.size()) continue;
    std::string_view size = text.substr(name.size() + 1);
    const Parameter& of = p.parameter;
    double parameter = of.usual;
    if (const auto colon = size.find(':'); of.what != nullptr && colon != std::string_view::npos) {
      if (!read_all(size.substr(colon + 1), parameter) || !(parameter > of.least) ||
          parameter > of.most || (of.whole && parameter != std::floor(parameter))) {
        throw std::invalid_argument(fmt::format("'{}': {}", text, of.what));
      }
      size = size.substr(0, colon);
    }
    double n = 0;  // 1e5 is a number of rows too
    if (!read_all(size, n) || n != std::floor(n) || n < 1 || n > static_cast<double>(p.largest)) {
      throw std::invalid_argument(
          fmt::format("'{}': a size from 1 to {} is needed", text, p.largest));
    }
    if (of.whole && 2 * parameter > n) {  // a part is two nodes or more
      throw std::invalid_argument(fmt::format("'{}': {} parts of {} nodes", text, parameter, n));
    }
    require_host_memory(fmt::format("the rows of {}", text).c_str(), p.memory.bytes(n, parameter));
    return p.make(static_cast<std::int64_t>(n), parameter);
  }
  throw_unknown(text);
}

}  // namespace krysol::gallery
