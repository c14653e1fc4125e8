// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/matrix_source.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include <krysol/gallery/problems.hpp>
#include <krysol/io/read.hpp>
#include "common/cli.hpp"
#include "common/rooms.hpp"

namespace krysol::apps {
namespace {

FileInfo info_of(const HostCsr<double>& a, const std::string& name) {
  FileInfo info;
  info.format = "made";
  info.symmetry = is_symmetric_problem(name) ? Symmetry::symmetric : Symmetry::general;
  info.stored_entries = a.nnz();
  return info;
}

/// What says how to read a matrix, and not a right-hand side as well.
void refuse_options(const std::string& name, const ReadOptions& o) {
  const std::pair<const char*, bool> given[] = {
      {"--member", !o.member.empty()},
      {"--cache", o.cache.use || !o.cache.folder.empty() || o.cache.verify},
      {"--triangle", o.wrong_triangle != Policy::by_mode},
      {"--duplicates", o.duplicates != Duplicates::keep},
      {"--low-memory", o.low_memory}};
  for (const auto& [option, used] : given) {
    if (used) throw UsageError(fmt::format("{}: {} is made, not read from a file", option, name));
  }
}

}  // namespace

bool is_made(const std::string& name) {
  std::error_code ignored;
  return is_problem(name) && !std::filesystem::exists(name, ignored);
}

CsrFile csr_from(const std::string& name, const ReadOptions& options, std::int64_t bytes_a_row) {
  if (!is_made(name)) return read_csr(name, options, bytes_a_row);
  refuse_options(name, options);
  Assembled<double> made{make_problem(name)};
  const double* const values = made.matrix.values.data();
  made.explicit_zeros = std::count(values, values + made.matrix.nnz(), 0.0);
  const FileInfo info = info_of(made.matrix, name);
  return {info, std::move(made), {}};
}

MatrixFile matrix_from(const std::string& name, const ReadOptions& options) {
  if (!is_made(name)) return read_matrix(name, options);
  refuse_options(name, options);
  const HostCsr<double> a = make_problem(name);
  FileInfo info = info_of(a, name);
  const bool symmetric = info.symmetry == Symmetry::symmetric;
  Triplets<double> t;
  t.rows = a.rows;
  t.cols = a.cols;
  t.symmetry = info.symmetry;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const Index j = a.col_idx.data()[k];
      if (!symmetric || j <= i) t.add(i, j, a.values.data()[k]);
    }
  }
  info.stored_entries = static_cast<std::int64_t>(t.values.size());
  return {info, std::move(t), {}};
}

std::string problems_section() {
  std::string out = "problems (in place of a file):\n";
  for (const ProblemInfo& p : list_problems()) out += fmt::format("  {:<16}{}\n", p.name, p.what);
  return out;
}

}  // namespace krysol::apps
