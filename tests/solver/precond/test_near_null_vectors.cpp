// Vectors that a user gives to multigrid.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/box_grid.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/solver/solve.hpp>
#include "messages.hpp"
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::NearNullVectors;

/// An elastic body with its nodes numbered at random, so that no grid shows, and their places.
struct Body {
  HostCsr<double> a;
  std::vector<double> places;
  krysol::Index block = 0;
};

Body scattered(const std::string& name, krysol::Index block) {
  const auto a = krysol::gallery::make_problem(name);
  const auto grid = krysol::multigrid::box_grid(a.row_ptr.data(), a.col_idx.data(), a.rows, block);
  EXPECT_TRUE(grid.has_value());
  const krysol::Index nodes = a.rows / block;
  std::vector<Index> to(static_cast<std::size_t>(nodes));
  std::iota(to.begin(), to.end(), 0);
  Random random(5);
  for (std::size_t i = to.size() - 1; i > 0; --i) std::swap(to[i], to[random.bits() % (i + 1)]);
  Body body;
  body.block = block;
  body.places.resize(static_cast<std::size_t>(a.rows));
  auto t = no_entries<double>(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    const Index node = to[static_cast<std::size_t>(i / block)];
    const auto place = krysol::multigrid::place_in(*grid, i / block);
    body.places[static_cast<std::size_t>(node * block + i % block)] =
        place[static_cast<std::size_t>(i % block)];
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const Index j = a.col_idx(static_cast<std::size_t>(k));
      t.add(node * block + i % block, to[static_cast<std::size_t>(j / block)] * block + j % block,
            a.values(static_cast<std::size_t>(k)));
    }
  }
  body.a = to_csr(t).matrix;
  return body;
}

std::shared_ptr<const NearNullVectors> modes_of(const Body& body) {
  return std::make_shared<const NearNullVectors>(krysol::rigid_body_modes(body.places, body.block));
}

std::int64_t iterations_with(const Body& body, const std::string& precond,
                             std::shared_ptr<const NearNullVectors> near_null,
                             const std::string& order = "auto") {
  krysol::SolveReport report;
  krysol::SolveOptions options;
  options.preconditioner = precond;
  options.order = order;
  options.near_null = std::move(near_null);
  options.report = &report;
  std::vector<double> x(static_cast<std::size_t>(body.a.rows));
  const std::vector<double> b(x.size(), 1.0);
  const auto result = krysol::solve(body.a, b, x, options);
  EXPECT_TRUE(result.converged()) << result.advice;
  EXPECT_EQ(report.refusal, "");
  return result.iterations;
}

TEST(NearNullVectors, OfARigidBodyAreMotionsWithoutForces) {
  for (const auto& [name, block] : {std::pair("beam2d:8", 2), std::pair("beam:4", 3)}) {
    const Body body = scattered(name, block);
    const auto modes = modes_of(body);
    EXPECT_EQ(modes->block, block);
    ASSERT_EQ(modes->count, block == 2 ? 3 : 6);
    const auto count = static_cast<std::size_t>(modes->count);
    int inside = 0;
    for (Index i = 0; i < body.a.rows; ++i) {
      std::vector<double> sum(count, 0.0);
      double size = 0;
      for (auto k = body.a.row_ptr(i); k < body.a.row_ptr(i + 1); ++k) {
        const double v = body.a.values(static_cast<std::size_t>(k));
        const auto j = static_cast<std::size_t>(body.a.col_idx(static_cast<std::size_t>(k)));
        for (std::size_t c = 0; c < count; ++c) sum[c] += v * modes->values[j * count + c];
        size = std::max(size, std::abs(v));
      }
      bool held = false;  // next to the nodes that are clamped
      for (std::size_t c = 0; c < static_cast<std::size_t>(block); ++c) {
        held = held || std::abs(sum[c]) > 1e-10 * size;
      }
      if (held) continue;
      ++inside;
      for (const double s : sum) EXPECT_LE(std::abs(s), 1e-10 * size) << name << ' ' << i;
    }
    EXPECT_GT(inside, body.a.rows / 2);
  }
}

