// Tar archives from texts, one block of 512 bytes after the other (POSIX.1-1988 ustar).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace krysol_tests {

inline constexpr std::size_t tar_block = 512;

inline std::string octal(std::size_t value, int digits) {
  std::string text(16, '\0');
  const int n = std::snprintf(text.data(), text.size(), "%0*zo", digits, value);
  text.resize(static_cast<std::size_t>(n));
  return text;
}

/// `kind` is '0' for a file, '5' for a folder, '2' for a link.
inline std::string tar_header(const std::string& name, std::size_t size, char kind = '0') {
  std::string header(tar_block, '\0');
  const auto set = [&header](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  set(0, name);
  set(100, "0000644");
  set(108, "0000000");
  set(116, "0000000");
  set(124, octal(size, 11));
  set(136, "00000000000");
  set(148, "        ");
  header[156] = kind;
  set(257, std::string_view("ustar\00000", 8));
  std::size_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  set(148, octal(sum, 6) + '\0' + ' ');
  return header;
}

inline std::string tar_member(const std::string& name, const std::string& text) {
  const std::size_t padding = (tar_block - text.size() % tar_block) % tar_block;
  return tar_header(name, text.size()) + text + std::string(padding, '\0');
}

/// The mark of the end.
inline std::string tar_end() { return std::string(2 * tar_block, '\0'); }

}  // namespace krysol_tests
