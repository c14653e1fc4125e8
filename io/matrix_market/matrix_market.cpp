// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/matrix_market/matrix_market.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/stream.hpp>
#include <krysol/io/bytes/text_blocks.hpp>
#include <krysol/io/matrix_market/matrix_market_header.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/model/duplicates.hpp>
#include <krysol/io/model/foreign_format.hpp>
#include <krysol/io/model/repairs.hpp>
#include <krysol/io/text/scanner.hpp>
#include <krysol/io/text/threads.hpp>

namespace krysol {
namespace {

constexpr std::string_view banner = "%%MatrixMarket";

using Complex = std::complex<double>;

bool contains_word(std::string_view text, std::string_view word) {
  for (; text.size() >= word.size(); text.remove_prefix(1)) {
    if (same_word(text.substr(0, word.size()), word)) return true;
  }
  return false;
}

double imaginary_part(double) { return 0; }
double imaginary_part(Complex value) { return value.imag(); }
bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(Complex value) { return is_finite(value.real()) && is_finite(value.imag()); }
bool is_nan(double value) { return std::isnan(value); }
bool is_nan(Complex value) { return is_nan(value.real()) || is_nan(value.imag()); }

/// One file on its way from text to numbers.
class Reader {
 public:
  /// What a reader is given: all of a text, or its lines up to the sizes, whose word is taken then.
  enum class Extent { whole, header };

  Reader(std::string_view text, const std::string& name, const ReadOptions& options,
         Extent extent = Extent::whole)
      : in_(text, name), options_(options), extent_(extent) {
    info_.bytes = info_.text_bytes = static_cast<std::int64_t>(text.size());
    read_banner();
    read_sizes();
  }

  MatrixFile matrix() {
    MatrixFile result;
    if (info_.field == Field::complex) {
      result.matrix = triplets<Complex>();
    } else {
      result.matrix = triplets<double>();
    }
    std::visit([this](auto& a) { look_for_duplicates(a); }, result.matrix);
    result.info = finish();
    return result;
  }

  const FileInfo& info() const { return info_; }
  EntryRules rules() const {
    return {rows_, cols_, info_.field, info_.symmetry, info_.stored_entries};
  }

  /// The fewest bytes of a line with an entry: "1 1\n", with a value "1 1 1\n" or "1 1 1 1\n"; in
  /// arrays "1\n" or "1 1\n".
  std::int64_t shortest_line() const {
    const std::int64_t value = info_.field == Field::complex ? 4 : 2;
    if (info_.array) return value;
    return info_.field == Field::pattern ? 4 : 4 + value;
  }

  DenseFile dense() {
    DenseFile result;
    result.rows = rows_;
    result.cols = cols_;
    if (info_.field == Field::complex) {
      result.values = values<Complex>();
    } else {
      result.values = values<double>();
    }
    result.info = finish();
    return result;
  }

 private:
  void read_banner();
  void parse_banner_words();
  void skip_to_sizes();
  void read_sizes();
  void read_sizes_without_banner();
  void repair_complex_array();
  void check_length();
  [[noreturn]] void fail_at_end(std::int64_t entries_found);
  FileInfo finish();

  Scanner::Words words() const;
  template <class T>
  bool keep_not_finite(const T& value);
  template <Field field, class T>
  T value();
  template <class T, class Sink>
  void for_each_coordinate(Sink sink);
  template <Field field, class T, class Sink>
  void coordinate_loop(Sink sink);
  template <class T, class Sink>
  void for_each_array_value(Sink sink);
  template <Field field, class T, class Sink>
  void array_loop(Sink sink);
  template <class T>
  bool keep_diagonal(T& value, const char* where);
  template <class T>
  bool read_plain(Triplets<T>& a);
  template <class T>
  Triplets<T> triplets();
  template <class T>
  std::vector<T> values();
  template <class T>
  void shift_to_zero_based(Triplets<T>& a);
  template <class T>
  void resolve_upper_triangle(Triplets<T>& a);
  template <class T>
  void look_for_duplicates(Triplets<T>& a);
  Scanner find_entry(Index row, Index col, int time = 1) const;

