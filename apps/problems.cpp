// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

namespace krysol::apps {
namespace {

struct Entry {
  Index col;
  double value;
};
using Row = std::vector<Entry>;

/// Numbers in [0, 1) from a position, so that rows can be made in any order. Steele, Lea & Flood,
/// OOPSLA 2014, DOI 10.1145/2660193.2660195 (SplitMix64).
double uniform(std::uint64_t stream, std::uint64_t position) {
  std::uint64_t z = stream * 0xD1B54A32D192ED03U + (position + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

/// Rows from a function that appends the entries of one, by ascending columns. Called twice a row.
template <class MakeRow>
HostCsr<double> assemble(std::int64_t rows, const MakeRow& make_row) {
  HostCsr<double> a;
  a.rows = a.cols = static_cast<Index>(rows);
  a.row_ptr = fresh<decltype(a.row_ptr)>("csr.row_ptr", rows + 1);
  Offset* row_ptr = a.row_ptr.data();
  row_ptr[0] = 0;
  host_for("krysol::problem(lengths)", rows, [&](std::int64_t i) {
    thread_local Row row;
    row.clear();
    make_row(i, row);
    row_ptr[i + 1] = static_cast<Offset>(row.size());
  });
  for (std::int64_t i = 0; i < rows; ++i) row_ptr[i + 1] += row_ptr[i];
  a.col_idx = fresh<decltype(a.col_idx)>("csr.col_idx", row_ptr[rows]);
  a.values = fresh<decltype(a.values)>("csr.values", row_ptr[rows]);
  host_for("krysol::problem(entries)", rows, [&](std::int64_t i) {
    thread_local Row row;
    row.clear();
    make_row(i, row);
    auto to = static_cast<std::size_t>(row_ptr[i]);
    for (const Entry& e : row) {
      a.col_idx(to) = e.col;
      a.values(to++) = e.value;
    }
  });
  set_schedule(a, CsrSchedule::automatic);
  return a;
}

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

/// (27-point Laplacian of a Dirichlet problem) x (a positive definite 3 x 3 matrix).
HostCsr<double> blocks27(std::int64_t n, double) {
  return assemble(3 * n * n * n, [n](std::int64_t i, Row& row) {
    static constexpr double block[3][3] = {{2, 0.5, 0.25}, {0.5, 2, 0.5}, {0.25, 0.5, 2}};
    const std::int64_t node = i / 3;
    const auto c = static_cast<std::size_t>(i % 3);
    const std::int64_t x = node % n;
    const std::int64_t y = node / n % n;
    const std::int64_t z = node / n / n;
    for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(n - 1, z + 1); ++k) {
      for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(n - 1, y + 1); ++j) {
        for (std::int64_t l = std::max<std::int64_t>(0, x - 1); l <= std::min(n - 1, x + 1); ++l) {
          const std::int64_t other = (k * n + j) * n + l;
          for (std::size_t d = 0; d < 3; ++d) {
            row.push_back({static_cast<Index>(3 * other + static_cast<std::int64_t>(d)),
                           (other == node ? 26 : -1) * block[c][d]});
          }
        }
      }
    }
  });
}

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

struct Problem {
  ProblemInfo info;
  std::int64_t largest;  // size that 2^31 - 1 rows and 64 GB allow
  HostCsr<double> (*make)(std::int64_t n, double density);
};

constexpr Problem problems[] = {
    {{"poisson", "poisson:N, 7-point Laplacian on N^3 points"}, 1000, &poisson3d},
    {{"poisson2d", "poisson2d:N, 5-point Laplacian on N^2 points"}, 30000, &poisson2d},
    {{"jumps", "jumps:N, 7 points on N^3 cells with coefficients of 1e-3 to 1e3"}, 1000, &jumps3d},
    {{"anisotropy", "anisotropy:N, 5 points on N^2, 1000 times stronger along x"},
     30000,
     &anisotropy2d},
    {{"fem", "fem:N, 27 points on N^3 nodes, three unknowns a node"}, 300, &blocks27},
    {{"graph", "graph:N, N rows of power-law lengths"}, 300000000, &power_law},
    {{"random", "random:N[:DENSITY], N x N, a share of its places filled (0.01)"},
     1000000000,
     &random_square},
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

bool is_problem(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return name.size() < text.size() &&
         std::any_of(std::begin(problems), std::end(problems),
                     [&](const Problem& p) { return p.info.name == name; });
}

HostCsr<double> make_problem(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Problem& p : problems) {
    if (p.info.name != name || name.size() == text.size()) continue;
    std::string_view size = text.substr(name.size() + 1);
    double density = 0.01;
    if (const auto colon = size.find(':'); name == "random" && colon != std::string_view::npos) {
      if (!read_all(size.substr(colon + 1), density) || !(density > 0) || density > 1) {
        throw std::invalid_argument(fmt::format("'{}': a density above 0 and up to 1", text));
      }
      size = size.substr(0, colon);
    }
    double n = 0;  // 1e5 is a number of rows too
    if (!read_all(size, n) || n != std::floor(n) || n < 1 || n > static_cast<double>(p.largest)) {
      throw std::invalid_argument(
          fmt::format("'{}': a size from 1 to {} is needed", text, p.largest));
    }
    return p.make(static_cast<std::int64_t>(n), density);
  }
  throw_unknown(text);
}

}  // namespace krysol::apps
