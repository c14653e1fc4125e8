// Spectra and verdicts on definiteness, against dense eigenvalues.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "matrix_reports.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::analysis;

Dense<Complex> entries_of(const Full& f) {
  Dense<Complex> m{f.rows, f.cols};
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t j = 0; j < f.cols; ++j) m(i, j) = f.value[i][j];
  }
  return m;
}

/// The distance of v from the nearest of values.
double distance(const std::vector<double>& values, double v) {
  double least = std::abs(values.at(0) - v);
  for (const double each : values) least = std::min(least, std::abs(each - v));
  return least;
}

TEST(Definiteness, EstimatesTheSpectrumFromInside) {
  int eigenvalues = 0;
  int singular_values = 0;
  for_many([&](const Full& f, const MatrixReport& p) {
    if (f.rows == 0 || f.cols == 0 || f.nnz == 0) return;
    const Dense<Complex> m = entries_of(f);
    const std::vector<double> sigma = krysol_tests::singular_values(m);
    const double largest = sigma.front();
    const double smallest = sigma.back();
    const double rounding = 1e-12 * largest;
    if (const auto& e = p.spectra.eigenvalues) {
      ++eigenvalues;
      const std::vector<double> lambda = hermitian_eigen(m).values;
      const double low = lambda.front();
      const double high = lambda.back();
      EXPECT_GE(e->smallest, low - rounding);
      EXPECT_LE(e->largest, high + rounding);
      // There is an eigenvalue as near as the residual says.
      EXPECT_LE(distance(lambda, e->smallest), e->smallest_residual + rounding);
      EXPECT_LE(distance(lambda, e->largest), e->largest_residual + rounding);
      // So few rows leave nothing unseen.
      EXPECT_NEAR(e->smallest, low, 1e-6 * largest);
      EXPECT_NEAR(e->largest, high, 1e-6 * largest);
    }
    if (const auto& e = p.spectra.singular_values) {
      ++singular_values;
      EXPECT_GE(e->smallest, smallest - rounding);
      EXPECT_LE(e->largest, largest + rounding);
      EXPECT_NEAR(e->largest, largest, 1e-6 * largest);
      if (std::isfinite(e->condition)) {
        EXPECT_LE(e->condition, largest / smallest * (1 + 1e-6 + 1e-12 * largest / smallest));
      } else {
        EXPECT_LT(smallest, 1e-11 * largest);
      }
    }
  });
  EXPECT_GT(eigenvalues, 40);
  EXPECT_GT(singular_values, 100);
}

TEST(Definiteness, NeverContradictsTheEigenvaluesOnDefiniteness) {
  std::map<std::string, int> reasons;
  const auto check = [&](const Full& f, const MatrixReport& p) {
    const Definiteness& d = p.definite;
    ++reasons[d.reason];
    EXPECT_FALSE(d.text.empty());
    if (f.rows != f.cols || f.rows == 0) return;
    const Dense<Complex> m = entries_of(f);
    Dense<Complex> skew = m;
    Dense<Complex> mean = m;
    for (std::size_t i = 0; i < f.rows; ++i) {
      for (std::size_t j = 0; j < f.rows; ++j) {
        skew(i, j) -= std::conj(m(j, i));
        mean(i, j) = (m(i, j) + std::conj(m(j, i))) / 2.0;
      }
    }
    const auto size = static_cast<double>(norm(widen(m.entries)));
    const bool hermitian = norm(widen(skew.entries)) <= 1e-10 * size;
    const double smallest = hermitian_eigen(mean).values[0];
    const double rounding = 1e-12 * size;
    if (d.verdict == Verdict::no) {
      EXPECT_TRUE(!hermitian || smallest <= rounding) << d.text;
    } else {
      EXPECT_TRUE(hermitian && smallest >= -rounding) << d.text;
    }
  };
  for_many(check);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {  // a positive diagonal, so that more is asked
    auto t = random_matrix<double>(10, 10, Symmetry::symmetric, seed);
    const auto shift = static_cast<double>(2 + seed % 17);
    for (Index i = 0; i < 10; ++i) t.add(i, i, shift);
    const auto a = to_csr(t).matrix;
    check(Full(a), matrix_report_of(a));
  }
  for (const char* reason : {"not_square", "not_symmetric", "diagonal", "minor", "curvature",
                             "strictly_dominant", "nothing_against"}) {
    EXPECT_GT(reasons[reason], 0) << reason;
  }
  std::set<std::string> known;
  for (const Reason& r : list_reasons()) known.insert(r.name);
  for (const auto& [reason, n] : reasons) EXPECT_EQ(known.count(reason), 1U) << reason;
}

Definiteness verdict_on(const Triplets<double>& t, bool lanczos = true) {
  AnalysisOptions options;
  options.lanczos = lanczos;
  return matrix_report_of(to_csr(t).matrix, options).definite;
}

/// A graph's Laplacian: a path of n nodes, twice.
Triplets<double> two_paths(Index n, double shift) {
  auto t = no_entries<double>(2 * n, 2 * n);
  for (Index half = 0; half < 2; ++half) {
    for (Index i = half * n; i + 1 < (half + 1) * n; ++i) {
      t.add(i, i, 1);
      t.add(i + 1, i + 1, 1);
      t.add(i, i + 1, -1);
      t.add(i + 1, i, -1);
    }
  }
  t.add(n - 1, n - 1, shift);
  return t;
}

