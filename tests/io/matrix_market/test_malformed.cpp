// Files as they are met: the broken and the tricky ones, and the matrices of the collection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/read.hpp>

namespace {

namespace fs = std::filesystem;
using krysol::Symmetry;
using krysol::Triplets;
using Complex = std::complex<double>;
using Row = std::vector<std::string>;

const fs::path malformed = fs::path(KRYSOL_SHARED_DIR) / "malformed";
const fs::path collection = fs::path(KRYSOL_SHARED_DIR) / "matrices";

/// The lines of a file of tab-separated columns, without its heading and without comments.
std::vector<Row> table(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  bool heading = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (!std::exchange(heading, false)) {
      Row& row = rows.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
      row.resize(12);
    }
  }
  return rows;
}

struct Outcome {
  std::string verdict;  // "accept" or "reject"
  std::string text;     // the message without the file's name, or the repairs, joined by " | "
};

Outcome outcome(const fs::path& path, bool repair) {
  krysol::ReadOptions options;
  options.repair = repair;
  try {
    std::string repairs;
    for (const std::string& sentence : krysol::read_matrix(path, options).info.repairs) {
      repairs += (repairs.empty() ? "" : " | ") + sentence;
    }
    return {"accept", repairs};
  } catch (const krysol::FileError& error) {
    const std::string message = std::string(error.what()).substr(path.string().size() + 1);
    return {"reject", message.substr(message.find_first_not_of(' '))};
  }
}

TEST(Malformed, StrictAndRepairDecideAsTheIndexSays) {
  if (!fs::exists(malformed / "INDEX.tsv")) GTEST_SKIP() << "no folder " << malformed;
  const auto index = table(malformed / "INDEX.tsv");
  EXPECT_FALSE(index.empty());
  for (const Row& row : index) {
    SCOPED_TRACE(row[0] + ": " + row[3]);
    EXPECT_EQ(outcome(malformed / row[0], false).verdict, row[1]);
    EXPECT_EQ(outcome(malformed / row[0], true).verdict, row[2]);
  }
}

TEST(Malformed, MessagesAndRepairsAreThoseOfTheTable) {
  if (!fs::exists(malformed / "INDEX.tsv")) GTEST_SKIP() << "no folder " << malformed;
  std::set<std::string> listed;
  for (const Row& row : table(fs::path(KRYSOL_TEST_DIR) / "matrices/malformed_messages.tsv")) {
    SCOPED_TRACE(row[0] + " " + row[1]);
    const Outcome found = outcome(malformed / row[0], row[1] == "repair");
    EXPECT_EQ(found.verdict, row[2]);
    EXPECT_EQ(found.text, row[3]);
    listed.insert(row[0] + " " + row[1]);
  }
  for (const Row& row : table(malformed / "INDEX.tsv")) {
    for (const std::string mode : {"strict", "repair"}) {
      EXPECT_TRUE(listed.count(row[0] + " " + mode)) << row[0] << ' ' << mode << " is not listed";
    }
  }
}

/// Place and value of each entry, the lower triangle only where there is a symmetry.
template <class T>
std::map<std::pair<krysol::Index, krysol::Index>, T> entries(const Triplets<T>& a) {
  std::map<std::pair<krysol::Index, krysol::Index>, T> all;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    all[{a.row_idx[k], a.col_idx[k]}] += a.values[k];
  }
  return all;
}

template <class T>
Triplets<T> read(const fs::path& path, bool repair) {
  krysol::ReadOptions options;
  options.repair = repair;
  return std::get<Triplets<T>>(krysol::read_matrix(path, options).matrix);
}

