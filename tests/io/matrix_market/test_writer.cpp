// Written files: the bytes of a simple loop whatever the number of threads, and the bits of every
// number when they are read again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>
#include <krysol/io/text/number_text.hpp>
#include <krysol/io/text/ordered_blocks.hpp>
#include "messages.hpp"
#include "written_files.hpp"

namespace {

using namespace krysol_tests;
using krysol::Compression;
using krysol::Field;
using krysol::Index;
using krysol::Symmetry;
using krysol::Triplets;
using krysol::WriteOptions;

std::string text_of(double v) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr};
}
std::string text_of(Complex v) { return text_of(v.real()) + " " + text_of(v.imag()); }
std::string_view word(double) { return "real"; }
std::string_view word(Complex) { return "complex"; }

/// What must be in a file, by a loop that leaves no room for mistakes.
template <class T>
std::string plainly(const Triplets<T>& a) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", word(T()),
                                 krysol::to_string(a.symmetry), a.rows, a.cols, a.values.size());
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    text += std::to_string(a.row_idx[k] + 1) + " " + std::to_string(a.col_idx[k] + 1) + " " +
            text_of(a.values[k]) + "\n";
  }
  return text;
}

// ---- digits

void expect_as_to_chars(double v) {
  std::array<char, krysol::longest_number + krysol::spare_bytes> text{};
  const std::string put(text.data(), krysol::put_real(text.data(), v));
  ASSERT_EQ(put, text_of(v));
}

TEST(NumberText, HasTheBytesOfTheStandardLibrary) {
  for (const double v : all_sorts_of_numbers()) expect_as_to_chars(v);
  for (int e = -1080; e < 1024; ++e) {
    expect_as_to_chars(std::ldexp(1.0, e));
    expect_as_to_chars(std::nextafter(std::ldexp(1.0, e), 0));
  }
  for (int e = -330; e < 309; ++e) {
    for (const char* digits : {"1", "2", "12", "123", "9", "99999", "123456789", "1234567890123"}) {
      expect_as_to_chars(std::strtod(fmt::format("{}e{}", digits, e).c_str(), nullptr));
    }
  }
  std::mt19937_64 random(7);
  for (int k = 0; k < 200000; ++k) {
    const std::uint64_t bits = random();
    expect_as_to_chars(std::bit_cast<double>(bits));
    expect_as_to_chars(static_cast<double>(bits >> (bits & 63)));
    expect_as_to_chars(static_cast<double>(bits >> 40) / 1000);
    expect_as_to_chars(static_cast<double>(bits >> 11) * -0x1p-53);
  }
}

TEST(NumberText, WritesWholeNumbersOfAnyLength) {
  std::array<char, krysol::longest_number + krysol::spare_bytes> text{};
  const auto expect = [&](auto v) {
    EXPECT_EQ(std::string(text.data(), krysol::put_whole(text.data(), v)), std::to_string(v));
  };
  std::uint64_t power = 1;
  for (int k = 0; k < 20; ++k, power *= 10) {
    for (const std::uint64_t v : {power - 1, power, power + 1, 7 * power}) {
      expect(v);
      expect(static_cast<std::int64_t>(v));
      expect(-static_cast<std::int64_t>(v / 2));
    }
  }
  expect(std::numeric_limits<std::int64_t>::min());
  expect(std::numeric_limits<std::int64_t>::max());
  expect(std::numeric_limits<std::uint64_t>::max());
}

TEST(NumberText, WritesAPointAndAnExponentForFortran) {
  const auto put = [](double v) {
    std::array<char, krysol::longest_number + krysol::spare_bytes> text{};
    return std::string(text.data(), krysol::put_scientific(text.data(), v));
  };
  EXPECT_EQ(put(0), "0.0E+00");
  EXPECT_EQ(put(-0.0), "-0.0E+00");
  EXPECT_EQ(put(1), "1.0E+00");
  EXPECT_EQ(put(-1250), "-1.25E+03");
  EXPECT_EQ(put(0.1), "1.0E-01");
  EXPECT_EQ(put(std::numeric_limits<double>::max()), "1.7976931348623157E+308");
  EXPECT_EQ(put(-std::numeric_limits<double>::denorm_min()), "-5.0E-324");
  for (const double v : all_sorts_of_numbers()) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(std::strtod(put(v).c_str(), nullptr)),
              std::bit_cast<std::uint64_t>(v))
        << put(v);
  }
}

