// Other values in the levels of a hierarchy: what is kept, and what follows the values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/multigrid/hierarchy_update.hpp>
#include <krysol/solver/multigrid/multigrid.hpp>
#include "problems.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::multigrid;
using krysol::HostCsr;

struct UpdateCase {
  const char* problem;
  HierarchyOptions options;
};

std::vector<UpdateCase> update_cases() {
  return {{"poisson2d:30", {.coarsest = 20}},
          {"jumps:12", {.coarsest = 20}},
          {"beam2d:6", {.coarsest = 20}},
          {"poisson2d:30", {.coarsening = Coarsening::aggregates, .coarsest = 20}},
          {"beam2d:6", {.coarsening = Coarsening::aggregates, .coarsest = 20}},
          {"jumps:12", {.coarsening = Coarsening::classical, .coarsest = 20}}};
}

/// What a level multiplies with: S A S, whether it is stored so or with its S.
std::vector<double> values_in_use(const HostLevel<double>& level) {
  std::vector<double> v;
  for (Index i = 0; i < level.a.rows; ++i) {
    for (auto k = level.a.row_ptr(i); k < level.a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double s = level.scale.extent(0) > 0
                           ? level.scale(static_cast<std::size_t>(i)) *
                                 level.scale(static_cast<std::size_t>(level.a.col_idx(at)))
                           : 1;
      v.push_back(s * level.a.values(at));
    }
  }
  return v;
}

/// The levels of the same matrix again, and of a multiple of it: scaled to ones on the diagonal
/// they are the same numbers.
TEST(HierarchyUpdate, MakesTheLevelsThatASetupMakes) {
  for (const UpdateCase& c : update_cases()) {
    const auto a = krysol::gallery::make_problem(c.problem);
    const auto first = make_hierarchy(a, c.options);
    HierarchyUpdate<double> update(make_hierarchy(a, c.options), a, c.options.coarsest, false);
    const auto same = [&](const HostCsr<double>& other, double tolerance) {
      ASSERT_TRUE(update.fits(other));
      const auto& now = update.set_values(other);
      ASSERT_EQ(now.levels.size(), first.levels.size());
      for (std::size_t l = 0; l < first.levels.size(); ++l) {
        const auto expected = values_in_use(first.levels[l]);
        const auto found = values_in_use(now.levels[l]);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          ASSERT_NEAR(found[k], expected[k], tolerance) << c.problem << ' ' << l;
        }
        for (std::size_t k = 0; k < now.levels[l].p.values.extent(0); ++k) {
          ASSERT_NEAR(now.levels[l].p.values(k), first.levels[l].p.values(k), tolerance);
        }
      }
      for (std::size_t k = 0; k < first.inverse.extent(0); ++k) {
        ASSERT_NEAR(now.inverse(k), first.inverse(k), 1e-6 * std::abs(first.inverse(k)) + 1e-8);
      }
    };
    same(a, 1e-12);
    same(with_factors(a, [](Index, Index) { return 3.5; }), 1e-12);
    same(a, 1e-11);
  }
}

TEST(HierarchyUpdate, KnowsAnotherPattern) {
  const auto a = krysol::gallery::make_problem("poisson2d:30");
  const HierarchyUpdate<double> update(make_hierarchy(a, {}), a, 200, false);
  EXPECT_TRUE(update.fits(with_factors(a, [](Index, Index) { return 2; })));
  EXPECT_FALSE(update.fits(krysol::gallery::make_problem("poisson2d:31")));
  auto t = poisson2d(30, 30);
  t.add(5, 800, -0.1);
  t.add(800, 5, -0.1);
  EXPECT_FALSE(update.fits(to_csr(t).matrix));
}

template <class Made>
std::int64_t iterations_with(const HostCsr<double>& a, const Made& made) {
  const auto r = solved_for_ones(a, *made.m);
  EXPECT_TRUE(r.converged());
  return r.iterations;
}

/// Coefficients that change a little, as in time steps: iterations as those of a setup for them.
TEST(HierarchyUpdate, SuitsValuesThatChangeALittle) {
  for (const std::string name :
       {"amg", "amg:coarsening=aggregates", "amg:coarsening=classical", "amg:cycle=w,degree=1"}) {
    const auto a = krysol::gallery::make_problem("jumps:14");
    auto made = krysol::make_preconditioner<double, krysol::Host>(name, a);
    for (int step = 1; step <= 4; ++step) {
      const auto next = with_factors(a, [&](Index i, Index j) {
        return i == j ? 1 + 0.02 * step + 0.01 * (i % 5) : 1 - 0.01 * step * ((i + j) % 3);
      });
      krysol::update_preconditioner(made, next);
      EXPECT_EQ(made.used, name);
      const auto fresh = krysol::make_preconditioner<double, krysol::Host>(name, next);
      EXPECT_LE(iterations_with(next, made), iterations_with(next, fresh) + 3) << name << step;
    }
  }
}

