// Grids found in patterns, and the rotations of elastic bodies on them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/grid_modes.hpp>
#include "problems.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Offset;
using krysol::to_csr;
using krysol::gallery::make_problem;
using krysol::multigrid::near_null_space;
using krysol::multigrid::NearNullSpace;

std::optional<std::array<Index, 3>> grid_of(const HostCsr<double>& a, Index block = 1) {
  const auto g = krysol::multigrid::box_grid(a.row_ptr.data(), a.col_idx.data(), a.rows, block);
  if (!g) return std::nullopt;
  EXPECT_EQ(g->dimensions, g->nodes[2] > 1 ? 3 : 2);
  return g->nodes;
}

using Nodes = std::array<Index, 3>;

TEST(BoxGrid, IsFoundInThePattern) {
  EXPECT_EQ(grid_of(to_csr(poisson2d(7, 5)).matrix), (Nodes{7, 5, 1}));
  EXPECT_EQ(grid_of(to_csr(poisson2d(4, 90)).matrix), (Nodes{4, 90, 1}));
  EXPECT_EQ(grid_of(to_csr(poisson3d(6)).matrix), (Nodes{6, 6, 6}));
  EXPECT_EQ(grid_of(make_problem("poisson27:5")), (Nodes{5, 5, 5}));
  // Lines and planes that divide the distance between the nodes that are looked at.
  EXPECT_EQ(grid_of(make_problem("poisson27:32")), (Nodes{32, 32, 32}));
  EXPECT_EQ(grid_of(to_csr(poisson2d(64, 64)).matrix), (Nodes{64, 64, 1}));
  EXPECT_EQ(grid_of(make_problem("rotated:9")), (Nodes{10, 9, 1}));
  EXPECT_EQ(grid_of(make_problem("fem:5"), 3), (Nodes{5, 5, 5}));
  EXPECT_EQ(grid_of(make_problem("beam:4"), 3)->at(0) * grid_of(make_problem("beam:4"), 3)->at(1),
            25);
}

TEST(BoxGrid, IsNotFoundWhereThereIsNone) {
  EXPECT_EQ(grid_of(to_csr(poisson1d(40)).matrix), std::nullopt);
  EXPECT_EQ(grid_of(to_csr(no_entries<double>(0, 0)).matrix), std::nullopt);
  EXPECT_EQ(grid_of(make_problem("mesh:500")), std::nullopt);
  EXPECT_EQ(grid_of(make_problem("laplacian:300")), std::nullopt);
  EXPECT_EQ(grid_of(to_csr(random_spd(std::vector<double>(30, 2), 3)).matrix), std::nullopt);
  auto cylinder = poisson2d(7, 5);  // the ends of a line are neighbours
  for (Index j = 0; j < 5; ++j) {
    cylinder.add(7 * j, 7 * j + 6, -1);
    cylinder.add(7 * j + 6, 7 * j, -1);
  }
  EXPECT_EQ(grid_of(to_csr(cylinder).matrix), std::nullopt);
  auto spiral = poisson2d(7, 5);  // one connection from the end of a line to the next
  spiral.add(6, 7, -1);
  spiral.add(7, 6, -1);
  EXPECT_EQ(grid_of(to_csr(spiral).matrix), std::nullopt);
}

/// One more entry below the diagonal, which adds no distance: only its steps tell what it is.
TEST(BoxGrid, ConnectsNodesThatAreOneStepApartAtMost) {
  constexpr Index node = 17;  // 3 along x, 2 along y
  for (Index other = 0; other < node; ++other) {
    if (other == node - 1 || other == node - 7) continue;  // is there already
    SCOPED_TRACE(other);
    const bool near = std::abs(other % 7 - 3) <= 1 && std::abs(other / 7 - 2) <= 1;
    auto t = poisson2d(7, 5);
    t.add(node, other, -1);
    const auto found = grid_of(to_csr(t).matrix);
    EXPECT_EQ(found.has_value(), near);
    if (found) {
      EXPECT_EQ(*found, (Nodes{7, 5, 1}));
    }
  }
}

