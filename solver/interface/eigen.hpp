// Eigen's matrices and vectors in krysol::solve and krysol::Solver. For programs that have Eigen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <krysol/solver/interface/columns.hpp>

namespace krysol {
namespace detail {

template <class Derived>
void takes_sparse(const Eigen::SparseCompressedBase<Derived>&);
template <class Derived>
void takes_dense(const Eigen::PlainObjectBase<Derived>&);
template <class Derived>
void takes_dense(const Eigen::MapBase<Derived, Eigen::ReadOnlyAccessors>&);

}  // namespace detail

/// Eigen::SparseMatrix, and Map and Ref of one; row- or column-major, indices of 32 or 64 bits,
/// compressed or not. What is shared and what a pass is made for: see MatrixInput. Column-major is
/// Eigen's default: it costs a real symmetric matrix nothing.
template <class M>
requires requires(const M& a) { detail::takes_sparse(a); }
struct MatrixAdapter<M> {
  using scalar = typename M::Scalar;
  static constexpr bool owned = true;
  static CsrArrays arrays(const M& a) {
    const auto outer = static_cast<std::int64_t>(a.outerSize());
    CsrArrays to;
    to.rows = outer;
    to.cols = static_cast<std::int64_t>(a.innerSize());
    to.row_ptr = integers_ref(a.outerIndexPtr(), outer + 1);
    if (!a.isCompressed()) to.row_count = integers_ref(a.innerNonZeroPtr(), outer);
    to.col_idx = integers_ref(a.innerIndexPtr());
    to.values = scalars_ref(a.valuePtr());
    to.by_columns = !M::IsRowMajor;
    return to;
  }
};

/// Eigen::Vector, Matrix and Array, and Map, Ref, blocks, rows and columns of them. A type with one
/// column or one row at compile time is a vector, any other is several.
template <class V>
requires requires(const V& v) { detail::takes_dense(v); }
struct VectorAdapter<V> {
  using scalar = typename V::Scalar;
  static constexpr bool several = !V::IsVectorAtCompileTime;
  template <class W>
  static constexpr bool writable = (V::Flags & Eigen::LvalueBit) != 0 &&
                                   (!std::is_const_v<std::remove_reference_t<W>> ||
                                    !std::is_base_of_v<Eigen::PlainObjectBase<V>, V>);
  static ColumnsRef columns(const V& v) {
    if constexpr (!several) {
      return columns_ref(v.data(), static_cast<std::int64_t>(v.size()), 1,
                         static_cast<std::int64_t>(v.innerStride()));
    } else {
      const auto inner = static_cast<std::int64_t>(v.innerStride());
      const auto outer = static_cast<std::int64_t>(v.outerStride());
      return columns_ref(v.data(), static_cast<std::int64_t>(v.rows()),
                         static_cast<std::int64_t>(v.cols()), V::IsRowMajor ? outer : inner,
                         V::IsRowMajor ? inner : outer);
    }
  }
};

}  // namespace krysol
