// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/vector.hpp>

#include <algorithm>

#include <fmt/core.h>

namespace krysol {
namespace {

std::string size_as_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes < 1e15) return fmt::format("{:.1f} GB", bytes / 1e9);
  return fmt::format("{:.3g} GB", bytes / 1e9);
}

std::runtime_error message(std::string_view array, double bytes, std::string_view space,
                           std::optional<std::int64_t> free, std::string_view cause) {
  std::string text =
      fmt::format("no room for '{}': {} asked of {} memory", array, size_as_text(bytes), space);
  if (!free) return std::runtime_error(text);
  text += fmt::format(", of which {} are free", size_as_text(static_cast<double>(*free)));
  // In pieces, or something else went wrong.
  if (static_cast<double>(*free) > bytes) text += fmt::format(" ({})", cause);
  return std::runtime_error(text);
}

}  // namespace

OutOfMemory::OutOfMemory(std::string_view array, std::int64_t bytes, std::string_view space,
                         std::optional<std::int64_t> free, std::string_view cause)
    : message_(message(array, static_cast<double>(bytes), space, free, cause)),
      bytes_(bytes),
      free_(free) {}

std::optional<std::int64_t> free_device_bytes() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<std::int64_t>(free);
  static_cast<void>(cudaGetLastError());  // clears it: the next call that asks would find it
#elif defined(KOKKOS_ENABLE_HIP)
  std::size_t free = 0;
  std::size_t total = 0;
  if (hipMemGetInfo(&free, &total) == hipSuccess) return static_cast<std::int64_t>(free);
  static_cast<void>(hipGetLastError());
#endif
  return std::nullopt;
}

namespace detail {

void throw_out_of_memory(const char* label, double bytes, std::string_view space, bool on_device,
                         std::string_view cause) {
  const auto whole = bytes < too_many_bytes ? static_cast<std::int64_t>(bytes)
                                            : std::numeric_limits<std::int64_t>::max();
  throw OutOfMemory(label, whole, space, on_device ? free_device_bytes() : std::nullopt, cause);
}

}  // namespace detail
}  // namespace krysol
