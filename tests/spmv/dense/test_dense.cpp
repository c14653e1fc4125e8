// Products of dense blocks: every kernel, entry type, layout and space against sums in long double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <barrier>
#include <complex>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include <krysol/spmv/dense/dense.hpp>
#include <krysol/spmv/dense/dense_register.hpp>
#include "eigen_oracle.hpp"
#include "messages.hpp"
#include "problems.hpp"
#include "spaces.hpp"

namespace {

using namespace krysol_tests;
using krysol::adjoint;
using krysol::DenseKernel;
using krysol::DenseWork;
using krysol::GemmOptions;
using krysol::Real;

template <class C>
class DenseProducts : public testing::Test {};
using DenseCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(DenseProducts, DenseCases, OnName);

template <class T, class Layout, class Exec>
using BlockView = Kokkos::View<T**, Layout, Exec>;
using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;

template <class T>
Dense<T> random_block(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  return {rows, cols, random_vector<T>(rows * cols, seed)};
}

template <class T>
Dense<T> filled(std::size_t rows, std::size_t cols, T with) {
  return {rows, cols, std::vector<T>(rows * cols, with)};
}

/// To a view that exists, of any layout or stride.
template <class T, class View>
void put(const Dense<T>& block, const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < block.rows; ++i) {
    for (std::size_t j = 0; j < block.cols; ++j) host(i, j) = block(i, j);
  }
  Kokkos::deep_copy(view, host);
}
template <class Layout, class Exec, class T>
BlockView<T, Layout, Exec> on_device(const Dense<T>& block) {
  BlockView<T, Layout, Exec> view("test.block", block.rows, block.cols);
  put(block, view);
  return view;
}
template <class View>
auto on_host(const View& view) {
  using T = typename View::non_const_value_type;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  Dense<T> block(view.extent(0), view.extent(1), {});
  for (std::size_t i = 0; i < block.rows; ++i) {
    for (std::size_t j = 0; j < block.cols; ++j) block.entries.push_back(host(i, j));
  }
  return block;
}

template <class T>
Dense<T> adjoint_of(const Dense<T>& a) {
  Dense<T> h = filled(a.cols, a.rows, T(0));
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) h(j, i) = krysol::conjugate(a(i, j));
  }
  return h;
}

/// A B and |A| |B| in long double, row by row.
template <class T>
struct Exact {
  std::size_t depth;
  std::vector<Wide<T>> product;
  std::vector<long double> size;
};
template <class T>
Exact<T> exact_product(const Dense<T>& a, const Dense<T>& b) {
  Exact<T> exact{a.cols, std::vector<Wide<T>>(a.rows * b.cols), {}};
  exact.size.resize(a.rows * b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.cols; ++j) {
      for (std::size_t k = 0; k < a.cols; ++k) {
        const auto term = widen(a(i, k)) * widen(b(k, j));
        exact.product[i * b.cols + j] += term;
        exact.size[i * b.cols + j] += std::abs(term);
      }
    }
  }
  return exact;
}

/// Every entry of `got` is alpha A B + beta C but for the rounding that krysol::gemm allows itself.
template <class T>
void expect_dense_product(const Dense<T>& got, T alpha, const Exact<T>& exact, T beta,
                          const Dense<T>& c, const std::string& what) {
  const auto eps = static_cast<long double>(std::numeric_limits<Real<T>>::epsilon());
  const long double roundings =
      2 * static_cast<long double>(exact.depth + 8) * (krysol::is_complex<T> ? 4 : 1);
  ASSERT_EQ(got.entries.size(), exact.product.size());
  for (std::size_t place = 0; place < got.entries.size(); ++place) {
    Wide<T> want = widen(alpha) * exact.product[place];
    long double size = std::abs(widen(alpha)) * exact.size[place];
    if (beta != T(0)) {
      want += widen(beta) * widen(c.entries[place]);
      size += std::abs(widen(beta)) * std::abs(widen(c.entries[place]));
    }
    ASSERT_LE(std::abs(widen(got.entries[place]) - want), roundings * eps * size)
        << what << ", entry " << place / got.cols << ", " << place % got.cols << " of " << got.rows
        << " x " << got.cols << ", k = " << exact.depth;
  }
}

const std::vector<GemmOptions> kernels = {{DenseKernel::registers, 16},
                                          {DenseKernel::tiled, 16},
                                          {DenseKernel::tiled, 1},
                                          {DenseKernel::tiled, 7},
                                          {DenseKernel::tiled, 20}};

