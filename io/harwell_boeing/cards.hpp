// The lines of a Harwell-Boeing text and the numbers that lie in their columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/harwell_boeing/fortran_format.hpp>
#include <krysol/io/model/repairs.hpp>
#include <krysol/io/text/scanner.hpp>

namespace krysol {

/// Without the blanks at both ends.
inline std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t") + 1 - begin);
}
inline bool is_blank(std::string_view s) {
  return s.find_first_not_of(" \t") == std::string_view::npos;
}

/// Lines of a text, and the fields that lie in their columns.
class CardReader {
 public:
  CardReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  /// The next line, without its end. Fails at the end of the text: "... found the end of the file".
  std::string_view next(std::string_view what) {
    if (rest_.empty()) {
      ++number_;
      line_ = {};
      fail(0, fmt::format("expected {}, found the end of the file", what));
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return line_;
  }

  /// Columns [begin, begin + width) of the line, fewer where it is shorter.
  std::string_view columns(std::size_t begin, std::size_t width) const {
    return begin < line_.size() ? line_.substr(begin, width) : std::string_view{};
  }

  [[noreturn]] void fail(std::size_t column, const std::string& message) const {
    throw ParseError(file_, number_, static_cast<std::int64_t>(column) + 1, message);
  }

  /// Fails at the first byte of [begin, begin + width) that is no blank.
  [[noreturn]] void fail_in(std::size_t begin, std::size_t width,
                            const std::string& message) const {
    const std::size_t blanks = columns(begin, width).find_first_not_of(' ');
    fail(begin + (blanks == std::string_view::npos ? 0 : blanks), message);
  }

  /// What stands in these columns, for messages.
  std::string found(std::size_t begin, std::size_t width) const {
    const std::string_view field = columns(begin, width);
    if (is_blank(field)) return "blanks";
    return quoted(trimmed(field));
  }

  std::size_t bytes_left() const { return rest_.size(); }
  bool rest_is_blank() const {
    return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos;
  }
  std::int64_t line_number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  const std::string& file_;
  std::int64_t number_ = 0;
};

/// The numbers of one section, field after field; each section begins a line.
class CardFields {
 public:
  CardFields(CardReader& cards, const FortranFormat& format, std::string what)
      : cards_(cards), format_(format), what_(std::move(what)), field_(format.count) {}

  std::int64_t integer() {
    const std::string_view field = next();
    const auto value = fortran_integer(field);
    if (!value) refuse();
    return *value;
  }
  double real() {
    const std::string_view field = next();
    const auto value = fortran_real(field, format_);
    if (!value) refuse();
    if (*value == 0 && is_number_but_zero(trimmed(field))) {
      if (underflows_ == 0) first_underflow_ = cards_.line_number();
      ++underflows_;
    }
    return *value;
  }
  void value(double& v) {
    if (format_.kind == FortranFormat::Kind::real) {
      v = real();
      return;
    }
    const std::int64_t number = integer();
    if (!is_exact_in_double(number)) ++rounded_integers_;
    v = static_cast<double>(number);
  }
  void value(std::complex<double>& v) {
    const double re = real();
    v = std::complex<double>(re, real());
  }

  std::int64_t rounded_integers() const { return rounded_integers_; }

  void note_underflows(Repairs& repairs) const {
    if (underflows_ > 0) repairs.note(RepairKind::underflow, first_underflow_, underflows_);
  }

  /// At the last number read.
  [[noreturn]] void fail(const std::string& message) const {
    cards_.fail_in(column(), width(), message);
  }

 private:
  std::string_view next() {
    if (field_ == format_.count) {
      cards_.next(what_);
      field_ = 0;
    }
    ++field_;
    return cards_.columns(column(), width());
  }
  std::size_t width() const { return static_cast<std::size_t>(format_.width); }
  std::size_t column() const { return static_cast<std::size_t>(field_ - 1) * width(); }
  [[noreturn]] void refuse() const {
    fail(fmt::format("expected {} in columns {} to {} as {} says, found {}", what_, column() + 1,
                     column() + width(), format_.text(), cards_.found(column(), width())));
  }

  CardReader& cards_;
  const FortranFormat& format_;
  std::string what_;
  int field_;  // of the line
  std::int64_t rounded_integers_ = 0;
  std::int64_t underflows_ = 0;
  std::int64_t first_underflow_ = 0;  // its line
};

}  // namespace krysol