// ---- Matrix Market

TEST(Writer, TheBytesAreThoseOfASimpleLoop) {
  const Folder folder;
  for (const int threads : {1, 2, 4, 7}) {
    WriteOptions options;
    options.threads = threads;
    const auto real = random_matrix<double>(50000, Symmetry::symmetric);
    write_matrix(folder / "a.mtx", real, options);
    EXPECT_TRUE(bytes_of(folder / "a.mtx") == plainly(real)) << threads;
    const auto complex = random_matrix<Complex>(40000, Symmetry::general);
    write_matrix(folder / "a.mtx", complex, options);
    EXPECT_TRUE(bytes_of(folder / "a.mtx") == plainly(complex)) << threads;
  }
  // As many entries as fill blocks, and one more or less.
  for (const std::size_t entries : {0U, 1U, 16383U, 16384U, 16385U, 32768U}) {
    const auto a = random_matrix<double>(entries, Symmetry::general);
    WriteOptions options;
    options.threads = 2;
    write_matrix(folder / "a.mtx", a, options);
    EXPECT_TRUE(bytes_of(folder / "a.mtx") == plainly(a)) << entries;
  }
  EXPECT_EQ(folder.files(), 1U) << "a temporary file was left";
}

TEST(Writer, ArraysToo) {
  const Folder folder;
  auto values = random_matrix<double>(40000, Symmetry::general).values;
  values[7] = std::numeric_limits<double>::infinity();
  values[30000] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> all(values.begin(), values.end());
  std::string text = "%%MatrixMarket matrix array real general\n20000 2\n";
  for (const double v : all) text += text_of(v) + "\n";
  for (const int threads : {1, 2, 4}) {
    WriteOptions options;
    options.threads = threads;
    krysol::write_dense(folder / "a.mtx", 20000, 2, all, options);
    EXPECT_TRUE(bytes_of(folder / "a.mtx") == text) << threads;
  }
}

template <class T>
void expect_round_trip(const fs::path& path, const Triplets<T>& a, const WriteOptions& options) {
  SCOPED_TRACE(path.filename().string() + " " + std::string(krysol::to_string(a.symmetry)));
  krysol::write_matrix(path, a, options);
  const auto file = krysol::read_matrix(path);
  EXPECT_EQ(file.info.field, options.field.value_or(file.info.field));
  expect_same_bits(std::get<Triplets<T>>(file.matrix), a);
}

TEST(Writer, ArraysWithoutRowsOrColumns) {
  const Folder folder;
  const std::vector<double> none;
  krysol::write_dense(folder / "rows.mtx", 0, 3, none, {});
  EXPECT_EQ(bytes_of(folder / "rows.mtx"), "%%MatrixMarket matrix array real general\n0 3\n");
  krysol::write_dense(folder / "cols.mtx", 2, 0, none, {});
  EXPECT_EQ(bytes_of(folder / "cols.mtx"), "%%MatrixMarket matrix array real general\n2 0\n");
  EXPECT_EQ(message_of([&] { krysol::write_dense(folder / "no.mtx", -1, 0, none, {}); }),
            "write_dense: 0 values for an array of -1 x 0");
}

TEST(Writer, EveryBitComesBack) {
  const Folder folder;
  for (const int threads : {1, 3}) {
    WriteOptions options;
    options.threads = threads;
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}) {
      expect_round_trip(folder / "r.mtx", random_matrix<double>(20000, symmetry), options);
    }
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      expect_round_trip(folder / "c.mtx", random_matrix<Complex>(20000, symmetry), options);
    }
  }
}

