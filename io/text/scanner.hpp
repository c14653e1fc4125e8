// Text as lines of blank-separated tokens, with the line and column of each; numbers as files of
// the field spell them. The inner loop of reading: pointers into one buffer, nothing is copied.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace krysol {

/// Does double hold it? All below 2^53, and multiples of powers of two above.
bool is_exact_in_double(std::int64_t value);

/// Is it a digit other than 0 that the text of a number has before its exponent? Then the number is
/// not 0, whatever double makes of it.
bool is_number_but_zero(std::string_view text);

/// A token for a message: shortened, between quotes, bytes that do not print as \xNN.
std::string quoted(std::string_view token);

/// Walks over `text` line by line. The byte after the last one must be readable and a NUL, as
/// after a std::string: it ends every number without a comparison of pointers.
///
/// A line is data, or blank, or a comment (its first byte other than blanks is %). Lines end with
/// LF or CR LF, the last one also without; a CR elsewhere is an error. Blanks are space and tab.
class Scanner {
 public:
  Scanner(std::string_view text, std::string file_name)
      : file(std::move(file_name)),
        begin(text.data()),
        end(text.data() + text.size()),
        at(begin),
        line_start(begin) {}

  /// Throws ParseError at `where`, a place on the current line.
  [[noreturn]] void fail(const char* where, const std::string& message) const;

  void skip_blanks() {
    while (*at == ' ' || *at == '\t') ++at;
  }

  /// True where nothing but blanks is left of the line; moves over them.
  bool at_line_end() {
    skip_blanks();
    return *at == '\n' || at == end || (*at == '\r' && newline_after(at) != nullptr);
  }

  /// Goes to the first token of the next line with data, from the start of a line. False at the
  /// end of the text. Comment lines, and blank ones, are passed over.
  bool seek_data() {
    // Nearly always: a digit in the first column.
    if (static_cast<unsigned char>(*at - '0') < 10) return true;
    return seek_data_slowly();
  }

  /// Ends the current line, or fails at what is left of it: "expected the end of the line `after`".
  void end_line(std::string_view after) {
    skip_blanks();
    if (*at == '\n') {
      next_line(at + 1);
    } else {
      end_line_slowly(after);
    }
  }

  /// Passes over the rest of the line, whatever it is.
  void skip_line();

  /// The bytes up to the next blank or line end, for messages and words.
  std::string_view token() const;

  /// What stands here, for messages: a quoted token, "the end of the line" or "... of the file".
  std::string found();

  /// A whole number 1..limit. 0 is returned as it is where `zero_allowed`. `what` names it in
  /// messages: "row" or "column".
  std::uint64_t index(std::uint64_t limit, bool zero_allowed, std::string_view what) {
    skip_blanks();
    const char* p = at;
    std::uint64_t value = 0;
    for (unsigned digit; (digit = static_cast<unsigned char>(*p - '0')) < 10; ++p) {
      value = 10 * value + digit;
    }
    // The subtraction sends 0 to the slow path too; 18 digits cannot overflow.
    if (p != at && p - at <= 18 && value - 1 < limit && ends_token(p)) {
      at = p;
      return value;
    }
    return index_slowly(limit, zero_allowed, what);
  }

  /// A decimal number in the grammar of C, or of Fortran: leading plus, exponent letter D or Q or
  /// none (1.5+103). Correctly rounded; underflow gives a denormal, or 0 and sets `underflowed`;
  /// overflow fails, and so do the words for NaN and infinity unless allowed.
  enum class Words { none, nan, nan_and_infinity };
  double real(Words allowed);

  /// A whole number that fits 64 bits with its sign.
  std::int64_t integer();

  /// A size of the size line: a whole number 0..limit. `what` names it: "rows".
  std::int64_t size(std::int64_t limit, std::string_view what);

  std::string file;
  const char* begin;
  const char* end;         // *end == '\0'
  const char* at;          // the next byte
  const char* line_start;  // of the line that holds `at`
  std::int64_t line = 1;
  bool underflowed = false;  // by `real`; whoever looks at it takes it back

 private:
  void note_underflow(std::string_view zero) { underflowed |= is_number_but_zero(zero); }
  bool ends_token(const char* p) const {
    return *p == '\n' || *p == ' ' || *p == '\r' || *p == '\t' || p == end;
  }
  void next_line(const char* start) {
    at = start;
    line_start = start;
    ++line;
  }
  const char* newline_after(const char* carriage_return) const;
  bool seek_data_slowly();
  void end_line_slowly(std::string_view after);
  std::uint64_t index_slowly(std::uint64_t limit, bool zero_allowed, std::string_view what);
  double real_slowly(Words allowed);
};

}  // namespace krysol
