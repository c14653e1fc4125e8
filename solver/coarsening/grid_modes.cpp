// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/grid_modes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace krysol::multigrid {
namespace {

/// Products of A u for u_p = x_q alone, and for u_q = x_p alone, over the rows that A turns
/// constants into 0 in: others are held from outside, and move with no motion of the body.
struct PlaneForces {
  double first = 0;
  double second = 0;
  double between = 0;
};

using PlanesForces = std::array<PlaneForces, 3>;
struct Plane {
  int p;
  int q;
};
constexpr std::array<Plane, 3> planes = {{{0, 1}, {0, 2}, {1, 2}}};

/// By rows in pieces, so that no bit depends on the number of threads.
template <class S>
PlanesForces planes_forces(const HostCsr<S>& a, Index block, std::size_t count, const double* x) {
  constexpr double rounding = 1e-10;
  constexpr std::int64_t step = 4096;
  const EqualBlocks pieces{a.rows, step};
  std::vector<PlanesForces> parts(static_cast<std::size_t>(pieces.count()));
  host_for("krysol::grid_modes(forces)", pieces.count(), [&](std::int64_t piece) {
    PlanesForces sum{};
    for (std::int64_t i = pieces.first(piece); i < pieces.last(piece); ++i) {
      std::array<double, 3> constant{};  // (A u)_i for u = 1 in one unknown
      std::array<double, 3> first{};     // and for the two of each plane
      std::array<double, 3> second{};
      double size = 0;
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        const Index j = a.col_idx.data()[k];
        const double* const xj = x + std::int64_t{j / block} * 3;
        const auto unknown = static_cast<int>(j % block);
        const double v = real_part(a.values.data()[k]);
        size += std::abs(v);
        constant[static_cast<std::size_t>(unknown)] += v;
        for (std::size_t n = 0; n < count; ++n) {
          if (unknown == planes[n].p) first[n] += v * xj[planes[n].q];
          if (unknown == planes[n].q) second[n] += v * xj[planes[n].p];
        }
      }
      const bool held = std::any_of(constant.begin(), constant.end(),
                                    [=](double c) { return std::abs(c) > rounding * size; });
      if (held) continue;
      for (std::size_t n = 0; n < count; ++n) {
        sum[n].first += first[n] * first[n];
        sum[n].second += second[n] * second[n];
        sum[n].between += first[n] * second[n];
      }
    }
    parts[static_cast<std::size_t>(piece)] = sum;
  });
  PlanesForces all{};
  for (const PlanesForces& part : parts) {
    for (std::size_t n = 0; n < all.size(); ++n) {
      all[n].first += part[n].first;
      all[n].second += part[n].second;
      all[n].between += part[n].between;
    }
  }
  return all;
}

/// alpha and beta of u_p = alpha x_q, u_q = beta x_p.
struct Rotation {
  Plane plane;
  double alpha;
  double beta;
};

/// squares: u'u of u_p = x_q and of u_q = x_p.
std::optional<Rotation> rotation(const PlaneForces& e, const Plane& plane, double first_square,
                                 double second_square) {
  constexpr double hardly = 1e-6;
  const double first = e.first / first_square;
  const double second = e.second / second_square;
  const double between = e.between / std::sqrt(first_square * second_square);
  const double mean = (first + second) / 2;
  const double root = std::hypot((first - second) / 2, between);
  const double least = mean - root;
  if (!(mean > 0) || !(least < hardly * mean)) return std::nullopt;
  // The eigenvector of [first between; between second] for its least eigenvalue.
  const double angle = std::atan2(-2 * between, second - first) / 2;
  return Rotation{plane, std::cos(angle) / std::sqrt(first_square),
                  std::sin(angle) / std::sqrt(second_square)};
}

/// Places of the nodes in their grid, from its middle: along the direction that unknown u of a node
/// is a displacement in at 3 node + u.
struct Places {
  HostArray<double> x;
  std::array<double, 3> square{};  // of all along each

