// Out of memory: an exception that says how much was asked for, where, and what is left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace krysol {

/// An array for which there was no room. What there was before is as it was: the matrix of the host
/// can be used, or put into a format of fewer bytes.
class OutOfMemory : public std::bad_alloc {
 public:
  /// `space` as Kokkos names it, Host or Cuda; `free` where that is known; `cause` is what the
  /// allocation said.
  OutOfMemory(std::string_view array, std::int64_t bytes, std::string_view space,
              std::optional<std::int64_t> free, std::string_view cause);

  /// "no room for 'ell.values': 12.5 GB asked of Cuda memory, of which 3.2 GB are free".
  const char* what() const noexcept override { return message_.what(); }
  /// That were asked for; the largest number where it would have been more.
  std::int64_t bytes() const noexcept { return bytes_; }
  /// That the space had left; nothing on a host, which promises more than it has.
  std::optional<std::int64_t> free_bytes() const noexcept { return free_; }

 private:
  std::runtime_error message_;  // copied without memory of its own
  std::int64_t bytes_;
  std::optional<std::int64_t> free_;
};

/// What is free of the memory that the device of this process has; nothing where there is none, or
/// where it does not say.
std::optional<std::int64_t> free_device_bytes();

namespace detail {

/// Throws OutOfMemory.
[[noreturn]] void throw_out_of_memory(const char* label, double bytes, std::string_view space,
                                      bool on_device, std::string_view cause);

/// More than any machine has, and more than the size of an array may be.
inline constexpr double too_many_bytes =
    static_cast<double>(std::numeric_limits<std::int64_t>::max());

}  // namespace detail
}  // namespace krysol
