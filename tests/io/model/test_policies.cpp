// What readers do about each kind of departure from a format, asked for one by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/model/duplicates.hpp>
#include "reading.hpp"

namespace {

using krysol::Duplicates;
using krysol::IndexBase;
using krysol::NotFinite;
using krysol::Policy;
using krysol::ReadOptions;
using krysol::Triplets;
using Strings = std::vector<std::string>;

struct Entry {
  int row;
  int col;
  double value;
  bool operator==(const Entry& o) const {
    return row == o.row && col == o.col &&
           (value == o.value || (std::isnan(value) && std::isnan(o.value)));
  }
};
void PrintTo(const Entry& e, std::ostream* out) {
  *out << "(" << e.row << ", " << e.col << ") " << e.value;
}

/// One-based, as files have them, and what was repaired.
struct Outcome {
  std::vector<Entry> entries;
  Strings repairs;
  std::string message;
};

Outcome read(const std::string& text, const ReadOptions& options) {
  Outcome outcome;
  try {
    const krysol::MatrixFile file = krysol::parse_matrix(text, "a", options);
    const auto& a = std::get<Triplets<double>>(file.matrix);
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      outcome.entries.push_back({a.row_idx[k] + 1, a.col_idx[k] + 1, a.values[k]});
    }
    outcome.repairs = file.info.repairs;
  } catch (const krysol::FileError& e) {
    outcome.message = e.what();
  }
  return outcome;
}

std::string matrix(const std::string& kind, const std::string& lines) {
  return "%%MatrixMarket matrix coordinate " + kind + "\n" + lines;
}

TEST(Policies, IndicesCountFromWhatIsSaid) {
  ReadOptions options;
  const std::string from_zero = matrix("real general", "2 2 2\n0 1 5\n1 0 6\n");
  const std::string either = matrix("real general", "3 3 2\n1 1 5\n2 1 6\n");
  options.index_base = IndexBase::one;
  options.repair = true;
  EXPECT_EQ(read(from_zero, options).message,
            "a:3:1: row index 0 is outside 1..2; does the file count from 0? Repair mode reads "
            "such files");
  options.repair = false;
  options.index_base = IndexBase::as_seen;
  EXPECT_EQ(read(from_zero, options).entries, (std::vector<Entry>{{1, 2, 5}, {2, 1, 6}}));
  EXPECT_EQ(read(either, options).entries, (std::vector<Entry>{{1, 1, 5}, {2, 1, 6}}));
  options.index_base = IndexBase::zero;
  const Outcome shifted = read(either, options);
  EXPECT_EQ(shifted.entries, (std::vector<Entry>{{2, 2, 5}, {3, 2, 6}}));
  EXPECT_EQ(shifted.repairs,
            Strings{"2 entries counted from 0: all indices raised by one, first on line 3"});
  EXPECT_EQ(read(matrix("real general", "2 3 2\n0 2 5\n1 3 6\n"), options).message,
            "a:4:3: column index 3 is outside 0..2, where a file that counts from 0 has all of "
            "them");
  EXPECT_EQ(read(matrix("real general", "2 2 0\n"), options).repairs, Strings{});
}

TEST(Policies, TheWrongTriangleIsMendedWhereThatIsWanted) {
  const std::string both = matrix("real symmetric", "2 2 3\n1 1 1\n2 1 5\n1 2 5\n");
  ReadOptions options;
  options.repair = true;
  options.wrong_triangle = Policy::refuse;
  EXPECT_EQ(read(both, options).message,
            "a:5:1: entry (1, 2) lies above the diagonal; a file with a symmetry stores one "
            "triangle only");
  options.repair = false;
  options.wrong_triangle = Policy::repair;
  EXPECT_EQ(read(both, options).entries, (std::vector<Entry>{{1, 1, 1}, {2, 1, 5}}));
  EXPECT_EQ(
      read(both, options).repairs,
      Strings{"1 entry above the diagonal dropped, equal to the twin below, first on line 5"});
}

TEST(Policies, JunkIsIgnoredWhereThatIsWanted) {
  const std::string junk = matrix("real general", "2 2 1\n1 1 1\nsigned: the author\n");
  ReadOptions options;
  options.repair = true;
  options.junk = Policy::refuse;
  EXPECT_EQ(read(junk, options).message,
            "a:4:1: expected the end of the file after 1 declared entries, found 'signed:'");
  options.repair = false;
  options.junk = Policy::repair;
  EXPECT_EQ(read(junk, options).repairs,
            Strings{"1 line after the last declared entry ignored, first on line 4"});
  EXPECT_EQ(read(matrix("pattern general", "2 2 1\n1 2 7.5\n"), options).entries,
            (std::vector<Entry>{{1, 2, 1}}));
}

