// Values stored in one type, vectors of a wider one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products.hpp"

namespace {

using namespace krysol_tests;

template <class List>
struct AllMixedCases;
template <class... Exec>
struct AllMixedCases<TypeList<Exec...>> {
  using type = Join<PlainCases<float, double, Exec>...
#ifdef KRYSOL_TEST_ALL_TYPES  // kernels that no library holds
                    ,
                    PlainCases<double, Kokkos::complex<double>, Exec>...
#endif
                    >;
};

template <class C>
class MixedPrecision : public testing::Test {};
using MixedCases = ForGtest<AllMixedCases<Spaces>::type>::type;
TYPED_TEST_SUITE(MixedPrecision, MixedCases, CaseName);

TYPED_TEST(MixedPrecision, ComputesInTheTypeOfTheVectors) {
  using T = typename TypeParam::Scalar;
  for (const auto& shape : shapes_for<typename TypeParam::Format>()) {
    const auto host = krysol::to_csr(shape.entries).matrix;
    const auto a = TypeParam::make(host);
    // Duplicates were summed in the storage type, so the oracle starts from what is stored.
    expect_product<typename TypeParam::Format, T>(a, triplets_of(host), shape.name,
                                                  {0.0, 1.0, -2.7});
  }
}

TYPED_TEST(MixedPrecision, DotProductComesWithTheProduct) {
  using S = typename TypeParam::Stored;
  using T = typename TypeParam::Scalar;
  const auto host = krysol::to_csr(fitting<typename TypeParam::Format>(
                                       random_sparse<FileScalar<S>>(1500, 1500, 5, 61)))
                        .matrix;
  expect_dot<typename TypeParam::Format, T>(TypeParam::make(host), triplets_of(host), "1500 rows");
}

}  // namespace
