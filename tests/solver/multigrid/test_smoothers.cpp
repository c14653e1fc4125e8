// Smoothers of multigrid: rates against an oracle, lines and colours against their definitions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/strong_lines.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/registry.hpp>
#include "messages.hpp"
#include "preconditioner_oracles.hpp"
#include "problems.hpp"
#include "solving.hpp"

namespace {

using namespace krysol_tests;
using krysol::make_preconditioner;
using krysol::multigrid::strong_lines;
using krysol::multigrid::StrongLines;

template <class Exec>
class Smoothers : public testing::Test {};
using SmootherSpaces = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Smoothers, SmootherSpaces, SpaceName);

struct SmootherRates {
  const char* smoother;
  bool two_unknowns;  // a node of poisson2d 9 x 8; else poisson2d 6 x 24, 0.01 : 1
  double of_degree[3];
};

/// By tests/scripts/two_grid.py.
const SmootherRates smoother_rates[] = {
    {"l1-jacobi", false, {0.59340, 0.38713, 0.28901}},
    {"l1-jacobi", true, {0.83623, 0.70829, 0.60909}},
    {"spai0", false, {0.49313, 0.30401, 0.23693}},
    {"spai0", true, {0.72288, 0.55150, 0.45018}},
    {"gauss-seidel", false, {0.35141, 0.21125, 0.17572}},
    {"gauss-seidel", true, {0.54399, 0.36753, 0.29363}},
    {"block", true, {0.56139, 0.33398, 0.24754}},
    {"line", false, {0.05595, 0.06210, 0.00745}},
};

TYPED_TEST(Smoothers, HaveTheRatesOfTwoGridsThatDenseMatricesHave) {
  for (const SmootherRates& expected : smoother_rates) {
    const Triplets<double> a =
        expected.two_unknowns ? two_unknowns(poisson2d(9, 8)) : poisson2d(6, 24, 0.01);
    for (const int degree : {1, 2, 3}) {
      const std::string name =
          std::string("amg:coarsening=aggregates,coarsest=100,precision=double,smoother=") +
          expected.smoother + ",degree=" + std::to_string(degree);
      const auto made = make_preconditioner<double, TypeParam>(name, to_csr(a).matrix);
      EXPECT_EQ(made.m->report()[0].value, "2") << name;
      EXPECT_EQ(made.m->report()[2].value, expected.smoother);
      const double wanted = expected.of_degree[degree - 1];
      EXPECT_NEAR(rate(*made.m, a), wanted, 0.02 * wanted) << name;
    }
  }
}

/// Those that need a node's rows, or lines, and find none, are as the default is.
TYPED_TEST(Smoothers, AreChebyshevsPolynomialOnLevelsWithoutBlocksOrLines) {
  const auto a = to_csr(poisson2d(12, 11)).matrix;
  const auto of = [&](const std::string& smoother) {
    const auto m = make_preconditioner<double, TypeParam>("amg:coarsest=20" + smoother, a).m;
    return applied(*m, random_vector<double>(132, 3));
  };
  const auto plain = of("");
  EXPECT_EQ(of(",smoother=chebyshev"), plain);
  EXPECT_EQ(of(",smoother=line"), plain);
  EXPECT_EQ(of(",smoother=block"), plain);
  EXPECT_NE(of(",smoother=spai0"), plain);
}

/// Rows of a node are known on every level of grids, too.
TYPED_TEST(Smoothers, TakeTheBlocksOfNodesOnGrids) {
  const auto a = krysol::gallery::make_problem("beam2d:8");
  const auto of = [&](const std::string& smoother) {
    const auto m =
        make_preconditioner<double, TypeParam>("amg:coarsest=20,smoother=" + smoother, a).m;
    EXPECT_EQ(m->report()[1].value, "grids");
    return applied(*m, random_vector<double>(static_cast<std::size_t>(a.rows), 3));
  };
  EXPECT_NE(of("block"), of("chebyshev"));
  const auto h = krysol::multigrid::make_hierarchy(a, {.coarsest = 20});
  ASSERT_GE(h.levels.size(), 2U);
  for (const auto& level : h.levels) EXPECT_EQ(level.block, 2);
}