TEST(Policies, NanAndInfinityAreRefusedDroppedOrKept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string text =
      matrix("real general", "2 2 4\n1 1 nan\n2 1 -Inf\n1 2 3\n2 2 +infinity\n");
  ReadOptions options;
  EXPECT_EQ(read(text, options).message, "a:3:5: expected a finite value, found 'nan'");
  options.repair = true;
  EXPECT_EQ(read(text, options).message, "a:4:5: expected a finite value, found '-Inf'");
  options.not_finite = NotFinite::refuse;
  EXPECT_EQ(read(text, options).message, "a:3:5: expected a finite value, found 'nan'");
  options.repair = false;
  options.not_finite = NotFinite::drop;
  const Outcome dropped = read(text, options);
  EXPECT_EQ(dropped.entries, (std::vector<Entry>{{1, 2, 3}}));
  EXPECT_EQ(dropped.repairs, (Strings{"1 NaN entry dropped, first on line 3",
                                      "2 infinite entries dropped, first on line 4"}));
  options.not_finite = NotFinite::keep;
  const Outcome kept = read(text, options);
  EXPECT_EQ(kept.entries,
            (std::vector<Entry>{{1, 1, nan}, {2, 1, -infinity}, {1, 2, 3}, {2, 2, infinity}}));
  EXPECT_EQ(kept.repairs, Strings{"3 NaN or infinite entries kept, first on line 3"});
  // A number too large for double is no word for infinity.
  EXPECT_EQ(read(matrix("real general", "1 1 1\n1 1 1e999\n"), options).message,
            "a:3:5: value '1e999' is beyond the largest double, 1.8e308");
}

/// One sign may stand before the words, and brackets behind NaN, as C prints them.
TEST(Policies, NanAndInfinityAreKnownInEverySpelling) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto value = [](const std::string& word) {
    return matrix("real general", "1 1 1\n1 1 " + word + "\n");
  };
  ReadOptions keep;
  keep.not_finite = NotFinite::keep;
  const std::vector<std::pair<std::string, double>> words = {
      {"nan", nan},        {"-nan", nan},          {"+NaN", nan},           {"NAN(0x8)", nan},
      {"-nan(ind)", nan},  {"+nan(snan)", nan},    {"inf", infinity},       {"+Inf", infinity},
      {"-INF", -infinity}, {"infinity", infinity}, {"-Infinity", -infinity}};
  for (const auto& [word, expected] : words) {
    EXPECT_EQ(read(value(word), keep).entries, (std::vector<Entry>{{1, 1, expected}})) << word;
    EXPECT_EQ(read(value(word), {}).message,
              "a:3:5: expected a finite value, found '" + word + "'");
  }
  for (const std::string word : {"-", "+", "-n", "na", "-an", "+-nan", "--nan", "nano", "nan(",
                                 "-nan)", "in", "--inf", "infinite"}) {
    EXPECT_EQ(read(value(word), keep).message, "a:3:5: expected a value, found '" + word + "'");
  }
}