/// The same in any unit and from any origin, and rotations are about as large as translations.
TEST(NearNullVectors, OfARigidBodyHaveNoUnit) {
  for (const Index d : {2, 3}) {
    constexpr std::size_t nodes = 30;
    const auto size = static_cast<std::size_t>(d);
    const auto places = random_vector<double>(nodes * size, 9);
    auto moved = places;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      moved[k] = 1000 * places[k] + 500 * static_cast<double>(k % size + 1);
    }
    const auto modes = krysol::rigid_body_modes(places, d);
    const auto same = krysol::rigid_body_modes(moved, d);
    const auto count = static_cast<std::size_t>(modes.count);
    ASSERT_EQ(same.values.size(), modes.values.size());
    double squares = 0;  // of all rotations
    for (std::size_t k = 0; k < modes.values.size(); ++k) {
      EXPECT_NEAR(same.values[k], modes.values[k], 1e-10) << d << ' ' << k;
      if (k % count >= size) squares += modes.values[k] * modes.values[k];
    }
    // Each coordinate is in d - 1 of them; the mean square of a node's distance is scaled to 1.
    EXPECT_NEAR(squares, static_cast<double>((size - 1) * nodes), 1e-10) << d;
  }
}

TEST(NearNullVectors, LetMultigridDoWhatItDoesOnGrids) {
  for (const auto& [name, block] : {std::pair("beam2d:24", 2), std::pair("beam:6", 3)}) {
    const Body body = scattered(name, block);
    const auto without = iterations_with(body, "amg", {});
    const auto with = iterations_with(body, "amg", modes_of(body));
    EXPECT_LE(with, 0.6 * static_cast<double>(without)) << name << ' ' << without;
    // In another order of the rows they are the same vectors, if not the same nodes.
    EXPECT_LT(iterations_with(body, "amg", modes_of(body), "rcm"), without) << name;
    EXPECT_LE(iterations_with(body, "auto:jacobi*3/amg", modes_of(body)), with + 6) << name;
  }
}

TEST(NearNullVectors, AreThoseThatAreFoundWhereTheyAreConstants) {
  const auto a = krysol::gallery::make_problem("mesh:900");
  NearNullVectors ones{1, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0)};
  const auto found = krysol::multigrid::make_hierarchy(a, {});
  const auto given = krysol::multigrid::make_hierarchy(
      a, {.near_null = std::make_shared<const NearNullVectors>(ones)});
  ASSERT_EQ(found.levels.size(), given.levels.size());
  for (std::size_t l = 0; l < found.levels.size(); ++l) {
    ASSERT_EQ(found.levels[l].a.nnz(), given.levels[l].a.nnz());
    for (std::size_t k = 0; k < static_cast<std::size_t>(found.levels[l].a.nnz()); ++k) {
      ASSERT_EQ(found.levels[l].a.values(k), given.levels[l].a.values(k));
    }
  }
}

/// A user may know one vector of a matrix whose nodes have three rows.
TEST(NearNullVectors, MayBeFewerThanTheRowsOfANode) {
  const Body body = scattered("beam:4", 3);
  NearNullVectors ones{1, std::vector<double>(static_cast<std::size_t>(body.a.rows), 1.0)};
  iterations_with(body, "amg:coarsest=20", std::make_shared<const NearNullVectors>(ones));
}

TEST(NearNullVectors, AreTakenForComplexMatrices) {
  const auto a = to_csr(as<std::complex<double>>(poisson2d(30, 20))).matrix;
  krysol::SolveReport report;
  krysol::SolveOptions options;
  options.preconditioner = "amg:coarsest=20";
  options.near_null =
      std::make_shared<const NearNullVectors>(NearNullVectors{1, std::vector<double>(600, 1.0)});
  options.report = &report;
  std::vector<std::complex<double>> x(600);
  const std::vector<std::complex<double>> b(600, {1, -1});
  EXPECT_TRUE(krysol::solve(a, b, x, options).converged());
  EXPECT_EQ(report.preconditioner, "amg:coarsest=20");
}

TEST(NearNullVectors, KeepGridsThatHoldThem) {
  const auto a = krysol::gallery::make_problem("poisson2d:20");
  NearNullVectors v{2, std::vector<double>(2 * 400)};
  for (std::size_t i = 0; i < 400; ++i) {
    v.values[2 * i] = 1;
    v.values[2 * i + 1] = static_cast<double>(i % 20);  // linear
  }
  const auto hierarchy = [&] {
    return krysol::multigrid::make_hierarchy(
        a, {.near_null = std::make_shared<const NearNullVectors>(v)});
  };
  EXPECT_TRUE(hierarchy().grid);
  EXPECT_EQ(hierarchy().near_null, 2);
  for (std::size_t i = 0; i < 400; ++i) v.values[2 * i + 1] = std::sin(static_cast<double>(i));
  EXPECT_FALSE(hierarchy().grid);
  EXPECT_EQ(hierarchy().near_null, 2);
}

