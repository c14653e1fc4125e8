// A line with a format and a line with a field: what is understood is what C understands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

#include <krysol/io/harwell_boeing/fortran_format.hpp>

#include "checks.hpp"

namespace krysol_fuzz {

inline void fuzz_fortran_format(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view field = bytes.substr(std::min(end + 1, bytes.size()));
  std::string wrong;
  const auto format = krysol::parse_fortran_format(bytes.substr(0, end), wrong);
  require(format.has_value() == wrong.empty(), "a format is understood, or it is said why not");
  if (format) {
    require(format->count >= 1 && format->width >= 1 && format->width <= 255,
            "fields have columns");
    const auto again = krysol::parse_fortran_format(format->text(), wrong);
    require(again && again->text() == format->text(), "formats are written as they are read");
  }
  if (const auto n = krysol::fortran_integer(field)) {
    const std::string digits(field);
    require(std::strtoll(digits.c_str(), nullptr, 10) == *n, "integers are those of C");
  }
  const auto value = krysol::fortran_real(field, format.value_or(krysol::FortranFormat{}));
  if (!value) return;
  require(std::isfinite(*value), "numbers are finite");
  // Where C reads all of it, with a point, both must agree to the last bit.
  const std::string number(field);
  char* rest = nullptr;
  const double expected = std::strtod(number.c_str(), &rest);
  const bool all = number.find_first_not_of(
                       " \t", static_cast<std::size_t>(rest - number.c_str())) == std::string::npos;
  const bool scaled =
      format && format->scale != 0 && number.find_first_of("eE") == std::string::npos;
  if (all && !scaled && number.find('.') != std::string::npos) {
    require(same_bits(*value, expected), "numbers are those of C");
  }
}

}  // namespace krysol_fuzz
