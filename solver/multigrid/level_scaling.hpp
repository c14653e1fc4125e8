// Levels with ones on their diagonals.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/coarsening/row_builder.hpp>
#include <krysol/solver/multigrid/cycle_kernels.hpp>

namespace krysol::multigrid {

/// 1 / sqrt(a(i,i)). Below the first level a diagonal entry may be what rounding left of 0: an
/// aggregate that is a component by itself, or a column of P that was 0. Where it is `nothing` at
/// most, times size[i] where that is given, it is scaled by 0, which takes the unknown out of the
/// levels. place: of the diagonal, see places_of_diagonal, where that is known. Throws
/// PreconditionerRefusal where an entry is not positive, or such that its root is not finite.
template <class S>
HostArray<double> scale_of(const HostCsr<S>& a, std::size_t level, double nothing,
                           const HostArray<double>& size = {}, const HostArray<Index>& place = {});

/// [rows] where in its row the entry on the diagonal stands, -1 where there is not just one.
template <class S>
HostArray<Index> places_of_diagonal(const HostCsr<S>& a);

/// 1 / scale, and 0 where that is 0.
HostArray<double> inverse_of(const HostArray<double>& scale);

/// [rows of R] the sums of |R(c, i)|^2 / scale_i^2, which the diagonal of R A R' is but for what
/// cancels, where that of A is scale^-2; empty: ones. For scale_of.
template <class S>
HostArray<double> sizes_of_rows(const HostCsr<S>& r, const HostArray<double>& scale);

/// to := diag(left) A diag(right); null: 1. `to` may be the values of A.
template <class S>
void scale_entries(const HostCsr<S>& a, const double* left, const double* right, S* to);

/// An entry of diag(scale) A diag(scale), rounded to To; no scale (null): ones.
template <class To, class From>
struct ScaledEntry {
  const Index* col_idx;
  const From* values;
  const double* scale;

  To operator()(std::int64_t i, Offset k) const {
    const From v = values[k];
    return rounded<To>(scale != nullptr ? from_double<From>(scale[i] * scale[col_idx[k]]) * v : v);
  }
};

/// diag(scale) A diag(scale), rounded to To; the pattern is the same arrays. No scale: ones. The
/// same matrix where nothing is to be done.
template <class To, class From>
HostCsr<To> scaled_entries(const HostCsr<From>& a, const HostArray<double>& scale);

/// ratio[i] := before[i] / now[i], and 0 where an unknown is out of either.
struct DivideScales {
  const double* before;
  const double* now;
  double* ratio;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    ratio[i] = now[i] > 0 ? before[i] / now[i] : 0;
  }
};

/// The same matrix with a pattern of its own: the caller's may be gone before the hierarchy.
template <class S>
HostCsr<S> with_own_pattern(HostCsr<S> a) {
  const auto row_ptr = host_array<Offset>("multigrid.row_ptr", a.row_ptr.extent(0));
  const auto col_idx = host_array<Index>("multigrid.col_idx", a.col_idx.extent(0));
  Kokkos::deep_copy(row_ptr, a.row_ptr);
  Kokkos::deep_copy(col_idx, a.col_idx);
  a.row_ptr = row_ptr;
  a.col_idx = col_idx;
  return a;
}

/// Adds the time since it was made, or last asked, to a number of seconds.
class Stopwatch {
 public:
  void add_to(double& seconds) {
    seconds += timer_.seconds();
    timer_.reset();
  }
  void reset() { timer_.reset(); }

 private:
  Kokkos::Timer timer_;
};

}  // namespace krysol::multigrid
