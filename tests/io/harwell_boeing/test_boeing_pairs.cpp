// Matrices that the collection has in two formats are the same matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <krysol/io/read.hpp>

namespace {

namespace fs = std::filesystem;
using krysol::Index;
using krysol::Symmetry;
using Complex = std::complex<double>;

const fs::path collection = fs::path(KRYSOL_SHARED_DIR) / "matrices";

struct Entry {
  Index row = 0;
  Index col = 0;
  Complex value;
};

/// All entries, with symmetry expanded, by place; zeros, which formats keep or not, left out.
std::vector<Entry> entries(const fs::path& path) {
  std::vector<Entry> all;
  const krysol::MatrixFile file = krysol::read_matrix(path);
  const auto collect = [&](const auto& a) {
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      const Complex v = a.values[k];
      const Index i = a.row_idx[k];
      const Index j = a.col_idx[k];
      if (v == Complex(0)) continue;
      all.push_back({i, j, v});
      if (a.symmetry == Symmetry::general || i == j) continue;
      all.push_back({j, i,
                     a.symmetry == Symmetry::symmetric        ? v
                     : a.symmetry == Symmetry::skew_symmetric ? -v
                                                              : std::conj(v)});
    }
  };
  std::visit(collect, file.matrix);
  std::sort(all.begin(), all.end(), [](const Entry& x, const Entry& y) {
    return x.row != y.row ? x.row < y.row : x.col < y.col;
  });
  return all;
}

/// The matrices of the index, by group and name.
std::map<std::string, std::vector<std::string>> files_by_matrix() {
  std::ifstream index(collection / "INDEX.tsv");
  std::map<std::string, std::vector<std::string>> files;
  for (std::string line; std::getline(index, line);) {
    std::istringstream cells(line);
    std::string file;
    std::string matrix;
    if (std::getline(cells, file, '\t') && std::getline(cells, matrix, '\t') &&
        matrix.find('(') == std::string::npos && !file.ends_with(".csv")) {
      files[matrix].push_back(file);
    }
  }
  return files;
}

/// The file in another format has fewer digits.
double tolerance(const std::string& matrix) {
  const std::map<std::string, double> rounded{{"HB/plskz362", 1e-4}, {"Bai/pde900", 1e-4}};
  const auto found = rounded.find(matrix);
  return found == rounded.end() ? 0 : found->second;
}

TEST(BoeingPairs, FilesOfOneMatrixHoldTheSameEntries) {
  if (!fs::exists(collection / "INDEX.tsv")) GTEST_SKIP() << "no folder " << collection;
  int pairs = 0;
  for (const auto& [matrix, files] : files_by_matrix()) {
    if (files.size() < 2) continue;
    const std::vector<Entry> first = entries(collection / files[0]);
    for (std::size_t k = 1; k < files.size(); ++k) {
      SCOPED_TRACE(matrix + ": " + files[0] + " and " + files[k]);
      const std::vector<Entry> other = entries(collection / files[k]);
      ++pairs;
      EXPECT_EQ(other.size(), first.size());
      std::size_t unequal = 0;
      double worst = 0;
      for (std::size_t e = 0; e < std::min(first.size(), other.size()); ++e) {
        const Complex v = first[e].value;
        const double difference = std::abs(v - other[e].value) / std::abs(v);
        worst = std::max(worst, difference);
        if (first[e].row != other[e].row || first[e].col != other[e].col ||
            difference > tolerance(matrix)) {
          ++unequal;
        }
      }
      EXPECT_EQ(unequal, 0U) << "largest relative difference " << worst;
      if (tolerance(matrix) > 0) {
        EXPECT_GT(worst, 0.0) << "no exception is needed";
      }
    }
  }
  EXPECT_GT(pairs, 40);
}

}  // namespace
