// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol::multigrid {
namespace {

/// |v|; its square may be out of range.
double modulus(double v) { return std::abs(v); }
double modulus(const Kokkos::complex<double>& v) { return std::hypot(v.real(), v.imag()); }

}  // namespace

template <class S>
double largest_row_sum(const HostCsr<S>& a, const HostArray<double>& scale) {
  constexpr std::int64_t step = 4096;
  const EqualBlocks pieces{a.rows, step};
  const bool scaled = scale.extent(0) > 0;
  std::vector<double> largest(static_cast<std::size_t>(pieces.count()), 0);
  host_for("krysol::row_sums", pieces.count(), [&](std::int64_t p) {
    double most = 0;
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      double sum = 0;
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        const double column = scaled ? scale.data()[a.col_idx.data()[k]] : 1;
        sum += modulus(from_double<S>(column) * a.values.data()[k]);
      }
      if (scaled) sum *= scale.data()[i];
      if (!(sum <= most)) most = sum;  // NaN too, and for good
      if (!is_finite(most)) break;
    }
    largest[static_cast<std::size_t>(p)] = most;
  });
  double most = 0;
  for (const double sum : largest) {
    if (!is_finite(sum))
      throw PreconditionerRefusal("amg: a level has an entry that is not finite", -1);
    most = std::max(most, sum);
  }
  return most;
}

template <class S>
double largest_eigenvalue(const HostCsr<S>& a) {
  const double sum = largest_row_sum(a);
  if (sum <= near_row_sum) return std::max(sum, 1.0);
  const Host exec;
  Csr<S, Host> format;
  from_csr(a, format);
  ReductionWorkspace<Host> sums;
  return std::min(sum, lanczos_bound<S>(
                           exec, a.rows, sums,
                           [&](const Vector<S, Host>& p, const Vector<S, Host>& q) {
                             return apply_dot(exec, format, p, q, sums);
                           },
                           [](const Vector<S, Host>& r) { return r; }));
}

#define KRYSOL_INSTANTIATE(S)                                                   \
  template double largest_row_sum(const HostCsr<S>&, const HostArray<double>&); \
  template double largest_eigenvalue(const HostCsr<S>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