/// In double the levels in use are arrays that the next update would write to.
TEST(HierarchyUpdate, WritesToNothingThatIsInUse) {
  const auto a = krysol::gallery::make_problem("jumps:10");
  const auto name = "amg:coarsening=aggregates,coarsest=20,precision=double";
  auto made = krysol::make_preconditioner<double, krysol::Host>(name, a);
  krysol::update_preconditioner(made, a);
  krysol::update_preconditioner(made, a);
  HierarchyUpdate<double> update(
      make_hierarchy(a, {.coarsening = Coarsening::aggregates, .coarsest = 20}), a, 20, true);
  const auto& first = update.set_values(a);
  const Hierarchy<double, krysol::Host> in_use(first, {}, false);
  const krysol::ConstVector<double, krysol::Host> r =
      to_device<krysol::Host>(random_vector<double>(1000, 1));
  const auto z = to_device<krysol::Host>(std::vector<double>(1000));
  in_use.apply(krysol::Host{}, r, z);
  const auto before = to_host(z);
  update.set_values(with_factors(a, [](Index i, Index j) { return i == j ? 7 : 1; }));
  in_use.apply(krysol::Host{}, r, z);
  EXPECT_EQ(to_host(z), before);
}

/// Levels that take the arrays of those before, but for their values, are what a conversion makes:
/// with coefficients that are constant again, and that are not any more.
TEST(HierarchyUpdate, StoresWhatAConversionStores) {
  const std::vector<std::function<double(Index, Index)>> factors = {
      [](Index, Index) { return 3.5; }, [](Index i, Index j) { return i == j ? 1.5 : 1; },
      [](Index i, Index j) {
        // As good as random.
        const auto bits = static_cast<std::uint32_t>((i + 1) * (j + 1)) * 2654435761U;
        return i == j ? 2 : 1 - 1e-3 * static_cast<double>(bits >> 25U);
      }};
  const std::string uneven = ", uneven";
  for (const std::string problem :
       {"poisson:14", "poisson2d:40", "beam2d:12", "poisson2d:200, uneven"}) {
    const bool even = !problem.ends_with(uneven);
    auto a = krysol::gallery::make_problem(problem.substr(0, problem.find(',')));
    if (!even) a = with_factors(a, factors.back());
    const HierarchyOptions options{.coarsest = 20};
    const auto host = make_hierarchy(a, options);
    const Hierarchy<float, krysol::Host> first(host, {}, true);
    const auto name_of_first = [](const auto& h) { return h.levels().front().a.name(); };
    for (const auto& factor : factors) {
      HierarchyUpdate<double> update(make_hierarchy(a, options), a, options.coarsest, false);
      const auto& now = update.set_values(with_factors(a, factor));
      const Hierarchy<float, krysol::Host> updated(now, {}, true, &first);
      const Hierarchy<float, krysol::Host> converted(now, {}, true);
      if (even) {
        EXPECT_EQ(name_of_first(updated), name_of_first(converted)) << problem;
      }
      const auto rows = static_cast<std::size_t>(a.rows);
      const krysol::ConstVector<double, krysol::Host> r =
          to_device<krysol::Host>(random_vector<double>(rows, 1));
      const auto z = to_device<krysol::Host>(std::vector<double>(rows));
      updated.apply(krysol::Host{}, r, z);
      const auto found = to_host(z);
      converted.apply(krysol::Host{}, r, z);
      EXPECT_EQ(found, to_host(z)) << problem;
    }
    EXPECT_EQ(name_of_first(first), even ? "stencil" : "stencil_pattern");
  }
}

/// One that is refused leaves M as it was, and the next makes all anew.
TEST(HierarchyUpdate, RecoversFromValuesThatAreRefused) {
  const auto a = krysol::gallery::make_problem("poisson2d:30");
  auto made = krysol::make_preconditioner<double, krysol::Host>("amg:coarsest=20", a);
  krysol::update_preconditioner(made, a);
  const auto iterations = iterations_with(a, made);
  krysol::update_preconditioner(
      made, with_factors(a, [](Index i, Index j) { return i == 40 && j == 40 ? -1 : 1; }));
  EXPECT_EQ(made.used, "jacobi");
  krysol::update_preconditioner(made, a);
  EXPECT_EQ(made.used, "amg:coarsest=20");
  EXPECT_EQ(iterations_with(a, made), iterations);
  krysol::update_preconditioner(made, a);
  krysol::update_preconditioner(made, a);
  EXPECT_EQ(iterations_with(a, made), iterations);
}

}  // namespace
