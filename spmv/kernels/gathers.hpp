// Whether the processor's instruction that loads from eight places is faster than eight loads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <krysol/spmv/base/registers.hpp>

namespace krysol {
namespace detail {

/// Measured once in a process, in some 50 us, for the instructions that the library is compiled
/// for.
bool gathers_of_double_pay();
bool gathers_of_float_pay();

}  // namespace detail

/// True where loops over rows should load entries of x by an instruction that gathers (AVX2,
/// AVX-512) and not one by one. Which is faster differs by more than a quarter either way: Zen
/// makes many operations of the instruction, and so does microcode against Downfall (Intel,
/// 2023), newer Xeons have it in hardware. The result has the same bits. False for types that
/// have no vector registers.
template <class T>
bool gathers_pay() {
  if constexpr (std::is_same_v<T, double>) {
    return detail::gathers_of_double_pay();
  } else if constexpr (std::is_same_v<T, float>) {
    return detail::gathers_of_float_pay();
  } else {
    return false;
  }
}

}  // namespace krysol
