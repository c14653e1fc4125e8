// Jacobi: the diagonal of A.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// z(i) := r(i) / |Re A(i, i)|, so that M is positive definite even where A is not. Where the
/// diagonal entry is missing, zero or not finite, z(i) := r(i). An A with such an entry or a
/// negative one is not positive definite; `find_breakdown` reports it before a solve that needs
/// definiteness.
/// Bytes a row and application: 8 beside r and z, in the solver's own loops.
/// Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 2003, section 10.2.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Jacobi {
  static constexpr std::string_view name = "jacobi";

  ConstVector<Real<T>, Exec> inverse;  // [rows] 1 / |A(i, i)|
  Index unusable_rows = 0;             // whose diagonal entry is missing, zero or not finite
  Index first_unusable = -1;

  ConstVector<Real<T>, Exec> inverse_diagonal() const { return inverse; }
  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  /// For other values. Throws std::invalid_argument unless A has as many rows as before.
  void update(const HostCsr<T>& a);
  SetupNote setup_note() const {
    if (unusable_rows == 0) return {};
    return {"jacobi: " + std::to_string(unusable_rows) +
                " diagonal entries are missing, zero or not finite, the first at row " +
                std::to_string(first_unusable + 1),
            "1 is used instead"};
  }
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
  const Offset end = a.row_ptr.data()[i + 1];
  S d = S(0);
  for (Offset k = a.row_ptr.data()[i]; k < end; ++k) {
    if (a.col_idx.data()[k] == i) d += a.values.data()[k];
  }
  return d;
}

/// Throws std::invalid_argument unless A has as many rows as before.
template <class T>
void check_rows(std::string_view name, std::size_t rows, const HostCsr<T>& a) {
  if (static_cast<std::size_t>(a.rows) == rows) return;
  throw std::invalid_argument(std::string(name) + ": a matrix of " + std::to_string(a.rows) +
                              " rows where one of " + std::to_string(rows) + " was set up");
}

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Jacobi<T, Exec> make_jacobi(const HostCsr<T>& a) {
  Jacobi<T, Exec> m;
  Kokkos::View<Real<T>*, Kokkos::HostSpace> inverse("jacobi.inverse",
                                                    static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    const Real<T> d = real_part(diagonal_entry(a, i));
    const bool usable = is_finite(d) && d != 0;
    if (!usable && m.unusable_rows++ == 0) m.first_unusable = i;
    inverse(static_cast<std::size_t>(i)) = usable ? 1 / std::abs(d) : Real<T>(1);
  }
  m.inverse = in_memory_of<Exec>(inverse);
  return m;
}

template <class T, class Exec>
void Jacobi<T, Exec>::update(const HostCsr<T>& a) {
  check_rows(name, inverse.extent(0), a);
  *this = make_jacobi<Exec>(a);
}

}  // namespace krysol
