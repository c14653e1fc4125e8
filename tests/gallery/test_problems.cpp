// The matrices that spmv_bench makes: are they what their names say?
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <krysol/spmv/matrix/properties.hpp>
#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "messages.hpp"

#ifdef KRYSOL_SPMV_BENCH
#include "gallery/elasticity.hpp"
#include "gallery/problems.hpp"
#include "gallery/tet_mesh.hpp"

namespace {

using namespace krysol_tests;
using krysol::HostCsr;
using krysol::Index;
using krysol::gallery::make_problem;
using Point = std::array<double, 3>;

/// (A x)_i
double row_of_product(const HostCsr<double>& a, const std::vector<double>& x, Index i) {
  double sum = 0;
  for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
    const auto at = static_cast<std::size_t>(k);
    sum += a.values(at) * x[static_cast<std::size_t>(a.col_idx(at))];
  }
  return sum;
}

bool has_cholesky(const HostCsr<double>& a) {
  std::vector<int> row_idx;
  std::vector<int> col_idx;
  std::vector<double> values;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      row_idx.push_back(i);
      col_idx.push_back(a.col_idx(at));
      values.push_back(a.values(at));
    }
  }
  return krysol_tests::has_cholesky(a.rows, row_idx, col_idx, values);
}

const std::vector<std::string>& definite_ones() {
  static const std::vector<std::string> names = {
      "poisson:5",    "poisson27:5",  "poisson2d:9",  "jumps:5", "anisotropy:9", "fem:3",
      "elasticity:1", "elasticity:2", "elasticity:4", "mesh:1",  "mesh:27",      "mesh:1000"};
  return names;
}

TEST(Problems, HaveTheSizesOfTheirDefinitions) {
  const auto cube = [](int v) { return v * v * v; };
  const std::map<std::string, std::pair<int, int>> sizes = {
      {"poisson:4", {64, 64 + 2 * 3 * 4 * 4 * 3}},
      {"poisson27:4", {64, cube(4 + 2 * 3)}},  // (3 n - 2)^3 pairs of neighbours
      {"poisson27:1", {1, 1}},
      {"elasticity:1", {12, 144}},
      {"elasticity:3", {3 * 4 * 4 * 3, 9 * (3 * 4 - 2) * (3 * 4 - 2) * (3 * 3 - 2)}},
      {"mesh:1", {1, 1}},
      {"mesh:1000", {1000, -1}},
      {"mesh:2e3", {cube(13), -1}}};  // 2197, the cube that is nearest
  for (const auto& [name, size] : sizes) {
    const auto a = make_problem(name);
    EXPECT_EQ(a.rows, size.first) << name;
    if (size.second >= 0) {
      EXPECT_EQ(a.nnz(), size.second) << name;
    }
  }
}

TEST(Problems, AreSymmetricPositiveDefinite) {
  for (const std::string& name : definite_ones()) {
    const auto a = make_problem(name);
    krysol::check(a);
    for (Index i = 0; i < a.rows; ++i) {
      for (auto k = a.row_ptr(i) + 1; k < a.row_ptr(i + 1); ++k) {
        ASSERT_LT(a.col_idx(k - 1), a.col_idx(k)) << name << ", row " << i;
      }
    }
    const auto properties = krysol::analyze(a);
    EXPECT_TRUE(properties.symmetric) << name;
    EXPECT_EQ(properties.asymmetry, 0) << name;
    EXPECT_EQ(properties.positive_diagonal, a.rows) << name;
    EXPECT_TRUE(has_cholesky(a)) << name;
  }
}

TEST(Problems, OneThatIsNotDefiniteWouldBeFound) {
  const auto a = make_problem("poisson27:3");
  a.values(0) = -26;
  EXPECT_FALSE(has_cholesky(a));
}

TEST(Problems, Poisson27JoinsPointsWhoseCoordinatesDifferByOne) {
  constexpr int n = 4;
  const auto d = dense(make_problem("poisson27:4"));
  const auto distance = [](std::size_t i, std::size_t j) {
    int most = 0;
    for (int k = 0; k < 3; ++k, i /= n, j /= n) {
      most = std::max(most, std::abs(static_cast<int>(i % n) - static_cast<int>(j % n)));
    }
    return most;
  };
  for (std::size_t i = 0; i < d.rows; ++i) {
    for (std::size_t j = 0; j < d.cols; ++j) {
      EXPECT_EQ(d(i, j), i == j ? 26 : distance(i, j) == 1 ? -1 : 0) << i << ", " << j;
    }
  }
}

