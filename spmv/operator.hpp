// What a solver multiplies by: any type with `apply`, or the one virtual call around it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <krysol/spmv/base/dot.hpp>
#include <krysol/spmv/base/multivector.hpp>
#include <krysol/spmv/kernels/row_loop.hpp>

namespace krysol {

/// A matrix, a format, or a user's own operator without a matrix: rows, cols, and a free function
/// apply(exec, alpha, A, x, beta, y) that does y := alpha A x + beta y. It is found by its
/// argument, so it may live in the user's namespace.
template <class A, class T, class Exec>
concept LinearOperator = requires(const A& a, const Exec& exec, T s, ConstVector<T, Exec> x,
                                  Vector<T, Exec> y) {
  { a.rows } -> std::convertible_to<std::int64_t>;
  { a.cols } -> std::convertible_to<std::int64_t>;
  apply(exec, s, a, x, s, y);
};

/// For operators that offer no fused product: y := A x, then the real part of x'y.
/// Bytes a row beyond apply's: 16.
template <class A, class T, class Exec>
requires LinearOperator<A, T, Exec> &&
    (!RowFormat<A, T, Exec>)double apply_dot(const Exec& exec, const A& a,
                                             std::type_identity_t<ConstVector<T, Exec>> x,
                                             const Vector<T, Exec>& y,
                                             ReductionWorkspace<Exec>& sums) {
  check_square("krysol::apply_dot", a.rows, a.cols);
  apply(exec, T(1), a, x, T(0), y);
  return dot(exec, x, ConstVector<T, Exec>(y), sums);
}

namespace detail {
/// Kernels of packs of complex numbers take compilers longest of all, so that only formats which
/// say so have them.
template <class A, class T>
constexpr bool has_packs() {
  if constexpr (requires { A::template multiplies_packs<T>; }) {
    return A::template multiplies_packs<T>;
  } else {
    return !is_complex<T>;
  }
}
}  // namespace detail

/// True for formats whose kernels multiply vectors of Pack<T>: all for real numbers, and for
/// complex ones those that declare A::multiplies_packs<T> = true, as csr does. A::name tells a
/// format from a user's operator, whose apply may be declared for any T and yet not compile for a
/// pack.
template <class A, class T, class Exec>
concept MultipliesPacks = requires {
  A::name;
}
&&detail::has_packs<A, T>() && LinearOperator<A, Pack<T>, Exec>;

/// Y := alpha A X + beta Y. X: [A.cols, k], Y: [A.rows, k], not overlapping. The matrix is read
/// once for each pack_width of the k vectors. beta = 0 never reads Y. Throws std::invalid_argument
/// where sizes differ. Returns before the device is done. Bytes: those of A for each panel, and for
/// each panel 64 a column of x and 64 a row of y (128 with write-allocate) in double.
template <class T, class Exec, class A>
requires MultipliesPacks<A, T, Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const A& a,
           const MultiVector<T, Exec>& x, std::type_identity_t<T> beta,
           const MultiVector<T, Exec>& y) {
  detail::check_same_shape("krysol::apply(multivectors)", a.cols, y.cols, x.rows, x.cols);
  detail::check_same_shape("krysol::apply(multivectors)", a.rows, x.cols, y.rows, y.cols);
  for (int p = 0; p < x.panel_count(); ++p) {
    apply(exec, Pack<T>(alpha), a, ConstVector<Pack<T>, Exec>(x.panel(p)), Pack<T>(beta),
          y.panel(p));
  }
}

/// For operators that multiply single vectors only, such as Kokkos Kernels' csr or a user's own:
/// column by column, each through two vectors of their own. Bytes a number beyond apply's: 48.
template <class T, class Exec, class A>
requires LinearOperator<A, T, Exec> &&
    (!MultipliesPacks<A, T, Exec>)void apply(const Exec& exec, std::type_identity_t<T> alpha,
                                             const A& a, const MultiVector<T, Exec>& x,
                                             std::type_identity_t<T> beta,
                                             const MultiVector<T, Exec>& y) {
  detail::check_same_shape("krysol::apply(multivectors)", a.cols, y.cols, x.rows, x.cols);
  detail::check_same_shape("krysol::apply(multivectors)", a.rows, x.cols, y.rows, y.cols);
  const auto from = uninitialized<T>(exec, "one column of x", x.rows);
  const auto to = uninitialized<T>(exec, "one column of y", y.rows);
  for (int c = 0; c < x.cols; ++c) {
    copy_column(exec, x, c, from);
    if (beta != T(0)) copy_column(exec, y, c, to);
    apply(exec, alpha, a, ConstVector<T, Exec>(from), beta, to);
    copy_column(exec, to, y, c);
  }
}

