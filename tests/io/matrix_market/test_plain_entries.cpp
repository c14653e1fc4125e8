// Entries read by all cores: the same numbers as strtod's, the same entries and messages as line by
// line, wherever a piece of the text ends and however many threads there are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>

namespace {

using krysol::Index;
using krysol::ReadOptions;
using krysol::Triplets;
using Complex = std::complex<double>;

/// What a file that cannot be read throws.
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const krysol::FileError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

ReadOptions with_threads(int threads) {
  ReadOptions options;
  options.threads = threads;
  return options;
}

/// Values that double has no number for but 0 are counted, whatever reads them.
TEST(PlainEntries, CountWhatIsTooSmallForDouble) {
  const std::string sentence = "below the smallest double, 4.9e-324, taken as 0, first on line";
  const std::string head = "%%MatrixMarket matrix coordinate real general\n3 3 4\n";
  const std::string tail = "2 2 1\n3 3 0.000e-400\n1 3 -0\n";
  const std::vector<std::string> all = {"1e-400",
                                        "-2.5E-325",
                                        "0.000001d-330",
                                        "1.0-400",
                                        "0." + std::string(400, '0') + "1",
                                        "12345678901234567890123e-500",
                                        "+1e-2000"};
  for (const std::string& small : all) {
    for (int threads : {1, 3}) {
      const auto file =
          krysol::parse_matrix(head + "1 1 " + small + "\n" + tail, "t", with_threads(threads));
      EXPECT_EQ(file.info.repairs, (std::vector<std::string>{"1 value " + sentence + " 3"}))
          << small;
      EXPECT_EQ(std::get<Triplets<double>>(file.matrix).values.at(0), 0) << small;
    }
  }
  EXPECT_TRUE(krysol::parse_matrix(head + "1 1 3e-324\n" + tail, "t").info.repairs.empty());
  const auto pairs = krysol::parse_matrix(
      "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 0 0\n1 2 1e-999 -1e-999\n",
      "t");
  EXPECT_EQ(pairs.info.repairs, (std::vector<std::string>{"2 values " + sentence + " 4"}));
  const auto array = krysol::parse_dense(
      "%%MatrixMarket matrix array real general\n3 1\n0\n1e-400\n7e-401\n", "t", {});
  EXPECT_EQ(array.info.repairs, (std::vector<std::string>{"2 values " + sentence + " 4"}));
}

double read_number(const std::string& number) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " + number;
  const auto file = krysol::parse_matrix(text, "number");
  return std::get<Triplets<double>>(file.matrix).values.at(0);
}

void expect_as_strtod(const std::string& number) {
  const double expected = std::strtod(number.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read_number(number)),
            std::bit_cast<std::uint64_t>(expected))
      << number;
}

TEST(PlainEntries, SpellNumbersInManyWays) {
  for (const char* number : {"1",
                             "-1",
                             "0",
                             "-0",
                             "0.1",
                             "-0.5",
                             ".5",
                             "5.",
                             "-.25",
                             "1e5",
                             "1E+05",
                             "1e-5",
                             "12345678",
                             "123456789",
                             "1234567.",
                             "12345678.9",
                             "0.12345678",
                             "0.123456789",
                             "0.1234567812345678",
                             "9007199254740992",
                             "9007199254740993",
                             "9007199254740993e0",
                             "18446744073709551615",
                             "18446744073709551616",
                             "0.30000000000000004",
                             "1.7976931348623157e308",
                             "2.5e-324",
                             "4.9406564584124654e-324",
                             "1e-400",
                             "2.2250738585072011e-308",
                             "1e22",
                             "1e23",
                             "1e-22",
                             "1e-23",
                             "123456789012345678901234567890",
                             "0000000000000000000000012.5",
                             "0.000000000000000000000000001234567",
                             "8.41e21",
                             "9.5367431640625e-07",
                             "0e999",
                             "0.0e-5",
                             "17976931348623157e292",
                             "1e000000005"}) {
    expect_as_strtod(number);
  }
}

TEST(PlainEntries, KnowFortransNumbers) {
  EXPECT_EQ(read_number("1.5D+03"), 1500);
  EXPECT_EQ(read_number("1.5d3"), 1500);
  EXPECT_EQ(read_number("1.5+103"), 1.5e103);
  EXPECT_EQ(read_number("+2.5"), 2.5);
  EXPECT_EQ(read_number("2.5Q0"), 2.5);
}

