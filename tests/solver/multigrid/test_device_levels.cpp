// Levels made in a device's memory against those that the host makes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/grid_modes.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/coarsening/strength.hpp>
#include <krysol/solver/device_coarsening/prolongation.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/registry.hpp>
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
class DeviceLevels : public testing::Test {};
using DeviceLevelSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(DeviceLevels, DeviceLevelSpaces, SpaceName);

/// The same entries, those of each row from the last to the first.
HostCsr<double> with_descending_rows(const HostCsr<double>& a) {
  HostCsr<double> b = a;
  b.col_idx = mg::host_array<Index>("descending.col_idx", a.col_idx.extent(0));
  b.values = mg::host_array<double>("descending.values", a.values.extent(0));
  for (Index i = 0; i < a.rows; ++i) {
    const Offset begin = a.row_ptr.data()[i];
    const Offset end = a.row_ptr.data()[i + 1];
    for (Offset k = begin; k < end; ++k) {
      b.col_idx.data()[k] = a.col_idx.data()[end - 1 - (k - begin)];
      b.values.data()[k] = a.values.data()[end - 1 - (k - begin)];
    }
  }
  return b;
}

/// Rows of 0 to `most` entries at random.
HostCsr<double> scattered_rows(Index rows, Index cols, int most, std::uint64_t seed) {
  Random random(seed);
  auto t = no_entries<double>(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    std::set<Index> places;
    const auto count = random.bits() % static_cast<std::uint64_t>(most + 1);
    for (std::uint64_t k = 0; k < count; ++k) {
      places.insert(static_cast<Index>(random.bits() % static_cast<std::uint64_t>(cols)));
    }
    for (const Index j : places) t.add(i, j, random_vector<double>(1, random.bits())[0]);
  }
  return to_csr(t).matrix;
}

HostCsr<double> scaled_to_ones(const HostCsr<double>& a) {
  return mg::scaled_entries<double>(a, mg::scale_of(a, 1, 0));
}

TYPED_TEST(DeviceLevels, ProductsAreThoseOfTheHostInAscendingColumns) {
  const TypeParam exec;
  struct Case {
    Index rows;
    Index inner;
    Index cols;
    int a_row;
    int b_row;
  };
  const Case cases[] = {{300, 200, 250, 9, 7}, {40, 900, 30, 60, 3}, {500, 20, 400, 2, 90},
                        {1, 1, 1, 1, 1},       {70, 50, 60, 0, 5},   {90, 90, 2000, 5, 400}};
  for (const Case& c : cases) {
    const auto a = with_descending_rows(scattered_rows(c.rows, c.inner, c.a_row, 3));
    const auto b = with_descending_rows(scattered_rows(c.inner, c.cols, c.b_row, 4));
    mg::RowMemory<double> memory;
    const Entries wanted = entries_of_host(mg::product(a, b, memory));
    const auto of_a = in_space<TypeParam>(a);
    const auto of_b = in_space<TypeParam>(b);
    const auto made = on::product(exec, of_a, of_b);
    EXPECT_LT(difference_of(entries_of(made), wanted), 1e-13) << c.rows;
    const auto row_ptr = list_of<Offset, TypeParam>(made.row_ptr);
    const auto col_idx = list_of<Index, TypeParam>(made.col_idx);
    for (Index i = 0; i < made.rows; ++i) {
      const auto from = col_idx.begin() + row_ptr[static_cast<std::size_t>(i)];
      const auto to = col_idx.begin() + row_ptr[static_cast<std::size_t>(i) + 1];
      EXPECT_TRUE(std::is_sorted(from, to)) << i;
      EXPECT_EQ(std::adjacent_find(from, to), to) << i;
    }
    // The same bits where tables of some rows alone have room.
    for (const Offset places : {1, 100, 3000}) {
      const auto in_groups = on::product(exec, of_a, of_b, {}, places);
      EXPECT_EQ((list_of<Offset, TypeParam>(in_groups.row_ptr)), row_ptr) << places;
      EXPECT_EQ((list_of<Index, TypeParam>(in_groups.col_idx)), col_idx) << places;
      EXPECT_EQ((list_of<double, TypeParam>(in_groups.values)),
                (list_of<double, TypeParam>(made.values)))
          << places;
    }
    Entries transposed(static_cast<std::size_t>(c.cols));
    const Entries of_made = entries_of(made);
    for (std::size_t i = 0; i < of_made.size(); ++i) {
      for (const auto& [j, v] : of_made[i]) {
        transposed[static_cast<std::size_t>(j)][static_cast<Index>(i)] = v;
      }
    }
    EXPECT_EQ(entries_of(on::adjoint(exec, made)), transposed);
  }
}

