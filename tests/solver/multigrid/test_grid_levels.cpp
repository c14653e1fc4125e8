// Levels that are grids, against dense matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/grid_product.hpp>
#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/solve.hpp>
#include "dense.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::multigrid;
using krysol::HostCsr;

using Flags = HostArray<std::uint8_t>;

/// A grid and a matrix on it, whose entries in the directions of `star` (bits) are random, and -1
/// for every other one; row sums are positive. With `block` rows a node.
struct Problem {
  BoxGrid grid;
  Index block = 1;
  HostCsr<double> a;
};

bool reaches(int d, const BoxGrid& g, Index node) {
  const auto place = place_in(g, node);
  const Index step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
  bool in = true;
  for (std::size_t n = 0; n < 3; ++n) {
    const Index to = place[n] + step[n];
    in = in && to >= 0 && to < g.nodes[n];
  }
  return in;
}

/// Symmetric.
Problem on_grid(std::array<Index, 3> nodes, Index block, bool star, bool constant) {
  Problem p;
  p.grid.nodes = nodes;
  p.grid.dimensions = nodes[2] > 1 ? 3 : 2;
  p.block = block;
  auto t = no_entries<double>(p.grid.size() * block, p.grid.size() * block);
  Random random(7);
  for (Index i = 0; i < p.grid.size(); ++i) {
    for (int d = 0; d < grid_directions; ++d) {
      const bool along_one =
          d == 4 || d == 10 || d == 12 || d == 13 || d == 14 || d == 16 || d == 22;
      if (!reaches(d, p.grid, i) || (star && !along_one)) continue;
      const Index other = i + p.grid.node(d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1);
      for (Index u = 0; u < block; ++u) {
        for (Index v = 0; v < block; ++v) {
          const Index row = i * block + u;
          const Index column = other * block + v;
          if (column < row) continue;
          const double some =
              constant ? 0.5 : 0.1 + static_cast<double>(random.bits() % 1000) / 1e3;
          const double value = row == column ? 40 : u == v ? -some : 0.3 * some;
          t.add(row, column, value);
          if (row != column) t.add(column, row, value);
        }
      }
    }
  }
  p.a = to_csr(t).matrix;
  return p;
}

GridPattern pattern_of(const Problem& p) {
  auto found = grid_pattern(p.a.row_ptr.data(), p.a.col_idx.data(), p.a.rows, p.block, p.grid);
  EXPECT_TRUE(found.has_value());
  return found ? *found : GridPattern{};
}

Flags no_flags(const BoxGrid& grid) {
  Flags none = host_array<std::uint8_t>("none", as_size(grid.size()));
  std::fill_n(none.data(), none.extent(0), std::uint8_t{0});
  return none;
}

/// P for each unknown of a node.
Dense<long double> for_unknowns(const HostCsr<double>& p, Index block) {
  Dense<long double> all(as_size(p.rows * block), as_size(p.cols * block));
  for (Index i = 0; i < p.rows; ++i) {
    for (auto k = p.row_ptr(i); k < p.row_ptr(i + 1); ++k) {
      for (Index u = 0; u < block; ++u) {
        all(as_size(i * block + u), as_size(p.col_idx(as_size(k)) * block + u)) =
            p.values(as_size(k));
      }
    }
  }
  return all;
}

long double largest_difference_of(const Dense<long double>& a, const Dense<long double>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  long double most = 0;
  for (std::size_t k = 0; k < a.entries.size(); ++k) {
    most = std::max(most, std::abs(a.entries[k] - b.entries[k]));
  }
  return most;
}

Dense<long double> transposed_times_matrix_times(const Dense<long double>& p,
                                                 const Dense<long double>& a) {
  Dense<long double> ap(a.rows, p.cols);
  Dense<long double> c(p.cols, p.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.cols; ++k) {
      if (a(i, k) == 0) continue;
      for (std::size_t j = 0; j < p.cols; ++j) ap(i, j) += a(i, k) * p(k, j);
    }
  }
  for (std::size_t k = 0; k < p.rows; ++k) {
    for (std::size_t i = 0; i < p.cols; ++i) {
      if (p(k, i) == 0) continue;
      for (std::size_t j = 0; j < p.cols; ++j) c(i, j) += p(k, i) * ap(k, j);
    }
  }
  return c;
}

