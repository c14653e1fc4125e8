// The one call: from a matrix and b to x with a certificate, and all that lies between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <krysol/solver/interface/columns.hpp>
#include <krysol/solver/interface/csr_view.hpp>
#include <krysol/solver/interface/matrix_free.hpp>
#include <krysol/solver/interface/matrix_input.hpp>
#include <krysol/solver/interface/solve_options.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol {

/// One result, or one a column where b and x are matrices.
template <class B>
using SolveResults = std::conditional_t<VectorAdapter<std::remove_cvref_t<B>>::several,
                                        std::vector<SolveResult>, SolveResult>;

/// A system that is set up once and solved for many right-hand sides, and again after its values
/// have changed. T is double or Kokkos::complex<double>; float is converted.
///
/// The setup screens the matrix first. It refuses one with Inf or NaN, one that is not symmetric
/// (Hermitian) and, where the method needs definiteness (cg), one with a diagonal entry that is not
/// positive, before anything is measured or converted; each solve then returns that Status with its
/// certificate and leaves x unchanged. Otherwise rows are reordered, a format is chosen and the
/// preconditioner is built, as SolveOptions say. b, x and the row numbers in results keep the
/// caller's order; a note on the preconditioner that counts rows in the new order says so.
///
/// Arrays of the matrix that are shared (see MatrixInput; report().passes lists the others) must
/// stay alive and unchanged as long as the Solver, or until update(). HostCsr and Views are kept
/// alive; raw pointers, Eigen's matrices and vectors are not. Each solve compares shared values,
/// block by block, with hashes from the setup: at most 1/64 of the bytes that the solve moved, but
/// all values where it did not converge. So 70 multiplications or more check every value, and
/// shorter solves continue where the last one stopped. A solve that finds a change throws and
/// leaves x unchanged.
///
/// Several threads may call solve, multiply and report of one Solver at once; update, set_stop and
/// set_observer only while no other call runs. Kokkos is initialised where it was not: see
/// ensure_kokkos.
template <class T>
class Solver {
 public:
  using scalar = T;

  /// Throws std::invalid_argument for a matrix that is not square, for arrays that matrix_input
  /// refuses, for unknown names and options that are no sensible numbers, and with `strict` for a
  /// preconditioner that cannot be built; FormatRefusal where a format that was asked for by name
  /// cannot hold the matrix; OutOfMemory; std::logic_error after Kokkos::finalize.
  Solver(const CsrArrays& a, SolveOptions options);

  template <SystemMatrix A>  // which a Solver is not
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  explicit Solver(A&& a, SolveOptions options = {})
      : Solver(arrays_of(std::forward<A>(a)), std::move(options)) {}

  /// For an operator without a matrix: no screening, no format and no order; the notes say so.
  /// `m` may be a preconditioner of the caller's; options.preconditioner must else be "none" or
  /// "jacobi", for which none is used. The operator must live as long as the Solver where it was
  /// given by reference.
  explicit Solver(std::shared_ptr<const Operator<T>> a, SolveOptions options = {},
                  std::shared_ptr<const AnyPreconditioner<T>> m = nullptr);

  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Solves A x = b.
  ///
  /// b  [rows] or [rows, k]: std::vector, std::span, Kokkos View of any layout and memory,
  ///    MultiVector, or a vector or matrix of Eigen (<krysol/solver/interface/eigen.hpp>)
  /// x  shaped as b; holds the starting guess and then the solution. A column is written once it is
  ///    solved; columns not solved before an exception keep the starting guess
  ///
  /// Columns are solved one after the other. Returns a SolveResult, or one a column where b is a
  /// matrix. Throws std::invalid_argument where sizes differ, b and x overlap, the matrix has
  /// changed, or solver_options hold an unknown name or a bad value; what the observer throws.
  /// Bytes moved beside the iteration: 48 a row and column, 80 where rows were reordered.
  template <class B, class X>
  SolveResults<B> solve(const B& b, X&& x) const {
    check_vectors<B, X>();
    return results<B>(solve_columns(columns_of(b), columns_of(x)));
  }

  /// y := A x, in the caller's order. x and y as b and x of solve, with one column.
  template <class X, class Y>
  void multiply(const X& x, Y&& y) const {
    check_vectors<X, Y>();
    multiply_column(columns_of(x), columns_of(y));
  }

  /// Takes other values of the same pattern: `values` [nnz] in the order of the arrays that the
  /// Solver was made from; they are copied. Order, format and what the preconditioner found from
  /// the pattern are kept. Throws std::invalid_argument where there are not as many values. Where
  /// it throws the Solver is as before; only a preconditioner that `strict` refuses leaves one that
  /// needs another update.
  template <SystemVector V>
  void update(const V& values) {
    static_assert(!VectorAdapter<V>::several, "the values of a matrix are one list of numbers");
    const ColumnsRef list = columns_of(values);
    update_values({list.data, list.kind, list.rows}, list.on_device || list.row_stride != 1);
  }
  /// Takes the values that now stand in the shared arrays.
  void update() { update_shared(); }
  /// Takes a matrix of the same pattern, with its arrays as at the beginning.
  /// Throws std::invalid_argument where the pattern differs.
  template <SystemMatrix A>
  void update(A&& a) {
    update_matrix(arrays_of(std::forward<A>(a)));
  }

