// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix Market files that must be read, those that must not and why, and what is written.
// To add a case, add a file. matrices/valid/: its matrix in comments, `% dense: 1 0 2,-1`, a line
// for each row (and `% rounded: 2` where integers are, `% note: sentence` where one
// is owed). matrices/invalid/: `% expect: 4:7:
// message`; then `% repair: sentence` for each repair if repair mode reads it, or `% repair expect:
// ...` if it fails differently. Where a file cannot hold comments they stand beside it in
// `name.mtx.expect`.
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>

#include "reading.hpp"

namespace {

namespace fs = std::filesystem;
using krysol::Symmetry;
using krysol::Triplets;
using krysol_tests::bytes_of;
using krysol_tests::expanded;
using krysol_tests::Folder;
using krysol_tests::put;
using Complex = std::complex<double>;

const fs::path matrices = fs::path(KRYSOL_TEST_DIR) / "matrices";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".mtx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// What follows "% `key`: " on the comment lines of a file, or of its sidecar where the file cannot
/// hold comments.
std::vector<std::string> notes(const fs::path& path, const std::string& key) {
  const fs::path sidecar = path.string() + ".expect";
  std::istringstream text(bytes_of(fs::exists(sidecar) ? sidecar : path));
  std::vector<std::string> found;
  const std::string start = "% " + key + ": ";
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.rfind(start, 0) == 0) found.push_back(line.substr(start.size()));
  }
  return found;
}

/// "position: message" of the error that reading throws, without the file's name; or "read".
std::string read_or_message(const fs::path& path, bool repair) {
  krysol::ReadOptions options;
  options.repair = repair;
  try {
    krysol::read_matrix(path, options);
    return "read";
  } catch (const krysol::FileError& error) {
    return std::string(error.what()).substr(path.string().size() + 1);
  }
}

/// Row by row, from lines of numbers; "1,-2" is 1 - 2i.
std::vector<Complex> numbers(const std::vector<std::string>& lines) {
  std::vector<Complex> all;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      char* rest = nullptr;
      const double re = std::strtod(word.c_str(), &rest);
      all.emplace_back(re, *rest == ',' ? std::strtod(rest + 1, nullptr) : 0.0);
    }
  }
  return all;
}

template <class T>
std::vector<Complex> by_rows(krysol::Index rows, krysol::Index cols, const std::vector<T>& values) {
  std::vector<Complex> dense;
  if (values.empty()) return dense;
  for (krysol::Index i = 0; i < rows; ++i) {
    for (krysol::Index j = 0; j < cols; ++j) {
      dense.emplace_back(values[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) +
                                static_cast<std::size_t>(i)]);
    }
  }
  return dense;
}

