// Harwell-Boeing and Rutherford-Boeing files: every type and format is the matrix that was meant,
// and every departure has its place. test_boeing_pairs.cpp has the files of the collection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <krysol/io/harwell_boeing/harwell_boeing.hpp>

#include "boeing.hpp"
#include "reading.hpp"

namespace {

using krysol::Field;
using krysol::Index;
using krysol::MatrixFile;
using krysol::Symmetry;
using krysol_tests::Boeing;
using krysol_tests::error_of;
using krysol_tests::expanded;
using krysol_tests::Fields;
using Complex = std::complex<double>;

MatrixFile parsed(const std::string& text, bool repair = false) {
  krysol::ReadOptions options;
  options.repair = repair;
  return krysol::parse_harwell_boeing(text, "f", options);
}

std::string printed(const char* format, double v) {
  std::string text(64, '\0');
  const int n = std::snprintf(text.data(), text.size(), format, v);
  text.resize(static_cast<std::size_t>(n));
  return text;
}

/// Each holds numbers of three decimals below 128 in full.
std::vector<Fields> spellings() {
  const auto e = [](const char* format) {
    return [format](double v) { return printed(format, v); };
  };
  const auto with = [](std::string text, const std::string& old, const std::string& word) {
    const std::size_t at = text.find(old);
    return at == std::string::npos ? text : text.replace(at, old.size(), word);
  };
  return {
      {"(1P,4E20.12)", 4, 20, e("%.12E")},
      {"(5E16.8)", 5, 16, e("%.8E")},
      {"(4D20.13)", 4, 20, [=](double v) { return with(printed("%.13E", v), "E", "D"); }},
      {"( 3( d24.15 ) )", 3, 24, [=](double v) { return with(printed("%.15e", v), "e", "d"); }},
      {"(1P4E16.9)", 4, 16, [=](double v) { return with(printed("%.8E", v), "E", ""); }},
      {"(2E26.16E3)", 2, 26, [=](double v) { return with(printed("%.16E", v), "E+", "E+0"); }},
      {"(10F8.3)", 10, 8, e("%.3f")},
      {"(7G11.3)", 7, 11, e("%+.3f")},
      {"(8F10.3)", 8, 10, [](double v) { return printed("%.0f", v * 1000); }},
      {"(2P,6F12.1)", 6, 12, [](double v) { return printed("%.1f", v * 100); }},
      {"(1F20.0)", 1, 20, [](double v) { return " " + printed("%.3f", v) + " "; }},
  };
}

/// A random matrix as it is stored in a file of a type, and dense.
struct Made {
  Boeing file;
  std::vector<Complex> dense;
};

Made make(const std::string& type, bool upper, unsigned seed) {
  std::mt19937 random(seed);
  const bool symmetric = type[1] == 'S' || type[1] == 'H' || type[1] == 'Z';
  const std::size_t rows = 1 + random() % 6;
  const std::size_t cols = symmetric ? rows : 1 + random() % 6;
  Made made;
  made.file.type = type;
  made.file.rows = static_cast<std::int64_t>(rows);
  made.file.cols = static_cast<std::int64_t>(cols);
  made.dense.resize(rows * cols);
  const auto number = [&] {
    const int k = static_cast<int>(random() % 512) - 256;
    return type[0] == 'P' ? 1.0 : type[0] == 'I' ? k : k / 8.0;
  };
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      if (random() % 3 == 0 || (symmetric && (upper ? i > j : i < j))) continue;
      if (type[1] == 'Z' && i == j) continue;
      Complex v(number(), type[0] == 'C' && !(type[1] == 'H' && i == j) ? number() : 0.0);
      made.dense[i * cols + j] = v;
      if (symmetric && i != j) {
        const bool conjugate = type[1] == 'H' && type[0] == 'C';
        made.dense[j * cols + i] = type[1] == 'Z' ? -v : conjugate ? std::conj(v) : v;
      }
      made.file.indices.push_back(static_cast<std::int64_t>(i) + 1);
      if (type[0] != 'P') made.file.values.push_back(v.real());
      if (type[0] == 'C') made.file.values.push_back(v.imag());
    }
    made.file.pointers.push_back(static_cast<std::int64_t>(made.file.indices.size()) + 1);
  }
  return made;
}

Symmetry symmetry_of(const std::string& type) {
  if (type[1] == 'S') return Symmetry::symmetric;
  if (type[1] == 'Z') return Symmetry::skew_symmetric;
  if (type[1] == 'H') return type[0] == 'C' ? Symmetry::hermitian : Symmetry::symmetric;
  return Symmetry::general;
}

