// Numbers and lines as reports show them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace krysol::report {

/// 1234567 as 1 234 567.
inline std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

/// n and what it counts: 1 nonzero, 1 234 nonzeros.
inline std::string plural(std::int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : many);
}

/// Bytes as kB, MB or GB, of 1000 each.
inline std::string size(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.2f} MB", bytes / 1e6);
  return fmt::format("{:.1f} kB", bytes / 1e3);
}

/// A line of a report; an empty label continues the one above.
inline std::string line(std::string_view label, const std::string& text) {
  return fmt::format("{:<11}{}\n", label, text);
}

/// A file, and which one of an archive was read.
inline std::string file_and_member(const std::string& file, const std::string& member) {
  return member.empty() ? file : fmt::format("{}, file in it: {}", file, member);
}

}  // namespace krysol::report
