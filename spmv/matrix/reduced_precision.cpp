// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/matrix/reduced_precision.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/format_refusal.hpp>

namespace krysol {
namespace {

float rounded(double v) { return static_cast<float>(v); }
Kokkos::complex<float> rounded(const Kokkos::complex<double>& v) {
  return {rounded(v.real()), rounded(v.imag())};
}

bool too_large(double v) { return !is_finite(rounded(v)) && is_finite(v); }
bool too_large(const Kokkos::complex<double>& v) {
  return too_large(v.real()) || too_large(v.imag());
}

std::string printed(double v) { return fmt::format("{}", v); }
std::string printed(const Kokkos::complex<double>& v) {
  return fmt::format("({}, {})", v.real(), v.imag());
}

/// Rounds [begin, end), and returns the first place that is too large; `none` where all fit.
template <class S>
Offset round_values(const S* from, Offset begin, Offset end, ReducedPrecision<S>* to, Offset none) {
  for (Offset k = begin; k < end; ++k) {
    to[k] = rounded(from[k]);
    if (too_large(from[k])) return k;
  }
  return none;
}

template <class S>
[[noreturn]] void refuse_value(const HostCsr<S>& a, Offset k) {
  const Offset* begin = a.row_ptr.data();
  const auto row = std::upper_bound(begin, begin + a.row_ptr.extent(0), k) - begin - 1;
  throw FormatRefusal(fmt::format(
      "krysol::reduced_precision: A({}, {}) = {} (counted from 0), and float ends at {}; scale the "
      "matrix, "
      "or keep its values as they are",
      row, a.col_idx.data()[k], printed(a.values.data()[k]), std::numeric_limits<float>::max()));
}

}  // namespace

template <class S>
HostCsr<ReducedPrecision<S>> reduced_precision(const HostCsr<S>& a) {
  HostCsr<ReducedPrecision<S>> out;
  out.rows = a.rows;
  out.cols = a.cols;
  out.row_ptr = a.row_ptr;
  out.col_idx = a.col_idx;
  const Offset nnz = a.nnz();
  out.values = allocate<decltype(out.values)>("csr.values", nnz);
  const S* from = a.values.data();
  ReducedPrecision<S>* to = out.values.data();
  constexpr Offset block = 4096;
  Offset first = nnz;
  Kokkos::parallel_reduce(
      "krysol::reduced_precision",
      Kokkos::RangePolicy<Host, Kokkos::IndexType<Offset>>(0, (nnz + block - 1) / block),
      [=](Offset b, Offset& least) {
        least =
            std::min(least, round_values(from, b * block, std::min(nnz, (b + 1) * block), to, nnz));
      },
      Kokkos::Min<Offset>(first));
  if (first < nnz) refuse_value(a, first);
  return out;
}

template HostCsr<float> reduced_precision(const HostCsr<double>&);
template HostCsr<Kokkos::complex<float>> reduced_precision(const HostCsr<Kokkos::complex<double>>&);

}  // namespace krysol