  Index rows() const;
  Index cols() const { return rows(); }

  /// What was found and chosen, and the result of the last solve.
  SolveReport report() const;

  /// Replace the stopping criteria, or the observer, of later solves. set_stop throws
  /// std::invalid_argument for a number that is negative or not finite.
  void set_stop(const StoppingCriteria& stop);
  void set_observer(const Observer& observer);

 private:
  struct State;

  template <class A>
  static CsrArrays arrays_of(A&& a) {
    using Adapter = MatrixAdapter<std::remove_cvref_t<A>>;
    static_assert(std::is_lvalue_reference_v<A> || !Adapter::owned,
                  "this matrix would be gone before the Solver: give it a name");
    static_assert(is_complex<T> || !is_complex<typename Adapter::scalar>,
                  "the matrix is complex: Solver<Kokkos::complex<double>>");
    return Adapter::arrays(a);
  }

  template <class B, class X>
  static void check_vectors() {
    using Input = std::remove_cvref_t<B>;
    using Output = std::remove_cvref_t<X>;
    static_assert(
        SystemVector<Input> && SystemVector<Output>,
        "b and x must be std::vector, std::span, Kokkos::View, krysol::MultiVector or, with "
        "<krysol/solver/interface/eigen.hpp>, vectors or matrices of Eigen");
    static_assert(VectorAdapter<Output>::template writable<X>,
                  "x is const: nothing can be written");
    static_assert(VectorAdapter<Input>::several == VectorAdapter<Output>::several,
                  "b and x must both be vectors, or both matrices");
    static_assert(is_complex<T> || (!is_complex<typename VectorAdapter<Input>::scalar> &&
                                    !is_complex<typename VectorAdapter<Output>::scalar>),
                  "the matrix is real, b or x are complex");
    static_assert(!is_complex<T> || is_complex<typename VectorAdapter<Output>::scalar>,
                  "the matrix is complex, so x must be");
  }

  template <class B>
  static SolveResults<B> results(std::vector<SolveResult> all) {
    if constexpr (VectorAdapter<std::remove_cvref_t<B>>::several) {
      return all;
    } else {
      return std::move(all.front());
    }
  }

  std::vector<SolveResult> solve_columns(const ColumnsRef& b, const ColumnsRef& x) const;
  void multiply_column(const ColumnsRef& x, const ColumnsRef& y) const;
  void update_values(const ScalarsRef& values, bool unusable);
  void update_shared();
  void update_matrix(const CsrArrays& a);

  std::unique_ptr<State> state_;
};

template <class A>
requires SystemMatrix<A> Solver(A&&)
->Solver<SolverScalar<typename MatrixAdapter<std::remove_cvref_t<A>>::scalar>>;
template <class A>
requires SystemMatrix<A> Solver(A&&, SolveOptions)
->Solver<SolverScalar<typename MatrixAdapter<std::remove_cvref_t<A>>::scalar>>;

/// Solves A x = b: all that cg_solve does between its files and its report.
///
///     std::vector<double> x(b.size());
///     const krysol::SolveResult r = krysol::solve(A, b, x, {.preconditioner = "ic0"});
///     // r.converged(), r.residual = |b - A x|, computed from x; r.advice: what was seen, in words
///
/// A  HostCsr, csr_view(...) of pointers or Views; Eigen::SparseMatrix and KokkosSparse::CrsMatrix
///    with <krysol/solver/interface/eigen.hpp> and <krysol/solver/interface/kokkos_kernels.hpp>; or
///    any LinearOperator over vectors of double or Kokkos::complex<double> of the default space
/// b, x, options  as Solver; options.report, where given, receives the report
///
/// Throws as Solver does; what the numbers do is in the result. Several threads may call it at
/// once.
template <class A, class B, class X>
SolveResults<B> solve(const A& a, const B& b, X&& x, const SolveOptions& options = {}) {
  const auto with = [&](const auto& solver) -> SolveResults<B> {
    auto result = solver.solve(b, std::forward<X>(x));
    if (options.report != nullptr) *options.report = solver.report();
    return result;
  };
  if constexpr (SystemMatrix<A>) {
    return with(Solver(a, options));
  } else {
    using T = SolverScalar<typename VectorAdapter<std::remove_cvref_t<X>>::scalar>;
    static_assert(LinearOperator<A, T, Kokkos::DefaultExecutionSpace>,
                  "A must be a HostCsr, a csr_view, a matrix whose header "
                  "<krysol/solver/interface/...> is included, or an operator with rows, cols and a "
                  "function apply beside it");
    return with(Solver<T>(matrix_free<T>(a), options));
  }
}

extern template class Solver<double>;
extern template class Solver<Kokkos::complex<double>>;

}  // namespace krysol
