// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/precond/fsai.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/eigen_entries.hpp>
#include <krysol/solver/precond/level_scheduled_solve.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/matrix/transpose.hpp>

namespace krysol {
namespace {

constexpr Offset most_entries = 128;  // of a row, below the diagonal

/// Rows of G from those of S A S, S = diag(A)^-1/2, one after the other.
template <class T>
class RowsOfInverse {
 public:
  RowsOfInverse(const LowerPart<T>& part, const std::vector<Real<T>>& scale)
      : part_(part), scale_(scale) {}

  /// col_idx, values: [entries] of row i. False where its block is not positive definite.
  bool row(Index i, Offset entries, Index* col_idx, T* values) {
    choose(i, entries - 1);
    const auto size = static_cast<Eigen::Index>(entries);
    block_.setZero(size, size);
    for (Eigen::Index p = 0; p < size; ++p) add_row(p);
    factor_.compute(block_);
    const bool definite = block_.allFinite() && factor_.info() == Eigen::Success && has_pivots();
    unit_.setZero(size);
    unit_(size - 1) = 1;
    if (definite) solve_adjoint();
    for (Eigen::Index p = 0; p < size; ++p) {
      col_idx[p] = columns_[static_cast<std::size_t>(p)];
      values[p] = conjugate(from_eigen<T>(unit_(p))) * scale_of_column(p);
    }
    return definite;
  }

 private:
  using Matrix = Eigen::Matrix<EigenScalar<T>, Eigen::Dynamic, Eigen::Dynamic>;

  /// Whether none of the pivots is what rounding left of a cancellation.
  bool has_pivots() const {
    constexpr Real<T> least = 16 * std::numeric_limits<Real<T>>::epsilon();
    return (factor_.matrixLLT().diagonal().cwiseAbs2().array() > least).all();
  }

  /// L^H u = u.
  void solve_adjoint() {
    const Matrix& l = factor_.matrixLLT();
    for (Eigen::Index p = unit_.size() - 1; p >= 0; --p) {
      EigenScalar<T> sum = unit_(p);
      for (Eigen::Index q = p + 1; q < unit_.size(); ++q) {
        sum -= Eigen::numext::conj(l(q, p)) * unit_(q);
      }
      unit_(p) = sum / l(p, p);
    }
  }

  /// The columns of row i, and i.
  void choose(Index i, Offset below) {
    const Offset begin = part_.row_ptr[static_cast<std::size_t>(i)];
    const Offset end = part_.row_ptr[static_cast<std::size_t>(i) + 1];
    columns_.assign(part_.col_idx.begin() + begin, part_.col_idx.begin() + end);
    if (end - begin > below) {
      sizes_.clear();
      for (Offset k = begin; k < end; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const auto col = static_cast<std::size_t>(part_.col_idx[at]);
        const double size = std::abs(std::complex<double>(to_eigen(part_.values[at]))) *
                            static_cast<double>(scale_[col]);
        sizes_.emplace_back(size > 0 ? -size : 0, part_.col_idx[at]);  // NaN: 0
      }
      std::nth_element(sizes_.begin(), sizes_.begin() + below, sizes_.end());
      columns_.clear();
      for (Offset k = 0; k < below; ++k) {
        columns_.push_back(sizes_[static_cast<std::size_t>(k)].second);
      }
      std::sort(columns_.begin(), columns_.end());
    }
    columns_.push_back(i);
  }

  Real<T> scale_of_column(Eigen::Index p) const {
    return scale_[static_cast<std::size_t>(columns_[static_cast<std::size_t>(p)])];
  }