TEST(MatrixMarket, ValidFilesHoldWhatTheirCommentsSay) {
  const auto files = files_in(matrices / "valid");
  ASSERT_FALSE(files.empty());
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename());
    try {
      const krysol::MatrixFile sparse = krysol::read_matrix(path);
      const std::vector<Complex> expected = numbers(notes(path, "dense"));
      EXPECT_EQ(expanded(sparse), expected);
      EXPECT_EQ(sparse.info.repairs, notes(path, "note"));
      EXPECT_EQ(sparse.info.bytes, static_cast<std::int64_t>(fs::file_size(path)));
      EXPECT_EQ(sparse.info.text_bytes, sparse.info.bytes);
      const auto rounded = notes(path, "rounded");
      EXPECT_EQ(sparse.info.rounded_integers, rounded.empty() ? 0 : std::stoll(rounded.front()));

      const krysol::DenseFile dense = krysol::read_dense(path);
      std::visit([&](const auto& v) { EXPECT_EQ(by_rows(dense.rows, dense.cols, v), expected); },
                 dense.values);

      krysol::ReadOptions repair;
      repair.repair = true;
      const krysol::MatrixFile again = krysol::read_matrix(path, repair);
      EXPECT_EQ(expanded(again), expected);
      EXPECT_EQ(again.info.repairs, notes(path, "note"));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(MatrixMarket, InvalidFilesAreRefusedWithTheMessageInTheirComments) {
  const auto files = files_in(matrices / "invalid");
  ASSERT_FALSE(files.empty());
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename());
    const auto expected = notes(path, "expect");
    ASSERT_EQ(expected.size(), 1U) << "the file must say '% expect: line:column: message'";
    EXPECT_EQ(read_or_message(path, false), expected.front());
    const auto repairs = notes(path, "repair");
    if (repairs.empty()) {
      const auto other = notes(path, "repair expect");
      EXPECT_EQ(read_or_message(path, true), other.empty() ? expected.front() : other.front());
      continue;
    }
    krysol::ReadOptions options;
    options.repair = true;
    try {
      EXPECT_EQ(krysol::read_matrix(path, options).info.repairs, repairs);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(MatrixMarket, ErrorsCarryFileLineAndColumn) {
  try {
    krysol::parse_matrix("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "a.mtx");
    FAIL() << "read";
  } catch (const krysol::ParseError& error) {
    EXPECT_EQ(error.file, "a.mtx");
    EXPECT_EQ(error.line, 3);
    EXPECT_EQ(error.column, 3);
    EXPECT_STREQ(error.what(), "a.mtx:3:3: column index 3 is outside 1..2");
  }
}

TEST(MatrixMarket, RepairedFilesHoldTheMendedMatrix) {
  krysol::ReadOptions options;
  options.repair = true;
  const auto repaired = [&](const std::string& text) {
    return expanded(krysol::parse_matrix(text, "text", options));
  };
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  using V = std::vector<Complex>;
  EXPECT_EQ(repaired(coordinate + "real general\n2 2 2\n0 1 5\n1 0 6\n"), (V{0, 5, 6, 0}));
  EXPECT_EQ(repaired(coordinate + "real general\n1 2 2\n1 1 nan\n1 2 6\n"), (V{0, 6}));
  EXPECT_EQ(repaired("1 2\n7\n8\n"), (V{7, 8}));
  EXPECT_EQ(repaired("2 1 1\n2 1 8\n"), (V{0, 8}));
  EXPECT_EQ(repaired(coordinate + "real symmetric\n2 2 2\n1 1 1\n1 2 5\n"), (V{1, 5, 5, 0}));
  EXPECT_EQ(repaired(coordinate + "real skew-symmetric\n2 2 1\n1 2 5\n"), (V{0, 5, -5, 0}));
  EXPECT_EQ(repaired(coordinate + "complex hermitian\n2 2 1\n1 2 1 5\n"),
            (V{0, {1, 5}, {1, -5}, 0}));
  // Twins that agree as sums of duplicates; the zero above needs no twin.
  EXPECT_EQ(repaired(coordinate + "real symmetric\n3 3 5\n2 1 1\n2 1 2\n1 2 1\n1 2 2\n1 3 0\n"),
            (V{0, 3, 0, 3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(repaired(coordinate + "real symmetric\n2 2 2\n2 1 1\n1 2 2\n"), (V{0, 2, 1, 0}));
  // Zero-based and only the upper triangle.
  EXPECT_EQ(repaired(coordinate + "real symmetric\n2 2 2\n0 0 1\n0 1 2\n"), (V{1, 2, 2, 0}));
}

TEST(MatrixMarket, ExplicitZerosAndDuplicatesStayInCoordinatesNotInArrays) {
  const auto sparse = krysol::read_matrix(matrices / "valid" / "duplicates.mtx");
  const auto& a = std::get<Triplets<double>>(sparse.matrix);
  EXPECT_EQ(a.row_idx, (std::vector<krysol::Index>{0, 0, 1, 0}));
  EXPECT_EQ(a.col_idx, (std::vector<krysol::Index>{0, 0, 1, 1}));
  EXPECT_EQ(a.values, (std::vector<double>{2, 3, 3, 0}));
  const auto array = krysol::read_matrix(matrices / "valid" / "array_integer_general.mtx");
  EXPECT_EQ(std::get<Triplets<double>>(array.matrix).values, (std::vector<double>{-2}));
  EXPECT_EQ(array.info.stored_entries, 2);
}

TEST(MatrixMarket, InfoNamesFieldSymmetryAndKind) {
  const auto info = krysol::read_matrix(matrices / "valid" / "array_complex_hermitian.mtx").info;
  EXPECT_EQ(info.field, krysol::Field::complex);
  EXPECT_EQ(info.symmetry, Symmetry::hermitian);
  EXPECT_TRUE(info.array);
  EXPECT_EQ(info.stored_entries, 3);
  EXPECT_EQ(krysol::to_string(info.field), "complex");
}

TEST(MatrixMarket, OtherFormatsAreNamed) {
  Folder folder;
  const auto refused = [&](const std::string& name, std::string_view bytes) {
    put(folder / name, bytes);
    return read_or_message(folder / name, false);
  };
  using namespace std::string_view_literals;
  const std::string hb =
      " expected the Harwell-Boeing or Rutherford-Boeing file that its name promises: line 2 with "
      "numbers of lines and line 3 with the type and the sizes";
  for (const std::string name : {"b.rb", "b.csa", "b.hb", "b.rua.gz"}) {
    EXPECT_EQ(refused(name, "some text\n"), hb) << name;
  }
  EXPECT_NE(refused("b.mat", "some text\n").find("MATLAB"), std::string::npos);
  EXPECT_NE(refused("c.mtx", "MATLAB 5.0 MAT-file, Platform").find("MATLAB"), std::string::npos);
  EXPECT_NE(refused("d.mtx", "\x89HDF\r\n\x1a\n\0\0"sv).find("HDF5"), std::string::npos);
  EXPECT_NE(refused("e.mtx", "PK\x03\x04\0\0"sv).find("zip"), std::string::npos);
  EXPECT_NE(refused("f.mtx", "\0\x12\x7b\x50\0\0"sv).find("PETSc"), std::string::npos);
  EXPECT_EQ(refused("g.mtx", "12 \x01 3\n"sv),
            " binary data (byte 4 is \\x01) of no known format; give a Matrix Market (.mtx) file, "
            "plain or compressed");
}

TEST(MatrixMarket, FilesThatCannotBeOpenedSayWhy) {
  Folder folder;
  EXPECT_EQ(read_or_message(folder / "none.mtx", false),
            " cannot be opened: No such file or directory");
  fs::create_directory(folder / "sub.mtx");
  EXPECT_EQ(read_or_message(folder / "sub.mtx", false), " is a folder, a file was expected");
}

template <class T>
Triplets<T> random_triplets(Symmetry symmetry, unsigned seed) {
  std::mt19937_64 random(seed);
  Triplets<T> a;
  a.rows = 40;
  a.cols = symmetry == Symmetry::general ? 50 : 40;
  a.symmetry = symmetry;
  // Any finite bit pattern: denormals, both zeros and huge values among them.
  const auto real = [&random] {
    for (;;) {
      const auto value = std::bit_cast<double>(random());
      if (std::isfinite(value)) return value;
    }
  };
  for (int k = 0; k < 500; ++k) {
    auto row = static_cast<krysol::Index>(random() % static_cast<unsigned>(a.rows));
    auto col = static_cast<krysol::Index>(random() % static_cast<unsigned>(a.cols));
    if (symmetry != Symmetry::general && row < col) std::swap(row, col);
    if (symmetry == Symmetry::skew_symmetric && row == col) continue;
    if constexpr (std::is_same_v<T, double>) {
      a.add(row, col, real());
    } else {
      a.add(row, col, T(real(), symmetry == Symmetry::hermitian && row == col ? 0.0 : real()));
    }
  }
  a.add(2, 1, T(-0.0));
  a.add(3, 1, T(std::numeric_limits<double>::denorm_min()));
  a.add(4, 1, T(std::numeric_limits<double>::max()));
  a.add(5, 1, T(-std::numeric_limits<double>::min()));
  return a;
}

template <class Numbers>
void expect_same_bytes(const Numbers& a, const Numbers& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])), 0);
}

template <class T>
void expect_round_trip(const fs::path& path, Symmetry symmetry, unsigned seed) {
  SCOPED_TRACE(path.filename());
  const Triplets<T> a = random_triplets<T>(symmetry, seed);
  krysol::write_matrix(path, a);
  const krysol::MatrixFile file = krysol::read_matrix(path);
  const auto& b = std::get<Triplets<T>>(file.matrix);
  EXPECT_EQ(b.rows, a.rows);
  EXPECT_EQ(b.cols, a.cols);
  EXPECT_EQ(b.symmetry, a.symmetry);
  EXPECT_EQ(b.row_idx, a.row_idx);
  EXPECT_EQ(b.col_idx, a.col_idx);
  expect_same_bytes(a.values, b.values);
}

TEST(MatrixMarket, MatricesRoundTripToTheBit) {
  Folder folder;
  unsigned seed = 1;
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}) {
      expect_round_trip<double>(folder / name, symmetry, seed++);
      expect_round_trip<Complex>(folder / name, symmetry, seed++);
    }
    expect_round_trip<Complex>(folder / name, Symmetry::hermitian, seed++);
  }
  EXPECT_EQ(bytes_of(folder / "a.mtx.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(folder.files(), 2U);  // no temporary files are left
}

TEST(MatrixMarket, DenseArraysRoundTripToTheBit) {
  Folder folder;
  for (const std::string name : {"x.mtx", "x.mtx.gz"}) {
    const auto real = random_triplets<double>(Symmetry::general, 5).values;
    const std::vector<double> x(real.begin(), real.end());
    const auto n = static_cast<krysol::Index>(x.size() / 2);
    krysol::write_dense(folder / name, n, 2, x);
    const auto y = krysol::read_dense(folder / name);
    EXPECT_EQ(y.rows, n);
    EXPECT_EQ(y.cols, 2);
    expect_same_bytes(x, std::get<std::vector<double>>(y.values));

    const auto complex = random_triplets<Complex>(Symmetry::general, 6).values;
    const std::vector<Complex> z(complex.begin(), complex.end());
    krysol::write_dense(folder / name, static_cast<krysol::Index>(z.size()), 1, z);
    expect_same_bytes(z, std::get<std::vector<Complex>>(krysol::read_dense(folder / name).values));
  }
}

TEST(MatrixMarket, NumbersAreWrittenInTheFewestDigits) {
  Folder folder;
  krysol::write_dense(folder / "x.mtx", 4, 1, std::vector<double>{0.1, -0.0, 1e300, 2});
  EXPECT_EQ(bytes_of(folder / "x.mtx"),
            "%%MatrixMarket matrix array real general\n4 1\n0.1\n-0\n1e+300\n2\n");
  Triplets<double> a;
  a.rows = a.cols = 2;
  a.symmetry = Symmetry::symmetric;
  a.add(1, 0, -1.5);
  krysol::write_matrix(folder / "a.mtx", a);
  EXPECT_EQ(bytes_of(folder / "a.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -1.5\n");
}

TEST(MatrixMarket, WhatCannotBeReadBackIsNotWritten) {
  Folder folder;
  Triplets<double> a;
  a.rows = a.cols = 2;
  a.add(0, 1, std::nan(""));
  EXPECT_THROW(krysol::write_matrix(folder / "a.mtx", a), krysol::FileError);
  a.values[0] = 1;
  a.symmetry = Symmetry::symmetric;
  EXPECT_THROW(krysol::write_matrix(folder / "a.mtx", a), std::invalid_argument);
  a.symmetry = Symmetry::general;
  a.col_idx[0] = 2;
  EXPECT_THROW(krysol::write_matrix(folder / "a.mtx", a), std::invalid_argument);
  a.col_idx.clear();
  EXPECT_THROW(krysol::write_matrix(folder / "a.mtx", a), std::invalid_argument);
  EXPECT_THROW(krysol::write_dense(folder / "a.mtx", 2, 2, std::vector<double>(3)),
               std::invalid_argument);
  EXPECT_EQ(folder.files(), 0U);
  // A solution that holds NaN is written all the same, and refused with its position.
  krysol::write_dense(folder / "x.mtx", 2, 1, std::vector<double>{1, std::nan("")});
  EXPECT_EQ(read_or_message(folder / "x.mtx", false), "4:1: expected a finite value, found 'nan'");
}

TEST(MatrixMarket, DenseReadingRefusesCoordinatesThatWouldFillTheMemory) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 1\n";
  EXPECT_NO_THROW(krysol::parse_matrix(text, "text"));
  EXPECT_THROW(krysol::parse_dense(text, "text"), krysol::FileError);
}

/// Reading may throw FileError, ParseError among them, and nothing else.
void expect_no_other_exception(const std::string& text) {
  for (const bool repair : {false, true}) {
    krysol::ReadOptions options;
    options.repair = repair;
    options.max_dense_values = 1000;
    try {
      krysol::parse_matrix(text, "text", options);
    } catch (const krysol::FileError&) {
    }
    try {
      krysol::parse_dense(text, "text", options);
    } catch (const krysol::FileError&) {
    }
  }
}

TEST(MatrixMarket, EveryPrefixIsReadOrRefused) {
  for (const std::string folder : {"valid", "invalid"}) {
    for (const fs::path& path : files_in(matrices / folder)) {
      const std::string text = bytes_of(path);
      SCOPED_TRACE(path.filename());
      for (std::size_t n = 0; n < text.size(); ++n) {
        ASSERT_NO_THROW(expect_no_other_exception(text.substr(0, n))) << n << " bytes";
      }
    }
  }
}

TEST(MatrixMarket, EveryMutationOfOneByteIsReadOrRefused) {
  for (const std::string name : {"complex_hermitian.mtx", "array_real_symmetric.mtx",
                                 "pattern_symmetric.mtx", "integer_skew.mtx"}) {
    const std::string text = bytes_of(matrices / "valid" / name);
    for (std::size_t k = 0; k < text.size(); ++k) {
      std::string mutant = text;
      for (int byte = 0; byte < 256; ++byte) {
        mutant[k] = static_cast<char>(byte);
        ASSERT_NO_THROW(expect_no_other_exception(mutant)) << name << ": " << k << " is " << byte;
      }
      mutant.erase(k, 1);
      ASSERT_NO_THROW(expect_no_other_exception(mutant)) << name << ": without byte " << k;
    }
  }
}

TEST(File, CompressionIsSeenFromTheContent) {
  Folder folder;
  const auto plain = matrices / "valid" / "real_symmetric.mtx";
  {
    krysol::OutputFile file(folder / "a.gz");
    file.write(bytes_of(plain));
    file.commit();
  }
  fs::rename(folder / "a.gz", folder / "a.mtx");
  const auto file = krysol::read_matrix(folder / "a.mtx");
  EXPECT_EQ(expanded(file), expanded(krysol::read_matrix(plain)));
  EXPECT_EQ(file.info.bytes, static_cast<std::int64_t>(fs::file_size(folder / "a.mtx")));
  EXPECT_EQ(file.info.text_bytes, static_cast<std::int64_t>(fs::file_size(plain)));
  // Two members, as `cat a.gz b.gz` makes them.
  const std::string member = bytes_of(folder / "a.mtx");
  put(folder / "b.gz", member + member);
  EXPECT_EQ(krysol::read_text(folder / "b.gz", 1 << 20).view(), bytes_of(plain) + bytes_of(plain));
}

TEST(File, DamagedGzipIsRefused) {
  Folder folder;
  std::string text = "%%MatrixMarket matrix array integer general\n3000 1\n";
  for (int k = 0; k < 3000; ++k) text += std::to_string(k * k % 997) + "\n";
  {
    krysol::OutputFile file(folder / "a.gz");
    file.write(text);
    file.commit();
  }
  const std::string good = bytes_of(folder / "a.gz");
  EXPECT_EQ(read_or_message(folder / "a.gz", false), "read");
  for (std::size_t n = 2; n < good.size(); n += 7) {
    put(folder / "cut.gz", std::string_view(good).substr(0, n));
    EXPECT_THROW(krysol::read_text(folder / "cut.gz", 1 << 20), krysol::FileError) << n;
  }
  // A bit that means nothing (in the header, or between the last code and the trailer) may differ;
  // text that differs may not pass.
  for (std::size_t k = 2; k < good.size(); k += 3) {
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ (1 << (k % 8)));
    put(folder / "bad.gz", bad);
    try {
      EXPECT_EQ(krysol::read_text(folder / "bad.gz", 1 << 20).view(), text) << k;
    } catch (const krysol::FileError&) {
    }
  }
}

