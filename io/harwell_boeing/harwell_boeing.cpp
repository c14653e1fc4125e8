// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/harwell_boeing/cards.hpp>
#include <krysol/io/harwell_boeing/fortran_format.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing_header.hpp>
#include <krysol/io/model/duplicates.hpp>
#include <krysol/io/model/repairs.hpp>

namespace krysol {
namespace {

using Complex = std::complex<double>;

class HarwellBoeingReader {
 public:
  HarwellBoeingReader(std::string_view text, const std::string& name, const ReadOptions& options)
      : text_(text), cards_(text, name), name_(name), options_(options) {
    info_.bytes = info_.text_bytes = static_cast<std::int64_t>(text.size());
  }

  MatrixFile read() {
    h_ = read_harwell_boeing_header(cards_);
    info_.format = "Harwell-Boeing";
    info_.title = h_.title;
    info_.field = h_.field;
    info_.symmetry = h_.symmetry;
    info_.stored_entries = h_.indices;
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

  /// Where each of the `count` lists begins in the indices, from 0.
  std::vector<std::int64_t> pointers(Index lists, std::int64_t indices, const std::string& what) {
    CardFields fields(cards_, h_.pointer_format, "a pointer to " + what);
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
    CardFields fields(cards_, h_.index_format, "a " + what);
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
    CardFields fields(cards_, format, "a value");
    Array<T> all(static_cast<std::size_t>(count));
    for (T& v : all) fields.value(v);
    info_.rounded_integers += fields.rounded_integers();
    fields.note_underflows(repairs_);
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
    CardFields fields(cards_, h_.value_format, "a value of an element");
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
    fields.note_underflows(repairs_);
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
  HarwellBoeingHeader h_;
  FileInfo info_;
  Repairs repairs_;
  std::int64_t index_line_ = 0;  // the first of the matrix's row indices, or of variables
  std::int64_t value_line_ = 0;  // the first of its values
};

}  // namespace

MatrixFile parse_harwell_boeing(std::string_view text, const std::string& name,
                                const ReadOptions& options) {
  return HarwellBoeingReader(text, name, options).read();
}

}  // namespace krysol
