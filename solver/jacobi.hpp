// Jacobi: the diagonal of A.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/preconditioner.hpp>
#include <krysol/spmv/csr.hpp>

namespace krysol {

/// z(i) := r(i) / A(i, i). Where the diagonal entry is missing, zero or not finite, z(i) := r(i);
/// such a matrix is not positive definite, and `find_evidence` says so before a solve.
/// Bytes a row and application: 8 beside r and z, in the solver's own loops.
/// Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 2003, section 10.2.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Jacobi {
  static constexpr std::string_view name = "jacobi";

  ConstVector<Real<T>, Exec> inverse;  // [rows] 1 / A(i, i)

  ConstVector<Real<T>, Exec> inverse_diagonal() const { return inverse; }
  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  double bytes() const {
    return static_cast<double>(inverse.extent(0) * (2 * sizeof(T) + sizeof(Real<T>)));
  }
};

template <class T>
struct DiagonalScale {
  const Real<T>* inverse;
  const T* r;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { z[i] = inverse[i] * r[i]; }
};

template <class T, class Exec>
void Jacobi<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                            const Vector<T, Exec>& z) const {
  for_each("krysol::jacobi", exec, static_cast<std::int64_t>(z.extent(0)),
           DiagonalScale<T>{inverse.data(), r.data(), z.data()});
}

/// The sum of the entries at (i, i); 0 where there is none.
template <class S>
S diagonal_entry(const HostCsr<S>& a, Index i) {
  S d = S(0);
  for (Offset k = a.row_ptr(static_cast<std::size_t>(i));
       k < a.row_ptr(static_cast<std::size_t>(i) + 1); ++k) {
    if (a.col_idx(static_cast<std::size_t>(k)) == i) d += a.values(static_cast<std::size_t>(k));
  }
  return d;
}

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Jacobi<T, Exec> make_jacobi(const HostCsr<T>& a) {
  Kokkos::View<Real<T>*, Kokkos::HostSpace> inverse("jacobi.inverse",
                                                    static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    const Real<T> d = real_part(diagonal_entry(a, i));
    inverse(static_cast<std::size_t>(i)) = d != 0 && Kokkos::isfinite(d) ? 1 / d : Real<T>(1);
  }
  return {Kokkos::create_mirror_view_and_copy(Exec{}, inverse)};
}

}  // namespace krysol
