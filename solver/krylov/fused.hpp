// How a preconditioner takes part in a method's own loops over rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol::fused {

/// z(i) from i and r(i): M^-1 = I, or a diagonal that is read in the loop, or a vector z that was
/// made before. bytes: a row, besides r.
template <class T>
struct NoPreconditioner {
  static constexpr double bytes = 0;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t, const T& r) const { return r; }
};
template <class T>
struct Diagonal {
  static constexpr double bytes = sizeof(Real<T>);
  const Real<T>* inverse;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t i, const T& r) const { return inverse[i] * r; }
};
template <class T>
struct Applied {
  static constexpr double bytes = sizeof(T);
  const T* z;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t i, const T&) const { return z[i]; }
};

/// For preconditioners that are part of the loops.
struct NothingToApply {};

/// For those that are not: where z lives.
template <class M, class T, class Exec>
struct ApplyToVector {
  const M& m;
  Vector<T, Exec> z;

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& to) const {
    m.apply(exec, r, to);
  }
  double bytes() const { return static_cast<double>(bytes_of(m)); }
};

/// Calls run(in_loop, apply_m) with what fits m: one of the three above, and what makes z from all
/// of r where that is Applied. make_z(): [rows] a vector for z, asked for in that case only.
template <class T, class Exec, class M, class MakeZ, class Run>
void choose(const M& m, const MakeZ& make_z, const Run& run) {
  const auto run_applied = [&] {
    const Vector<T, Exec> z = make_z();
    run(Applied<T>{z.data()}, ApplyToVector<M, T, Exec>{m, z});
  };
  if constexpr (std::is_same_v<M, Identity>) {
    run(NoPreconditioner<T>{}, NothingToApply{});
  } else if constexpr (requires { m.is_diagonal(); }) {
    if (!m.is_diagonal()) {
      run_applied();
      return;
    }
    const ConstVector<Real<T>, Exec> inverse = m.inverse_diagonal();
    if (inverse.extent(0) == 0) {
      run(NoPreconditioner<T>{}, NothingToApply{});
    } else {
      run(Diagonal<T>{inverse.data()}, NothingToApply{});
    }
  } else if constexpr (DiagonalPreconditioner<M, T, Exec>) {
    run(Diagonal<T>{m.inverse_diagonal().data()}, NothingToApply{});
  } else {
    run_applied();
  }
}

}  // namespace krysol::fused
