// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/text/scanner.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>

namespace krysol {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_sign(char c) { return c == '+' || c == '-'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// "nan", "-NaN", "+nan(ind)".
bool is_nan_word(std::string_view token) {
  if (!token.empty() && is_sign(token.front())) token.remove_prefix(1);
  return token.size() >= 3 && lower(token[0]) == 'n' && lower(token[1]) == 'a' &&
         lower(token[2]) == 'n' && (token.size() == 3 || (token[3] == '(' && token.back() == ')'));
}

/// "inf", "+Infinity": told from words that are no numbers at all.
bool is_infinity_word(std::string_view token) {
  if (!token.empty() && is_sign(token.front())) token.remove_prefix(1);
  std::string word(token.substr(0, 9));
  std::transform(word.begin(), word.end(), word.begin(), lower);
  return word == "inf" || word == "infinity";
}

/// Digits with one decimal point at most, then an exponent with E, D, Q or a bare sign; or empty
/// where `token` is no such number. The result is spelled as C would: no plus in front, an e.
std::string in_c_spelling(std::string_view token) {
  std::string c;
  std::size_t k = 0;
  if (k < token.size() && is_sign(token[k])) {
    if (token[k] == '-') c += '-';
    ++k;
  }
  std::size_t digits = 0;
  for (bool point = false; k < token.size(); ++k) {
    if (is_digit(token[k])) {
      ++digits;
    } else if (token[k] == '.' && !point) {
      point = true;
    } else {
      break;
    }
    c += token[k];
  }
  if (digits == 0) return {};
  if (k == token.size()) return c;
  const char letter = lower(token[k]);
  if (letter == 'e' || letter == 'd' || letter == 'q') {
    ++k;
  } else if (!is_sign(letter)) {
    return {};
  }
  c += 'e';
  if (k < token.size() && is_sign(token[k])) c += token[k++];
  if (k == token.size()) return {};
  for (; k < token.size(); ++k) {
    if (!is_digit(token[k])) return {};
    c += token[k];
  }
  return c;
}

/// Reads an optional sign and digits that fill `token`. False where something else stands there;
/// `overflow` where the number does not fit.
bool whole_number(std::string_view token, std::int64_t& value, bool& overflow) {
  if (!token.empty() && token.front() == '+') {
    token.remove_prefix(1);
    if (token.empty() || !is_digit(token.front())) return false;
  }
  const char* last = token.data() + token.size();
  const auto [p, error] = std::from_chars(token.data(), last, value);
  overflow = error == std::errc::result_out_of_range;
  return error != std::errc::invalid_argument && p == last;
}

}  // namespace

bool is_exact_in_double(std::int64_t value) {
  const std::uint64_t magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return magnitude == 0 || (magnitude >> std::countr_zero(magnitude)) < (std::uint64_t{1} << 53);
}

bool is_number_but_zero(std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c >= '1' && c <= '9') return true;
    if (c != '0' && c != '.' && !(k == 0 && is_sign(c))) break;
  }
  return false;
}

std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 32;
  std::string text = "'";
  for (const char c : token.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (token.size() > longest) text += "...";
  return text + "'";
}

void Scanner::fail(const char* where, const std::string& message) const {
  throw ParseError(file, line, where - line_start + 1, message);
}

const char* Scanner::newline_after(const char* carriage_return) const {
  while (*carriage_return == '\r') ++carriage_return;
  return *carriage_return == '\n' || carriage_return == end ? carriage_return : nullptr;
}

bool Scanner::seek_data_slowly() {
  for (;;) {
    if (*at == '%') {
      skip_line();
    } else if (!at_line_end()) {
      if (*at != '%') return true;
    } else if (at == end) {
      return false;
    } else {
      end_line_slowly("");
    }
  }
}

void Scanner::skip_line() {
  const auto* newline =
      static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
  if (newline != nullptr) {
    next_line(newline + 1);
  } else {
    at = end;
  }
}

void Scanner::end_line_slowly(std::string_view after) {
  const char* p = at;
  if (*p == '\r') {
    p = newline_after(p);
    if (p == nullptr) {
      fail(at, "a carriage return without a line feed; lines end with LF or CR LF");
    }
  }
  if (p == end) {
    at = end;
  } else if (*p == '\n') {
    next_line(p + 1);
  } else {
    fail(at, fmt::format("expected the end of the line {}, found {}", after, found()));
  }
}

