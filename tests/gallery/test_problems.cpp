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
#include "gallery/bilinear.hpp"
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
      "poisson:5", "poisson27:5",  "poisson2d:9",  "jumps:5",      "anisotropy:9",
      "fem:3",     "elasticity:1", "elasticity:2", "elasticity:4", "mesh:1",
      "mesh:27",   "mesh:1000",    "rotated:1",    "rotated:9",    "rotated:7:-75.5",
      "beam:2",    "beam2d:1",     "beam2d:5",     "wathen:1",     "wathen:6"};
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
      {"rotated:4", {5 * 4, (3 * 5 - 2) * (3 * 4 - 2)}},
      {"beam2d:3", {2 * 4 * 12, 4 * (3 * 4 - 2) * (3 * 12 - 2)}},
      {"beam:2", {3 * 3 * 3 * 8, 9 * (3 * 3 - 2) * (3 * 3 - 2) * (3 * 8 - 2)}},
      {"neumann:4", {64, 64 + 2 * 3 * 4 * 4 * 3}},
      {"neumann2d:5", {25, 25 + 2 * 2 * 5 * 4}},
      {"wathen:3", {3 * 9 + 4 * 3 + 1, -1}},
      {"wathen:1", {8, 64}},
      {"laplacian:50", {50, -1}},
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

/// Of a grid of squares whose lower side is clamped, but for rows next to it.
TEST(Problems, SquaresDoNotResistWhatStrainsNothing) {
  for (const char* name : {"rotated:6", "rotated:6:115", "beam2d:4"}) {
    const auto a = make_problem(name);
    const Index c = std::string(name).starts_with("beam2d") ? 2 : 1;
    const Index side = c == 2 ? 5 : 7;
    for (int mode = 0; mode < (c == 2 ? 3 : 1); ++mode) {
      std::vector<double> u;
      for (Index node = 0; node < a.rows / c; ++node) {
        const double x = node % side;
        const double y = node / side + 1;
        if (c == 1) {
          u.push_back(1);
        } else {
          u.push_back(mode == 0 ? 1 : mode == 1 ? 0 : -y);
          u.push_back(mode == 0 ? 0 : mode == 1 ? 1 : x);
        }
      }
      double held = 0;
      for (Index i = 0; i < a.rows; ++i) {
        const double force = row_of_product(a, u, i);
        const bool next_to_the_side = i / c / side == 0;
        if (!next_to_the_side) {
          EXPECT_LT(std::abs(force), 1e-12) << name << ' ' << mode << ", row " << i;
        }
        if (next_to_the_side) held = std::max(held, std::abs(force));
      }
      EXPECT_GT(held, 0.01) << name;
    }
  }
}

/// u' K u is the energy of a linear u over the squares that are not clamped: ratio along the
/// direction, 1 across.
TEST(Problems, RotatedDiffusionIsStrongAlongItsDirection) {
  for (const double degrees : {0.0, 30.0, 115.0}) {
    const auto k = krysol::gallery::diffusion_stiffness(100, degrees);
    const auto energy = [&](double along) {
      const double radians = along / 180 * std::acos(-1.0);
      double sum = 0;
      for (std::size_t p = 0; p < 4; ++p) {
        for (std::size_t q = 0; q < 4; ++q) {
          const auto u = [&](std::size_t corner) {
            return std::cos(radians) * static_cast<double>(corner & 1) +
                   std::sin(radians) * static_cast<double>(corner >> 1);
          };
          sum += u(p) * k.entries[4 * p + q] * u(q);
        }
      }
      return sum;
    };
    EXPECT_NEAR(energy(degrees), 100, 1e-11);
    EXPECT_NEAR(energy(degrees + 90), 1, 1e-11);
  }
  // By hand, for ratio 1: 2 / 3 on the diagonal, -1 / 6 along sides, -1 / 3 across.
  const auto isotropic = krysol::gallery::diffusion_stiffness(1, 77);
  const double row[4] = {2.0 / 3, -1.0 / 6, -1.0 / 6, -1.0 / 3};
  for (std::size_t q = 0; q < 4; ++q) EXPECT_NEAR(isotropic.entries[q], row[q], 1e-15);
}