TEST(File, TextBeyondTheLimitIsRefused) {
  Folder folder;
  for (const std::string name : {"a", "a.gz"}) {
    krysol::OutputFile file(folder / name);
    file.write(std::string(5 << 20, ' '));
    file.commit();
    EXPECT_THROW(krysol::read_text(folder / name, 1 << 20), krysol::FileError);
    EXPECT_EQ(krysol::read_text(folder / name, 5 << 20).view().size(), std::size_t{5 << 20});
  }
  EXPECT_LT(fs::file_size(folder / "a.gz"), 10000U);
}

/// A file that never says its sizes costs its first 16 MiB, not all of it.
TEST(MatrixMarket, WithoutSizesIsRefusedByItsBeginning) {
  Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const std::string most(std::size_t{16} << 20, ' ');
  const auto filled = [&](char c) { return std::string(most.size(), c); };
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    for (const std::string& text : {most, banner + filled('1'), banner + filled('%'),
                                    banner + filled('\n'), banner + "2 2 2" + most}) {
      krysol::OutputFile file(folder / name);
      file.write(text + "\n1 1 1\n1 1 1\n");
      file.commit();
      EXPECT_EQ(read_or_message(folder / name, false),
                " expected the size line (rows columns entries) within the first 16777216 bytes, "
                "where a Matrix Market file has its banner and comments, found no line with sizes "
                "that ends there");
    }
    krysol::OutputFile file(folder / name);
    file.write(banner + filled('%').substr(banner.size() + 20) + "\n1 1 1\n1 1 1\n");
    file.commit();
    EXPECT_EQ(read_or_message(folder / name, false), "read");
  }
}