TYPED_TEST(DeviceLevels, ProductsByBlocksAreThoseOfEntries) {
  const TypeParam exec;
  const auto a = in_space<TypeParam>(krysol::gallery::make_problem("elasticity:4"));
  const auto by_entries = on::product(exec, a, a);
  const auto by_blocks = on::product(exec, a, a, {3, 3, 3});
  const auto in_groups = on::product(exec, a, a, {3, 3, 3}, 300);
  for (const auto& c : {by_blocks, in_groups}) {
    EXPECT_EQ((list_of<Offset, TypeParam>(c.row_ptr)),
              (list_of<Offset, TypeParam>(by_entries.row_ptr)));
    EXPECT_EQ((list_of<Index, TypeParam>(c.col_idx)),
              (list_of<Index, TypeParam>(by_entries.col_idx)));
    EXPECT_EQ((list_of<double, TypeParam>(c.values)),
              (list_of<double, TypeParam>(by_entries.values)));
  }
  const auto other = in_space<TypeParam>(scattered_rows(5, 7, 3, 1));
  EXPECT_TRUE(holds(message_of([&] { on::product(exec, a, other); }), "and 5 x 7"));
  EXPECT_TRUE(holds(message_of([&] { on::product(exec, a, a, {3, 3, 7}); }), "and 3 x 7"));
}

