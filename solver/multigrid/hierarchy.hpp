// The levels of algebraic multigrid, made on the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krysol/solver/coarsening/grid_interpolation.hpp>
#include <krysol/solver/coarsening/prolongation.hpp>
#include <krysol/solver/precond/near_null_vectors.hpp>

namespace krysol::multigrid {

/// How the next level is made.
enum class Coarsening {
  automatic,   // as a grid where the matrix is one
  aggregates,  // smoothed aggregation
  classical,   // of real numbers; else aggregates
};

struct HierarchyOptions {
  Coarsening coarsening = Coarsening::automatic;
  double strength = 0.25;  // theta, see Strength; of grids and classical coarsening: see there
  Index block = 0;         // rows a node; 0: looked for in the pattern
  Index coarsest = 200;    // rows that are solved with exactly
  Index aggressive = 0;    // levels that classical coarsening takes two steps at a time to
  std::shared_ptr<const NearNullVectors> near_null{};  // null: found in the matrix
};

/// From one grid to the next coarser one; P and P' are multiplied with without their matrices.
struct GridStep {
  GridCoarsening coarsening;
  HostCsr<double> p;                   // of nodes, of systems that are not scaled
  GridPattern pattern{};               // of the finer level's entries
  HostArray<std::uint8_t> repeated{};  // see Interpolation
};

/// A level's system, scaled to ones on the diagonal: of A_l the matrix S A_l S with
/// S = diag(A_l)^-1/2.
template <class S>
struct HostLevel {
  HostCsr<S> a;
  Index block = 1;          // rows a node, one after the other
  HostArray<double> scale;  // [rows] S, where `a` is still to be multiplied with it; else empty
  HostArray<double> unit;   // [rows] S, where `a` is S P'AP S already; else empty
  double largest = 0;       // a bound of its eigenvalues
  bool far_bound = false;   // that is a row sum, and products by A show a better one
  HostCsr<S> p;             // [rows, rows of the next level]; empty for the last, and
  HostCsr<S> r;             // P'
  std::optional<GridStep> grid;  // where this is in their place
};

/// Seconds of a setup, by its steps.
struct SetupSeconds {
  double strength = 0;
  double aggregation = 0;
  double prolongation = 0;
  double product = 0;
  double scaling = 0;
  double bounds = 0;
  double coarsest = 0;
  double conversion = 0;
};

struct LevelSize {
  Index rows = 0;
  Offset nnz = 0;
};

template <class S>
struct HostHierarchy {
  Index block = 1;
  Index near_null = 1;                              // vectors that each level holds
  bool grid = false;                                // levels are grids
  std::string coarsening = "smoothed aggregation";  // or "grids", "classical"
  int degree = 2;                                   // of the smoothers that suit it
  HostArray<double> scale;                          // [rows] diag(A)^-1/2
  std::vector<LevelSize> on_device;                 // levels before those, see FirstLevels
  std::vector<HostLevel<S>> levels;
  HostArray<S> inverse;  // [rows rows] of the last level, by columns; empty where that was too
                         // large: `stalled` says so
  Index null_space = 0;  // dimension of the last level's null space, which has no part in `inverse`
  std::string stalled;   // why there are no smaller levels, where those are missing
  SetupSeconds seconds;
};

// What levels are made until, on the host and on a device.
inline constexpr std::size_t most_levels = 30;
/// Rows of the next level over those of this, by aggregates.
inline constexpr double least_coarsening_of_aggregates = 0.8;
/// Of a diagonal entry of the next level: A = P'BP with columns of P of length 1 about.
inline constexpr double rounding_of_level = 1e-13;

/// A grid that is coarsened from here on.
struct GridStart {
  Index block = 1;  // rows a node
  BoxGrid grid;
  GridPlaces places;
  int degree = 0;                   // of the smoothers of all levels
  std::vector<LevelSize> before{};  // levels that were made elsewhere
  HostLevel<double> level{};        // after them: a (not scaled), scale
};

/// Makes first levels that are grids elsewhere: for A (not scaled), with h.scale and h.block.
/// Returns what is after them, or nothing where it makes none. Adds its time to `seconds`.
using FirstGrids = std::function<std::optional<GridStart>(
    const HostCsr<double>& a, const HostHierarchy<double>& h, SetupSeconds& seconds)>;

/// Classical coarsening that goes on from here.
struct ClassicalStart {
  std::vector<std::uint8_t> unknown{};  // [rows] see Unknowns
  std::vector<LevelSize> before{};      // levels that were made elsewhere
  HostLevel<double> level{};            // after them: a (not scaled), scale
};

/// As FirstGrids, classically.
using FirstClassical = std::function<std::optional<ClassicalStart>(
    const HostCsr<double>& a, const HostHierarchy<double>& h, SetupSeconds& seconds)>;

/// Makes the first levels elsewhere.
template <class S>
struct FirstLevels {
  FirstGrids grids{};
  FirstClassical classical{};
  /// Of smoothed aggregation: for A (not scaled), with h.scale and h.block, and the near-null
  /// vectors b in scaled unknowns. It may make none; else it adds their sizes to h.on_device, and
  /// the level after them, scaled, to h.levels, whose vectors b are then.
  std::function<void(const HostCsr<S>& a, HostHierarchy<S>& h, NearNullSpace<S>& b)> aggregates{};
};

/// A_(l+1) = P' A_l P, as grids (see coarsen_grids), by smoothed aggregation or classically (see
/// coarsen_classically), until `coarsest` rows are left. Throws
/// PreconditionerRefusal where a diagonal entry is not positive and finite, or a level is not
/// positive semidefinite; std::invalid_argument where A is not square, or nodes of options.block
/// rows do not make it up; OutOfMemory. Vanek, Mandel & Brezina, Computing 56, 1996,
/// DOI 10.1007/BF02238511.
template <class S>
HostHierarchy<S> make_hierarchy(const HostCsr<S>& a, const HierarchyOptions& options,
                                const FirstLevels<S>& first = {});

/// Sets `largest` by the largest row sum, and whether that is far; throws as largest_row_sum does.
template <class S>
void bound_by_row_sums(HostLevel<S>& level);

/// Sets `inverse` and `null_space` where the last level has no more than `coarsest` rows or, after
/// coarsening has stalled, 500. Throws as coarsest_inverse does.
template <class S>
void invert_last(HostHierarchy<S>& h, Index coarsest);

}  // namespace krysol::multigrid
