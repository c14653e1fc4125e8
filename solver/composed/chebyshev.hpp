// A polynomial in A as a preconditioner.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/reduction.hpp>
#include <krysol/spmv/base/scratch_pool.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

struct ChebyshevOptions {
  int degree = 4;      // products by A in an application
  double ratio = 30;   // of the ends of the interval
  double largest = 0;  // no smaller than any eigenvalue of D^-1 A
};

/// A step, r := r - q, d := a d + b D^-1 r, z := z + d, where q = A d of the d before. Bytes a row
/// in double: 64, and 8 of a diagonal.
template <class T>
struct ChebyshevStep {
  Real<T> a;
  Real<T> b;
  const Real<T>* inverse;  // [rows] 1 / D; null: ones
  const T* q;
  T* r;
  T* d;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const T residual = r[i] - q[i];
    r[i] = residual;
    const T step = a * d[i] + (inverse != nullptr ? b * inverse[i] : b) * residual;
    d[i] = step;
    z[i] += step;
  }
};

/// The first step: d := b D^-1 r, z := d, and a copy of r.
template <class T>
struct ChebyshevStart {
  Real<T> b;
  const Real<T>* inverse;
  const T* from;
  T* r;
  T* d;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const T residual = from[i];
    const T step = (inverse != nullptr ? b * inverse[i] : b) * residual;
    r[i] = residual;
    d[i] = step;
    z[i] = step;
  }
};

/// z := p(D^-1 A) D^-1 r, where 1 - x p(x) is the polynomial of degree `degree` + 1 that is
/// smallest on [largest / ratio, largest] and 1 at 0. With D = diag(A), or I where that is not
/// known, M is symmetric positive definite as long as no eigenvalue of D^-1 A is above (1 + 1 /
/// ratio) largest. Sums over all rows become products by A: for many cores and GPUs. Saad 2003,
/// algorithm 12.1. Bytes of an application in double: `degree` times those of A and 88 a row, and
/// 40 a row.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Chebyshev {
 public:
  static constexpr std::string_view name = "chebyshev";

  /// a: multiplied by in each application, and kept. inverse: [rows] 1 / diag(A), or empty.
  Chebyshev(std::shared_ptr<const Operator<T, Exec>> a, ConstVector<Real<T>, Exec> inverse,
            const ChebyshevOptions& options)
      : a_(std::move(a)), inverse_(std::move(inverse)), options_(options) {
    pool_.take(Exec{}, [this] { return make_work(); });  // here: no application allocates it
  }

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    using R = Real<T>;
    const auto lease = pool_.take(exec, [this] { return make_work(); });
    const Work& w = *lease;
    const std::int64_t rows = a_->rows;
    const double smallest = options_.largest / options_.ratio;
    const double theta = (options_.largest + smallest) / 2;
    const double delta = (options_.largest - smallest) / 2;
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    for_each("krysol::chebyshev(start)", exec, rows,
             ChebyshevStart<T>{static_cast<R>(1 / theta), inverse_.data(), r.data(), w.r.data(),
                               w.d.data(), z.data()});
    for (int k = 1; k <= options_.degree; ++k) {
      const double next = 1 / (2 * sigma - rho);
      krysol::apply(exec, T(1), *a_, ConstVector<T, Exec>(w.d), T(0), w.q);
      for_each("krysol::chebyshev(step)", exec, rows,
               ChebyshevStep<T>{static_cast<R>(next * rho), static_cast<R>(2 * next / delta),
                                inverse_.data(), w.q.data(), w.r.data(), w.d.data(), z.data()});
      rho = next;
    }
  }
  double bytes() const {
    constexpr double of_start = 5;
    constexpr double of_step = 11;  // with those of the product
    const auto rows = static_cast<double>(a_->rows) * sizeof(T);
    return of_start * rows + options_.degree * (static_cast<double>(a_->bytes()) + of_step * rows);
  }
  std::vector<SetupFact> report() const {
    return {{"products by A", std::to_string(options_.degree)},
            {"eigenvalues of D^-1 A are below", number_as_text(options_.largest)},
            {"smallest on, from", number_as_text(options_.largest / options_.ratio)}};
  }

 private:
  struct Work {
    Vector<T, Exec> r;  // [rows] each
    Vector<T, Exec> d;
    Vector<T, Exec> q;
  };
  Work make_work() const {
    const Exec exec;
    return {uninitialized<T>(exec, "chebyshev.r", a_->rows),
            uninitialized<T>(exec, "chebyshev.d", a_->rows),
            uninitialized<T>(exec, "chebyshev.q", a_->rows)};
  }

  std::shared_ptr<const Operator<T, Exec>> a_;
  ConstVector<Real<T>, Exec> inverse_;
  ChebyshevOptions options_;
  ScratchPool<Work, Exec> pool_;
};

}  // namespace krysol