std::string name_of(const GemmOptions& o) {
  return o.kernel == DenseKernel::tiled ? "tiled by " + std::to_string(o.block) : "register";
}

struct Sizes {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};
/// On both sides of tiles, panels and vector registers; odd, thin, flat and deep ones.
const std::vector<Sizes> sizes_of_products = {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // half of the time there
    {130, 130, 130}, {96, 300, 270},
#endif
    {1, 1, 1},       {7, 7, 7},      {63, 64, 65},  {64, 64, 64}, {65, 63, 64},  {1, 65, 7},
    {65, 1, 7},      {7, 65, 1},     {130, 7, 63},  {7, 130, 63}, {48, 8, 256},  {49, 9, 257},
    {24, 9, 513},    {1000, 8, 8},   {8, 1000, 8},  {777, 3, 5},  {31, 5, 4097}, {1, 1, 5000},
    {0, 7, 7},       {7, 0, 7},      {300, 290, 3}, {2, 3, 0}};

TYPED_TEST(DenseProducts, EqualTheOracleInEveryShape) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& [m, n, k] : sizes_of_products) {
    const auto a = random_block<T>(m, k, 1);
    const auto b = random_block<T>(k, n, 2);
    const auto c = random_block<T>(m, n, 3);
    const auto exact = exact_product(a, b);
    for (const GemmOptions& kernel : kernels) {
      const auto right = on_device<Right, Exec>(c);
      krysol::gemm(Exec(), T(1), on_device<Right, Exec>(a), on_device<Right, Exec>(b), T(0), right,
                   kernel);
      Kokkos::fence();
      expect_dense_product(on_host(right), T(1), exact, T(0), c, name_of(kernel));
      const auto left = on_device<Left, Exec>(c);
      krysol::gemm(Exec(), T(-0.75), on_device<Left, Exec>(a), on_device<Left, Exec>(b), T(0.5),
                   left, kernel);
      Kokkos::fence();
      expect_dense_product(on_host(left), T(-0.75), exact, T(0.5), c, name_of(kernel));
    }
  }
}

/// Eigen's product as a second witness: both are within the bound of the exact one.
TYPED_TEST(DenseProducts, EqualEigens) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using E = FileScalar<T>;
  const auto entries = [](const Dense<T>& x) {
    const auto* first = reinterpret_cast<const E*>(x.entries.data());
    return Dense<E>{x.rows, x.cols, {first, first + x.entries.size()}};
  };
  for (const auto& [m, n, k] : sizes_of_products) {
    if (k == 0) continue;
    const auto a = random_block<T>(m, k, 4);
    const auto b = random_block<T>(k, n, 5);
    const EigenProduct<E> expected = eigen_product(entries(a), entries(b));
    const Real<T> bound = Real<T>(krysol::is_complex<T> ? 16 : 4) * static_cast<Real<T>>(k + 8) *
                          std::numeric_limits<Real<T>>::epsilon();
    for (const GemmOptions& kernel : kernels) {
      const auto c = on_device<Right, Exec>(filled(m, n, T(0)));
      krysol::gemm(Exec(), T(1), on_device<Right, Exec>(a), on_device<Left, Exec>(b), T(0), c,
                   kernel);
      Kokkos::fence();
      const auto got = on_host(c);
      const Dense<E> entry = entries(got);
      bool close = true;
      for (std::size_t i = 0; i < entry.entries.size(); ++i) {
        close = close && std::abs(entry.entries[i] - expected.value.entries[i]) <=
                             bound * expected.size.entries[i];
      }
      EXPECT_TRUE(close) << name_of(kernel) << ", " << m << " x " << n << ", k = " << k;
    }
  }
}