  /// backward: the first unknown is a displacement along the last direction of the numbering.
  Places(const BoxGrid& grid, Index nodes, bool backward)
      : x(host_array<double>("grid_modes.x", static_cast<std::size_t>(nodes) * 3)) {
    const auto dimensions = static_cast<std::size_t>(grid.dimensions);
    std::array<std::size_t, 3> direction{0, 1, 2};
    if (backward) std::reverse(direction.begin(), direction.begin() + grid.dimensions);
    for (std::size_t u = 0; u < dimensions; ++u) {
      const double n = grid.nodes[direction[u]];
      square[u] = nodes * (n * n - 1) / 12;
    }
    host_for("krysol::grid_modes(x)", nodes, [&, to = x.data()](std::int64_t i) {
      const auto place = place_in(grid, static_cast<Index>(i));
      for (std::size_t u = 0; u < 3; ++u) {
        const std::size_t d = direction[u];
        to[i * 3 + static_cast<std::int64_t>(u)] = place[d] - (grid.nodes[d] - 1) / 2.0;
      }
    });
  }
};

template <class S>
std::vector<Rotation> rotations(const HostCsr<S>& a, Index block, const Places& places) {
  const std::size_t count = block == 2 ? 1 : 3;
  const PlanesForces forces = planes_forces(a, block, count, places.x.data());
  std::vector<Rotation> found;
  for (std::size_t n = 0; n < count; ++n) {
    const auto r =
        rotation(forces[n], planes[n], places.square[static_cast<std::size_t>(planes[n].q)],
                 places.square[static_cast<std::size_t>(planes[n].p)]);
    if (r) found.push_back(*r);
  }
  return found;
}

}  // namespace

template <class S>
std::optional<NearNullSpace<S>> with_rotations(const HostCsr<S>& a, Index block) {
  if ((block != 2 && block != 3) || a.rows % block != 0) return std::nullopt;
  const auto grid = box_grid(a.row_ptr.data(), a.col_idx.data(), a.rows, block);
  if (!grid || grid->dimensions != block) return std::nullopt;
  const Index nodes = a.rows / block;
  Places places(*grid, nodes, false);
  std::vector<Rotation> found = rotations(a, block, places);
  if (found.empty()) {
    places = Places(*grid, nodes, true);
    found = rotations(a, block, places);
  }
  if (found.empty()) return std::nullopt;
  const auto with = static_cast<Index>(block + static_cast<Index>(found.size()));
  auto values =
      host_array<S>("near_null", static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(with));
  const double size = std::sqrt(static_cast<double>(nodes));  // numbers as large as the constants
  host_for("krysol::grid_modes(values)", a.rows,
           [&, to = values.data(), at = places.x.data()](std::int64_t i) {
             const auto unknown = static_cast<int>(i % block);
             const double* const xi = at + i / block * 3;
             for (Index c = 0; c < block; ++c) to[i * with + c] = S(c == unknown ? 1 : 0);
             for (std::size_t n = 0; n < found.size(); ++n) {
               const Rotation& r = found[n];
               const double v = unknown == r.plane.p   ? r.alpha * xi[r.plane.q]
                                : unknown == r.plane.q ? r.beta * xi[r.plane.p]
                                                       : 0;
               to[i * with + block + static_cast<std::int64_t>(n)] = from_double<S>(size * v);
             }
           });
  return NearNullSpace<S>{with, values};
}

template <class S>
NearNullSpace<S> near_null_space(const HostCsr<S>& a, Index block) {
  std::optional<NearNullSpace<S>> found = with_rotations(a, block);
  return found ? std::move(*found) : constants<S>(a.rows, block);
}

#define KRYSOL_INSTANTIATE(S)                                          \
  template NearNullSpace<S> near_null_space(const HostCsr<S>&, Index); \
  template std::optional<NearNullSpace<S>> with_rotations(const HostCsr<S>&, Index);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