std::string with_line_ends(const std::string& text, const std::string& end) {
  std::string other;
  for (const char c : text) other += c == '\n' ? end : std::string(1, c);
  return other;
}

TEST(HarwellBoeing, AnyTypeInAnyFormatIsTheMatrixThatWasMeant) {
  const std::vector<Fields> integers{{"(16I5)", 16, 5},
                                     {"(10I8)", 10, 8},
                                     {"(26I3)", 26, 3},
                                     {"( 2 0 I 4 )", 20, 4},
                                     {"(i6)", 1, 6}};
  unsigned seed = 1;
  for (const char field : std::string("RCPI")) {
    for (const char symmetry : std::string("SUHZR")) {
      for (const Fields& values : spellings()) {
        const std::string type{field, symmetry, 'A'};
        const bool upper = seed % 2 == 0;
        Made made = make(type, upper, ++seed);
        made.file.value_fields = field == 'I' ? Fields{"(4I12)", 4, 12, {}} : values;
        made.file.pointer_fields = integers[seed % 5];
        made.file.index_fields = integers[seed / 5 % 5];
        if (field == 'I') {
          made.file.value_fields.spell = [](double v) { return printed("%.0f", v); };
        }
        std::string text = with_line_ends(made.file.text(), seed % 3 == 0 ? "\r\n" : "\n");
        if (seed % 4 == 0) text.erase(text.find_last_not_of("\r\n") + 1);
        SCOPED_TRACE(text);
        ASSERT_TRUE(krysol::is_harwell_boeing(text));
        const MatrixFile file = parsed(text);
        EXPECT_EQ(expanded(file), made.dense);
        EXPECT_EQ(file.info.stored_entries, static_cast<std::int64_t>(made.file.indices.size()));
        EXPECT_EQ(file.info.title, "A small matrix");
        std::visit(
            [&](const auto& a) {
              EXPECT_EQ(a.symmetry, symmetry_of(type));
              EXPECT_EQ(a.rows, made.file.rows);
              EXPECT_EQ(a.cols, made.file.cols);
            },
            file.matrix);
      }
    }
  }
}

TEST(HarwellBoeing, TypesMayBeInLowerCase) {
  Made made = make("RSA", false, 3);
  std::string text = made.file.text();
  text.replace(text.find("RSA"), 3, "rsa");
  EXPECT_TRUE(krysol::is_harwell_boeing(text));
  EXPECT_EQ(expanded(parsed(text)), made.dense);
}

TEST(HarwellBoeing, AMatrixWithoutLinesOfValuesIsAPattern) {
  Boeing boeing;
  boeing.rows = boeing.cols = 2;
  boeing.pointers = {1, 2, 3};
  boeing.indices = {2, 1};
  const MatrixFile file = parsed(boeing.text());  // RUA
  EXPECT_EQ(file.info.field, Field::pattern);
  EXPECT_EQ(expanded(file), (std::vector<Complex>{0, 1, 1, 0}));
  boeing.type = "CHA";  // and of a pattern no Hermitian can be told
  boeing.indices = {2, 2};
  const MatrixFile hermitian = parsed(boeing.text());
  EXPECT_EQ(std::get<krysol::Triplets<double>>(hermitian.matrix).symmetry, Symmetry::symmetric);
  EXPECT_EQ(expanded(hermitian), (std::vector<Complex>{0, 1, 1, 1}));
}

/// 1 x 1, with one entry.
Made one_entry(const std::string& type) {
  Made made = make(type, false, 3);
  made.file.rows = made.file.cols = 1;
  made.file.pointers = {1, 2};
  made.file.indices = {1};
  made.file.values = {1};
  return made;
}

TEST(HarwellBoeing, ValuesTooSmallForDoubleAreCounted) {
  Made made = one_entry("RUA");
  for (const auto& [text, count] : {std::pair{" 1.0D-400", 1}, std::pair{" 0.0D-400", 0}}) {
    made.file.value_fields = {"(4D20.4)", 4, 20, [text = text](double) { return text; }};
    const MatrixFile file = parsed(made.file.text());
    EXPECT_EQ(file.info.repairs.size(), static_cast<std::size_t>(count));
    if (count == 0) continue;
    EXPECT_EQ(file.info.repairs[0],
              "1 value below the smallest double, 4.9e-324, taken as 0, first on line 7");
  }
  made.file.pointers = {1, 4};
  made.file.rows = 3;
  made.file.indices = {1, 2, 3};
  made.file.values = {1, 0, 0};
  made.file.value_fields = {"(D20.4)", 1, 20, [](double v) { return v > 0 ? "1.0" : "1.0D-400"; }};
  EXPECT_EQ(parsed(made.file.text()).info.repairs,
            std::vector<std::string>{
                "2 values below the smallest double, 4.9e-324, taken as 0, first on line 8"});
}

