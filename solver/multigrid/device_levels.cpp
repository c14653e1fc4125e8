// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/device_levels.hpp>

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <krysol/solver/device_coarsening/prolongation.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol::multigrid {
namespace {

namespace on = krysol::device_coarsening;

template <class W>
struct ScaleOfRow {
  const Offset* row_ptr;
  const Index* col_idx;
  const W* values;
  double nothing;
  double* scale;
  std::int64_t rows;
  /// bad: rows - i for the first row i whose diagonal entry is not positive and finite.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& bad) const {
    double d = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] == i) d += real_part(values[k]);
    }
    const bool out = Kokkos::abs(d) <= nothing;
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

template <class W>
struct DivideRows {
  const double* scale;
  Index k;
  W* b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const double by = scale[i] > 0 ? 1 / scale[i] : 0;
    for (Index c = 0; c < k; ++c) b[i * k + c] *= from_double<W>(by);
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
Vector<double, Exec> scale_of_level(const Exec& exec, const Csr<W, Exec>& a, std::size_t level,
                                    double nothing) {
  auto scale = uninitialized<double>(exec, "multigrid.scale", a.rows);
  std::int64_t bad = 0;
  if (a.rows > 0) {
    Kokkos::parallel_reduce(
        "krysol::multigrid(scale)",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, a.rows),
        ScaleOfRow<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), nothing, scale.data(),
                      a.rows},
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
  on::for_rows("krysol::multigrid(scaled)", exec, a.rows,
               ScaleEntries<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), left, right,
                               a.values.data()});
}

/// As largest_eigenvalue of a matrix on the host.
template <class W, class Exec>
double bound_of_level(const Exec& exec, const Csr<W, Exec>& a) {
  ReductionWorkspace<Exec> sums;
  const auto row_sum = uninitialized<double>(exec, "multigrid.row_sums", a.rows);
  on::for_rows("krysol::multigrid(row sums)", exec, a.rows,
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

template <class W, class Exec>
Vector<W, Exec> scaled_values(const Exec& exec, const Csr<W, Exec>& a,
                              const HostArray<double>& scale) {
  auto values = uninitialized<W>(exec, "multigrid.values", a.nnz());
  const auto of_rows = in_memory_of<Exec>(scale);
  on::for_rows("krysol::multigrid(scaled)", exec, a.rows,
               ScaleEntries<W>{a.row_ptr.data(), a.col_idx.data(), a.values.data(), of_rows.data(),
                               of_rows.data(), values.data()});
  return values;
}

}  // namespace

template <class W, class Exec>
std::vector<DeviceLevel<W, Exec>> make_device_levels(const Exec& exec, const HostCsr<W>& a,
                                                     const HierarchyOptions& options,
                                                     NearNullSpace<W>& b, HostHierarchy<W>& h,
                                                     Index rows) {
  // A row is a thread's, in several kernels: one of 10^5 entries would be waited for.
  constexpr Offset longest = 4096;
  std::vector<DeviceLevel<W, Exec>> levels;
  if (a.rows <= std::max(rows, options.coarsest)) return levels;
  Stopwatch watch;
  const auto count = [&](double& seconds) {
    exec.fence("krysol::multigrid(device levels)");
    watch.add_to(seconds);
  };
  Csr<W, Exec> fine;
  share_arrays(a, fine);
  Index block = h.block;
  Offset row = on::longest_row(exec, fine);
  if (row > longest || !on::has_full_blocks(exec, fine, block)) return levels;
  fine.values = scaled_values(exec, fine, h.scale);
  on::NearNullSpace<W, Exec> vectors{b.count, in_memory_of<Exec>(b.values)};
  Vector<double, Exec> unit;
  count(h.seconds.scaling);
  while (fine.rows > std::max(rows, options.coarsest) && levels.size() + 1 < most_levels &&
         row <= longest) {
    set_schedule(fine, RowSchedule::automatic);
    const double largest = bound_of_level(exec, fine);
    count(h.seconds.bounds);
    const auto weight = on::strength(exec, fine, block, options.strength);
    count(h.seconds.strength);
    const on::Aggregates<Exec> aggregates =
        on::aggregate(exec, on::graph_of(fine, block), fine.rows / block, weight);
    count(h.seconds.aggregation);
    const double next_rows = static_cast<double>(aggregates.count) * vectors.count;
    if (aggregates.count == 0 || next_rows > least_coarsening_of_aggregates * fine.rows) {
      break;  // the host says so, where its aggregates are no better
    }
    on::Tentative<W, Exec> t = on::tentative(exec, aggregates, block, vectors);
    DeviceLevel<W, Exec> level;
    level.p = on::smoothed(exec, fine, block, weight, largest, vectors, t.t);
    count(h.seconds.prolongation);
    level.r = on::adjoint(exec, level.p);
    const Index of_next = vectors.count;
    Csr<W, Exec> next =
        on::product(exec, level.r, on::product(exec, fine, level.p, {block, block, of_next}),
                    {of_next, block, of_next});
    count(h.seconds.product);
    const auto scale = scale_of_level(exec, next, levels.size() + 2, rounding_of_level);
    scale_in_place(exec, level.p, nullptr, scale.data());
    scale_in_place(exec, level.r, scale.data(), nullptr);
    scale_in_place(exec, next, scale.data(), scale.data());
    vectors = std::move(t.coarse);
    unit = scale;
    on::for_rows("krysol::multigrid(near null)", exec, next.rows,
                 DivideRows<W>{scale.data(), vectors.count, vectors.values.data()});
    count(h.seconds.scaling);
    block = vectors.count;
    level.a = std::move(fine);
    level.largest = largest;
    levels.push_back(std::move(level));
    fine = std::move(next);
    row = on::longest_row(exec, fine);
  }
  if (levels.empty()) return levels;
  HostLevel<W> rest;
  rest.a = on_the_host(fine);
  rest.block = block;
  rest.unit = on_the_host<double, Exec>(unit);
  b = {vectors.count, on_the_host<W, Exec>(vectors.values)};
  h.levels.push_back(std::move(rest));
  for (const auto& level : levels) h.on_device.push_back({level.a.rows, level.a.nnz()});
  watch.add_to(h.seconds.conversion);
  return levels;
}

#define KRYSOL_INSTANTIATE(Unused, Exec)                                                    \
  template std::vector<DeviceLevel<double, Exec>> make_device_levels(                       \
      const Exec&, const HostCsr<double>&, const HierarchyOptions&, NearNullSpace<double>&, \
      HostHierarchy<double>&, Index);
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE, float)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