TYPED_TEST(DeviceLevels, StrengthIsThatOfTheHost) {
  const TypeParam exec;
  for (const auto& [name, block] :
       {std::pair<const char*, Index>{"mesh:2000", 1}, {"jumps:9", 1}, {"elasticity:5", 3}}) {
    const auto a = scaled_to_ones(krysol::gallery::make_problem(name));
    const auto device = in_space<TypeParam>(a);
    ASSERT_TRUE(on::has_full_blocks(exec, device, block)) << name;
    const mg::Strength wanted = mg::strong_connections(a, block, 0.25);
    const auto weight = list_of<std::uint8_t, TypeParam>(on::strength(exec, device, block, 0.25));
    const auto graph = on::graph_of(in_space<krysol::Host>(a), block);
    ASSERT_EQ(weight.size(), wanted.weight.extent(0)) << name;
    std::size_t strong = 0;
    for (Index node = 0; node < wanted.nodes; ++node) {
      const Offset begin = graph.first(node);
      for (Offset k = begin; k < graph.first(node + 1); ++k) {
        // Those of the host are in the order in which it finds them.
        const Index j = graph.neighbour(node, begin, k);
        const Index* const from = wanted.col_idx.data() + wanted.row_ptr.data()[node];
        const Index* const to = wanted.col_idx.data() + wanted.row_ptr.data()[node + 1];
        const Index* const found = std::find(from, to, j);
        ASSERT_NE(found, to) << name;
        const int of_host = wanted.weight.data()[found - wanted.col_idx.data()];
        const int mine = weight[static_cast<std::size_t>(k)];
        EXPECT_LE(std::abs(of_host - mine), 1) << name << ", " << node << " to " << j;
        strong += mine > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(strong, static_cast<std::size_t>(wanted.nodes)) << name;
  }
}

TYPED_TEST(DeviceLevels, BlocksThatAreNotFullAreFound) {
  const TypeParam exec;
  const auto full = in_space<TypeParam>(krysol::gallery::make_problem("elasticity:3"));
  EXPECT_TRUE(on::has_full_blocks(exec, full, 3));
  EXPECT_TRUE(on::has_full_blocks(exec, full, 1));
  EXPECT_FALSE(on::has_full_blocks(exec, full, 9));   // 27 nodes of three
  EXPECT_FALSE(on::has_full_blocks(exec, full, 10));  // does not divide 81
  const auto mesh = in_space<TypeParam>(krysol::gallery::make_problem("poisson:4"));
  EXPECT_FALSE(on::has_full_blocks(exec, mesh, 2));
  EXPECT_TRUE(on::has_full_blocks(exec, in_space<TypeParam>(scattered_rows(0, 0, 1, 1)), 1));
}

TYPED_TEST(DeviceLevels, AggregatesAreRootsWithAllOfTheirStrongNeighbours) {
  const TypeParam exec;
  auto t = krysol_tests::poisson2d(30, 31);
  const Index alone = 400;  // a row without neighbours
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const bool touches = t.row_idx[k] == alone || t.col_idx[k] == alone;
    if (touches && t.row_idx[k] != t.col_idx[k]) t.values[k] = 0;
  }
  for (const HostCsr<double>& host :
       {to_csr(t).matrix, krysol::gallery::make_problem("mesh:3000")}) {
    const auto a = in_space<TypeParam>(scaled_to_ones(host));
    const auto graph = on::graph_of(a, 1);
    const auto weight = on::strength(exec, a, 1, 0.25);
    const auto aggregates = on::aggregate(exec, graph, a.rows, weight);
    const auto of_node = list_of<Index, TypeParam>(aggregates.of_node);
    const auto strong = list_of<std::uint8_t, TypeParam>(weight);
    std::vector<Index> members(static_cast<std::size_t>(aggregates.count), 0);
    std::vector<bool> has_root(members.size(), false);
    for (Index i = 0; i < host.rows; ++i) {
      const Index mine = of_node[static_cast<std::size_t>(i)];
      bool any = false;
      bool near = false;
      bool all = true;
      for (Offset k = host.row_ptr.data()[i]; k < host.row_ptr.data()[i + 1]; ++k) {
        if (strong[static_cast<std::size_t>(k)] == 0) continue;
        const bool same = of_node[static_cast<std::size_t>(host.col_idx.data()[k])] == mine;
        any = true;
        near = near || same;
        all = all && same;
      }
      EXPECT_EQ(mine >= 0, any) << i;
      if (mine < 0) continue;
      ASSERT_LT(mine, aggregates.count);
      EXPECT_TRUE(near) << i;
      ++members[static_cast<std::size_t>(mine)];
      if (all) has_root[static_cast<std::size_t>(mine)] = true;
    }
    EXPECT_GE(*std::min_element(members.begin(), members.end()), 2);
    EXPECT_TRUE(std::all_of(has_root.begin(), has_root.end(), [](bool found) { return found; }));
    EXPECT_LT(aggregates.count, host.rows / 4);
    EXPECT_EQ((list_of<Index, TypeParam>(on::aggregate(exec, graph, a.rows, weight).of_node)),
              of_node);
  }
}

/// One vector, which is no unknown's.
mg::NearNullSpace<double> growing_vector(Index rows) {
  mg::NearNullSpace<double> b;
  b.count = 1;
  b.values = mg::host_array<double>("growing", static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) b.values.data()[i] = 1 + 0.001 * i;
  return b;
}

TYPED_TEST(DeviceLevels, InterpolationIsThatOfTheHostForTheSameAggregates) {
  const TypeParam exec;
  struct Case {
    const char* problem;
    Index block;
    int vectors;  // 0: constants, 1: one that grows, 6: with rotations
  };
  for (const Case& c : {Case{"mesh:2000", 1, 0}, Case{"jumps:9", 1, 1}, Case{"elasticity:5", 3, 0},
                        Case{"elasticity:5", 3, 1}, Case{"elasticity:5", 3, 6}}) {
    const auto unscaled = krysol::gallery::make_problem(c.problem);
    const auto a = scaled_to_ones(unscaled);
    const mg::Strength strength = mg::strong_connections(a, c.block, 0.25);
    mg::Aggregates aggregates = mg::aggregate(strength);
    if (c.vectors == 6) {  // the last two nodes by themselves: six rows cannot hold all six
      const auto nodes = aggregates.of_node.extent(0);
      aggregates.of_node.data()[nodes - 1] = aggregates.count;
      aggregates.of_node.data()[nodes - 2] = aggregates.count++;
    }
    const mg::NearNullSpace<double> b = c.vectors == 0   ? mg::constants<double>(a.rows, c.block)
                                        : c.vectors == 1 ? growing_vector(a.rows)
                                                         : mg::near_null_space(unscaled, c.block);
    EXPECT_EQ(b.count, c.vectors == 0 ? c.block : c.vectors);
    const mg::Tentative<double> t = mg::tentative(aggregates, c.block, b);
    const double largest = mg::largest_eigenvalue(a);
    mg::RowMemory<double> memory;
    const auto wanted = mg::smoothed(a, strength, largest, aggregates, b, t, memory);

    const auto device = in_space<TypeParam>(a);
    const on::Aggregates<TypeParam> same{krysol::in_memory_of<TypeParam>(aggregates.of_node),
                                         aggregates.count};
    const on::NearNullSpace<double, TypeParam> vectors{b.count,
                                                       krysol::in_memory_of<TypeParam>(b.values)};
    const auto made = on::tentative(exec, same, c.block, vectors);
    const auto coarse = list_of<double, TypeParam>(made.coarse.values);
    ASSERT_EQ(coarse.size(), t.coarse.values.extent(0)) << c.problem;
    for (std::size_t k = 0; k < coarse.size(); ++k) {
      EXPECT_NEAR(coarse[k], t.coarse.values.data()[k], 1e-11) << c.problem << ", " << c.vectors;
    }
    const auto p = on::smoothed(exec, device, c.block, on::strength(exec, device, c.block, 0.25),
                                largest, vectors, made.t);
    EXPECT_LT(difference_of(entries_of(p), entries_of_host(wanted)), 1e-11)
        << c.problem << ", " << c.vectors;
  }
}

/// Levels of the device with those that the host makes after them.
template <class Exec>
LevelsOfBoth<Exec> levels_of(const HostCsr<double>& a, Index rows) {
  mg::HierarchyOptions options;
  options.coarsening = mg::Coarsening::aggregates;
  return levels_of_both<Exec>(a, rows, options);
}

TYPED_TEST(DeviceLevels, AreGalerkinProductsWithOnesOnTheirDiagonals) {
  for (const char* name : {"mesh:4000", "elasticity:8", "jumps:14"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto [first, rest] = levels_of<TypeParam>(a, 250);
    ASSERT_GE(first.size(), 1U) << name;
    ASSERT_EQ(rest.on_device.size(), first.size()) << name;
    EXPECT_GT(rest.inverse.extent(0), 0U) << name;
    for (std::size_t l = 0; l < first.size(); ++l) {
      const bool last = l + 1 == first.size();
      EXPECT_EQ(first[l].a.rows, rest.on_device[l].rows) << name;
      const Entries next =
          last ? entries_of_host(rest.levels.front().a) : entries_of(first[l + 1].a);
      const TypeParam exec;
      const auto galerkin =
          on::product(exec, first[l].r, on::product(exec, first[l].a, first[l].p));
      EXPECT_LT(difference_of(entries_of(galerkin), next), 1e-12) << name << ", level " << l;
      double off = 0;
      for (std::size_t i = 0; i < next.size(); ++i) {
        const auto d = next[i].find(static_cast<Index>(i));
        // A row of an unknown that is no part of the level is empty.
        if (!next[i].empty())
          off = std::max(off, std::abs((d != next[i].end() ? d->second : 0) - 1));
      }
      EXPECT_LT(off, 1e-12) << name << ", level " << l;
      EXPECT_GE(first[l].largest, 1) << name;
    }
  }
}

TYPED_TEST(DeviceLevels, TakeAboutTheIterationsOfTheHosts) {
  for (const char* name :
       {"mesh:4000", "elasticity:8", "jumps:14", "anisotropy:50", "wathen:20", "poisson:16"}) {
    const auto a = krysol::gallery::make_problem(name);
    mg::HierarchyOptions options;
    options.coarsening = mg::Coarsening::aggregates;
    const auto on_host = mg::make_hierarchy(a, options);
    const int of_host =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(on_host, {}, false));
    const auto [first, rest] = levels_of<TypeParam>(a, 250);
    ASSERT_GE(first.size(), 1U) << name;
    const int mine =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(rest, {}, false, nullptr, first));
    EXPECT_LE(mine, of_host + std::max(4, of_host / 4)) << name;
  }
}

