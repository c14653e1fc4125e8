// The scaling of levels and the bound of their eigenvalues, in the memory of a device; see
// level_scaling.hpp and largest_eigenvalue.hpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include <fmt/core.h>
#include <krysol/solver/device_coarsening/rows.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol::multigrid {

/// Of A = R B R', where B has ones on its diagonal.
template <class W>
struct ScaleOfRow {
  const Offset* row_ptr;
  const Index* col_idx;
  const W* values;
  const Offset* r_ptr;
  const W* r;
  double* scale;
  std::int64_t rows;
  /// bad: rows - i for the first row i whose diagonal entry is not positive and finite.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& bad) const {
    double d = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] == i) d += real_part(values[k]);
    }
    double size = 0;  // of d, but for what cancels
    for (Offset k = r_ptr[i]; k < r_ptr[i + 1]; ++k) size += abs_squared(r[k]);
    const bool out = Kokkos::abs(d) <= rounding_of_level * size;
    const double s = out ? 0 : 1 / Kokkos::sqrt(d);
    scale[i] = s;
    const bool usable = out || (has_finite_bits(s) && s > 0);
    if (!usable && rows - i > bad) bad = rows - i;
  }
};

/// to[k] := left[i] a_ij right[j]; null: 1.
template <class W>
struct ScaleEntries {
  const Offset* row_ptr;
  const Index* col_idx;
  const W* from;
  const double* left;
  const double* right;
  W* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const double l = left != nullptr ? left[i] : 1;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const double r = right != nullptr ? right[col_idx[k]] : 1;
      to[k] = from_double<W>(l * r) * from[k];
    }
  }
};

/// In place of a sum that is not finite, which the search for the largest would pass over.
inline constexpr double not_finite = Kokkos::Experimental::finite_max_v<double>;

template <class W>
struct SumRow {
  const Offset* row_ptr;
  const W* values;
  double* sum;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    double total = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      total += Kokkos::abs(values[k]);  // its square may be out of range
    }
    sum[i] = has_finite_bits(total) ? total : not_finite;
  }
};

template <class W, class Exec>
Vector<double, Exec> scale_of_level(const Exec& exec, const Csr<W, Exec>& a, const Csr<W, Exec>& r,
                                    std::size_t level) {
  auto scale = uninitialized<double>(exec, "multigrid.scale", a.rows);
  std::int64_t bad = 0;
  if (a.rows > 0) {
    Kokkos::parallel_reduce(
        "krysol::multigrid(scale)",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
        ScaleOfRow<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), r.row_ptr.data(),
                      r.values.data(), scale.data(), a.rows},
        Kokkos::Max<std::int64_t>(bad));
  }
  if (bad > 0) {
    throw PreconditionerRefusal(
        fmt::format("amg: row {} of level {} has a diagonal that is not positive and finite",
                    a.rows - bad + 1, level),
        -1);
  }
  return scale;
}

template <class W, class Exec>
void scale_in_place(const Exec& exec, const Csr<W, Exec>& a, const double* left,
                    const double* right) {
  device_coarsening::for_rows("krysol::multigrid(scaled)", exec, a.rows,
                              ScaleEntries<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(),
                                              left, right, a.values.data()});
}

/// Scales the next level's matrix to ones on its diagonal, and P and R = P' to its unknowns.
template <class W, class Exec>
void scale_next(const Exec& exec, const Csr<W, Exec>& p, const Csr<W, Exec>& r,
                const Csr<W, Exec>& next, const Vector<double, Exec>& scale) {
  scale_in_place<W, Exec>(exec, p, nullptr, scale.data());
  scale_in_place<W, Exec>(exec, r, scale.data(), nullptr);
  scale_in_place<W, Exec>(exec, next, scale.data(), scale.data());
}

/// As largest_eigenvalue of a matrix on the host.
template <class W, class Exec>
double bound_of_level(const Exec& exec, const Csr<W, Exec>& a) {
  ReductionWorkspace<Exec> sums;
  const auto row_sum = uninitialized<double>(exec, "multigrid.row_sums", a.rows);
  device_coarsening::for_rows("krysol::multigrid(row sums)", exec, a.rows,
                              SumRow<W>{a.row_ptr.data(), a.values.data(), row_sum.data()});
  const double sum = largest_part<double>(exec, row_sum, sums);
  if (!(sum < not_finite)) {
    throw PreconditionerRefusal("amg: a level has an entry that is not finite", -1);
  }
  if (sum <= near_row_sum) return std::max(sum, 1.0);
  return std::min(sum, lanczos_bound<W>(
                           exec, a.rows, sums,
                           [&](const Vector<W, Exec>& p, const Vector<W, Exec>& q) {
                             return apply_dot(exec, a, p, q, sums);
                           },
                           [](const Vector<W, Exec>& r) { return r; }));
}

template <class T, class Exec>
HostArray<T> on_the_host(const Vector<T, Exec>& v) {
  auto host = host_array<T>("multigrid.from_device", v.extent(0));
  Kokkos::deep_copy(host, v);
  return host;
}

template <class W, class Exec>
HostCsr<W> on_the_host(const Csr<W, Exec>& a) {
  HostCsr<W> host;
  host.rows = a.rows;
  host.cols = a.cols;
  host.row_ptr = on_the_host<Offset, Exec>(a.row_ptr);
  host.col_idx = on_the_host<Index, Exec>(a.col_idx);
  host.values = on_the_host<W, Exec>(a.values);
  return host;
}

/// A in the memory of the device, with ones on its diagonal.
template <class W, class Exec>
Csr<W, Exec> scaled_on_device(const Exec& exec, const HostCsr<W>& a,
                              const Vector<double, Exec>& scale) {
  Csr<W, Exec> scaled;
  share_arrays(a, scaled);
  const auto values = uninitialized<W>(exec, "multigrid.values", scaled.nnz());
  device_coarsening::for_rows(
      "krysol::multigrid(scaled)", exec, a.rows,
      ScaleEntries<W>{scaled.row_ptr.data(), scaled.col_idx.data(), scaled.values.data(),
                      scale.data(), scale.data(), values.data()});
  scaled.values = values;
  return scaled;
}

struct Invert {
  const double* scale;
  double* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[i] = scale[i] > 0 ? 1 / scale[i] : 0;
  }
};

template <class Exec>
Vector<double, Exec> inverted(const Exec& exec, const Vector<double, Exec>& scale) {
  const auto rows = static_cast<std::int64_t>(scale.extent(0));
  auto inverse = uninitialized<double>(exec, "multigrid.inverse", rows);
  device_coarsening::for_rows("krysol::multigrid(inverse)", exec, rows,
                              Invert{scale.data(), inverse.data()});
  return inverse;
}

/// A level, in the memory of the device, that is not scaled.
template <class W, class Exec>
Csr<W, Exec> unscaled(const Exec& exec, const Csr<W, Exec>& a, const Vector<double, Exec>& scale) {
  const Vector<double, Exec> inverse = inverted(exec, scale);
  Csr<W, Exec> plain = a;
  plain.values = uninitialized<W>(exec, "multigrid.values", a.nnz());
  device_coarsening::for_rows("krysol::multigrid(not scaled)", exec, a.rows,
                              ScaleEntries<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(),
                                              inverse.data(), inverse.data(), plain.values.data()});
  return plain;
}

}  // namespace krysol::multigrid
