// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/device_update.hpp>

#include <utility>

#include <krysol/solver/device_coarsening/sparse_product.hpp>
#include <krysol/solver/multigrid/device_scaling.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol::multigrid {
namespace {

namespace on = krysol::device_coarsening;

/// values := left[i] a_ij right[j], of the values that `from` has.
template <class W, class Exec>
void set_scaled(const Exec& exec, const Csr<W, Exec>& a, const W* from, const double* left,
                const double* right) {
  on::for_rows(
      "krysol::multigrid(scaled)", exec, a.rows,
      ScaleEntries<W>{a.row_ptr.data(), a.col_idx.data(), from, left, right, a.values.data()});
}

}  // namespace

template <class W, class Exec>
DeviceUpdate<W, Exec>::DeviceUpdate(const Exec& exec, DeviceLevels<W, Exec> levels,
                                    const HostCsr<W>& a, const HostLevel<W>& after, bool shared)
    : exec_(exec),
      levels_(std::move(levels)),
      a_p_(levels_.size()),
      pattern_(with_own_pattern(a)),
      shared_(shared) {
  pattern_.values = {};
  share_arrays(after.a, after_);
  after_.values = uninitialized<W>(exec_, "update.values", after_.nnz());
  scale_ = in_memory_of<Exec>(after.unit.extent(0) > 0 ? after.unit : after.scale);
}

template <class W, class Exec>
ScaledLevel<W> DeviceUpdate<W, Exec>::set_values(const HostCsr<W>& a,
                                                 const HostArray<double>& scale,
                                                 SetupSeconds& seconds) {
  Stopwatch watch;
  const auto count = [&](double& of_step) {
    exec_.fence("krysol::multigrid(update)");
    watch.add_to(of_step);
  };
  Vector<double, Exec> now = in_memory_of<Exec>(scale);
  // Returns the values of m, which is to be written to: elsewhere, where somebody multiplies with
  // them.
  const auto write_to = [&](Csr<W, Exec>& m) {
    Vector<W, Exec> old = m.values;
    if (shared_) m.values = uninitialized<W>(exec_, "update.values", m.nnz());
    return old;
  };
  const auto rescale = [&](Csr<W, Exec>& m, const double* left, const double* right) {
    const Vector<W, Exec> old = write_to(m);
    set_scaled(exec_, m, old.data(), left, right);
  };
  Vector<double, Exec> before = std::exchange(levels_.front().scale, now);
  write_to(levels_.front().a);
  const Vector<W, Exec> values = in_memory_of<Exec>(a.values);
  set_scaled(exec_, levels_.front().a, values.data(), now.data(), now.data());
  count(seconds.scaling);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    DeviceLevel<W, Exec>& fine = levels_[l];
    const bool last = l + 1 == levels_.size();
    Csr<W, Exec>& next = last ? after_ : levels_[l + 1].a;
    Vector<double, Exec>& of_next = last ? scale_ : levels_[l + 1].scale;
    fine.largest = bound_of_level(exec_, fine.a);
    count(seconds.bounds);
    // The same P for the system that is not scaled, between the new scalings.
    const auto of_rows = uninitialized<double>(exec_, "update.ratio", fine.a.rows);
    on::for_rows("krysol::multigrid(ratio)", exec_, fine.a.rows,
                 DivideScales{before.data(), now.data(), of_rows.data()});
    const Vector<double, Exec> of_columns = inverted(exec_, of_next);
    rescale(fine.p, of_rows.data(), of_columns.data());
    rescale(fine.r, of_columns.data(), of_rows.data());
    count(seconds.scaling);
    if (a_p_[l].rows == 0) {
      a_p_[l] = on::product(exec_, fine.a, fine.p);
    } else {
      on::set_product_values(exec_, fine.a, fine.p, a_p_[l]);
    }
    if (!last) write_to(next);
    on::set_product_values(exec_, fine.r, a_p_[l], next);
    count(seconds.product);
    now = scale_of_level(exec_, next, fine.r, l + 2);
    scale_next(exec_, fine.p, fine.r, next, now);
    before = std::exchange(of_next, now);
    count(seconds.scaling);
  }
  ScaledLevel<W> after{on_the_host(unscaled(exec_, after_, scale_)),
                       on_the_host<double, Exec>(scale_)};
  count(seconds.conversion);
  return after;
}

#define KRYSOL_INSTANTIATE(Unused, Exec) template class DeviceUpdate<double, Exec>;
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE, float)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