/// Factors and results that are parts of larger blocks, with strides that nobody likes.
TYPED_TEST(DenseProducts, TakeAdjointsAndPartsOfBlocks) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using View = krysol::DenseView<T, typename Exec::memory_space>;
  T alpha(1.25);
  if constexpr (krysol::is_complex<T>) alpha = T(1.25, -0.5);
  const T beta = krysol::conjugate(alpha);
  for (const auto& [m, n, k] : {Sizes{67, 9, 70}, Sizes{5, 66, 33}, Sizes{9, 10, 4200}}) {
    const auto a = random_block<T>(m, k, 6);
    const auto b = random_block<T>(k, n, 7);
    const auto c = random_block<T>(m, n, 8);
    const auto exact = exact_product(a, b);
    // C is every third row and every second column of this; all else must stay.
    auto frame = random_block<T>(3 * m + 2, 2 * n + 1, 9);
    const auto place = [](std::size_t i, std::size_t j) {
      return std::pair<std::size_t, std::size_t>(3 * i + 2, 2 * j + 1);
    };
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) frame(place(i, j).first, place(i, j).second) = c(i, j);
    }
    const auto left_a = on_device<Left, Exec>(adjoint_of(a));
    const auto right_b = on_device<Right, Exec>(adjoint_of(b));
    for (const GemmOptions& kernel : kernels) {
      for (const bool flipped : {false, true}) {
        const auto whole = on_device<Right, Exec>(frame);
        View part = krysol::dense_view(whole);
        part.data += 2 * part.row_stride + 1;
        part.row_stride *= 3;
        part.col_stride *= 2;
        part.rows = static_cast<krysol::Offset>(m);
        part.cols = static_cast<krysol::Offset>(n);
        if (flipped) {  // the same by C^T = B^T A^T
          krysol::gemm(Exec(), alpha, krysol::transpose(adjoint(right_b)),
                       krysol::transpose(adjoint(left_a)), beta, krysol::transpose(part), kernel);
        } else {
          krysol::gemm(Exec(), alpha, adjoint(left_a), adjoint(right_b), beta, part, kernel);
        }
        Kokkos::fence();
        auto got = on_host(whole);
        auto product = filled(m, n, T(0));
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            std::swap(product(i, j), got(place(i, j).first, place(i, j).second));
          }
        }
        expect_dense_product(product, alpha, exact, beta, c, name_of(kernel));
        for (std::size_t i = 0; i < frame.rows; ++i) {
          for (std::size_t j = 0; j < frame.cols; ++j) {
            const bool inside = i % 3 == 2 && i / 3 < m && j % 2 == 1 && j / 2 < n;
            ASSERT_TRUE(got(i, j) == (inside ? T(0) : frame(i, j)))
                << "beside C, " << name_of(kernel);
          }
        }
      }
    }
  }
}

TYPED_TEST(DenseProducts, TakeSubviewsAndSingleColumns) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto a = random_block<T>(70, 33, 10);
  const auto x = random_block<T>(33, 1, 11);
  const auto vector = to_device<Exec>(x.entries);
  const auto wide = on_device<Right, Exec>(random_block<T>(70, 40, 12));
  const auto columns = Kokkos::subview(wide, Kokkos::ALL, std::make_pair(3, 36));
  put(a, wide);  // to columns 0 .. 33, which `columns` sees from its own column -3 on
  const auto seen = on_host(wide);
  auto part = filled(70, 33, T(0));
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t j = 0; j < 33; ++j) part(i, j) = seen(i, j + 3);
  }
  const auto exact = exact_product(part, x);
  for (const GemmOptions& kernel : kernels) {
    const auto y = to_device<Exec>(std::vector<T>(70, T(1)));
    krysol::gemm(Exec(), T(1), columns, vector, T(0), y, kernel);
    Kokkos::fence();
    expect_dense_product(Dense<T>{70, 1, to_host(y)}, T(1), exact, T(0), part, name_of(kernel));
  }
}

/// Whole numbers, of which no sum rounds: whatever its order, the result is exact.
TYPED_TEST(DenseProducts, OfWholeNumbersAreExact) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  for (const auto& [m, n, k] : {Sizes{8, 8, 70001}, Sizes{65, 63, 130}, Sizes{3001, 5, 7}}) {
    auto a = filled(m, k, T(0));
    auto b = filled(k, n, T(0));
    Random random(13);
    for (T& v : a.entries) v = T(static_cast<Real<T>>(random.below(9) - 4));
    for (T& v : b.entries) v = T(static_cast<Real<T>>(random.below(9) - 4));
    auto want = filled(m, n, T(0));
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t l = 0; l < k; ++l) {
        for (std::size_t j = 0; j < n; ++j) want(i, j) += a(i, l) * b(l, j);
      }
    }
    for (const GemmOptions& kernel : kernels) {
      const auto c = on_device<Right, Exec>(filled(m, n, T(5)));
      krysol::gemm(Exec(), T(1), adjoint(on_device<Right, Exec>(adjoint_of(a))),
                   on_device<Right, Exec>(b), T(0), c, kernel);
      Kokkos::fence();
      EXPECT_TRUE(on_host(c).entries == want.entries)
          << name_of(kernel) << ", " << m << " x " << n << ", k = " << k;
    }
  }
}

