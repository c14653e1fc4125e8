// Rutherford-Boeing files that were written: what the format demands of every line, and the bits of
// every number when they are read again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/read.hpp>
#include "messages.hpp"
#include "written_files.hpp"

namespace {

using namespace krysol_tests;
using krysol::Field;
using krysol::Index;
using krysol::Symmetry;
using krysol::Triplets;
using krysol::WriteOptions;

krysol::MatrixFile read_back(const fs::path& path) {
  const auto text = krysol::read_text(path, 1 << 26);
  return krysol::parse_harwell_boeing(text.view(), path.string(), {});
}

/// By column, then row; entries of one place summed in the order of the list.
template <class T>
Triplets<T> in_order(const Triplets<T>& a) {
  std::map<std::pair<Index, Index>, T> sums;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto [place, is_new] = sums.insert({{a.col_idx[k], a.row_idx[k]}, a.values[k]});
    if (!is_new) place->second += a.values[k];
  }
  Triplets<T> sorted{a.rows, a.cols, a.symmetry, {}, {}, {}};
  for (const auto& [place, value] : sums) sorted.add(place.second, place.first, value);
  return sorted;
}

/// Columns are listed one by one in such a file: fewer than random_matrix has.
template <class T>
Triplets<T> reduced_matrix(std::size_t entries, Symmetry symmetry, Index cols) {
  auto a = random_matrix<T>(entries, symmetry);
  a.rows = symmetry == Symmetry::general ? a.rows : cols;
  a.cols = cols;
  Triplets<T> inside{a.rows, a.cols, symmetry, {}, {}, {}};
  for (std::size_t k = 0; k < entries; ++k) {
    Index row = symmetry == Symmetry::general ? a.row_idx[k] : a.row_idx[k] % cols;
    Index col = a.col_idx[k] % cols;
    if (symmetry != Symmetry::general && a.row_idx[k] == a.col_idx[k]) col = row;
    if (symmetry != Symmetry::general && row < col) std::swap(row, col);
    if (symmetry != Symmetry::general && a.row_idx[k] != a.col_idx[k] && row == col) continue;
    inside.add(row, col, a.values[k]);
  }
  return inside;
}

/// No sums: those of the largest numbers would not be finite.
template <class T>
Triplets<T> without_duplicates(const Triplets<T>& a) {
  std::map<std::pair<Index, Index>, T> first;
  Triplets<T> kept{a.rows, a.cols, a.symmetry, {}, {}, {}};
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    if (first.insert({{a.col_idx[k], a.row_idx[k]}, a.values[k]}).second) {
      kept.add(a.row_idx[k], a.col_idx[k], a.values[k]);
    }
  }
  return kept;
}

void expect_lines_of_80_columns(const fs::path& path) {
  const std::string text = bytes_of(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos) << "the last line does not end";
    ASSERT_LE(end - at, 80U) << text.substr(at, end - at);
    at = end + 1;
  }
}

template <class T>
void expect_round_trip(const Triplets<T>& a, const WriteOptions& options) {
  SCOPED_TRACE(krysol::to_string(a.symmetry));
  const Folder folder;
  const auto path = folder / "a.rb";
  krysol::write_rutherford_boeing(path, a, options);
  expect_lines_of_80_columns(path);
  const auto file = read_back(path);
  EXPECT_EQ(file.info.field,
            options.field.value_or(std::is_same_v<T, Complex> ? Field::complex : Field::real));
  EXPECT_TRUE(file.info.repairs.empty());
  expect_same_bits(std::get<Triplets<T>>(file.matrix), in_order(a));
}

TEST(RutherfordBoeingWriter, EveryBitComesBack) {
  for (const int threads : {1, 3}) {
    WriteOptions options;
    options.threads = threads;
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}) {
      expect_round_trip(without_duplicates(reduced_matrix<double>(20000, symmetry, 700)), options);
    }
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      expect_round_trip(without_duplicates(reduced_matrix<Complex>(20000, symmetry, 700)), options);
    }
  }
}

TEST(RutherfordBoeingWriter, TheBytesDoNotDependOnTheThreads) {
  const Folder folder;
  const auto a = without_duplicates(reduced_matrix<double>(120000, Symmetry::general, 700));
  for (const char* name : {"a.rb", "a.rb.zst"}) {
    std::string first;
    for (const int threads : {1, 2, 4}) {
      WriteOptions options;
      options.threads = threads;
      krysol::write_rutherford_boeing(folder / name, a, options);
      const std::string bytes = bytes_of(folder / name);
      if (threads == 1) first = bytes;
      EXPECT_TRUE(bytes == first) << name << ", " << threads;
    }
  }
  EXPECT_TRUE(krysol::read_text(folder / "a.rb.zst", 1 << 26).view() == bytes_of(folder / "a.rb"));
}

