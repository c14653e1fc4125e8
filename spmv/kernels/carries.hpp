// Partial sums of rows that are cut between two pieces of a matrix, added after both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/scratch_pool.hpp>
#include <krysol/spmv/base/types.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// The sums that pieces of a matrix leave over during one multiplication. They are kept with the
/// matrix, so that no multiplication allocates but the first by vectors of a wider type, and the
/// first that runs at the same time as others: see ScratchPool.
template <class Exec>
class Carries {
  using Bytes16 = Kokkos::complex<double>;

 public:
  /// What one multiplication writes and reads.
  class Arrays {
   public:
    explicit Arrays(std::int64_t count)
        : row_(allocate<Kokkos::View<Index*, Exec>>("carry.row", count)),
          sum_(allocate<Kokkos::View<Bytes16*, Exec>>("carry", count)) {}

    /// [count] the row that each belongs to, or -1.
    Index* row() const { return row_.data(); }
    /// [count] the sums.
    template <class T>
    T* sum() {
      const std::size_t needed =
          (row_.extent(0) * sizeof(T) + sizeof(Bytes16) - 1) / sizeof(Bytes16);
      if (sum_.extent(0) < needed) {
        sum_ = allocate<Kokkos::View<Bytes16*, Exec>>("carry", needed);
      }
      return reinterpret_cast<T*>(sum_.data());
    }

   private:
    Kokkos::View<Index*, Exec> row_;
    Kokkos::View<Bytes16*, Exec> sum_;
  };
  using Lease = typename ScratchPool<Arrays, Exec>::Lease;

  Carries() = default;
  /// Room for `count` sums of up to 16 bytes each.
  explicit Carries(std::int64_t count) : count_(count) { take(Exec{}); }

  /// Arrays that no other multiplication has, until the lease ends.
  Lease take(const Exec& exec) const {
    return pool_.take(exec, [this] { return Arrays(count_); });
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  ScratchPool<Arrays, Exec> pool_;
};

}  // namespace krysol
