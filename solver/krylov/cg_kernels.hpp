// The fused loops of conjugate gradients. Together with A p they are all that an iteration reads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/krylov/blas1.hpp>

namespace krysol::cg_kernels {

/// r := r - alpha q; z = M^-1 r; terms of r'r and r'z. Bytes a row: 24, and 8 of a diagonal.
template <class T, class M>
struct ResidualStep {
  T alpha;
  const T* q;
  T* r;
  M m;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const T ri = r[i] - alpha * q[i];
    r[i] = ri;
    term[0] = abs_squared(ri);
    term[1] = real_product(ri, m(i, ri));
  }
};

/// Terms of r'r and r'z where z needs all of r first. Bytes a row: 16.
template <class T, class M>
struct ResidualTerms {
  const T* r;
  M m;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    term[0] = abs_squared(r[i]);
    term[1] = real_product(r[i], m(i, r[i]));
  }
};

/// Terms of q'z. Bytes a row: 16.
template <class T, class M>
struct ConjugacyTerm {
  const T* q;
  const T* r;
  M m;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    term[0] = real_product(q[i], m(i, r[i]));
  }
};

/// p := M^-1 r. Bytes a row: 24, and 8 of a diagonal.
template <class T, class M>
struct FirstDirection {
  const T* r;
  M m;
  T* p;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { p[i] = m(i, r[i]); }
};

/// e := e + alpha p; p := M^-1 r + beta p. One pass, because both need p.
/// Bytes a row: 40, and 8 of a diagonal.
template <class T, class M>
struct DirectionStep {
  T alpha;
  T beta;
  const T* r;
  M m;
  T* p;
  T* e;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const T pi = p[i];
    e[i] += alpha * pi;
    p[i] = m(i, r[i]) + beta * pi;
  }
};

/// r := pseudo-random numbers in [-0.5, 0.5), the same on every machine. Bytes a row: 16. The
/// mixing of bits is `lowbias32` (Wellons, hash-prospector, 2018).
template <class T>
struct Noise {
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    auto bits = static_cast<std::uint32_t>(i) + 1;
    bits = (bits ^ (bits >> 16)) * 0x7feb352dU;
    bits = (bits ^ (bits >> 15)) * 0x846ca68bU;
    bits ^= bits >> 16;
    r[i] = T(static_cast<Real<T>>(bits >> 8) / Real<T>(1 << 24) - Real<T>(0.5));
  }
};

/// Terms of scaled x'(b + r). Bytes a row: 24.
template <class T>
struct Energy {
  const T* x;
  const T* b;
  const T* r;
  double x_scale;
  double b_scale;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double* term) const {
    const double re = b_scale * (static_cast<double>(real_part(b[i])) + real_part(r[i]));
    const double im = b_scale * (static_cast<double>(imaginary_part(b[i])) + imaginary_part(r[i]));
    term[0] = x_scale * real_part(x[i]) * re + x_scale * imaginary_part(x[i]) * im;
  }
};

}  // namespace krysol::cg_kernels
