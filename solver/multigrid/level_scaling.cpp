// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/level_scaling.hpp>

#include <cmath>

#include <fmt/core.h>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/finite.hpp>

namespace krysol::multigrid {

template <class S>
HostArray<double> scale_of(const HostCsr<S>& a, std::size_t level, double nothing,
                           const HostArray<double>& size, const HostArray<Index>& place) {
  constexpr std::int64_t step = 4096;
  const bool known = place.extent(0) > 0;
  const EqualBlocks pieces{a.rows, step};
  std::vector<Index> bad(static_cast<std::size_t>(pieces.count()), -1);
  auto scale = host_array<double>("multigrid.scale", static_cast<std::size_t>(a.rows));
  host_for("krysol::multigrid(scale)", pieces.count(), [&](std::int64_t p) {
    Index& first = bad[static_cast<std::size_t>(p)];
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      const double d = known && place.data()[i] >= 0
                           ? real_part(a.values.data()[a.row_ptr.data()[i] + place.data()[i]])
                           : real_part(diagonal_entry(a, static_cast<Index>(i)));
      const double least = size.extent(0) > 0 ? nothing * size.data()[i] : nothing;
      const bool out = level > 1 && std::abs(d) <= least;
      const double s = out ? 0 : 1 / std::sqrt(d);
      scale.data()[i] = s;
      if (first < 0 && !out && !(is_finite(s) && s > 0)) first = static_cast<Index>(i);
    }
  });
  for (const Index i : bad) {
    if (i < 0) continue;
    throw PreconditionerRefusal(
        level == 1 ? fmt::format("amg: row {} has {:.6g} on the diagonal", i + 1,
                                 real_part(diagonal_entry(a, i)))
                   : fmt::format("amg: row {} of level {} has {:.6g} on the diagonal", i + 1, level,
                                 real_part(diagonal_entry(a, i))),
        level == 1 ? i : -1);
  }
  return scale;
}

template <class S>
HostArray<Index> places_of_diagonal(const HostCsr<S>& a) {
  auto place = host_array<Index>("multigrid.diagonal", static_cast<std::size_t>(a.rows));
  host_for("krysol::multigrid(diagonal)", a.rows, [&a, to = place.data()](std::int64_t i) {
    const Offset begin = a.row_ptr.data()[i];
    int found = 0;
    to[i] = -1;
    for (Offset k = begin; k < a.row_ptr.data()[i + 1]; ++k) {
      if (a.col_idx.data()[k] != i) continue;
      to[i] = ++found == 1 ? static_cast<Index>(k - begin) : -1;
    }
  });
  return place;
}

HostArray<double> inverse_of(const HostArray<double>& scale) {
  auto inverse = host_array<double>("multigrid.inverse_scale", scale.extent(0));
  host_for("krysol::multigrid(inverse)", static_cast<std::int64_t>(scale.extent(0)),
           [from = scale.data(), to = inverse.data()](std::int64_t i) {
             to[i] = from[i] > 0 ? 1 / from[i] : 0;
           });
  return inverse;
}

template <class S>
HostArray<double> sizes_of_rows(const HostCsr<S>& r, const HostArray<double>& scale) {
  const bool scaled = scale.extent(0) > 0;
  auto size = host_array<double>("multigrid.size", static_cast<std::size_t>(r.rows));
  host_for("krysol::multigrid(size)", r.rows, [&, to = size.data()](std::int64_t c) {
    double sum = 0;
    for (Offset k = r.row_ptr.data()[c]; k < r.row_ptr.data()[c + 1]; ++k) {
      const double s = scaled ? scale.data()[r.col_idx.data()[k]] : 1;
      if (s > 0) sum += abs_squared(r.values.data()[k]) / s / s;
    }
    to[c] = sum;
  });
  return size;
}

template <class S>
void scale_entries(const HostCsr<S>& a, const double* left, const double* right, S* to) {
  const Index* const col_idx = a.col_idx.data();
  host_for("krysol::multigrid(scaled)", a.rows, [=, &a](std::int64_t i) {
    const double l = left != nullptr ? left[i] : 1;
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const double r = right != nullptr ? right[col_idx[k]] : 1;
      to[k] = from_double<S>(l * r) * a.values.data()[k];
    }
  });
}

template <class To, class From>
HostCsr<To> scaled_entries(const HostCsr<From>& a, const HostArray<double>& scale) {
  const bool scaled = scale.extent(0) > 0;
  HostCsr<To> out;
  out.rows = a.rows;
  out.cols = a.cols;
  out.row_ptr = a.row_ptr;
  out.col_idx = a.col_idx;
  if constexpr (std::is_same_v<To, From>) {
    if (!scaled) return a;
  }
  out.values = host_array<To>("multigrid.values", static_cast<std::size_t>(a.nnz()));
  host_for("krysol::multigrid(scaled)", a.rows,
           [entry = ScaledEntry<To, From>{a.col_idx.data(), a.values.data(),
                                          scaled ? scale.data() : nullptr},
            row_ptr = a.row_ptr.data(), to = out.values.data()](std::int64_t i) {
             for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) to[k] = entry(i, k);
           });
  return out;
}

#define KRYSOL_INSTANTIATE_SCALED(To, From) \
  template HostCsr<To> scaled_entries(const HostCsr<From>&, const HostArray<double>&);
KRYSOL_INSTANTIATE_SCALED(float, double)
KRYSOL_INSTANTIATE_SCALED(double, double)
KRYSOL_INSTANTIATE_SCALED(double, float)
KRYSOL_INSTANTIATE_SCALED(Kokkos::complex<float>, Kokkos::complex<double>)
KRYSOL_INSTANTIATE_SCALED(Kokkos::complex<double>, Kokkos::complex<double>)
KRYSOL_INSTANTIATE_SCALED(Kokkos::complex<double>, Kokkos::complex<float>)
#undef KRYSOL_INSTANTIATE_SCALED
#define KRYSOL_INSTANTIATE(S)                                                             \
  template HostArray<double> scale_of(const HostCsr<S>&, std::size_t, double,             \
                                      const HostArray<double>&, const HostArray<Index>&); \
  template HostArray<Index> places_of_diagonal(const HostCsr<S>&);                        \
  template HostArray<double> sizes_of_rows(const HostCsr<S>&, const HostArray<double>&);  \
  template void scale_entries(const HostCsr<S>&, const double*, const double*, S*);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