TEST(Policies, ArraysKeepTheirShapeWithoutNan) {
  ReadOptions options;
  options.not_finite = NotFinite::drop;
  const std::string text = "%%MatrixMarket matrix array real general\n3 1\n1\nnan\ninf\n";
  const krysol::DenseFile file = krysol::parse_dense(text, "b", options);
  EXPECT_EQ(std::get<std::vector<double>>(file.values), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(file.info.repairs.size(), 2U);
}

/// As many values as are allowed are read; an array, whose values the file holds, has no limit.
TEST(Policies, DenseVectorsHaveAsManyValuesAsAreAllowed) {
  const std::string text = matrix("real general", "4 3 2\n2 3 5\n1 1 7\n");
  ReadOptions options;
  options.max_dense_values = 12;
  const krysol::DenseFile file = krysol::parse_dense(text, "b", options);
  EXPECT_EQ(file.rows, 4);
  EXPECT_EQ(file.cols, 3);
  EXPECT_EQ(std::get<std::vector<double>>(file.values),
            (std::vector<double>{7, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0}));
  options.max_dense_values = 11;
  EXPECT_EQ(krysol_tests::error_of([&] { krysol::parse_dense(text, "b", options); }),
            "b: 4 x 3 values make no dense vectors: more than 11, the limit set by "
            "ReadOptions::max_dense_values");
  options.max_dense_values = 1;
  const std::string array = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
  EXPECT_EQ(std::get<std::vector<double>>(krysol::parse_dense(array, "b", options).values),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(Policies, DuplicatesAreKeptSummedDroppedOrRefused) {
  const std::string text =
      matrix("real general", "3 3 6\n2 1 1\n% a comment\n1 1 2\n2 1 4\n3 3 8\n2 1 16\n1 1 32\n");
  ReadOptions options;
  EXPECT_EQ(read(text, options).entries.size(), 6U);
  options.duplicates = Duplicates::sum;
  const Outcome summed = read(text, options);
  EXPECT_EQ(summed.entries, (std::vector<Entry>{{2, 1, 21}, {1, 1, 34}, {3, 3, 8}}));
  EXPECT_EQ(summed.repairs,
            Strings{"3 entries of a place named before added to the first, first on line 6"});
  options.duplicates = Duplicates::first;
  const Outcome first = read(text, options);
  EXPECT_EQ(first.entries, (std::vector<Entry>{{2, 1, 1}, {1, 1, 2}, {3, 3, 8}}));
  EXPECT_EQ(first.repairs, Strings{"3 entries of a place named before dropped, first on line 6"});
  options.duplicates = Duplicates::reject;
  EXPECT_EQ(read(text, options).message, "a:6:1: entry (2, 1) is there already, on line 3");
  EXPECT_EQ(read(matrix("real general", "2 2 2\n1 2 1\n2 1 1\n"), options).message, "");
  // One place of a symmetric matrix: the upper triangle is stored, and mirrored.
  EXPECT_EQ(read(matrix("real symmetric", "2 2 2\n1 2 1\n1 2 1\n"), options).message.substr(0, 6),
            "a:4:1:");
}

/// The one place that is named twice, wherever its mirror image is named: all such lists of four
/// entries of a 2 x 2 matrix.
TEST(Policies, DuplicatesAreFoundOnTheirOwnLines) {
  int seen = 0;
  for (int code = 0; code < 256; ++code) {
    std::vector<int> first_line(4, 0);
    std::string lines = "2 2 4\n";
    std::string place_again;
    int again = 0;
    int before = 0;
    int repeated = 0;
    for (int k = 0; k < 4; ++k) {
      const int place = code / (1 << (2 * k)) % 4;
      const std::string row = std::to_string(place / 2 + 1);
      const std::string col = std::to_string(place % 2 + 1);
      lines += row + " " + col + " 1\n";
      int& first = first_line[static_cast<std::size_t>(place)];
      if (first == 0) {
        first = k + 3;
        continue;
      }
      ++repeated;
      again = k + 3;
      before = first;
      place_again = "(" + row + ", " + col + ")";
    }
    if (repeated != 1) continue;
    ++seen;
    const std::string line = std::to_string(again);
    const std::string text = matrix("real general", lines);
    ReadOptions options;
    options.duplicates = Duplicates::reject;
    EXPECT_EQ(read(text, options).message, "a:" + line + ":1: entry " + place_again +
                                               " is there already, on line " +
                                               std::to_string(before))
        << lines;
    options.duplicates = Duplicates::sum;
    EXPECT_EQ(read(text, options).repairs,
              Strings{"1 entry of a place named before added to the first, first on line " + line})
        << lines;
  }
  EXPECT_EQ(seen, 144);
}

/// The line of the twin below the diagonal, wherever that above stands.
TEST(Policies, UnequalTwinsAreFoundOnTheLineOfTheLowerOne) {
  ReadOptions options;
  options.repair = true;
  const std::string sentence =
      "1 pair of unequal entries in a file that declares a symmetry and stores both triangles: "
      "read "
      "as general, first on line ";
  EXPECT_EQ(read(matrix("real symmetric", "2 2 3\n1 1 1\n1 2 5\n2 1 6\n"), options).repairs,
            Strings{sentence + "5"});
  EXPECT_EQ(read(matrix("real symmetric", "2 2 3\n1 1 1\n2 1 6\n1 2 5\n"), options).repairs,
            Strings{sentence + "4"});
}

TEST(Policies, DuplicatesAreFoundInAnyOrderOfManyRows) {
  Triplets<double> a;
  a.rows = a.cols = 50;
  std::vector<double> dense(2500);
  std::uint32_t state = 12345;
  std::int64_t repeated = 0;
  for (int k = 0; k < 4000; ++k) {
    state = state * 1664525U + 1013904223U;
    const auto place = static_cast<std::size_t>(state >> 8U) % 2500;
    if (dense[place] != 0) ++repeated;
    dense[place] += k + 1;
    a.add(static_cast<krysol::Index>(place / 50), static_cast<krysol::Index>(place % 50), k + 1);
  }
  EXPECT_EQ(krysol::treat_duplicates(a, Duplicates::reject).count, repeated);
  EXPECT_EQ(a.values.size(), 4000U);
  EXPECT_EQ(krysol::treat_duplicates(a, Duplicates::sum).count, repeated);
  ASSERT_EQ(a.values.size(), 4000U - static_cast<std::size_t>(repeated));
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    EXPECT_EQ(a.values[k], dense[static_cast<std::size_t>(a.row_idx[k] * 50 + a.col_idx[k])]);
  }
}

}  // namespace
