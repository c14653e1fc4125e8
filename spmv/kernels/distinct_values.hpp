// The values of a matrix that differ, by their bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>

namespace krysol {

/// The most that a table of values holds: as many as codes of 16 bits tell apart.
inline constexpr std::size_t most_values = 65536;

/// The bits of a value of at most 16 bytes.
template <class S>
class ValueBits {
 public:
  ValueBits() = default;
  explicit ValueBits(const S& value) {
    static_assert(sizeof(S) <= 16);
    std::memcpy(&low_, static_cast<const void*>(&value), first);
    if constexpr (sizeof(S) > first) {
      std::memcpy(&high_, reinterpret_cast<const char*>(&value) + first, sizeof(S) - first);
    }
  }

  bool operator==(const ValueBits&) const = default;
  /// The upper bits are the best.
  std::uint64_t hash() const {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    const std::uint64_t h = low_ * factor;
    return sizeof(S) > first ? (h ^ high_) * factor : h;
  }

 private:
  static constexpr std::size_t first = std::min(sizeof(S), sizeof(std::uint64_t));

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;  // of those of more than 8 bytes
};

/// Values by their bits, numbered in the order in which they came. An open hash table, at most a
/// quarter full, of 256 values a sixteenth: a second probe is a branch that is predicted badly.
template <class S>
class DistinctValues {
 public:
  DistinctValues() : slot_(std::size_t{1} << 12U), last_(slot_.size() - 1) {}

  const std::vector<S>& values() const { return values_; }

  /// The value's number; that of a new one is the number of those before it.
  std::int32_t add(const S& value) {
    const Bits bits(value);
    Slot& slot = slot_[find(bits)];
    if (slot.number >= 0) return slot.number;
    const auto number = static_cast<std::int32_t>(values_.size());
    slot = {bits, number};
    values_.push_back(value);
    if (4 * values_.size() > slot_.size()) grow();
    return number;
  }
  /// Of one that is there.
  std::int32_t number_of(const S& value) const { return slot_[find(Bits(value))].number; }

 private:
  using Bits = ValueBits<S>;
  struct Slot {
    Bits bits;
    std::int32_t number = -1;
  };

  std::size_t find(const Bits& bits) const {
    std::size_t at = static_cast<std::size_t>(bits.hash() >> 40U) & last_;  // at most 18 bits
    while (!(slot_[at].bits == bits) && slot_[at].number >= 0) at = (at + 1) & last_;
    return at;  // an empty slot has the bits of 0 and, to tell, no number
  }
  void grow() {
    slot_.assign(2 * slot_.size(), Slot{});
    last_ = slot_.size() - 1;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const Bits bits(values_[k]);
      slot_[find(bits)] = {bits, static_cast<std::int32_t>(k)};
    }
  }

  std::vector<Slot> slot_;
  std::size_t last_;
  std::vector<S> values_;
};

/// All values of the matrix, in the order of its entries whatever the number of threads is. Throws
/// FormatRefusal where they are more than most_values, as soon as that is seen.
template <class S>
DistinctValues<S> find_values(std::string_view format, const HostCsr<S>& a);

/// How many of some 4096 values taken from all over the matrix differ. Where these are more than
/// half of all that were to be looked at, the rest is not.
struct ValueSample {
  std::int64_t looked_at = 0;
  std::int64_t distinct = 0;
};
template <class S>
ValueSample sample_values(const HostCsr<S>& a);
/// The same for a matrix that is asked for it several times, found once.
const ValueSample& sample_values(const MatrixProfile& matrix);

}  // namespace krysol