/// A complete graph of 101 nodes, twice: the level of its sums is 0.
TYPED_TEST(Smoothers, AreNotNeededOnALevelThatIsInverted) {
  Triplets<double> a{202, 202};
  for (Index i = 0; i < 202; ++i) {
    for (Index j = i % 2; j < 202; j += 2) a.add(i, j, i == j ? 100 : -1);
  }
  const auto host = to_csr(a).matrix;
  for (const std::string smoother :
       {"chebyshev", "l1-jacobi", "spai0", "gauss-seidel", "block", "line"}) {
    const auto made = make_preconditioner<double, TypeParam>(
        "amg:coarsening=aggregates,block=2,smoother=" + smoother, host);
    EXPECT_EQ(made.used.substr(0, 3), "amg") << smoother << ": " << made.note;
  }
}

/// On levels that are visited twice the residual after the first cycle is needed, too.
TYPED_TEST(Smoothers, ServeEveryCycleInBothPrecisions) {
  const auto a = krysol::gallery::make_problem("beam2d:6");
  for (const std::string smoother :
       {"chebyshev", "l1-jacobi", "spai0", "gauss-seidel", "block", "line"}) {
    for (const std::string coarsening : {"auto", "aggregates", "classical"}) {
      const auto iterations = [&](const std::string& more) {
        const std::string name =
            "amg:coarsest=20,coarsening=" + coarsening + ",smoother=" + smoother + more;
        const auto op = krysol::make_operator<double, TypeParam>("csr", a);
        const auto made = make_preconditioner<double, TypeParam>(name, a);
        const krysol::ConstVector<double, TypeParam> b =
            to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows), 1.0));
        const auto x = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows)));
        const auto r =
            krysol::solve<double, TypeParam>("cg", TypeParam{}, *op, b, x, *made.m, {.rtol = 1e-8});
        EXPECT_TRUE(r.converged()) << name << ": " << r.advice;
        EXPECT_LE(r.iterations, 60) << name;
        return r.iterations;
      };
      const auto v = iterations("");
      EXPECT_LE(iterations(",precision=double"), v + 1) << smoother << coarsening;
      EXPECT_LE(iterations(",cycle=w"), v + 1) << smoother << coarsening;
      EXPECT_LE(iterations(",cycle=k"), v + 10) << smoother << coarsening;
    }
  }
}

/// As where coarsening has stalled at once; largest: a bound of its eigenvalues.
krysol::multigrid::HostHierarchy<double> one_level(const krysol::HostCsr<double>& a,
                                                   double largest) {
  krysol::multigrid::HostHierarchy<double> h;
  h.scale = krysol::multigrid::scale_of(a, 1, 0);
  h.levels.emplace_back();
  h.levels.back().a = krysol::multigrid::scaled_entries<double>(a, h.scale);
  h.levels.back().block = 2;
  h.levels.back().largest = largest;
  return h;
}

/// Where coarsening has stalled at more rows than are inverted, the smoother is alone.
TYPED_TEST(Smoothers, ServeALastLevelThatIsNotInverted) {
  Triplets<double> a{700, 700};  // pairs of rows, no two of which are coupled
  for (Index i = 0; i < 700; ++i) {
    a.add(i, i, 2);
    if (i % 2 == 0) {
      a.add(i, i + 1, -1);
      a.add(i + 1, i, -1);
    }
  }
  const auto host = to_csr(a).matrix;
  for (const std::string smoother :
       {"chebyshev", "l1-jacobi", "spai0", "gauss-seidel", "block", "line"}) {
    const auto h = one_level(host, 1.5);
    krysol::multigrid::CycleOptions options;
    for (std::size_t k = 0; k < std::size(krysol::multigrid::smoother_names); ++k) {
      if (smoother == krysol::multigrid::smoother_names[k]) {
        options.smoother = static_cast<krysol::multigrid::SmootherKind>(k);
      }
    }
    const krysol::multigrid::Hierarchy<double, TypeParam> levels(h, options, false);
    EXPECT_FALSE(levels.exact());
    const auto r = random_vector<double>(700, 4);
    const krysol::ConstVector<double, TypeParam> from = to_device<TypeParam>(r);
    const auto z = to_device<TypeParam>(std::vector<double>(700));
    levels.apply(TypeParam{}, from, z);
    const auto found = to_host(z);
    for (std::size_t i = 0; i < 700; ++i) {  // [2 -1; -1 2]^-1 = [2 1; 1 2] / 3
      EXPECT_NEAR(found[i], (2 * r[i] + r[i ^ 1U]) / 3, 0.06) << smoother << ' ' << i;
    }
  }
}

