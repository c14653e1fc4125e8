// The matrices of data/: equal to their definitions, to the collection's, and to what their script
// writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <krysol/io/read.hpp>
#include <krysol/spmv/formats/csr.hpp>

namespace {

namespace fs = std::filesystem;
using krysol::Index;
using krysol::Offset;

const fs::path data = KRYSOL_DATA_DIR;
const fs::path collection = fs::path(KRYSOL_SHARED_DIR) / "matrices";

/// Each stored entry by its place, with both triangles.
using Entries = std::map<std::pair<Index, Index>, double>;

struct Matrix {
  Index rows = 0;
  Entries entries;
  bool operator==(const Matrix&) const = default;
};

Matrix matrix_of(const fs::path& path) {
  const auto file = krysol::read_matrix(path);
  const auto assembled = krysol::to_csr(std::get<krysol::Triplets<double>>(file.matrix));
  EXPECT_EQ(assembled.duplicates, 0) << path;
  const auto& csr = assembled.matrix;
  EXPECT_EQ(csr.rows, csr.cols) << path;
  Matrix m{csr.rows, {}};
  for (Index i = 0; i < csr.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = csr.row_ptr(row); k < csr.row_ptr(row + 1); ++k) {
      m.entries[{i, csr.col_idx(static_cast<std::size_t>(k))}] =
          csr.values(static_cast<std::size_t>(k));
    }
  }
  return m;
}

/// 8 at each point, -1 to each neighbour, looked at from both sides.
Matrix nine_point(Index nx, Index ny) {
  Matrix m{nx * ny, {}};
  for (Index p = 0; p < nx * ny; ++p) {
    for (Index q = 0; q < nx * ny; ++q) {
      const Index dx = std::abs(p % nx - q % nx);
      const Index dy = std::abs(p / nx - q / nx);
      if (dx <= 1 && dy <= 1) m.entries[{p, q}] = p == q ? 8 : -1;
    }
  }
  return m;
}

bool is_prime(Index n) {
  for (Index d = 2; d <= n / d; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

/// n primes on the diagonal, 1 where |i - j| is a power of two; without the first `skip` rows.
Matrix trefethen(Index n, Index skip = 0) {
  std::vector<Index> primes;
  for (Index p = 2; primes.size() < static_cast<std::size_t>(n); ++p) {
    if (is_prime(p)) primes.push_back(p);
  }
  Matrix m{n - skip, {}};
  for (Index i = 0; i < m.rows; ++i) {
    m.entries[{i, i}] = primes[static_cast<std::size_t>(i + skip)];
    for (Index distance = 1; i + distance < m.rows; distance *= 2) {
      m.entries[{i, i + distance}] = m.entries[{i + distance, i}] = 1;
    }
  }
  return m;
}

/// The leading rows and columns.
Matrix leading(const Matrix& m, Index rows) {
  Matrix part{rows, {}};
  for (const auto& [place, value] : m.entries) {
    if (place.first < rows && place.second < rows) part.entries[place] = value;
  }
  return part;
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Data, NinePointStarIsItsDefinition) {
  EXPECT_TRUE(matrix_of(data / "gr_30_30.mtx") == nine_point(30, 30));
}

TEST(Data, TrefethenMatricesAreTheirDefinition) {
  EXPECT_TRUE(matrix_of(data / "Trefethen_20b.mtx") == trefethen(20, 1));
  EXPECT_TRUE(matrix_of(data / "Trefethen_2000.mtx") == trefethen(2000));
}

TEST(Data, NinePointStarIsTheCollections) {
  const fs::path theirs = collection / "gr_30_30.mtx.gz";
  if (!fs::exists(theirs)) GTEST_SKIP() << "no file " << theirs;
  EXPECT_TRUE(matrix_of(data / "gr_30_30.mtx") == matrix_of(theirs));
}

TEST(Data, SmallTrefethenMatrixIsTheCollections) {
  const fs::path theirs = collection / "Trefethen_20b.mtx";
  if (!fs::exists(theirs)) GTEST_SKIP() << "no file " << theirs;
  EXPECT_TRUE(matrix_of(data / "Trefethen_20b.mtx") == matrix_of(theirs));
}

TEST(Data, LargeTrefethenMatrixOfTheCollectionIsTheDefinition) {
  const fs::path theirs = collection / "Trefethen_20000.mtx.gz";
  if (!fs::exists(theirs)) GTEST_SKIP() << "no file " << theirs;
  const Matrix large = matrix_of(theirs);
  EXPECT_TRUE(large == trefethen(20000));
  EXPECT_TRUE(leading(large, 2000) == matrix_of(data / "Trefethen_2000.mtx"));
}

class DataScript : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3 here";
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  int make(const std::string& options) const {
    return std::system(("python3 '" + (data / "make_matrices.py").string() + "' --folder '" +
                        folder_.string() + "' " + options + " >/dev/null 2>&1")
                           .c_str());
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("krysol_data_" + std::to_string(::getpid()));
};

TEST_F(DataScript, WritesTheCommittedFilesByteForByte) {
  ASSERT_EQ(make(""), 0);
  int files = 0;
  for (const auto& made : fs::directory_iterator(folder_)) {
    const fs::path name = made.path().filename();
    EXPECT_TRUE(bytes_of_file(made.path()) == bytes_of_file(data / name)) << name;
    ++files;
  }
  int committed = 0;
  for (const auto& file : fs::directory_iterator(data)) {
    committed += file.path().extension() == ".mtx" ? 1 : 0;
  }
  EXPECT_EQ(files, committed);
}

TEST_F(DataScript, WritesAnySize) {
  ASSERT_EQ(make("--trefethen 333"), 0);
  EXPECT_TRUE(matrix_of(folder_ / "Trefethen_333.mtx") == trefethen(333));
  ASSERT_EQ(make("--trefethen 200b --grid 7 3"), 0);
  EXPECT_TRUE(matrix_of(folder_ / "Trefethen_200b.mtx") == trefethen(200, 1));
  EXPECT_TRUE(matrix_of(folder_ / "gr_7_3.mtx") == nine_point(7, 3));
  EXPECT_NE(make("--trefethen 20c"), 0);
}

}  // namespace