  Scanner in_;
  const ReadOptions& options_;
  Extent extent_;
  FileInfo info_;
  Repairs repairs_;
  Index rows_ = 0;
  Index cols_ = 0;
  Scanner::Words words_ = Scanner::Words::none;
  bool has_banner_ = true;
  bool graphblas_complex_ = false;         // a comment `%%GraphBLAS type ... complex` was seen
  const char* data_start_ = nullptr;       // the line after the size line
  std::int64_t data_line_ = 0;             // its number
  bool zero_index_seen_ = false;           // repair only
  const char* zero_index_ = nullptr;       // the first index 0
  const char* zero_index_line_ = nullptr;  // start of its line
  std::int64_t zero_index_line_number_ = 0;
};

void Reader::read_banner() {
  const std::string_view text(in_.begin, static_cast<std::size_t>(in_.end - in_.begin));
  if (text.empty()) in_.fail(in_.at, "expected the banner '%%MatrixMarket ...', found no text");
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == byte_order_mark) {
    if (!options_.repair) {
      in_.fail(in_.at, "expected the banner '%%MatrixMarket ...', found a byte order mark");
    }
    repairs_.note(RepairKind::byte_order_mark, 1);
    in_.at += 3;
  }
  const std::string_view first = in_.token();
  if (same_word(first, banner)) {
    in_.at += banner.size();
    parse_banner_words();
    return;
  }
  if (const auto what = foreign_format(text, in_.file)) {
    throw FileError(in_.file + ": " + *what);
  }
  // A line that starts as banners do is a spoilt one, whose words nobody can guess.
  if (!options_.repair || first.substr(0, 2) == "%%") {
    in_.fail(in_.at,
             fmt::format("expected the banner '{} matrix ...', found {}", banner, in_.found()));
  }
  has_banner_ = false;
}

void Reader::parse_banner_words() {
  const auto next = [this](std::string_view what) {
    if (in_.at_line_end()) {
      in_.fail(in_.at, fmt::format("expected the {} in the banner, found {}", what, in_.found()));
    }
    return in_.token();
  };
  const auto unknown = [this](std::string_view what, std::string_view known) {
    in_.fail(in_.at, fmt::format("expected the {}, found {}; known: {}", what, in_.found(), known));
  };
  const auto pass = [this](std::string_view word) { in_.at += word.size(); };

  const std::string_view object = next("object");
  if (!same_word(object, "matrix"))
    unknown("object", "matrix (vectors are matrices of one column)");
  pass(object);

  const std::string_view format = next("format");
  info_.array = same_word(format, "array");
  if (!info_.array && !same_word(format, "coordinate")) unknown("format", "coordinate, array");
  pass(format);

  const std::string_view field = next("field");
  const char* field_start = in_.at;
  constexpr std::array fields{Field::real, Field::integer, Field::pattern, Field::complex};
  const auto known_field = std::find_if(fields.begin(), fields.end(),
                                        [&](Field f) { return same_word(field, to_string(f)); });
  if (known_field == fields.end()) unknown("field", "real, integer, pattern, complex");
  info_.field = *known_field;
  pass(field);

  const std::string_view symmetry = next("symmetry");
  // Spelled here and not with to_string(Symmetry): io needs nothing of spmv but its headers.
  constexpr std::array<std::pair<std::string_view, Symmetry>, 4> symmetries{
      {{"general", Symmetry::general},
       {"symmetric", Symmetry::symmetric},
       {"skew-symmetric", Symmetry::skew_symmetric},
       {"hermitian", Symmetry::hermitian}}};
  const auto known_symmetry =
      std::find_if(symmetries.begin(), symmetries.end(),
                   [&](const auto& entry) { return same_word(symmetry, entry.first); });
  if (known_symmetry == symmetries.end()) {
    unknown("symmetry", "general, symmetric, skew-symmetric, hermitian");
  }
  info_.symmetry = known_symmetry->second;

  if (info_.array && info_.field == Field::pattern) {
    in_.fail(field_start, "an array cannot be a pattern: all its places are stored");
  }
  if (info_.symmetry == Symmetry::hermitian && info_.field != Field::complex) {
    in_.fail(in_.at, fmt::format("a hermitian matrix must be complex, this one is {}",
                                 to_string(info_.field)));
  }
  if (info_.symmetry == Symmetry::skew_symmetric && info_.field == Field::pattern) {
    in_.fail(in_.at, "a pattern cannot be skew-symmetric: it has no signs");
  }
  pass(symmetry);
  in_.end_line("after the symmetry");
}

/// Passes over comments and looks for those that are more than that.
void Reader::skip_to_sizes() {
  for (; in_.at != in_.end; in_.end_line("")) {
    if (in_.at_line_end()) continue;
    if (*in_.at != '%') return;
    const std::string_view rest(in_.at, static_cast<std::size_t>(in_.end - in_.at));
    const std::string_view comment = line_of(rest, 1);
    // A banner further down says what no default may override.
    const std::size_t first_letter = comment.find_first_not_of("% \t");
    if (!has_banner_ && first_letter != std::string_view::npos &&
        same_word(comment.substr(first_letter, 12), "MatrixMarket")) {
      in_.fail(in_.at, "expected the banner on line 1, spelled '%%MatrixMarket', found it here");
    }
    if (contains_word(comment, "%%GraphBLAS type") && contains_word(comment, "complex")) {
      graphblas_complex_ = true;
    }
    in_.at += comment.size();
  }
  in_.fail(in_.at, fmt::format("expected the size line ({}), found the end of the file",
                               info_.array ? "rows columns" : "rows columns entries"));
}

void Reader::read_sizes() {
  skip_to_sizes();
  if (!has_banner_) read_sizes_without_banner();
  constexpr std::int64_t longest = std::numeric_limits<Index>::max();
  rows_ = static_cast<Index>(in_.size(longest, "rows"));
  in_.skip_blanks();
  const char* cols_start = in_.at;
  cols_ = static_cast<Index>(in_.size(longest, "columns"));
  if (info_.symmetry != Symmetry::general && rows_ != cols_) {
    in_.fail(cols_start, fmt::format("a {} matrix must be square, this one is {} x {}",
                                     to_string(info_.symmetry), rows_, cols_));
  }
  // At most 2^62, because both sizes stay below 2^31.
  const std::int64_t places = std::int64_t{rows_} * cols_;
  if (info_.array) {
    const std::int64_t n = rows_;
    info_.stored_entries = info_.symmetry == Symmetry::general          ? places
                           : info_.symmetry == Symmetry::skew_symmetric ? n * (n - 1) / 2
                                                                        : n * (n + 1) / 2;
    in_.end_line("after the two sizes of an array");
  } else {
    in_.skip_blanks();
    const char* entries_start = in_.at;
    info_.stored_entries = in_.size(std::numeric_limits<std::int64_t>::max(), "entries");
    if (places == 0 && info_.stored_entries > 0) {
      in_.fail(entries_start, fmt::format("a {} x {} matrix has no room for {} entries", rows_,
                                          cols_, info_.stored_entries));
    }
    in_.end_line("after the three sizes");
  }
  data_start_ = in_.at;
  data_line_ = in_.line;
  if (extent_ == Extent::header) return;
  if (info_.array && graphblas_complex_ && info_.field == Field::real) {
    repair_complex_array();
  }
  check_length();
}

/// Without a banner the size line tells which kind follows: two numbers head an array, three
/// coordinates.
void Reader::read_sizes_without_banner() {
  const char* start = in_.at;
  int numbers = 0;
  for (; !in_.at_line_end() && numbers < 4; ++numbers) {
    const std::string_view token = in_.token();
    if (token.empty() ||
        !std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      break;
    }
    in_.at += token.size();
  }
  const bool sizes = in_.at_line_end() && (numbers == 2 || numbers == 3);
  in_.at = start;
  if (!sizes) {
    in_.fail(start, "expected a banner or a line of two or three sizes, found " + in_.found());
  }
  info_.array = numbers == 2;
  repairs_.note(RepairKind::banner, in_.line);
}

/// SuiteSparse ships real arrays whose GraphBLAS type comment says complex and whose lines hold two
/// values: an extension of the format that its own tools write, so taken in strict mode too.
void Reader::repair_complex_array() {
  Scanner peek = in_;
  if (!peek.seek_data()) return;
  int numbers = 0;
  for (; !peek.at_line_end(); ++numbers) {
    const std::string_view token = peek.token();
    if (token.empty()) return;
    peek.at += token.size();
  }
  if (numbers != 2) return;
  info_.field = Field::complex;
  repairs_.note(RepairKind::complex_array, peek.line, info_.stored_entries);
}

/// A header may claim any number of entries; nothing is allocated for more than the text can hold.
/// Where the claim is too large for the bytes that follow, the lines are counted; from then on
/// memory is in proportion to the text.
void Reader::check_length() {
  // The last line end may be missing.
  if (info_.stored_entries <= (in_.end - in_.at + 1) / shortest_line()) return;
  Scanner lines = in_;
  std::int64_t found = 0;
  for (; found < info_.stored_entries && lines.seek_data(); ++found) lines.skip_line();
  if (found < info_.stored_entries) {
    in_ = lines;
    fail_at_end(found);
  }
}

void Reader::fail_at_end(std::int64_t entries_found) {
  in_.fail(in_.at, fmt::format("the file ends after {} of {} declared {}", entries_found,
                               info_.stored_entries, info_.array ? "values" : "entries"));
}

/// Looks at what follows the last entry and makes the report.
FileInfo Reader::finish() {
  while (in_.seek_data()) {
    if (!options_.repairs(options_.junk)) {
      in_.fail(in_.at,
               fmt::format("expected the end of the file after {} declared {}, found {}",
                           info_.stored_entries, info_.array ? "values" : "entries", in_.found()));
    }
    repairs_.note(RepairKind::extra_line, in_.line);
    in_.skip_line();
  }
  info_.repairs = repairs_.sentences(info_);
  return info_;
}

template <Field field, class T>
T Reader::value() {
  if constexpr (field == Field::pattern) {
    return T(1);
  } else if constexpr (field == Field::integer) {
    const std::int64_t number = in_.integer();
    if (!is_exact_in_double(number)) ++info_.rounded_integers;
    return static_cast<T>(number);
  } else if constexpr (field == Field::complex) {
    const double re = in_.real(words_);
    return T(re, in_.real(words_));
  } else {
    return T(in_.real(words_));
  }
}

/// The words for what is not finite that the file may hold.
Scanner::Words Reader::words() const {
  if (options_.not_finite == NotFinite::drop || options_.not_finite == NotFinite::keep) {
    return Scanner::Words::nan_and_infinity;
  }
  const bool drops_nan =
      options_.not_finite == NotFinite::by_mode && options_.repair && !info_.array;
  return drops_nan ? Scanner::Words::nan : Scanner::Words::none;
}

/// Notes a value that is not finite; false where it is to be dropped.
template <class T>
bool Reader::keep_not_finite(const T& value) {
  if (options_.not_finite == NotFinite::keep) {
    repairs_.note(RepairKind::not_finite_kept, in_.line);
    return true;
  }
  repairs_.note(is_nan(value) ? RepairKind::nan_entry : RepairKind::infinite_entry, in_.line);
  return false;
}

/// Calls sink(row, col, value) for each entry, 0-based, lines in order. In repair mode an index 0
/// arrives as -1.
template <class T, class Sink>
void Reader::for_each_coordinate(Sink sink) {
  if constexpr (std::is_same_v<T, Complex>) {
    coordinate_loop<Field::complex, T>(sink);
  } else {
    switch (info_.field) {
      case Field::integer:
        return coordinate_loop<Field::integer, T>(sink);
      case Field::pattern:
        return coordinate_loop<Field::pattern, T>(sink);
      default:
        return coordinate_loop<Field::real, T>(sink);
    }
  }
}

template <Field field, class T, class Sink>
void Reader::coordinate_loop(Sink sink) {
  const bool general = info_.symmetry == Symmetry::general;
  const bool may_count_from_zero = options_.index_base == IndexBase::by_mode
                                       ? options_.repair
                                       : options_.index_base != IndexBase::one;
  const bool counts_from_zero = options_.index_base == IndexBase::zero;
  const auto read_index = [&, this](Index size, std::string_view what) {
    in_.skip_blanks();
    const char* start = in_.at;
    const std::uint64_t index =
        in_.index(static_cast<std::uint64_t>(size), may_count_from_zero, what);
    if (counts_from_zero && index >= static_cast<std::uint64_t>(size)) {
      in_.fail(start, fmt::format("{} index {} is outside 0..{}, where a file that counts from 0 "
                                  "has all of them",
                                  what, index, size - 1));
    }
    if (index == 0 && !zero_index_seen_) {
      zero_index_seen_ = true;
      zero_index_ = in_.at - 1;
      zero_index_line_ = in_.line_start;
      zero_index_line_number_ = in_.line;
    }
    return static_cast<Index>(static_cast<std::int64_t>(index) - 1);
  };
  words_ = words();
  bool above_seen = false;
  bool below_seen = false;
  for (std::int64_t k = 0; k < info_.stored_entries; ++k) {
    if (!in_.seek_data()) fail_at_end(k);
    const char* start = in_.at;
    const Index row = read_index(rows_, "row");
    const Index col = read_index(cols_, "column");
    in_.skip_blanks();
    const char* value_start = in_.at;
    T a = value<field, T>();
    bool keep = true;
    if (!is_finite(a)) keep = keep_not_finite(a);
    if (!keep) {
    } else if (!general && row == col) {
      keep = keep_diagonal(a, value_start);
    } else if (!general) {
      // The format asks for the lower triangle. A file that holds the upper one and nothing else
      // has one meaning as well; one that mixes them does not say which twin counts.
      bool& other_side = row < col ? below_seen : above_seen;
      if (!options_.repairs(options_.wrong_triangle) && other_side) {
        in_.fail(start, fmt::format("entry ({}, {}) lies {} the diagonal; a file with a symmetry "
                                    "stores one triangle only",
                                    row + 1, col + 1, row < col ? "above" : "below"));
      }
      (row < col ? above_seen : below_seen) = true;
      // Not yet known whether it has a twin; `resolve_upper_triangle` counts.
      if (row < col) repairs_.note(RepairKind::above, in_.line);
    }
    if constexpr (field == Field::pattern) {
      if (options_.repairs(options_.junk) && !in_.at_line_end()) {
        repairs_.note(RepairKind::pattern_value, in_.line);
        in_.real(Scanner::Words::nan_and_infinity);
      }
    }
    in_.end_line("after the entry");
    if (keep) sink(row, col, a);
  }
}

/// A hermitian diagonal is real, a skew-symmetric one is not stored. False where the entry is to
/// be left out.
template <class T>
bool Reader::keep_diagonal(T& value, const char* where) {
  if (info_.symmetry == Symmetry::hermitian && imaginary_part(value) != 0) {
    if (!options_.repairs(options_.wrong_triangle)) {
      in_.fail(where, fmt::format("the diagonal of a hermitian matrix is real, found the imaginary "
                                  "part {}",
                                  imaginary_part(value)));
    }
    repairs_.note(RepairKind::hermitian_diagonal, in_.line);
    value = std::real(value);
  }
  if (info_.symmetry == Symmetry::skew_symmetric) {
    if (!options_.repairs(options_.wrong_triangle) || value != T(0)) {
      in_.fail(where, "a skew-symmetric matrix has no diagonal entries, found one");
    }
    repairs_.note(RepairKind::skew_diagonal, in_.line);
    return false;
  }
  return true;
}

template <class T, class Sink>
void Reader::for_each_array_value(Sink sink) {
  if constexpr (std::is_same_v<T, Complex>) {
    array_loop<Field::complex, T>(sink);
  } else if (info_.field == Field::integer) {
    array_loop<Field::integer, T>(sink);
  } else {
    array_loop<Field::real, T>(sink);
  }
}

/// Calls sink(row, col, value) for each stored place, column by column; the lower triangle (the
/// strictly lower one of a skew-symmetric matrix) where there is a symmetry.
template <Field field, class T, class Sink>
void Reader::array_loop(Sink sink) {
  words_ = words();
  std::int64_t found = 0;
  // Without rows there is nothing to read, but there may be 2^31 columns to pass over.
  for (Index col = 0; rows_ > 0 && col < cols_; ++col) {
    const Index first = info_.symmetry == Symmetry::general          ? 0
                        : info_.symmetry == Symmetry::skew_symmetric ? col + 1
                                                                     : col;
    for (Index row = first; row < rows_; ++row, ++found) {
      if (!in_.seek_data()) fail_at_end(found);
      const char* start = in_.at;
      T a = value<field, T>();
      if (!is_finite(a) && !keep_not_finite(a)) a = T(0);
      if (row == col && info_.symmetry == Symmetry::hermitian) keep_diagonal(a, start);
      in_.end_line(field == Field::complex ? "after the real and the imaginary part"
                                           : "after the value (an array has one on a line)");
      sink(row, col, a);
    }
  }
}

/// All lines at once where there is nothing to say about any of them.
template <class T>
bool Reader::read_plain(Triplets<T>& a) {
  const std::string_view lines(in_.at, static_cast<std::size_t>(in_.end - in_.at));
  const auto blocks = blocks_of_memory(lines);
  auto plain =
      read_plain_entries<T>(*blocks, rules(), info_.stored_entries,
                            threads_for(static_cast<std::int64_t>(lines.size()), options_));
  if (!plain) return false;
  a.row_idx = std::move(plain->row_idx);
  a.col_idx = std::move(plain->col_idx);
  a.values = std::move(plain->values);
  info_.rounded_integers = plain->rounded_integers;
  in_.at = in_.end;
  return true;
}

template <class T>
Triplets<T> Reader::triplets() {
  Triplets<T> a;
  a.rows = rows_;
  a.cols = cols_;
  a.symmetry = info_.symmetry;
  if (info_.array) {
    for_each_array_value<T>([&a](Index row, Index col, T value) {
      if (value != T(0)) a.add(row, col, value);
    });
    return a;
  }
  // Indices that count from 1 look the same.
  if (options_.index_base != IndexBase::zero && read_plain(a)) return a;
  const auto entries = static_cast<std::size_t>(info_.stored_entries);
  a.row_idx.resize(entries);
  a.col_idx.resize(entries);
  a.values.resize(entries);
  std::size_t kept = 0;
  for_each_coordinate<T>([&](Index row, Index col, T value) {
    a.row_idx[kept] = row;
    a.col_idx[kept] = col;
    a.values[kept] = value;
    ++kept;
  });
  a.row_idx.resize(kept);
  a.col_idx.resize(kept);
  a.values.resize(kept);
  if (zero_index_seen_ || options_.index_base == IndexBase::zero) shift_to_zero_based(a);
  if (repairs_.count(RepairKind::above) > 0) resolve_upper_triangle(a);
  return a;
}

/// Repair: an index 0 means that the file counts from 0, unless another index is as large as the
/// matrix, which only files that count from 1 can hold.
template <class T>
void Reader::shift_to_zero_based(Triplets<T>& a) {
  const auto last = [](const Array<Index>& indices) {
    return indices.empty() ? Index{-1} : *std::max_element(indices.begin(), indices.end());
  };
  // What was read as one-based n is n - 1 here.
  const bool row_full = last(a.row_idx) == rows_ - 1;
  if (zero_index_seen_ && (row_full || last(a.col_idx) == cols_ - 1)) {
    in_.line = zero_index_line_number_;
    in_.line_start = zero_index_line_;
    in_.fail(zero_index_, fmt::format("index 0 in a file that does not count from 0: another {} "
                                      "index is {}",
                                      row_full ? "row" : "column", row_full ? rows_ : cols_));
  }
  for (Index& row : a.row_idx) ++row;
  for (Index& col : a.col_idx) ++col;
  if (a.values.empty()) return;
  repairs_.note(RepairKind::zero_based, zero_index_seen_ ? zero_index_line_number_ : data_line_,
                info_.stored_entries);
}

/// Entries above the diagonal of a symmetric (skew-symmetric, hermitian) file. Where no entry has a
/// twin, the upper ones move to the mirrored place; the rest is for repair mode. Where all have
/// one, the file stores both triangles: the upper one goes if the twins agree; if some differ, the
/// symmetry was declared wrongly, and the matrix is general as it stands. Anything between is no
/// one's meaning.
template <class T>
void Reader::resolve_upper_triangle(Triplets<T>& a) {
  struct Place {
    std::uint64_t key;  // of the place below the diagonal: row, column
    std::size_t entry;
  };
  std::vector<Place> below;
  std::vector<Place> above;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto row = static_cast<std::uint64_t>(a.row_idx[k]);
    const auto col = static_cast<std::uint64_t>(a.col_idx[k]);
    if (row > col) below.push_back({row << 32 | col, k});
    if (row < col) above.push_back({col << 32 | row, k});
  }
  const auto by_place = [](const Place& x, const Place& y) {
    return x.key != y.key ? x.key < y.key : x.entry < y.entry;
  };
  std::sort(below.begin(), below.end(), by_place);
  std::sort(above.begin(), above.end(), by_place);