struct Halved {
  std::array<bool, 3> directions;
  std::array<Index, 3> nodes;
};

const std::vector<Halved> grids = {
    {{true, true, false}, {9, 6, 1}},  {{true, false, false}, {8, 5, 1}},
    {{false, true, false}, {4, 7, 1}}, {{true, true, true}, {7, 4, 6}},
    {{true, false, true}, {8, 5, 3}},  {{false, false, true}, {4, 4, 5}},
    {{false, true, false}, {2, 7, 1}}, {{false, true, true}, {2, 3, 5}},
};

TEST(GridPattern, HoldsADirectionForEachEntry) {
  for (const Halved& c : grids) {
    for (const Index block : {1, 2}) {
      const Problem p = on_grid(c.nodes, block, false, false);
      const GridPattern found = pattern_of(p);
      for (Index i = 0; i < p.a.rows; ++i) {
        for (auto k = p.a.row_ptr(i); k < p.a.row_ptr(i + 1); ++k) {
          const int d = found.direction(as_size(k));
          const Index other = p.a.col_idx(as_size(k)) / block;
          ASSERT_EQ(other - i / block, p.grid.node(d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1));
          ASSERT_TRUE(reaches(d, p.grid, i / block));
        }
      }
      EXPECT_EQ(found.present, c.nodes[2] > 1 ? (1U << 27U) - 1 : 0x3FE00U);
    }
  }
}

TEST(GridPattern, IsRefusedForOneEntryThatIsOfNoNeighbour) {
  auto t = poisson2d(30, 20);
  BoxGrid grid;
  grid.nodes = {30, 20, 1};
  const auto found = [&](const Triplets<double>& entries) {
    const auto a = to_csr(entries).matrix;
    return grid_pattern(a.row_ptr.data(), a.col_idx.data(), a.rows, 1, grid).has_value();
  };
  EXPECT_TRUE(found(t));
  auto far = t;
  far.add(100, 102, -1);
  EXPECT_FALSE(found(far));
  auto around = t;  // from the end of a line to the next one
  around.add(59, 60, -1);
  EXPECT_FALSE(found(around));
  auto back = t;
  back.add(60, 59, -1);
  EXPECT_FALSE(found(back));
}

/// On a plane grid, where the entries along x are -epsilon, and those along y -1.
TEST(GridStrengths, AreMeansOverTheNodesAndKnowTenTimes) {
  constexpr Index nx = 12;
  constexpr Index ny = 9;
  for (const double epsilon : {0.05, 0.099, 0.101, 0.5, 1.0, 2.0, 9.9, 10.1, 20.0}) {
    SCOPED_TRACE(epsilon);
    Problem p{{2, {nx, ny, 1}}, 1, to_csr(poisson2d(nx, ny, epsilon)).matrix};
    const DirectionStrengths found = direction_strengths(p.a, 1, pattern_of(p));
    double mean_x = 0;
    double mean_y = 0;
    for (Index y = 0; y < ny; ++y) {
      for (Index x = 0; x < nx; ++x) {
        const double along_x = epsilon * (x == 0 || x + 1 == nx ? 1 : 2);
        const double along_y = y == 0 || y + 1 == ny ? 1 : 2;
        mean_x += along_x / std::max(along_x, along_y) / (nx * ny);
        mean_y += along_y / std::max(along_x, along_y) / (nx * ny);
      }
    }
    EXPECT_NEAR(found.mean[0], mean_x, 1e-12);
    EXPECT_NEAR(found.mean[1], mean_y, 1e-12);
    EXPECT_EQ(found.mean[2], 0);
    // x beside y, y beside z, of which there is nothing, and z beside x.
    EXPECT_EQ(found.uneven[0], epsilon < 0.1 || epsilon > 10 ? 1 : 0);
    EXPECT_EQ(found.uneven[1], 1);
    EXPECT_EQ(found.uneven[2], 1);
  }
}

