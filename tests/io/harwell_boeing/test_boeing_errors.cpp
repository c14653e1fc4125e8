// What is said of Harwell-Boeing files that are not as their header says, and where.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include <krysol/io/harwell_boeing/harwell_boeing.hpp>

#include "boeing.hpp"
#include "reading.hpp"

namespace {

using krysol_tests::Boeing;
using krysol_tests::error_of;
using krysol_tests::expanded;
using Complex = std::complex<double>;

/// 3 x 3; its lines: title, counts, sizes, formats, pointers, indices, values.
Boeing small() {
  Boeing boeing;
  boeing.rows = boeing.cols = 3;
  boeing.pointers = {1, 3, 4, 6};
  boeing.indices = {1, 2, 2, 1, 3};
  boeing.values = {1.5, -2, 3, .25, 4};
  return boeing;
}

std::string error_in(const std::string& text, bool repair = false) {
  krysol::ReadOptions options;
  options.repair = repair;
  return error_of([&] { krysol::parse_harwell_boeing(text, "f", options); });
}

/// Line `number`, from 1, replaced.
std::string with_line(std::string text, int number, const std::string& line) {
  std::size_t begin = 0;
  for (int k = 1; k < number; ++k) begin = text.find('\n', begin) + 1;
  const std::size_t end = text.find('\n', begin);
  return text.replace(begin, end - begin, line);
}

std::string with_size(const std::string& text, int line, std::size_t field,
                      const std::string& number) {
  std::size_t begin = 0;
  for (int k = 1; k < line; ++k) begin = text.find('\n', begin) + 1;
  std::string other = text;
  return other.replace(begin + 14 * field, 14, krysol_tests::Fields::right(number, 14));
}

struct Case {
  std::string text;
  std::string message;
};

void expect(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(error_in(c.text), "f:" + c.message) << c.text;
  }
}

TEST(BoeingErrors, HeadersAreReadInTheirColumns) {
  const std::string good = small().text();
  ASSERT_EQ(error_in(good), "nothing was thrown");
  expect({
      {"", "1:1: expected a title, found the end of the file"},
      {"title\n", "2:1: expected the numbers of lines, found the end of the file"},
      {with_size(good, 2, 3, "x"),
       "2:56: expected the number of lines of values in columns 43 to 56, found 'x'"},
      {with_size(good, 2, 3, "-1"),
       "2:55: expected the number of lines of values in columns 43 to 56, found '-1'"},
      {with_size(good, 2, 4, "1.5"),
       "2:68: expected the number of lines of vectors in columns 57 to 70, found '1.5'"},
      {with_line(good, 3, "XUA"),
       "3:1: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found "
       "'XUA'"},
      {with_line(good, 3, "RXA"),
       "3:2: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found "
       "'RXA'"},
      {with_line(good, 3, "RUX"),
       "3:3: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found "
       "'RUX'"},
      {with_line(good, 3, "RUXY"),
       "3:3: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found "
       "'RUX'"},
      {with_line(good, 3, "RU"),
       "3:3: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found 'RU'"},
      {with_line(good, 3, "QUA                        3             3"),
       "3:1: expected a type of three letters (R, C, P or I; S, U, H, Z or R; A or E), found "
       "'QUA'"},
      {with_size(good, 3, 1, ""),
       "3:15: expected the number of rows in columns 15 to 28, found blanks"},
      {with_size(good, 3, 1, "-3"),
       "3:27: expected the number of rows in columns 15 to 28, found '-3'"},
      {with_size(good, 3, 1, "2147483648"),
       "3:19: 2147483648 rows: at most 2147483647 can be held"},
      {with_size(good, 3, 2, "3x"),
       "3:41: expected the number of columns in columns 29 to 42, found '3x'"},
      {with_size(good, 3, 3, "99999999999999"),
       "3:43: 99999999999999 entries were declared, but 141 bytes follow"},
      {with_line(with_size(good, 3, 1, "4"), 3,
                 "RSA                        4             3             5             0"),
       "3:29: a symmetric matrix must be square, this one is 4 x 3"},
      {good.substr(0, good.find("(16I5)")), "3:42: 3 columns were declared, but 0 bytes follow"},
  });
}

