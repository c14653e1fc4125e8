// The formats of Fortran that fixed-column files state, and numbers read by them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krysol {

/// One repeated edit descriptor, as in (16I5), (1P,4E20.12) or (3(D24.15)): `count` fields of
/// `width` columns a line.
struct FortranFormat {
  enum class Kind { integer, real };

  Kind kind = Kind::integer;
  int count = 1;
  int width = 0;
  int digits = 0;     // after the point of a real number that has none
  int scale = 0;      // kP: a real number without exponent is 10^k too large
  char letter = 'I';  // for messages: I, E, D, F or G

  std::string text() const;  // "(16I5)"
};

/// Reads a format in parentheses, with blanks anywhere and letters of either case. None, and what
/// is wrong with it, where it is no such format or beyond reason (fields of no or more than 255
/// columns, lines of more than 4096).
std::optional<FortranFormat> parse_fortran_format(std::string_view text, std::string& wrong);

/// The value of a field: blanks in front and after do not count, a field of blanks is no number.
/// Integers fit 64 bits. None where something else stands there.
std::optional<long long> fortran_integer(std::string_view field);

/// Reals have a sign, digits with a point or without, and an exponent E, D, Q or a bare sign; they
/// are correctly rounded. `format` says where a missing point belongs. None where something else
/// stands there, or a value beyond the largest double.
std::optional<double> fortran_real(std::string_view field, const FortranFormat& format);

}  // namespace krysol