TEST(GridLevels, TakeTwoStepsWhereDirectionsDifferLittle) {
  for (const double epsilon : {0.8, 1.0, 1.25}) {
    const auto h = make_hierarchy(to_csr(poisson2d(40, 30, epsilon)).matrix, {});
    EXPECT_TRUE(h.grid) << epsilon;
    EXPECT_EQ(h.degree, 2) << epsilon;
  }
}

TEST(GridInterpolation, RowsAddUpToOneAndKeptNodesKeepTheirValue) {
  for (const Halved& c : grids) {
    for (const bool star : {true, false}) {
      const Problem p = on_grid(c.nodes, 1, star, false);
      const GridPattern pattern = pattern_of(p);
      GridPlaces places = uniform_places(p.grid);
      const GridCoarsening levels = coarsen(p.grid, c.directions, places);
      for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(levels.coarse.nodes[n], c.directions[n] ? c.nodes[n] / 2 + 1 : c.nodes[n]);
        EXPECT_EQ(places[n].back(), c.nodes[n] - 1);
      }
      const Interpolation by_matrix =
          operator_interpolation(p.a, pattern, levels, no_flags(p.grid));
      const Interpolation by_place = multilinear_interpolation(levels);
      for (const auto* i : {&by_matrix, &by_place}) {
        const auto dense_p = for_unknowns(i->p, 1);
        for (std::size_t row = 0; row < dense_p.rows; ++row) {
          long double sum = 0;
          for (std::size_t j = 0; j < dense_p.cols; ++j) {
            sum += dense_p(row, j);
            EXPECT_GE(dense_p(row, j), 0);
          }
          EXPECT_NEAR(static_cast<double>(sum), 1, 1e-14);
        }
      }
    }
  }
}

TEST(GridInterpolation, ByPlaceIsExactForWhatIsLinear) {
  BoxGrid grid;
  grid.nodes = {10, 7, 6};
  grid.dimensions = 3;
  GridPlaces places = uniform_places(grid);
  GridPlaces fine = places;
  GridCoarsening c = coarsen(grid, {true, true, true}, places);
  for (int level = 0; level < 2; ++level) {  // places of the second are not uniform
    const auto p = multilinear_interpolation(c).p;
    for (Index i = 0; i < p.rows; ++i) {
      const auto to = place_in(c.fine, i);
      for (std::size_t n = 0; n < 3; ++n) {
        double sum = 0;
        for (auto k = p.row_ptr(i); k < p.row_ptr(i + 1); ++k) {
          const auto from = place_in(c.coarse, p.col_idx(as_size(k)));
          sum += p.values(as_size(k)) * places[n][as_size(from[n])];
        }
        EXPECT_NEAR(sum, fine[n][as_size(to[n])], 1e-13);
      }
    }
    fine = places;
    c = coarsen(c.coarse, {true, true, true}, places);
  }
}

/// Between two nodes of a line with conductances c and d: (c u_left + d u_right) / (c + d).
TEST(GridInterpolation, FollowsJumpsOfCoefficients) {
  auto t = no_entries<double>(5 * 4, 5 * 4);
  const double along[4] = {1, 1000, 0.01, 1};
  for (Index y = 0; y < 4; ++y) {
    for (Index x = 0; x < 5; ++x) {
      double sum = 0.002;
      const Index i = x + 5 * y;
      const auto connect = [&](Index j, double c) {
        t.add(i, j, -c);
        sum += c;
      };
      if (x > 0) connect(i - 1, along[x - 1]);
      if (x < 4) connect(i + 1, along[x]);
      if (y > 0) connect(i - 5, 0.001);
      if (y < 3) connect(i + 5, 0.001);
      t.add(i, i, sum);
    }
  }
  Problem p{{2, {5, 4, 1}}, 1, to_csr(t).matrix};
  GridPlaces places = uniform_places(p.grid);
  const auto c = coarsen(p.grid, {true, false, false}, places);
  const auto w = operator_interpolation(p.a, pattern_of(p), c, no_flags(p.grid)).p;
  for (Index y = 0; y < 4; ++y) {
    EXPECT_NEAR(w.values(as_size(w.row_ptr(5 * y + 1))), 1 / 1001.0, 1e-15);
    EXPECT_NEAR(w.values(as_size(w.row_ptr(5 * y + 1) + 1)), 1000 / 1001.0, 1e-15);
    EXPECT_NEAR(w.values(as_size(w.row_ptr(5 * y + 3))), 0.01 / 1.01, 1e-15);
  }
}

