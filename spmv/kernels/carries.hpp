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

/// Adds the sums that were left over. They are in order of rows; the first of each row adds them
/// all, on a GPU with the lanes of a thread: a row may have been cut into hundreds.
template <class T, class Exec>
struct CarriesOfRows {
  const Index* carry_row;  // [carries] or -1
  const T* carry;
  std::int64_t carries;
  T alpha;
  T* y;

  /// The lanes of a thread of a GPU on them.
  static constexpr int lanes = Tiles<Exec>::tiled ? 1 : 32;
  static constexpr int threads = 8;  // of a team

  KOKKOS_INLINE_FUNCTION bool is_first_of_row(std::int64_t c) const {
    const Index row = carry_row[c];
    if (row < 0) return false;
    for (std::int64_t before = c; before-- > 0;) {  // an empty place may stand between two of a row
      if (carry_row[before] == row) return false;
      if (carry_row[before] >= 0) break;
    }
    return true;
  }

  KOKKOS_INLINE_FUNCTION void add_row(std::int64_t c, const NoTeam&) const {
    const Index row = carry_row[c];
    T sum = T(0);
    for (std::int64_t k = c; k < carries && (carry_row[k] == row || carry_row[k] < 0); ++k) {
      if (carry_row[k] == row) sum += carry[k];
    }
    y[row] += alpha * sum;
  }

  KOKKOS_INLINE_FUNCTION void add_row(std::int64_t c, const TeamMember<Exec>& member) const {
    const Index row = carry_row[c];
    T sum = T(0);
    for (std::int64_t k = c; k < carries; k += lanes) {
      const std::int64_t end = k + lanes < carries ? k + lanes : carries;
      T part = T(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, k, end),
          [&](std::int64_t l, T& mine) {
            if (carry_row[l] == row) mine += carry[l];
          },
          part);
      sum += part;
      // Of the last two one is no empty place, unless nothing follows.
      if (carry_row[end - 1] > row || (end - k > 1 && carry_row[end - 2] > row)) break;
    }
    Kokkos::single(Kokkos::PerThread(member), [&]() { y[row] += alpha * sum; });
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, const Member<Exec>& member) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (is_first_of_row(b)) add_row(b, member);
    } else {
      const std::int64_t last = (b + 1) * threads < carries ? (b + 1) * threads : carries;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, b * threads, last), [&](std::int64_t c) {
        if (is_first_of_row(c)) add_row(c, member);
      });
    }
  }
};

template <class T, class Exec>
void add_carries(const char* label, const Exec& exec, const CarriesOfRows<T, Exec>& work) {
  using Work = CarriesOfRows<T, Exec>;
  constexpr std::int64_t each = Tiles<Exec>::tiled ? 1 : Work::threads;
  for_each_block(label, exec, (work.carries + each - 1) / each, Work::lanes, work);
}

}  // namespace krysol
