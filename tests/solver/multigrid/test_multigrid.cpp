// Algebraic multigrid as a preconditioner: rates against an oracle, iterations that do not grow,
// what it says of itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/registry.hpp>
#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "messages.hpp"
#include "preconditioner_oracles.hpp"
#include "problems.hpp"
#include "solving.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::make_preconditioner;
using krysol::Status;

template <class Exec>
class Multigrid : public testing::Test {};
using MultigridCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(Multigrid, MultigridCases, SpaceName);

struct Rates {
  const char* problem;
  const char* strength;
  double of_degree[3];
};

/// By tests/scripts/two_grid.py.
const Rates grid_rates[] = {
    {"poisson2d 12 x 11", "", {0.40892, 0.08355, 0.06494}},
    {"poisson2d 6 x 24, 0.01 : 1", "", {0.11490, 0.04245, 0.02250}},
    {"poisson2d 13 x 10, lines of 0.1, 1, 10", "", {0.62637, 0.24985, 0.11353}},
};

TYPED_TEST(Multigrid, HasTheRatesOfTwoGridsOfNodesThatDenseMatricesHave) {
  auto lines = poisson2d(13, 10);
  for (std::size_t k = 0; k < lines.values.size(); ++k) {
    const double c = std::pow(10.0, lines.row_idx[k] / 13 % 3 - 1);
    const Index along = lines.col_idx[k] - lines.row_idx[k];
    if (along == 1 || along == -1) lines.values[k] *= c;
    if (along == 0) lines.values[k] = 2 * c + 2;
  }
  for (const Rates& expected : grid_rates) {
    const std::string problem = expected.problem;
    const Triplets<double> a = problem.find("lines") != std::string::npos  ? lines
                               : problem.find("0.01") != std::string::npos ? poisson2d(6, 24, 0.01)
                                                                           : poisson2d(12, 11);
    for (const int degree : {1, 2, 3}) {
      const auto made = make_preconditioner<double, TypeParam>(
          "amg:coarsest=100,precision=double,degree=" + std::to_string(degree), to_csr(a).matrix);
      EXPECT_EQ(made.m->report()[0].value, "2") << problem;
      EXPECT_EQ(made.m->report()[1].value, "grids") << problem;
      const double wanted = expected.of_degree[degree - 1];
      EXPECT_NEAR(rate(*made.m, a), wanted, 0.002 * wanted) << problem << ", degree " << degree;
    }
  }
}

const Rates two_grid_rates[] = {
    {"poisson2d 12 x 11", "0.25", {0.52321, 0.18346, 0.13984}},
    {"poisson2d 6 x 24, 0.01 : 1", "0.25", {0.50948, 0.22662, 0.19899}},
    {"poisson2d 9 x 8, two unknowns", "0.25", {0.79061, 0.51640, 0.36319}},
    {"poisson2d 6 x 24, 0.01 : 1, all strong", "0", {0.96609, 0.90452, 0.82201}},
};

TYPED_TEST(Multigrid, HasTheRatesOfTwoGridsThatDenseMatricesHave) {
  for (const Rates& expected : two_grid_rates) {
    const std::string problem = expected.problem;
    const Triplets<double> a = problem.find("two") != std::string::npos
                                   ? two_unknowns(poisson2d(9, 8))
                               : problem.find("0.01") != std::string::npos ? poisson2d(6, 24, 0.01)
                                                                           : poisson2d(12, 11);
    const auto host = to_csr(a).matrix;
    for (const int degree : {1, 3}) {
      // The second level is solved exactly where it has 100 rows or less.
      const auto made = make_preconditioner<double, TypeParam>(
          "amg:coarsening=aggregates,coarsest=100,degree=" + std::to_string(degree) +
              ",strength=" + expected.strength + ",precision=double",
          host);
      EXPECT_EQ(made.m->report().front().value, "2") << problem;
      const double wanted = expected.of_degree[degree - 1];
      EXPECT_NEAR(rate(*made.m, a), wanted, 0.02 * wanted) << problem << ", degree " << degree;
    }
  }
}