TEST(BoeingErrors, FormatsAreWholeOrRealAsTheirNumbers) {
  const std::string good = small().text();
  const std::string i = "(16I5)          ";
  expect({
      {with_line(good, 4, i),
       "4:17: expected a Fortran format of indices, found blanks: a format begins with '('"},
      {with_line(good, 4, i + i + "(10I8)"),
       "4:33: expected a format of real numbers for values, found '(10I8)'"},
      {with_line(good, 4, "(10F8.3)        " + i + "(10F8.3)"),
       "4:1: expected a format of whole numbers for pointers, found '(10F8.3)'"},
      {with_line(good, 4, i + "(16 I5          (10F8.3)"),
       "4:17: expected a Fortran format of indices, found '(16 I5': one descriptor and ')' were "
       "expected"},
      {with_line(good, 4, i + i + "(10A8)"),
       "4:33: expected a Fortran format of values, found '(10A8)': known are I, and E, D, F and G"},
      {with_line(good, 4, i + i + "(4E20.12,2I3)"),
       "4:33: expected a Fortran format of values, found '(4E20.12,2I3)': one descriptor and ')' "
       "were expected"},
  });
}

TEST(BoeingErrors, PointersAscendFromOneToTheEnd) {
  const std::string good = small().text();
  expect({
      {with_line(good, 5, "    2    3    4    6"),
       "5:5: pointer 1 of 4 is 2; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    0    3    4    6"),
       "5:5: pointer 1 of 4 is 0; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    4    3    6"),
       "5:15: pointer 3 of 4 is 3; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    3    7    6"),
       "5:15: pointer 3 of 4 is 7; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    3    4    5"),
       "5:20: pointer 4 of 4 is 5; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    3    4    7"),
       "5:20: pointer 4 of 4 is 7; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    3   -4    6"),
       "5:14: pointer 3 of 4 is -4; pointers ascend from 1 to 6, one more than the entries"},
      {with_line(good, 5, "    1    3    4"),
       "5:16: expected a pointer to entries in columns 16 to 20 as (16I5) says, found blanks"},
      {with_line(good, 5, " 1 3 4 6"),
       "5:2: expected a pointer to entries in columns 1 to 5 as (16I5) says, found '1 3'"},
      {with_line(good, 5, "    1    3    x    6"),
       "5:15: expected a pointer to entries in columns 11 to 15 as (16I5) says, found 'x'"},
      {with_line(good, 5, "    1    3  4 4    6"),
       "5:13: expected a pointer to entries in columns 11 to 15 as (16I5) says, found '4 4'"},
      {with_line(good, 5, "                    "),
       "5:1: expected a pointer to entries in columns 1 to 5 as (16I5) says, found blanks"},
  });
}

TEST(BoeingErrors, IndicesLieInsideTheMatrix) {
  const std::string good = small().text();
  expect({
      {with_line(good, 6, "    1    2    4    1    3"), "6:15: row index 4 is outside 1..3"},
      {with_line(good, 6, "    1    2    2    0    3"), "6:20: row index 0 is outside 1..3"},
      {with_line(good, 6, "    1    2    2   -1    3"), "6:19: row index -1 is outside 1..3"},
      {with_line(good, 6, "    1    2    2  1.0    3"),
       "6:18: expected a row index in columns 16 to 20 as (16I5) says, found '1.0'"},
      {with_line(good, 6, "    1    2    2    1"),
       "6:21: expected a row index in columns 21 to 25 as (16I5) says, found blanks"},
      {with_line(good, 6, "    1    2    2    1\n    3"),
       "6:21: expected a row index in columns 21 to 25 as (16I5) says, found blanks"},
      {good.substr(0, good.find("    1    2    2")),
       "6:1: expected a row index, found the end of the file"},
  });
}

