// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/late_format.hpp>

#include <cmath>
#include <utility>

#include <fmt/core.h>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

template <class T, class Exec>
LateFormat<T, Exec>::LateFormat(const HostCsr<T>& a, SelectOptions options, TuningMemory memory,
                                double done)
    : Operator<T, Exec>(a.rows, a.cols),
      a_(a),
      options_(std::move(options)),
      memory_(std::move(memory)),
      done_(std::llround(done)) {
  SelectOptions nothing_yet = options_;
  nothing_yet.products = 0;
  first_ = select_format<T, Exec>(a_, nothing_yet, choice_);
  current_ = first_.get();
  if (a_.nnz() < least_nnz_to_select) return;
  choice_.reason =
      fmt::format("fewer than {} multiplications are known to be ahead, too few to measure for",
                  least_products_ahead);
}

template <class T, class Exec>
void LateFormat<T, Exec>::expect(double products) {
  if (products < least_products_ahead || a_.nnz() < least_nnz_to_select) return;
  const std::unique_lock choosing(choosing_, std::try_to_lock);
  if (!choosing.owns_lock() || second_) return;  // another thread does it, or it is done
  SelectOptions options = options_;
  options.products = products;
  FormatChoice choice;
  second_ = select_format<T, Exec>(a_, options, memory_, choice);
  current_ = second_.get();
  const std::lock_guard known(known_);
  choice_ = std::move(choice);
}

template <class T, class Exec>
FormatChoice LateFormat<T, Exec>::choice() const {
  const std::lock_guard known(known_);
  return choice_;
}

template <class T, class Exec>
void LateFormat<T, Exec>::apply_to(const Exec& exec, T alpha, ConstVector<T, Exec> x, T beta,
                                   const Vector<T, Exec>& y) const {
  current().apply_to(exec, alpha, x, beta, y);
  ++done_;
}

template <class T, class Exec>
void LateFormat<T, Exec>::apply_to(const Exec& exec, T alpha, const MultiVector<T, Exec>& x, T beta,
                                   const MultiVector<T, Exec>& y) const {
  current().apply_to(exec, alpha, x, beta, y);
  done_ += x.cols;
}

template <class T, class Exec>
double LateFormat<T, Exec>::apply_dot_to(const Exec& exec, ConstVector<T, Exec> x,
                                         const Vector<T, Exec>& y,
                                         ReductionWorkspace<Exec>& sums) const {
  ++done_;
  return current().apply_dot_to(exec, x, y, sums);
}

#define KRYSOL_INSTANTIATE(T, Exec) template class LateFormat<T, Exec>;
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