TEST(HarwellBoeing, IntegersBeyondDoubleAreCounted) {
  Made made = one_entry("IUA");
  made.file.value_fields = {"(4I20)", 4, 20, [](double) { return "9007199254740993"; }};
  const MatrixFile file = parsed(made.file.text());
  EXPECT_EQ(file.info.rounded_integers, 1);
  EXPECT_EQ(expanded(file), (std::vector<Complex>{9007199254740992}));
}

TEST(HarwellBoeing, AnUpperTriangleIsMirroredAndNoted) {
  Boeing boeing;
  boeing.type = "CHA";
  boeing.rows = boeing.cols = 2;
  boeing.pointers = {1, 2, 4};
  boeing.indices = {1, 1, 2};
  boeing.values = {1, 0, 2, 3, 4, 0};
  const MatrixFile file = parsed(boeing.text());
  EXPECT_EQ(expanded(file), (std::vector<Complex>{1, {2, 3}, {2, -3}, 4}));
  EXPECT_EQ(file.info.repairs,
            std::vector<std::string>{
                "1 entry above the diagonal mirrored to the triangle below, first on line 6"});
}

// ---- elements

TEST(HarwellBoeing, ElementsAreSummed) {
  // Each column by column.
  const MatrixFile file =
      parsed(krysol_tests::two_elements("RUE", {1, 2, 3, 4, 10, 20, 30, 40}).text());
  EXPECT_EQ(expanded(file), (std::vector<Complex>{1, 3, 0, 2, 4 + 40, 20, 0, 30, 10}));
  EXPECT_EQ(file.info.stored_entries, 8);
}

TEST(HarwellBoeing, IntegersOfElementsBeyondDoubleAreCounted) {
  Boeing boeing = krysol_tests::two_elements("ISE", {1, 2, 3, 4, 5, 6});
  for (int exact = 0; exact <= 6; ++exact) {
    boeing.value_fields = {"(4I20)", 4, 20, [exact](double v) -> std::string {
                             return v > exact ? "9007199254740993" : printed("%.0f", v);
                           }};
    const MatrixFile file = parsed(boeing.text());
    EXPECT_EQ(file.info.field, Field::integer);
    EXPECT_EQ(file.info.stored_entries, 6);
    EXPECT_EQ(file.info.rounded_integers, 6 - exact);
  }
}

TEST(HarwellBoeing, ElementsOfAllTypesAreSummedWithTheirSymmetry) {
  for (const std::string type : {"RSE", "CSE", "CHE", "RZE", "CZE", "ISE", "PSE", "CUE"}) {
    std::mt19937 random(9);
    Boeing boeing;
    boeing.type = type;
    boeing.rows = 4;
    boeing.cols = 3;
    boeing.value_fields = type[0] == 'I'
                              ? Fields{"(4I12)", 4, 12, [](double v) { return printed("%.0f", v); }}
                              : boeing.value_fields;
    std::vector<Complex> dense(16);
    for (const std::vector<int>& element :
         {std::vector<int>{0, 1, 2}, std::vector<int>{3, 1}, std::vector<int>{2}}) {
      for (const int v : element) boeing.indices.push_back(v + 1);
      boeing.pointers.push_back(static_cast<std::int64_t>(boeing.indices.size()) + 1);
      const auto n = element.size();
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t first = type[1] == 'U' ? 0 : type[1] == 'Z' ? c + 1 : c;
        for (std::size_t r = first; r < n; ++r) {
          const bool real = type[0] != 'C' || (type[1] == 'H' && r == c);
          const Complex v(type[0] == 'P' ? 1 : static_cast<int>(random() % 9),
                          real ? 0 : static_cast<int>(random() % 9));
          if (type[0] != 'P') boeing.values.push_back(v.real());
          if (type[0] == 'C') boeing.values.push_back(v.imag());
          ++boeing.element_values;
          const auto i = static_cast<std::size_t>(element[r]);
          const auto j = static_cast<std::size_t>(element[c]);
          dense[4 * i + j] += v;
          if (type[1] == 'U' || i == j) continue;
          dense[4 * j + i] += type[1] == 'Z' ? -v : type[1] == 'H' ? std::conj(v) : v;
        }
      }
    }
    SCOPED_TRACE(boeing.text());
    EXPECT_EQ(expanded(parsed(boeing.text())), dense);
  }
}