  /// Row p of the lower triangle of the block.
  void add_row(Eigen::Index p) {
    const auto i = static_cast<std::size_t>(columns_[static_cast<std::size_t>(p)]);
    block_(p, p) = 1;
    Eigen::Index q = 0;
    for (Offset k = part_.row_ptr[i]; k < part_.row_ptr[i + 1] && q < p;) {
      const auto at = static_cast<std::size_t>(k);
      const Index col = columns_[static_cast<std::size_t>(q)];
      if (part_.col_idx[at] == col) {
        block_(p, q) = to_eigen<T>(scale_[i] * part_.values[at] * scale_of_column(q));
      }
      // Both lists ascend.
      const bool behind = part_.col_idx[at] <= col;
      if (part_.col_idx[at] >= col) ++q;
      if (behind) ++k;
    }
  }

  const LowerPart<T>& part_;
  const std::vector<Real<T>>& scale_;
  std::vector<Index> columns_;
  std::vector<std::pair<double, Index>> sizes_;
  Matrix block_;
  Eigen::Matrix<EigenScalar<T>, Eigen::Dynamic, 1> unit_;
  Eigen::LLT<Matrix> factor_;
};

}  // namespace

template <class T>
FsaiFactor<T> make_fsai_factor(const HostCsr<T>& a) {
  const LowerPart<T> part = lower_part(a);
  check_diagonal("fsai", part);
  const std::size_t rows = part.diagonal.size();
  std::vector<Real<T>> scale(rows);
  for (std::size_t i = 0; i < rows; ++i) scale[i] = 1 / std::sqrt(real_part(part.diagonal[i]));
  FsaiFactor<T> f;
  f.g.rows = f.g.cols = a.rows;
  f.g.row_ptr = allocate<decltype(f.g.row_ptr)>("fsai.row_ptr", rows + 1);
  f.g.row_ptr.data()[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const Offset below = part.row_ptr[i + 1] - part.row_ptr[i];
    if (below > most_entries) ++f.cut_rows;
    f.g.row_ptr.data()[i + 1] = f.g.row_ptr.data()[i] + std::min(below, most_entries) + 1;
  }
  f.g.col_idx = allocate<decltype(f.g.col_idx)>("fsai.col_idx", f.g.row_ptr.data()[rows]);
  f.g.values = allocate<decltype(f.g.values)>("fsai.values", f.g.row_ptr.data()[rows]);
  constexpr std::int64_t step = 256;
  const EqualBlocks pieces{a.rows, step};
  std::vector<Index> bad(static_cast<std::size_t>(pieces.count()), 0);
  std::vector<Index> first_bad(bad.size(), -1);
  host_for_uneven("krysol::fsai", pieces.count(), [&](std::int64_t p) {
    RowsOfInverse<T> inverse(part, scale);
    const auto at = static_cast<std::size_t>(p);
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      const Offset begin = f.g.row_ptr.data()[i];
      const Offset entries = f.g.row_ptr.data()[i + 1] - begin;
      const bool definite = inverse.row(static_cast<Index>(i), entries, f.g.col_idx.data() + begin,
                                        f.g.values.data() + begin);
      if (!definite && bad[at]++ == 0) first_bad[at] = static_cast<Index>(i);
    }
  });
  for (std::size_t p = 0; p < bad.size(); ++p) {
    f.fallback_rows += bad[p];
    if (f.first_fallback < 0) f.first_fallback = first_bad[p];
  }
  f.adjoint = transposed(f.g);
  if constexpr (is_complex<T>) {
    T* const values = f.adjoint.values.data();
    for (Offset k = 0; k < f.adjoint.nnz(); ++k) values[k] = conjugate(values[k]);
  }
  return f;
}

#ifndef KRYSOL_FOR_FLOAT
SetupNote fsai_note(Index fallback_rows, Index first_fallback) {
  if (fallback_rows == 0) return {};
  return {fmt::format("fsai: {} block(s) are not positive definite, the first at row {}",
                      fallback_rows, first_fallback + 1),
          "their diagonal is used instead"};
}
#endif

#define KRYSOL_INSTANTIATE(T) template FsaiFactor<T> make_fsai_factor(const HostCsr<T>&);
KRYSOL_FOR_EACH_SOLVED_ENTRY(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
