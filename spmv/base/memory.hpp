// Out of memory: an exception that says how much was asked for, where, and what is left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
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
  /// That the space had left; nothing where it does not say.
  std::optional<std::int64_t> free_bytes() const noexcept { return free_; }

 private:
  std::runtime_error message_;  // copied without memory of its own
  std::int64_t bytes_;
  std::optional<std::int64_t> free_;
};

/// What is free of the memory that the device of this process has; nothing where there is none, or
/// where it does not say.
std::optional<std::int64_t> free_device_bytes();

/// Bytes of host memory that this process may still use: what the system can give without swapping
/// (MemAvailable), within the limits of its control groups and address space. Nothing where the
/// system does not say. Linux overcommits: it grants more, and later kills the process that uses
/// it.
std::optional<std::int64_t> free_host_bytes();

/// Throws OutOfMemory where so many bytes are more than free_host_bytes(). For less than 64 MiB it
/// looks only once an eighth of what was free has been asked for since the last look.
void require_host_memory(const char* array, double bytes);

namespace detail {

/// The part of free_host_bytes() that files say. proc, groups: /proc and /sys/fs/cgroup. Inf where
/// they say nothing.
double free_memory(const std::filesystem::path& proc, const std::filesystem::path& groups);

/// Throws OutOfMemory. free: bytes of the space that are, where that is known.
[[noreturn]] void throw_out_of_memory(const char* label, double bytes, std::string_view space,
                                      std::optional<std::int64_t> free, std::string_view cause);

/// More than any machine has, and more than the size of an array may be.
inline constexpr double too_many_bytes =
    static_cast<double>(std::numeric_limits<std::int64_t>::max());

}  // namespace detail
}  // namespace krysol