/// The largest |A b| in rows that A turns each constant into 0 in, over the largest |a| |b|.
double forces_inside(const HostCsr<double>& a, const NearNullSpace<double>& b, Index block) {
  double worst = 0;
  int inside = 0;
  for (Index i = 0; i < a.rows; ++i) {
    std::vector<double> sum(static_cast<std::size_t>(b.count), 0.0);
    double size = 0;
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const double v = a.values(static_cast<std::size_t>(k));
      const auto j = static_cast<std::size_t>(a.col_idx(static_cast<std::size_t>(k)));
      for (std::size_t c = 0; c < sum.size(); ++c) {
        const double of_mode = b.values(j * sum.size() + c);
        sum[c] += v * of_mode;
        size = std::max(size, std::abs(v * of_mode));
      }
    }
    bool held = false;
    for (Index c = 0; c < block; ++c)
      held = held || std::abs(sum[static_cast<std::size_t>(c)]) > 1e-9 * size;
    if (held) continue;
    ++inside;
    for (const double s : sum) worst = std::max(worst, std::abs(s) / size);
  }
  EXPECT_GT(inside, a.rows / 2);
  return worst;
}

/// Rows a node of `block`, its unknowns in the opposite order.
HostCsr<double> unknowns_turned(const HostCsr<double>& a, Index block) {
  const auto to = [=](Index i) { return i / block * block + block - 1 - i % block; };
  auto t = no_entries<double>(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      t.add(to(i), to(a.col_idx(static_cast<std::size_t>(k))),
            a.values(static_cast<std::size_t>(k)));
    }
  }
  return to_csr(t).matrix;
}

TEST(NearNullSpace, HoldsTheRotationsOfABody) {
  struct Body {
    const char* name;
    Index block;
  };
  for (const Body& body : {Body{"beam2d:6", 2}, Body{"beam:4", 3}, Body{"elasticity:5", 3}}) {
    const auto a = make_problem(body.name);
    for (const auto& each : {a, unknowns_turned(a, body.block)}) {
      const auto b = near_null_space(each, body.block);
      ASSERT_EQ(b.count, body.block == 2 ? 3 : 6) << body.name;
      EXPECT_LE(forces_inside(each, b, body.block), 1e-11) << body.name;
      double squares = 0;  // as large as the constants
      for (Index i = 0; i < a.rows; ++i) {
        const double v = b.values(static_cast<std::size_t>(i * b.count + b.count - 1));
        squares += v * v;
      }
      EXPECT_NEAR(squares, a.rows / body.block, 1e-6 * a.rows);
    }
  }
}

/// Squares twice as long as high: rotations are (2 y, -x) in places of the grid.
TEST(NearNullSpace, FindsTheShapeOfTheGridsCells) {
  const auto a = make_problem("beam2d:6");
  // u_x in half the units and x in twice: for A' = D A D the rotation is D^-1 r, no longer (y, -x).
  auto t = no_entries<double>(a.rows, a.rows);
  const auto unit = [](Index i) { return i % 2 == 0 ? 0.5 : 1.0; };
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const Index j = a.col_idx(static_cast<std::size_t>(k));
      t.add(i, j, unit(i) * unit(j) * a.values(static_cast<std::size_t>(k)));
    }
  }
  const auto scaled = to_csr(t).matrix;
  const auto b = near_null_space(scaled, 2);
  ASSERT_EQ(b.count, 3);
  EXPECT_LE(forces_inside(scaled, b, 2), 1e-11);
}

/// Of a body that is held in one direction everywhere, rows of the other one show the rotation:
/// each row is judged by its own entries.
TEST(NearNullSpace, FindsRotationsByTheRowsThatAreNotHeld) {
  const auto a = make_problem("beam2d:6");
  const auto free = near_null_space(a, 2);
  ASSERT_EQ(free.count, 3);
  for (const Index held : {0, 1}) {
    SCOPED_TRACE(held);
    auto t = no_entries<double>(a.rows, a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        const Index j = a.col_idx(static_cast<std::size_t>(k));
        const double spring = i == j && i % 2 == held ? 1 : 0;
        t.add(i, j, a.values(static_cast<std::size_t>(k)) + spring);
      }
    }
    const auto b = near_null_space(to_csr(t).matrix, 2);
    ASSERT_EQ(b.count, 3);
    for (Index k = 0; k < a.rows * 3; ++k) {
      const auto at = static_cast<std::size_t>(k);
      ASSERT_NEAR(b.values(at), free.values(at), 1e-7) << k;
    }
  }
}