TYPED_TEST(DeviceLevels, ALevelThatIsNotDefiniteOrFiniteIsRefused) {
  auto t = krysol_tests::poisson2d(40, 40);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] != t.col_idx[k]) t.values[k] *= 3;
  }
  const std::string of_indefinite =
      message_of([&] { levels_of<TypeParam>(to_csr(t).matrix, 250); });
  EXPECT_TRUE(holds(of_indefinite, "of level 2 has a diagonal that is not positive and finite"))
      << of_indefinite;
  for (const double entry :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    auto u = krysol_tests::poisson2d(40, 40);
    for (std::size_t k = 0; k < u.values.size(); ++k) {
      if (u.row_idx[k] == 700 && u.col_idx[k] == 701) u.values[k] = entry;
    }
    const std::string said = message_of([&] { levels_of<TypeParam>(to_csr(u).matrix, 250); });
    EXPECT_EQ(said, "amg: a level has an entry that is not finite") << entry;
  }
}

TYPED_TEST(DeviceLevels, AreNotMadeOfBlocksThatAreNotFullOrRowsThatAreTooLong) {
  const auto full = two_unknowns(krysol_tests::poisson2d(30, 30));
  auto missing = no_entries<double>(full.rows, full.cols);
  for (std::size_t k = 0; k < full.values.size(); ++k) {
    const Index i = full.row_idx[k];
    const Index j = full.col_idx[k];
    if (std::min(i, j) == 200 && std::max(i, j) == 203) continue;
    missing.add(i, j, full.values[k]);
  }
  ASSERT_EQ(missing.values.size() + 2, full.values.size());
  auto hub = krysol_tests::poisson2d(80, 80);
  for (Index j = 1000; j < 6000; ++j) {
    hub.add(200, j, -1e-5);
    hub.add(j, 200, -1e-5);
  }
  for (const HostCsr<double>& a : {to_csr(missing).matrix, to_csr(hub).matrix}) {
    const auto [first, rest] = levels_of<TypeParam>(a, 250);
    EXPECT_TRUE(first.empty());
    EXPECT_TRUE(rest.on_device.empty());
    EXPECT_GE(rest.levels.size(), 2U);
    EXPECT_EQ(rest.levels.front().a.rows, a.rows);
  }
}