  // Merges both lists; entries of one place are summed first, because duplicates are legal.
  const auto sum_from = [&a](const std::vector<Place>& places, std::size_t& k, std::uint64_t key) {
    T sum = 0;
    for (; k < places.size() && places[k].key == key; ++k) sum += a.values[places[k].entry];
    return sum;
  };
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t first_alone = none;
  bool alone_is_below = false;
  std::int64_t twins = 0;
  std::int64_t unequal = 0;
  std::uint64_t first_unequal = none;
  for (std::size_t i = 0, j = 0; i < below.size() || j < above.size();) {
    const std::uint64_t below_key = i < below.size() ? below[i].key : none;
    const std::uint64_t above_key = j < above.size() ? above[j].key : none;
    const std::uint64_t key = std::min(below_key, above_key);
    const T lower = sum_from(below, i, key);
    const T upper = mirrored(sum_from(above, j, key), a.symmetry);
    if (below_key == above_key) {
      ++twins;
      if (lower != upper && unequal++ == 0) first_unequal = key;
    } else if (lower != upper && first_alone == none) {  // a stored zero needs no twin
      first_alone = key;
      alone_is_below = below_key == key;
    }
  }
  const auto stored_above = static_cast<std::int64_t>(above.size());
  const std::int64_t first_line = repairs_.line(RepairKind::above);
  if (twins == 0) {
    for (const Place& place : above) {
      std::swap(a.row_idx[place.entry], a.col_idx[place.entry]);
      a.values[place.entry] = mirrored(a.values[place.entry], a.symmetry);
    }
    repairs_.note(RepairKind::lone_above, first_line, stored_above);
    return;
  }
  if (first_alone != none) {
    auto row = static_cast<Index>(first_alone >> 32);
    auto col = static_cast<Index>(first_alone & 0xffffffff);
    if (!alone_is_below) std::swap(row, col);
    const Scanner line = find_entry(row, col);
    line.fail(line.at,
              fmt::format("the file has entries on both sides of the diagonal, but ({}, {}) "
                          "has no twin at ({}, {})",
                          row + 1, col + 1, col + 1, row + 1));
  }
  if (unequal > 0) {
    a.symmetry = info_.symmetry = Symmetry::general;
    repairs_.note(RepairKind::unequal_twins,
                  find_entry(static_cast<Index>(first_unequal >> 32),
                             static_cast<Index>(first_unequal & 0xffffffff))
                      .line,
                  unequal);
    return;
  }
  std::size_t kept = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (a.row_idx[k] < a.col_idx[k]) continue;
    a.row_idx[kept] = a.row_idx[k];
    a.col_idx[kept] = a.col_idx[k];
    a.values[kept] = a.values[k];
    ++kept;
  }
  a.row_idx.resize(kept);
  a.col_idx.resize(kept);
  a.values.resize(kept);
  repairs_.note(RepairKind::twin_above, first_line, stored_above);
}