/// Of all bytes digits alone make an index, not those beside them in ASCII.
TEST(PlainEntries, HaveIndicesOfDigitsAlone) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n999 999 1\n";
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    if ((c >= '0' && c <= '9') || c == ' ' || c == '\t') continue;
    const std::string index = std::string("1") + c;
    for (const std::string& entry : {index + " 2 5\n", "2 " + index + " 5\n"}) {
      EXPECT_NE(error_of([&] { krysol::parse_matrix(head + entry, "f"); }), "nothing was thrown")
          << "byte " << byte;
    }
  }
}

TEST(PlainEntries, HaveOneZeroAmongIntegers) {
  const std::string text = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -0\n";
  ReadOptions repair;
  repair.repair = true;
  // The second one is read line by line, for what follows the last entry.
  for (const std::string& file : {text, text + "x\n"}) {
    const auto read = krysol::parse_matrix(file, "integer", repair);
    const double zero = std::get<Triplets<double>>(read.matrix).values.at(0);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(zero), 0U) << file;
  }
}

TEST(PlainEntries, RoundEachNumberAsStrtodDoes) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 20000; ++trial) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    expect_as_strtod(fmt::format("{}", value));
    expect_as_strtod(fmt::format("{:.16e}", value));
    const double small = static_cast<double>(random() % 2000000) / 1000 - 1000;
    expect_as_strtod(fmt::format("{:.{}f}", small, trial % 20));
    std::string digits;
    for (int k = 0; k < 1 + trial % 24; ++k) digits += static_cast<char>('0' + random() % 10);
    digits.insert(digits.begin() + static_cast<long>(random() % digits.size()), '.');
    expect_as_strtod(fmt::format("{}e{}", digits, static_cast<int>(random() % 40) - 20));
  }
}

/// A file of `entries` entries with all that may stand between them, and what it holds.
struct Made {
  std::string text;
  std::vector<Index> row;
  std::vector<Index> col;
  std::vector<Complex> value;
  std::vector<std::int64_t> line;  // of each entry
};

Made make_file(const std::string& field, const std::string& symmetry, int entries, unsigned seed) {
  constexpr Index size = 70000;
  std::mt19937_64 random(seed);
  const auto one_of = [&](auto... choices) {
    const std::vector<std::string> all{choices...};
    return all[random() % all.size()];
  };
  Made made;
  made.text = fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field, symmetry,
                          size, size, entries);
  std::int64_t line = 3;
  for (int k = 0; k < entries; ++k, ++line) {
    while (random() % 50 == 0) {
      made.text += one_of("\n", "  \t\n", "% a comment 1 1 1\n", " %\r\n", "\r\n");
      ++line;
    }
    auto row = static_cast<Index>(random() % size);
    auto col = static_cast<Index>(random() % size);
    if (symmetry != "general" && row <= col) {
      row = col + 1 < size ? col + 1 : col;
      col = row - 1;
    }
    double re =
        std::ldexp(static_cast<double>(random() >> 11U), static_cast<int>(random() % 80) - 80);
    double im = 0;
    std::string value = fmt::format("{}", re);
    if (field == "integer") {
      const auto whole = static_cast<std::int64_t>(random()) >> (random() % 60);
      re = static_cast<double>(whole);
      value = std::to_string(whole);
    } else if (field == "pattern") {
      re = 1;
      value.clear();
    } else if (field == "complex") {
      im = static_cast<double>(random() % 1000) / 8;
      value += one_of(" ", "\t ", "   ") + fmt::format("{:e}", im);
      im = std::strtod(fmt::format("{:e}", im).c_str(), nullptr);
    }
    made.row.push_back(row);
    made.col.push_back(col);
    made.value.emplace_back(re, im);
    made.line.push_back(line);
    made.text += one_of("", "", "", " ", "\t") + std::to_string(row + 1) + one_of(" ", "  ", "\t") +
                 std::to_string(col + 1) + (value.empty() ? "" : one_of(" ", " \t")) + value +
                 one_of("", "", "", " ") + one_of("\n", "\n", "\n", "\r\n");
  }
  return made;
}