// ---- right-hand sides

Boeing with_vectors() {
  Boeing boeing;
  boeing.rows = boeing.cols = 2;
  boeing.pointers = {1, 2, 3};
  boeing.indices = {1, 2};
  boeing.values = {1, 2};
  boeing.vectors = 2;
  return boeing;
}

std::vector<double> numbers(const krysol::DenseFile& file) {
  return std::get<std::vector<double>>(file.values);
}

TEST(HarwellBoeing, RightHandSidesGuessesAndSolutionsComeAlong) {
  Boeing boeing = with_vectors();
  boeing.vector_type = "FGX";
  boeing.vector_values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  boeing.vector_lists = 3;
  const auto all = parsed(boeing.text()).attached;
  EXPECT_EQ(all.rhs.rows, 2);
  EXPECT_EQ(all.rhs.cols, 2);
  EXPECT_EQ(numbers(all.rhs), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(all.guess), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(numbers(all.solution), (std::vector<double>{9, 10, 11, 12}));

  boeing.vector_type = "F X";
  boeing.vector_values = {1, 2, 3, 4, 5, 6, 7, 8};
  boeing.vector_lists = 2;
  const auto two = parsed(boeing.text()).attached;
  EXPECT_EQ(two.guess.cols, 0);
  EXPECT_EQ(numbers(two.solution), (std::vector<double>{5, 6, 7, 8}));
}

TEST(HarwellBoeing, SaysWhatIsInTheFile) {
  for (const auto& [type, symmetry] :
       {std::pair{"RUA", Symmetry::general}, std::pair{"RSA", Symmetry::symmetric}}) {
    Boeing boeing = with_vectors();
    boeing.type = type;
    boeing.vector_type = "F";
    boeing.vector_values = {1, 2, 3, 4};
    const std::string text = boeing.text();
    SCOPED_TRACE(text);
    const MatrixFile file = parsed(text);
    EXPECT_EQ(file.info.format, "Harwell-Boeing");
    EXPECT_EQ(file.info.member, "");
    EXPECT_EQ(file.info.title, "A small matrix");
    EXPECT_EQ(file.info.field, Field::real);
    EXPECT_EQ(file.info.symmetry, symmetry);
    EXPECT_FALSE(file.info.array) << "its entries are sparse";
    EXPECT_EQ(file.info.stored_entries, 2);
    EXPECT_EQ(file.info.rounded_integers, 0);
    EXPECT_EQ(file.info.bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(file.info.text_bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_TRUE(file.info.repairs.empty());
    EXPECT_EQ(file.info.cache, "");
    const auto& rhs = file.attached.rhs.info;
    EXPECT_TRUE(rhs.array);
    EXPECT_EQ(rhs.format, "Harwell-Boeing");
    EXPECT_EQ(rhs.field, Field::real);
    EXPECT_EQ(rhs.symmetry, Symmetry::general);
  }
}

TEST(HarwellBoeing, SparseRightHandSidesAreFilledWithZeros) {
  Boeing boeing = with_vectors();
  boeing.vector_type = "M";
  boeing.vector_pointers = {1, 1, 4};
  boeing.vector_indices = {2, 1, 2};
  boeing.vector_values = {5, 6, 7};
  const auto rhs = parsed(boeing.text()).attached.rhs;
  EXPECT_EQ(numbers(rhs), (std::vector<double>{0, 0, 6, 12}));
}

TEST(HarwellBoeing, VectorsOfComplexMatricesAreComplex) {
  Boeing boeing = with_vectors();
  boeing.type = "CUA";
  boeing.values = {1, 2, 3, 4};
  boeing.vectors = 1;
  boeing.vector_type = "F";
  boeing.vector_values = {1, 2, 3, 4};
  const auto rhs = parsed(boeing.text()).attached.rhs;
  EXPECT_EQ(std::get<std::vector<Complex>>(rhs.values), (std::vector<Complex>{{1, 2}, {3, 4}}));
}

}  // namespace