template <class T>
void Reader::look_for_duplicates(Triplets<T>& a) {
  if (options_.duplicates == Duplicates::keep || info_.array) return;
  const DuplicatesFound found = treat_duplicates(a, options_.duplicates);
  if (found.count == 0) return;
  const Scanner again = find_entry(found.row, found.col, 2);
  if (options_.duplicates == Duplicates::reject) {
    again.fail(again.at, fmt::format("entry ({}, {}) is there already, on line {}", found.row + 1,
                                     found.col + 1, find_entry(found.row, found.col).line));
  }
  repairs_.note(options_.duplicates == Duplicates::sum ? RepairKind::duplicate_summed
                                                       : RepairKind::duplicate_dropped,
                again.line, found.count);
}

/// The line that holds the entry (0-based) for the first or another time; searched for in the text,
/// because lines are not remembered. Slow, and only for reports.
Scanner Reader::find_entry(Index row, Index col, int time) const {
  Scanner lines = in_;
  lines.at = lines.line_start = data_start_;
  lines.line = data_line_;
  const bool from_zero = zero_index_seen_ || options_.index_base == IndexBase::zero;
  const bool mirrored_too = repairs_.count(RepairKind::lone_above) > 0;
  while (lines.seek_data()) {
    const char* start = lines.at;
    const std::int64_t i = lines.integer() - (from_zero ? 0 : 1);
    const std::int64_t j = lines.integer() - (from_zero ? 0 : 1);
    lines.at = start;
    if (((i == row && j == col) || (mirrored_too && i == col && j == row)) && --time == 0) break;
    lines.skip_line();
  }
  return lines;
}

