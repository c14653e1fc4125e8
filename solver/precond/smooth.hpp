// A preconditioner as a smoother: stationary steps from any x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

/// x += z. Bytes a row: 24.
template <class T>
struct AddTo {
  const T* z;
  T* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { x[i] += z[i]; }
};

/// x := x + M^-1 (b - A x), `steps` times, from the x that is given: what a multigrid cycle does on
/// each level. The error e becomes (I - M^-1 A) e, which is no larger in the A-norm where no
/// eigenvalue of M^-1 A is above 2; a preconditioner for which that holds of every symmetric
/// positive definite A says so by can_smooth, others must be damped first. r, z: [rows] are
/// overwritten, b is not; none overlap. Saad 2003, section 4.1.
template <class Exec, class A, class T, class M>
requires LinearOperator<A, T, Exec> && Preconditioner<M, T, Exec>
void smooth(const Exec& exec, const A& a, const M& m,
            const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
            int steps, const std::type_identity_t<Vector<T, Exec>>& r,
            const std::type_identity_t<Vector<T, Exec>>& z) {
  for (int k = 0; k < steps; ++k) {
    Kokkos::deep_copy(exec, r, b);
    apply(exec, T(-1), a, ConstVector<T, Exec>(x), T(1), r);
    m.apply(exec, ConstVector<T, Exec>(r), z);
    for_each("krysol::smooth", exec, static_cast<std::int64_t>(x.extent(0)),
             AddTo<T>{z.data(), x.data()});
  }
}

}  // namespace krysol