TYPED_TEST(DenseProducts, ReadNeitherCNorFactorsThatCountForNothing) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const auto& [m, n, k] : {Sizes{50, 9, 30}, Sizes{9, 50, 300}, Sizes{3, 4, 5000}}) {
    const auto a = random_block<T>(m, k, 14);
    const auto b = random_block<T>(k, n, 15);
    const auto c = random_block<T>(m, n, 16);
    const auto exact = exact_product(a, b);
    for (const GemmOptions& kernel : kernels) {
      const auto fresh = on_device<Right, Exec>(filled(m, n, nan));
      krysol::gemm(Exec(), T(1), on_device<Right, Exec>(a), on_device<Right, Exec>(b), T(0), fresh,
                   kernel);
      const auto scaled = on_device<Left, Exec>(c);
      krysol::gemm(Exec(), T(0), on_device<Right, Exec>(filled(m, k, nan)),
                   on_device<Right, Exec>(filled(k, n, nan)), T(0.5), scaled, kernel);
      const auto zeroed = on_device<Right, Exec>(filled(m, n, nan));
      krysol::gemm(Exec(), T(0), on_device<Right, Exec>(a), on_device<Right, Exec>(b), T(0), zeroed,
                   kernel);
      Kokkos::fence();
      expect_dense_product(on_host(fresh), T(1), exact, T(0), c, name_of(kernel));
      const auto half = on_host(scaled);
      for (std::size_t i = 0; i < m * n; ++i) {
        ASSERT_TRUE(half.entries[i] == T(0.5) * c.entries[i]) << name_of(kernel);
      }
      EXPECT_TRUE(on_host(zeroed).entries == filled(m, n, T(0)).entries) << name_of(kernel);
    }
  }
}

/// NaN and Inf reach the row of C that A's row makes and the column that B's makes, and no other
/// entry: those keep their bits. Padding must not carry them along.
TYPED_TEST(DenseProducts, KeepNanAndInfInTheirRowAndColumn) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  using R = Real<T>;
  for (const auto& [m, n, k] : {Sizes{63, 65, 66}, Sizes{7, 9, 5000}, Sizes{130, 3, 11}}) {
    auto a = random_block<T>(m, k, 17);
    auto b = random_block<T>(k, n, 18);
    const auto multiply = [](const Dense<T>& x, const Dense<T>& y, const GemmOptions& kernel) {
      const auto c = on_device<Right, Exec>(filled(x.rows, y.cols, T(0)));
      krysol::gemm(Exec(), T(1), on_device<Right, Exec>(x), on_device<Right, Exec>(y), T(0), c,
                   kernel);
      Kokkos::fence();
      return on_host(c);
    };
    for (const GemmOptions& kernel : kernels) {
      const auto clean = multiply(a, b, kernel);
      for (const R bad :
           {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
        auto bad_a = a;
        auto bad_b = b;
        bad_a(m - 1, k / 2) = T(bad);
        bad_b(k - 1, n - 1) = T(bad);
        const auto got = multiply(bad_a, bad_b, kernel);
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            const auto size = static_cast<double>(krysol::abs_squared(got(i, j)));
            if (i == m - 1 || j == n - 1) {
              ASSERT_FALSE(std::isfinite(size)) << name_of(kernel) << i << ' ' << j;
            } else {
              ASSERT_TRUE(got(i, j) == clean(i, j)) << name_of(kernel) << i << ' ' << j;
            }
          }
        }
      }
    }
  }
}

/// ctest runs this with 1, 2 and 4 threads: tasks differ then, sums must not.
TYPED_TEST(DenseProducts, HaveTheBitsOfOneThread) {
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(KRYSOL_WITHOUT_SERIAL)
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  if constexpr (krysol::on_host<Exec>) {
    for (const auto& [m, n, k] : {Sizes{300, 290, 530}, Sizes{5000, 8, 8}, Sizes{12, 9, 20000},
                                  Sizes{70, 900, 300}, Sizes{64, 64, 64}}) {
      const auto a = random_block<T>(m, k, 19);
      const auto b = random_block<T>(k, n, 20);
      for (const GemmOptions& kernel : {kernels[0], kernels[1]}) {
        const auto many = on_device<Right, Exec>(filled(m, n, T(0)));
        const auto one = on_device<Right, Kokkos::Serial>(filled(m, n, T(0)));
        krysol::gemm(Exec(), T(0.7), on_device<Right, Exec>(a), on_device<Right, Exec>(b), T(0),
                     many, kernel);
        krysol::gemm(Kokkos::Serial(), T(0.7), on_device<Right, Kokkos::Serial>(a),
                     on_device<Right, Kokkos::Serial>(b), T(0), one, kernel);
        Kokkos::fence();
        EXPECT_TRUE(on_host(many).entries == on_host(one).entries)
            << name_of(kernel) << ", " << m << " x " << n << ", k = " << k;
      }
    }
    return;
  }
#endif
  GTEST_SKIP() << "needs a host space, and Kokkos::Serial to compare it with";
}

