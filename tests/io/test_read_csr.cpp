// From files to rows, in one pass and in two, and what memory that takes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>
#include <krysol/io/read_csr.hpp>
#include <krysol/spmv/base/memory.hpp>

#include "files.hpp"

namespace {

namespace fs = std::filesystem;
using krysol::Symmetry;
using krysol::Triplets;
using krysol_tests::Folder;
using Complex = std::complex<double>;

TEST(ReadCsr, AMemberOfNoArchiveIsRefusedInTwoPassesToo) {
  const Folder folder;
  std::ofstream(folder / "a.mtx")
      << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
  krysol::ReadOptions options;
  options.member = "m/m.mtx";
  for (const bool low_memory : {false, true}) {
    options.low_memory = low_memory;
    EXPECT_THROW(krysol::read_csr(folder / "a.mtx", options), krysol::FileError);
  }
}

template <class T>
T number(std::mt19937& random) {
  const auto part = [&random] { return static_cast<double>(random() % 1000) / 8 - 60; };
  if constexpr (std::is_same_v<T, Complex>) {
    const double re = part();
    return {re, part()};
  } else {
    return part();
  }
}

/// Entries in any order, some of them of one place.
template <class T>
Triplets<T> some_entries(Symmetry symmetry, std::size_t entries) {
  std::mt19937 random(7);
  Triplets<T> a;
  a.rows = a.cols = 700;
  if (symmetry == Symmetry::general) a.cols = 900;
  a.symmetry = symmetry;
  while (a.values.size() < entries) {
    auto row = static_cast<krysol::Index>(random() % static_cast<unsigned>(a.rows));
    auto col = static_cast<krysol::Index>(random() % static_cast<unsigned>(a.cols));
    if (symmetry != Symmetry::general && row < col) std::swap(row, col);
    T value = number<T>(random);
    if (row == col && symmetry == Symmetry::skew_symmetric) continue;
    if (row == col && symmetry == Symmetry::hermitian) value = std::real(value);
    a.add(row, col, value);
  }
  return a;
}

template <class S>
void expect_same(const krysol::Assembled<S>& a, const krysol::Assembled<S>& b) {
  EXPECT_EQ(a.duplicates, b.duplicates);
  EXPECT_EQ(a.explicit_zeros, b.explicit_zeros);
  ASSERT_EQ(a.matrix.rows, b.matrix.rows);
  ASSERT_EQ(a.matrix.cols, b.matrix.cols);
  ASSERT_EQ(a.matrix.nnz(), b.matrix.nnz());
  for (std::size_t i = 0; i <= static_cast<std::size_t>(a.matrix.rows); ++i) {
    ASSERT_EQ(a.matrix.row_ptr(i), b.matrix.row_ptr(i));
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(a.matrix.nnz()); ++k) {
    ASSERT_EQ(a.matrix.col_idx(k), b.matrix.col_idx(k));
    ASSERT_EQ(a.matrix.values(k), b.matrix.values(k));
  }
}

template <class T>
void expect_rows_of(const fs::path& path, const Triplets<T>& entries) {
  using S = krysol::DeviceScalar<T>;
  krysol::write_matrix(path, entries);
  const krysol::Assembled<S> expected = krysol::to_csr(entries);
  EXPECT_GT(expected.duplicates, 0);
  for (const bool low_memory : {false, true}) {
    krysol::ReadOptions options;
    options.low_memory = low_memory;
    const krysol::CsrFile file = krysol::read_csr(path, options);
    EXPECT_EQ(file.info.stored_entries, static_cast<std::int64_t>(entries.values.size()));
    EXPECT_EQ(file.info.bytes, static_cast<std::int64_t>(fs::file_size(path)));
    expect_same(std::get<krysol::Assembled<S>>(file.matrix), expected);
  }
}

TEST(ReadCsr, IsTheSameInOnePassAndInTwo) {
  const Folder folder;
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    for (const Symmetry symmetry :
         {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      SCOPED_TRACE(name + " " + std::string(krysol::to_string(symmetry)));
      expect_rows_of(folder / name, some_entries<Complex>(symmetry, 60000));
      if (symmetry != Symmetry::hermitian) {
        expect_rows_of(folder / name, some_entries<double>(symmetry, 60000));
      }
    }
  }
}

/// What came of a file: its rows and repairs, or the message of the error.
std::string outcome_of(const fs::path& path, const krysol::ReadOptions& options) {
  try {
    const krysol::CsrFile file = krysol::read_csr(path, options);
    const auto& a = std::get<krysol::Assembled<double>>(file.matrix).matrix;
    std::string text = fmt::format("{} x {}:", a.rows, a.cols);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
      for (auto k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
        const auto place = static_cast<std::size_t>(k);
        text += fmt::format(" ({}, {}) {}", i, a.col_idx(place), a.values(place));
      }
    }
    for (const std::string& repair : file.info.repairs) text += "; " + repair;
    return text;
  } catch (const krysol::FileError& error) {
    return error.what();
  }
}

