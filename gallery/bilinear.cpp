// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/gallery/bilinear.hpp>

#include <cmath>
#include <numbers>

#include <krysol/gallery/assembly.hpp>

namespace krysol::gallery {
namespace {

using SquareGradients = std::array<std::array<double, 2>, 4>;

/// Of the four bilinear shape functions, at each of 2 x 2 Gauss points of the unit square.
std::array<SquareGradients, 4> gradients_at_gauss_points() {
  const std::array<double, 2> gauss = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  std::array<SquareGradients, 4> all{};
  for (std::size_t point = 0; point < 4; ++point) {
    const std::array<double, 2> at = {gauss[point & 1], gauss[point >> 1]};
    for (std::size_t p = 0; p < 4; ++p) {
      const std::array<bool, 2> upper = {(p & 1) != 0, (p & 2) != 0};
      for (std::size_t d = 0; d < 2; ++d) {
        const std::size_t e = 1 - d;
        all[point][p][d] = (upper[d] ? 1 : -1) * (upper[e] ? at[e] : 1 - at[e]);
      }
    }
  }
  return all;
}

/// The sum over the points of term(g, a, b) for each pair of unknowns; mirror images are the same.
template <class Term>
SquareStiffness integrated(std::size_t unknowns, const Term& term) {
  const std::size_t n = 4 * unknowns;
  SquareStiffness k{unknowns, std::vector<double>(n * n)};
  for (const SquareGradients& g : gradients_at_gauss_points()) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p; q < n; ++q) k.entries[p * n + q] += term(g, p, q) / 4;
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q < p; ++q) k.entries[p * n + q] = k.entries[q * n + p];
  }
  return k;
}

}  // namespace

SquareStiffness diffusion_stiffness(double ratio, double degrees) {
  const double angle = degrees / 180 * std::numbers::pi;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double xx = ratio * c * c + s * s;
  const double yy = ratio * s * s + c * c;
  const double xy = (ratio - 1) * c * s;
  return integrated(1, [=](const SquareGradients& g, std::size_t p, std::size_t q) {
    const auto& a = g[p];
    const auto& b = g[q];
    return xx * a[0] * b[0] + yy * a[1] * b[1] + xy * (a[0] * b[1] + a[1] * b[0]);
  });
}

SquareStiffness plane_strain_stiffness(double poissons_ratio) {
  const double lambda = poissons_ratio / ((1 + poissons_ratio) * (1 - 2 * poissons_ratio));
  const double mu = 1 / (2 * (1 + poissons_ratio));
  return integrated(2, [=](const SquareGradients& g, std::size_t p, std::size_t q) {
    const auto& a = g[p / 2];
    const auto& b = g[q / 2];
    const std::size_t i = p % 2;
    const std::size_t j = q % 2;
    double sum = lambda * a[i] * b[j] + mu * a[j] * b[i];
    if (i == j) sum += mu * (a[0] * b[0] + a[1] * b[1]);
    return sum;
  });
}

HostCsr<double> squares(const std::array<std::int64_t, 2>& cells, const SquareStiffness& element) {
  const auto c = static_cast<std::int64_t>(element.unknowns);
  const std::int64_t side = cells[0] + 1;
  return assemble(c * side * cells[1], [&element, cells, c, side](std::int64_t i, Row& row) {
    const std::int64_t node = i / c;
    const std::array<std::int64_t, 2> at = {node % side, node / side + 1};
    const std::size_t n = 4 * element.unknowns;
    // As in elasticity(): a(i, j) and a(j, i) are the same sum.
    std::array<double, 18> sums{};
    for (int e = 0; e < 4; ++e) {
      const std::array<int, 2> lowest = {(e & 1) - 1, (e >> 1) - 1};  // its corner, from this node
      bool inside = true;
      for (std::size_t d = 0; d < 2; ++d) {
        inside = inside && at[d] + lowest[d] >= 0 && at[d] + lowest[d] < cells[d];
      }
      if (!inside) continue;
      const auto mine = static_cast<std::size_t>(-lowest[0] - 2 * lowest[1]);
      const double* const stiffness =
          element.entries.data() + (mine * element.unknowns + static_cast<std::size_t>(i % c)) * n;
      for (std::size_t p = 0; p < 4; ++p) {
        const int x = lowest[0] + static_cast<int>(p & 1) + 1;
        const int y = lowest[1] + static_cast<int>(p >> 1) + 1;
        const auto place = static_cast<std::size_t>(3 * y + x) * element.unknowns;
        for (std::size_t d = 0; d < element.unknowns; ++d) {
          sums[place + d] += stiffness[p * element.unknowns + d];
        }
      }
    }
    for (std::int64_t other = 0; other < 9; ++other) {
      const std::int64_t x = at[0] + other % 3 - 1;
      const std::int64_t y = at[1] + other / 3 - 1;
      if (x < 0 || x > cells[0] || y < 1 || y > cells[1]) continue;
      const std::int64_t first = c * ((y - 1) * side + x);
      for (std::int64_t d = 0; d < c; ++d) {
        row.push_back(
            {static_cast<Index>(first + d), sums[static_cast<std::size_t>(other * c + d)]});
      }
    }
  });
}

}  // namespace krysol::gallery
