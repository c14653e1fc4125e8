// Classical coarsening against its definitions, and near-null vectors that are found.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/classical.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/multigrid.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include "dense.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::multigrid;
using krysol::HostCsr;

struct NamedMatrix {
  std::string name;
  HostCsr<double> a;
  Index block = 1;
};

std::vector<NamedMatrix> some_matrices() {
  std::vector<NamedMatrix> list;
  list.push_back({"grid", to_csr(poisson2d(13, 11)).matrix});
  list.push_back({"jumps", to_csr(jump_coefficients2d(12, 1e4)).matrix});
  list.push_back({"cube", to_csr(poisson3d(6)).matrix});
  list.push_back({"any", to_csr(random_spd(one_to(60), 3)).matrix});
  list.push_back({"beam", krysol::gallery::make_problem("beam2d:4"), 2});
  return list;
}

Unknowns unknowns_of_nodes(const NamedMatrix& m) {
  Unknowns unknown;
  for (Index i = 0; m.block > 1 && i < m.a.rows; ++i) {
    unknown.push_back(static_cast<std::uint8_t>(i % m.block));
  }
  return unknown;
}

/// Which columns each row depends on, by the definition.
std::vector<std::set<Index>> strong_by_definition(const NamedMatrix& m, double theta) {
  std::vector<std::set<Index>> strong(static_cast<std::size_t>(m.a.rows));
  for (Index i = 0; i < m.a.rows; ++i) {
    double most = 0;
    for (const bool measured : {false, true}) {
      for (auto k = m.a.row_ptr(i); k < m.a.row_ptr(i + 1); ++k) {
        const Index j = m.a.col_idx(static_cast<std::size_t>(k));
        const double v = -m.a.values(static_cast<std::size_t>(k));
        if (j == i || j % m.block != i % m.block) continue;
        if (!measured) most = std::max(most, v);
        if (measured && v > 0 && v >= theta * most) strong[static_cast<std::size_t>(i)].insert(j);
      }
    }
  }
  return strong;
}

std::vector<std::set<Index>> as_sets(const HostCsr<double>& a,
                                     const HostArray<std::uint8_t>& strong) {
  std::vector<std::set<Index>> sets(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (strong(at) != 0) sets[static_cast<std::size_t>(i)].insert(a.col_idx(at));
    }
  }
  return sets;
}

TEST(ClassicalCoarsening, DependsStronglyByDefinition) {
  for (const NamedMatrix& m : some_matrices()) {
    for (const double theta : {0.25, 0.5, 1.0}) {  // 1: the largest of a row alone
      EXPECT_EQ(as_sets(m.a, strong_dependence(m.a, unknowns_of_nodes(m), theta)),
                strong_by_definition(m, theta))
          << m.name;
    }
  }
}

/// No two kept unknowns depend on each other, unless one of them alone does; each other one depends
/// on a kept one, if on any.
TEST(ClassicalCoarsening, KeepsAnIndependentSetThatCannotGrow) {
  for (const NamedMatrix& m : some_matrices()) {
    const auto flags = strong_dependence(m.a, unknowns_of_nodes(m), 0.25);
    const auto strong = as_sets(m.a, flags);
    const Splitting s = independent_sets(m.a, flags);
    std::set<Index> depended_on;
    for (const auto& of_row : strong) depended_on.insert(of_row.begin(), of_row.end());
    Index count = 0;
    for (Index i = 0; i < m.a.rows; ++i) {
      const bool kept = s.coarse(static_cast<std::size_t>(i)) >= 0;
      if (kept) {
        EXPECT_EQ(s.coarse(static_cast<std::size_t>(i)), count++);
      }
      const auto& of_row = strong[static_cast<std::size_t>(i)];
      const bool has_kept = std::any_of(of_row.begin(), of_row.end(), [&](Index j) {
        return s.coarse(static_cast<std::size_t>(j)) >= 0;
      });
      if (kept) {
        for (const Index j : of_row) {
          EXPECT_FALSE(s.coarse(static_cast<std::size_t>(j)) >= 0 &&
                       strong[static_cast<std::size_t>(j)].contains(i))
              << m.name << ' ' << i << ' ' << j;
        }
        EXPECT_TRUE(depended_on.contains(i)) << m.name << ' ' << i;
      } else if (depended_on.contains(i) && !of_row.empty()) {
        EXPECT_TRUE(has_kept) << m.name << ' ' << i;
      }
    }
    EXPECT_EQ(count, s.count);
    EXPECT_GT(s.count, m.a.rows / 15) << m.name;
    EXPECT_LT(s.count, m.a.rows / 2) << m.name;
  }
}