/// Every policy alone and with --repair: two passes and a cache change nothing.
TEST(ReadCsr, FollowsEveryPolicyInTwoPassesAndThroughACache) {
  using namespace krysol;
  using Change = std::function<void(ReadOptions&)>;
  const std::vector<std::pair<std::string, Change>> policies = {
      {"none", [](ReadOptions&) {}},
      {"sum", [](ReadOptions& o) { o.duplicates = Duplicates::sum; }},
      {"first", [](ReadOptions& o) { o.duplicates = Duplicates::first; }},
      {"reject", [](ReadOptions& o) { o.duplicates = Duplicates::reject; }},
      {"from zero", [](ReadOptions& o) { o.index_base = IndexBase::zero; }},
      {"from one", [](ReadOptions& o) { o.index_base = IndexBase::one; }},
      {"as seen", [](ReadOptions& o) { o.index_base = IndexBase::as_seen; }},
      {"triangles", [](ReadOptions& o) { o.wrong_triangle = Policy::repair; }},
      {"one triangle", [](ReadOptions& o) { o.wrong_triangle = Policy::refuse; }},
      {"junk", [](ReadOptions& o) { o.junk = Policy::repair; }},
      {"no junk", [](ReadOptions& o) { o.junk = Policy::refuse; }},
      {"no NaN", [](ReadOptions& o) { o.not_finite = NotFinite::refuse; }},
      {"drop NaN", [](ReadOptions& o) { o.not_finite = NotFinite::drop; }},
      {"keep NaN", [](ReadOptions& o) { o.not_finite = NotFinite::keep; }}};
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  const std::vector<std::string> texts = {
      coordinate + "real general\n3 3 5\n1 1 2\n2 2 7\n1 1 3\n3 3 4\n1 1 5\n",
      coordinate + "real general\n3 3 3\n0 0 2\n1 1 7\n2 2 3\n",
      coordinate + "real symmetric\n3 3 4\n1 1 2\n2 1 7\n1 2 7\n3 3 1\n",
      coordinate + "real general\n2 2 2\n1 1 2\n2 2 3\n2 1 9\n",
      coordinate + "real general\n2 2 3\n1 1 2\n2 2 nan\n2 1 inf\n",
      coordinate + "pattern general\n2 2 2\n1 1 5\n2 2\n"};
  const Folder folder;
  std::set<std::string> all;
  for (const std::string& text : texts) {
    for (const auto& [name, change] : policies) {
      for (const bool repair : {false, true}) {
        SCOPED_TRACE(text + name + (repair ? ", repaired" : ""));
        std::ofstream(folder / "a.mtx") << text;
        fs::last_write_time(folder / "a.mtx",
                            fs::file_time_type::clock::now() - std::chrono::hours(1));
        ReadOptions options;
        options.repair = repair;
        change(options);
        const std::string plain = outcome_of(folder / "a.mtx", options);
        all.insert(plain);
        options.low_memory = true;
        EXPECT_EQ(outcome_of(folder / "a.mtx", options), plain);
        options.low_memory = false;
        options.cache.use = true;
        options.cache.folder = folder / "cache";
        EXPECT_EQ(outcome_of(folder / "a.mtx", options), plain);
        EXPECT_EQ(outcome_of(folder / "a.mtx", options), plain);
      }
    }
  }
  EXPECT_GT(all.size(), 15U);
}