TEST(Writer, IntegersAndPatternsStaySo) {
  const Folder folder;
  Triplets<double> a{3, 3, Symmetry::symmetric, {}, {}, {}};
  for (const double v : {0.0, -1.0, 100000.0, 9007199254740992.0, -9223372036854775808.0}) {
    a.add(2, 1, v);
  }
  WriteOptions options;
  options.field = Field::integer;
  expect_round_trip(folder / "i.mtx", a, options);
  EXPECT_TRUE(holds(bytes_of(folder / "i.mtx"), "integer symmetric\n"));
  EXPECT_TRUE(holds(bytes_of(folder / "i.mtx"), "3 2 100000\n"));
  std::fill(a.values.begin(), a.values.end(), 1.0);
  options.field = Field::pattern;
  expect_round_trip(folder / "p.mtx", a, options);
  EXPECT_TRUE(holds(bytes_of(folder / "p.mtx"), "pattern symmetric\n3 3 5\n3 2\n3 2\n"));
  krysol::write_dense(folder / "d.mtx", 2, 1, std::vector<double>{1, -100000},
                      {.field = Field::integer});
  EXPECT_EQ(bytes_of(folder / "d.mtx"),
            "%%MatrixMarket matrix array integer general\n2 1\n1\n-100000\n");
}

TEST(Writer, ATitleBecomesComments) {
  const Folder folder;
  const Triplets<double> a{1, 1, Symmetry::general, {}, {}, {}};
  krysol::write_matrix(folder / "a.mtx", a, {.title = "two\nlines"});
  EXPECT_EQ(bytes_of(folder / "a.mtx"),
            "%%MatrixMarket matrix coordinate real general\n% two\n% lines\n1 1 0\n");
  EXPECT_EQ(krysol::read_matrix(folder / "a.mtx").info.stored_entries, 0);
}

