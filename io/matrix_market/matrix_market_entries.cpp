// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entries of a Matrix Market text in memory: coordinates and arrays, line by line.
#include <krysol/io/matrix_market/matrix_market.hpp>

#include <algorithm>
#include <complex>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/text_blocks.hpp>
#include <krysol/io/matrix_market/matrix_market_header.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/model/duplicates.hpp>
#include <krysol/io/model/repairs.hpp>
#include <krysol/io/model/triangles.hpp>
#include <krysol/io/text/scanner.hpp>
#include <krysol/spmv/base/finite.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

double imaginary_part(double) { return 0; }
double imaginary_part(Complex value) { return value.imag(); }

/// Reads the entries of one text.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name, const ReadOptions& options)
      : in_(text, name),
        options_(options),
        header_(read_matrix_market_header(in_, options, repairs_, HeaderOf::whole_text)) {}

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
  FileInfo finish();

  Scanner::Words words() const;
  template <class T>
  bool keep_not_finite(const T& value);
  template <Field field, class T>
  T value();
  double real();
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
  Repairs repairs_;
  MatrixMarketHeader header_;
  FileInfo& info_ = header_.info;
  const Index rows_ = header_.rows;
  const Index cols_ = header_.cols;
  Scanner::Words words_ = Scanner::Words::none;
  bool zero_index_seen_ = false;           // repair only
  const char* zero_index_ = nullptr;       // the first index 0
  const char* zero_index_line_ = nullptr;  // start of its line
  std::int64_t zero_index_line_number_ = 0;
};

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
    const double re = real();
    return T(re, real());
  } else {
    return T(real());
  }
}

double Reader::real() {
  const double value = in_.real(words_);
  if (std::exchange(in_.underflowed, false)) repairs_.note(RepairKind::underflow, in_.line);
  return value;
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
    if (!in_.seek_data()) fail_at_end(in_, info_, k);
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
      if (!in_.seek_data()) fail_at_end(in_, info_, found);
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
      read_plain_entries<T>(*blocks, header_.rules(), info_.stored_entries,
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
  repairs_.note(RepairKind::zero_based,
                zero_index_seen_ ? zero_index_line_number_ : header_.data_line,
                info_.stored_entries);
}

/// Entries above the diagonal of a symmetric (skew-symmetric, hermitian) file. Where no entry has a
/// twin, the upper ones move to the mirrored position; the rest is for repair mode. Where all have
/// one, the file stores both triangles: the upper one goes if the twins agree; if some differ, the
/// symmetry was declared wrongly, and the matrix is general as it stands. Where only some have one,
/// it cannot be known what the file means: an error.
template <class T>
void Reader::resolve_upper_triangle(Triplets<T>& a) {
  const TrianglesFound found = compare_triangles(a);
  const std::int64_t first_line = repairs_.line(RepairKind::above);
  if (found.twins == 0) {
    mirror_upper_triangle(a);
    repairs_.note(RepairKind::lone_above, first_line, found.above);
    return;
  }
  if (found.has_alone) {
    const Scanner line = find_entry(found.alone.row, found.alone.col);
    line.fail(line.at, fmt::format("the file has entries on both sides of the diagonal, but "
                                   "({0}, {1}) has no twin at ({1}, {0})",
                                   found.alone.row + 1, found.alone.col + 1));
  }
  if (found.unequal > 0) {
    a.symmetry = info_.symmetry = Symmetry::general;
    repairs_.note(RepairKind::unequal_twins,
                  find_entry(found.first_unequal.row, found.first_unequal.col).line, found.unequal);
    return;
  }
  drop_upper_triangle(a);
  repairs_.note(RepairKind::twin_above, first_line, found.above);
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
  lines.at = lines.line_start = header_.data_start;
  lines.line = header_.data_line;
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

}  // namespace

MatrixFile parse_matrix(std::string_view text, const std::string& name,
                        const ReadOptions& options) {
  return read_text_with<MatrixFile>(text, name, options, [](Reader& r) { return r.matrix(); });
}

DenseFile parse_dense(std::string_view text, const std::string& name, const ReadOptions& options) {
  return read_text_with<DenseFile>(text, name, options, [](Reader& r) { return r.dense(); });
}

}  // namespace krysol
