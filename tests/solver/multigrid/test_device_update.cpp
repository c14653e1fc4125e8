// Other values in levels that a device made, against the host's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/device_coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/device_update.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/registry.hpp>
#include "messages.hpp"
#include "problems.hpp"
#include "solver/multigrid/device_entries.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
namespace mg = krysol::multigrid;

template <class Exec>
class DeviceUpdates : public testing::Test {};
using DeviceUpdateSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(DeviceUpdates, DeviceUpdateSpaces, SpaceName);

/// Coefficients that change a little, as in time steps.
HostCsr<double> slightly_changed(const HostCsr<double>& a) {
  return with_factors(
      a, [](Index i, Index j) { return i == j ? 1.1 + 0.01 * (i % 5) : 1 - 0.02 * ((i + j) % 3); });
}

struct DeviceUpdateCase {
  const char* problem;
  mg::Coarsening coarsening;
  Index aggressive = 0;
};
constexpr DeviceUpdateCase device_update_cases[] = {
    {"poisson:11", mg::Coarsening::automatic},  {"jumps:12", mg::Coarsening::automatic},
    {"beam2d:8", mg::Coarsening::automatic},    {"poisson2d:30", mg::Coarsening::aggregates},
    {"beam2d:8", mg::Coarsening::aggregates},   {"jumps:12", mg::Coarsening::classical},
    {"mesh:1500", mg::Coarsening::classical, 1}};

mg::HierarchyOptions options_of(const DeviceUpdateCase& c) {
  mg::HierarchyOptions options;
  options.coarsening = c.coarsening;
  options.coarsest = 20;
  options.aggressive = c.aggressive;
  return options;
}

constexpr Index left_to_the_host = 60;  // rows

/// Both parts of a hierarchy that is kept for other values.
template <class Exec>
class KeptOnDevice {
 public:
  KeptOnDevice(const HostCsr<double>& a, const mg::HierarchyOptions& options, bool shared = false)
      : KeptOnDevice(a, levels_of_both<Exec>(a, left_to_the_host, options), options, shared) {}

  const mg::HostHierarchy<double>& set_values(const HostCsr<double>& a) {
    mg::SetupSeconds seconds;
    const auto scale = mg::scale_of(a, 1, 0);
    return on_host_.set_values(on_device_.set_values(a, scale, seconds), scale, seconds);
  }
  bool fits(const HostCsr<double>& a) const { return on_device_.fits(a); }
  const mg::DeviceLevels<double, Exec>& first() const { return on_device_.levels(); }

 private:
  KeptOnDevice(const HostCsr<double>& a, LevelsOfBoth<Exec> made,
               const mg::HierarchyOptions& options, bool shared)
      : on_device_(Exec{}, std::move(made.first), a, made.second.levels.front(), shared),
        on_host_(made.second, made.second.levels.front().a, options.coarsest, false) {}

  mg::DeviceUpdate<double, Exec> on_device_;
  mg::HierarchyUpdate<double> on_host_;
};

/// What a level of the host multiplies with.
Entries entries_in_use(const mg::HostLevel<double>& level) {
  return entries_of_host(mg::scaled_entries<double>(level.a, level.scale));
}

/// The levels of the same matrix again, and of a multiple of it: scaled to ones on the diagonal
/// they are the same numbers.
TYPED_TEST(DeviceUpdates, MakeTheLevelsThatASetupMakes) {
  for (const DeviceUpdateCase& c : device_update_cases) {
    const auto a = krysol::gallery::make_problem(c.problem);
    const auto [wanted, rest_wanted] =
        levels_of_both<TypeParam>(a, left_to_the_host, options_of(c));
    ASSERT_GE(wanted.size(), 1U) << c.problem;
    KeptOnDevice<TypeParam> kept(a, options_of(c));
    for (const double factor : {1.0, 3.5, 1.0}) {
      const auto& rest = kept.set_values(with_factors(a, [=](Index, Index) { return factor; }));
      ASSERT_EQ(kept.first().size(), wanted.size()) << c.problem;
      for (std::size_t l = 0; l < wanted.size(); ++l) {
        const auto& now = kept.first()[l];
        const auto& then = wanted[l];
        EXPECT_LT(difference_of(entries_of(now.a), entries_of(then.a)), 1e-11) << c.problem << l;
        EXPECT_LT(difference_of(entries_of(now.p), entries_of(then.p)), 1e-11) << c.problem << l;
        EXPECT_LT(difference_of(entries_of(now.r), entries_of(then.r)), 1e-11) << c.problem << l;
        EXPECT_NEAR(now.largest, then.largest, 1e-6 * then.largest) << c.problem << l;
      }
      ASSERT_EQ(rest.levels.size(), rest_wanted.levels.size()) << c.problem;
      for (std::size_t l = 0; l < rest.levels.size(); ++l) {
        EXPECT_LT(
            difference_of(entries_in_use(rest.levels[l]), entries_in_use(rest_wanted.levels[l])),
            1e-11)
            << c.problem << l;
      }
    }
  }
}