TEST(BoeingErrors, ValuesAreNumbersInTheirColumns) {
  const std::string good = small().text();
  expect({
      {with_line(good, 7, "   1.500  -2.000   3.000     NaN   4.000"),
       "7:30: expected a value in columns 25 to 32 as (10F8.3) says, found 'NaN'"},
      {with_line(good, 7, "   1.500  -2.000   3.000     Inf   4.000"),
       "7:30: expected a value in columns 25 to 32 as (10F8.3) says, found 'Inf'"},
      {with_line(good, 7, "   1.500  -2.000   3.000   1E999   4.000"),
       "7:28: expected a value in columns 25 to 32 as (10F8.3) says, found '1E999'"},
      {with_line(good, 7, " 1.500 -2.000 3.000 0.250 4.000"),
       "7:2: expected a value in columns 1 to 8 as (10F8.3) says, found '1.500 -'"},
      {with_line(good, 7, "   1.500  -2.000   3.000   0.2"),
       "7:33: expected a value in columns 33 to 40 as (10F8.3) says, found blanks"},
      {with_line(good, 7, "   1.500  -2.000   3.000   "),
       "7:25: expected a value in columns 25 to 32 as (10F8.3) says, found blanks"},
      {with_line(good, 7,
                 std::string("   1.500  -2.0\0"
                             "0   3.000   0.250   4.000",
                             40)),
       "7:11: expected a value in columns 9 to 16 as (10F8.3) says, found '-2.0\\x000'"},
      {with_line(good, 7, ""), "6:1: 5 values were declared, but 1 bytes follow"},
      {good.substr(0, good.find("   1.500")), "6:1: 5 values were declared, but 0 bytes follow"},
      {with_line(good, 4, "(16I5)          (16I5)          (4F8.3)"),
       "8:1: expected a value, found the end of the file"},
  });
}

TEST(BoeingErrors, NothingFollowsTheLastNumber) {
  const std::string good = small().text();
  EXPECT_EQ(error_in(good + "  \r\n\n"), "nothing was thrown");
  expect({
      {good + "\n \nmore", "10:1: expected the end of the file, found 'more'"},
      {good + std::string(1, '\0'), "8:1: expected the end of the file, found '\\x00'"},
  });
  krysol::ReadOptions repair;
  repair.repair = true;
  const auto file = krysol::parse_harwell_boeing(good + "\nmore\nand more\n", "f", repair);
  EXPECT_EQ(
      file.info.repairs,
      std::vector<std::string>{"2 lines after the last declared entry ignored, first on line 9"});
}

Boeing with_sparse_vector() {
  Boeing sparse = small();
  sparse.vector_type = "M";
  sparse.vectors = 1;
  sparse.vector_pointers = {1, 2};
  sparse.vector_indices = {1};
  sparse.vector_values = {1};
  return sparse;
}

/// Bytes that are there bound what is allocated.
TEST(BoeingErrors, CountsBeyondTheFileFailAtOnce) {
  const std::string good = small().text();
  const std::string vectors = with_sparse_vector().text();
  Boeing full = small();
  full.vector_type = "F";
  full.vectors = 1;
  full.vector_values = {1, 2, 3};
  Boeing element;
  element.type = "PUE";
  element.rows = 2000000000;
  element.cols = 1;
  for (int k = 1; k <= 40000; ++k) element.indices.push_back(k);
  element.pointers = {1, 40001};
  element.index_fields = {"(10I8)", 10, 8, {}};
  element.pointer_fields = {"(10I8)", 10, 8, {}};
  expect({
      {with_size(good, 3, 2, "2147483647"),
       "3:33: 2147483647 columns were declared, but 141 bytes follow"},
      {with_size(good, 3, 3, "1152921504606"),
       "3:44: 1152921504606 entries were declared, but 141 bytes follow"},
      {with_size(with_size(good, 3, 1, "2147483647"), 3, 3, "11529215046068"),
       "3:43: 11529215046068 entries were declared, but 141 bytes follow"},
      {with_size(vectors, 5, 1, "2147483647"),
       "5:19: 2147483647 vectors were declared, but 114 bytes follow"},
      {with_size(vectors, 5, 2, "11529215046068"),
       "5:29: 11529215046068 entries of vectors were declared, but 114 bytes follow"},
      {with_size(with_size(full.text(), 5, 1, "100"), 3, 1, "2147483647"),
       "8:1: 214748364700 values were declared, but 25 bytes follow"},
      {element.text(),
       "3:70: the elements make 1600000000 or more entries, the limit set by "
       "ReadOptions::max_dense_values is 1073741824"},
  });
  // What is small in the file and large in memory has a limit of its own.
  EXPECT_EQ(error_in(with_size(vectors, 3, 1, "2000000000")),
            "f: 2000000000 x 1 values make no dense vectors: more than 1073741824");
}

