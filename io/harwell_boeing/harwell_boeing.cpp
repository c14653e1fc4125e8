// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/harwell_boeing/fortran_format.hpp>
#include <krysol/io/model/duplicates.hpp>
#include <krysol/io/model/foreign_format.hpp>
#include <krysol/io/model/repairs.hpp>
#include <krysol/io/text/scanner.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t") + 1 - begin);
}
bool is_blank(std::string_view s) { return s.find_first_not_of(" \t") == std::string_view::npos; }

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
class Fields {
 public:
  Fields(CardReader& cards, const FortranFormat& format, std::string what)
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
  void value(Complex& v) {
    const double re = real();
    v = Complex(re, real());
  }

  std::int64_t rounded_integers() const { return rounded_integers_; }

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
};

struct Header {
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  bool elements = false;
  Index rows = 0;
  Index cols = 0;  // or elements
  std::int64_t indices = 0;
  std::int64_t element_values = 0;
  bool has_values = true;
  bool has_vectors = false;
  FortranFormat pointer_format;
  FortranFormat index_format;
  FortranFormat value_format;
  FortranFormat vector_format;
  std::string vector_type;  // three letters
  Index vectors = 0;
  std::int64_t vector_indices = 0;
};

constexpr std::size_t size_width = 14;

class HarwellBoeingReader {
 public:
  HarwellBoeingReader(std::string_view text, const std::string& name, const ReadOptions& options)
      : text_(text), cards_(text, name), name_(name), options_(options) {
    info_.bytes = info_.text_bytes = static_cast<std::int64_t>(text.size());
  }

