// Levels against dense matrices: products, aggregates, interpolation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <krysol/gallery/problems.hpp>
#include <krysol/solver/coarsening/node_blocks.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include "dense.hpp"
#include "eigen_oracle.hpp"
#include "messages.hpp"
#include "problems.hpp"

namespace {

using namespace krysol_tests;
using namespace krysol::multigrid;
using krysol::HostCsr;

template <class S>
HostCsr<S> random_matrix(Index rows, Index cols, int a_row, std::uint64_t seed) {
  Random random(seed);
  auto t = no_entries<FileScalar<S>>(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    std::set<Index> places;
    for (int k = 0; k < a_row; ++k) {
      places.insert(static_cast<Index>(random.bits() % static_cast<std::uint64_t>(cols)));
    }
    for (const Index j : places) {
      const auto v = random_vector<FileScalar<S>>(1, random.bits());
      t.add(i, j, v[0]);
    }
  }
  return to_csr(t).matrix;
}

template <class W>
Dense<W> adjoint(const Dense<W>& a) {
  Dense<W> t(a.cols, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) t(j, i) = conjugate(a(i, j));
  }
  return t;
}

template <class W>
Dense<W> product_of(const Dense<W>& a, const Dense<W>& b) {
  Dense<W> c(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.cols; ++k) {
      if (a(i, k) == W(0)) continue;
      for (std::size_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

template <class W>
long double largest_difference(const Dense<W>& a, const Dense<W>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  long double most = 0;
  for (std::size_t k = 0; k < a.entries.size(); ++k) {
    most = std::max<long double>(most, std::abs(a.entries[k] - b.entries[k]));
  }
  return most;
}

template <class S>
class LevelsOf : public testing::Test {};
using LevelTypes = testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(LevelsOf, LevelTypes);

TYPED_TEST(LevelsOf, TripleProductsAreThoseOfDenseMatrices) {
  RowMemory<TypeParam> memory;
  for (const Index rows : {1, 7, 300, 1500}) {  // threads come in from 512 rows on
    const Index coarse = rows / 3 + 1;
    const auto a = random_matrix<TypeParam>(rows, rows, 5, 1);
    const auto p = random_matrix<TypeParam>(rows, coarse, 3, 2);
    const auto r = adjoint_of_rows(p);
    if (rows < 1000) {
      EXPECT_EQ(largest_difference(dense(r), adjoint(dense(p))), 0);
      const auto expected = product_of(dense(r), product_of(dense(a), dense(p)));
      EXPECT_LE(largest_difference(dense(triple_product(r, a, p, memory)), expected), 1e-14L * 30);
    }
    // Columns of the adjoint ascend, and its adjoint is the matrix.
    const auto back = adjoint_of_rows(r);
    ASSERT_EQ(back.nnz(), p.nnz());
    for (std::size_t k = 0; k < static_cast<std::size_t>(p.nnz()); ++k) {
      ASSERT_EQ(back.col_idx(k), p.col_idx(k));
      ASSERT_EQ(back.values(k), p.values(k));
    }
  }
  const auto a = random_matrix<TypeParam>(4, 4, 2, 1);
  const auto p = random_matrix<TypeParam>(5, 2, 1, 1);
  EXPECT_EQ(message_of([&] { triple_product(p, a, p, memory); }),
            "krysol::multigrid: the product of matrices of 5 x 2, 4 x 4 and 5 x 2");
}

/// The matrix that a level's would be by its definition.
template <class S>
Dense<Wide<S>> galerkin(const HostCsr<S>& r, const HostCsr<S>& a, const HostCsr<S>& p) {
  return product_of(dense(r), product_of(dense(a), dense(p)));
}

template <class S>
HostCsr<S> matrix(const Triplets<double>& t) {
  return to_csr(as<FileScalar<S>>(t)).matrix;
}

TYPED_TEST(LevelsOf, AreGalerkinProductsWithOnesOnTheDiagonal) {
  for (const auto& t : {poisson2d(17, 13), jump_coefficients2d(15, 1e3), biharmonic1d(200),
                        two_unknowns(poisson2d(12, 11))}) {
    const bool blocks = t.rows == 2 * 12 * 11;
    const auto h =
        make_hierarchy(matrix<TypeParam>(t), {.coarsening = Coarsening::aggregates, .coarsest = 5});
    EXPECT_EQ(h.block, blocks ? 2 : 1);
    ASSERT_GE(h.levels.size(), 3U);
    EXPECT_EQ(h.stalled, "");
    for (std::size_t l = 0; l + 1 < h.levels.size(); ++l) {
      const auto& level = h.levels[l];
      const auto& next = h.levels[l + 1];
      EXPECT_EQ(largest_difference(dense(level.r), adjoint(dense(level.p))), 0);
      EXPECT_LE(largest_difference(dense(next.a), galerkin(level.r, level.a, level.p)), 1e-13L);
      for (Index i = 0; i < next.a.rows; ++i) {
        EXPECT_NEAR(static_cast<double>(std::abs(
                        dense(next.a)(static_cast<std::size_t>(i), static_cast<std::size_t>(i)))),
                    1, 1e-14);
      }
    }
    // The last level's inverse.
    const auto last = static_cast<std::size_t>(h.levels.back().a.rows);
    Dense<Wide<TypeParam>> inverse(last, last);
    for (std::size_t k = 0; k < last * last; ++k) {
      inverse(k % last, k / last) = widen(h.inverse.data()[k]);
    }
    const auto one = product_of(inverse, dense(h.levels.back().a));
    for (std::size_t i = 0; i < one.rows; ++i) {
      for (std::size_t j = 0; j < one.cols; ++j) {
        EXPECT_LE(std::abs(one(i, j) - Wide<TypeParam>(i == j ? 1 : 0)), 1e-11L);
      }
    }
  }
}

TYPED_TEST(LevelsOf, HaveBoundsOfTheirEigenvalues) {
  for (const auto& t : {poisson2d(12, 9), jump_coefficients2d(10, 1e3), biharmonic1d(110),
                        random_spd(one_to(60), 5)}) {
    const auto h = make_hierarchy(matrix<TypeParam>(t),
                                  {.coarsening = Coarsening::aggregates, .coarsest = 20});
    for (const auto& level : h.levels) {
      const auto wide = dense(level.a);
      Dense<std::complex<double>> a(wide.rows, wide.cols);
      for (std::size_t k = 0; k < wide.entries.size(); ++k) {
        a.entries[k] =
            static_cast<std::complex<double>>(std::complex<long double>(wide.entries[k]));
      }
      const double largest = hermitian_eigen(a).values.back();
      EXPECT_GE(level.largest, largest * (1 - 1e-12));
      EXPECT_LE(level.largest, std::max(2.2, 1.2 * largest));
    }
  }
}

/// The largest row sum, which is far from what it bounds beyond `near_row_sum`; 1 at least.
TEST(LevelBounds, AreFarWhereRowSumsAreLarge) {
  for (const double beside : {0.0, 0.5, near_row_sum - 1, near_row_sum - 1 + 1e-12, 7.0}) {
    SCOPED_TRACE(beside);
    auto t = no_entries<double>(2, 2);
    t.add(0, 0, 1);
    t.add(1, 1, 1);
    t.add(0, 1, -beside);
    t.add(1, 0, -beside);
    HostLevel<double> level;
    level.a = to_csr(t).matrix;
    bound_by_row_sums(level);
    EXPECT_EQ(level.largest, 1 + beside);
    EXPECT_EQ(level.far_bound, beside > near_row_sum - 1);
  }
  auto small = no_entries<double>(1, 1);
  small.add(0, 0, 0.25);
  HostLevel<double> level;
  level.a = to_csr(small).matrix;
  bound_by_row_sums(level);
  EXPECT_EQ(level.largest, 1);
  EXPECT_FALSE(level.far_bound);
}

/// A is what it is on constants, which are in its null space: P reproduces them.
TYPED_TEST(LevelsOf, InterpolateTheNullSpaceExactly) {
  auto t = no_entries<FileScalar<TypeParam>>(23 * 19, 23 * 19);  // not turned, unlike matrix<>
  const auto real = neumann2d(23, 19);
  for (std::size_t k = 0; k < real.values.size(); ++k) {
    t.add(real.row_idx[k], real.col_idx[k], real.values[k]);
  }
  const auto h =
      make_hierarchy(to_csr(t).matrix, {.coarsening = Coarsening::aggregates, .coarsest = 6});
  ASSERT_GE(h.levels.size(), 3U);
  EXPECT_EQ(h.null_space, 1);
  // Constants of A are 1 / scale for the scaled matrix, and R of that for the next level, divided
  // by its own scale; here: the vector c of each level with P c_next = c is found from the first.
  std::vector<Wide<TypeParam>> of_level;
  for (std::size_t i = 0; i < h.scale.extent(0); ++i) of_level.emplace_back(1 / h.scale(i));
  for (std::size_t l = 0; l < h.levels.size(); ++l) {
    const auto& level = h.levels[l];
    const auto image = level.a * of_level;
    EXPECT_LE(norm(image), 1e-12L * norm(of_level)) << "level " << l;
    if (l + 1 == h.levels.size()) break;
    // The null vector of the next level, by its dense eigenvectors, and the multiple of it that
    // fits.
    const auto wide = dense(h.levels[l + 1].a);
    Dense<std::complex<double>> a(wide.rows, wide.cols);
    for (std::size_t k = 0; k < wide.entries.size(); ++k) {
      a.entries[k] = static_cast<std::complex<double>>(std::complex<long double>(wide.entries[k]));
    }
    const auto eigen = hermitian_eigen(a);
    EXPECT_NEAR(eigen.values[0], 0, 1e-12);
    std::vector<Wide<TypeParam>> coarse;
    for (std::size_t i = 0; i < a.rows; ++i) {
      if constexpr (krysol::is_complex<TypeParam>) {
        coarse.emplace_back(eigen.vectors(i, 0).real(), eigen.vectors(i, 0).imag());
      } else {
        coarse.emplace_back(eigen.vectors(i, 0).real());
      }
    }
    const auto fine = level.p * coarse;
    const Wide<TypeParam> factor = dot(fine, of_level) / dot(fine, fine);
    auto fitted = fine;
    for (auto& v : fitted) v *= factor;
    EXPECT_LE(norm(fitted - of_level), 1e-7L * norm(of_level)) << "level " << l;
    for (auto& v : coarse) v *= factor;
    of_level = coarse;
  }
}

TEST(Aggregates, CoverEachConnectedNodeOnceAndAreConnected) {
  for (const char* name :
       {"poisson:14", "poisson2d:40", "anisotropy:40", "jumps:14", "mesh:4000"}) {
    const auto a = krysol::gallery::make_problem(name);
    const Strength s = strong_connections(a, 1, 0.25);
    for (const Index of_block : {65536, 300}) {
      const Aggregates made = aggregate(s, of_block);
      std::vector<std::vector<Index>> members(static_cast<std::size_t>(made.count));
      for (Index i = 0; i < a.rows; ++i) {
        const Index g = made.of_node.data()[i];
        ASSERT_GE(g, -1);
        ASSERT_LT(g, made.count);
        if (g >= 0) members[static_cast<std::size_t>(g)].push_back(i);
        bool connected = false;
        for (auto k = s.row_ptr.data()[i]; k < s.row_ptr.data()[i + 1]; ++k) {
          connected = connected || s.weight.data()[k] > 0;
        }
        EXPECT_EQ(g >= 0, connected) << name << ' ' << i;
      }
      for (const auto& nodes : members) {
        ASSERT_FALSE(nodes.empty()) << name;
        // Each node is next to another of its aggregate, unless it is alone.
        for (const Index i : nodes) {
          bool together = nodes.size() == 1;
          for (auto k = s.row_ptr.data()[i]; k < s.row_ptr.data()[i + 1]; ++k) {
            const Index j = s.col_idx.data()[k];
            together = together ||
                       (s.weight.data()[k] > 0 && made.of_node.data()[j] == made.of_node.data()[i]);
          }
          EXPECT_TRUE(together) << name << ' ' << i;
        }
      }
      // Between two and thirty nodes each, on the average.
      const double mean = static_cast<double>(a.rows) / made.count;
      EXPECT_GT(mean, 2.2) << name;
      EXPECT_LT(mean, 30) << name;
    }
  }
}

TEST(Aggregates, OfALineAreThreeNodesEach) {
  const auto h = make_hierarchy(to_csr(poisson1d(12)).matrix, {.coarsest = 4});
  const Aggregates made = aggregate(strong_connections(h.levels.front().a, 1, 0.25));
  const std::vector<Index> expected = {0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3};
  EXPECT_EQ(std::vector<Index>(made.of_node.data(), made.of_node.data() + 12), expected);
  // In two blocks the second begins anew.
  const Aggregates blocks = aggregate(strong_connections(h.levels.front().a, 1, 0.25), 6);
  const std::vector<Index> in_two = {0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3};
  EXPECT_EQ(std::vector<Index>(blocks.of_node.data(), blocks.of_node.data() + 12), in_two);
}

/// On a grid of 10 x 40 blocks of lines: of its 750 connections 390, 190 or 90 lead from a block to
/// another, more than a tenth, and so all nodes are one block.
TEST(Aggregates, DoNotKnowOfBlocksThatTooManyConnectionsLeave) {
  const auto a = to_csr(poisson2d(10, 40)).matrix;
  const Strength s = strong_connections(a, 1, 0.25);
  const auto groups = [&](Index nodes_of_block) {
    const Aggregates made = aggregate(s, nodes_of_block);
    return std::vector<Index>(made.of_node.data(), made.of_node.data() + a.rows);
  };
  const std::vector<Index> whole = groups(a.rows);
  EXPECT_EQ(whole[10], whole[0]) << "a neighbour in the next line";
  for (const Index lines : {1, 2, 4}) {
    EXPECT_TRUE(groups(10 * lines) == whole) << lines << " lines a block";
  }
}

/// Weak neighbours are those of a coefficient below theta, seen from both sides.
TEST(StrengthOfConnection, FollowsTheFormula) {
  const auto h = make_hierarchy(to_csr(poisson2d(7, 9, 0.05)).matrix,
                                {.coarsening = Coarsening::aggregates, .coarsest = 63});
  const auto& a = h.levels.front().a;
  for (const double theta : {0.0, 0.02, 0.08, 0.9}) {
    const Strength s = strong_connections(a, 1, theta);
    for (Index i = 0; i < a.rows; ++i) {
      for (auto k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        const Index j = a.col_idx.data()[k];
        const bool along_x = std::abs(i - j) == 1;
        const double size = along_x ? 0.05 : 1;  // beside the largest
        EXPECT_EQ(s.weight.data()[k] > 0, i != j && size > theta) << theta << ' ' << i << ' ' << j;
      }
    }
  }
}

TEST(NodeBlocks, AreSeenWhereThePatternShowsThem) {
  const auto rows_of = [](const char* name) {
    const auto a = krysol::gallery::make_problem(name);
    return rows_of_node(a.row_ptr.data(), a.col_idx.data(), a.rows);
  };
  EXPECT_EQ(rows_of("fem:6"), 3);
  EXPECT_EQ(rows_of("elasticity:6"), 3);
  // Two, four, five, six unknowns a node: blocks of a divisor are as full.
  for (const Index block : {2, 4, 5, 6}) {
    auto t = no_entries<double>(60 * block, 60 * block);
    const auto grid = poisson2d(10, 6);
    for (std::size_t k = 0; k < grid.values.size(); ++k) {
      for (Index r = 0; r < block; ++r) {
        for (Index c = 0; c < block; ++c) {
          t.add(grid.row_idx[k] * block + r, grid.col_idx[k] * block + c, 1);
        }
      }
    }
    const auto a = to_csr(t).matrix;
    EXPECT_EQ(rows_of_node(a.row_ptr.data(), a.col_idx.data(), a.rows), block);
  }
  EXPECT_EQ(rows_of("poisson:12"), 1);
  EXPECT_EQ(rows_of("poisson27:12"), 1);
  EXPECT_EQ(rows_of("mesh:3000"), 1);
  const auto full = to_csr(random_spd(one_to(60), 1)).matrix;  // blocks of any size are full
  EXPECT_EQ(rows_of_node(full.row_ptr.data(), full.col_idx.data(), full.rows), 1);
  const auto none = to_csr(no_entries<double>(0, 0)).matrix;
  EXPECT_EQ(rows_of_node(none.row_ptr.data(), none.col_idx.data(), 0), 1);
}

}  // namespace
