// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/harwell_boeing/harwell_boeing_header.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/model/foreign_format.hpp>

namespace krysol {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

class HeaderReader {
 public:
  explicit HeaderReader(CardReader& cards) : cards_(cards) {}

  HarwellBoeingHeader read() {
    read_header();
    return h_;
  }

 private:
  /// The number in columns [14 k, 14 k + 14) of the line.
  std::int64_t count(std::size_t k, std::int64_t limit, std::string_view what) {
    const std::size_t begin = k * size_width;
    const auto value = fortran_integer(cards_.columns(begin, size_width));
    if (!value || *value < 0) {
      cards_.fail_in(begin, size_width,
                     fmt::format("expected the number of {} in columns {} to {}, found {}", what,
                                 begin + 1, begin + size_width, cards_.found(begin, size_width)));
    }
    if (*value > limit) {
      cards_.fail_in(begin, size_width,
                     fmt::format("{} {}: at most {} can be held", *value, what, limit));
    }
    return *value;
  }

  /// A count of numbers that follow. Each takes a byte at least: nothing is allocated for more.
  std::int64_t numbers(std::size_t k, std::int64_t limit, std::string_view what) {
    const std::int64_t declared = count(k, limit, what);
    const auto left = static_cast<std::int64_t>(cards_.bytes_left());
    if (declared > left) {
      cards_.fail_in(k * size_width, size_width,
                     fmt::format("{} {} were declared, but {} bytes follow", declared, what, left));
    }
    return declared;
  }

  FortranFormat format(std::size_t begin, std::size_t width, std::string_view of,
                       FortranFormat::Kind kind) {
    std::string wrong;
    const auto format = parse_fortran_format(cards_.columns(begin, width), wrong);
    if (!format) {
      cards_.fail_in(begin, width,
                     fmt::format("expected a Fortran format of {}, found {}: {}", of,
                                 cards_.found(begin, width), wrong));
    }
    if (format->kind != kind) {
      cards_.fail_in(begin, width,
                     fmt::format("expected a format of {} numbers for {}, found {}",
                                 kind == FortranFormat::Kind::integer ? "whole" : "real", of,
                                 cards_.found(begin, width)));
    }
    return *format;
  }

  void read_header() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
    constexpr std::int64_t longest = std::numeric_limits<Index>::max();
    cards_.next("a title");
    h_.title = trimmed(cards_.columns(0, 72));
    cards_.next("the numbers of lines");
    const bool values_there = !is_blank(cards_.columns(3 * size_width, size_width)) &&
                              count(3, most, "lines of values") > 0;
    if (!is_blank(cards_.columns(4 * size_width, size_width))) {
      h_.has_vectors = count(4, most, "lines of vectors") > 0;
    }
    cards_.next("the type and the sizes");
    read_type();
    h_.rows = static_cast<Index>(count(1, longest, "rows"));
    h_.cols = static_cast<Index>(numbers(2, longest, h_.elements ? "elements" : "columns"));
    if (h_.symmetry != Symmetry::general && !h_.elements && h_.rows != h_.cols) {
      cards_.fail(2 * size_width, fmt::format("a {} matrix must be square, this one is {} x {}",
                                              to_string(h_.symmetry), h_.rows, h_.cols));
    }
    h_.indices = numbers(3, most, h_.elements ? "variables" : "entries");
    if (h_.elements) h_.element_values = count(4, most, "values of elements");
    h_.has_values = h_.field != Field::pattern && values_there;
    if (h_.field != Field::pattern && !values_there) {
      h_.field = Field::pattern;  // a pattern, whatever the type says
    }
    // A real Hermitian matrix is a symmetric one.
    if (h_.symmetry == Symmetry::hermitian && h_.field != Field::complex) {
      h_.symmetry = Symmetry::symmetric;
    }
    cards_.next("the formats");
    h_.pointer_format = format(0, 16, "pointers", FortranFormat::Kind::integer);
    h_.index_format = format(16, 16, "indices", FortranFormat::Kind::integer);
    if (h_.has_values) {
      h_.value_format = format(
          32, 20, "values",
          h_.field == Field::integer ? FortranFormat::Kind::integer : FortranFormat::Kind::real);
    }
    if (h_.has_vectors) {
      h_.vector_format = format(52, 20, "vectors", FortranFormat::Kind::real);
      cards_.next("the type of the vectors");
      h_.vector_type = std::string(cards_.columns(0, 3));
      h_.vector_type.resize(3, ' ');
      std::transform(h_.vector_type.begin(), h_.vector_type.end(), h_.vector_type.begin(), lower);
      if (h_.vector_type[0] != 'f' && h_.vector_type[0] != 'm') {
        cards_.fail(0,
                    fmt::format("expected vectors of type F (full) or M (as the matrix), found {}",
                                cards_.found(0, 3)));
      }
      h_.vectors = static_cast<Index>(numbers(1, longest, "vectors"));
      if (h_.vector_type[0] == 'm') {
        h_.vector_indices = numbers(2, most, "entries of vectors");
      }
    }
  }

  void read_type() {
    const std::string_view type = cards_.columns(0, 3);
    const auto known = [&](std::size_t k, std::string_view letters) {
      const std::size_t at =
          k < type.size() ? letters.find(lower(type[k])) : std::string_view::npos;
      if (at == std::string_view::npos) {
        cards_.fail(k, fmt::format("expected a type of three letters ({}), found {}",
                                   "R, C, P or I; S, U, H, Z or R; A or E", cards_.found(0, 3)));
      }
      return at;
    };
    constexpr std::array fields{Field::real, Field::complex, Field::pattern, Field::integer};
    constexpr std::array symmetries{Symmetry::symmetric, Symmetry::general, Symmetry::hermitian,
                                    Symmetry::skew_symmetric, Symmetry::general};
    h_.field = fields[known(0, "rcpi")];
    h_.symmetry = symmetries[known(1, "suhzr")];
    h_.elements = known(2, "ae") == 1;
  }

  CardReader& cards_;
  HarwellBoeingHeader h_;
};

}  // namespace

HarwellBoeingHeader read_harwell_boeing_header(CardReader& cards) {
  return HeaderReader(cards).read();
}

bool is_harwell_boeing(std::string_view text) {
  const auto digits_from = [](std::string_view line, std::size_t start) {
    const std::size_t k = line.find_first_not_of(' ', start);
    return k != std::string_view::npos && line[k] >= '0' && line[k] <= '9';
  };
  const std::string_view type = line_of(text, 3);
  if (type.size() < 5) return false;
  const auto one_of = [](char c, std::string_view letters) {
    return letters.find(lower(c)) != std::string_view::npos;
  };
  return one_of(type[0], "rcpiq") && one_of(type[1], "suhzr") && one_of(type[2], "ae") &&
         type[3] == ' ' && digits_from(type, 3) && digits_from(line_of(text, 2), 0);
}

}  // namespace krysol
