// The first levels, by grids, aggregates or classically, made in the memory of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include <krysol/solver/coarsening/prolongation.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace krysol::multigrid {

/// A level's arrays, as those of HostLevel: `a` has ones on its diagonal. Matrices have their
/// schedules.
template <class W, class Exec>
struct DeviceLevel {
  Csr<W, Exec> a;
  Csr<W, Exec> p;
  Csr<W, Exec> r;
  Vector<double, Exec> scale;  // [rows] S, which gave `a` its diagonal
  double largest = 0;          // a bound of the eigenvalues of `a`
};

template <class W, class Exec>
using DeviceLevels = std::vector<DeviceLevel<W, Exec>>;

/// Rows that the host coarsens further: a level of a device is some thirty kernels.
inline constexpr Index rows_for_a_device = 4096;

/// Levels by smoothed aggregation, from `a` (not scaled; h.scale, h.block are set) on, as long as
/// they have more than `rows` rows. The steps are those of the host; aggregates are made by
/// device_coarsening::aggregate, which takes nodes in another order. The next level is left in
/// h.levels, scaled, and `b`, the near-null vectors of `a` in its scaled unknowns, becomes those of
/// that level. h.on_device has the sizes of those made, h.seconds what they took. None is made
/// where nodes of several rows do not have full blocks (rows_of_node takes somewhat emptier ones),
/// columns of a row do not ascend, or a row has more than 4096 entries. Stops, as the host would,
/// where coarsening stalls. Throws as make_hierarchy does; h then has no level, and b is what it
/// was.
template <class W, class Exec>
DeviceLevels<W, Exec> make_device_levels(const Exec& exec, const HostCsr<W>& a,
                                         const HierarchyOptions& options, NearNullSpace<W>& b,
                                         HostHierarchy<W>& h, Index rows = rows_for_a_device);

/// Levels that are grids, from `a` (not scaled; h.scale, h.block are set) on, as long as they have
/// more than `rows` rows: those of coarsen_grids, P'AP by products of any sparse matrices.
/// `seconds` and the result: see FirstGrids; `levels` receives those made. Nothing where
/// coarsen_grids would find no grid, where none is to be made, or where options.near_null is given,
/// which the host looks into. Throws PreconditionerRefusal where a diagonal entry of a level is not
/// positive and finite, or its sums are not finite; OutOfMemory; `levels` is then as before.
template <class Exec>
std::optional<GridStart> make_device_grids(const Exec& exec, const HostCsr<double>& a,
                                           const HierarchyOptions& options,
                                           const HostHierarchy<double>& h, SetupSeconds& seconds,
                                           DeviceLevels<double, Exec>& levels,
                                           Index rows = rows_for_a_device);

/// Levels by classical coarsening, from `a` (not scaled; h.scale, h.block are set) on, as long as
/// they have more than `rows` rows: those of coarsen_classically. `seconds` and the result: see
/// FirstClassical; `levels` receives those made. Nothing where none is to be made, or where a row
/// has more than 4096 entries. Throws as make_device_grids does.
template <class Exec>
std::optional<ClassicalStart> make_device_classical(const Exec& exec, const HostCsr<double>& a,
                                                    const HierarchyOptions& options,
                                                    const HostHierarchy<double>& h,
                                                    SetupSeconds& seconds,
                                                    DeviceLevels<double, Exec>& levels,
                                                    Index rows = rows_for_a_device);

}  // namespace krysol::multigrid
