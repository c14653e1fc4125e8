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
#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/grid_levels.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/spmv/select/formats.hpp>
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
    mg::BoxGrid other = g.grid;
    std::swap(other.nodes[0], other.nodes[1]);
    ++other.nodes[0];
    EXPECT_FALSE(on::has_pattern_of_grid(exec, a, c.block, other)) << c.problem;
  }
  // Two steps away along x, the next line from the end of one, and columns that do not ascend.
  mg::BoxGrid grid;
  grid.nodes = {20, 30, 1};
  for (const auto& [from, to] : {std::pair<Index, Index>{205, 207}, {219, 220}, {100, 141}}) {
    auto t = krysol_tests::poisson2d(20, 30);
    t.add(from, to, 0.5);
    EXPECT_FALSE(on::has_pattern_of_grid(exec, in_space<TypeParam>(to_csr(t).matrix), 1, grid))
        << from << " to " << to;
  }
  auto a = to_csr(krysol_tests::poisson2d(20, 30)).matrix;
  EXPECT_TRUE(on::has_pattern_of_grid(exec, in_space<TypeParam>(a), 1, grid));
  const Offset first = a.row_ptr.data()[300];
  std::swap(a.col_idx.data()[first], a.col_idx.data()[first + 1]);
  EXPECT_FALSE(on::has_pattern_of_grid(exec, in_space<TypeParam>(a), 1, grid));
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

/// Levels of the device with those that the host makes after them.
template <class Exec>
std::pair<mg::DeviceLevels<double, Exec>, mg::HostHierarchy<double>> grids_of(
    const HostCsr<double>& a, Index rows, const mg::HierarchyOptions& options = {}) {
  mg::DeviceLevels<double, Exec> first;
  mg::FirstLevels<double> make_first;
  make_first.grids = [&](const HostCsr<double>& matrix, mg::HostHierarchy<double>& h,
                         mg::HostLevel<double>& next) {
    return mg::make_device_grids(Exec{}, matrix, options, h, next, first, rows);
  };
  auto rest = mg::make_hierarchy(a, options, make_first);
  return {std::move(first), std::move(rest)};
}

TYPED_TEST(DeviceGrids, LevelsAreThoseOfTheHost) {
  for (const GridCase& c : grid_cases) {
    const auto a = krysol::gallery::make_problem(c.problem);
    mg::HierarchyOptions options;
    options.coarsest = 20;
    const auto wanted = mg::make_hierarchy(a, options);
    ASSERT_TRUE(wanted.grid) << c.problem;
    const auto [first, rest] = grids_of<TypeParam>(a, 60, options);
    ASSERT_GE(first.size(), 1U) << c.problem;
    EXPECT_TRUE(rest.grid) << c.problem;
    EXPECT_EQ(rest.block, wanted.block) << c.problem;
    EXPECT_EQ(rest.degree, wanted.degree) << c.problem;
    EXPECT_EQ(rest.near_null, wanted.near_null) << c.problem;
    EXPECT_EQ(rest.coarsening, "grids") << c.problem;
    ASSERT_EQ(rest.on_device.size(), first.size()) << c.problem;
    ASSERT_EQ(first.size() + rest.levels.size(), wanted.levels.size()) << c.problem;
    for (std::size_t l = 0; l < wanted.levels.size(); ++l) {
      const auto& of_host = wanted.levels[l];
      const Entries level = entries_of_host(mg::scaled_entries<double>(of_host.a, of_host.scale));
      if (l < first.size()) {
        EXPECT_LT(difference_of(entries_of(first[l].a), level), 1e-11) << c.problem << ", " << l;
        EXPECT_EQ(rest.on_device[l].rows, of_host.a.rows) << c.problem;
        EXPECT_GE(first[l].largest, 1) << c.problem;
      } else {
        const auto& mine = rest.levels[l - first.size()];
        EXPECT_LT(
            difference_of(entries_of_host(mg::scaled_entries<double>(mine.a, mine.scale)), level),
            1e-11)
            << c.problem << ", " << l;
      }
    }
    EXPECT_EQ(rest.null_space, wanted.null_space) << c.problem;
  }
}

TYPED_TEST(DeviceGrids, TakeTheIterationsOfTheHosts) {
  const TypeParam exec;
  for (const char* name : {"poisson:16", "jumps:14", "anisotropy:50", "rotated:40", "beam2d:11"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto op = krysol::make_operator<double, TypeParam>("csr", a);
    const auto iterations = [&](const mg::Hierarchy<float, TypeParam>& m) {
      const auto b = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows), 1));
      const auto x = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows)));
      const auto result = krysol::cg(exec, *op, b, x, m, {.rtol = 1e-8});
      EXPECT_EQ(result.status, krysol::Status::converged) << name << ": " << result.advice;
      return static_cast<int>(result.iterations);
    };
    const auto on_host = mg::make_hierarchy(a, {});
    const int of_host = iterations(mg::Hierarchy<float, TypeParam>(on_host, {}, false));
    const auto [first, rest] = grids_of<TypeParam>(a, 250);
    ASSERT_GE(first.size(), 1U) << name;
    const int mine = iterations(mg::Hierarchy<float, TypeParam>(rest, {}, false, nullptr, first));
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
  mg::HostLevel<double> next;
  mg::DeviceLevels<double, TypeParam> levels;
  const std::string said = message_of(
      [&] { mg::make_device_grids(TypeParam(), a, mg::HierarchyOptions{}, h, next, levels, 250); });
  EXPECT_TRUE(holds(said, "of level 2 has a diagonal that is not positive and finite")) << said;
  EXPECT_TRUE(levels.empty());
  EXPECT_TRUE(h.on_device.empty());
  EXPECT_EQ(next.a.rows, 0);
}

/// Where the host cannot go on from what a device has made, it begins again.
TEST(DeviceGridsOnHost, GridsThatLeadToNoneAreForgotten) {
  const auto a = krysol::gallery::make_problem("poisson:12");
  mg::FirstLevels<double> first;
  int asked = 0;
  first.grids = [](const HostCsr<double>& matrix, mg::HostHierarchy<double>& h,
                   mg::HostLevel<double>& next) {
    h.on_device.push_back({matrix.rows, matrix.nnz()});
    h.block = 2;
    next.a = matrix;
    next.scale = h.scale;
    mg::GridStart wrong;  // no entry is of a neighbour in it
    wrong.grid.nodes = {1, 1, matrix.rows};
    wrong.places = mg::uniform_places(wrong.grid);
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
}

}  // namespace
