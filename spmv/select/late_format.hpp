// A format that is chosen once enough multiplications are known to be ahead.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <krysol/spmv/operator.hpp>
#include <krysol/spmv/select/tuning_record.hpp>

namespace krysol {

/// With fewer multiplications ahead than this no format is chosen: timing csr and what shares its
/// arrays takes some 20 of them, the conversion to another format 10 to 50, and where it is 1.3
/// times as fast that saves a fourth.
inline constexpr double least_products_ahead = 250;

/// A matrix that is multiplied in csr until somebody says that least_products_ahead multiplications
/// or more are ahead; then select_format chooses for those. That is once; the multiplications that
/// follow are made in the format that was chosen. Several threads may use it at once.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class LateFormat final : public Operator<T, Exec> {
 public:
  /// a: kept, with its arrays. options: their `products` are what expect() says. done:
  /// multiplications that were made before by others in its place. Throws what make_operator throws
  /// for csr.
  LateFormat(const HostCsr<T>& a, SelectOptions options, TuningMemory memory, double done = 0);

  /// So many multiplications are ahead. Where that is enough, and nothing was chosen yet, chooses,
  /// which takes as long as select_format does. Exceptions of the memory come through.
  void expect(double products);
  /// As many as were made so far: what was used for so long is likely to be used for as long again.
  void expect_as_many_again() { expect(products_done()); }

  double products_done() const { return static_cast<double>(done_.load()); }
  bool chosen() const { return current_.load() != first_.get(); }
  /// What is known of the choice so far.
  FormatChoice choice() const;

  std::string_view name() const override { return current().name(); }
  Offset nnz() const override { return first_->nnz(); }
  std::int64_t bytes() const override { return current().bytes(); }
  void apply_to(const Exec& exec, T alpha, ConstVector<T, Exec> x, T beta,
                const Vector<T, Exec>& y) const override;
  void apply_to(const Exec& exec, T alpha, const MultiVector<T, Exec>& x, T beta,
                const MultiVector<T, Exec>& y) const override;
  double apply_dot_to(const Exec& exec, ConstVector<T, Exec> x, const Vector<T, Exec>& y,
                      ReductionWorkspace<Exec>& sums) const override;

 private:
  const Operator<T, Exec>& current() const { return *current_.load(); }

  HostCsr<T> a_;
  SelectOptions options_;
  TuningMemory memory_;
  mutable std::atomic<std::int64_t> done_{0};
  std::mutex choosing_;       // held while formats are timed
  mutable std::mutex known_;  // of choice_
  FormatChoice choice_;
  // Both stay: kernels of other threads may still read the first.
  std::unique_ptr<Operator<T, Exec>> first_;
  std::unique_ptr<Operator<T, Exec>> second_;
  std::atomic<const Operator<T, Exec>*> current_{nullptr};
};

}  // namespace krysol