  MatrixFile read() {
    read_header();
    MatrixFile file;
    if (h_.field == Field::complex) {
      file.matrix = matrix<Complex>();
      if (h_.has_vectors) read_vectors<Complex>(file.attached);
    } else {
      file.matrix = matrix<double>();
      if (h_.has_vectors) read_vectors<double>(file.attached);
    }
    pass_over_the_rest();
    info_.repairs = repairs_.sentences(info_);
    if (!h_.elements) std::visit([this](auto& a) { look_for_duplicates(a); }, file.matrix);
    file.info = info_;
    return file;
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

  /// Lines after the last number.
  void pass_over_the_rest() {
    while (!cards_.rest_is_blank()) {
      if (is_blank(cards_.next(""))) continue;
      if (!options_.repairs(options_.junk)) {
        cards_.fail(0, fmt::format("expected the end of the file, found {}", cards_.found(0, 32)));
      }
      repairs_.note(RepairKind::extra_line, cards_.line_number());
    }
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
    info_.format = "Harwell-Boeing";
    info_.title = trimmed(cards_.columns(0, 72));
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
    info_.field = h_.field;
    info_.symmetry = h_.symmetry;
    info_.stored_entries = h_.indices;
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

  /// Where each of the `count` lists begins in the indices, from 0.
  std::vector<std::int64_t> pointers(Index lists, std::int64_t indices, const std::string& what) {
    Fields fields(cards_, h_.pointer_format, "a pointer to " + what);
    std::vector<std::int64_t> begin;
    begin.reserve(static_cast<std::size_t>(lists) + 1);
    for (std::int64_t k = 0; k <= lists; ++k) {
      const std::int64_t p = fields.integer();
      const std::int64_t least = k == 0 ? 1 : begin.back() + 1;
      const std::int64_t most = k == 0 ? 1 : indices + 1;
      if (p < least || p > most || (k == lists && p != indices + 1)) {
        fields.fail(fmt::format(
            "pointer {} of {} is {}; pointers ascend from 1 to {}, one more than the {}", k + 1,
            std::int64_t{lists} + 1, p, indices + 1, what));
      }
      begin.push_back(p - 1);
    }
    return begin;
  }

  /// 0-based.
  Array<Index> indices(std::int64_t count, Index limit, const std::string& what) {
    Fields fields(cards_, h_.index_format, "a " + what);
    Array<Index> all(static_cast<std::size_t>(count));
    for (Index& index : all) {
      const std::int64_t i = fields.integer();
      if (i < 1 || i > limit) {
        fields.fail(fmt::format("{} {} is outside 1..{}", what, i, limit));
      }
      index = static_cast<Index>(i - 1);
    }
    return all;
  }

  template <class T>
  Array<T> values(std::int64_t count, const FortranFormat& format) {
    const auto left = static_cast<std::int64_t>(cards_.bytes_left());
    if (count > left) {
      cards_.fail(0, fmt::format("{} values were declared, but {} bytes follow", count, left));
    }
    Fields fields(cards_, format, "a value");
    Array<T> all(static_cast<std::size_t>(count));
    for (T& v : all) fields.value(v);
    info_.rounded_integers += fields.rounded_integers();
    return all;
  }

  template <class T>
  Triplets<T> matrix() {
    Triplets<T> a;
    a.rows = h_.rows;
    a.cols = h_.elements ? h_.rows : h_.cols;
    a.symmetry = h_.symmetry;
    const auto begin = pointers(h_.cols, h_.indices, h_.elements ? "variables" : "entries");
    index_line_ = cards_.line_number() + 1;
    Array<Index> rows = indices(h_.indices, h_.rows, h_.elements ? "variable" : "row index");
    value_line_ = cards_.line_number() + 1;
    if (h_.elements) {
      sum_elements(begin, rows, a);
      return a;
    }
    a.col_idx.resize(rows.size());
    for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
      std::fill(a.col_idx.begin() + begin[j], a.col_idx.begin() + begin[j + 1],
                static_cast<Index>(j));
    }
    a.row_idx = std::move(rows);
    if (h_.has_values) {
      a.values = values<T>(h_.indices, h_.value_format);
    } else {
      a.values.resize(a.row_idx.size(), T(1));
    }
    take_one_triangle(a);
    return a;
  }

  /// Fails at number k, from 0, of a section that begins on `line`: for what shows only later.
  [[noreturn]] void fail_at(std::int64_t line, const FortranFormat& format, std::int64_t k,
                            const std::string& message) const {
    CardReader cards(text_, name_);
    while (cards.line_number() < line + k / format.count) cards.next("");
    const auto width = static_cast<std::size_t>(format.width);
    cards.fail_in(static_cast<std::size_t>(k % format.count) * width, width, message);
  }
  [[noreturn]] void fail_at_index(std::int64_t k, const std::string& message) const {
    fail_at(index_line_, h_.index_format, k, message);
  }
  std::int64_t line_of_index(std::int64_t k) const {
    return index_line_ + k / h_.index_format.count;
  }

  /// Entries on one side of the diagonal; those above are moved below.
  template <class T>
  void take_one_triangle(Triplets<T>& a) {
    if (a.symmetry == Symmetry::general) return;
    bool above_seen = false;
    bool below_seen = false;
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      const Index row = a.row_idx[k];
      const Index col = a.col_idx[k];
      const auto number = static_cast<std::int64_t>(k);
      if (row == col) {
        if (a.symmetry == Symmetry::skew_symmetric) {
          fail_at_index(number, "a skew-symmetric matrix has no diagonal entries, found one");
        }
        make_diagonal_real(a.values[k], number);
        continue;
      }
      if (row < col ? below_seen : above_seen) {
        fail_at_index(number, fmt::format("entry ({}, {}) lies {} the diagonal; a file with a "
                                          "symmetry stores one triangle only",
                                          row + 1, col + 1, row < col ? "above" : "below"));
      }
      (row < col ? above_seen : below_seen) = true;
      if (row > col) continue;
      repairs_.note(RepairKind::lone_above, line_of_index(number));
      std::swap(a.row_idx[k], a.col_idx[k]);
      a.values[k] = mirrored(a.values[k], a.symmetry);
    }
  }

