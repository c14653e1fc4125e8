// Other values in the levels that a device made.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/hierarchy_update.hpp>

namespace krysol::multigrid {

/// As HierarchyUpdate, of the levels in the memory of a device, which are a hierarchy's first: what
/// is after them goes on there. Bytes: those levels, their products A P and the pattern of A on the
/// host.
template <class W, class Exec>
class DeviceUpdate {
 public:
  /// levels: one at least, made for `a`; after: the level after them. shared: somebody multiplies
  /// with their arrays, which then are not written to.
  DeviceUpdate(const Exec& exec, DeviceLevels<W, Exec> levels, const HostCsr<W>& a,
               const HostLevel<W>& after, bool shared);

  bool fits(const HostCsr<W>& a) const { return same_pattern(a, pattern_); }
  /// a: not scaled; scale: what gives it ones on its diagonal. Returns the level after those of
  /// the device, not scaled, and adds to `seconds`. Throws as make_device_levels does; what is held
  /// is not to be used then.
  ScaledLevel<W> set_values(const HostCsr<W>& a, const HostArray<double>& scale,
                            SetupSeconds& seconds);
  const DeviceLevels<W, Exec>& levels() const { return levels_; }

 private:
  Exec exec_;
  DeviceLevels<W, Exec> levels_;
  std::vector<Csr<W, Exec>> a_p_;  // A P of each level
  Csr<W, Exec> after_;             // with ones on its diagonal
  Vector<double, Exec> scale_;     // that gave it those
  HostCsr<W> pattern_;             // of A, without values
  bool shared_;
};

}  // namespace krysol::multigrid