template <class T>
void expect_entries(const Made& made, const Triplets<T>& a) {
  ASSERT_EQ(a.values.size(), made.value.size());
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    ASSERT_EQ(a.row_idx[k], made.row[k]) << "entry " << k;
    ASSERT_EQ(a.col_idx[k], made.col[k]) << "entry " << k;
    ASSERT_EQ(Complex(a.values[k]), made.value[k]) << "entry " << k;
  }
}

TEST(PlainEntries, AreTheSameForAnyNumberOfThreads) {
  for (const char* field : {"real", "integer", "pattern", "complex"}) {
    for (const char* symmetry : {"general", "symmetric"}) {
      const Made made = make_file(field, symmetry, 60000, 3);  // several pieces
      for (const int threads : {1, 2, 5}) {
        SCOPED_TRACE(fmt::format("{} {}, {} threads", field, symmetry, threads));
        const auto file = krysol::parse_matrix(made.text, "made", with_threads(threads));
        std::visit([&](const auto& a) { expect_entries(made, a); }, file.matrix);
        EXPECT_EQ(file.info.stored_entries, 60000);
        EXPECT_TRUE(file.info.repairs.empty());
      }
    }
  }
}

TEST(PlainEntries, EndWhereverAPieceOfTheTextEnds) {
  const Made made = make_file("real", "general", 40000, 5);
  const std::size_t body = made.text.find('\n') + 1;
  for (std::size_t shift = 0; shift < 80; ++shift) {
    std::string text = made.text;
    text.insert(body, std::string(shift, 'x').append("\n"));
    text.insert(body, 1, '%');
    if (shift % 3 == 1) text.pop_back();  // the last line need not end
    const auto file = krysol::parse_matrix(text, "made", with_threads(2));
    expect_entries(made, std::get<Triplets<double>>(file.matrix));
  }
}

TEST(PlainEntries, CountIntegersThatDoubleRounds) {
  const std::string text =
      "%%MatrixMarket matrix coordinate integer general\n2 2 3\n"
      "1 1 9007199254740993\n1 2 9007199254740992\n2 1 -9223372036854775807\n";
  EXPECT_EQ(krysol::parse_matrix(text, "t").info.rounded_integers, 2);
}

/// What stands in line `line` in place of an entry, and what is said of it, for any number of
/// threads.
TEST(PlainEntries, SayWhatIsWrongWithTheFirstLineThatIs) {
  const Made made = make_file("real", "general", 60000, 9);
  struct Case {
    std::string line;
    std::string message;
  };
  for (const Case& wrong :
       {Case{"0 1 2",
             "1: row index 0 is outside 1..70000; does the file count from 0? Repair mode "
             "reads such files"},
        Case{"1 70001 2", "3: column index 70001 is outside 1..70000"},
        Case{"1 1", "4: expected a value, found the end of the line"},
        Case{"1 1 nan", "5: expected a finite value, found 'nan'"},
        Case{"1 1 1e999", "5: value '1e999' is beyond the largest double, 1.8e308"},
        Case{"1 1 1 1", "7: expected the end of the line after the entry, found '1'"},
        Case{"1 1 1x", "5: expected a value, found '1x'"},
        Case{"1 1.5 1", "3: expected a column index, found '1.5'"},
        Case{"x", "1: expected a row index, found 'x'"},
        Case{"1 99999999999999999999 1",
             "3: column index 99999999999999999999 is outside 1..70000"}}) {
    for (const std::size_t entry : {std::size_t{0}, std::size_t{31234}, std::size_t{59999}}) {
      std::string text;
      std::size_t at = 0;
      for (std::int64_t line = 1; line < made.line[entry]; ++line) {
        at = made.text.find('\n', at) + 1;
      }
      text = made.text.substr(0, at) + wrong.line + "\n";
      text += made.text.substr(made.text.find('\n', at) + 1) + "and nonsense in the end\n";
      for (const int threads : {1, 4}) {
        EXPECT_EQ(error_of([&] { krysol::parse_matrix(text, "f", with_threads(threads)); }),
                  fmt::format("f:{}:{}", made.line[entry], wrong.message));
      }
    }
  }
}