/// Grids and classical levels are those of the host, and so is what follows other values.
TYPED_TEST(DeviceUpdates, FollowValuesAsTheHostDoes) {
  for (const DeviceUpdateCase& c : device_update_cases) {
    if (c.coarsening == mg::Coarsening::aggregates) continue;
    const auto a = krysol::gallery::make_problem(c.problem);
    mg::HierarchyUpdate<double> on_host(mg::make_hierarchy(a, options_of(c)), a, 20, false);
    const auto other = slightly_changed(a);
    const auto& wanted = on_host.set_values(other);
    KeptOnDevice<TypeParam> kept(a, options_of(c));
    kept.set_values(
        with_factors(a, [](Index i, Index j) { return i == j ? 1.2 : 1 + 0.1 * ((i + j) % 2); }));
    const auto& rest = kept.set_values(other);
    const std::size_t made = kept.first().size();
    ASSERT_EQ(made + rest.levels.size(), wanted.levels.size()) << c.problem;
    for (std::size_t l = 0; l < wanted.levels.size(); ++l) {
      const Entries level = entries_in_use(wanted.levels[l]);
      EXPECT_LT(difference_of(l < made ? entries_of(kept.first()[l].a)
                                       : entries_in_use(rest.levels[l - made]),
                              level),
                1e-10)
          << c.problem << l;
    }
  }
}

/// A level is P'AP of the one before it, whatever the values are.
TYPED_TEST(DeviceUpdates, KeepGalerkinProducts) {
  for (const DeviceUpdateCase& c : device_update_cases) {
    const auto a = krysol::gallery::make_problem(c.problem);
    KeptOnDevice<TypeParam> kept(a, options_of(c));
    const auto& rest = kept.set_values(slightly_changed(a));
    const auto& first = kept.first();
    for (std::size_t l = 0; l < first.size(); ++l) {
      const auto product = krysol::device_coarsening::product(
          TypeParam(), first[l].r,
          krysol::device_coarsening::product(TypeParam(), first[l].a, first[l].p));
      EXPECT_LT(difference_of(entries_of(product), l + 1 < first.size()
                                                       ? entries_of(first[l + 1].a)
                                                       : entries_in_use(rest.levels.front())),
                1e-11)
          << c.problem << l;
    }
  }
}

/// Pairs of nodes whose row sums are 0 leave nothing on the next level, but for rounding: what they
/// are joined to is out of it, and stays so.
TYPED_TEST(DeviceUpdates, UnknownsThatAreOutStayOut) {
  constexpr Index pairs = 150;
  const auto grid = krysol_tests::poisson2d(25, 25);
  auto t = no_entries<double>(grid.rows + 2 * pairs, grid.rows + 2 * pairs);
  for (std::size_t k = 0; k < grid.values.size(); ++k) {
    t.add(grid.row_idx[k], grid.col_idx[k], grid.values[k]);
  }
  for (Index i = grid.rows; i < t.rows; i += 2) {
    for (const auto& [row, col] :
         {std::pair<Index, Index>{i, i}, {i, i + 1}, {i + 1, i}, {i + 1, i + 1}}) {
      t.add(row, col, row == col ? 2 : -2);
    }
  }
  const auto a = to_csr(t).matrix;
  const auto options = options_of({"", mg::Coarsening::aggregates});
  KeptOnDevice<TypeParam> kept(a, options);
  const auto [wanted, rest_wanted] = levels_of_both<TypeParam>(a, left_to_the_host, options);
  ASSERT_GE(wanted.size(), 2U);
  const auto out_of = [](const mg::DeviceLevel<double, TypeParam>& level) {
    const auto scale = list_of<double, TypeParam>(level.scale);
    return std::count(scale.begin(), scale.end(), 0.0);
  };
  EXPECT_EQ(out_of(wanted[1]), pairs);
  for (const double factor : {1.0, 3.5, 7.0}) {
    kept.set_values(with_factors(a, [=](Index, Index) { return factor; }));
    for (std::size_t l = 0; l < wanted.size(); ++l) {
      EXPECT_EQ(out_of(kept.first()[l]), out_of(wanted[l])) << l;
      EXPECT_LT(difference_of(entries_of(kept.first()[l].a), entries_of(wanted[l].a)), 1e-11) << l;
      EXPECT_LT(difference_of(entries_of(kept.first()[l].p), entries_of(wanted[l].p)), 1e-11) << l;
    }
  }
}