TEST(Malformed, MendedMatricesAreTheOnesThatWereMeant) {
  if (!fs::exists(malformed / "INDEX.tsv")) GTEST_SKIP() << "no folder " << malformed;
  // Declared symmetric, both triangles stored, 247 pairs unequal: the collection knows the same
  // numbers as a general matrix.
  const auto young = read<Complex>(malformed / "young2c_bothtriangles.mtx", true);
  EXPECT_EQ(young.symmetry, Symmetry::general);
  if (fs::exists(collection / "young1c.mtx.gz")) {
    EXPECT_EQ(entries(young), entries(read<Complex>(collection / "young1c.mtx.gz", false)));
  }
  // Without its NaN, without its banner and out of order it is the same matrix.
  const auto west = entries(read<double>(malformed / "lagraph_ok_west0067_jumbled.mtx", false));
  EXPECT_EQ(west.size(), 294U);
  EXPECT_EQ(entries(read<double>(malformed / "lagraph_ok_west0067_noheader.mtx", true)), west);
  EXPECT_EQ(entries(read<double>(malformed / "lagraph_ok_comments_west0067.mtx", true)), west);
  // Indices from 0.
  const auto s32 = read<double>(malformed / "spqr_s32.mtx", true);
  EXPECT_EQ(s32.row_idx, (std::vector<krysol::Index>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(s32.col_idx, (std::vector<krysol::Index>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(s32.values, (std::vector<double>{-1.1, 1.2, 4.1, 2.2, 9.1, 3.2}));
  // The imaginary part on the diagonal is gone, the others are not.
  const auto cha = read<Complex>(malformed / "cholmod_cha.mtx", true);
  EXPECT_EQ(cha.values[3], Complex(1.7073102613255353, 0));
  EXPECT_EQ(cha.values[4], Complex(1.4933320877092915, -.3859196475147934));
  // Values, not only a pattern, from a real banner under a comment that says complex.
  EXPECT_EQ(read<Complex>(malformed / "lagraph_mangled15.mtx", true).values[1],
            Complex(.709, .340));
}

TEST(Collection, MatricesHaveTheSizesOfTheIndex) {
  if (!fs::exists(collection / "INDEX.tsv")) GTEST_SKIP() << "no folder " << collection;
  int files = 0;
  for (const Row& row : table(collection / "INDEX.tsv")) {
    const fs::path path = collection / row[0];
    const bool is_vector = row[7] == "rhs" || row[7] == "solution";
    if (is_vector || row[0].ends_with(".csv")) continue;
    SCOPED_TRACE(row[0]);
    ++files;
    try {
      const krysol::MatrixFile file = krysol::read_matrix(path);
      // The one file of the collection that stores the upper triangle.
      EXPECT_EQ(file.info.repairs.size(), row[0] == "USpowerGrid.mtx.gz" ? 1U : 0U);
      EXPECT_EQ(krysol::to_string(file.info.field), row[6]);
      EXPECT_EQ(krysol::to_string(file.info.symmetry), row[7]);
      EXPECT_EQ(file.info.stored_entries, std::stoll(row[4]));
      std::visit(
          [&](const auto& a) {
            EXPECT_EQ(a.rows, std::stoll(row[2]));
            EXPECT_EQ(a.cols, std::stoll(row[3]));
            EXPECT_EQ(static_cast<std::int64_t>(a.values.size()), file.info.stored_entries);
          },
          file.matrix);
    } catch (const krysol::FileError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(files, 300);
}

TEST(Collection, VectorsAreRead) {
  if (!fs::exists(collection / "INDEX.tsv")) GTEST_SKIP() << "no folder " << collection;
  int files = 0;
  for (const Row& row : table(collection / "INDEX.tsv")) {
    if (row[7] != "rhs" && row[7] != "solution") continue;
    SCOPED_TRACE(row[0]);
    ++files;
    try {
      const krysol::DenseFile file = krysol::read_dense(collection / row[0]);
      EXPECT_EQ(file.rows, std::stoll(row[2]));
      EXPECT_EQ(file.cols, std::stoll(row[3]));
      EXPECT_EQ(std::get<std::vector<double>>(file.values).size(),
                static_cast<std::size_t>(std::stoll(row[2]) * std::stoll(row[3])));
    } catch (const krysol::FileError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(files, 0);
}

}  // namespace
