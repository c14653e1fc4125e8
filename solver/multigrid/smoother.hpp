// What a level is smoothed with, before and after its correction.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/level_matrix.hpp>
#include <krysol/solver/precond/block_jacobi.hpp>

namespace krysol::multigrid {

enum class SmootherKind { chebyshev, l1_jacobi, spai0, gauss_seidel, block, line };
inline constexpr std::string_view smoother_names[] = {"chebyshev",    "l1-jacobi", "spai0",
                                                      "gauss-seidel", "block",     "line"};

/// [rows] of each level. The arrays change their parts on the way.
template <class S, class Exec>
struct LevelVectors {
  Vector<S, Exec> r;  // right-hand side; then where the next step goes
  Vector<S, Exec> x;
  Vector<S, Exec> d;  // a step of the smoother, or a correction
  Vector<S, Exec> residual;
  Vector<S, Exec> before;   // x of the cycles before, where there are several
  Vector<S, Exec> rhs;      // of a K-cycle: the right-hand side of the cycle that runs
  Vector<S, Exec> product;  // of a K-cycle: A times `before`
};

/// x := x + d_k for k = 1, 2, ... with d_k = of_last(k) d_(k-1) + of_residual(k) M^-1 (r - A x).
/// Either the Chebyshev polynomial of the fourth kind in M^-1 A that reduces all eigenvalues up to
/// `largest`: d_k = (2k - 3) / (2k + 1) d_(k-1) + (8k - 4) / (2k + 1) / largest M^-1 (r - A x)
/// (Lottes, Numer. Linear Algebra Appl. 30, 2023, DOI 10.1002/nla.2518, algorithm 1), or, where
/// not `polynomial`, d_k = M^-1 (r - A x).
struct SmootherSteps {
  bool polynomial = false;
  double largest = 0;
  double of_last(int k) const { return polynomial && k > 1 ? (2.0 * k - 3) / (2.0 * k + 1) : 0; }
  double of_residual(int k) const {
    return polynomial ? (8.0 * k - 4) / (2.0 * k + 1) / largest : 1;
  }
};

/// M = 1, which is the diagonal of a level's matrix, or the inverse of `weights`.
template <class S, class Exec>
struct PointSmoother {
  Vector<Real<S>, Exec> weights;  // [rows], or none

  void apply(const Exec& exec, const ConstVector<S, Exec>& r, const Vector<S, Exec>& z) const;
};

/// M = the diagonal blocks.
template <class S, class Exec>
struct BlockSmoother {
  BlockJacobi<S, Exec> blocks;

  void apply(const Exec& exec, const ConstVector<S, Exec>& r, const Vector<S, Exec>& z) const {
    blocks.apply(exec, r, z);
  }
};

/// M = L D L^H, tridiagonal along each line of rows.
template <class S, class Exec>
struct LineSmoother {
  Kokkos::View<Index*, Exec> begin;      // [lines + 1] place of the first row of each line
  Kokkos::View<Index*, Exec> row;        // [rows] at each place
  Vector<S, Exec> lower;                 // [rows] L's entry of the row before, 0 for a first one
  Vector<Real<S>, Exec> inverse_pivots;  // [rows] 1 / D

  void apply(const Exec& exec, const ConstVector<S, Exec>& r, const Vector<S, Exec>& z) const;
};

/// Rows one after the other, in the order of their colours; all rows of a colour at once.
template <class Exec>
struct ColouredSweeps {
  Kokkos::View<Index*, Exec> row;  // [rows] by colour
  std::vector<Index> begin;        // [colours + 1] first place of each colour
};

/// A smoother C and its adjoint, so that a cycle with one before the correction and the other after
/// it is symmetric:
///
/// - chebyshev: steps with M = 1 (the diagonal of the level's matrix);
/// - l1_jacobi: M = diag(sum_j |a_ij|), for which M - A is positive semidefinite (Baker, Falgout,
///   Kolev & Yang, SISC 33(5), 2011, DOI 10.1137/100798806, eq. 2.6);
/// - spai0: M^-1 = diag(a_ii / sum_j |a_ij|^2), the diagonal nearest to the inverse (Broker &
///   Grote, Appl. Numer. Math. 41, 2002, DOI 10.1016/S0168-9274(01)00110-6), times what keeps the
///   eigenvalues of M^-1 A below 1.8;
/// - gauss_seidel: sweeps over the colours, back again after the correction;
/// - block: Chebyshev steps with the blocks of the nodes; as chebyshev on levels without;
/// - line: Chebyshev steps with tridiagonal matrices along lines of strong couplings, see
///   strong_lines; as chebyshev on levels without.
template <class S, class Exec>
struct Smoother {
  SmootherSteps steps;
  std::variant<PointSmoother<S, Exec>, BlockSmoother<S, Exec>, LineSmoother<S, Exec>,
               ColouredSweeps<Exec>>
      m;

  /// That it moves beside the level's matrix and vectors, a step.
  double bytes() const;
  /// For a report: ", eigenvalues below 2.00", ", 4 colours".
  std::string summary() const;
};

/// a: what the level is stored as; for gauss_seidel csr. W: double, or complex.
template <class S, class Exec, class W>
Smoother<S, Exec> make_smoother(SmootherKind kind, const HostLevel<W>& level,
                                const LevelMatrix<S, Exec>& a);

/// From x = 0: x := C r, residual := r - A x.
template <class S, class Exec>
void smooth_before(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                   int degree, LevelVectors<S, Exec>& v);

/// x := x + d, then smoothed for the right-hand side that `residual` was r - A x of; residual :=
/// r - A x where it is wanted, else unspecified.
template <class S, class Exec>
void smooth_after(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                  int degree, bool wanted, LevelVectors<S, Exec>& v);

/// From x = 0, by itself: x := C r, symmetric.
template <class S, class Exec>
void smooth_alone(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                  int steps, LevelVectors<S, Exec>& v);

}  // namespace krysol::multigrid
