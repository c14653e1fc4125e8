// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY  // to_decimal is compiled here
#endif
#include <krysol/io/text/number_text.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>

#include <fmt/format.h>

namespace krysol {
namespace {

constexpr std::array<std::uint64_t, 20> make_powers() {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = 10 * powers[k - 1];
  return powers;
}
constexpr std::array<std::uint64_t, 20> powers = make_powers();

/// Decimal digits of a value above 0: log10 from log2, at most one too few.
int digits_of(std::uint64_t value) {
  const int guess = (static_cast<int>(std::bit_width(value)) * 1233) >> 12;
  return guess + (value >= powers[static_cast<std::size_t>(guess)] ? 1 : 0);
}

/// The eight digits of a value below 10^8, zeros in front, as bytes: the first in the lowest one.
/// Halves, quarters and eighths are split off at a time, by multiplications with rounded inverses.
std::uint64_t eight_digits(std::uint64_t value) {
  const std::uint64_t high = value / 10000;
  const std::uint64_t fours = high | (value - 10000 * high) << 32U;
  const std::uint64_t hundreds = (fours * 10486 >> 20U) & 0x0000007F0000007FU;
  const std::uint64_t twos = hundreds | (fours - 100 * hundreds) << 16U;
  const std::uint64_t tens = (twos * 103 >> 10U) & 0x000F000F000F000FU;
  return (tens | (twos - 10 * tens) << 8U) + 0x3030303030303030U;
}

void store(char* p, std::uint64_t eight) {
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  std::memcpy(p, &eight, sizeof eight);
}

/// `value` in `digits` of them, which is what it has; zeros in front where it has fewer.
char* put_digits(char* p, std::uint64_t value, int digits) {
  constexpr std::uint64_t all_of_eight = 100000000;
  if (digits <= 8) {
    // Modulo 64 the shift is defined for no digits too, which there never are.
    store(p, eight_digits(value) >> ((64U - 8U * static_cast<unsigned>(digits)) % 64U));
    return p + digits;
  }
  const std::uint64_t high = value / all_of_eight;
  const std::uint64_t low = eight_digits(value - all_of_eight * high);
  if (digits == 9 || digits > 17) {
    char* const end = put_digits(p, high, digits - 8);
    store(end, low);
    return end + 8;
  }
  // Seventeen with zeros in front, which are shifted out: values have 15 to 17 digits in no order
  // that a processor could foresee, so there is no branch between those.
  const std::uint64_t first = high / all_of_eight;
  const std::uint64_t middle = eight_digits(high - all_of_eight * first);
  const std::uint64_t word0 = (first + '0') | middle << 8U;
  const std::uint64_t word1 = middle >> 56U | low << 8U;
  const std::uint64_t word2 = low >> 56U;
  const unsigned out = 8U * static_cast<unsigned>(17 - digits);
  store(p, word0 >> out | word1 << 1U << (63U - out));
  store(p + 8, word1 >> out | word2 << 1U << (63U - out));
  store(p + 16, word2 >> out);
  return p + digits;
}

/// significand * 10^exponent, without a zero after.
struct Decimal {
  std::uint64_t significand;
  int exponent;
  int digits;
};

/// What of {fmt} is used beside its public functions. Those give text: 117 ns a value by
/// std::to_chars and 200 by fmt::format_to, whose digits would have to be read again, instead of 50
/// (EPYC, g++ 12 -O2). A version of {fmt} that has it no longer fails here.
template <class Value>
concept HasToDecimal = requires(Value value) {
  { fmt::detail::dragonbox::to_decimal(value).significand } -> std::convertible_to<std::uint64_t>;
  { fmt::detail::dragonbox::to_decimal(value).exponent } -> std::convertible_to<int>;
};
static_assert(HasToDecimal<double>,
              "this version of fmt has no dragonbox::to_decimal(double) as 9.1 has it: use that "
              "version, or std::to_chars in `shortest`, which is slower");

/// Of a finite value but 0, whose sign does not count. Jeon, "Dragonbox", 2022, as {fmt} has it.
Decimal shortest(double value) {
  const auto d = fmt::detail::dragonbox::to_decimal(value);
  return {d.significand, d.exponent, digits_of(d.significand)};
}

char* put_exponent(char* p, char letter, int exponent) {
  *p++ = letter;
  *p++ = exponent < 0 ? '-' : '+';
  const auto magnitude = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
  return put_digits(p, magnitude, magnitude < 100 ? 2 : 3);
}

/// "0.00123", "1.23" or, where shorter, "1.23e-07"; of a value that is not whole.
char* put_fraction(char* p, const Decimal& d) {
  const int before = d.digits + d.exponent;  // digits before the point
  // With one digit the form with exponent needs no point.
  const int last_fixed = -(d.digits + 3) + (d.digits == 1 ? 1 : 0);
  if (d.exponent < last_fixed) {
    char* const end = put_digits(p + 1, d.significand, d.digits);
    p[0] = p[1];
    if (d.digits == 1) return put_exponent(p + 1, 'e', before - 1);
    p[1] = '.';
    return put_exponent(end, 'e', before - 1);
  }
  if (before <= 0) {
    std::copy_n("0.00000", 7, p);  // `before` is -3 at least
    return put_digits(p + 2 - before, d.significand, d.digits);
  }
  char* const end = put_digits(p + 1, d.significand, d.digits);
  std::memmove(p, p + 1, static_cast<std::size_t>(before));
  p[before] = '.';
  return end;
}

}  // namespace

char* put_whole(char* p, std::uint64_t value) {
  return put_digits(p, value, value == 0 ? 1 : digits_of(value));
}

char* put_whole(char* p, std::int64_t value) {
  if (value >= 0) return put_whole(p, static_cast<std::uint64_t>(value));
  *p++ = '-';
  return put_whole(p, ~static_cast<std::uint64_t>(value) + 1);  // -2^63 has no opposite
}

char* put_real(char* p, double value) {
  constexpr double beyond = 0x1p53;
  const double magnitude = std::abs(value);
  if (!(magnitude < beyond)) return std::to_chars(p, p + longest_number, value).ptr;
  if (std::signbit(value)) *p++ = '-';
  const auto whole = static_cast<std::uint64_t>(magnitude);
  if (static_cast<double>(whole) != magnitude) return put_fraction(p, shortest(magnitude));
  // Above, some have a shorter form with an exponent: 1e+05.
  if (whole < 100000 || whole % 100000 != 0) return put_whole(p, whole);
  return std::to_chars(p, p + longest_number, magnitude).ptr;
}

char* put_scientific(char* p, double value) {
  if (std::signbit(value)) *p++ = '-';
  if (value == 0) {
    std::copy_n("0.0E+00", 7, p);
    return p + 7;
  }
  const Decimal d = shortest(value);
  char* end = put_digits(p + 1, d.significand, d.digits);
  p[0] = p[1];
  p[1] = '.';
  if (d.digits == 1) {
    p[2] = '0';
    end = p + 3;
  }
  return put_exponent(end, 'E', d.digits + d.exponent - 1);
}

}  // namespace krysol
