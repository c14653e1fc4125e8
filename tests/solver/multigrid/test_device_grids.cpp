// Grids coarsened in a device's memory against those of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/device_coarsening/grids.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/grid_levels.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "solver/multigrid/device_entries.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Offset;
namespace on = krysol::device_coarsening;
namespace mg = krysol::multigrid;

template <class Exec>
class DeviceGrids : public testing::Test {};
using DeviceGridSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(DeviceGrids, DeviceGridSpaces, SpaceName);

/// A matrix of the gallery on a grid, with the rows of a node.
struct GridCase {
  const char* problem;
  Index block;
};
constexpr GridCase grid_cases[] = {{"poisson:13", 1},   {"poisson27:4", 1},   {"poisson27:8", 1},
                                   {"jumps:14", 1},     {"anisotropy:41", 1}, {"rotated:40", 1},
                                   {"neumann2d:30", 1}, {"beam2d:11", 2},     {"elasticity:8", 3},
                                   {"fem:7", 3}};

struct GridOfCase {
  HostCsr<double> a;
  HostCsr<double> scaled;
  mg::HostArray<double> scale;
  mg::BoxGrid grid;
  mg::GridPattern pattern;
};

GridOfCase grid_of_case(const GridCase& c) {
  GridOfCase out;
  out.a = krysol::gallery::make_problem(c.problem);
  const Offset* const row_ptr = out.a.row_ptr.data();
  const Index* const col_idx = out.a.col_idx.data();
  out.grid = mg::box_grid(row_ptr, col_idx, out.a.rows, c.block).value();
  out.pattern = mg::grid_pattern(row_ptr, col_idx, out.a.rows, c.block, out.grid).value();
  out.scale = mg::scale_of(out.a, 1, 0);
  out.scaled = mg::scaled_entries<double>(out.a, out.scale);
  return out;
}

TYPED_TEST(DeviceGrids, PatternsAreThoseThatTheHostTakes) {
  const TypeParam exec;
  for (const GridCase& c : grid_cases) {
    const GridOfCase g = grid_of_case(c);
    const auto a = in_space<TypeParam>(g.a);
    EXPECT_TRUE(on::has_pattern_of_grid(exec, a, c.block, g.grid)) << c.problem;
    for (const std::array<Index, 3>& nodes :
         {std::array<Index, 3>{g.grid.size(), 1, 1}, {1, 1, g.grid.size()}}) {
      mg::BoxGrid other = g.grid;
      other.nodes = nodes;
      EXPECT_FALSE(on::has_pattern_of_grid(exec, a, c.block, other)) << c.problem;
      EXPECT_FALSE(
          mg::grid_pattern(g.a.row_ptr.data(), g.a.col_idx.data(), g.a.rows, c.block, other))
          << c.problem;
    }
  }
  // Two steps away along x, the next line from the end of one, and columns that do not ascend.
  mg::BoxGrid grid;
  grid.nodes = {20, 30, 1};
  const auto expect_both = [&](const HostCsr<double>& a, bool wanted, const std::string& what) {
    EXPECT_EQ(on::has_pattern_of_grid(exec, in_space<TypeParam>(a), 1, grid), wanted) << what;
    EXPECT_EQ(mg::grid_pattern(a.row_ptr.data(), a.col_idx.data(), a.rows, 1, grid).has_value(),
              wanted)
        << what;
  };
  for (const auto& [from, to] : {std::pair<Index, Index>{205, 207}, {219, 220}, {100, 141}}) {
    auto t = krysol_tests::poisson2d(20, 30);
    t.add(from, to, 0.5);
    expect_both(to_csr(t).matrix, false, std::to_string(from) + " to " + std::to_string(to));
  }
  const auto a = to_csr(krysol_tests::poisson2d(20, 30)).matrix;
  expect_both(a, true, "a grid");
  const Offset first = a.row_ptr.data()[300];
  std::swap(a.col_idx.data()[first], a.col_idx.data()[first + 1]);
  expect_both(a, false, "descending");
}

