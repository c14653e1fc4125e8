// Sparse Cholesky factorization as a preconditioner.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <memory>
#include <string_view>
#include <vector>

#include <krysol/solver/cholesky/factors.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol {

/// z := M^-1 r with M = A as far as rounding lets it be: CG ends after one or a few iterations, and
/// checks residual and x as with any other M. The factors are L of S A S = L L^H with
/// S = diag(A)^-1/2, in double, on the host; r and z are copied where the vectors are a device's.
/// T: double, float, complex alike. Bytes of an application: twice those of L, and 64 a row in
/// double. What happens to a singular A: see sparse_cholesky::numeric_factors.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Cholesky {
 public:
  static constexpr std::string_view name = "cholesky";

  /// Throws PreconditionerRefusal, naming the row, where A is not positive semidefinite;
  /// std::invalid_argument where it is not square, or too large to be ordered; OutOfMemory, with
  /// the bytes of L and of fronts under way, where those do not fit.
  explicit Cholesky(const HostCsr<T>& a);
  /// With the elimination of A's pattern, where that is known.
  Cholesky(const HostCsr<T>& a, sparse_cholesky::Elimination&& elimination);

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  double bytes() const;
  SetupNote setup_note() const;
  std::vector<SetupFact> report() const;
  /// For other values in the same pattern: order and supernodes are kept. Throws as the constructor
  /// does, std::invalid_argument, naming the row, where the pattern is another one; then all is as
  /// before.
  void update(const HostCsr<T>& a);

 private:
  using W = std::conditional_t<is_complex<T>, std::complex<double>, double>;

  struct Pattern {
    std::vector<Offset> row_ptr;
    std::vector<Index> col_idx;
    sparse_cholesky::Elimination elimination;
  };
  std::shared_ptr<const Pattern> pattern_;
  std::shared_ptr<const sparse_cholesky::Factors<W>> factors_;
  std::vector<double> scale_;  // [rows] a(i,i)^-1/2
  double seconds_ = 0;         // of the last factorization
};

}  // namespace krysol