TEST(GridProduct, IsThatOfDenseMatrices) {
  for (const Halved& c : grids) {
    for (const Index block : {1, 2, 3, 4}) {
      for (const bool star : {true, false}) {
        for (const bool constant : {true, false}) {
          const Problem p = on_grid(c.nodes, block, star, constant);
          const GridPattern pattern = pattern_of(p);
          GridPlaces places = uniform_places(p.grid);
          const GridCoarsening levels = coarsen(p.grid, c.directions, places);
          const Flags rows = repeated_rows(p.a, block, p.grid, levels.period());
          const auto interpolation = block == 1 ? operator_interpolation(p.a, pattern, levels, rows)
                                                : multilinear_interpolation(levels);
          const GridMatrix made = grid_product(p.a, block, pattern, levels, rows, interpolation);
          const auto wide = for_unknowns(interpolation.p, block);
          EXPECT_LE(
              largest_difference_of(dense(made.a), transposed_times_matrix_times(wide, dense(p.a))),
              1e-12L)
              << c.nodes[0] << " x " << c.nodes[1] << " x " << c.nodes[2] << ", " << block;
          // Its pattern is one that would be found.
          const auto found = grid_pattern(made.a.row_ptr.data(), made.a.col_idx.data(), made.a.rows,
                                          block, levels.coarse);
          ASSERT_TRUE(found.has_value());
          EXPECT_EQ(found->present, made.pattern.present);
          for (std::size_t k = 0; k < found->direction.extent(0); ++k) {
            ASSERT_EQ(found->direction(k), made.pattern.direction(k));
          }
          EXPECT_EQ(made.a.nnz(), made.pattern.direction.extent_int(0));
          // Nothing that is taken over from the node before is different from what it is by itself.
          const auto alone = block == 1
                                 ? operator_interpolation(p.a, pattern, levels, no_flags(p.grid))
                                 : multilinear_interpolation(levels);
          const GridMatrix again =
              grid_product(p.a, block, pattern, levels, no_flags(p.grid), alone);
          for (std::size_t k = 0; k < interpolation.p.values.extent(0); ++k) {
            ASSERT_EQ(interpolation.p.values(k), alone.p.values(k));
          }
          for (std::size_t k = 0; k < made.a.values.extent(0); ++k) {
            ASSERT_EQ(made.a.values(k), again.a.values(k));
          }
          // What the diagonal would be but for what cancels.
          const auto of_a = dense(p.a);
          for (std::size_t j = 0; j < wide.cols; ++j) {
            long double size = 0;
            for (std::size_t i = 0; i < wide.rows; ++i) {
              size += wide(i, j) * wide(i, j) * of_a(i, i);
            }
            ASSERT_NEAR(made.size(j), static_cast<double>(size), 1e-11) << j;
            ASSERT_EQ(made.size(j), again.size(j)) << j;
          }
        }
      }
    }
  }
}

/// Long lines, whose nodes are summed eight at once but for their ends.
TEST(GridProduct, IsThatOfDenseMatricesAlongLongLines) {
  const std::vector<Halved> long_grids = {{{true, true, false}, {26, 5, 1}},
                                          {{true, false, true}, {39, 4, 3}},
                                          {{false, true, false}, {17, 5, 1}},
                                          {{true, true, true}, {23, 4, 3}}};
  for (const Halved& c : long_grids) {
    const Problem p = on_grid(c.nodes, 1, c.nodes[2] == 1, false);
    const GridPattern pattern = pattern_of(p);
    GridPlaces places = uniform_places(p.grid);
    const GridCoarsening levels = coarsen(p.grid, c.directions, places);
    const Flags rows = repeated_rows(p.a, 1, p.grid, levels.period());
    const auto interpolation = operator_interpolation(p.a, pattern, levels, rows);
    const auto made = dense(grid_product(p.a, 1, pattern, levels, rows, interpolation).a);
    const auto wide = for_unknowns(interpolation.p, 1);
    EXPECT_LE(largest_difference_of(made, transposed_times_matrix_times(wide, dense(p.a))), 1e-12L)
        << c.nodes[0] << " x " << c.nodes[1] << " x " << c.nodes[2];
  }
}