TYPED_TEST(DeviceGrids, StrengthsAreThoseOfTheHost) {
  for (const GridCase& c : grid_cases) {
    const GridOfCase g = grid_of_case(c);
    const auto wanted = mg::direction_strengths(g.a, c.block, g.pattern);
    const auto made =
        on::direction_strengths(TypeParam(), in_space<TypeParam>(g.scaled),
                                krysol::in_memory_of<TypeParam>(g.scale), c.block, g.grid);
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_NEAR(made.mean[n], wanted.mean[n], 1e-12) << c.problem << ", " << n;
      EXPECT_NEAR(made.uneven[n], wanted.uneven[n], 1e-12) << c.problem << ", " << n;
    }
  }
}

/// The entries of P for each unknown of a node, from those of nodes.
Entries entries_of_unknowns(const Entries& nodes, Index block) {
  Entries all;
  for (const auto& row : nodes) {
    for (Index u = 0; u < block; ++u) {
      auto& mine = all.emplace_back();
      for (const auto& [j, w] : row) mine[j * block + u] = w;
    }
  }
  return all;
}

TYPED_TEST(DeviceGrids, InterpolationIsThatOfTheHost) {
  for (const GridCase& c : grid_cases) {
    const GridOfCase g = grid_of_case(c);
    for (const std::array<bool, 3>& halved :
         {std::array<bool, 3>{true, true, true}, {true, false, false}, {false, true, true}}) {
      mg::GridPlaces places = mg::uniform_places(g.grid);
      const mg::GridCoarsening coarsening = mg::coarsen(g.grid, halved, places);
      const auto repeated = mg::repeated_rows(g.a, c.block, g.grid, coarsening.period());
      const mg::Interpolation wanted =
          c.block == 1 ? mg::operator_interpolation(g.a, g.pattern, coarsening, repeated)
                       : mg::multilinear_interpolation(coarsening);
      const auto p =
          on::grid_interpolation(TypeParam(), in_space<TypeParam>(g.scaled),
                                 krysol::in_memory_of<TypeParam>(g.scale), c.block, coarsening);
      EXPECT_EQ(p.nnz(), wanted.p.nnz() * c.block) << c.problem;
      EXPECT_LT(
          difference_of(entries_of(p), entries_of_unknowns(entries_of_host(wanted.p), c.block)),
          1e-12)
          << c.problem;
    }
  }
}

/// Where what a node is between cancels, but for rounding, the places decide.
TYPED_TEST(DeviceGrids, WeightsAreNotTakenFromRounding) {
  mg::BoxGrid grid;
  grid.nodes = {7, 5, 1};
  constexpr Index odd = 3 + 7 * 2;
  auto t = no_entries<double>(grid.size(), grid.size());
  for (Index i = 0; i < grid.size(); ++i) {
    const auto own = mg::place_in(grid, i);
    for (Index j = 0; j < grid.size(); ++j) {
      const auto other = mg::place_in(grid, j);
      const Index dx = other[0] - own[0];
      const Index dy = other[1] - own[1];
      if (std::abs(dx) > 1 || std::abs(dy) > 1) continue;
      const double along_x = dy == 0 ? -0.3 : dy < 0 ? 0.1 : 0.2;  // 0.1 + 0.2 - 0.3 = 3e-17
      t.add(i, j, i == j ? 8 : i == odd && dx != 0 ? -along_x : dx < 0 ? -2 : -1);
    }
  }
  const auto a = to_csr(t).matrix;
  const auto pattern =
      mg::grid_pattern(a.row_ptr.data(), a.col_idx.data(), a.rows, 1, grid).value();
  mg::GridPlaces places = mg::uniform_places(grid);
  const auto c = mg::coarsen(grid, {true, false, false}, places);
  const auto repeated = mg::repeated_rows(a, 1, grid, c.period());
  const auto scale = mg::scale_of(a, 1, 0);
  const Entries of_host = entries_of_host(mg::operator_interpolation(a, pattern, c, repeated).p);
  const Entries of_device = entries_of(
      on::grid_interpolation(TypeParam(), in_space<TypeParam>(mg::scaled_entries<double>(a, scale)),
                             krysol::in_memory_of<TypeParam>(scale), 1, c));
  for (const Entries& p : {of_host, of_device}) {
    const auto& row = p[static_cast<std::size_t>(odd)];
    ASSERT_EQ(row.size(), 2U);
    for (const auto& [j, w] : row) EXPECT_EQ(w, 0.5) << j;
    const auto& other = p[static_cast<std::size_t>(odd) - 2];
    ASSERT_EQ(other.size(), 2U);
    EXPECT_NEAR(other.begin()->second, 2.0 / 3, 1e-14) << "by the entries";
  }
}