/// As many values as are allowed are read, and no more.
TEST(BoeingErrors, SparseVectorsHaveAsManyValuesAsAreAllowed) {
  const Boeing sparse = with_sparse_vector();
  const auto error_for = [&](std::int64_t most) {
    krysol::ReadOptions options;
    options.max_dense_values = most;
    return error_of([&] { krysol::parse_harwell_boeing(sparse.text(), "f", options); });
  };
  EXPECT_EQ(error_for(3), "nothing was thrown");
  EXPECT_EQ(error_for(2), "f: 3 x 1 values make no dense vectors: more than 2");
}

TEST(BoeingErrors, ASymmetryStoresOneTriangle) {
  Boeing boeing = small();
  boeing.type = "RSA";
  boeing.index_fields = {"(2I5)", 2, 5, {}};
  boeing.indices = {1, 3, 2, 1, 3};
  Boeing skew = boeing;
  skew.type = "RZA";
  Boeing rectangular = boeing;
  rectangular.rows = 4;
  expect({
      {boeing.text(),
       "7:10: entry (1, 3) lies above the diagonal; a file with a symmetry stores one triangle "
       "only"},
      {skew.text(), "6:5: a skew-symmetric matrix has no diagonal entries, found one"},
      {rectangular.text(), "3:29: a symmetric matrix must be square, this one is 4 x 3"},
  });
}

/// (1, 1) three times, (2, 2) twice; two indices a line, so that the message knows its line as
/// well.
TEST(BoeingErrors, APlaceIsNamedTwiceWhereThatIsAllowed) {
  Boeing boeing;
  boeing.rows = boeing.cols = 3;
  boeing.pointers = {1, 5, 7, 8};
  boeing.indices = {1, 2, 1, 1, 2, 2, 3};
  boeing.index_fields = {"(2I5)", 2, 5, {}};
  boeing.values = {1, 2, 4, 8, 16, 32, 64};
  const std::string text = boeing.text();
  krysol::ReadOptions options;
  const auto entries = [&](std::vector<std::string>& repairs) {
    const auto file = krysol::parse_harwell_boeing(text, "f", options);
    repairs = file.info.repairs;
    return std::get<krysol::Triplets<double>>(file.matrix).values.size();
  };
  std::vector<std::string> repairs;
  EXPECT_EQ(entries(repairs), 7U);
  EXPECT_TRUE(repairs.empty());
  const std::vector<Complex> sums = {13, 0, 0, 2, 48, 0, 0, 0, 64};
  EXPECT_EQ(expanded(krysol::parse_harwell_boeing(text, "f", options)), sums);
  options.duplicates = krysol::Duplicates::sum;
  EXPECT_EQ(entries(repairs), 4U);
  EXPECT_EQ(repairs, std::vector<std::string>{"3 entries of a place named before added to the "
                                              "first, first in column 1"});
  EXPECT_EQ(expanded(krysol::parse_harwell_boeing(text, "f", options)), sums);
  options.duplicates = krysol::Duplicates::first;
  EXPECT_EQ(entries(repairs), 4U);
  EXPECT_EQ(repairs, std::vector<std::string>{"3 entries of a place named before dropped, first in "
                                              "column 1"});
  EXPECT_EQ(expanded(krysol::parse_harwell_boeing(text, "f", options)),
            (std::vector<Complex>{1, 0, 0, 2, 16, 0, 0, 0, 64}));
  options.duplicates = krysol::Duplicates::reject;
  EXPECT_EQ(error_of([&] { krysol::parse_harwell_boeing(text, "f", options); }),
            "f:7:5: entry (1, 1) is there already");
  Boeing twice = boeing;
  twice.indices = {1, 2, 3, 3, 2, 1, 3};  // (3, 1) twice, the second at the end of a line
  EXPECT_EQ(error_of([&] { krysol::parse_harwell_boeing(twice.text(), "f", options); }),
            "f:7:10: entry (3, 1) is there already");
  twice.indices = {1, 2, 3};
  twice.pointers = {1, 2, 3, 4};
  twice.values = {1, 2, 3};
  EXPECT_EQ(error_of([&] { krysol::parse_harwell_boeing(twice.text(), "f", options); }),
            "nothing was thrown");
}

