// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/model/foreign_format.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

namespace krysol {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

std::string_view line_of(std::string_view text, int number) {
  for (; number > 1; --number) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  return text.substr(0, text.find('\n'));
}

namespace {

constexpr std::string_view mat = "a MATLAB file";
constexpr std::string_view mat_how = ", for instance with mmwrite of MATLAB or of scipy.io";

std::string not_read(std::string_view what, std::string_view how) {
  constexpr std::string_view convert = "is not read yet; convert it to Matrix Market (.mtx)";
  return fmt::format("{} {}{}", what, convert, how);
}

}  // namespace

std::optional<std::string> foreign_content(std::string_view text) {
  using namespace std::string_view_literals;
  const auto starts_with = [text](std::string_view magic) {
    return text.substr(0, magic.size()) == magic;
  };
  if (starts_with("MATLAB "sv)) return not_read(mat, mat_how);
  if (starts_with("\x89HDF\r\n\x1a\n"sv)) return not_read("an HDF5 file", "");
  if (starts_with("\x93NUMPY"sv)) return not_read("a NumPy file", "");
  if (starts_with("PK\x03\x04"sv)) return not_read("a zip archive (or NumPy .npz)", "");
  if (starts_with("7z\xbc\xaf\x27\x1c"sv)) return not_read("a 7z archive", "");
  if (starts_with("\x00\x12\x7b\x50"sv) || starts_with("\x00\x12\x7b\x4e"sv)) {
    return not_read("a PETSc binary file", "");
  }
  // Text has no control bytes other than blanks and line ends.
  const std::string_view head = text.substr(0, 512);
  const auto binary = std::find_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
  });
  if (binary != head.end()) {
    return fmt::format(
        "binary data (byte {} is \\x{:02x}) of no known format; give a Matrix Market"
        " (.mtx) file, plain or compressed",
        binary - head.begin() + 1, static_cast<unsigned char>(*binary));
  }
  return std::nullopt;
}

std::optional<std::string> foreign_format(std::string_view text, const std::string& name) {
  if (auto what = foreign_content(text)) return what;
  std::string_view stem = name;
  if (stem.size() > 3 && same_word(stem.substr(stem.size() - 3), ".gz")) stem.remove_suffix(3);
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view suffix = stem.substr(dot + 1);
  if (same_word(suffix, "mat")) return not_read(mat, mat_how);
  const bool hb_suffix =
      same_word(suffix, "rb") || same_word(suffix, "hb") ||
      (suffix.size() == 3 && std::string_view("rcpiqRCPIQ").find(suffix[0]) < 10 &&
       std::string_view("suhzrSUHZR").find(suffix[1]) < 10 &&
       std::string_view("aeAE").find(suffix[2]) < 4);
  if (hb_suffix) {
    return std::string(
        "expected the Harwell-Boeing or Rutherford-Boeing file that its name promises: line 2 with"
        " numbers of lines and line 3 with the type and the sizes");
  }
  return std::nullopt;
}

}  // namespace krysol