/// A linear operator whose type is known at run time only. Its const functions may be called by
/// several host threads at once, each with vectors and a ReductionWorkspace of its own.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Operator {
 public:
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;

  virtual ~Operator() = default;
  /// The format's name without a variant ("csr", not "csr:lanes"), or that of a user's operator.
  virtual std::string_view name() const = 0;
  /// Stored entries, without padding; 0 where a user's operator does not say.
  virtual Offset nnz() const = 0;
  /// Bytes of the arrays that one multiplication reads; 0 where a user's operator does not say.
  virtual std::int64_t bytes() const = 0;
  virtual void apply_to(const Exec& exec, T alpha, ConstVector<T, Exec> x, T beta,
                        const Vector<T, Exec>& y) const = 0;
  virtual void apply_to(const Exec& exec, T alpha, const MultiVector<T, Exec>& x, T beta,
                        const MultiVector<T, Exec>& y) const = 0;
  virtual double apply_dot_to(const Exec& exec, ConstVector<T, Exec> x, const Vector<T, Exec>& y,
                              ReductionWorkspace<Exec>& sums) const = 0;

 protected:
  Operator(Index row_count, Index col_count) : rows(row_count), cols(col_count) {}
  Operator(const Operator&) = default;
  Operator& operator=(const Operator&) = default;
};

template <class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Operator<T, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  a.apply_to(exec, alpha, x, beta, y);
}

template <class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Operator<T, Exec>& a,
           const MultiVector<T, Exec>& x, std::type_identity_t<T> beta,
           const MultiVector<T, Exec>& y) {
  a.apply_to(exec, alpha, x, beta, y);
}

template <class T, class Exec>
double apply_dot(const Exec& exec, const Operator<T, Exec>& a,
                 std::type_identity_t<ConstVector<T, Exec>> x, const Vector<T, Exec>& y,
                 ReductionWorkspace<Exec>& sums) {
  return a.apply_dot_to(exec, x, y, sums);
}

/// Bytes of an operator's arrays: its member bytes(), or the function bytes(a) beside its type; 0
/// where it says nothing.
template <class A>
std::int64_t bytes_of(const A& a) {
  if constexpr (requires { a.bytes(); }) {
    return static_cast<std::int64_t>(a.bytes());
  } else if constexpr (requires { bytes(a); }) {
    return static_cast<std::int64_t>(bytes(a));
  } else {
    return 0;
  }
}

/// A format as an Operator.
template <class Format, class T, class Exec>
class OperatorOf final : public Operator<T, Exec> {
 public:
  explicit OperatorOf(Format format)
      : Operator<T, Exec>(format.rows, format.cols), format_(std::move(format)) {}

  std::string_view name() const override { return Format::name; }
  Offset nnz() const override { return format_.nnz(); }
  std::int64_t bytes() const override { return bytes_of(format_); }
  void apply_to(const Exec& exec, T alpha, ConstVector<T, Exec> x, T beta,
                const Vector<T, Exec>& y) const override {
    apply(exec, alpha, format_, x, beta, y);
  }
  void apply_to(const Exec& exec, T alpha, const MultiVector<T, Exec>& x, T beta,
                const MultiVector<T, Exec>& y) const override {
    apply(exec, alpha, format_, x, beta, y);
  }
  double apply_dot_to(const Exec& exec, ConstVector<T, Exec> x, const Vector<T, Exec>& y,
                      ReductionWorkspace<Exec>& sums) const override {
    return apply_dot(exec, format_, x, y, sums);
  }

 private:
  Format format_;
};

}  // namespace krysol
