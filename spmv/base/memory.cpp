// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/memory.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

#include <krysol/spmv/base/processor.hpp>

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace krysol {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

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

/// The number behind `name` in lines of "name 123"; 0 where there is none.
double entry_of(const std::string& text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '\n';
    const std::size_t end = at + name.size();
    if (begins && end < text.size() && (text[end] == ' ' || text[end] == ':')) {
      return std::strtod(text.c_str() + end + 1, nullptr);
    }
  }
  return 0;
}

/// What is left below the limit of a group. Pages of files that were read count as used, and give
/// way to what asks for memory.
double room_of_group(const std::filesystem::path& folder) {
  const auto left = [&folder](const char* limit, const char* used, const char* files) {
    const double most = std::strtod(detail::text_of(folder / limit).c_str(), nullptr);
    if (!(most > 0)) return unlimited;  // "max", or no such file
    const double taken = std::strtod(detail::text_of(folder / used).c_str(), nullptr);
    return std::max(0.0, most - taken + entry_of(detail::text_of(folder / "memory.stat"), files));
  };
  return std::min(left("memory.max", "memory.current", "inactive_file"),
                  left("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
}

/// Address space that `ulimit -v` leaves.
double room_of_addresses() {
#if defined(__linux__)
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const double pages = std::strtod(detail::text_of("/proc/self/statm").c_str(), nullptr);
    return std::max(0.0, static_cast<double>(limit.rlim_cur) -
                             pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
#endif
  return unlimited;
}

}  // namespace

OutOfMemory::OutOfMemory(std::string_view array, std::int64_t bytes, std::string_view space,
                         std::optional<std::int64_t> free, std::string_view cause)
    : message_(message(array, static_cast<double>(bytes), space, free, cause)),
      bytes_(bytes),
      free_(free) {}

double detail::free_memory(const std::filesystem::path& proc, const std::filesystem::path& groups) {
  constexpr double kib = 1024;
  const double available = kib * entry_of(text_of(proc / "meminfo"), "MemAvailable");
  const double of_group =
      least_of_groups(groups, text_of(proc / "self/cgroup"), "memory", room_of_group);
  return std::min(available > 0 ? available : unlimited, of_group);
}

std::optional<std::int64_t> free_host_bytes() {
  const double free = std::min(detail::free_memory("/proc", "/sys/fs/cgroup"), room_of_addresses());
  if (!(free < detail::too_many_bytes)) return std::nullopt;
  return static_cast<std::int64_t>(free);
}

void require_host_memory(const char* array, double bytes) {
  constexpr double large = 64 << 20;  // to ask takes 0.1 ms, a hundredth of filling so much
  // Small arrays are asked for together: an eighth of what was free goes to them before the next
  // look. What they give back is not counted.
  static std::atomic<double> unasked{0};
  if (bytes < large && unasked.fetch_sub(bytes) >= bytes) return;
  const auto free = free_host_bytes();
  unasked = free ? static_cast<double>(*free) / 8 : unlimited;
  if (!free || bytes <= static_cast<double>(*free)) return;
  detail::throw_out_of_memory(array, bytes, "Host", free, {});
}

namespace detail {

void throw_out_of_memory(const char* label, double bytes, std::string_view space,
                         std::optional<std::int64_t> free, std::string_view cause) {
  const auto whole = bytes < too_many_bytes ? static_cast<std::int64_t>(bytes)
                                            : std::numeric_limits<std::int64_t>::max();
  throw OutOfMemory(label, whole, space, free, cause);
}

}  // namespace detail
}  // namespace krysol
