// Block rows: full blocks of every size, block rows that are not full, sizes that do not divide.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "messages.hpp"
#include "products.hpp"

namespace {

using namespace krysol_tests;

template <class On>
class BlockRows : public testing::Test {};
using BlockRowCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(BlockRows, BlockRowCases, OnName);

/// A band of full b x b blocks, and block row 5, of which one entry is missing; `more` rows and
/// columns that fill no block.
template <class V>
Triplets<V> blocks_of(Index b, Index block_rows, Index half_band, Index more) {
  auto t = no_entries<V>(b * block_rows + more, b * block_rows + more);
  Random random(17);
  for (Index i = 0; i < b * block_rows; ++i) {
    for (Index c = std::max<Index>(0, i / b - half_band);
         c < std::min<Index>(block_rows, i / b + half_band + 1); ++c) {
      for (Index d = 0; d < b; ++d) {
        if (i == 5 * b + 1 && c == 5 && d == 0) continue;
        t.add(i, c * b + d, random.entry<V>());
      }
    }
  }
  for (Index i = b * block_rows; i < t.rows; ++i) t.add(i, i, random.entry<V>());
  return t;
}

TYPED_TEST(BlockRows, EqualTheOracleForEveryBlockSize) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::Bsr<T, typename TypeParam::Space>;
  for (Index b = 2; b <= krysol::largest_block; ++b) {
    for (const Index half_band : {0, 1, 40}) {  // 40: longer than what is packed at a time
      const auto entries = blocks_of<FileScalar<T>>(b, 45, half_band, b - 1);
      const auto host = krysol::to_csr(entries).matrix;
      Format a;
      from_csr(host, a);
      const std::string name = std::to_string(b) + ", " + std::to_string(half_band);
      EXPECT_EQ(a.block, b) << name;
      EXPECT_EQ(a.nnz(), host.nnz()) << name;
      // One index a block; of block row 5 and of the last, incomplete one all, and their lengths.
      const auto broken = static_cast<std::size_t>(5 * b);
      const krysol::Offset plain = host.row_ptr(broken + static_cast<std::size_t>(b)) -
                                   host.row_ptr(broken) + b + (b - 1) + (b - 1);
      const krysol::Offset in_blocks = host.nnz() - (plain - b - (b - 1));
      EXPECT_EQ(static_cast<krysol::Offset>(a.index.extent(0)), in_blocks / (b * b) + plain)
          << name;
      expect_product<Format, T>(a, entries, name, {0.0, 1.0, -2.7});
      expect_dot<Format, T>(a, entries, name);
    }
  }
}

TYPED_TEST(BlockRows, DependOnlyOnTheEntriesOfXThatTheyName) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::Bsr<T, typename TypeParam::Space>;
  const auto entries = blocks_of<FileScalar<T>>(3, 45, 1, 2);
  Format a;
  from_csr(krysol::to_csr(entries).matrix, a);
  std::vector<T> x(static_cast<std::size_t>(a.cols), T(1));
  x[15] = quiet_nan<T>();  // the column that row 16 of block row 5 lacks
  const auto y = times(a, x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(is_finite(y[i]), i < 12 || i > 20 || i == 16) << i;
  }
}

TEST(Blocks, SayWhatRulesThemOut) {
  using Format = krysol::Bsr<double, krysol::Host>;
  const auto scattered = krysol::to_csr(random_sparse<double>(60000, 60000, 6, 5)).matrix;
  const std::string message = message_of([&] {
    Format a;
    from_csr(scattered, a);
  });
  EXPECT_TRUE(holds(message, "bsr: ")) << message;
  EXPECT_TRUE(holds(message, std::to_string(scattered.nnz()) + " nonzeros")) << message;
  Format a;
  for (const char* wrong : {"1", "9", "0", "x", "-3", ""})
    EXPECT_FALSE(set_variant(a, wrong)) << wrong;
  EXPECT_EQ(a.block, 0);
  EXPECT_TRUE(set_variant(a, "8"));
  a.block = 9;
  EXPECT_EQ(message_of([&] { from_csr(scattered, a); }),
            "krysol::from_csr(bsr): blocks of 2 to 8, not of 9");
}

}  // namespace
