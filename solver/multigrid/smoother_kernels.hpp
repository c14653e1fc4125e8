// The loops of smoothers, beside the steps that go with a product (cycle_kernels.hpp).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/base/types.hpp>

namespace krysol::multigrid {

/// z := weights r. Bytes a row: 16 (float).
template <class S>
struct WeighRows {
  const Real<S>* weights;
  const S* r;
  S* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { z[i] = weights[i] * r[i]; }
};

/// The first step from x = 0: d := x := b d, residual := r. Bytes a row: 24 (float).
template <class S>
struct FirstStep {
  Real<S> b;
  const S* r;
  S* residual;
  S* d;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S step = b * d[i];
    d[i] = step;
    x[i] = step;
    residual[i] = r[i];
  }
};

/// x := x + g d + d_next with d_next = a d + b z, which d becomes. Bytes a row: 24 (float).
template <class S>
struct NextStep {
  Real<S> a;
  Real<S> b;
  Real<S> g;
  const S* z;
  S* d;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const S before = d[i];
    const S step = a * before + b * z[i];
    d[i] = step;
    x[i] += g * before + step;
  }
};

/// z := (L D L^H)^-1 r for the rows of a line. Bytes a row: 36 (float).
template <class S>
struct SolveLine {
  const Index* begin;
  const Index* row;
  const S* lower;
  const Real<S>* inverse_pivots;
  const S* r;
  S* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t line) const {
    const Index first = begin[line];
    const Index end = begin[line + 1];
    S last = S(0);
    for (Index p = first; p < end; ++p) {
      last = r[row[p]] - lower[p] * last;
      z[row[p]] = last;
    }
    last = S(0);
    S coupling = S(0);
    for (Index p = end - 1; p >= first; --p) {
      last = inverse_pivots[p] * z[row[p]] - conjugate(coupling) * last;
      z[row[p]] = last;
      coupling = lower[p];
    }
  }
};

/// x(i) := x(i) + r(i) - A(i, :) x for the rows of a colour, with a(i, i) = 1. Bytes a nonzero and
/// row as in a product by csr, 12 more a row (float).
template <class S>
struct SweepColour {
  const Index* row;  // of this colour
  const Offset* row_ptr;
  const Index* col_idx;
  const S* values;
  const S* r;
  S* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const Index i = row[k];
    S sum = r[i];
    for (Offset at = row_ptr[i]; at < row_ptr[i + 1]; ++at) sum -= values[at] * x[col_idx[at]];
    x[i] += sum;
  }
};

}  // namespace krysol::multigrid