template <class T>
std::vector<T> Reader::values() {
  const std::int64_t places = std::int64_t{rows_} * cols_;
  if (!info_.array && places > options_.max_dense_values) {
    throw FileError(
        fmt::format("{}: {} x {} values make no dense vectors: more than {}, the limit set by "
                    "ReadOptions::max_dense_values",
                    in_.file, rows_, cols_, options_.max_dense_values));
  }
  std::vector<T> dense(static_cast<std::size_t>(places));
  const auto place = [this](Index row, Index col) {
    return static_cast<std::size_t>(std::int64_t{col} * rows_ + row);
  };
  if (info_.array) {
    for_each_array_value<T>([&](Index row, Index col, T value) {
      dense[place(row, col)] = value;
      if (info_.symmetry != Symmetry::general && row != col) {
        dense[place(col, row)] = mirrored(value, info_.symmetry);
      }
    });
    return dense;
  }
  const Triplets<T> a = triplets<T>();
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const Index row = a.row_idx[k];
    const Index col = a.col_idx[k];
    dense[place(row, col)] += a.values[k];
    if (a.symmetry != Symmetry::general && row != col) {
      dense[place(col, row)] += mirrored(a.values[k], a.symmetry);
    }
  }
  return dense;
}

/// Runs `read(reader)`; memory that is not there is a property of the file too.
template <class Result, class Read>
Result read_text_with(std::string_view text, const std::string& name, const ReadOptions& options,
                      Read read) {
  try {
    Reader reader(text, name, options);
    return read(reader);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw FileError(name + ": not enough memory to hold its entries");
}

MatrixFile matrix_from(std::string_view text, const std::string& name, const ReadOptions& options) {
  return read_text_with<MatrixFile>(text, name, options, [](Reader& r) { return r.matrix(); });
}

DenseFile dense_from(std::string_view text, const std::string& name, const ReadOptions& options) {
  return read_text_with<DenseFile>(text, name, options, [](Reader& r) { return r.dense(); });
}

/// Behind the line of sizes, where the text begins with a banner and all of that line is there; 0
/// where not.
std::size_t header_bytes(std::string_view text) {
  if (!is_matrix_market(text)) return 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return 0;
    const std::size_t first = text.find_first_not_of(" \t\r", begin);
    begin = end + 1;
    if (first < end && text[first] != '%') return begin;
  }
  return 0;
}