/// Extended+i for one row, by its formula over dense rows.
std::vector<long double> row_by_formula(const NamedMatrix& m, const Dense<long double>& a,
                                        const std::vector<std::set<Index>>& strong,
                                        const Splitting& s, Index i) {
  const auto kept = [&](Index j) { return s.coarse(static_cast<std::size_t>(j)) >= 0; };
  const auto entry = [&](Index k, Index l) {
    return k % m.block == l % m.block ? a(static_cast<std::size_t>(k), static_cast<std::size_t>(l))
                                      : 0.0L;
  };
  const auto negative = [&](Index k, Index l) { return std::min(0.0L, entry(k, l)); };
  std::set<Index> points;
  for (const Index j : strong[static_cast<std::size_t>(i)]) {
    if (kept(j)) {
      points.insert(j);
    } else {
      for (const Index k : strong[static_cast<std::size_t>(j)]) {
        if (kept(k)) points.insert(k);
      }
    }
  }
  std::vector<long double> w(static_cast<std::size_t>(s.count), 0);
  const auto sum_of = [&](Index k) {
    long double sum = negative(k, i);
    for (const Index l : points) sum += negative(k, l);
    return sum;
  };
  long double diagonal = entry(i, i);
  for (Index k = 0; k < m.a.rows; ++k) {
    if (k == i || points.contains(k)) continue;
    const bool follows = strong[static_cast<std::size_t>(i)].contains(k) && sum_of(k) != 0;
    diagonal += follows ? entry(i, k) * negative(k, i) / sum_of(k) : entry(i, k);
  }
  for (const Index j : points) {
    long double sum = entry(i, j);
    for (const Index k : strong[static_cast<std::size_t>(i)]) {
      if (points.contains(k) || sum_of(k) == 0) continue;
      sum += entry(i, k) * negative(k, j) / sum_of(k);
    }
    w[static_cast<std::size_t>(s.coarse(static_cast<std::size_t>(j)))] = -sum / diagonal;
  }
  return w;
}

TEST(ClassicalCoarsening, InterpolatesByItsFormula) {
  RowMemory<double> memory;
  for (const NamedMatrix& m : some_matrices()) {
    const auto unknown = unknowns_of_nodes(m);
    const auto flags = strong_dependence(m.a, unknown, 0.25);
    const auto strong = as_sets(m.a, flags);
    const Splitting s = independent_sets(m.a, flags);
    const auto p = extended_interpolation(m.a, unknown, flags, s, 1000, memory);
    ASSERT_EQ(p.rows, m.a.rows);
    ASSERT_EQ(p.cols, s.count);
    krysol::check(p);
    Dense<long double> a(static_cast<std::size_t>(m.a.rows), static_cast<std::size_t>(m.a.rows));
    for (Index i = 0; i < m.a.rows; ++i) {
      for (auto k = m.a.row_ptr(i); k < m.a.row_ptr(i + 1); ++k) {
        const auto at = static_cast<std::size_t>(k);
        a(static_cast<std::size_t>(i), static_cast<std::size_t>(m.a.col_idx(at))) = m.a.values(at);
      }
    }
    for (Index i = 0; i < m.a.rows; ++i) {
      std::vector<long double> expected(static_cast<std::size_t>(s.count), 0);
      const Index own = s.coarse(static_cast<std::size_t>(i));
      if (own >= 0) {
        expected[static_cast<std::size_t>(own)] = 1;
      } else {
        expected = row_by_formula(m, a, strong, s, i);
      }
      std::vector<long double> row(expected.size(), 0);
      for (auto k = p.row_ptr(i); k < p.row_ptr(i + 1); ++k) {
        const auto at = static_cast<std::size_t>(k);
        row[static_cast<std::size_t>(p.col_idx(at))] += p.values(at);
      }
      for (std::size_t c = 0; c < row.size(); ++c) {
        EXPECT_NEAR(static_cast<double>(row[c]), static_cast<double>(expected[c]), 1e-11)
            << m.name << ' ' << i;
      }
    }
  }
}

