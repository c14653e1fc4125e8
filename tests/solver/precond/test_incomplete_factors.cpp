// Incomplete factors with fill, and factorized inverses, against their definitions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/precond/fsai.hpp>
#include <krysol/solver/precond/ic0.hpp>
#include <krysol/solver/registry.hpp>
#include "dense.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "solving.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;

/// The level of each entry below the diagonal, by the rule alone: over all of a dense matrix.
std::vector<std::vector<int>> levels_of_fill(const HostCsr<double>& a) {
  constexpr int far = 1000;
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<int>> level(n, std::vector<int>(n, far));
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      level[static_cast<std::size_t>(i)]
           [static_cast<std::size_t>(a.col_idx(static_cast<std::size_t>(k)))] = 0;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j < i; ++j) {
        level[i][j] = std::min(level[i][j], level[i][k] + level[j][k] + 1);
      }
    }
  }
  return level;
}

TEST(IncompleteCholesky, HasTheFillOfEachLevel) {
  for (const auto& t :
       {poisson2d(9, 7), random_spd(one_to(50), 3), jump_coefficients2d(7, 100), poisson3d(4)}) {
    const auto a = to_csr(t).matrix;
    const auto expected = levels_of_fill(a);
    for (const int level : {1, 2, 5}) {
      const auto s = krysol::analyze_ic0(a, 1, {.level = level});
      ASSERT_EQ(s.fill.row_ptr.size(), static_cast<std::size_t>(a.rows) + 1);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::vector<Index> row;
        for (std::size_t j = 0; j < i; ++j) {
          if (expected[i][j] <= level) row.push_back(static_cast<Index>(j));
        }
        const auto begin = s.fill.col_idx.begin() + s.fill.row_ptr[i];
        EXPECT_EQ(std::vector<Index>(begin, s.fill.col_idx.begin() + s.fill.row_ptr[i + 1]), row)
            << i;
      }
    }
  }
}

/// L L' = A at the places of L.
TEST(IncompleteCholesky, EqualsTheMatrixWhereItHasEntries) {
  const auto t = jump_coefficients2d(8, 100);
  const auto a = to_csr(t).matrix;
  const auto wide = dense(t);
  const auto n = static_cast<std::size_t>(a.rows);
  for (const int level : {1, 3}) {
    const auto s = krysol::analyze_ic0(a, 1, {.level = level});
    const auto f = krysol::factorize_ic0(s, a);
    EXPECT_EQ(f.shift, 0);
    Dense<long double> l(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      l(i, i) = 1;
      for (auto k = s.fill.row_ptr[i]; k < s.fill.row_ptr[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        l(i, static_cast<std::size_t>(s.fill.col_idx[at])) = f.values.lower[at];
      }
    }
    const auto product = [&](std::size_t i, std::size_t j) {
      long double sum = 0;
      for (std::size_t k = 0; k <= std::min(i, j); ++k) {
        sum += l(i, k) * f.values.diagonal[k] * l(j, k);
      }
      return sum;
    };
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(static_cast<double>(product(i, i) / wide(i, i)), 1, 1e-13);
      for (auto k = s.fill.row_ptr[i]; k < s.fill.row_ptr[i + 1]; ++k) {
        const auto j = static_cast<std::size_t>(s.fill.col_idx[static_cast<std::size_t>(k)]);
        EXPECT_LE(std::abs(product(i, j) - wide(i, j)),
                  1e-13L * std::sqrt(wide(i, i) * wide(j, j)));
      }
    }
  }
}

/// With all the fill there is, the factors are exact.
TEST(IncompleteCholesky, IsExactWithEnoughFill) {
  const auto a = krysol::gallery::make_problem("poisson2d:9");
  const auto m = krysol::make_preconditioner<double, krysol::Host>("ic:16", a);
  EXPECT_EQ(m.note, "");
  const auto x = random_vector<double>(81, 4);
  krysol::Vector<double, krysol::Host> r("r", 81);
  krysol::Vector<double, krysol::Host> z("z", 81);
  for (Index i = 0; i < 81; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      r(i) += a.values(static_cast<std::size_t>(k)) *
              x[static_cast<std::size_t>(a.col_idx(static_cast<std::size_t>(k)))];
    }
  }
  m.m->apply(krysol::Host{}, r, z);
  for (std::size_t i = 0; i < 81; ++i) EXPECT_NEAR(z(i), x[i], 1e-12);
}

/// A row that shares a column with all others makes every other row share one with each.
TEST(IncompleteCholesky, RefusesFillWithoutBounds) {
  const Index n = 600;
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) t.add(i, i, i == 0 ? 700 : 2);
  for (Index i = 1; i < n; ++i) {
    t.add(0, i, -1);
    t.add(i, 0, -1);
  }
  const auto a = to_csr(t).matrix;
  const auto made = krysol::make_preconditioner<double, krysol::Host>("ic", a);
  EXPECT_EQ(made.used, "jacobi");
  EXPECT_EQ(made.note,
            "ic: fill of level 1 is more than 30 times the entries of A when it comes to row 269; "
            "fewer levels have less, and ic0 has none; jacobi is used instead");
  EXPECT_EQ((krysol::make_preconditioner<double, krysol::Host>("ic0", a).note), "");
}