  /// Of value `number`, which is on the diagonal: a hermitian one is real.
  void make_diagonal_real(double&, std::int64_t) {}
  void make_diagonal_real(Complex& v, std::int64_t number) {
    if (h_.symmetry != Symmetry::hermitian || v.imag() == 0) return;
    const std::int64_t part = 2 * number + 1;
    if (!options_.repairs(options_.wrong_triangle)) {
      fail_at(value_line_, h_.value_format, part,
              fmt::format("the diagonal of a hermitian matrix is real, found the imaginary part {}",
                          v.imag()));
    }
    repairs_.note(RepairKind::hermitian_diagonal, value_line_ + part / h_.value_format.count);
    v = v.real();
  }

  /// Each element is a dense matrix of its variables, column by column; of one with a symmetry the
  /// lower triangle (without the diagonal where skew). Entries of several elements are summed
  /// later, as duplicates.
  template <class T>
  void sum_elements(const std::vector<std::int64_t>& begin, const Array<Index>& variables,
                    Triplets<T>& a) {
    check_elements(begin, variables);
    Fields fields(cards_, h_.value_format, "a value of an element");
    std::int64_t seen = 0;
    for (std::size_t e = 0; e + 1 < begin.size(); ++e) {
      const std::int64_t n = begin[e + 1] - begin[e];
      const Index* list = variables.data() + begin[e];
      for (std::int64_t c = 0; c < n; ++c) {
        for (std::int64_t r = first_row(c); r < n; ++r, ++seen) {
          T v(1);
          if (h_.has_values) fields.value(v);
          Index row = list[r];
          Index col = list[c];
          if (h_.symmetry != Symmetry::general && row < col) {
            std::swap(row, col);
            v = mirrored(v, h_.symmetry);
          }
          if (row == col) make_diagonal_real(v, seen);
          a.add(row, col, v);
        }
      }
    }
    info_.rounded_integers += fields.rounded_integers();
    info_.stored_entries = seen;
  }

  /// Of column c of an element.
  std::int64_t first_row(std::int64_t c) const {
    if (h_.symmetry == Symmetry::general) return 0;
    return h_.symmetry == Symmetry::skew_symmetric ? c + 1 : c;
  }

  /// Before anything is allocated for them: no element names a variable twice, which would make one
  /// value of a triangle stand for two, and all have as many values as declared.
  void check_elements(const std::vector<std::int64_t>& begin, const Array<Index>& variables) const {
    const std::int64_t most = h_.has_values ? h_.element_values : options_.max_dense_values;
    std::int64_t places = 0;
    for (std::size_t e = 0; e + 1 < begin.size(); ++e) {
      refuse_twins(variables, begin[e], begin[e + 1], e);
      const std::int64_t n = begin[e + 1] - begin[e];  // of different variables: below 2^31
      const std::int64_t mine = h_.symmetry == Symmetry::general          ? n * n
                                : h_.symmetry == Symmetry::skew_symmetric ? n * (n - 1) / 2
                                                                          : n * (n + 1) / 2;
      if (mine > most - places) fail_at_elements(places + mine, " or more");
      places += mine;
    }
    if (h_.has_values && places != most) fail_at_elements(places, "");
  }