TEST(ClassicalCoarsening, KeepsTheLargestWeightsAndTheirSum) {
  RowMemory<double> memory;
  const auto a = to_csr(neumann2d(17, 13)).matrix;
  const auto flags = strong_dependence(a, {}, 0.25);
  const Splitting s = independent_sets(a, flags);
  const auto all = extended_interpolation(a, {}, flags, s, 1000, memory);
  const auto few = extended_interpolation(a, {}, flags, s, 3, memory);
  const auto cut = truncated(all, 3, memory);
  bool some_cut = false;
  for (std::size_t i = 0; i < 17 * 13; ++i) {
    const auto sum_of = [&](const HostCsr<double>& p) {
      return std::accumulate(p.values.data() + p.row_ptr(i), p.values.data() + p.row_ptr(i + 1),
                             0.0);
    };
    EXPECT_NEAR(sum_of(all), 1, 1e-13) << "rows of A add up to 0";
    EXPECT_NEAR(sum_of(few), 1, 1e-13);
    EXPECT_LE(few.row_ptr(i + 1) - few.row_ptr(i), 3);
    some_cut = some_cut || all.row_ptr(i + 1) - all.row_ptr(i) > 3;
    ASSERT_EQ(cut.row_ptr(i + 1), few.row_ptr(i + 1));
    double least_kept = 1;
    double largest_left_out = 0;
    for (auto k = all.row_ptr(i); k < all.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const auto begin = few.col_idx.data() + few.row_ptr(i);
      const auto end = few.col_idx.data() + few.row_ptr(i + 1);
      const bool kept = std::find(begin, end, all.col_idx(at)) != end;
      double& bound = kept ? least_kept : largest_left_out;
      bound = kept ? std::min(bound, all.values(at)) : std::max(bound, all.values(at));
    }
    EXPECT_LE(largest_left_out, least_kept);
  }
  EXPECT_TRUE(some_cut);
  for (std::size_t k = 0; k < cut.values.extent(0); ++k) {
    EXPECT_EQ(cut.col_idx(k), few.col_idx(k));
    EXPECT_NEAR(cut.values(k), few.values(k), 1e-15);
  }
}