/// Rows of the diagonal alone, explicit zeros, entries of either sign.
TEST(GridProduct, TakesAnyEntries) {
  Problem p = on_grid({27, 6, 3}, 1, false, false);
  Random random(11);
  auto t = no_entries<double>(p.a.rows, p.a.rows);
  for (Index i = 0; i < p.a.rows; ++i) {
    for (auto k = p.a.row_ptr(i); k < p.a.row_ptr(i + 1); ++k) {
      const Index j = p.a.col_idx(as_size(k));
      const double v = p.a.values(as_size(k));
      if (j == i) t.add(i, i, v);
      if (j <= i || i % 5 == 0 || j % 5 == 0) continue;  // these are alone
      const auto noise = random.bits() % 4;
      const double some = noise == 0 ? 0 : noise == 1 ? -v : v;
      t.add(i, j, some);
      t.add(j, i, some);
    }
  }
  p.a = to_csr(t).matrix;
  const GridPattern pattern = pattern_of(p);
  GridPlaces places = uniform_places(p.grid);
  const GridCoarsening levels = coarsen(p.grid, {true, true, true}, places);
  const Flags rows = repeated_rows(p.a, 1, p.grid, levels.period());
  const auto interpolation = operator_interpolation(p.a, pattern, levels, rows);
  const GridMatrix made = grid_product(p.a, 1, pattern, levels, rows, interpolation);
  const auto wide = for_unknowns(interpolation.p, 1);
  EXPECT_LE(largest_difference_of(dense(made.a), transposed_times_matrix_times(wide, dense(p.a))),
            1e-12L);
  for (Index i = 0; i < p.a.rows; ++i) {
    const auto begin = interpolation.p.row_ptr(i);
    const auto end = interpolation.p.row_ptr(i + 1);
    for (auto k = begin; k < end && i % 5 == 0; ++k) {
      EXPECT_EQ(interpolation.p.values(as_size(k)), 0) << i;
    }
  }
}

TEST(GridRows, AreRepeatedWhereCoefficientsAreConstant) {
  const auto count = [](const Problem& p, Index period) {
    const Flags flags = repeated_rows(p.a, p.block, p.grid, period);
    std::int64_t sum = 0;
    for (Index i = 0; i < p.grid.size(); ++i) sum += flags(as_size(i));
    return sum;
  };
  for (const Index block : {1, 2}) {
    // Along a line of ten all but the first and the last, which have fewer neighbours, and those
    // that would repeat the first.
    EXPECT_EQ(count(on_grid({10, 6, 1}, block, false, true), 1), 7 * 6);
    EXPECT_EQ(count(on_grid({10, 6, 1}, block, false, true), 2), 6 * 6);
    EXPECT_EQ(count(on_grid({10, 6, 1}, block, false, false), 2), 0);
  }
}

template <class Exec>
class GridTransfers : public testing::Test {};
using GridTransferCases = ForGtest<Spaces>::type;
TYPED_TEST_SUITE(GridTransfers, GridTransferCases, SpaceName);