TEST(BoeingErrors, AHermitianDiagonalIsRealOrMadeSo) {
  Boeing boeing;
  boeing.type = "CHA";
  boeing.rows = boeing.cols = 2;
  boeing.pointers = {1, 3, 4};
  boeing.indices = {1, 2, 2};
  boeing.values = {1, 0, 2, 3, 4, 5};
  boeing.value_fields = {"(4F8.3)", 4, 8, boeing.value_fields.spell};
  EXPECT_EQ(error_in(boeing.text()),
            "f:8:12: the diagonal of a hermitian matrix is real, found the imaginary part 5");
  krysol::ReadOptions repair;
  repair.repair = true;
  const auto file = krysol::parse_harwell_boeing(boeing.text(), "f", repair);
  EXPECT_EQ(file.info.repairs,
            std::vector<std::string>{"1 imaginary part on the diagonal of a hermitian matrix "
                                     "dropped, first on line 8"});
  EXPECT_EQ(expanded(file), (std::vector<Complex>{1, {2, -3}, {2, 3}, 4}));
}

TEST(BoeingErrors, ElementsAreAsLargeAsDeclared) {
  const Boeing boeing = krysol_tests::two_elements("RSE", {1, 2, 3, 4, 5, 6});
  ASSERT_EQ(error_in(boeing.text()), "nothing was thrown");
  Boeing fewer = boeing;
  fewer.element_values = 7;
  Boeing more = boeing;
  more.element_values = 4;
  Boeing twice = boeing;
  twice.indices = {1, 2, 2, 2};
  Boeing outside = boeing;
  outside.indices = {1, 2, 3, 4};
  Boeing cut = boeing;
  cut.values.pop_back();
  expect({
      {fewer.text(), "3:70: 7 values of elements were declared, they have 6"},
      {more.text(), "3:70: 4 values of elements were declared, they have 6 or more"},
      {twice.text(), "6:20: element 2 names variable 2 twice"},
      {outside.text(), "6:20: variable 4 is outside 1..3"},
      {cut.text(),
       "7:41: expected a value of an element in columns 41 to 48 as (10F8.3) says, found blanks"},
      {with_size(boeing.text(), 3, 4, "x"),
       "3:70: expected the number of values of elements in columns 57 to 70, found 'x'"},
  });
}

TEST(BoeingErrors, VectorsAreOfAKnownTypeAndComplete) {
  Boeing boeing = small();
  boeing.vector_type = "F";
  boeing.vectors = 1;
  boeing.vector_values = {1, 2, 3};
  const std::string good = boeing.text();
  ASSERT_EQ(error_in(good), "nothing was thrown");
  Boeing cut = boeing;
  cut.vector_values = {1, 2};
  Boeing sparse = small();
  sparse.vector_type = "M";
  sparse.vectors = 1;
  sparse.vector_pointers = {1, 2};
  sparse.vector_indices = {4};
  sparse.vector_values = {1};
  Boeing pointers = sparse;
  pointers.vector_pointers = {1, 3};
  expect({
      {with_line(good, 5, "Q                          1             0"),
       "5:1: expected vectors of type F (full) or M (as the matrix), found 'Q'"},
      {with_size(good, 5, 1, "x"),
       "5:28: expected the number of vectors in columns 15 to 28, found 'x'"},
      {with_line(good, 4, "(16I5)          (16I5)          (10F8.3)"),
       "4:53: expected a Fortran format of vectors, found blanks: a format begins with '('"},
      {cut.text(), "9:17: expected a value in columns 17 to 24 as (10F8.3) says, found blanks"},
      {good + "   1.000", "10:1: expected the end of the file, found '1.000'"},
      {sparse.text(), "10:5: row index 4 is outside 1..3"},
      {pointers.text(),
       "9:10: pointer 2 of 2 is 3; pointers ascend from 1 to 2, one more than the entries of "
       "vectors"},
  });
}

}  // namespace