/// As levels are used: with ones on their diagonals.
TEST(ClassicalCoarsening, MakesEachLevelFromTheOneBefore) {
  RowMemory<double> memory;
  for (const Index aggressive : {0, 1}) {
    const auto a = krysol::gallery::make_problem("jumps:9");
    const auto h = make_hierarchy(
        a, {.coarsening = Coarsening::classical, .coarsest = 10, .aggressive = aggressive});
    EXPECT_EQ(h.coarsening, "classical");
    ASSERT_GT(h.levels.size(), 2U);
    for (std::size_t l = 0; l + 1 < h.levels.size(); ++l) {
      const auto scaled = [&](std::size_t of) {
        HostCsr<double> s{h.levels[of].a.rows,
                          h.levels[of].a.cols,
                          h.levels[of].a.row_ptr,
                          h.levels[of].a.col_idx,
                          {}};
        s.values = krysol::allocate<decltype(s.values)>("values", h.levels[of].a.nnz());
        for (std::size_t i = 0; i < static_cast<std::size_t>(s.rows); ++i) {
          for (auto k = s.row_ptr(i); k < s.row_ptr(i + 1); ++k) {
            const auto at = static_cast<std::size_t>(k);
            s.values(at) = h.levels[of].scale(i) * h.levels[of].a.values(at) *
                           h.levels[of].scale(static_cast<std::size_t>(s.col_idx(at)));
          }
        }
        return s;
      };
      const auto product = triple_product(h.levels[l].r, scaled(l), h.levels[l].p, memory);
      const auto next = scaled(l + 1);
      ASSERT_EQ(product.rows, next.rows);
      Dense<long double> difference(static_cast<std::size_t>(next.rows),
                                    static_cast<std::size_t>(next.rows));
      const auto add = [&](const HostCsr<double>& m, double by) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows); ++i) {
          for (auto k = m.row_ptr(i); k < m.row_ptr(i + 1); ++k) {
            const auto at = static_cast<std::size_t>(k);
            difference(i, static_cast<std::size_t>(m.col_idx(at))) += by * m.values(at);
          }
        }
      };
      add(product, 1);
      add(next, -1);
      for (const auto& d : difference.entries) EXPECT_LE(std::abs(d), 1e-13L) << l;
    }
  }
}

/// Hubs that depend on each of their leaves, and leaves that depend on nothing: these are kept.
HostCsr<double> hubs_with_leaves(Index hubs, Index leaves) {
  auto t = no_entries<double>(hubs * (leaves + 1), hubs * (leaves + 1));
  for (Index h = 0; h < hubs; ++h) {
    const Index hub = h * (leaves + 1);
    t.add(hub, hub, 1);
    for (Index j = hub + 1; j <= hub + leaves; ++j) {
      t.add(hub, j, -1.0 / leaves);
      t.add(j, j, 1);
    }
  }
  return to_csr(t).matrix;
}

TEST(ClassicalCoarsening, EndsWhereTheNextLevelIsHardlySmaller) {
  const HierarchyOptions options{.coarsening = Coarsening::classical, .block = 1, .coarsest = 42};
  const auto ended = make_hierarchy(hubs_with_leaves(5, 10), options);
  EXPECT_EQ(ended.levels.size(), 1U);
  EXPECT_EQ(ended.stalled, "the next level would have 50 of 55 rows");
  const auto went_on = make_hierarchy(hubs_with_leaves(5, 8), options);
  ASSERT_EQ(went_on.levels.size(), 2U) << "40 of 45 are less than nine tenths";
  EXPECT_EQ(went_on.levels[1].a.rows, 40);
  EXPECT_EQ(went_on.stalled, "");
  auto alone = no_entries<double>(50, 50);
  for (Index i = 0; i < 50; ++i) alone.add(i, i, 2);
  const auto none = make_hierarchy(to_csr(alone).matrix, options);
  EXPECT_EQ(none.levels.size(), 1U);
  EXPECT_EQ(none.stalled, "no unknown is strongly connected to another");
}

std::int64_t classical_iterations(const HostCsr<double>& a, const std::string& options,
                                  double* nonzeros = nullptr) {
  const auto m = krysol::make_preconditioner<double, krysol::Host>("amg:" + options, a).m;
  for (const auto& fact : m->report()) {
    if (nonzeros != nullptr && fact.name.starts_with("nonzeros")) *nonzeros = std::stod(fact.value);
  }
  const auto r = solved_for_ones(a, *m);
  EXPECT_TRUE(r.converged()) << options;
  return r.iterations;
}

