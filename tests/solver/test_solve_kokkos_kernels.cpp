// krysol::solve with a matrix of Kokkos Kernels, where they are found.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#if defined(KRYSOL_HAVE_KOKKOS_KERNELS) && __has_include(<KokkosSparse_CrsMatrix.hpp>)
#include <krysol/krysol.hpp>
#include <krysol/solver/interface/kokkos_kernels.hpp>
#include "problems.hpp"

namespace {

template <class Ordinal, class Size>
void expect_the_same() {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<double, Ordinal, Space, void, Size>;
  const auto host = krysol::to_csr(krysol_tests::poisson2d(9, 7)).matrix;
  const auto n = static_cast<std::size_t>(host.rows);
  const Kokkos::View<Size*, Space> row_ptr("row_ptr", n + 1);
  const Kokkos::View<Ordinal*, Space> col_idx("col_idx", host.col_idx.extent(0));
  const Kokkos::View<double*, Space> values("values", host.values.extent(0));
  const auto fill = [](const auto& to, const auto& from) {
    const auto mirror = Kokkos::create_mirror_view(to);
    for (std::size_t k = 0; k < from.extent(0); ++k) {
      mirror(k) = static_cast<typename std::decay_t<decltype(to)>::value_type>(from(k));
    }
    Kokkos::deep_copy(to, mirror);
  };
  fill(row_ptr, host.row_ptr);
  fill(col_idx, host.col_idx);
  fill(values, host.values);
  const Matrix a("A", host.rows, host.cols, static_cast<Size>(host.nnz()), values, row_ptr,
                 col_idx);
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n);
  std::vector<double> expected(n);
  const auto r = krysol::solve(a, b, x);
  const auto alone = krysol::solve(host, b, expected);
  EXPECT_EQ(r.status, alone.status);
  EXPECT_EQ(r.iterations, alone.iterations);
  EXPECT_EQ(x, expected);
}

TEST(Solve, TakesMatricesOfKokkosKernels) {
  expect_the_same<int, int>();
  expect_the_same<int, std::size_t>();
  expect_the_same<std::int64_t, std::int64_t>();
}

}  // namespace
#endif
