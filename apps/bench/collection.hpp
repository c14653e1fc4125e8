// Which matrices a benchmark runs over: files, folders of files, problems.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <krysol/spmv/formats/csr.hpp>

#include "common/cli.hpp"

namespace krysol::apps {

/// A sound file that spmv_bench has no use for: complex numbers, dense arrays.
class NotForBenchmark : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A matrix that was not measured, and why.
struct PassedOver {
  std::string name;
  std::string reason;
  bool broken = false;  // it could not be read, rather than being of no use here
};

/// What went wrong with it, without "NAME: " in front.
std::string without_name(const std::string& name, std::string_view message);

/// Files in the folder and below whose names end in .mtx, or in .mtx and the ending of a compressed
/// file, sorted by their paths. A folder below that cannot be read is passed over. Throws
/// UsageError where there are no files, FileError where the folder itself cannot be read.
std::vector<std::string> matrix_files(const std::filesystem::path& folder,
                                      std::vector<PassedOver>& passed_over);

/// A real matrix by the name of a file or a problem. Throws NotForBenchmark, or what read_matrix
/// and make_problem throw.
HostCsr<double> load(const std::string& name);

/// The matrix, or nothing where it cannot be had; then a line is added to `passed_over`.
std::optional<HostCsr<double>> try_to_load(const std::string& name,
                                           std::vector<PassedOver>& passed_over);

/// The `limit` matrices with the most nonzeros, the largest first; of equal ones the first named.
/// All of them are read once for that.
std::vector<std::string> largest(const std::vector<std::string>& names, int limit,
                                 std::vector<PassedOver>& passed_over);

}  // namespace krysol::apps
