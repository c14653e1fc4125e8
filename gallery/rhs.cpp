// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/gallery/rhs.hpp>

#include <charconv>
#include <random>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace krysol::gallery {
namespace {

constexpr std::string_view compressed[] = {"", ".gz", ".xz", ".bz2", ".zst"};

/// The right-hand side that the collection ships beside a matrix, or an empty path.
std::filesystem::path shipped_rhs(const std::filesystem::path& matrix) {
  if (matrix == "-") return {};
  std::string name = matrix.filename().string();
  const auto drop = [&name](std::string_view suffix) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  };
  for (const std::string_view suffix : compressed) drop(suffix);
  drop(".mtx");
  for (const std::string_view suffix : compressed) {
    std::filesystem::path candidate = matrix.parent_path() / (name + "_b.mtx");
    candidate += suffix;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
  }
  return {};
}

/// Reads "random" or "random:7" into the seed; false where it is neither.
bool parse_random(std::string_view text, std::uint64_t& seed) {
  constexpr std::string_view word = "random";
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  if (text.empty()) return true;
  if (text.front() != ':') return false;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::invalid_argument(
        fmt::format("--rhs: the seed '{}' is not a number from 0 to 2^64 - 1", text));
  }
  return true;
}

}  // namespace

RhsSpec parse_rhs(const std::string& text, const std::filesystem::path& matrix, bool has_attached) {
  RhsSpec spec;
  spec.text = text;
  if (text == "attached" || (text.empty() && has_attached)) {
    spec.kind = RhsSpec::Kind::attached;
    spec.times_a = false;
    spec.found = text.empty();
    spec.text = "attached";
    return spec;
  }
  if (text.empty()) {
    spec.text = default_rhs;
    spec.file = shipped_rhs(matrix);
    if (!spec.file.empty()) {
      spec.kind = RhsSpec::Kind::file;
      spec.times_a = false;
      spec.found = true;
      spec.text = spec.file.string();
    }
    return spec;
  }
  std::string_view rest = text;
  spec.times_a = rest.starts_with("A*");
  if (spec.times_a) rest.remove_prefix(2);
  if (rest == "ones") {
    spec.kind = RhsSpec::Kind::ones;
  } else if (parse_random(rest, spec.seed)) {
    spec.kind = RhsSpec::Kind::random;
  } else {
    spec.kind = RhsSpec::Kind::file;
    spec.times_a = false;
    spec.file = text;
  }
  return spec;
}

std::vector<double> random_numbers(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 engine(seed);  // its sequence is part of the C++ standard
  std::vector<double> v(n);
  for (double& x : v) x = 2 * (static_cast<double>(engine() >> 11) * 0x1p-53) - 1;
  return v;
}

}  // namespace krysol::gallery