/// Levels of the device with those that the host makes after them.
template <class Exec>
std::pair<mg::DeviceLevels<double, Exec>, mg::HostHierarchy<double>> grids_of(
    const HostCsr<double>& a, Index rows, const mg::HierarchyOptions& options = {}) {
  mg::DeviceLevels<double, Exec> first;
  mg::FirstLevels<double> make_first;
  make_first.grids = [&](const HostCsr<double>& matrix, const mg::HostHierarchy<double>& h,
                         mg::SetupSeconds& seconds) {
    return mg::make_device_grids(Exec{}, matrix, options, h, seconds, first, rows);
  };
  auto rest = mg::make_hierarchy(a, options, make_first);
  return {std::move(first), std::move(rest)};
}

/// Levels of a device, and those of the host after them, are those that the host makes alone.
template <class Exec>
void compare_levels(const std::string& name, const HostCsr<double>& a,
                    const mg::HierarchyOptions& options) {
  const auto wanted = mg::make_hierarchy(a, options);
  ASSERT_TRUE(wanted.grid) << name;
  const auto [first, rest] = grids_of<Exec>(a, 60, options);
  ASSERT_GE(first.size(), 1U) << name;
  EXPECT_TRUE(rest.grid) << name;
  EXPECT_EQ(rest.block, wanted.block) << name;
  EXPECT_EQ(rest.degree, wanted.degree) << name;
  EXPECT_EQ(rest.near_null, wanted.near_null) << name;
  EXPECT_EQ(rest.coarsening, "grids") << name;
  EXPECT_EQ(rest.null_space, wanted.null_space) << name;
  expect_levels_of_host(name, wanted, first, rest);
}

/// The 5-point Laplacian whose nodes in a square of 7 x 7 are connected to no other.
HostCsr<double> with_fixed_nodes() {
  auto t = krysol_tests::poisson2d(40, 40);
  const auto fixed = [](Index node) {
    const Index x = node % 40;
    const Index y = node / 40;
    return x >= 11 && x < 18 && y >= 20 && y < 27;
  };
  auto out = no_entries<double>(t.rows, t.cols);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const Index i = t.row_idx[k];
    const Index j = t.col_idx[k];
    if (i == j || (!fixed(i) && !fixed(j))) out.add(i, j, i == j && fixed(i) ? 1 : t.values[k]);
  }
  return to_csr(out).matrix;
}

/// Coefficients that are just ten times as large along y in one half: the bound of what is uneven.
HostCsr<double> with_ten_times() {
  constexpr Index n = 30;
  auto t = no_entries<double>(n * n, n * n);
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      const Index i = x + n * y;
      const double along_y = x < n / 2 ? 10 : 1;
      t.add(i, i, 2 + 2 * along_y);
      if (x > 0) t.add(i, i - 1, -1);
      if (x + 1 < n) t.add(i, i + 1, -1);
      if (y > 0) t.add(i, i - n, -along_y);
      if (y + 1 < n) t.add(i, i + n, -along_y);
    }
  }
  return to_csr(t).matrix;
}

TYPED_TEST(DeviceGrids, LevelsAreThoseOfTheHost) {
  mg::HierarchyOptions options;
  options.coarsest = 20;
  for (const GridCase& c : grid_cases) {
    compare_levels<TypeParam>(c.problem, krysol::gallery::make_problem(c.problem), options);
  }
  compare_levels<TypeParam>("fixed nodes", with_fixed_nodes(), options);
  compare_levels<TypeParam>("ten times", with_ten_times(), options);
  const auto rotated = krysol::gallery::make_problem("rotated:40");
  options.strength = 0.9;
  compare_levels<TypeParam>("strength", rotated, options);
  options.strength = 0.25;
  options.block = 2;
  compare_levels<TypeParam>("block", krysol::gallery::make_problem("beam2d:11"), options);
}

TYPED_TEST(DeviceGrids, TakeTheIterationsOfTheHosts) {
  for (const char* name : {"poisson:16", "jumps:14", "anisotropy:50", "rotated:40", "beam2d:11"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto on_host = mg::make_hierarchy(a, {});
    const int of_host =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(on_host, {}, false));
    const auto [first, rest] = grids_of<TypeParam>(a, 250);
    ASSERT_GE(first.size(), 1U) << name;
    const int mine =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(rest, {}, false, nullptr, first));
    EXPECT_LE(std::abs(mine - of_host), 1) << name << ": " << mine << " and " << of_host;
  }
}

