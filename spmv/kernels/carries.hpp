// Sums that pieces of a matrix leave over, where a row goes on in the next piece.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <krysol/spmv/base/types.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// The sums that pieces of a matrix leave over. Kept with it, so that no multiplication allocates
/// but the first by vectors of a wider type. One object, its copies included, serves one stream of
/// work.
template <class Exec>
class Carries {
 public:
  Carries() = default;
  /// Room for `count` sums of up to 16 bytes each.
  explicit Carries(std::int64_t count)
      : arrays_(std::make_shared<Arrays>(
            Arrays{allocate<Kokkos::View<Index*, Exec>>("carry.row", count),
                   allocate<Kokkos::View<Bytes16*, Exec>>("carry", count)})) {}

  /// [count] the row that each belongs to, or -1.
  Index* row() const { return arrays_->row.data(); }
  /// [count] the sums.
  template <class T>
  T* sum() const {
    const std::size_t needed =
        (arrays_->row.extent(0) * sizeof(T) + sizeof(Bytes16) - 1) / sizeof(Bytes16);
    if (arrays_->sum.extent(0) < needed) {
      arrays_->sum = allocate<Kokkos::View<Bytes16*, Exec>>("carry", needed);
    }
    return reinterpret_cast<T*>(arrays_->sum.data());
  }
  std::int64_t count() const {
    return arrays_ ? static_cast<std::int64_t>(arrays_->row.extent(0)) : 0;
  }

 private:
  using Bytes16 = Kokkos::complex<double>;
  struct Arrays {
    Kokkos::View<Index*, Exec> row;
    Kokkos::View<Bytes16*, Exec> sum;
  };
  std::shared_ptr<Arrays> arrays_;
};

}  // namespace krysol
