// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/block_jacobi.hpp>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/eigen_entries.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

#ifndef KRYSOL_FOR_FLOAT
void check_block(Index block) {
  if (block >= 1 && block <= 64) return;
  throw std::invalid_argument(
      fmt::format("block-jacobi: a block of {} rows; 1 to 64 can be inverted", block));
}

SetupNote block_jacobi_note(Index fallback_blocks, Index first_fallback) {
  if (fallback_blocks == 0) return {};
  return {fmt::format("block-jacobi: {} block(s) are not positive definite, the first at row {}",
                      fallback_blocks, first_fallback + 1),
          "their diagonal is used instead"};
}
#endif

template <class T>
BlockInverses<T> invert_diagonal_blocks(const HostCsr<T>& a, Index block) {
  check_block(block);
  using Matrix = Eigen::Matrix<EigenScalar<T>, Eigen::Dynamic, Eigen::Dynamic>;
  const auto rows = static_cast<std::size_t>(a.rows);
  BlockInverses<T> out;
  out.inverse.assign(rows * static_cast<std::size_t>(block), T(0));
  for (std::int64_t first = 0; first < a.rows; first += block) {
    const std::int64_t size = std::min<std::int64_t>(block, a.rows - first);
    Matrix dense = Matrix::Zero(size, size);
    for (std::int64_t i = 0; i < size; ++i) {
      const auto row = static_cast<std::size_t>(first + i);
      for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
        const std::int64_t j = a.col_idx(static_cast<std::size_t>(k)) - first;
        if (j >= 0 && j < size) dense(i, j) += to_eigen(a.values(static_cast<std::size_t>(k)));
      }
    }
    const Eigen::LLT<Matrix> factor(dense);
    Matrix inverse = Matrix::Identity(size, size);
    if (dense.allFinite() && factor.info() == Eigen::Success) {
      inverse = factor.solve(inverse);
      inverse = (inverse + inverse.adjoint()).eval() / Real<T>(2);  // symmetric to the last bit
    } else {
      if (out.fallback_blocks++ == 0) out.first_fallback = static_cast<Index>(first);
      for (std::int64_t i = 0; i < size; ++i) {
        const Real<T> d = std::real(dense(i, i));
        if (is_finite(d) && d != 0) inverse(i, i) = 1 / std::abs(d);
      }
    }
    for (std::int64_t j = 0; j < size; ++j) {
      for (std::int64_t i = 0; i < size; ++i) {
        out.inverse[static_cast<std::size_t>(j) * rows + static_cast<std::size_t>(first + i)] =
            from_eigen<T>(inverse(i, j));
      }
    }
  }
  return out;
}

#define KRYSOL_INSTANTIATE(T) \
  template BlockInverses<T> invert_diagonal_blocks(const HostCsr<T>&, Index);
KRYSOL_FOR_EACH_SOLVED_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