/// By itself, too, a smoother is a symmetric operator. The graph needs three colours: with two of
/// them any numbers of sweeps to and fro are symmetric.
TYPED_TEST(Smoothers, AreSymmetricOnALastLevelThatIsNotInverted) {
  constexpr Index n = 720;
  Triplets<double> a{n, n};
  Random random(8);
  const auto couple = [&](Index i, Index j) {
    const double weight = 1 + 0.9 * random.number();
    a.add(i, i, weight);
    a.add(j, j, weight);
    a.add(i, j, -weight);
    a.add(j, i, -weight);
  };
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, 0.01);
    for (const Index step : {1, 30, 31}) {  // triangles i, i + 1, i + 31
      if (i + step < n) couple(i, i + step);
    }
  }
  const auto host = to_csr(a).matrix;
  const auto r = random_vector<double>(n, 5);
  const auto s = random_vector<double>(n, 6);
  for (std::size_t k = 0; k < std::size(krysol::multigrid::smoother_names); ++k) {
    const auto h = one_level(host, 2);
    krysol::multigrid::CycleOptions options;
    options.smoother = static_cast<krysol::multigrid::SmootherKind>(k);
    const krysol::multigrid::Hierarchy<double, TypeParam> levels(h, options, false);
    ASSERT_FALSE(levels.exact());
    const auto smoothed = [&](const std::vector<double>& v) {
      const krysol::ConstVector<double, TypeParam> from = to_device<TypeParam>(v);
      const auto z = to_device<TypeParam>(std::vector<double>(v.size()));
      levels.apply(TypeParam{}, from, z);
      Kokkos::fence();
      return to_host(z);
    };
    const auto of_r = smoothed(r);
    const auto of_s = smoothed(s);
    double left = 0;
    double right = 0;
    double size = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      left += s[i] * of_r[i];
      right += r[i] * of_s[i];
      size += std::abs(s[i] * of_r[i]);
    }
    EXPECT_NEAR(left, right, 1e-10 * size) << krysol::multigrid::smoother_names[k];
  }
}

TEST(Smoothers, OfAnUpdateAreThoseOfItsValues) {
  const auto a = krysol::gallery::make_problem("anisotropy:24");
  for (const std::string smoother :
       {"chebyshev", "l1-jacobi", "spai0", "gauss-seidel", "block", "line"}) {
    const std::string name = "amg:coarsening=classical,coarsest=50,smoother=" + smoother;
    auto made = make_preconditioner<double, krysol::Host>(name, a);
    krysol::update_preconditioner(made, a);
    auto twice = krysol::gallery::make_problem("anisotropy:24");
    for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) *= 2;
    krysol::update_preconditioner(made, twice);
    const auto r = random_vector<double>(576, 6);
    const auto half = applied(*made.m, r);
    const auto whole = applied(*make_preconditioner<double, krysol::Host>(name, a).m, r);
    for (std::size_t i = 0; i < 576; ++i) EXPECT_NEAR(2 * half[i], whole[i], 1e-5) << smoother;
  }
}

TEST(Smoothers, SayWhatTheyAre) {
  const auto a = krysol::gallery::make_problem("anisotropy:24");
  const auto level = [&](const std::string& smoother) {
    const auto made =
        make_preconditioner<double, krysol::Host>("amg:coarsest=50,smoother=" + smoother, a);
    for (const auto& fact : made.m->report()) {
      if (fact.name == "level 1") return fact.value;
    }
    return std::string();
  };
  EXPECT_NE(level("gauss-seidel").find("csr, 0.0 MB, 2 colours"), std::string::npos)
      << level("gauss-seidel");
  EXPECT_NE(level("line").find(", 24 lines, eigenvalues below 1."), std::string::npos)
      << level("line");
  EXPECT_NE(level("chebyshev").find(", eigenvalues below 2.00"), std::string::npos);
  EXPECT_EQ(level("spai0").find("eigenvalues"), std::string::npos) << level("spai0");
  EXPECT_EQ(
      message_of([&] { make_preconditioner<double, krysol::Host>("amg:smoother=sor", a); }),
      "preconditioner 'amg:smoother=sor': option 'smoother' must be one of chebyshev l1-jacobi "
      "spai0 gauss-seidel block line, not 'sor'");
}