/// The six motions that strain nothing: three translations, three rotations.
Point rigid_motion(int mode, const Point& at) {
  Point u{};
  const auto d = static_cast<std::size_t>(mode % 3);
  if (mode < 3) {
    u[d] = 1;
  } else {
    u[(d + 1) % 3] = -at[(d + 2) % 3];
    u[(d + 2) % 3] = at[(d + 1) % 3];
  }
  return u;
}

TEST(Problems, AnElementDoesNotResistRigidMotionsAndNothingElse) {
  const auto k = krysol::gallery::hexahedron_stiffness(2.5, 0.3);
  Dense<std::complex<double>> matrix{24, 24};
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < 24; ++j) {
      matrix(i, j) = k[i][j];
      EXPECT_EQ(k[i][j], k[j][i]);
    }
  }
  const auto corner = [](int c) {
    return Point{double(c & 1), double(c >> 1 & 1), double(c >> 2)};
  };
  const auto motion = [&](const std::function<Point(const Point&)>& u) {
    std::array<double, 24> v;
    for (int i = 0; i < 24; ++i) {
      v[static_cast<std::size_t>(i)] = u(corner(i / 3))[static_cast<std::size_t>(i % 3)];
    }
    return v;
  };
  const auto forces = [&](const std::array<double, 24>& v) {
    std::array<double, 24> f{};
    for (std::size_t i = 0; i < 24; ++i) {
      for (std::size_t j = 0; j < 24; ++j) f[i] += k[i][j] * v[j];
    }
    return f;
  };
  const auto energy = [&](const std::array<double, 24>& v) {
    const auto f = forces(v);
    return std::inner_product(v.begin(), v.end(), f.begin(), 0.0);
  };
  for (int mode = 0; mode < 6; ++mode) {
    const auto v = motion([mode](const Point& at) { return rigid_motion(mode, at); });
    const auto f = forces(v);
    EXPECT_LT(std::sqrt(std::inner_product(f.begin(), f.end(), f.begin(), 0.0)), 1e-14) << mode;
  }
  const std::vector<double> eigenvalues = hermitian_eigen(matrix).values;
  EXPECT_LT(std::abs(eigenvalues[5]), 1e-14);
  EXPECT_GT(eigenvalues[6], 0.01);
  // The energy of a stretched bar whose sides may shrink is E / 2, that of simple shear mu / 2.
  const auto stretch = motion([](const Point& p) { return Point{p[0], -0.3 * p[1], -0.3 * p[2]}; });
  EXPECT_NEAR(energy(stretch), 2.5, 1e-14);
  const auto shear = motion([](const Point& p) { return Point{p[1], 0, 0}; });
  EXPECT_NEAR(energy(shear), 2.5 / 2.6, 1e-14);
}

TEST(Problems, ElasticityDoesNotResistRigidMotionsAwayFromTheClampedSide) {
  constexpr Index n = 4;
  constexpr Index side = n + 1;
  const auto a = make_problem("elasticity:4");
  for (int mode = 0; mode < 6; ++mode) {
    std::vector<double> u;
    for (Index node = 0; node < a.rows / 3; ++node) {
      const Point at = {double(node % side), double(node / side % side),
                        double(node / side / side + 1)};
      for (const double v : rigid_motion(mode, at)) u.push_back(v);
    }
    double held = 0;
    for (Index i = 0; i < a.rows; ++i) {
      const Index z = i / 3 / side / side + 1;
      const double force = row_of_product(a, u, i);
      if (z >= 2) {
        EXPECT_LT(std::abs(force), 1e-13) << mode << ", row " << i;
      }
      if (z == 1) held = std::max(held, std::abs(force));
    }
    EXPECT_GT(held, 0.01) << mode;
  }
}