TYPED_TEST(Multigrid, TakesAsManyIterationsForALargeGridAsForASmallOne) {
  const auto iterations = [](const std::string& name, const std::string& precond) {
    const auto a = krysol::gallery::make_problem(name);
    const auto m = make_preconditioner<double, TypeParam>(precond, a);
    EXPECT_EQ(m.note, "") << name;
    const auto op = krysol::make_operator<double, TypeParam>("csr", a);
    const auto b = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows), 1));
    const auto x = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows)));
    const auto result =
        krysol::solve<double, TypeParam>("cg", TypeParam{}, *op, b, x, *m.m, {.rtol = 1e-8});
    EXPECT_EQ(result.status, Status::converged) << name << ": " << result.advice;
    EXPECT_LE(result.residual, 1e-8 * result.b_norm);
    return result.iterations;
  };
  const std::string aggregates = "amg:coarsening=aggregates";
  EXPECT_LE(iterations("poisson:12", aggregates), 10);
  EXPECT_LE(iterations("poisson:24", aggregates), 11);
  EXPECT_LE(iterations("poisson27:20", aggregates),
            11);  // 26 neighbours, none strong beside their sum
  EXPECT_LE(iterations("poisson2d:64", aggregates), 14);
  EXPECT_LE(iterations("anisotropy:64", aggregates), 14);
  EXPECT_LE(iterations("rotated:40", aggregates), 32);
  EXPECT_LE(iterations("jumps:16", aggregates), 27);
  EXPECT_LE(iterations("fem:14", aggregates), 12);
  EXPECT_LE(iterations("elasticity:8", aggregates), 40);
  EXPECT_LE(iterations("beam2d:16", aggregates), 42);
  EXPECT_LE(iterations("wathen:30", aggregates), 14);
  // As grids.
  EXPECT_LE(iterations("poisson:12", "amg"), 6);
  EXPECT_LE(iterations("poisson:24", "amg"), 7);
  EXPECT_LE(iterations("poisson27:20", "amg"), 6);
  EXPECT_LE(iterations("poisson2d:64", "amg"), 6);
  EXPECT_LE(iterations("anisotropy:64", "amg"), 7);
  EXPECT_LE(iterations("rotated:40", "amg"), 29);
  EXPECT_LE(iterations("jumps:16", "amg"), 20);
  EXPECT_LE(iterations("fem:14", "amg"), 8);
  EXPECT_LE(iterations("elasticity:8", "amg"), 12);
  EXPECT_LE(iterations("beam2d:16", "amg"), 16);
  // What each option is for.
  EXPECT_GT(iterations("anisotropy:64", "amg:strength=0"), 30);
  EXPECT_GT(iterations("anisotropy:64", aggregates + ",strength=0"), 40);
  EXPECT_GT(iterations("elasticity:8", aggregates + ",block=1"),
            iterations("elasticity:8", aggregates) + 5);
  EXPECT_GT(iterations("poisson:24", "amg:degree=1"), iterations("poisson:24", "amg:degree=3"));
  EXPECT_LT(iterations("beam2d:16", "amg:cycle=w,coarsest=20"),
            iterations("beam2d:16", "amg:coarsest=20"));
  EXPECT_LT(iterations("beam2d:16", aggregates + ",cycle=w,coarsest=20"),
            iterations("beam2d:16", aggregates + ",coarsest=20"));
}

/// With three levels or more: each bit of the error that the V-cycle leaves, twice.
TYPED_TEST(Multigrid, GoesOverCoarseLevelsTwiceInAWCycle) {
  const auto a = poisson2d(12, 11);
  const auto host = to_csr(a).matrix;
  const auto of = [&](const char* options) {
    const auto made = make_preconditioner<double, TypeParam>(
        std::string("amg:coarsening=aggregates,coarsest=4,precision=double,degree=1,") + options,
        host);
    return std::pair(rate(*made.m, a), made.m->bytes());
  };
  const auto [v, v_bytes] = of("cycle=v");
  const auto [w, w_bytes] = of("cycle=w");
  EXPECT_LT(w, 0.995 * v);
  // With steps that follow each other, on levels that are visited again.
  for (const char* more : {"", ",coarsening=aggregates"}) {
    const auto rate_of = [&](const std::string& cycle) {
      return rate(*make_preconditioner<double, TypeParam>(
                       "amg:coarsest=4,precision=double,degree=3,cycle=" + cycle + more, host)
                       .m,
                  a);
    };
    EXPECT_LT(rate_of("w"), rate_of("v") * 1.001) << more;
    EXPECT_LT(rate_of("w"), 0.2) << more;
  }
  EXPECT_GT(w_bytes, 1.1 * v_bytes);
  EXPECT_LT(w_bytes, 2 * v_bytes);
}

