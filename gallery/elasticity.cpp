// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/gallery/elasticity.hpp>

#include <cmath>

#include <krysol/gallery/assembly.hpp>

namespace krysol::gallery {
namespace {

using Gradients = std::array<std::array<double, 3>, 8>;

/// Of the eight trilinear shape functions, at a point of the unit cube.
Gradients shape_gradients(const std::array<double, 3>& at) {
  Gradients g{};
  for (std::size_t c = 0; c < 8; ++c) {
    const std::array<bool, 3> upper = {(c & 1) != 0, (c & 2) != 0, (c & 4) != 0};
    for (std::size_t d = 0; d < 3; ++d) {
      g[c][d] = upper[d] ? 1 : -1;
      for (std::size_t e = 0; e < 3; ++e) {
        if (e != d) g[c][d] *= upper[e] ? at[e] : 1 - at[e];
      }
    }
  }
  return g;
}

}  // namespace

ElementStiffness hexahedron_stiffness(double youngs_modulus, double poissons_ratio) {
  const double lambda =
      youngs_modulus * poissons_ratio / ((1 + poissons_ratio) * (1 - 2 * poissons_ratio));
  const double mu = youngs_modulus / (2 * (1 + poissons_ratio));
  const std::array<double, 2> gauss = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  ElementStiffness k{};
  for (std::size_t point = 0; point < 8; ++point) {
    const Gradients g =
        shape_gradients({gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2]});
    // B^T D B of an isotropic material, written out:
    // lambda d_i N_a d_j N_b + mu d_j N_a d_i N_b + mu delta_ij grad N_a . grad N_b
    for (std::size_t p = 0; p < 24; ++p) {
      for (std::size_t q = p; q < 24; ++q) {
        const auto& a = g[p / 3];
        const auto& b = g[q / 3];
        const std::size_t i = p % 3;
        const std::size_t j = q % 3;
        double sum = lambda * a[i] * b[j] + mu * a[j] * b[i];
        if (i == j) sum += mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        k[p][q] += sum / 8;  // the weight of the point
      }
    }
  }
  for (std::size_t p = 0; p < 24; ++p) {
    for (std::size_t q = 0; q < p; ++q) k[p][q] = k[q][p];
  }
  return k;
}

HostCsr<double> elasticity(const std::array<std::int64_t, 3>& cells) {
  const ElementStiffness k = hexahedron_stiffness(1, 0.3);
  const std::int64_t side = cells[0] + 1;
  const std::int64_t plane = side * (cells[1] + 1);
  return assemble(3 * plane * cells[2], [&k, &cells, side, plane](std::int64_t i, Row& row) {
    const std::int64_t node = i / 3;
    const std::array<std::int64_t, 3> at = {node % side, node % plane / side, node / plane + 1};
    // Neighbours in the order of their numbers; the elements of a pair of nodes in the order of
    // theirs, so that a(i, j) and a(j, i) are the same sum.
    std::array<std::array<double, 3>, 27> sums{};
    for (int element = 0; element < 8; ++element) {
      int mine = 0;
      bool inside = true;
      std::array<int, 3> lowest{};  // corner of the element, from this node
      for (std::size_t d = 0; d < 3; ++d) {
        lowest[d] = (element >> d & 1) - 1;
        mine |= -lowest[d] << d;
        inside = inside && at[d] + lowest[d] >= 0 && at[d] + lowest[d] < cells[d];
      }
      if (!inside) continue;
      const auto& stiffness =
          k[3 * static_cast<std::size_t>(mine) + static_cast<std::size_t>(i % 3)];
      for (int corner = 0; corner < 8; ++corner) {
        const int x = lowest[0] + (corner & 1) + 1;
        const int y = lowest[1] + (corner >> 1 & 1) + 1;
        const int z = lowest[2] + (corner >> 2) + 1;
        const int place = 9 * z + 3 * y + x;
        auto& block = sums[static_cast<std::size_t>(place)];
        for (std::size_t d = 0; d < 3; ++d) {
          block[d] += stiffness[3 * static_cast<std::size_t>(corner) + d];
        }
      }
    }
    for (std::int64_t other = 0; other < 27; ++other) {
      const std::array<std::int64_t, 3> there = {at[0] + other % 3 - 1, at[1] + other / 3 % 3 - 1,
                                                 at[2] + other / 9 - 1};
      if (there[2] < 1) continue;  // clamped
      bool outside = false;
      for (std::size_t d = 0; d < 3; ++d) {
        outside = outside || there[d] < 0 || there[d] > cells[d];
      }
      if (outside) continue;
      const std::int64_t first = 3 * ((there[2] - 1) * plane + there[1] * side + there[0]);
      for (std::size_t d = 0; d < 3; ++d) {
        row.push_back({static_cast<Index>(first + static_cast<std::int64_t>(d)),
                       sums[static_cast<std::size_t>(other)][d]});
      }
    }
  });
}

}  // namespace krysol::gallery