TYPED_TEST(DenseProducts, KeepTheirMemoryFromOneToTheNext) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  DenseWork<T, Exec> work;
  const T* first = nullptr;
  for (int turn = 0; turn < 3; ++turn) {
    for (const auto& [m, n, k] : {Sizes{8, 9, 30000}, Sizes{8, 8, 9000}}) {
      const auto a = random_block<T>(k, m, 21);
      const auto b = random_block<T>(k, n, 22);
      const auto c = on_device<Right, Exec>(filled(m, n, T(0)));
      krysol::gemm(Exec(), T(1), adjoint(on_device<Right, Exec>(a)), on_device<Right, Exec>(b),
                   T(0), c, work);
      Kokkos::fence();
      expect_dense_product(on_host(c), T(1), exact_product(adjoint_of(a), b), T(0), b,
                           "with memory of an earlier one");
      if (first == nullptr) first = work.entries.data();
      EXPECT_EQ(work.entries.data(), first);
    }
  }
}

TYPED_TEST(DenseProducts, RefuseWhatDoesNotFit) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Space;
  const auto block = [](std::size_t rows, std::size_t cols) {
    return on_device<Right, Exec>(filled(rows, cols, T(1)));
  };
  const auto message = [](const auto& a, const auto& b, const auto& c, GemmOptions how = {}) {
    return message_of([&] { krysol::gemm(Exec(), T(1), a, b, T(0), c, how); });
  };
  EXPECT_TRUE(holds(message(block(3, 5), block(6, 4), block(3, 4)),
                    "C (3 x 4) := A (3 x 5) B (6 x 4) does not fit"));
  EXPECT_TRUE(holds(message(block(3, 5), block(5, 4), block(4, 3)), "C must be 3 x 4"));
  EXPECT_TRUE(holds(message(adjoint(block(3, 5)), block(5, 4), block(3, 4)), "A (5 x 3)"));
  const auto a = block(4, 4);
  EXPECT_TRUE(holds(message(a, block(4, 4), a), "a C of their own"));
  EXPECT_TRUE(holds(message(block(4, 4), a, a), "a C of their own"));
  EXPECT_TRUE(holds(message(block(4, 4), block(4, 4), adjoint(a)), "not an adjoint"));
  EXPECT_TRUE(holds(message(block(4, 4), block(4, 4), a, {DenseKernel::tiled, 0}), "1 to 1024"));
  if (!krysol::on_host<Exec> || sizeof(T) > 4) {  // 3 x 1024 x 1024 numbers against 20 MiB
    EXPECT_TRUE(holds(message(block(4, 4), block(4, 4), a, {DenseKernel::tiled, 1024}),
                      "take a smaller block"));
  }
}

TEST(DenseKernels, AreFoundByTheirNames) {
  for (const auto& info : krysol::list_dense_kernels()) {
    EXPECT_EQ(krysol::dense_kernel(info.name), info.kernel);
    EXPECT_FALSE(info.good_for.empty());
  }
  EXPECT_EQ(message_of([] { krysol::dense_kernel("naive"); }),
            "unknown kernel 'naive'; known: register tiled");
}

// ---- the kernel of GPUs, by threads of the host that take the places of a team's

/// What a team member is to that kernel.
struct MemberOfThreads {
  using Scratch = Kokkos::DefaultHostExecutionSpace::scratch_memory_space;
  int rank;
  int threads;
  int league;
  std::barrier<>* barrier;
  Scratch scratch;
  KOKKOS_INLINE_FUNCTION int league_rank() const { return league; }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return rank; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return threads; }
  KOKKOS_INLINE_FUNCTION const Scratch& team_scratch(int) const { return scratch; }
  KOKKOS_INLINE_FUNCTION void team_barrier() const {
    KOKKOS_IF_ON_HOST((barrier->arrive_and_wait();))
  }
};