TEST(Definiteness, AsksForOneStrictRowInEachComponent) {
  const auto poisson = verdict_on(poisson2d(6, 5));
  EXPECT_EQ(poisson.verdict, Verdict::yes);
  EXPECT_EQ(poisson.reason, "irreducibly_dominant");
  EXPECT_EQ(verdict_on(poisson1d(1)).reason, "strictly_dominant");
  const auto one_pinned = verdict_on(two_paths(5, 1));
  EXPECT_EQ(one_pinned.verdict, Verdict::no);
  EXPECT_EQ(one_pinned.reason, "row_sums");
  EXPECT_EQ(one_pinned.place.row, 5) << "the second path floats";
  auto both = two_paths(5, 1);
  both.add(7, 7, 1e-3);
  EXPECT_EQ(verdict_on(both).reason, "irreducibly_dominant");
  // A zero that is stored joins nothing.
  auto joined_by_zero = two_paths(5, 1);
  joined_by_zero.add(4, 5, 0.0);
  joined_by_zero.add(5, 4, 0.0);
  EXPECT_EQ(verdict_on(joined_by_zero).reason, "row_sums");
}

TEST(Definiteness, FindsTheMinorThatIsNotPositive) {
  for (const double scale : {1.0, 1e-200, 1e200}) {
    for (const auto& [off, expected] :
         {std::pair<double, bool>{3.0, true}, {2.9999999999999996, false}}) {
      auto t = no_entries<double>(3, 3);
      for (Index i = 0; i < 3; ++i) t.add(i, i, 3 * scale);
      t.add(1, 2, off * scale);
      t.add(2, 1, off * scale);
      const auto d = verdict_on(t);
      EXPECT_EQ(d.reason == "minor", expected) << off << " times " << scale << ": " << d.text;
      if (!expected) continue;
      EXPECT_EQ(d.place.row, 1);
      EXPECT_EQ(d.place.col, 2);
    }
  }
}

TEST(Definiteness, DecidesAMinorByTheBitsThatRoundingDrops) {
  // In double both products are the same; exactly, d e - h^2 = 4.2e-18, and -2.4e-16 for the next
  // h.
  const double d = 0x1.c386bbc204f8ap+0;
  const double e = 0x1.c942425108f9dp-1;
  const double h = 0x1.414c3423c5fd7p+0;
  ASSERT_EQ(d * e, h * h);
  for (const double off : {h, std::nextafter(h, 2.0)}) {
    auto t = no_entries<double>(2, 2);
    t.add(0, 0, d);
    t.add(1, 1, e);
    t.add(0, 1, off);
    t.add(1, 0, off);
    EXPECT_EQ(verdict_on(t).reason == "minor", off > h) << off - h;
  }
}

/// A path's signless Laplacian, B B' with rows of B e_i + e_(i+1): x = (1, -1, 1, ...) gives 0.
TEST(Definiteness, IsNotProvedByEqualityInEveryRow) {
  for (const Index n : {3, 4, 30}) {
    auto t = no_entries<double>(n, n);
    for (Index i = 0; i + 1 < n; ++i) {
      t.add(i, i, 1);
      t.add(i + 1, i + 1, 1);
      t.add(i, i + 1, 1);
      t.add(i + 1, i, 1);
    }
    EXPECT_NE(verdict_on(t).verdict, Verdict::yes) << n;
  }
}

/// B B' of whole numbers is semidefinite, exactly: no x has x'Ax < 0.
TEST(Definiteness, TakesRoundingForNoEvidence) {
  int within_rounding = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Index n = 8;
    const Index rank = 2 + random.below(5);
    std::vector<std::vector<double>> b(n, std::vector<double>(static_cast<std::size_t>(rank)));
    for (auto& row : b) {
      for (double& v : row) v = static_cast<double>(random.below(2001) - 1000);
    }
    auto t = no_entries<double>(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < b[0].size(); ++k) {
          sum += b[static_cast<std::size_t>(i)][k] * b[static_cast<std::size_t>(j)][k];
        }
        t.add(i, j, sum);
      }
    }
    const Definiteness d = verdict_on(t);
    EXPECT_NE(d.reason, "curvature") << seed << ": " << d.text;
    EXPECT_NE(d.verdict, Verdict::yes) << seed;
    if (d.reason == "within_rounding") ++within_rounding;
  }
  EXPECT_GT(within_rounding, 10);
}

TEST(Definiteness, ProvesThatAMatrixIsIndefiniteByAVector) {
  // Positive diagonal and minors, and an eigenvalue 1 - 3 * 0.5 < 0.
  const Index n = 400;
  auto t = no_entries<double>(n, n);
  for (Index i = 0; i < n; ++i) {
    t.add(i, i, 1);
    for (const Index j : {(i + 1) % n, (i + 2) % n}) {
      t.add(i, j, -0.6);
      t.add(j, i, -0.6);
    }
  }
  const auto d = verdict_on(t);
  EXPECT_EQ(d.verdict, Verdict::no);
  EXPECT_EQ(d.reason, "curvature");
  EXPECT_NEAR(d.value, 1 - 4 * 0.6, 0.05);
  EXPECT_EQ(verdict_on(t, false).reason, "not_looked_at");
}

TEST(Definiteness, NamesTheConditionOfAMatrixWithAKnownSpectrum) {
  const auto a = to_csr(random_spd(one_to(30), 5)).matrix;
  const MatrixReport p = matrix_report_of(a);
  ASSERT_TRUE(p.spectra.eigenvalues.has_value());
  EXPECT_NEAR(p.spectra.eigenvalues->condition, 30, 1e-8);
  EXPECT_FALSE(p.spectra.singular_values.has_value());
  EXPECT_EQ(p.definite.verdict, Verdict::open);
  const MatrixReport singular = matrix_report_of(to_csr(two_paths(6, 0)).matrix);
  ASSERT_TRUE(singular.spectra.eigenvalues.has_value());
  EXPECT_NEAR(singular.spectra.eigenvalues->smallest, 0, 1e-14);
  EXPECT_TRUE(singular.row_sums.null_vector);
}

}  // namespace