TEST(Problems, PlaneStrainHasTheEnergyOfItsStrains) {
  constexpr double nu = 0.3;
  constexpr double lambda = nu / ((1 + nu) * (1 - 2 * nu));
  constexpr double mu = 1 / (2 * (1 + nu));
  const auto k = krysol::gallery::plane_strain_stiffness(nu);
  const auto energy = [&](double xx, double yy, double xy) {  // of u = (xx x + xy y, xy x + yy y)
    std::vector<double> u;
    for (int p = 0; p < 4; ++p) {
      u.push_back(xx * (p & 1) + xy * (p >> 1));
      u.push_back(xy * (p & 1) + yy * (p >> 1));
    }
    double sum = 0;
    for (std::size_t p = 0; p < 8; ++p) {
      for (std::size_t q = 0; q < 8; ++q) sum += u[p] * k.entries[8 * p + q] * u[q];
    }
    return sum;
  };
  EXPECT_NEAR(energy(1, 0, 0), lambda + 2 * mu, 1e-14);
  EXPECT_NEAR(energy(1, 1, 0), 4 * lambda + 4 * mu, 1e-14);
  EXPECT_NEAR(energy(0, 0, 1), 4 * mu, 1e-14);
}

TEST(Problems, GridsWithoutBoundaryAndGraphsHaveConstantsInTheirNullSpace) {
  for (const char* name : {"neumann:5", "neumann2d:7", "laplacian:60", "laplacian:61:3"}) {
    const auto a = make_problem(name);
    const auto properties = krysol::analyze(a);
    EXPECT_EQ(properties.asymmetry, 0) << name;
    const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1.0);
    for (Index i = 0; i < a.rows; ++i) EXPECT_EQ(row_of_product(a, ones, i), 0) << name << ' ' << i;
    const auto wide = dense(a);
    Dense<std::complex<double>> full(wide.rows, wide.cols);
    for (std::size_t k = 0; k < wide.entries.size(); ++k) {
      full.entries[k] = static_cast<double>(wide.entries[k]);
    }
    int zeros = 0;
    for (const double lambda : hermitian_eigen(full).values) {
      EXPECT_GT(lambda, -1e-12) << name;
      zeros += lambda < 1e-10 ? 1 : 0;
    }
    EXPECT_EQ(zeros, std::string(name).ends_with(":3") ? 3 : 1) << name;
  }
}

/// Whatever the densities: Wathen 1987.
TEST(Problems, WathensEigenvaluesScaledByTheDiagonalLieBetweenAQuarterAndFourAndAHalf) {
  const auto wide = dense(make_problem("wathen:5"));
  Dense<std::complex<double>> scaled(wide.rows, wide.cols);
  for (std::size_t i = 0; i < wide.rows; ++i) {
    for (std::size_t j = 0; j < wide.cols; ++j) {
      scaled(i, j) = static_cast<double>(wide(i, j) / std::sqrt(wide(i, i) * wide(j, j)));
    }
  }
  const auto values = hermitian_eigen(scaled).values;
  EXPECT_GE(values.front(), 0.25 - 1e-12);
  EXPECT_LE(values.front(), 0.5);
  EXPECT_LE(values.back(), 4.5 + 1e-12);
  EXPECT_GE(values.back(), 3.5);
}

TEST(Problems, TakeANumberAfterTheSizeWhereOneIsMeant) {
  EXPECT_EQ(message_of([] { make_problem("random:9:0"); }),
            "'random:9:0': a density above 0 and up to 1");
  EXPECT_EQ(message_of([] { make_problem("rotated:9:400"); }),
            "'rotated:9:400': an angle between -360 and 360 degrees");
  EXPECT_EQ(message_of([] { make_problem("laplacian:9:1.5"); }),
            "'laplacian:9:1.5': a whole number of parts from 1 to 1000");
  EXPECT_EQ(message_of([] { make_problem("laplacian:2:3"); }),
            "'laplacian:2:3': 3 parts of 2 nodes");
  EXPECT_EQ(message_of([] { make_problem("poisson:9:2"); }),
            "'poisson:9:2': a size from 1 to 1000 is needed");
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