TYPED_TEST(DeviceLevels, CountTheirTimeOnce) {
  const auto a = krysol::gallery::make_problem("mesh:4000");
  const Kokkos::Timer timer;
  const auto [first, rest] = levels_of<TypeParam>(a, 250);
  const double all = timer.seconds();
  const mg::SetupSeconds& s = rest.seconds;
  EXPECT_LE(s.strength + s.aggregation + s.prolongation + s.product + s.scaling + s.bounds +
                s.coarsest + s.conversion,
            all);
}

/// What amg says of its setup.
std::string fact_of(const std::vector<krysol::SetupFact>& facts, const std::string& name) {
  for (const auto& fact : facts) {
    if (fact.name == name) return fact.value;
  }
  return {};
}

TYPED_TEST(DeviceLevels, AreMadeWhereADeviceSolves) {
  using krysol::make_preconditioner;
  const auto facts = [](const std::string& precond, const HostCsr<double>& a) {
    return make_preconditioner<double, TypeParam>(precond, a).m->report();
  };
  const auto mesh = krysol::gallery::make_problem("mesh:6000");
  const std::string made = krysol::on_host<TypeParam> ? "" : "1";
  const std::string name = "levels that the device made";
  EXPECT_EQ(fact_of(facts("amg", mesh), name), made);
  EXPECT_EQ(fact_of(facts("amg:precision=double,cycle=w", mesh), name), made);
  EXPECT_EQ(fact_of(facts("amg:smoother=l1-jacobi", mesh), name), "");
  EXPECT_EQ(fact_of(facts("amg", krysol::gallery::make_problem("mesh:2000")), name), "");
  const auto grid = krysol::gallery::make_problem("poisson:18");
  EXPECT_EQ(fact_of(facts("amg", grid), name), made);
  EXPECT_EQ(fact_of(facts("amg", grid), "coarsening"), "grids");
  EXPECT_EQ(fact_of(facts("amg", krysol::gallery::make_problem("poisson:16")), name), "");
}

}  // namespace
