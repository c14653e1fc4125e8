// Whether an operator is symmetric, as far as two products tell.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include <krysol/solver/krylov/rounding.hpp>
#include <krysol/solver/krylov/workspace.hpp>

namespace krysol {

/// v(i) := a number in [-0.5, 0.5) that i and the seed fix, on every machine.
template <class T>
struct Scramble {
  std::uint32_t seed;
  T* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    auto bits = (static_cast<std::uint32_t>(i) + seed) * 2654435761U;
    bits = (bits ^ (bits >> 15)) * 2246822519U;  // neighbours have nothing in common
    bits ^= bits >> 13;
    v[i] = T(static_cast<Real<T>>(bits >> 8) / Real<T>(1 << 24) - Real<T>(0.5));
  }
};

/// |u'A v - conj(v'A u)| / (|u||A v| + |v||A u|), in 2-norms, for two pseudo-random vectors: a few
/// eps for a symmetric (Hermitian) A, about |A - A'| / |A| / sqrt(n) for any other; 0 or NaN where
/// A v or A u is not finite. Overwrites `product` [rows] and vectors `first` and `first` + 1 of
/// `work`. Two products.
template <class T, class Exec, class A>
double asymmetry_seen(const Exec& exec, const A& a, const Vector<T, Exec>& product,
                      std::size_t first, Workspace<T, Exec>& work) {
  const auto rows = static_cast<std::int64_t>(a.rows);
  const Vector<T, Exec> u = work.vector(exec, first, "krysol.u", rows);
  const Vector<T, Exec> v = work.vector(exec, first + 1, "krysol.v", rows);
  for_each("krysol::asymmetry(u)", exec, rows, Scramble<T>{1, u.data()});
  for_each("krysol::asymmetry(v)", exec, rows, Scramble<T>{77777777, v.data()});
  const ConstVector<T, Exec> cu = u;
  const ConstVector<T, Exec> cv = v;
  const ConstVector<T, Exec> cp = product;
  apply(exec, T(1), a, cv, T(0), product);
  const Inner<T> uav = inner_product<T, Exec>(exec, cu, cp, work.sums);
  const double av = norm2(exec, product, work.sums);
  apply(exec, T(1), a, cu, T(0), product);
  const Inner<T> vau = inner_product<T, Exec>(exec, cv, cp, work.sums);
  const double au = norm2(exec, product, work.sums);
  const double size = norm2(exec, u, work.sums) * av + norm2(exec, v, work.sums) * au;
  const Inner<T> difference = uav - conjugate(vau);
  return size > 0 ? std::sqrt(abs_squared(difference / size)) : 0;
}

/// Up to which that counts as rounding: as between entries (analyze), or of float.
template <class T>
double tolerated_asymmetry() {
  return std::max(1e-10, 100 * static_cast<double>(std::numeric_limits<Real<T>>::epsilon()));
}

}  // namespace krysol