/// Beside a level's matrix and vectors: what M is stored as, and its vectors between two kernels.
TYPED_TEST(Smoothers, CountTheBytesOfTheirArrays) {
  using krysol::multigrid::SmootherKind;
  const auto bytes_a_row = [](SmootherKind kind, const Triplets<double>& a) {
    const auto h = krysol::multigrid::make_hierarchy(
        to_csr(a).matrix,
        {.coarsening = krysol::multigrid::Coarsening::aggregates, .coarsest = 20});
    const krysol::multigrid::Hierarchy<float, TypeParam> levels(h, {.degree = 2, .smoother = kind},
                                                                false);
    return levels.levels()[0].smoother.bytes() / a.rows;
  };
  const auto chains = poisson2d(6, 24, 0.01);
  const auto nodes = two_unknowns(poisson2d(9, 8));
  EXPECT_EQ(bytes_a_row(SmootherKind::chebyshev, chains), 0);
  EXPECT_EQ(bytes_a_row(SmootherKind::l1_jacobi, chains), 4);     // a weight
  EXPECT_EQ(bytes_a_row(SmootherKind::spai0, chains), 4);         // likewise
  EXPECT_EQ(bytes_a_row(SmootherKind::gauss_seidel, chains), 4);  // a row's number
  // Two entries of a block's inverse; r and z.
  EXPECT_EQ(bytes_a_row(SmootherKind::block, nodes), 2 * 4 + 2 * 4);
  // A row's number and its entry of L in both passes, a pivot; r, z, and z once more in both.
  EXPECT_EQ(bytes_a_row(SmootherKind::line, chains), 2 * 4 + 2 * 4 + 4 + 4 * 4);
}

// ---- Lines

StrongLines<double> lines_of(const Triplets<double>& a) {
  const auto host = to_csr(a).matrix;
  return strong_lines(
      krysol::multigrid::scaled_entries<double>(host, krysol::multigrid::scale_of(host, 1, 0)));
}

TEST(StrongLines, RunAlongStrongCouplings) {
  const auto lines = lines_of(poisson2d(3, 5, 0.01));  // x, which runs first, is weak
  EXPECT_EQ(lines.begin, (std::vector<Index>{0, 5, 10, 15}));
  EXPECT_EQ(lines.row, (std::vector<Index>{0, 3, 6, 9, 12, 1, 4, 7, 10, 13, 2, 5, 8, 11, 14}));
  EXPECT_EQ(lines.coupled_rows, 15);
  // L D L' of tridiag(-1, 2.02, -1) / 2.02.
  const double e = -1 / 2.02;
  double pivot = 1;
  for (std::size_t p = 0; p < 5; ++p) {
    if (p > 0) {
      EXPECT_NEAR(lines.lower[p], e / pivot, 1e-15);
      pivot = 1 - e * e / pivot;
    }
    EXPECT_NEAR(lines.inverse_pivots[p], 1 / pivot, 1e-14);
  }
  EXPECT_EQ(lines.lower[5], 0) << "the first of the next line";
}

TEST(StrongLines, AreRowsByThemselvesWhereAllNeighboursAreAlike) {
  const auto lines = lines_of(poisson2d(4, 4));
  EXPECT_EQ(lines.begin.size(), 17U);
  EXPECT_EQ(lines.coupled_rows, 0);
  for (const double v : lines.lower) EXPECT_EQ(v, 0);
  const auto none = lines_of(poisson2d(0, 0));
  EXPECT_EQ(none.begin, std::vector<Index>{0});
}