/// SciPy 1.17 reads it: scipy.io.hb_read(path).toarray() is
/// [[1, 0, 0.25], [0, -300, 0], [0.1, 0, 0]].
constexpr std::string_view real_file =
    R"(three numbers                                                           TINY    
             3             1             1             1
rua                        3             3             4             0
(40I2)          (40I2)          (8E9.1)             
 1 3 4 5
 1 3 2 1
  1.0E+00  1.0E-01 -3.0E+02  2.5E-01
)";

TEST(RutherfordBoeingWriter, WritesWhatFortranReads) {
  const Folder folder;
  Triplets<double> a{3, 3, Symmetry::general, {}, {}, {}};
  a.add(0, 2, 0.25);
  a.add(1, 1, -300);
  a.add(2, 0, 0.1);
  a.add(0, 0, 1);
  WriteOptions options;
  options.title = "three numbers";
  options.key = "TINY";
  krysol::write_rutherford_boeing(folder / "a.rua", a, options);
  EXPECT_EQ(bytes_of(folder / "a.rua"), real_file);
}

TEST(RutherfordBoeingWriter, SizesItsFieldsByTheNumbers) {
  const Folder folder;
  Triplets<double> a{2000000000, 2, Symmetry::general, {}, {}, {}};
  a.add(1999999999, 1, -1.7976931348623157e308);
  krysol::write_rutherford_boeing(folder / "a", a);
  EXPECT_TRUE(holds(bytes_of(folder / "a"),
                    "rra               2000000000             2             1             0\n"
                    "(40I2)          (7I11)          (3E25.16)           \n"
                    " 1 1 2\n 2000000000\n -1.7976931348623157E+308\n"))
      << bytes_of(folder / "a");
}

TEST(RutherfordBoeingWriter, HasIntegersAndPatterns) {
  Triplets<double> a{3, 3, Symmetry::symmetric, {}, {}, {}};
  a.add(2, 1, -123456);
  a.add(0, 0, 9007199254740993.0);
  WriteOptions options;
  options.field = Field::integer;
  expect_round_trip(a, options);
  a.values[0] = a.values[1] = 1;
  options.field = Field::pattern;
  expect_round_trip(a, options);
}

/// Fields are as wide as the longest integer and a blank, and as many as 80 columns hold.
TEST(RutherfordBoeingWriter, HasNoWiderFieldsThanItsIntegersNeed) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{-7}, std::int64_t{42}, std::int64_t{123456},
        std::int64_t{-9007199254740992}}) {
    const Folder folder;
    Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
    a.add(0, 0, 1);
    a.add(1, 1, static_cast<double>(value));
    WriteOptions options;
    options.field = Field::integer;
    krysol::write_rutherford_boeing(folder / "a", a, options);
    const std::string number = std::to_string(value);
    const std::size_t width = number.size() + 1;
    const std::string format = fmt::format("({}I{})", 80 / width, width);
    const std::string text = bytes_of(folder / "a");
    EXPECT_TRUE(
        text.ends_with(fmt::format("\n(40I2)          (40I2)          {:<20}\n"
                                   " 1 2 3\n 1 2\n{:>{}}{:>{}}\n",
                                   format, 1, width, number, width)))
        << text;
  }
}

TEST(RutherfordBoeingWriter, SumsEntriesOfOnePlaceInTheirOrder) {
  Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
  for (const double v : {1e16, 1.0, -1e16, 1.0}) a.add(1, 0, v);  // 1 in this order, not 2
  a.add(0, 0, 3);
  expect_round_trip(a, {});
}

TEST(RutherfordBoeingWriter, WritesMatricesWithoutEntries) {
  for (const Index n : {0, 3}) {
    const Folder folder;
    const Triplets<double> a{n, n, Symmetry::general, {}, {}, {}};
    krysol::write_rutherford_boeing(folder / "a", a);
    const auto file = read_back(folder / "a");
    const auto& back = std::get<Triplets<double>>(file.matrix);
    EXPECT_EQ(back.rows, n);
    EXPECT_EQ(back.values.size(), 0U);
  }
}