TEST(NearNullVectors, OutliveARefusal) {
  const Body body = scattered("beam2d:12", 2);
  auto made = krysol::make_preconditioner<double, krysol::Host>(
      "amg",
      krysol::PreconditionerInput<double, krysol::Host>{&body.a, nullptr, {}, modes_of(body)});
  const auto fact = [&] {
    for (const auto& f : made.m->report()) {
      if (f.name == "near-null vectors") return f.value;
    }
    return std::string();
  };
  EXPECT_EQ(fact(), "3");
  HostCsr<double> bad = body.a;
  bad.values = Kokkos::View<double*, krysol::Host>("bad", body.a.values.extent(0));
  Kokkos::deep_copy(bad.values, body.a.values);
  for (auto k = bad.row_ptr(0); k < bad.row_ptr(1); ++k) {
    if (bad.col_idx(static_cast<std::size_t>(k)) == 0) bad.values(static_cast<std::size_t>(k)) = -1;
  }
  update_preconditioner(made, bad);
  EXPECT_EQ(made.used, "jacobi");
  update_preconditioner(made, body.a);
  EXPECT_EQ(made.used, "amg");
  EXPECT_EQ(fact(), "3");
}

TEST(NearNullVectors, ThatDoNotFitAreRefused) {
  const auto modes = [](std::vector<double> places, krysol::Index d) {
    return message_of([&] { krysol::rigid_body_modes(places, d); });
  };
  EXPECT_EQ(modes({0, 0, 1}, 2),
            "rigid_body_modes: 3 coordinates do not make up nodes in 2 dimensions");
  EXPECT_EQ(modes({0, 0, 1}, 1),
            "rigid_body_modes: coordinates in 1 dimensions; there must be 2 or 3");
  EXPECT_EQ(modes({0, 0, 1, std::numeric_limits<double>::infinity()}, 2),
            "rigid_body_modes: coordinate 2 of node 2 is not finite");
  const auto said = [](NearNullVectors v, krysol::Index rows) {
    return message_of([&] { krysol::check_near_null(v, rows); });
  };
  EXPECT_EQ(said({2, {1, 1, 1, 1}}, 3), "near-null vectors: 2 of 2 rows for a matrix of 3 rows");
  EXPECT_EQ(said({0, {}}, 3), "near-null vectors: 0 of them; there must be 1 to 24");
  EXPECT_EQ(said({25, std::vector<double>(75)}, 3),
            "near-null vectors: 25 of them; there must be 1 to 24");
  EXPECT_EQ(said({1, {1, 1, 1}, 2}, 3),
            "near-null vectors: nodes of 2 rows do not make up a matrix of 3");
  EXPECT_EQ(said({1, {1, std::nan(""), 1}}, 3),
            "near-null vectors: row 2 of vector 1 is not finite");
  krysol::SolveOptions options;
  options.near_null = std::make_shared<const NearNullVectors>(NearNullVectors{1, {1, 1}});
  options.preconditioner = "ic0";
  const auto a = to_csr(poisson1d(2)).matrix;
  EXPECT_EQ(message_of([&] { krysol::Solver<double>(a, options); }),
            "krysol::solve: near-null vectors go with the preconditioners auto and amg, not ic0");
  for (const auto& [precond, solver] :
       {std::pair("auto", "minres"), std::pair("auto:jacobi*3/ic0", "cg")}) {
    options.preconditioner = precond;
    options.solver = solver;
    EXPECT_EQ(message_of([&] { krysol::Solver<double>(a, options); }),
              "krysol::solve: near-null vectors go with the preconditioners auto and amg, not " +
                  std::string(precond) + " as it is used here");
  }
  options.solver = "cg";
  options.preconditioner = "amg";
  const auto larger = to_csr(poisson1d(5)).matrix;
  EXPECT_EQ(message_of([&] { krysol::Solver<double>(larger, options); }),
            "near-null vectors: 1 of 2 rows for a matrix of 5 rows");
}

}  // namespace