TEST(Problems, TheMeshPassesThePatchTest) {
  const auto mesh = krysol::gallery::make_tet_mesh(1728);
  const auto a = krysol::gallery::stiffness(mesh);
  ASSERT_EQ(a.rows, 12 * 12 * 12);
  const std::vector<std::function<double(const Point&)>> fields = {
      [](const Point&) { return 1.0; }, [](const Point& p) { return p[0]; },
      [](const Point& p) { return p[1]; }, [](const Point& p) { return p[2]; },
      [](const Point& p) { return 3 - p[0] + 2 * p[1] - 5 * p[2]; }};
  std::vector<Point> at;
  for (Index i = 0; i < a.rows; ++i) at.push_back(krysol::gallery::position(mesh, i));
  const auto well_inside = [](const Point& p) {
    return std::all_of(p.begin(), p.end(), [](double c) { return c > 1.5 && c < 11.5; });
  };
  for (const auto& field : fields) {
    std::vector<double> u;
    for (const Point& p : at) u.push_back(field(p));
    int checked = 0;
    for (Index i = 0; i < a.rows; ++i) {
      if (!well_inside(at[static_cast<std::size_t>(i)])) continue;
      EXPECT_LT(std::abs(row_of_product(a, u, i)), 1e-11) << i;
      ++checked;
    }
    EXPECT_EQ(checked, 1000);
  }
  // A function that is not linear must be seen: -laplace |p|^2 = -6, times a volume of about 1.
  std::vector<double> u;
  for (const Point& p : at) u.push_back(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  double mean = 0;
  for (Index i = 0; i < a.rows; ++i) {
    if (well_inside(at[static_cast<std::size_t>(i)])) mean += row_of_product(a, u, i) / 1000;
  }
  EXPECT_NEAR(mean, -6, 0.3);
}

TEST(Problems, TheMeshIsUnstructured) {
  const auto mesh = krysol::gallery::make_tet_mesh(20 * 20 * 20);
  const auto a = krysol::gallery::stiffness(mesh);
  std::map<krysol::Offset, int> lengths;
  double step = 0;
  for (Index i = 0; i < a.rows; ++i) {
    ++lengths[a.row_ptr(i + 1) - a.row_ptr(i)];
    EXPECT_EQ(
        mesh.row_of_node[static_cast<std::size_t>(mesh.node_of_row[static_cast<std::size_t>(i)])],
        i);
    for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) step += std::abs(a.col_idx(k) - i);
  }
  EXPECT_GT(lengths.size(), 12U);
  EXPECT_LE(lengths.rbegin()->first, 27);
  const double mean = static_cast<double>(a.nnz()) / a.rows;
  EXPECT_GT(mean, 13.5);
  EXPECT_LT(mean, 15);  // inside; 15 but for the boundary's nodes
  // Neighbours' numbers are far apart, but not as far as those of two nodes at random: a third of
  // the rows.
  EXPECT_GT(step / static_cast<double>(a.nnz()), 0.05 * a.rows);
  EXPECT_LT(step / static_cast<double>(a.nnz()), 0.3 * a.rows);
}

TEST(Problems, OfTheSameNameAreTheSameMatrix) {
  for (const char* name : {"elasticity:3", "mesh:2000", "random:100:0.1"}) {
    const auto a = make_problem(name);
    const auto b = make_problem(name);
    ASSERT_EQ(a.nnz(), b.nnz()) << name;
    for (std::size_t k = 0; k < a.values.extent(0); ++k) {
      ASSERT_EQ(a.col_idx(k), b.col_idx(k)) << name;
      ASSERT_EQ(a.values(k), b.values(k)) << name;
    }
  }
}

TEST(Problems, AreRefusedBeyondWhatMemoryHolds) {
  for (const auto& p : krysol::gallery::list_problems()) {
    for (const char* size : {"0", "-1", "1.5", "1e10", "x", ""}) {
      const auto name = std::string(p.name) + ":" + size;
      EXPECT_TRUE(holds(message_of([&] { make_problem(name); }), "a size from 1 to")) << name;
    }
    EXPECT_TRUE(holds(std::string(p.what), std::string(p.name) + ":N")) << p.name;
  }
}

}  // namespace
#endif