/// The first lines, up to the sizes; empty where that takes more than a look.
std::string_view header_of(Stream& stream) {
  constexpr std::size_t longest = std::size_t{16} << 20;
  std::size_t bytes = header_bytes(stream.head());
  while (bytes == 0 && stream.head().size() < longest && stream.extend_head()) {
    bytes = header_bytes(stream.head());
  }
  return stream.head().substr(0, bytes);
}

/// Reads a text whose lines are all plain, without keeping it. None where it is not such a text: it
/// must then be read as a whole.
std::optional<MatrixFile> stream_matrix(Stream& stream, const ReadOptions& options) {
  const auto header = plain_header(stream, options);
  if (!header) return std::nullopt;
  MatrixFile result;
  const auto read = [&]<class T>(Triplets<T> a) {
    // Entries of a text of unknown length: no compression takes less than two bytes for one that
    // is worth reading, and room that nobody touches is no memory.
    const std::int64_t room = std::max(std::int64_t{1} << 20, stream.file_bytes() / 2);
    const int threads = threads_for(stream.file_bytes(), options);
    const auto blocks = stream.blocks(header->bytes, threads);
    const EntryRules& rules = header->rules;
    auto plain = read_plain_entries<T>(*blocks, rules,
                                       stream.text_bytes_known() ? rules.entries : room, threads);
    if (!plain || !stream.is_as_promised()) return false;
    a.rows = rules.rows;
    a.cols = rules.cols;
    a.symmetry = rules.symmetry;
    a.row_idx = std::move(plain->row_idx);
    a.col_idx = std::move(plain->col_idx);
    a.values = std::move(plain->values);
    // The report of any needs the lines.
    if (options.duplicates != Duplicates::keep &&
        treat_duplicates(a, Duplicates::reject).count > 0) {
      return false;
    }
    result.info = header->info;
    result.info.rounded_integers = plain->rounded_integers;
    result.matrix = std::move(a);
    return true;
  };
  const bool done =
      header->info.field == Field::complex ? read(Triplets<Complex>{}) : read(Triplets<double>{});
  if (!done) return std::nullopt;
  result.info.bytes = stream.file_bytes();
  result.info.text_bytes = stream.text_bytes();
  return result;
}

}  // namespace