TEST(Writer, RefusesWhatAFieldCannotHold) {
  const Folder folder;
  const auto path = folder / "a.mtx";
  Triplets<double> a{2, 2, Symmetry::general, {}, {}, {}};
  a.add(0, 0, 1);
  const auto refusal = [&](const Triplets<double>& matrix, Field field) {
    return what_of<std::invalid_argument>(
        [&] { krysol::write_matrix(path, matrix, {.field = field}); });
  };
  EXPECT_TRUE(holds(refusal(a, Field::complex), "real values cannot be written as complex"));
  for (const double v : {0.5, 0x1p63, -0x1.8p63}) {
    auto b = a;
    b.add(1, 0, v);
    EXPECT_TRUE(holds(refusal(b, Field::integer), "entry (1, 0), counted from 0, is")) << v;
  }
  auto skew = a;
  skew.symmetry = Symmetry::skew_symmetric;
  EXPECT_TRUE(holds(refusal(skew, Field::pattern), "a pattern is general or symmetric"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(Writer, NamesTheFirstValueThatIsNoInteger) {
  const Folder folder;
  for (const std::size_t first : {0U, 1U, 4U}) {
    std::vector<double> values = {1, -2, 3, 4, 5};
    for (std::size_t k = first; k < values.size(); ++k) values[k] = 0.5;
    EXPECT_EQ(what_of<std::invalid_argument>([&] {
                krysol::write_dense(folder / "d.mtx", 5, 1, values, {.field = Field::integer});
              }),
              fmt::format("write_dense: value {} of 5, 0.5, is no integer of 64 bits", first + 1));
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(Writer, NamesTheFirstBadEntryWhateverTheThreads) {
  const Folder folder;
  auto a = random_matrix<double>(300000, Symmetry::general);
  for (const std::size_t k : {299999U, 140000U, 70001U}) {
    a.values[k] = std::numeric_limits<double>::infinity();
  }
  for (const int threads : {1, 2, 4}) {
    WriteOptions options;
    options.threads = threads;
    const std::string message =
        what_of<krysol::FileError>([&] { krysol::write_matrix(folder / "a.mtx", a, options); });
    EXPECT_TRUE(holds(message, fmt::format("entry ({}, {}), counted from 1, is not finite",
                                           a.row_idx[70001] + 1, a.col_idx[70001] + 1)))
        << message;
  }
}

// ---- compressed

TEST(Writer, CompressesAsTheNameSays) {
  const Folder folder;
  // More than one block, each a stream; short ones, because xz takes its time.
  Triplets<double> a{9, 9, Symmetry::general, {}, {}, {}};
  for (int k = 0; k < 600000; ++k) a.add(k % 9, k / 9 % 9, 1);
  const auto small = random_matrix<Complex>(2000, Symmetry::hermitian);
  krysol::write_matrix(folder / "plain.mtx", a, {.field = Field::pattern});
  const std::string text = bytes_of(folder / "plain.mtx");
  for (const char* suffix : {".gz", ".bz2", ".xz", ".zst"}) {
    SCOPED_TRACE(suffix);
    const auto path = folder / std::string("a.mtx").append(suffix);
    std::string first;
    for (const int threads : {1, 3}) {
      WriteOptions options;
      options.threads = threads;
      options.field = Field::pattern;
      krysol::write_matrix(path, a, options);
      const std::string bytes = bytes_of(path);
      if (threads == 1) {
        EXPECT_LT(bytes.size(), text.size() / 20);
        EXPECT_TRUE(krysol::read_text(path, 1 << 24).view() == text);
        EXPECT_EQ(krysol::read_matrix(path).info.stored_entries, 600000);
        first = bytes;
      }
      EXPECT_TRUE(bytes == first) << threads;
    }
    krysol::write_matrix(path, small);
    expect_same_bits(std::get<Triplets<Complex>>(krysol::read_matrix(path).matrix), small);
  }
  krysol::write_matrix(folder / "b.mtx", small, {.compression = Compression::xz});
  EXPECT_TRUE(bytes_of(folder / "b.mtx")
                  .starts_with("\xfd"
                               "7zXZ"));
  krysol::write_matrix(folder / "b.mtx.gz", small, {.compression = Compression::none});
  EXPECT_TRUE(bytes_of(folder / "b.mtx.gz").starts_with("%%MatrixMarket"));
}

TEST(Writer, CompressesNothingToo) {
  const Folder folder;
  for (const char* suffix : {".gz", ".bz2", ".xz", ".zst"}) {
    const auto path = folder / std::string("a").append(suffix);
    krysol::OutputFile file(path);
    file.commit();
    EXPECT_GT(fs::file_size(path), 0U) << suffix;
    EXPECT_EQ(krysol::read_text(path, 10).view(), "") << suffix;
  }
}

// ---- what goes wrong

TEST(Writer, SaysSoWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto a = random_matrix<double>(200000, Symmetry::general);
  for (const int threads : {1, 2, 4}) {
    for (const Compression compression :
         {Compression::none, Compression::gzip, Compression::zstd}) {
      WriteOptions options;
      options.threads = threads;
      options.compression = compression;
      const std::string message =
          what_of<krysol::FileError>([&] { krysol::write_matrix("/dev/full", a, options); });
      EXPECT_TRUE(message.starts_with("/dev/full: cannot be written: ")) << message;
    }
  }
}

TEST(Writer, KeepsTheOldFileWhenTheQuotaEnds) {
  const Folder folder;
  const Triplets<double> old{1, 1, Symmetry::general, {}, {}, {}};
  const auto a = random_matrix<double>(200000, Symmetry::general);
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    const auto path = folder / name;
    krysol::write_matrix(path, old);
    const std::string before = bytes_of(path);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = 500000;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // so that write() fails instead
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    WriteOptions options;
    options.threads = 4;
    const std::string message =
        what_of<krysol::FileError>([&] { krysol::write_matrix(path, a, options); });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(holds(message, "cannot be written: File too large")) << message;
    EXPECT_EQ(bytes_of(path), before);
  }
  EXPECT_EQ(folder.files(), 2U) << "a temporary file was left";
}

TEST(Writer, RethrowsWhatMakesNoText) {
  const Folder folder;
  for (const int threads : {1, 4}) {
    krysol::OutputFile file(folder / "a");
    const auto make = [](std::size_t block, krysol::Array<char>& text) {
      if (block == 50) throw std::length_error("block 50");
      text.assign(100, 'x');
    };
    EXPECT_EQ(what_of<std::length_error>([&] { write_in_order(file, 1000, threads, make); }),
              "block 50");
  }
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