/// A product by each level's matrix and six vectors of it before the correction, and after; where
/// there is one step alone, five less.
TYPED_TEST(Multigrid, CountsTheBytesOfASmoothersSteps) {
  const auto a = krysol::gallery::make_problem("poisson:14");
  const auto h = krysol::multigrid::make_hierarchy(
      a, {.coarsening = krysol::multigrid::Coarsening::aggregates, .coarsest = 20});
  const auto bytes = [&](int degree) {
    return krysol::multigrid::Hierarchy<float, TypeParam>(h, {.degree = degree}, false).bytes(8);
  };
  const krysol::multigrid::Hierarchy<float, TypeParam> levels(h, {}, false);
  double products = 0;
  double vector = 0;
  for (std::size_t l = 0; l + 1 < levels.levels().size(); ++l) {
    const auto& level = levels.levels()[l].a;
    EXPECT_GE(level.bytes(), 8 * level.nnz());  // float and a column
    products += 2 * static_cast<double>(level.bytes());
    vector += 4.0 * level.rows();
  }
  EXPECT_DOUBLE_EQ(bytes(4) - bytes(3), products + 12 * vector);
  EXPECT_DOUBLE_EQ(bytes(3) - bytes(2), products + 12 * vector);
  EXPECT_DOUBLE_EQ(bytes(2) - bytes(1), products + 10 * vector);
  EXPECT_GT(bytes(1), products + 4096);
}