int threads_for(std::int64_t bytes, const ReadOptions& options) {
  constexpr std::int64_t bytes_a_thread = std::int64_t{1} << 20;
  return static_cast<int>(
      std::min<std::int64_t>(bytes / bytes_a_thread + 1, reading_threads(options.threads)));
}

std::optional<PlainHeader> plain_header(Stream& stream, const ReadOptions& options) {
  const bool known = stream.text_bytes_known();
  if (known && stream.text_bytes() > options.max_text_bytes) return std::nullopt;
  const std::string text(header_of(stream));
  if (text.empty()) return std::nullopt;
  const Reader reader(text, stream.name(), options, Reader::Extent::header);
  const std::int64_t entries = reader.info().stored_entries;
  const std::int64_t left = stream.text_bytes() - static_cast<std::int64_t>(text.size());
  if (reader.info().array || options.index_base == IndexBase::zero ||
      (known && entries > (left + 1) / reader.shortest_line())) {
    return std::nullopt;
  }
  return PlainHeader{reader.info(), reader.rules(), text.size()};
}

bool is_matrix_market(std::string_view head) {
  constexpr std::string_view behind_words = " \t\r\n";
  return same_word(head.substr(0, banner.size()), banner) &&
         (head.size() == banner.size() ||
          behind_words.find(head[banner.size()]) != std::string_view::npos);
}

MatrixFile read_matrix_market(std::unique_ptr<Stream> stream, const ReadOptions& options) {
  if (stream->is_repeatable()) {
    try {
      if (auto streamed = stream_matrix(*stream, options)) return *std::move(streamed);
    } catch (const std::bad_alloc&) {
      throw FileError(stream->name() + ": not enough memory to hold its entries");
    }
    stream = stream->again();
  }
  const FileText text = stream->whole();
  MatrixFile result = matrix_from(text.view(), stream->name(), options);
  result.info.bytes = text.bytes_on_disk();
  return result;
}

DenseFile read_dense_matrix_market(Stream& stream, const ReadOptions& options) {
  const FileText text = stream.whole();
  DenseFile result = dense_from(text.view(), stream.name(), options);
  result.info.bytes = text.bytes_on_disk();
  return result;
}

MatrixFile parse_matrix(std::string_view text, const std::string& name,
                        const ReadOptions& options) {
  return matrix_from(text, name, options);
}

DenseFile parse_dense(std::string_view text, const std::string& name, const ReadOptions& options) {
  return dense_from(text, name, options);
}

}  // namespace krysol
