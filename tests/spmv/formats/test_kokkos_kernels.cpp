// Kokkos Kernels' product: the variant that the typed tests do not meet.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products.hpp"

#ifdef KRYSOL_HAVE_KOKKOS_KERNELS
namespace {

using namespace krysol_tests;

template <class On>
class KokkosKernelsMerge : public testing::Test {};
using MergeCases = ForGtest<EntriesAndSpaces>::type;
TYPED_TEST_SUITE(KokkosKernelsMerge, MergeCases, OnName);

TYPED_TEST(KokkosKernelsMerge, EqualsTheOracle) {
  using T = typename TypeParam::Scalar;
  using Format = krysol::KokkosKernels<T, typename TypeParam::Space>;
  if (krysol::least_team<typename TypeParam::Space>() > 1) {
    Format merged;
    ASSERT_TRUE(set_variant(merged, "merge"));
    const auto matrix = krysol::to_csr(shapes<T>().front().entries).matrix;
    EXPECT_THROW(from_csr(matrix, merged), krysol::FormatRefusal);
    GTEST_SKIP() << "the teams of Kokkos Kernels are too small for this space, which would end";
  }
  for (const auto& shape : shapes<T>()) {
    Format a;
    ASSERT_TRUE(set_variant(a, "merge"));
    from_csr(krysol::to_csr(shape.entries).matrix, a);
    expect_product<Format, T>(a, shape.entries, shape.name, {0.0, 1.0, -2.7});
  }
  Format a;
  EXPECT_FALSE(set_variant(a, "merged"));
  EXPECT_TRUE(set_variant(a, "native"));
}

}  // namespace
#endif