TYPED_TEST(GridTransfers, MultiplyAsTheirMatricesDo) {
  for (const Halved& c : grids) {
    for (const Index block : {1, 2, 3}) {
      const Problem p = on_grid(c.nodes, 1, false, false);
      GridPlaces places = uniform_places(p.grid);
      GridStep step{coarsen(p.grid, c.directions, places), {}};
      step.p = operator_interpolation(p.a, pattern_of(p), step.coarsening, no_flags(p.grid)).p;
      const Index rows = step.coarsening.fine.size() * block;
      const Index coarse = step.coarsening.coarse.size() * block;
      const auto scales = [](Index n) {
        HostArray<double> s = host_array<double>("s", as_size(n));
        for (Index i = 0; i < n; ++i) s(as_size(i)) = 0.5 + i % 7;
        return s;
      };
      const auto of_fine = scales(rows);
      const auto of_coarse = scales(coarse);
      of_fine(3) = 0;  // takes no part
      auto wide = for_unknowns(step.p, block);
      for (std::size_t i = 0; i < wide.rows; ++i) {
        for (std::size_t j = 0; j < wide.cols; ++j) {
          wide(i, j) *= of_fine(i) > 0 ? of_coarse(j) / of_fine(i) : 0;
        }
      }
      const GridTransfer<double, TypeParam> transfer(step, block, of_fine, of_coarse);
      EXPECT_EQ(krysol::multigrid::bytes(transfer),
                step.p.nnz() * block * 8 + transfer.fine_lines() * 8);
      const auto x = random_vector<double>(as_size(coarse), 3);
      const auto y = random_vector<double>(as_size(rows), 4);
      const auto px = to_device<TypeParam>(std::vector<double>(as_size(rows), 7));
      const auto ry = to_device<TypeParam>(std::vector<double>(as_size(coarse), 7));
      const TypeParam exec;
      multiply(exec, transfer, to_device<TypeParam>(x), px);
      multiply_transposed(exec, transfer, to_device<TypeParam>(y), ry);
      Kokkos::fence();
      const auto of_px = to_host(px);
      const auto of_ry = to_host(ry);
      for (std::size_t i = 0; i < wide.rows; ++i) {
        long double sum = 0;
        for (std::size_t j = 0; j < wide.cols; ++j) sum += wide(i, j) * x[j];
        ASSERT_NEAR(of_px[i], static_cast<double>(sum), 1e-12) << i;
      }
      for (std::size_t j = 0; j < wide.cols; ++j) {
        long double sum = 0;
        for (std::size_t i = 0; i < wide.rows; ++i) sum += wide(i, j) * y[i];
        ASSERT_NEAR(of_ry[j], static_cast<double>(sum), 1e-12) << j;
      }
    }
  }
}

TEST(GridLevels, AreMadeWhereTheMatrixIsAGrid) {
  const auto h = make_hierarchy(krysol::gallery::make_problem("poisson:20"), {});
  EXPECT_TRUE(h.grid);
  EXPECT_EQ(h.degree, 2);
  ASSERT_EQ(h.levels.size(), 4U);
  EXPECT_EQ(h.levels[1].a.rows, 11 * 11 * 11);
  EXPECT_EQ(h.levels[2].a.rows, 6 * 6 * 6);
  EXPECT_EQ(h.levels[3].a.rows, 4 * 4 * 4);
  // Along the strong direction alone, until the others are as strong.
  const auto lines = make_hierarchy(to_csr(poisson2d(64, 20, 100)).matrix, {});
  EXPECT_TRUE(lines.grid);
  EXPECT_EQ(lines.levels[1].a.rows, 33 * 20);
  // Elasticity, whose nodes have two unknowns, and three.
  const auto body = make_hierarchy(krysol::gallery::make_problem("elasticity:9"), {});
  EXPECT_TRUE(body.grid);
  EXPECT_GT(body.block, 1);
  // What is strong differs from cell to cell.
  EXPECT_EQ(make_hierarchy(krysol::gallery::make_problem("jumps:12"), {}).degree, 4);
  EXPECT_FALSE(make_hierarchy(krysol::gallery::make_problem("mesh:500"), {}).grid);
  EXPECT_FALSE(make_hierarchy(krysol::gallery::make_problem("poisson:20"),
                              {.coarsening = Coarsening::aggregates})
                   .grid);
  auto with_a_bridge = poisson2d(40, 30);
  with_a_bridge.add(5, 900, -0.1);
  with_a_bridge.add(900, 5, -0.1);
  EXPECT_FALSE(make_hierarchy(to_csr(with_a_bridge).matrix, {}).grid);
}

