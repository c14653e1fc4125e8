// The cycle over the levels, on the device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include <krysol/solver/multigrid/device_levels.hpp>
#include <krysol/solver/multigrid/grid_transfer.hpp>
#include <krysol/solver/multigrid/hierarchy.hpp>
#include <krysol/solver/multigrid/smoother.hpp>
#include <krysol/spmv/base/scratch_pool.hpp>

namespace krysol::multigrid {

struct CycleOptions {
  int degree = 0;       // steps of a smoother; 0: those that suit the hierarchy
  int visits = 1;       // of the next level: 1 is a V-cycle, 2 a W-cycle
  bool krylov = false;  // with two visits: they are steps of flexible CG, a K-cycle
  SmootherKind smoother = SmootherKind::chebyshev;
};

/// A level's arrays. The system is that of HostLevel.
template <class S, class Exec>
struct Level {
  LevelMatrix<S, Exec> a;
  Smoother<S, Exec> smoother;
  Csr<S, Exec> p;
  Csr<S, Exec> r;
  std::optional<GridTransfer<Real<S>, Exec>> grid;  // in place of both
};

template <class S, class Exec>
class Hierarchy {
 public:
  /// From levels made on the host, whose numbers are rounded to S. grid: the finest of them may be
  /// stored as a stencil. before: one whose levels have the same patterns, or null; arrays that
  /// hang on those alone are its then. on_device: levels before those of the host, in csr, with
  /// chebyshev.
  template <class W>
  Hierarchy(const HostHierarchy<W>& host, const CycleOptions& options, bool grid,
            const Hierarchy* before = nullptr, const DeviceLevels<W, Exec>& on_device = {});

  Index rows() const { return levels_.front().a.rows(); }
  const std::vector<Level<S, Exec>>& levels() const { return levels_; }
  bool exact() const { return inverse_.extent(0) > 0; }

  /// z := S x with x from one cycle for the right-hand side S r, S = diag(A)^-1/2 and x = 0 before:
  ///
  ///     x := C r;  r := r - A x;  x := x + P cycle(R r);  r := b - A x;  x := x + C' r
  ///
  /// where C is a smoother and C' its adjoint. A symmetric positive definite operator, the same in
  /// each call to the last bit. In a K-cycle the two cycles of an inner level are preconditioners
  /// of two steps of flexible CG for that level's system, of one where that reduces the residual to
  /// a quarter: then z is no linear function of r (Notay & Vassilevski, Numer. Linear Algebra Appl.
  /// 15, 2008, DOI 10.1002/nla.542). T: float or double, complex alike.
  template <class T>
  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;

  /// That an application moves, with r and z of entries of `entry` bytes.
  double bytes(std::size_t entry) const;

 private:
  struct Work {
    std::vector<LevelVectors<S, Exec>> of_level;
    ReductionWorkspace<Exec> sums;
    LevelVectors<S, Exec>& operator[](std::size_t l) { return of_level[l]; }
  };
  using InDouble = std::conditional_t<is_complex<S>, Kokkos::complex<double>, double>;

  Work make_work(const Exec& exec) const;
  void cycle(const Exec& exec, std::size_t l, bool residual, Work& work) const;
  void visit(const Exec& exec, std::size_t l, Work& work) const;
  void visit_by_krylov(const Exec& exec, std::size_t l, Work& work) const;

  CycleOptions options_;
  std::vector<Level<S, Exec>> levels_;
  // [rows rows] of the last level's matrix, in double: rounded to float it may be indefinite.
  Vector<InDouble, Exec> inverse_;
  Vector<Real<S>, Exec> scale_;  // [rows] diag(A)^-1/2 over largest_scale_
  double largest_scale_ = 1;
  ScratchPool<Work, Exec> pool_;
};

}  // namespace krysol::multigrid