/// The rule of a threshold, over all of a dense matrix: the places where L keeps something.
std::vector<std::vector<bool>> kept_above(const Dense<long double>& a, long double threshold) {
  const std::size_t n = a.rows;
  Dense<long double> l(n, n);
  std::vector<std::vector<bool>> kept(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i) {
    l(i, i) = 1;
    for (std::size_t j = 0; j < i; ++j) {
      long double sum = a(i, j) / std::sqrt(a(i, i) * a(j, j));
      for (std::size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      sum /= l(j, j);
      kept[i][j] = std::abs(sum) >= threshold;
      l(i, j) = kept[i][j] ? sum : 0;
      l(i, i) -= l(i, j) * l(i, j);
    }
    l(i, i) = std::sqrt(l(i, i));
  }
  return kept;
}

TEST(IncompleteCholesky, KeepsWhatIsAboveAThreshold) {
  for (const auto& t :
       {poisson2d(9, 7), random_spd(one_to(40), 3), jump_coefficients2d(7, 100), poisson3d(4)}) {
    const auto a = to_csr(t).matrix;
    const auto wide = dense(t);
    std::size_t entries_before = 0;
    for (const double threshold : {0.2, 0.03, 0.001}) {
      const auto expected = kept_above(wide, threshold);
      const auto s = krysol::analyze_ic0(a, 1, {.threshold = threshold});
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::vector<Index> row;
        for (std::size_t j = 0; j < i; ++j) {
          if (expected[i][j]) row.push_back(static_cast<Index>(j));
        }
        const auto begin = s.fill.col_idx.begin() + s.fill.row_ptr[i];
        EXPECT_EQ(std::vector<Index>(begin, s.fill.col_idx.begin() + s.fill.row_ptr[i + 1]), row)
            << i << " at " << threshold;
      }
      EXPECT_GE(s.fill.col_idx.size(), entries_before);
      entries_before = s.fill.col_idx.size();
    }
  }
}

TEST(IncompleteCholesky, NeedsFewerIterationsTheSmallerTheThreshold) {
  const auto t = jump_coefficients2d(24, 1e3);
  std::int64_t before = 1000;
  for (const char* name :
       {"ic0", "ic:threshold=0.03", "ic:threshold=0.003", "ic:threshold=1e-14"}) {
    NamedSolve<double, krysol::Host> solver{t, random_vector<double>(576, 1), name};
    solver.stop.rtol = 1e-9;
    const auto [result, x] = solver.run();
    EXPECT_TRUE(result.converged()) << name;
    EXPECT_LT(result.iterations, before) << name;
    before = result.iterations;
  }
  EXPECT_LE(before, 2) << "all of L";
}

/// An update keeps the places, whatever the values would make large.
TEST(IncompleteCholesky, KeepsThePlacesOfAThresholdForOtherValues) {
  const auto a = to_csr(jump_coefficients2d(12, 100)).matrix;
  const auto other = to_csr(poisson2d(12, 12)).matrix;
  auto made = krysol::make_preconditioner<double, krysol::Host>("ic:threshold=0.02", a);
  const auto entries = made.m->report()[0].value;
  krysol::update_preconditioner(made, other);
  EXPECT_EQ(made.note, "");
  EXPECT_EQ(made.m->report()[0].value, entries);
  EXPECT_NE((krysol::make_preconditioner<double, krysol::Host>("ic:threshold=0.02", other)
                 .m->report()[0]
                 .value),
            entries);
}

TEST(IncompleteCholesky, TakesOneRuleForItsPlaces) {
  const auto a = to_csr(poisson2d(4, 4)).matrix;
  const auto made = [&](const char* name) {
    return message_of([&] { krysol::make_preconditioner<double, krysol::Host>(name, a); });
  };
  EXPECT_EQ(made("ic:level=2,threshold=0.1"),
            "preconditioner 'ic:level=2,threshold=0.1': 'level' and 'threshold' are two rules for "
            "the same entries; give one of them");
  EXPECT_TRUE(holds(made("ic:threshold=1"), "above 0 and below 1"));
  EXPECT_TRUE(holds(made("ic:threshold=0"), "above 0 and below 1"));
}