TEST(GridLevels, StayStencilsWhereCoefficientsAreConstant) {
  const auto h = make_hierarchy(krysol::gallery::make_problem("poisson:40"), {});
  const Hierarchy<float, krysol::Host> levels(h, {}, true);
  for (std::size_t l = 0; l + 2 < levels.levels().size(); ++l) {
    EXPECT_EQ(levels.levels()[l].a.name(), "stencil") << l;
  }
}

TEST(GridLevels, HoldTheNullSpaceOfFloatingGrids) {
  const auto h = make_hierarchy(to_csr(neumann2d(23, 19)).matrix, {.coarsest = 30});
  EXPECT_TRUE(h.grid);
  EXPECT_EQ(h.null_space, 1);
  for (const auto& level : h.levels) {
    for (Index i = 0; i < level.a.rows; ++i) {
      double sum = 0;
      double size = 0;
      for (auto k = level.a.row_ptr(i); k < level.a.row_ptr(i + 1); ++k) {
        sum += level.a.values(as_size(k));
        size += std::abs(level.a.values(as_size(k)));
      }
      EXPECT_LE(std::abs(sum), 1e-13 * size);
    }
  }
}

/// A patch that nothing connects to the rest becomes a node whose entry is what rounding left of 0.
TEST(GridLevels, LeaveOutWhatRoundingLeavesOfIslands) {
  const Index n = 40;
  auto t = no_entries<double>(n * n, n * n);
  Random random(3);
  const auto inside = [](Index x, Index y) { return x >= 20 && x < 23 && y >= 20 && y < 23; };
  const auto connect = [&](Index i, Index j, double c) {
    t.add(i, i, c);
    t.add(j, j, c);
    t.add(i, j, -c);
    t.add(j, i, -c);
  };
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      const double c = 0.7 + static_cast<double>(random.bits() % 1000) / 1500;
      const Index i = x + n * y;
      if (x + 1 < n && inside(x, y) == inside(x + 1, y)) connect(i, i + 1, c);
      if (y + 1 < n && inside(x, y) == inside(x, y + 1)) connect(i, i + n, 0.9 * c);
    }
  }
  const auto a = to_csr(t).matrix;
  const auto h = make_hierarchy(a, {.coarsest = 20});
  EXPECT_TRUE(h.grid);
  std::vector<double> b(as_size(a.rows));
  std::vector<double> x(b.size());
  double sum = 0;
  const auto outside = [&](std::size_t i) {
    return !inside(static_cast<Index>(i) % n, static_cast<Index>(i) / n);
  };
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (outside(i)) sum += b[i] = static_cast<double>(random.bits() % 1000) / 1000;
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (outside(i)) b[i] -= sum / (n * n - 9);
  }
  krysol::SolveOptions options;
  options.preconditioner = "amg:coarsest=20";
  const auto result = krysol::solve(a, b, x, options);
  EXPECT_TRUE(result.converged()) << result.advice;
  EXPECT_LE(result.iterations, 15);
}

TEST(GridLevels, SayThatTheyEndWithManyRows) {
  const auto h = make_hierarchy(krysol::gallery::make_problem("poisson2d:4"), {.coarsest = 2});
  EXPECT_TRUE(h.grid);
  EXPECT_EQ(h.stalled, "no direction of the grid has three nodes left");
  EXPECT_EQ(h.levels.back().a.rows, 4);
}

TEST(GridLevels, LeaveNothingBehindWhereTheyAreNotTaken) {
  const auto a = krysol::gallery::make_problem("jumps:12");
  krysol::NearNullVectors v{1, std::vector<double>(as_size(a.rows))};
  for (std::size_t i = 0; i < v.values.size(); ++i) v.values[i] = std::sin(static_cast<double>(i));
  const auto h =
      make_hierarchy(a, {.near_null = std::make_shared<const krysol::NearNullVectors>(v)});
  EXPECT_FALSE(h.grid);
  EXPECT_EQ(h.degree, 2);
}

}  // namespace
