// Other values in the levels of a hierarchy.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <krysol/solver/multigrid/hierarchy.hpp>

namespace krysol::multigrid {

/// A level's system that is not scaled, and what gives it ones on its diagonal.
template <class S>
struct ScaledLevel {
  HostCsr<S> a;
  HostArray<double> scale;
};

/// Holds a hierarchy, to set the values of other matrices with the same pattern in it. Aggregates,
/// grids or classical sets, patterns and interpolation stay what they were for the first of them;
/// products P'AP, scaling, bounds and the last level's inverse are made anew. An unknown that some
/// values took out of the levels (a diagonal entry that was lost in rounding) stays out, and
/// interpolation is rescaled each time, so that the last bits hang on the values between. Bytes:
/// those of the hierarchy, the pattern of A, 4 a row of all levels, A's scaled values (of grids:
/// those of the caller) and rows of A P.
template <class S>
class HierarchyUpdate {
 public:
  /// h: made by make_hierarchy for `a`, or, where its first levels were made elsewhere, `a` is the
  /// level after them; coarsest: as there. shared: somebody multiplies with the arrays of h, which
  /// then are not written to.
  HierarchyUpdate(HostHierarchy<S> h, const HostCsr<S>& a, Index coarsest, bool shared);

  /// Whether A has the pattern of the first.
  bool fits(const HostCsr<S>& a) const;
  /// Throws as make_hierarchy does; what is held is not to be used then.
  HostHierarchy<S>& set_values(const HostCsr<S>& a);
  /// The same from the level after those that were made elsewhere on. scale: of A; seconds: what
  /// those took.
  HostHierarchy<S>& set_values(const ScaledLevel<S>& after, const HostArray<double>& scale,
                               const SetupSeconds& seconds);

 private:
  void set_grids(const ScaledLevel<S>& first);
  void set_levels(const ScaledLevel<S>& first);
  std::size_t number(std::size_t level) const { return h_.on_device.size() + level + 1; }

  HostHierarchy<S> h_;
  HostCsr<S> pattern_;                      // without values
  HostArray<double> scale_;                 // of the first level that is held
  std::vector<HostArray<Index>> diagonal_;  // of each level, see places_of_diagonal
  Index coarsest_;
  bool shared_;
  RowMemory<S> memory_;
};

}  // namespace krysol::multigrid