std::string_view Scanner::token() const {
  const char* p = at;
  while (!ends_token(p)) ++p;
  return {at, static_cast<std::size_t>(p - at)};
}

std::string Scanner::found() {
  if (!at_line_end())
    return *at == '\r' ? "a carriage return without a line feed" : quoted(token());
  return at == end ? "the end of the file" : "the end of the line";
}

std::uint64_t Scanner::index_slowly(std::uint64_t limit, bool zero_allowed, std::string_view what) {
  if (at_line_end()) fail(at, fmt::format("expected a {} index, found {}", what, found()));
  const std::string_view text = token();
  std::int64_t value = 0;
  bool overflow = false;
  if (!whole_number(text, value, overflow)) {
    fail(at, fmt::format("expected a {} index, found {}", what, found()));
  }
  const bool inside = !overflow && value >= 1 && static_cast<std::uint64_t>(value) <= limit;
  if (!inside && !(zero_allowed && !overflow && value == 0)) {
    const bool zero = !overflow && value == 0;
    fail(at, fmt::format("{} index {} is outside 1..{}{}", what, text.substr(0, 40), limit,
                         zero ? "; does the file count from 0? Repair mode reads such files" : ""));
  }
  at = text.data() + text.size();
  return static_cast<std::uint64_t>(value);
}

double Scanner::real(Words allowed) {
  skip_blanks();
  // fast_float passes over white space, line ends too: never let it start there.
  if (static_cast<unsigned char>(*at) > ' ') {
    double value;
    const auto [p, error] = fast_float::from_chars(at, end, value);
    if (error == std::errc() && ends_token(p) && std::isfinite(value)) {
      if (value == 0) note_underflow({at, static_cast<std::size_t>(p - at)});
      at = p;
      return value;
    }
  }
  return real_slowly(allowed);
}

double Scanner::real_slowly(Words allowed) {
  if (at_line_end()) fail(at, fmt::format("expected a value, found {}", found()));
  const std::string_view text = token();
  if (is_nan_word(text)) {
    if (allowed == Words::none)
      fail(at, fmt::format("expected a finite value, found {}", quoted(text)));
    at = text.data() + text.size();
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (allowed == Words::nan_and_infinity && is_infinity_word(text)) {
    at = text.data() + text.size();
    return std::copysign(std::numeric_limits<double>::infinity(), text.front() == '-' ? -1.0 : 1.0);
  }
  const std::string number = in_c_spelling(text);
  if (number.empty()) {
    fail(at, fmt::format("expected a {}, found {}",
                         is_infinity_word(text) ? "finite value" : "value", found()));
  }
  double value = 0;
  const char* last = number.data() + number.size();
  const auto [p, error] = fast_float::from_chars(number.data(), last, value);
  if (error == std::errc::invalid_argument || p != last) {
    fail(at, fmt::format("expected a value, found {}", found()));
  }
  if (!std::isfinite(value)) {
    fail(at, fmt::format("value {} is beyond the largest double, 1.8e308", quoted(text)));
  }
  if (value == 0) note_underflow(text);
  at = text.data() + text.size();
  return value;
}

std::int64_t Scanner::integer() {
  if (at_line_end()) fail(at, fmt::format("expected an integer, found {}", found()));
  const std::string_view text = token();
  std::int64_t value = 0;
  bool overflow = false;
  if (!whole_number(text, value, overflow)) {
    fail(at, fmt::format("expected an integer, found {}", found()));
  }
  if (overflow) fail(at, fmt::format("integer {} does not fit 64 bits", quoted(text)));
  at = text.data() + text.size();
  return value;
}

std::int64_t Scanner::size(std::int64_t limit, std::string_view what) {
  if (at_line_end()) fail(at, fmt::format("expected the number of {}, found {}", what, found()));
  const std::string_view text = token();
  std::int64_t value = 0;
  bool overflow = false;
  if (!whole_number(text, value, overflow) || text.front() == '-') {
    fail(at, fmt::format("expected the number of {}, found {}", what, found()));
  }
  if (overflow || value > limit) {
    fail(at, fmt::format("{} {}: at most {} can be held", text.substr(0, 40), what, limit));
  }
  at = text.data() + text.size();
  return value;
}

}  // namespace krysol