TEST(ReadCsr, TakesUnusualFilesWithLittleMemoryToo) {
  const Folder folder;
  std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 2\n"
                                     "0 1 5\n1 0 nan\n";
  krysol::ReadOptions options;
  options.low_memory = true;
  EXPECT_THROW(krysol::read_csr(folder / "a.mtx", options), krysol::ParseError);
  options.repair = true;
  const krysol::CsrFile file = krysol::read_csr(folder / "a.mtx", options);
  EXPECT_EQ(file.info.repairs.size(), 2U);
  EXPECT_EQ(std::get<krysol::Assembled<double>>(file.matrix).matrix.nnz(), 1);
}

/// Entries off the diagonal stand for two where the file has a symmetry; at most a diagonal does
/// not.
TEST(ReadCsr, AsksForTheMemoryOfMirrorImagesToo) {
  if (!krysol::free_host_bytes()) GTEST_SKIP() << "what is free is not known here";
  struct Case {
    std::string kind;
    int cols;
    std::vector<std::string> entries;
    std::int64_t expanded;
    std::int64_t value_bytes;
  };
  const std::vector<std::string> five = {"1 1 2", "2 1 3", "3 1 4", "3 2 5", "2 2 6"};
  const std::vector<Case> cases = {
      {"real general", 3, five, 5, 8},
      {"real general", 2, five, 5, 8},
      {"real symmetric", 3, five, 7, 8},
      {"real symmetric", 3, {"1 1 2"}, 1, 8},
      {"complex general", 3, {"1 1 2 0", "2 1 0 1", "3 1 1 1", "3 2 1 2"}, 4, 16},
      {"complex hermitian", 3, {"1 1 2 0", "2 1 0 1", "3 1 1 1", "3 2 1 2"}, 5, 16}};
  constexpr std::int64_t rows = 3;
  constexpr std::int64_t a_row = 100'000'000'000'000;
  const Folder folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{}, {} columns", c.kind, c.cols));
    std::string text = fmt::format("%%MatrixMarket matrix coordinate {}\n{} {} {}\n", c.kind, rows,
                                   c.cols, c.entries.size());
    for (const std::string& entry : c.entries) text += entry + "\n";
    std::ofstream(folder / "a.mtx") << text;
    try {
      krysol::read_csr(folder / "a.mtx", {}, a_row);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const krysol::OutOfMemory& e) {
      const std::string what = e.what();
      EXPECT_TRUE(what.starts_with(
          fmt::format("no room for 'the rows of a matrix of {} x {}, {} nonzeros': ", rows, c.cols,
                      c.expanded)))
          << what;
      EXPECT_EQ(e.bytes(), rows * (8 + a_row) + c.expanded * (4 + c.value_bytes));
    }
  }
}