TYPED_TEST(DeviceUpdates, KnowAnotherPattern) {
  const auto a = krysol::gallery::make_problem("poisson2d:30");
  const KeptOnDevice<TypeParam> kept(a, options_of(device_update_cases[3]));
  EXPECT_TRUE(kept.fits(slightly_changed(a)));
  EXPECT_FALSE(kept.fits(krysol::gallery::make_problem("poisson2d:31")));
  auto t = krysol_tests::poisson2d(30, 30);
  t.add(5, 800, -0.1);
  t.add(800, 5, -0.1);
  EXPECT_FALSE(kept.fits(to_csr(t).matrix));
}

/// Of A, P and R of each level.
template <class Exec>
std::vector<Entries> entries_of_all(const mg::DeviceLevels<double, Exec>& levels) {
  std::vector<Entries> all;
  for (const auto& level : levels) {
    all.push_back(entries_of(level.a));
    all.push_back(entries_of(level.p));
    all.push_back(entries_of(level.r));
  }
  return all;
}

TYPED_TEST(DeviceUpdates, WriteToNothingThatIsInUse) {
  const auto a = krysol::gallery::make_problem("jumps:12");
  for (const DeviceUpdateCase& c : device_update_cases) {
    if (std::string(c.problem) != "jumps:12") continue;
    KeptOnDevice<TypeParam> kept(a, options_of(c), true);
    const mg::DeviceLevels<double, TypeParam> in_use = kept.first();
    const std::vector<Entries> before = entries_of_all(in_use);
    kept.set_values(slightly_changed(a));
    EXPECT_EQ(entries_of_all(in_use), before) << c.problem;
    EXPECT_GT(difference_of(entries_of(kept.first().front().a), before.front()), 1e-3);
  }
}

TYPED_TEST(DeviceUpdates, RefuseLevelsThatAreNotDefinite) {
  const auto a = krysol::gallery::make_problem("poisson2d:30");
  for (const DeviceUpdateCase& c :
       {device_update_cases[3], DeviceUpdateCase{"", mg::Coarsening::automatic}}) {
    KeptOnDevice<TypeParam> kept(a, options_of(c));
    const auto other = with_factors(a, [](Index i, Index j) { return i == j ? 1 : 3; });
    EXPECT_TRUE(holds(message_of([&] { kept.set_values(other); }),
                      "has a diagonal that is not positive and finite"));
  }
}

/// A preconditioner's fact of that name, or nothing.
template <class Made>
std::string fact_named(const Made& made, const std::string& name) {
  for (const krysol::SetupFact& fact : made.m->report()) {
    if (fact.name == name) return fact.value;
  }
  return {};
}

/// By the name that users give: iterations as those of a setup for the values.
TYPED_TEST(DeviceUpdates, SuitValuesThatChangeALittle) {
  const auto a = krysol::gallery::make_problem("jumps:18");  // more rows than are left to the host
  for (const std::string name :
       {"amg", "amg:coarsening=aggregates", "amg:coarsening=classical", "amg:precision=double"}) {
    auto made = krysol::make_preconditioner<double, TypeParam>(name, a);
    const auto expect_as_fresh = [&](const HostCsr<double>& next, const std::string& what) {
      const auto fresh = krysol::make_preconditioner<double, TypeParam>(name, next);
      EXPECT_LE(iterations_on<TypeParam>(what, next, *made.m),
                iterations_on<TypeParam>(what, next, *fresh.m) + 3)
          << what;
      EXPECT_EQ(made.used, name) << what;
      EXPECT_EQ(fact_named(made, "levels that the device made").empty(), krysol::on_host<TypeParam>)
          << what;
    };
    for (int step = 1; step <= 3; ++step) {
      const auto next = with_factors(a, [&](Index i, Index j) {
        return i == j ? 1 + 0.02 * step + 0.01 * (i % 5) : 1 - 0.01 * step * ((i + j) % 3);
      });
      krysol::update_preconditioner(made, next);
      expect_as_fresh(next, name + ", step " + std::to_string(step));
      const bool nothing_else =
          fact_named(made, "seconds of the setup")
              .rfind("strength 0.000, aggregation 0.000, prolongation 0.000, ", 0) == 0;
      if (step > 1) {
        EXPECT_TRUE(nothing_else) << "what was kept is not made again: " << name;
      }
    }
    krysol::update_preconditioner(
        made, with_factors(a, [](Index i, Index j) { return i == 40 && j == 40 ? -1 : 1; }));
    EXPECT_EQ(made.used, "jacobi") << name;
    for (int step = 0; step < 2; ++step) {
      krysol::update_preconditioner(made, a);
      expect_as_fresh(a, name + ", again");
    }
  }
}

}  // namespace