/// In files that are plain but for that line: none of it may be read as another entry.
TEST(PlainEntries, TakeNoPartOfANumberForAnIndexOrAValue) {
  const auto message = [](const std::string& field, const std::string& line) {
    const std::string text = "%%MatrixMarket matrix coordinate " + field + " general\n2 2 2\n" +
                             line + "\n2 2" + (field == "complex" ? " 1 1\n" : " 1\n");
    return error_of([&] { krysol::parse_matrix(text, "f"); });
  };
  for (const std::string number : {"1.5", "1-5", "1+5", "1e0", "1.", "1,5"}) {
    for (const std::string field : {"real", "integer"}) {
      EXPECT_EQ(message(field, "1 " + number),
                "f:3:3: expected a column index, found '" + number + "'")
          << field;
    }
    EXPECT_EQ(message("complex", "1 " + number + " 2"),
              "f:3:3: expected a column index, found '" + number + "'");
    EXPECT_EQ(message("real", number + " 2"),
              "f:3:1: expected a row index, found '" + number + "'");
  }
  // Fortran's 2.5e-3, and no imaginary part.
  EXPECT_EQ(message("complex", "1 1 2.5-3"), "f:3:10: expected a value, found the end of the line");
}

TEST(PlainEntries, AreAsManyAsDeclared) {
  const Made made = make_file("real", "general", 60000, 11);
  for (const int threads : {1, 4}) {
    EXPECT_EQ(
        error_of([&] { krysol::parse_matrix(made.text + "1 1 1\n", "f", with_threads(threads)); }),
        fmt::format("f:{}:1: expected the end of the file after 60000 declared entries, found "
                    "'1'",
                    made.line.back() + 1));
    const std::size_t last = made.text.rfind('\n', made.text.size() - 2) + 1;
    EXPECT_EQ(error_of([&] {
                krysol::parse_matrix(made.text.substr(0, last), "f", with_threads(threads));
              }),
              fmt::format("f:{}:1: the file ends after 59999 of 60000 declared entries",
                          made.line.back()));
  }
}

/// Far more of them than there is room for are not kept before that is seen.
TEST(PlainEntries, HaveNoRoomBeyondWhatIsDeclared) {
  for (const int declared : {1, 3, 1000}) {
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate real general\n900 900 {}\n", declared);
    for (int k = 0; k < 60000; ++k) text += "1 1 1\n";
    for (const int threads : {1, 4}) {
      EXPECT_EQ(error_of([&] { krysol::parse_matrix(text, "f", with_threads(threads)); }),
                fmt::format("f:{}:1: expected the end of the file after {} declared entries, "
                            "found '1'",
                            3 + declared, declared));
    }
  }
}

/// The diagonal of a Hermitian matrix is real, whatever its imaginary part is called.
TEST(PlainEntries, AreRealOnAHermitianDiagonal) {
  const std::string head = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n";
  for (const char* part : {"1", "-1", "1e-300", "0.5"}) {
    EXPECT_EQ(error_of([&] {
                krysol::parse_matrix(head + "2 1 3 4\n2 2 7 " + part + "\n", "f");
              }).substr(0, 59),
              "f:4:5: the diagonal of a hermitian matrix is real, found th")
        << part;
  }
  const auto good = krysol::parse_matrix(head + "2 1 3 4\n2 2 7 -0\n", "f");
  EXPECT_EQ(std::get<Triplets<Complex>>(good.matrix).values.at(1), Complex(7, 0));
}

TEST(PlainEntries, KeepToTheirTriangle) {
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  const auto message = [&](const std::string& rest) {
    return error_of([&] { krysol::parse_matrix(head + rest, "f"); });
  };
  EXPECT_EQ(message("symmetric\n3 3 2\n2 1 1\n1 3 1\n"),
            "f:4:1: entry (1, 3) lies above the diagonal; a file with a symmetry stores one "
            "triangle only");
  EXPECT_EQ(message("skew-symmetric\n3 3 2\n2 1 1\n2 2 0\n"),
            "f:4:5: a skew-symmetric matrix has no diagonal entries, found one");
  const auto upper = krysol::parse_matrix(head + "symmetric\n3 3 2\n1 2 5\n3 3 1\n", "f");
  EXPECT_EQ(std::get<Triplets<double>>(upper.matrix).row_idx[0], 1);
  EXPECT_EQ(upper.info.repairs.size(), 1U);
}

}  // namespace