TEST(StrongLines, OpenRings) {
  Triplets<double> a{5, 5};
  for (Index i = 0; i < 5; ++i) {
    a.add(i, i, 2.5);
    a.add(i, (i + 1) % 5, -1);
    a.add((i + 1) % 5, i, -1);
  }
  const auto lines = lines_of(a);
  EXPECT_EQ(lines.begin, (std::vector<Index>{0, 5}));
  EXPECT_EQ(lines.row, (std::vector<Index>{0, 1, 2, 3, 4}));
}

/// Each goes from one end to the other, wherever its rows stand in the matrix.
TEST(StrongLines, AreWholeInAnyOrderOfTheRows) {
  constexpr Index chains = 6;
  constexpr Index length = 5;
  constexpr Index rows = chains * length;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Index> place(static_cast<std::size_t>(rows));
    std::iota(place.begin(), place.end(), 0);
    for (Index i = rows - 1; i > 0; --i) {
      std::swap(place[static_cast<std::size_t>(i)],
                place[static_cast<std::size_t>(random.below(i + 1))]);
    }
    Triplets<double> a{rows, rows};
    std::vector<Index> along(static_cast<std::size_t>(rows));  // where each row is in the chains
    for (Index i = 0; i < rows; ++i) {
      const Index row = place[static_cast<std::size_t>(i)];
      along[static_cast<std::size_t>(row)] = i;
      a.add(row, row, 2.5);
      if (i % length == 0) continue;
      const Index before = place[static_cast<std::size_t>(i - 1)];
      a.add(row, before, -1);
      a.add(before, row, -1);
    }
    const auto lines = lines_of(a);
    std::vector<Index> begin;
    for (Index c = 0; c <= chains; ++c) begin.push_back(c * length);
    EXPECT_EQ(lines.begin, begin);
    EXPECT_EQ(lines.coupled_rows, rows);
    ASSERT_EQ(lines.row.size(), along.size());
    for (std::size_t p = 1; p < lines.row.size(); ++p) {
      if (p % static_cast<std::size_t>(length) == 0) continue;
      const Index now = along[static_cast<std::size_t>(lines.row[p])];
      const Index last = along[static_cast<std::size_t>(lines.row[p - 1])];
      EXPECT_EQ(std::abs(now - last), 1) << "place " << p;
      EXPECT_EQ(now / length, last / length) << "place " << p;
    }
  }
}

/// [1 e 0; e 1 e; 0 e 1] with e = 0.9 is indefinite, as the part of a positive definite matrix may
/// be.
TEST(StrongLines, EndWhereTheTridiagonalPartIsNotPositiveDefinite) {
  Triplets<double> a{3, 3};
  for (Index i = 0; i < 3; ++i) {
    a.add(i, i, 1);
    for (const Index j : {i - 1, i + 1}) {
      if (j >= 0 && j < 3) a.add(i, j, 0.9);
    }
  }
  const auto lines = lines_of(a);
  EXPECT_EQ(lines.begin, (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(lines.coupled_rows, 2);
  EXPECT_EQ(lines.lower[2], 0);
  EXPECT_EQ(lines.inverse_pivots[2], 1);
}

/// [1 e; e 1] has the second pivot 1 - e^2: a line goes on where that is more than 0.01.
TEST(StrongLines, EndBeforeAPivotThatIsNearlyZero) {
  for (const double pivot : {0.5, 0.05, 0.012, 0.009, 0.001}) {
    SCOPED_TRACE(pivot);
    const double e = -std::sqrt(1 - pivot);
    Triplets<double> a{2, 2};
    a.add(0, 0, 1);
    a.add(1, 1, 1);
    a.add(0, 1, e);
    a.add(1, 0, e);
    const bool joined = pivot > 0.01;
    const auto lines = lines_of(a);
    EXPECT_EQ(lines.begin, joined ? std::vector<Index>({0, 2}) : std::vector<Index>({0, 1, 2}));
    EXPECT_EQ(lines.row, (std::vector<Index>{0, 1}));
    EXPECT_EQ(lines.coupled_rows, joined ? 2 : 0);
    ASSERT_EQ(lines.lower.size(), 2U);
    EXPECT_EQ(lines.lower[1], joined ? e : 0);
    EXPECT_NEAR(lines.inverse_pivots[1], joined ? 1 / pivot : 1, 1e-9);
  }
}

}  // namespace
