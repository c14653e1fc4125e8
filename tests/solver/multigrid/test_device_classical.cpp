// Classical coarsening in a device's memory against that of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/classical.hpp>
#include <krysol/solver/device_coarsening/classical.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
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
class DeviceClassical : public testing::Test {};
using DeviceClassicalSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(DeviceClassical, DeviceClassicalSpaces, SpaceName);

/// A matrix of the gallery, with the rows of a node.
struct ClassicalCase {
  const char* problem;
  Index block;
};
constexpr ClassicalCase classical_cases[] = {
    {"poisson:11", 1},   {"poisson27:7", 1}, {"jumps:12", 1},     {"anisotropy:30", 1},
    {"rotated:30", 1},   {"mesh:1500", 1},   {"neumann2d:30", 1}, {"beam2d:11", 2},
    {"elasticity:6", 3}, {"fem:6", 3}};

mg::HierarchyOptions classically(Index coarsest = 20) {
  mg::HierarchyOptions options;
  options.coarsening = mg::Coarsening::classical;
  options.coarsest = coarsest;
  return options;
}

template <class T, class Exec>
krysol::Vector<T, Exec> copy_of(const krysol::Vector<T, Exec>& v) {
  auto copy = krysol::uninitialized<T>(Exec{}, "copy", static_cast<std::int64_t>(v.extent(0)));
  Kokkos::deep_copy(copy, v);
  return copy;
}

TYPED_TEST(DeviceClassical, RowsOfACoarseningAreThoseOfTheHost) {
  const TypeParam exec;
  for (const ClassicalCase& c : classical_cases) {
    const auto a = krysol::gallery::make_problem(c.problem);
    mg::Unknowns unknown;
    for (Index i = 0; c.block > 1 && i < a.rows; ++i) {
      unknown.push_back(static_cast<std::uint8_t>(i % c.block));
    }
    const auto on_device = in_space<TypeParam>(a);
    const auto of_rows = on::unknowns_of(exec, a.rows, c.block);
    EXPECT_EQ((list_of<std::uint8_t, TypeParam>(of_rows)), unknown) << c.problem;
    for (const double theta : {0.25, 0.6}) {
      const auto flags = mg::strong_dependence(a, unknown, theta);
      const auto strong = on::strong_dependence(exec, on_device, of_rows, theta);
      EXPECT_EQ((list_of<std::uint8_t, TypeParam>(strong)),
                std::vector<std::uint8_t>(flags.data(), flags.data() + a.nnz()))
          << c.problem;
      const mg::Splitting wanted = mg::independent_sets(a, flags);
      const auto splitting = on::independent_sets(exec, on_device, strong);
      EXPECT_EQ(splitting.count, wanted.count) << c.problem;
      EXPECT_EQ((list_of<Index, TypeParam>(splitting.coarse)),
                std::vector<Index>(wanted.coarse.data(), wanted.coarse.data() + a.rows))
          << c.problem;
      mg::RowMemory<double> memory;
      const auto all = mg::extended_interpolation(a, unknown, flags, wanted, 1000, memory);
      for (const Index most : {4, 9}) {
        const auto p = mg::extended_interpolation(a, unknown, flags, wanted, most, memory);
        const auto expect_p = [&](const auto& made, const std::string& what) {
          EXPECT_EQ(made.nnz(), p.nnz()) << what;
          EXPECT_LT(difference_of(entries_of(made), entries_of_host(p)), 1e-14) << what;
          const auto row_ptr = list_of<Offset, TypeParam>(made.row_ptr);
          const auto col_idx = list_of<Index, TypeParam>(made.col_idx);
          for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
            for (auto k = row_ptr[i] + 1; k < row_ptr[i + 1]; ++k) {
              const auto at = static_cast<std::size_t>(k);
              ASSERT_LT(col_idx[at - 1], col_idx[at]) << what << ", row " << i;
            }
          }
        };
        expect_p(on::extended_interpolation(exec, on_device, of_rows, strong, splitting, most),
                 c.problem);
        expect_p(on::extended_interpolation(exec, on_device, of_rows, strong, splitting, most, 50),
                 std::string(c.problem) + ", in groups of rows");
        auto longer = in_space<TypeParam>(all);
        longer.col_idx = copy_of<Index, TypeParam>(longer.col_idx);  // both are written to
        longer.values = copy_of<double, TypeParam>(longer.values);
        EXPECT_LT(difference_of(entries_of(on::truncated(exec, std::move(longer), most)),
                                entries_of_host(mg::truncated(all, most, memory))),
                  1e-14)
            << c.problem;
      }
      const auto next =
          list_of<std::uint8_t, TypeParam>(on::unknowns_of_next(exec, of_rows, splitting));
      ASSERT_EQ(next.size(), c.block > 1 ? static_cast<std::size_t>(wanted.count) : 0);
      for (std::size_t i = 0; i < unknown.size(); ++i) {
        const Index number = wanted.coarse.data()[i];
        if (number < 0) continue;
        EXPECT_EQ(next[static_cast<std::size_t>(number)], unknown[i]) << c.problem;
      }
    }
  }
}