TEST(RutherfordBoeingWriter, RightHandSidesMakeAHarwellBoeingFile) {
  const Folder folder;
  auto a = without_duplicates(reduced_matrix<double>(300, Symmetry::symmetric, 20));
  const auto numbers = all_sorts_of_numbers();
  const std::vector<double> rhs(numbers.begin(), numbers.begin() + 40);
  krysol::write_rutherford_boeing(folder / "a.rsa", a, {}, rhs);
  expect_lines_of_80_columns(folder / "a.rsa");
  EXPECT_TRUE(holds(bytes_of(folder / "a.rsa"), "\nRSA  "));
  const auto file = read_back(folder / "a.rsa");
  expect_same_bits(std::get<Triplets<double>>(file.matrix), in_order(a));
  EXPECT_EQ(file.attached.rhs.rows, 20);
  EXPECT_EQ(file.attached.rhs.cols, 2);
  const auto& back = std::get<std::vector<double>>(file.attached.rhs.values);
  EXPECT_TRUE(bits_of(krysol::Array<double>(back.begin(), back.end())) ==
              bits_of(krysol::Array<double>(rhs.begin(), rhs.end())));

  Triplets<Complex> c{1, 1, Symmetry::hermitian, {}, {}, {}};
  c.add(0, 0, 2);
  krysol::write_rutherford_boeing(folder / "c", c, {}, std::vector<Complex>{{1, -0.5}});
  EXPECT_EQ(std::get<std::vector<Complex>>(read_back(folder / "c").attached.rhs.values).at(0),
            Complex(1, -0.5));
}

TEST(RutherfordBoeingWriter, RightHandSidesAreReadWithoutTheirMatrix) {
  const Folder folder;
  Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
  a.add(0, 0, 1);
  a.add(1, 1, 2);
  for (const int vectors : {1, 2, 5}) {
    std::vector<double> rhs;
    for (int k = 0; k < 2 * vectors; ++k) rhs.push_back(0.5 * k - 1);
    krysol::write_rutherford_boeing(folder / "with", a, {}, rhs);
    const krysol::DenseFile file = krysol::read_dense(folder / "with");
    EXPECT_EQ(file.rows, 2);
    EXPECT_EQ(file.cols, vectors);
    EXPECT_EQ(std::get<std::vector<double>>(file.values), rhs);
  }
  krysol::write_rutherford_boeing(folder / "without", a);
  const std::string refusal =
      what_of<krysol::FileError>([&] { krysol::read_dense(folder / "without"); });
  EXPECT_TRUE(holds(refusal, "without: is a Harwell-Boeing matrix without right-hand sides"))
      << refusal;
}

TEST(RutherfordBoeingWriter, RefusesWhatTheFormatCannotHold) {
  const Folder folder;
  Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
  a.add(1, 0, std::numeric_limits<double>::max());
  const auto refusal = [&](const Triplets<double>& matrix, const WriteOptions& options,
                           const std::vector<double>& rhs = {}) {
    return what_of<std::exception>(
        [&] { krysol::write_rutherford_boeing(folder / "a", matrix, options, rhs); });
  };
  EXPECT_TRUE(holds(refusal(a, {.key = "NINE BYTE"}), "a key has at most 8 bytes"));
  EXPECT_TRUE(holds(refusal(a, {.title = std::string(73, 'x')}), "a title has at most 72 bytes"));
  EXPECT_TRUE(holds(refusal(a, {.title = "a\nb"}), "of printable ASCII"));
  EXPECT_TRUE(holds(refusal(a, {}, {1, 2, 3}), "3 values make no right-hand sides of 2 rows"));
  EXPECT_TRUE(holds(refusal(a, {.field = Field::pattern}, {1, 2}), "not pattern ones"));
  EXPECT_TRUE(holds(refusal(a, {}, {1, std::numeric_limits<double>::infinity()}),
                    "value 2 of the right-hand sides is not finite"));
  auto outside = a;
  outside.add(2, 0, 1);
  EXPECT_TRUE(holds(refusal(outside, {}), "entry (2, 0), counted from 0, cannot stand"));
  auto sum = a;
  sum.add(1, 0, std::numeric_limits<double>::max());
  EXPECT_TRUE(holds(refusal(sum, {}), "the sum of the entries (2, 1), counted from 1, is beyond"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(RutherfordBoeingWriter, RefusesAnyValueOfRightHandSidesThatIsNotFinite) {
  const Folder folder;
  Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
  a.add(0, 0, 1);
  a.add(1, 1, 2);
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> rhs(4, 1.0);
      rhs[k] = bad;
      const auto refusal = what_of<std::exception>(
          [&] { krysol::write_rutherford_boeing(folder / "a", a, {}, rhs); });
      EXPECT_TRUE(holds(refusal, fmt::format("not written: value {} of the right-hand sides is not "
                                             "finite",
                                             k + 1)))
          << refusal;
    }
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(RutherfordBoeingWriter, SaysSoWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto a = without_duplicates(reduced_matrix<double>(30000, Symmetry::general, 700));
  for (const int threads : {1, 4}) {
    WriteOptions options;
    options.threads = threads;
    EXPECT_TRUE(what_of<krysol::FileError>([&] {
                  krysol::write_rutherford_boeing("/dev/full", a, options);
                }).starts_with("/dev/full: cannot be written: "));
  }
}

}  // namespace