/// A file that another one replaces while it is read is an error, or one of the two.
TEST(ReadCsr, NeverMixesTwoFiles) {
  const Folder folder;
  const auto one = some_entries<double>(Symmetry::general, 50000);
  auto two = one;
  for (std::size_t k = 0; k < two.row_idx.size(); ++k) {
    two.row_idx[k] = two.rows - 1 - two.row_idx[k];
  }
  const fs::path names[] = {folder / "one.mtx", folder / "two.mtx"};
  krysol::write_matrix(names[0], one);
  krysol::write_matrix(names[1], two);
  const krysol::Assembled<double> expected[] = {krysol::to_csr(one), krysol::to_csr(two)};
  const fs::path path = folder / "a.mtx";
  fs::copy_file(names[0], path);
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (int turn = 1; !done; turn = 1 - turn) {
      fs::copy_file(names[turn], folder / "next.mtx", fs::copy_options::overwrite_existing);
      fs::rename(folder / "next.mtx", path);
    }
  });
  krysol::ReadOptions options;
  options.low_memory = true;
  for (int k = 0; k < 40; ++k) {
    try {
      const krysol::CsrFile file = krysol::read_csr(path, options);
      const auto& a = std::get<krysol::Assembled<double>>(file.matrix);
      expect_same(a, expected[a.matrix.row_ptr(1) == expected[0].matrix.row_ptr(1) ? 0 : 1]);
    } catch (const krysol::FileError& e) {
      EXPECT_NE(std::string(e.what()).find("has been changed while it was read"), std::string::npos)
          << e.what();
    }
  }
  done = true;
  other.join();
  EXPECT_NO_THROW(krysol::read_csr(path, options));
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
/// kB of a line of /proc/self/status; -1 where there is none.
long status_kb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stol(line.substr(name.size() + 1));
  }
  return -1;
}

/// From here on VmHWM is the peak since now; false where the system does not let us.
bool restart_peak() {
  ::malloc_trim(0);
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;
  return clear.good() && status_kb("VmHWM") - status_kb("VmRSS") < 1024;
}

/// Many entries of many rows, row by row.
void write_large(const fs::path& path, const char* symmetry, int rows) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool general = std::string(symmetry) == "general";
  constexpr int a_row = 12;
  fmt::print(file, "%%MatrixMarket matrix coordinate real {}\n{} {} {}\n", symmetry, rows, rows,
             std::int64_t{rows} * a_row);
  for (int i = 1; i <= rows; ++i) {
    for (int k = 0; k < a_row; ++k) {
      // Below the diagonal; the first rows name some places twice.
      const int below = i - 7 * k;
      const int col = general ? (i + 37 * k) % rows + 1 : (below > 0 ? below : 1);
      fmt::print(file, "{} {} {}.25\n", i, col, k);
    }
  }
  std::fclose(file);
}

TEST(ReadCsr, NeedsNoMoreMemoryThanItSays) {
  if (!restart_peak()) GTEST_SKIP() << "the peak of the memory cannot be set back here";
  const Folder folder;
  struct Case {
    const char* symmetry;
    bool low_memory;
    double most;  // times the matrix
  };
  for (const Case c : {Case{"general", false, 2.5}, Case{"symmetric", false, 1.75},
                       Case{"general", true, 1.3}, Case{"symmetric", true, 1.3}}) {
    SCOPED_TRACE(std::string(c.symmetry) + (c.low_memory ? ", low memory" : ""));
    const fs::path path = folder / (std::string(c.symmetry) + ".mtx");
    if (!fs::exists(path)) write_large(path, c.symmetry, 150000);
    krysol::ReadOptions options;
    options.low_memory = c.low_memory;
    ASSERT_TRUE(restart_peak());
    const long before = status_kb("VmRSS");
    const krysol::CsrFile file = krysol::read_csr(path, options);
    const auto peak = static_cast<double>(status_kb("VmHWM") - before) * 1024;
    const auto& a = std::get<krysol::Assembled<double>>(file.matrix).matrix;
    const double matrix = 12.0 * static_cast<double>(a.nnz()) + 8.0 * (a.rows + 1);
    EXPECT_GT(matrix, 2e7);
    EXPECT_GT(peak, 0.9 * matrix);
    // Each thread has a block of text and its entries, whatever the size of the matrix.
    const double blocks = 3.0 * (1 << 20) * Kokkos::DefaultHostExecutionSpace().concurrency();
    EXPECT_LT(peak, c.most * matrix + blocks) << peak / matrix << " times the matrix";
    RecordProperty("peak_times_matrix", fmt::format("{:.2f}", peak / matrix));
  }
}
#endif

}  // namespace