TEST(ClassicalCoarsening, NeedsAsManyIterationsWhateverTheSizeAndTheJumps) {
  const std::string classical = "coarsening=classical";
  for (const char* family : {"poisson2d:", "jumps:", "anisotropy:"}) {
    const bool cube = std::string(family) == "jumps:";
    const auto small = classical_iterations(
        krysol::gallery::make_problem(family + std::string(cube ? "12" : "40")), classical);
    const auto large = classical_iterations(
        krysol::gallery::make_problem(family + std::string(cube ? "30" : "160")), classical);
    EXPECT_LE(large, 13) << family;
    EXPECT_LE(large, small + 4) << family;
  }
  double one_step = 0;
  double two_steps = 0;
  const auto a = krysol::gallery::make_problem("poisson:24");
  const auto fewer = classical_iterations(a, classical, &one_step);
  const auto more = classical_iterations(a, classical + ",aggressive=1", &two_steps);
  EXPECT_GE(more, fewer);
  EXPECT_LE(more, 2 * fewer);
  EXPECT_LT(two_steps, 0.6 * one_step);
}

/// In an order in which no grid is found, whose rotations would be known.
TEST(FoundVectors, MakeElasticityConvergeLikeItsRotations) {
  krysol::OrderChoice order;
  for (const char* name : {"beam2d:30", "elasticity:9"}) {
    const auto a = krysol::reorder("rcm", krysol::gallery::make_problem(name), 0, order);
    const auto without = classical_iterations(a, "coarsening=aggregates");
    const auto with = classical_iterations(a, "coarsening=aggregates,vectors=6");
    EXPECT_LT(3 * with, 2 * without) << name;
  }
}

/// Of blocks so large that no more vectors are held: none are looked for.
TEST(FoundVectors, AreNoMoreThanLevelsHold) {
  const auto a = krysol::gallery::make_problem("beam2d:12");
  ASSERT_EQ(a.rows % 312, 0);  // 8 * 3 * 13
  for (const std::string block : {"13", "24", "26"}) {
    const std::string name = "amg:coarsening=aggregates,vectors=8,block=" + block;
    const auto made = krysol::make_preconditioner<double, krysol::Host>(name, a);
    EXPECT_EQ(made.used, name) << made.note;
  }
}

TEST(FoundVectors, AreNotLookedForWhereCyclesAreGoodAlready) {
  const auto a = krysol::gallery::make_problem("poisson2d:40");
  const auto m = krysol::make_preconditioner<double, krysol::Host>("amg:vectors=3", a).m;
  std::string found;
  for (const auto& fact : m->report()) {
    if (fact.name == "near-null vectors that were found and kept") found = fact.value;
  }
  EXPECT_EQ(found, "0 and 0");
}

TEST(ClassicalCoarsening, SaysWhatItsOptionsAre) {
  const auto a = to_csr(poisson2d(4, 4)).matrix;
  const auto said = [&](const char* name) {
    return message_of([&] { krysol::make_preconditioner<double, krysol::Host>(name, a); });
  };
  EXPECT_EQ(said("amg:aggressive=1"),
            "preconditioner 'amg:aggressive=1': 'aggressive' is for coarsening=classical");
  EXPECT_TRUE(holds(said("amg:coarsening=hmis"), "one of auto aggregates classical"));
  EXPECT_TRUE(holds(said("amg:vectors=9"), "a whole number from 1 to 8"));
  EXPECT_TRUE(holds(said("amg:coarsening=classical,vectors=2"), "holds constants alone"));
  auto near_null = std::make_shared<krysol::NearNullVectors>();
  near_null->count = 1;
  near_null->values.assign(16, 1.0);
  EXPECT_TRUE(holds(message_of([&] {
                      krysol::make_preconditioner<double, krysol::Host>(
                          "amg:coarsening=classical", {&a, nullptr, {}, near_null});
                    }),
                    "would ignore near-null vectors"));
  using Complex = Kokkos::complex<double>;
  const auto c = to_csr(as<std::complex<double>>(poisson2d(4, 4))).matrix;
  for (const char* name : {"amg:coarsening=classical", "amg:vectors=2"}) {
    EXPECT_TRUE(
        holds(message_of([&] { krysol::make_preconditioner<Complex, krysol::Host>(name, c); }),
              "are for real matrices"));
  }
}

}  // namespace