/// G A G' is the identity at the places of G.
TEST(FactorizedInverse, IsTheInverseWhereItHasEntries) {
  for (const auto& t : {poisson2d(9, 7), jump_coefficients2d(8, 1e4), random_spd(one_to(60), 3)}) {
    const auto a = to_csr(t).matrix;
    const auto f = krysol::make_fsai_factor(a);
    EXPECT_EQ(f.fallback_rows, 0);
    const auto g = dense(f.g);
    const auto wide = dense(t);
    const std::size_t n = g.rows;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<long double> ga(n, 0);
      for (std::size_t k = 0; k <= i; ++k) {
        for (std::size_t j = 0; j < n; ++j) ga[j] += g(i, k) * wide(k, j);
      }
      for (auto k = f.g.row_ptr(i); k < f.g.row_ptr(i + 1); ++k) {
        const auto j = static_cast<std::size_t>(f.g.col_idx(static_cast<std::size_t>(k)));
        ASSERT_LE(j, i);
        // Row i of G A is a multiple of the unit vector at its places, and (G A G')(i, i) = 1.
        const long double expected = i == j ? 1 / g(i, i) : 0;
        EXPECT_LE(std::abs(ga[j] - expected), 1e-12L * std::sqrt(wide(j, j)));
      }
      EXPECT_EQ(f.g.row_ptr(i + 1) - f.g.row_ptr(i),
                1 + std::count_if(&a.col_idx(static_cast<std::size_t>(a.row_ptr(i))),
                                  &a.col_idx(static_cast<std::size_t>(a.row_ptr(i))) +
                                      (a.row_ptr(i + 1) - a.row_ptr(i)),
                                  [&](Index col) { return col < static_cast<Index>(i); }));
    }
  }
}

TEST(FactorizedInverse, KeepsTheLargestEntriesOfLongRows) {
  const Index n = 400;
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i + 1 < n; ++i) {
    t.add(i, i, 4);
    const double v = i % 3 == 0 ? 0.1 : 0.01;  // 133 of the larger ones
    t.add(n - 1, i, v);
    t.add(i, n - 1, v);
  }
  t.add(n - 1, n - 1, 4);
  const auto a = to_csr(t).matrix;
  const auto f = krysol::make_fsai_factor(a);
  EXPECT_EQ(f.cut_rows, 1);
  EXPECT_EQ(f.g.row_ptr(n) - f.g.row_ptr(n - 1), 129);
  for (auto k = f.g.row_ptr(n - 1); k + 1 < f.g.row_ptr(n); ++k) {
    EXPECT_EQ(f.g.col_idx(static_cast<std::size_t>(k)) % 3, 0);
  }
}

TEST(FactorizedInverse, CountsBlocksThatAreNotPositiveDefinite) {
  auto t = poisson2d(6, 5);
  t.add(20, 14, -9);
  t.add(14, 20, -9);
  const auto a = to_csr(t).matrix;
  const auto made = krysol::make_preconditioner<double, krysol::Host>("fsai", a);
  EXPECT_EQ(made.note,
            "fsai: 1 block(s) are not positive definite, the first at row 21; their diagonal is "
            "used instead");
}

/// Two rows that rounding lets look definite.
TEST(FactorizedInverse, TakesNoPivotThatRoundingLeft) {
  auto t = no_entries<double>(4, 4);
  for (const Index i : {0, 2}) {
    t.add(i, i, 3);
    t.add(i + 1, i + 1, 3);
    t.add(i, i + 1, -3 * (1 - 4e-16));
    t.add(i + 1, i, -3 * (1 - 4e-16));
  }
  const auto f = krysol::make_fsai_factor(to_csr(t).matrix);
  EXPECT_EQ(f.fallback_rows, 2);
  EXPECT_EQ(f.first_fallback, 1);
  for (std::size_t k = 0; k < static_cast<std::size_t>(f.g.nnz()); ++k) {
    EXPECT_LE(std::abs(f.g.values(k)), 1);
  }
}

TEST(BlockJacobi, TakesTheRowsOfANodeFromThePattern) {
  const auto facts = [](const std::string& name, const std::string& problem) {
    return krysol::make_preconditioner<double, krysol::Host>(name,
                                                             krysol::gallery::make_problem(problem))
        .m->report()[0]
        .value;
  };
  EXPECT_EQ(facts("block-jacobi", "elasticity:5"), "3");
  EXPECT_EQ(facts("block-jacobi", "poisson:6"), "4");
  EXPECT_EQ(facts("block-jacobi:5", "elasticity:5"), "5");
}

TEST(BlockJacobi, TakesNodesOfAnySize) {
  const auto grid = poisson2d(10, 6);
  for (const Index block : {2, 5, 6}) {
    auto t = no_entries<double>(60 * block, 60 * block);
    for (std::size_t k = 0; k < grid.values.size(); ++k) {
      const bool diagonal = grid.row_idx[k] == grid.col_idx[k];
      for (Index r = 0; r < block; ++r) {
        for (Index c = 0; c < block; ++c) {
          t.add(grid.row_idx[k] * block + r, grid.col_idx[k] * block + c,
                grid.values[k] + (diagonal && r == c ? 1 : 0));
        }
      }
    }
    const auto made =
        krysol::make_preconditioner<double, krysol::Host>("block-jacobi", to_csr(t).matrix);
    EXPECT_EQ(made.m->report()[0].value, std::to_string(block));
    EXPECT_EQ(made.note, "");
  }
}

}  // namespace