TEST(File, PipesAndEmptyFilesAreRead) {
  Folder folder;
  put(folder / "empty", "");
  EXPECT_EQ(krysol::read_text(folder / "empty", 100).view(), "");
  {
    krysol::OutputFile file(folder / "empty.gz");
    file.commit();
  }
  EXPECT_EQ(krysol::read_text(folder / "empty.gz", 100).view(), "");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "1 2 3\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  EXPECT_EQ(krysol::read_text("/dev/fd/" + std::to_string(ends[0]), 100).view(), text);
  ::close(ends[0]);
}

TEST(File, OutputAppearsOnlyWhenItIsCommitted) {
  Folder folder;
  put(folder / "a.csv", "old");
  {
    krysol::OutputFile file(folder / "a.csv");
    file.write("new");
    EXPECT_EQ(bytes_of(folder / "a.csv"), "old");
  }
  EXPECT_EQ(bytes_of(folder / "a.csv"), "old");
  EXPECT_EQ(folder.files(), 1U);
  krysol::OutputFile file(folder / "a.csv");
  file.write("new");
  file.commit();
  EXPECT_EQ(bytes_of(folder / "a.csv"), "new");
  EXPECT_EQ(folder.files(), 1U);
  EXPECT_THROW(file.write("more"), krysol::FileError);
}

TEST(File, OutputKeepsPermissionsAndLinks) {
  Folder folder;
  const mode_t old_mask = ::umask(027);
  const auto write = [&](const std::string& name) {
    krysol::OutputFile file(folder / name);
    file.write("text");
    file.commit();
  };
  write("new");
  ::umask(old_mask);
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms{0640});
  fs::permissions(folder / "new", fs::perms{0604});
  write("new");
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms{0604});
  fs::create_symlink("new", folder / "link");
  put(folder / "new", "");
  write("link");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of(folder / "new"), "text");
}

TEST(File, OutputErrorsSayWhy) {
  Folder folder;
  EXPECT_THROW(krysol::OutputFile(folder / "none/a.mtx"), krysol::FileError);
  fs::create_directory(folder / "sub");
  EXPECT_THROW(krysol::OutputFile(folder / "sub"), krysol::FileError);
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full to play a full disk";
  krysol::OutputFile file("/dev/full");
  file.write("text");
  try {
    file.commit();
    FAIL() << "written to a full device";
  } catch (const krysol::FileError& error) {
    EXPECT_STREQ(error.what(), "/dev/full: cannot be written: No space left on device");
  }
}

}  // namespace