template <class Exec>
void compare_classical(const std::string& name, const HostCsr<double>& a,
                       const mg::HierarchyOptions& options) {
  const auto wanted = mg::make_hierarchy(a, options);
  const auto [first, rest] = levels_of_both<Exec>(a, 60, options);
  ASSERT_GE(first.size(), 1U) << name;
  EXPECT_EQ(rest.block, wanted.block) << name;
  EXPECT_EQ(rest.near_null, wanted.near_null) << name;
  EXPECT_EQ(rest.coarsening, "classical") << name;
  EXPECT_EQ(rest.null_space, wanted.null_space) << name;
  EXPECT_EQ(rest.stalled, wanted.stalled) << name;
  expect_levels_of_host(name, wanted, first, rest);
}

TYPED_TEST(DeviceClassical, LevelsAreThoseOfTheHost) {
  for (const ClassicalCase& c : classical_cases) {
    compare_classical<TypeParam>(c.problem, krysol::gallery::make_problem(c.problem),
                                 classically());
  }
  mg::HierarchyOptions options = classically();
  const auto jumps = krysol::gallery::make_problem("jumps:12");
  options.strength = 0.5;
  compare_classical<TypeParam>("strength", jumps, options);
  options = classically();
  options.block = 2;
  compare_classical<TypeParam>("block", krysol::gallery::make_problem("beam2d:11"), options);
  for (const Index aggressive : {1, 2}) {
    options = classically();
    options.aggressive = aggressive;
    for (const char* name : {"jumps:12", "mesh:1500", "beam2d:11"}) {
      compare_classical<TypeParam>(name + (", aggressive " + std::to_string(aggressive)),
                                   krysol::gallery::make_problem(name), options);
    }
  }
}

TYPED_TEST(DeviceClassical, TakesTheIterationsOfTheHosts) {
  for (const char* name : {"poisson:16", "jumps:14", "rotated:40", "mesh:3000"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto on_host = mg::make_hierarchy(a, classically(200));
    const int of_host =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(on_host, {}, false));
    const auto [first, rest] = levels_of_both<TypeParam>(a, 250, classically(200));
    ASSERT_GE(first.size(), 1U) << name;
    const int mine =
        iterations_with(name, a, mg::Hierarchy<float, TypeParam>(rest, {}, false, nullptr, first));
    EXPECT_LE(std::abs(mine - of_host), 1) << name << ": " << mine << " and " << of_host;
  }
}

/// The same bits each time: nothing is added up in an order that differs.
TYPED_TEST(DeviceClassical, IsTheSameInEachRun) {
  const auto a = krysol::gallery::make_problem("jumps:14");
  const auto [first, rest] = levels_of_both<TypeParam>(a, 250, classically());
  const auto [again, rest_again] = levels_of_both<TypeParam>(a, 250, classically());
  ASSERT_GE(first.size(), 1U);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t l = 0; l < first.size(); ++l) {
    EXPECT_EQ((list_of<double, TypeParam>(first[l].a.values)),
              (list_of<double, TypeParam>(again[l].a.values)));
    EXPECT_EQ((list_of<double, TypeParam>(first[l].p.values)),
              (list_of<double, TypeParam>(again[l].p.values)));
  }
}

/// Of few rows, with a row that is too long, or where nothing is strongly connected.
TYPED_TEST(DeviceClassical, LeavesOthersToTheHost) {
  const auto none = [](const HostCsr<double>& a, Index rows) {
    const auto [first, rest] = levels_of_both<TypeParam>(a, rows, classically());
    EXPECT_TRUE(rest.on_device.empty());
    EXPECT_EQ(rest.levels.front().a.rows, a.rows);
    EXPECT_EQ(rest.coarsening, "classical");
    return first.empty();
  };
  EXPECT_TRUE(none(krysol::gallery::make_problem("poisson:12"), 2000));
  constexpr Index n = 5000;
  auto star = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) {
    star.add(i, i, i == 0 ? n : 2);
    if (i == 0) continue;
    star.add(0, i, -1);
    star.add(i, 0, -1);
  }
  EXPECT_TRUE(none(to_csr(star).matrix, 250));
  auto alone = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) alone.add(i, i, 1 + i % 3);
  const auto diagonal = to_csr(alone).matrix;
  EXPECT_TRUE(none(diagonal, 250));
  EXPECT_EQ(levels_of_both<TypeParam>(diagonal, 250, classically()).second.stalled,
            "no unknown is strongly connected to another");
}

TYPED_TEST(DeviceClassical, LevelsThatAreNotDefiniteAreRefused) {
  auto t = krysol_tests::poisson2d(40, 40);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] != t.col_idx[k]) t.values[k] *= 3;
  }
  const auto a = to_csr(t).matrix;
  mg::HostHierarchy<double> h;
  h.scale = mg::scale_of(a, 1, 0);
  mg::DeviceLevels<double, TypeParam> levels;
  const std::string said = message_of(
      [&] { mg::make_device_classical(TypeParam(), a, classically(), h, h.seconds, levels, 250); });
  EXPECT_TRUE(holds(said, "has a diagonal that is not positive and finite")) << said;
  EXPECT_TRUE(levels.empty());
}

}  // namespace