TYPED_TEST(Multigrid, InFloatTakesTheIterationsOfDouble) {
  for (const char* name : {"poisson:16", "jumps:12", "fem:10"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto op = krysol::make_operator<double, TypeParam>("csr", a);
    std::int64_t iterations[2];
    for (int k = 0; k < 2; ++k) {
      const auto m = make_preconditioner<double, TypeParam>(
          k == 0 ? "amg:coarsest=20" : "amg:coarsest=20,precision=double", a);
      const auto b =
          to_device<TypeParam>(random_vector<double>(static_cast<std::size_t>(a.rows), 3));
      const auto x = to_device<TypeParam>(std::vector<double>(static_cast<std::size_t>(a.rows)));
      iterations[k] =
          krysol::solve<double, TypeParam>("cg", TypeParam{}, *op, b, x, *m.m, {.rtol = 1e-10})
              .iterations;
    }
    EXPECT_LE(std::abs(iterations[0] - iterations[1]), 1) << name;
  }
}

/// Numbers that float cannot hold: it sees r and A scaled.
TYPED_TEST(Multigrid, IsLinearWhateverTheSizeOfItsNumbers) {
  const auto t = poisson2d(20, 19);
  const auto r = random_vector<double>(380, 1);
  const auto z =
      applied(*make_preconditioner<double, TypeParam>("amg:coarsest=20", to_csr(t).matrix).m, r);
  for (const double size : {0x1p-400, 0x1p-200, 0x1p200}) {
    auto other = t;
    for (double& v : other.values) v *= size;
    auto scaled = r;
    for (double& v : scaled) v *= size * 0x1p-300;
    const auto got = applied(
        *make_preconditioner<double, TypeParam>("amg:coarsest=20", to_csr(other).matrix).m, scaled);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_EQ(got[i], z[i] * 0x1p-300) << size;
  }
  const auto zero = applied(*make_preconditioner<double, TypeParam>("amg", to_csr(t).matrix).m,
                            std::vector<double>(380));
  EXPECT_EQ(zero, std::vector<double>(380));
}

TYPED_TEST(Multigrid, LeavesOutTheNullSpaceOfTheLastLevelAndSaysSo) {
  const auto a = to_csr(neumann2d(40, 30)).matrix;
  const auto made = make_preconditioner<double, TypeParam>("amg", a);
  EXPECT_TRUE(made.note.starts_with("amg: the last level is singular; 1 of its ")) << made.note;
  EXPECT_EQ(made.refusal, "");
  // b without the constants' part: x is found as for a definite matrix.
  auto b = random_vector<double>(1200, 1);
  double mean = 0;
  for (const double v : b) mean += v / 1200;
  for (double& v : b) v -= mean;
  const auto op = krysol::make_operator<double, TypeParam>("csr", a);
  const auto x = to_device<TypeParam>(std::vector<double>(1200));
  const auto result = krysol::solve<double, TypeParam>(
      "cg", TypeParam{}, *op, to_device<TypeParam>(b), x, *made.m, {.rtol = 1e-8});
  EXPECT_EQ(result.status, Status::converged) << result.advice;
  EXPECT_LE(result.iterations, 16);
}

/// Parts that are not connected, smaller than an aggregate or larger: their null vectors leave
/// diagonal entries of rounding noise on coarse levels, which take no part.
TYPED_TEST(Multigrid, TakesOutWhatIsAComponentByItself) {
  for (const char* name : {"laplacian:3000:300", "laplacian:3000:3", "neumann2d:50"}) {
    const auto a = krysol::gallery::make_problem(name);
    const auto made = make_preconditioner<double, TypeParam>("amg:coarsest=1", a);
    EXPECT_EQ(made.used, "amg:coarsest=1") << made.note;
    // A x* has no part in the null space.
    const auto n = static_cast<std::size_t>(a.rows);
    const auto op = krysol::make_operator<double, TypeParam>("csr", a);
    const auto b = to_device<TypeParam>(std::vector<double>(n));
    krysol::apply(
        TypeParam{}, 1.0, *op,
        krysol::ConstVector<double, TypeParam>(to_device<TypeParam>(random_vector<double>(n, 1))),
        0.0, b);
    const auto x = to_device<TypeParam>(std::vector<double>(n));
    const auto result =
        krysol::solve<double, TypeParam>("cg", TypeParam{}, *op, b, x, *made.m, {.rtol = 1e-8});
    EXPECT_EQ(result.status, Status::converged) << name << ": " << result.advice;
    EXPECT_LE(result.iterations, 40) << name;
  }
}

/// Nearly singular: the last level's inverse must stay definite when all else is rounded to float.
TYPED_TEST(Multigrid, StaysDefiniteWhereALevelIsNearlySingular) {
  auto t = neumann2d(24, 20);
  for (Index i = 0; i < t.rows; ++i) t.add(i, i, 1e-9);
  const auto a = to_csr(t).matrix;
  const auto made = make_preconditioner<double, TypeParam>("amg:coarsest=80", a);
  EXPECT_EQ(made.used, "amg:coarsest=80") << made.note;
  const auto n = static_cast<std::size_t>(a.rows);
  const auto op = krysol::make_operator<double, TypeParam>("csr", a);
  const auto b = to_device<TypeParam>(random_vector<double>(n, 1));
  const auto x = to_device<TypeParam>(std::vector<double>(n));
  const auto result =
      krysol::solve<double, TypeParam>("cg", TypeParam{}, *op, b, x, *made.m, {.rtol = 1e-6});
  EXPECT_EQ(result.status, Status::converged) << result.advice;
  EXPECT_LE(result.iterations, 20);
}

TYPED_TEST(Multigrid, DoesWithoutLevelsWhereThereIsNothingToCoarsen) {
  // No unknown is connected to another: the diagonal is all there is, and the smoother inverts it.
  auto t = no_entries<double>(3000, 3000);
  for (Index i = 0; i < 3000; ++i) t.add(i, i, 1 + i % 7);
  const auto made = make_preconditioner<double, TypeParam>("amg", to_csr(t).matrix);
  EXPECT_EQ(made.note,
            "amg: no unknown is strongly connected to another; the last level has 3000 rows and is "
            "smoothed, not solved");
  const auto z = applied(*made.m, std::vector<double>(3000, 1.0));
  // Sixteen steps leave 1 / (2 16 + 1) of the error where the eigenvalue is the largest.
  for (std::size_t i = 0; i < 3000; ++i) {
    const double exact = 1.0 / (1 + static_cast<double>(i % 7));
    EXPECT_NEAR(z[i], exact, exact / 32.9);
  }
}

TYPED_TEST(Multigrid, NamesTheRowWithoutAPositiveDiagonal) {
  auto t = poisson2d(9, 8);
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    if (t.row_idx[k] == 40 && t.col_idx[k] == 40) t.values[k] = -3;
  }
  const auto made = make_preconditioner<double, TypeParam>("amg", to_csr(t).matrix);
  EXPECT_EQ(made.used, "jacobi");
  EXPECT_EQ(made.note, "amg: row 41 has -3 on the diagonal; jacobi is used instead");
  // Indefinite with a positive diagonal: found at the last level, or in the solve.
  auto wide = poisson2d(9, 8);
  for (double& v : wide.values) v = v > 0 ? 2 * v / 4 : v;
  const auto other = make_preconditioner<double, TypeParam>("amg", to_csr(wide).matrix);
  EXPECT_EQ(other.used, "jacobi");
  EXPECT_TRUE(other.note.starts_with("amg: the coarsest matrix has an eigenvalue of -"))
      << other.note;
}