  void refuse_twins(const Array<Index>& variables, std::int64_t begin, std::int64_t end,
                    std::size_t element) const {
    std::vector<std::pair<Index, std::int64_t>> sorted;
    sorted.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t k = begin; k < end; ++k) {
      sorted.emplace_back(variables[static_cast<std::size_t>(k)], k);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 1; k < sorted.size(); ++k) {
      if (sorted[k].first != sorted[k - 1].first) continue;
      fail_at_index(sorted[k].second, fmt::format("element {} names variable {} twice", element + 1,
                                                  sorted[k].first + 1));
    }
  }

  /// Where their number of values is declared.
  [[noreturn]] void fail_at_elements(std::int64_t places, std::string_view or_more) const {
    CardReader cards(text_, name_);
    while (cards.line_number() < 3) cards.next("");
    cards.fail_in(4 * size_width, size_width,
                  h_.has_values ? fmt::format("{} values of elements were declared, they have {}{}",
                                              h_.element_values, places, or_more)
                                : fmt::format("the elements make {}{} entries, the limit set by "
                                              "ReadOptions::max_dense_values is {}",
                                              places, or_more, options_.max_dense_values));
  }

  template <class T>
  void look_for_duplicates(Triplets<T>& a) {
    const DuplicatesFound found = treat_duplicates(a, options_.duplicates);
    if (found.count == 0) return;
    if (options_.duplicates == Duplicates::reject) {
      std::int64_t k = 0;
      for (int seen = 0; seen < 2; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (a.row_idx[at] == found.row && a.col_idx[at] == found.col) ++seen;
      }
      fail_at_index(k - 1,
                    fmt::format("entry ({}, {}) is there already", found.row + 1, found.col + 1));
    }
    info_.repairs.push_back(fmt::format(
        "{} entries of a place named before {}, first in column {}", found.count,
        options_.duplicates == Duplicates::sum ? "added to the first" : "dropped", found.col + 1));
  }

  template <class T>
  DenseFile dense(std::vector<T> values) const {
    DenseFile file;
    file.info = info_;
    file.info.array = true;
    file.info.symmetry = Symmetry::general;
    file.info.field = h_.field == Field::complex ? Field::complex : Field::real;
    file.rows = h_.rows;
    file.cols = h_.vectors;
    file.values = std::move(values);
    return file;
  }

  template <class T>
  std::vector<T> full_vectors() {
    const Array<T> all = values<T>(std::int64_t{h_.rows} * h_.vectors, h_.vector_format);
    return {all.begin(), all.end()};
  }

  template <class T>
  void read_vectors(AttachedVectors& v) {
    if (h_.vector_type[0] == 'f') {
      v.rhs = dense(full_vectors<T>());
    } else {
      const auto begin = pointers(h_.vectors, h_.vector_indices, "entries of vectors");
      const Array<Index> rows = indices(h_.vector_indices, h_.rows, "row index");
      const Array<T> entries = values<T>(h_.vector_indices, h_.vector_format);
      const std::int64_t places = std::int64_t{h_.rows} * h_.vectors;
      if (places > options_.max_dense_values) {
        throw FileError(fmt::format("{}: {} x {} values make no dense vectors: more than {}", name_,
                                    h_.rows, h_.vectors, options_.max_dense_values));
      }
      std::vector<T> full(static_cast<std::size_t>(places));
      for (std::size_t j = 0; j + 1 < begin.size(); ++j) {
        for (auto k = static_cast<std::size_t>(begin[j]);
             k < static_cast<std::size_t>(begin[j + 1]); ++k) {
          full[j * static_cast<std::size_t>(h_.rows) + static_cast<std::size_t>(rows[k])] +=
              entries[k];
        }
      }
      v.rhs = dense(std::move(full));
    }
    if (h_.vector_type[1] == 'g') v.guess = dense(full_vectors<T>());
    if (h_.vector_type[2] == 'x') v.solution = dense(full_vectors<T>());
  }

  std::string_view text_;
  CardReader cards_;
  const std::string& name_;
  const ReadOptions& options_;
  Header h_;
  FileInfo info_;
  Repairs repairs_;
  std::int64_t index_line_ = 0;  // the first of the matrix's row indices, or of variables
  std::int64_t value_line_ = 0;  // the first of its values
};

}  // namespace

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

MatrixFile parse_harwell_boeing(std::string_view text, const std::string& name,
                                const ReadOptions& options) {
  return HarwellBoeingReader(text, name, options).read();
}

}  // namespace krysol
