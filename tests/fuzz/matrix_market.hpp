// Matrix Market texts: strict and repair, plain entries in blocks of any size and by two threads
// against line by line, a file against its text, dense against sparse, and there and back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <charconv>

#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/bytes/text_blocks.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/matrix_market/plain_entries.hpp>
#include <krysol/io/read.hpp>

#include "checks.hpp"

namespace krysol_fuzz {

struct PlainText {
  krysol::EntryRules rules;
  std::string_view lines;  // after the sizes
};

/// What a coordinate file declares, in the simplest spelling; none of other texts.
inline std::optional<PlainText> plain_text_of(std::string_view text) {
  const std::size_t banner_end = text.find('\n');
  if (banner_end == std::string_view::npos || !krysol::is_matrix_market(text)) return std::nullopt;
  std::size_t begin = banner_end + 1;
  while (begin < text.size() && text[begin] == '%') {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  const std::size_t end = text.find('\n', begin);
  if (end == std::string_view::npos) return std::nullopt;
  std::array<std::int64_t, 3> sizes{};
  const char* p = text.data() + begin;
  const char* const last = text.data() + end;
  for (std::int64_t& size : sizes) {
    const auto [rest, error] = std::from_chars(p, last, size);
    const bool blank = rest != last && *rest == ' ';
    if (error != std::errc() || size < 0 || (rest != last && !blank)) return std::nullopt;
    p = blank ? rest + 1 : rest;
  }
  if (p != last) return std::nullopt;
  // The banner's words and the sizes are judged by the reader itself.
  const std::string header = std::string(text.substr(0, begin)) + std::to_string(sizes[0]) + ' ' +
                             std::to_string(sizes[1]) + " 0\n";
  const auto read = outcome_of([&] { return krysol::parse_matrix(header, "header"); });
  if (!read.result || read.result->info.array) return std::nullopt;
  PlainText plain;
  plain.lines = text.substr(end + 1);
  plain.rules = {static_cast<krysol::Index>(sizes[0]), static_cast<krysol::Index>(sizes[1]),
                 read.result->info.field, read.result->info.symmetry, sizes[2]};
  return plain;
}

template <class T>
krysol::Triplets<T> triplets_of(krysol::PlainEntries<T> entries, const krysol::EntryRules& rules) {
  krysol::Triplets<T> a;
  a.rows = rules.rows;
  a.cols = rules.cols;
  a.symmetry = rules.symmetry;
  a.row_idx = std::move(entries.row_idx);
  a.col_idx = std::move(entries.col_idx);
  a.values = std::move(entries.values);
  return a;
}

template <class T>
void check_plain(const PlainText& plain, const std::string& text, std::uint32_t pick) {
  const auto read = [&](std::size_t block_bytes, int threads) {
    const auto blocks = krysol::blocks_of_memory(plain.lines, block_bytes);
    return krysol::read_plain_entries<T>(*blocks, plain.rules, 1, threads);
  };
  constexpr std::array<std::size_t, 4> sizes{1, 16, 61, 256};
  auto small = read(sizes[pick % sizes.size()], 1 + static_cast<int>(pick / 4 % 2));
  auto large = read(krysol::usual_block_bytes, 1);
  require(small.has_value() == large.has_value(), "blocks of any size are plain, or none is");
  if (!small) return;
  require(small->rounded_integers == large->rounded_integers, "rounded integers are counted");
  const auto a = triplets_of(*std::move(small), plain.rules);
  require(same(a, triplets_of(*std::move(large), plain.rules)), "blocks of any size hold the same");
  // A line that is none after the last entry: the lines are read one by one.
  const auto slow = krysol::parse_matrix(text + "\nx\n", "lines", small_options(true));
  require(!slow.info.repairs.empty(), "the line after the last entry is noted");
  require(same(a, std::get<krysol::Triplets<T>>(slow.matrix)), "line by line the same is read");
}

template <class T>
std::vector<T> dense_of(const krysol::Triplets<T>& a) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<T> dense(rows * static_cast<std::size_t>(a.cols));
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row_idx[k]);
    const auto j = static_cast<std::size_t>(a.col_idx[k]);
    const T v = a.values[k];
    dense[j * rows + i] += v;
    if (a.symmetry == krysol::Symmetry::general || i == j) continue;
    T mirrored = a.symmetry == krysol::Symmetry::skew_symmetric ? -v : v;
    if constexpr (std::is_same_v<T, Complex>) {
      if (a.symmetry == krysol::Symmetry::hermitian) mirrored = std::conj(v);
    }
    dense[i * rows + j] += mirrored;
  }
  return dense;
}

/// Sums of duplicates may overflow, and then be no number.
inline bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
inline bool equal(Complex a, Complex b) {
  return equal(a.real(), b.real()) && equal(a.imag(), b.imag());
}

inline void check_dense(const std::string& text, const Outcome<krysol::MatrixFile>& sparse) {
  const auto read =
      outcome_of([&] { return krysol::parse_dense(text, "text", small_options(false)); });
  if (!read.result) return;
  require_sound(*read.result);
  require(sparse.result.has_value(), "what reads as vectors reads as a matrix");
  std::visit(
      [&]<class T>(const krysol::Triplets<T>& a) {
        const auto expected = dense_of(a);
        const auto& found = std::get<std::vector<T>>(read.result->values);
        require(found.size() == expected.size(), "a vector has its sizes");
        for (std::size_t k = 0; k < found.size(); ++k) {
          require(equal(found[k], expected[k]), "vectors are the matrix, written out");
        }
      },
      sparse.result->matrix);
}

inline void fuzz_matrix_market(std::string_view bytes) {
  const std::string text(bytes);  // a NUL after the last byte
  const std::uint32_t pick = whim(bytes);
  const auto path = Scratch::put("text", text);
  const auto parse = [&](bool repair) {
    return outcome_of(
        [&] { return krysol::parse_matrix(text, path.string(), small_options(repair)); });
  };
  const auto strict = parse(false);
  const auto repaired = parse(true);
  require_of_modes(strict, repaired);
  if (const auto plain = plain_text_of(text)) {
    if (plain->rules.field == krysol::Field::complex) {
      check_plain<Complex>(*plain, text, pick);
    } else {
      check_plain<double>(*plain, text, pick);
    }
  }
  check_dense(text, strict);
  if (krysol::is_matrix_market(text) && !krysol::is_harwell_boeing(text) && !krysol::is_tar(text)) {
    const bool repair = pick / 8 % 2 != 0;
    const auto file = outcome_of([&] { return krysol::read_matrix(path, small_options(repair)); });
    require(same(file, repair ? repaired : strict), "a file reads as its text does");
  }
}

}  // namespace krysol_fuzz