struct SmallTiles {
  static constexpr int rows = 12;
  static constexpr int cols = 8;
  static constexpr int depth = 5;
  static constexpr int each = 4;
};
struct TallTiles {
  static constexpr int rows = 6;
  static constexpr int cols = 2;
  static constexpr int depth = 8;
  static constexpr int each = 2;
};

/// By a team of so many threads: of all that its kernel asks for, or of fewer.
template <class Shape, class T>
void run_on_threads(const krysol::DenseProduct<T>& product, int threads) {
  using Tiles = krysol::ThreadTiles<T, Kokkos::DefaultHostExecutionSpace, Shape>;
  const Tiles tiles(product);
  std::barrier<> barrier(threads);
  std::vector<std::max_align_t> memory(Tiles::scratch_bytes() / sizeof(std::max_align_t) + 1);
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; ++rank) {
    team.emplace_back([&, rank] {
      for (int league = 0; league < static_cast<int>(tiles.teams()); ++league) {
        const MemberOfThreads::Scratch scratch(memory.data(), Tiles::scratch_bytes(), nullptr,
                                               std::size_t{0});
        tiles(MemberOfThreads{rank, threads, league, &barrier, scratch});
        barrier.arrive_and_wait();  // the next team has the same scratch memory
      }
    });
  }
  for (std::thread& t : team) t.join();
}

template <class Shape, class T>
void expect_right_on_threads(int threads) {
  for (const auto& [m, n, k] :
       {Sizes{1, 1, 1}, Sizes{25, 17, 11}, Sizes{12, 8, 5}, Sizes{5, 30, 26}}) {
    const auto a = random_block<T>(m, k, 23);
    const auto b = random_block<T>(k, n, 24);
    const auto c = random_block<T>(m, n, 25);
    const auto exact = exact_product(a, b);
    for (const bool adjoint_a : {false, true}) {
      for (const T beta : {T(0), T(-0.5)}) {
        const auto stored = adjoint_a ? adjoint_of(a) : a;
        auto got = beta == T(0) ? filled(m, n, T(std::numeric_limits<Real<T>>::quiet_NaN())) : c;
        krysol::DenseProduct<T> p;
        p.a = {stored.entries.data(), static_cast<krysol::Offset>(adjoint_a ? 1 : k),
               static_cast<krysol::Offset>(adjoint_a ? m : 1), adjoint_a};
        p.b = {b.entries.data(), 1, static_cast<krysol::Offset>(n), false};
        p.c = got.entries.data();
        p.row_stride = static_cast<krysol::Offset>(n);
        p.col_stride = 1;
        p.rows = static_cast<krysol::Offset>(m);
        p.cols = static_cast<krysol::Offset>(n);
        p.depth = p.step = static_cast<krysol::Offset>(k);
        p.alpha = T(1.5);
        p.beta = beta;
        run_on_threads<Shape>(p, threads);
        expect_dense_product(got, T(1.5), exact, beta, c, "the kernel of GPUs");

        // The same in pieces, each to a C of its own.
        p.step = 4;
        p.pieces = (p.depth + 3) / 4;
        p.piece_stride = p.rows * p.cols;
        p.beta = T(0);
        std::vector<T> pieces(static_cast<std::size_t>(p.pieces * p.piece_stride));
        p.c = pieces.data();
        run_on_threads<Shape>(p, threads);
        auto sum = filled(m, n, T(0));
        for (std::size_t i = 0; i < pieces.size(); ++i) sum.entries[i % (m * n)] += pieces[i];
        expect_dense_product(sum, T(1.5), exact, T(0), c, "the kernel of GPUs in pieces");
      }
    }
  }
}

TEST(DenseThreadTiles, EqualTheOracleOnThreadsOfTheHost) {
  expect_right_on_threads<SmallTiles, double>(6);
  expect_right_on_threads<TallTiles, float>(3);
  expect_right_on_threads<SmallTiles, Kokkos::complex<double>>(6);
}

/// A team may have fewer threads than were asked for, which then take several places each.
TEST(DenseThreadTiles, EqualTheOracleInTeamsOfFewerThreads) {
  expect_right_on_threads<SmallTiles, double>(1);
  expect_right_on_threads<SmallTiles, double>(4);
  expect_right_on_threads<TallTiles, double>(2);
}

}  // namespace
