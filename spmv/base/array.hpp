// Long arrays in host memory, left uninitialized for threads to fill.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace krysol {

/// std::allocator, but `resize(n)` leaves new numbers as they are: to zero them would be a pass
/// over the memory, by one thread, that touches each page before those that fill it.
template <class T>
struct LeavesUnset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = LeavesUnset<U>;
  };
  LeavesUnset() = default;
  template <class U>
  LeavesUnset(const LeavesUnset<U>&) {}  // NOLINT(google-explicit-constructor): as std::allocator

  template <class U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    // Such a type lives from when memory is allocated for it. std::complex has a constructor,
    // though, which sets it to zero.
    if constexpr (!std::is_trivially_copyable_v<U> || !std::is_trivially_destructible_v<U>) {
      ::new (static_cast<void*>(place)) U();
    } else {
      static_cast<void>(place);
    }
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

/// A std::vector whose `resize(n)` sets nothing; `resize(n, v)` does.
template <class T>
using Array = std::vector<T, LeavesUnset<T>>;

template <class T>
bool operator==(const Array<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace krysol
