// A user's operator without a matrix, as krysol::Solver takes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <krysol/spmv/operator.hpp>

namespace krysol {

/// A LinearOperator that lives elsewhere, behind the one virtual call.
template <class A, class T, class Exec>
class MatrixFree final : public Operator<T, Exec> {
 public:
  explicit MatrixFree(const A& a)
      : Operator<T, Exec>(static_cast<Index>(a.rows), static_cast<Index>(a.cols)), a_(&a) {}

  std::string_view name() const override {
    if constexpr (requires { a_->name(); }) {
      return a_->name();
    } else if constexpr (requires { std::string_view(A::name); }) {
      return A::name;
    } else {
      return "matrix-free";
    }
  }
  Offset nnz() const override {
    if constexpr (requires { a_->nnz(); }) return a_->nnz();
    return 0;
  }
  std::int64_t bytes() const override { return bytes_of(*a_); }
  void apply_to(const Exec& exec, T alpha, ConstVector<T, Exec> x, T beta,
                const Vector<T, Exec>& y) const override {
    apply(exec, alpha, *a_, x, beta, y);
  }
  void apply_to(const Exec& exec, T alpha, const MultiVector<T, Exec>& x, T beta,
                const MultiVector<T, Exec>& y) const override {
    apply(exec, alpha, *a_, x, beta, y);
  }
  double apply_dot_to(const Exec& exec, ConstVector<T, Exec> x, const Vector<T, Exec>& y,
                      ReductionWorkspace<Exec>& sums) const override {
    return apply_dot(exec, *a_, x, y, sums);
  }

 private:
  const A* a_;
};

/// Throws std::invalid_argument where A has more rows or columns than an Index can count. A is not
/// copied.
template <class T, class A>
std::shared_ptr<const Operator<T>> matrix_free(const A& a) {
  using Exec = Kokkos::DefaultExecutionSpace;
  if constexpr (std::is_base_of_v<Operator<T>, A>) {
    return {std::shared_ptr<void>(), &a};
  } else {
    constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<Index>::max());
    if (std::int64_t{a.rows} > most || std::int64_t{a.cols} > most) {
      throw std::invalid_argument("krysol::solve: an operator has at most 2147483647 rows");
    }
    return std::make_shared<MatrixFree<A, T, Exec>>(a);
  }
}

}  // namespace krysol
