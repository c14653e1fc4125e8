// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/hierarchy_update.hpp>

#include <algorithm>

#include <krysol/solver/coarsening/grid_product.hpp>
#include <krysol/solver/coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>

namespace krysol::multigrid {
namespace {

HostArray<double> ratio_of(const HostArray<double>& before, const HostArray<double>& now) {
  auto ratio = host_array<double>("update.ratio", now.extent(0));
  host_for("krysol::update(ratio)", static_cast<std::int64_t>(now.extent(0)),
           DivideScales{before.data(), now.data(), ratio.data()});
  return ratio;
}

template <class S>
HostArray<S> copied(const HostArray<S>& from) {
  auto to = host_array<S>("update.values", from.extent(0));
  Kokkos::deep_copy(to, from);
  return to;
}

}  // namespace

template <class S>
HierarchyUpdate<S>::HierarchyUpdate(HostHierarchy<S> h, const HostCsr<S>& a, Index coarsest,
                                    bool shared)
    : h_(std::move(h)), coarsest_(coarsest), shared_(shared) {
  pattern_ = with_own_pattern(a);
  pattern_.values = {};
  scale_ = h_.scale;
  if (!h_.on_device.empty()) {
    const HostLevel<S>& first = h_.levels.front();
    scale_ = first.unit.extent(0) > 0 ? first.unit : first.scale;
  }
  h_.levels.front().a = pattern_;  // its arrays were the caller's
  for (HostLevel<S>& level : h_.levels) {
    diagonal_.push_back(places_of_diagonal(level.a));
    if (h_.grid || level.scale.extent(0) == 0) continue;
    level.unit = level.scale;  // it is applied from now on, as in levels by aggregates
    level.scale = {};
  }
}

template <class S>
bool HierarchyUpdate<S>::fits(const HostCsr<S>& a) const {
  return same_pattern(a, pattern_);
}

template <class S>
HostHierarchy<S>& HierarchyUpdate<S>::set_values(const HostCsr<S>& a) {
  SetupSeconds seconds;
  Stopwatch watch;
  const HostArray<double> scale = scale_of(a, 1, 0, {}, diagonal_.front());
  watch.add_to(seconds.scaling);
  return set_values({a, scale}, scale, seconds);
}

template <class S>
HostHierarchy<S>& HierarchyUpdate<S>::set_values(const ScaledLevel<S>& after,
                                                 const HostArray<double>& scale,
                                                 const SetupSeconds& seconds) {
  h_.scale = scale;
  h_.seconds = seconds;
  if (h_.grid) {
    set_grids(after);
  } else {
    set_levels(after);
  }
  Stopwatch watch;
  invert_last(h_, coarsest_);
  watch.add_to(h_.seconds.coarsest);
  // The arrays of A are the caller's.
  h_.levels.front().a.row_ptr = pattern_.row_ptr;
  h_.levels.front().a.col_idx = pattern_.col_idx;
  return h_;
}

template <class S>
void HierarchyUpdate<S>::set_grids(const ScaledLevel<S>& first) {
  if constexpr (!is_complex<S>) {
    Stopwatch watch;
    h_.levels.front().a = first.a;
    h_.levels.front().scale = first.scale;
    for (std::size_t l = 0;; ++l) {
      HostLevel<S>& fine = h_.levels[l];
      watch.add_to(h_.seconds.scaling);
      bound_by_row_sums(fine);
      watch.add_to(h_.seconds.bounds);
      if (l + 1 == h_.levels.size()) return;
      const GridStep& step = *fine.grid;
      const auto repeated =
          repeated_rows(fine.a, h_.block, step.coarsening.fine, step.coarsening.period());
      HostLevel<S>& next = h_.levels[l + 1];
      // Nobody else has these arrays: a level is stored with its scaled values.
      const auto size = grid_product_values(fine.a, h_.block, step.pattern, step.coarsening,
                                            repeated, {step.p, step.repeated}, next.a);
      watch.add_to(h_.seconds.product);
      next.scale = scale_of(next.a, number(l + 1), rounding_of_level, size, diagonal_[l + 1]);
    }
  }
}

template <class S>
void HierarchyUpdate<S>::set_levels(const ScaledLevel<S>& first) {
  Stopwatch watch;
  HostArray<double> before = scale_;
  h_.levels.front().a = scaled_entries<S>(first.a, first.scale);
  HostArray<double> now = scale_ = first.scale;
  for (std::size_t l = 0;; ++l) {
    HostLevel<S>& fine = h_.levels[l];
    watch.add_to(h_.seconds.scaling);
    bound_by_row_sums(fine);
    watch.add_to(h_.seconds.bounds);
    if (l + 1 == h_.levels.size()) return;
    HostLevel<S>& next = h_.levels[l + 1];
    // The same P for the unscaled system, between the new scalings.
    const auto of_rows = ratio_of(before, now);
    const auto of_columns = inverse_of(next.unit);
    if (shared_) {
      for (HostCsr<S>* m : {&fine.p, &fine.r, &next.a}) m->values = copied(m->values);
    }
    scale_entries(fine.p, of_rows.data(), of_columns.data(), fine.p.values.data());
    scale_entries(fine.r, of_columns.data(), of_rows.data(), fine.r.values.data());
    watch.add_to(h_.seconds.scaling);
    triple_product_values(fine.r, fine.a, fine.p, memory_, next.a);
    watch.add_to(h_.seconds.product);
    before = next.unit;
    now = next.unit = scale_of(next.a, number(l + 1), rounding_of_level, sizes_of_rows(fine.r, {}),
                               diagonal_[l + 1]);
    scale_entries(fine.p, nullptr, now.data(), fine.p.values.data());
    scale_entries(fine.r, now.data(), nullptr, fine.r.values.data());
    scale_entries(next.a, now.data(), now.data(), next.a.values.data());
  }
}

template class HierarchyUpdate<double>;
template class HierarchyUpdate<Kokkos::complex<double>>;

}  // namespace krysol::multigrid
