// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/harwell_boeing/fortran_format.hpp>

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include <fast_float/fast_float.h>
#include <fmt/core.h>

namespace krysol {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

constexpr int widest_field = 255;
constexpr int longest_line = 4096;

std::string_view without_blanks_around(std::string_view field) {
  const std::size_t first = field.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return field.substr(first, field.find_last_not_of(" \t") - first + 1);
}

/// A walk over the letters of a format, blanks left out.
class Letters {
 public:
  explicit Letters(std::string_view text) {
    for (const char c : text) {
      if (c != ' ' && c != '\t') text_ += upper(c);
    }
  }

  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  bool pass(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  /// A whole number below 10000, where one stands here.
  std::optional<int> number() {
    const std::size_t begin = at_;
    int value = 0;
    while (is_digit(next()) && at_ - begin < 4) value = 10 * value + (text_[at_++] - '0');
    if (at_ == begin || is_digit(next())) return std::nullopt;
    return value;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string FortranFormat::text() const {
  const std::string scaled = scale == 0 ? "" : fmt::format("{}P,", scale);
  return kind == Kind::integer ? fmt::format("({}I{})", count, width)
                               : fmt::format("({}{}{}{}.{})", scaled, count, letter, width, digits);
}

std::optional<FortranFormat> parse_fortran_format(std::string_view text, std::string& wrong) {
  Letters in(text);
  FortranFormat format;
  const auto no = [&](std::string_view why) {
    wrong = why;
    return std::nullopt;
  };
  if (!in.pass('(')) return no("a format begins with '('");
  // Any of kP, commas, a count and one more pair of parentheses, in the orders that occur.
  int open = 1;
  bool counted = false;
  for (;;) {
    const bool minus = in.pass('-');
    if (minus || is_digit(in.next())) {
      const auto n = in.number();
      if (!n) return no("a number in it has more than four digits");
      if (in.pass('P')) {
        format.scale = minus ? -*n : *n;
        in.pass(',');
        continue;
      }
      if (minus || counted) return no("it has more than one descriptor");
      counted = true;
      format.count = *n;
    }
    if (in.pass('(')) {
      ++open;
      continue;
    }
    break;
  }
  const char letter = in.next();
  in.pass(letter);
  if (letter == 'I') {
    format.kind = FortranFormat::Kind::integer;
  } else if (letter == 'E' || letter == 'D' || letter == 'F' || letter == 'G') {
    format.kind = FortranFormat::Kind::real;
  } else {
    return no("known are I, and E, D, F and G");
  }
  format.letter = letter;
  const auto width = in.number();
  if (!width || *width == 0 || *width > widest_field) return no("fields have 1 to 255 columns");
  format.width = *width;
  if (in.pass('.')) {
    const auto digits = in.number();
    if (!digits || *digits > widest_field)
      return no("what follows the point is no number of digits");
    format.digits = *digits;
    if (in.pass('E') && !in.number()) return no("what follows is no number of digits");  // Ew.dEe
  }
  while (open > 0 && in.pass(')')) --open;
  if (open > 0 || !in.at_end()) return no("one descriptor and ')' were expected");
  if (format.count == 0 || format.count * format.width > longest_line) {
    return no("lines of that many fields make no sense");
  }
  return format;
}

std::optional<long long> fortran_integer(std::string_view field) {
  field = without_blanks_around(field);
  if (!field.empty() && field.front() == '+') {
    field.remove_prefix(1);
    if (field.empty() || !is_digit(field.front())) return std::nullopt;
  }
  long long value = 0;
  const char* last = field.data() + field.size();
  const auto [p, error] = std::from_chars(field.data(), last, value);
  if (error != std::errc() || p != last) return std::nullopt;
  return value;
}

std::optional<double> fortran_real(std::string_view field, const FortranFormat& format) {
  field = without_blanks_around(field);
  std::string number;  // as C spells it
  std::size_t k = 0;
  if (k < field.size() && (field[k] == '-' || field[k] == '+')) {
    if (field[k] == '-') number += '-';
    ++k;
  }
  int digits = 0;
  bool point = false;
  for (; k < field.size(); ++k) {
    if (is_digit(field[k])) {
      ++digits;
    } else if (field[k] == '.' && !point) {
      point = true;
    } else {
      break;
    }
    number += field[k];
  }
  if (digits == 0) return std::nullopt;
  int exponent = point ? 0 : -format.digits;
  if (k < field.size()) {
    const char letter = upper(field[k]);
    if (letter == 'E' || letter == 'D' || letter == 'Q') {
      ++k;
    } else if (letter != '-' && letter != '+') {
      return std::nullopt;
    }
    while (k < field.size() && field[k] == ' ') ++k;  // "1.0E 05" is from old Fortran
    const bool minus = k < field.size() && field[k] == '-';
    if (k < field.size() && (minus || field[k] == '+')) ++k;
    int n = 0;
    const std::size_t begin = k;
    for (; k < field.size() && is_digit(field[k]); ++k)
      n = n < 100000 ? 10 * n + (field[k] - '0') : n;
    if (k == begin || k != field.size()) return std::nullopt;
    exponent += minus ? -n : n;
  } else {
    exponent -= format.scale;
  }
  number += "e" + std::to_string(exponent);
  double value = 0;
  const char* last = number.data() + number.size();
  const auto [p, error] = fast_float::from_chars(number.data(), last, value);
  if (error == std::errc::invalid_argument || p != last || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace krysol