TYPED_TEST(Multigrid, ReportsItsLevels) {
  const auto a = krysol::gallery::make_problem("poisson:16");
  const auto report = make_preconditioner<double, TypeParam>("amg", a).m->report();
  std::vector<std::string> names;
  for (const auto& fact : report) names.push_back(fact.name);
  EXPECT_EQ(names[0], "levels");
  const auto levels = static_cast<std::size_t>(std::stoi(report[0].value));
  EXPECT_GE(levels, 3U);
  ASSERT_EQ(names.size(), 9 + levels);
  EXPECT_EQ(names[1], "coarsening");
  EXPECT_EQ(report[1].value, "grids");
  EXPECT_EQ(names[2], "smoother");
  EXPECT_EQ(report[2].value, "chebyshev");
  EXPECT_EQ(names[3], "steps of a smoother");
  EXPECT_EQ(report[3].value, "2");
  EXPECT_EQ(names[5], "near-null vectors");
  EXPECT_EQ(report[5].value, "1");
  EXPECT_EQ(names[8], "level 1");
  EXPECT_TRUE(report[8].value.starts_with("4096 rows, 27136 nonzeros, ")) << report[8].value;
  EXPECT_TRUE(report[9].value.starts_with("729 rows, 15625 nonzeros, ")) << report[9].value;
  EXPECT_EQ(names.back(), "seconds of the setup");
  const double nonzeros = std::stod(report[7].value);
  EXPECT_GT(nonzeros, 1.1);
  EXPECT_LT(nonzeros, 2.0);
}

TYPED_TEST(Multigrid, SaysWhatItsOptionsMayBe) {
  const auto a = to_csr(poisson2d(4, 3)).matrix;
  const auto said = [&](const std::string& name) {
    return message_of([&] { make_preconditioner<double, TypeParam>(name, a); });
  };
  EXPECT_EQ(said("amg:f"), "preconditioner 'amg:f': expected one of v w k after 'amg:'");
  EXPECT_EQ(said("amg:degree=17"),
            "preconditioner 'amg:degree=17': option 'degree' must be a whole number from 1 to 16, "
            "not '17'");
  EXPECT_EQ(
      said("amg:strength=1"),
      "preconditioner 'amg:strength=1': option 'strength' must be a number from 0 on and below 1, "
      "not '1'");
  EXPECT_EQ(
      said("amg:coarsest=2001"),
      "preconditioner 'amg:coarsest=2001': option 'coarsest' must be a whole number from 1 to "
      "2000, not '2001'");
  EXPECT_EQ(
      said("amg:block=0"),
      "preconditioner 'amg:block=0': option 'block' must be a whole number from 1 to 64, not '0'");
  EXPECT_EQ(
      said("amg:precision=half"),
      "preconditioner 'amg:precision=half': option 'precision' must be one of float double, not "
      "'half'");
  EXPECT_EQ(
      said("amg:theta=1"),
      "preconditioner 'amg:theta=1': unknown option 'theta'; known: cycle degree strength block "
      "coarsest precision coarsening aggressive vectors smoother");
  EXPECT_EQ(said("amg:coarsening=pmis"),
            "preconditioner 'amg:coarsening=pmis': option 'coarsening' must be one of auto "
            "aggregates classical, not 'pmis'");
  EXPECT_EQ(said("amg:block=5"), "amg: nodes of 5 rows do not make up a matrix of 12");
}

}  // namespace