TEST(NearNullSpace, IsOfConstantsWhereNothingRotates) {
  const auto count = [](const HostCsr<double>& a, Index block) {
    return near_null_space(a, block).count;
  };
  EXPECT_EQ(count(to_csr(poisson2d(8, 8)).matrix, 1), 1);
  EXPECT_EQ(count(to_csr(poisson2d(8, 8)).matrix, 2), 2);  // two unknowns that are neighbours
  EXPECT_EQ(count(make_problem("fem:6"), 3), 3);
  EXPECT_EQ(count(make_problem("beam2d:6"), 4), 4);
  EXPECT_EQ(count(to_csr(poisson2d(9, 9)).matrix, 2), 2);  // does not divide the rows
  auto twice = no_entries<double>(128, 128);  // two Laplacians that know nothing of each other
  const auto one = poisson2d(8, 8);
  for (std::size_t k = 0; k < one.values.size(); ++k) {
    for (Index u = 0; u < 2; ++u) {
      twice.add(2 * one.row_idx[k] + u, 2 * one.col_idx[k] + u, one.values[k]);
    }
  }
  EXPECT_EQ(count(to_csr(twice).matrix, 2), 2);
}

/// Rotations are those of a body with a displacement along each direction of its grid. In a plane
/// with a third unknown a node, and in layers of planes, two unknowns have a rotation that A turns
/// into 0, and are no such body.
TEST(NearNullSpace, IsOfConstantsWhereUnknownsAreNotAsManyAsDirections) {
  constexpr Index layers = 4;
  const auto body = make_problem("beam2d:6");
  for (const auto& a : {body, unknowns_turned(body, 2)}) {
    ASSERT_EQ(near_null_space(a, 2).count, 3);
    auto third = no_entries<double>(a.rows / 2 * 3, a.rows / 2 * 3);
    auto layered = no_entries<double>(layers * a.rows, layers * a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        const Index j = a.col_idx(static_cast<std::size_t>(k));
        const double v = a.values(static_cast<std::size_t>(k));
        third.add(i / 2 * 3 + i % 2, j / 2 * 3 + j % 2, v);
        if (i % 2 == 0 && j % 2 == 0) third.add(i / 2 * 3 + 2, j / 2 * 3 + 2, v);
        for (Index z = 0; z < layers; ++z) layered.add(z * a.rows + i, z * a.rows + j, v);
      }
      for (Index z = 0; z + 1 < layers; ++z) {  // what moves all layers alike is not seen
        const Index below = z * a.rows + i;
        const Index above = below + a.rows;
        layered.add(below, below, 1);
        layered.add(above, above, 1);
        layered.add(below, above, -1);
        layered.add(above, below, -1);
      }
    }
    const auto in_plane = to_csr(third).matrix;
    const auto in_layers = to_csr(layered).matrix;
    const auto plane = grid_of(in_plane, 3);
    const auto cube = grid_of(in_layers, 2);
    ASSERT_TRUE(plane.has_value() && cube.has_value());
    EXPECT_EQ(plane->at(2), 1);
    EXPECT_EQ(cube->at(2), layers);
    EXPECT_EQ(near_null_space(in_plane, 3).count, 3);
    EXPECT_EQ(near_null_space(in_layers, 2).count, 2);
  }
}

/// With couplings of 0 left out, blocks are too empty to be seen, and the body is not.
TEST(NearNullSpace, LetsBodiesConvergeLikeLaplacians) {
  using Exec = Kokkos::DefaultExecutionSpace;
  for (const char* name : {"beam2d:10", "beam2d:20", "beam:5", "beam:8"}) {
    for (const bool all_stored : {true, false}) {
      const auto a = make_problem(name);
      auto t = no_entries<double>(a.rows, a.rows);
      for (Index i = 0; i < a.rows; ++i) {
        for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
          const double v = a.values(static_cast<std::size_t>(k));
          if (all_stored || std::abs(v) > 1e-9) {
            t.add(i, a.col_idx(static_cast<std::size_t>(k)), v);
          }
        }
      }
      NamedSolve<double, Exec> solver{t, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0),
                                      "amg"};
      const auto s = solver.run();
      EXPECT_EQ(s.result.status, krysol::Status::converged) << name;
      EXPECT_LE(s.result.iterations, 22) << name << all_stored;
    }
  }
}

}  // namespace