/// The same bits each time: nothing is added up in an order that differs.
TYPED_TEST(DeviceGrids, AreTheSameInEachRun) {
  const auto a = krysol::gallery::make_problem("jumps:14");
  const auto [first, rest] = grids_of<TypeParam>(a, 250);
  const auto [again, rest_again] = grids_of<TypeParam>(a, 250);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t l = 0; l < first.size(); ++l) {
    EXPECT_EQ((list_of<double, TypeParam>(first[l].a.values)),
              (list_of<double, TypeParam>(again[l].a.values)));
    EXPECT_EQ((list_of<double, TypeParam>(first[l].p.values)),
              (list_of<double, TypeParam>(again[l].p.values)));
  }
}

TYPED_TEST(DeviceGrids, AreNotMadeOfOthersOrForGivenVectors) {
  const auto mesh = krysol::gallery::make_problem("mesh:2000");
  const auto grid = krysol::gallery::make_problem("poisson:12");
  const auto none = [](const HostCsr<double>& a, Index rows,
                       const mg::HierarchyOptions& options = {}) {
    const auto [first, rest] = grids_of<TypeParam>(a, rows, options);
    EXPECT_TRUE(rest.on_device.empty());
    EXPECT_EQ(rest.levels.front().a.rows, a.rows);
    return first.empty();
  };
  EXPECT_TRUE(none(mesh, 250));
  EXPECT_TRUE(none(grid, 2000));
  mg::HierarchyOptions given;
  krysol::NearNullVectors ones;
  ones.count = 1;
  ones.values.assign(static_cast<std::size_t>(grid.rows), 1);
  given.near_null = std::make_shared<const krysol::NearNullVectors>(ones);
  EXPECT_TRUE(none(grid, 250, given));
}

TYPED_TEST(DeviceGrids, LevelsThatAreNotDefiniteAreLeftToTheHost) {
  auto t = krysol_tests::poisson2d(40, 40);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] != t.col_idx[k]) t.values[k] *= 3;
  }
  const auto a = to_csr(t).matrix;
  mg::HostHierarchy<double> h;
  h.scale = mg::scale_of(a, 1, 0);
  mg::DeviceLevels<double, TypeParam> levels;
  const std::string said = message_of([&] {
    mg::make_device_grids(TypeParam(), a, mg::HierarchyOptions{}, h, h.seconds, levels, 250);
  });
  EXPECT_TRUE(holds(said, "of level 2 has a diagonal that is not positive and finite")) << said;
  EXPECT_TRUE(levels.empty());
}

/// Where the host cannot go on from what a device has made, it begins again.
TEST(DeviceGridsOnHost, GridsThatLeadToNoneAreForgotten) {
  const auto a = krysol::gallery::make_problem("poisson:12");
  mg::FirstLevels<double> first;
  int asked = 0;
  first.grids = [](const HostCsr<double>& matrix, const mg::HostHierarchy<double>& h,
                   mg::SetupSeconds& seconds) {
    mg::GridStart wrong;  // no entry is of a neighbour in it
    wrong.block = 2;
    wrong.grid.nodes = {1, 1, matrix.rows / 2};
    wrong.places = mg::uniform_places(wrong.grid);
    wrong.before.push_back({matrix.rows, matrix.nnz()});
    wrong.level.a = matrix;
    wrong.level.scale = h.scale;
    seconds.product += 1000;
    return std::optional(wrong);
  };
  first.aggregates = [&](const HostCsr<double>& matrix, mg::HostHierarchy<double>& h,
                         mg::NearNullSpace<double>& b) {
    ++asked;
    EXPECT_EQ(matrix.rows, a.rows);
    EXPECT_EQ(h.block, 1);
    EXPECT_EQ(b.count, 1);
    EXPECT_TRUE(h.on_device.empty());
  };
  const auto made = mg::make_hierarchy(a, {}, first);
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(made.grid);
  EXPECT_TRUE(made.on_device.empty());
  EXPECT_EQ(made.coarsening, "smoothed aggregation");
  EXPECT_GE(made.seconds.product, 1000) << "what was spent was spent";
}

}  // namespace
