// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/fetch.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>

#include "common/cli.hpp"
#include "common/progress_line.hpp"
#include "regress/process.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;

fs::path find_script() {
  if (const char* const named = std::getenv("KRYSOL_GET_MATRIX")) return named;
  std::error_code ignored;
  fs::path at = folder_of_this_program();
  for (int up = 0; up < 5 && !at.empty(); ++up, at = at.parent_path()) {
    for (const char* const place : {"data/get-matrix", "share/krysol/get-matrix"}) {
      if (fs::is_regular_file(at / place, ignored)) return at / place;
    }
  }
  throw UsageError(
      "--fetch: the script data/get-matrix is not beside this program; name it by "
      "KRYSOL_GET_MATRIX");
}

/// What the script said last.
std::string last_line(const fs::path& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

fs::path folder_of_this_program() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : self.parent_path();
}

bool fetch_matrices(std::vector<ListedMatrix>& list, bool quiet) {
  fs::path script;
  for (ListedMatrix& m : list) {
    if (!m.fetched) continue;
    if (script.empty()) script = find_script();
    const fs::path folder = fs::path(m.file).parent_path();
    const fs::path logs = folder / (std::string("fetch") + work_ending);
    std::error_code failed;
    fs::create_directories(logs, failed);
    if (failed) throw FileError(fmt::format("{}: {}", logs.string(), failed.message()));
    if (!quiet) fmt::print(stderr, "regress: fetching {}\n", m.name);
    std::optional<ProcessEnd> end;
    {
      Process process({script.string(), m.name, folder.string()}, logs, {});
      end = process.wait(CatchInterrupt::happened);
    }
    if (end && end->exit_code != 0) {
      m.problem = fmt::format(
          "not fetched: {}; fetch it where there is a network, by data/get-matrix {} {}, and "
          "repeat this "
          "command: what is there is not fetched again",
          last_line(logs / "err"), m.name, folder.string());
    }
    std::error_code ignored;
    fs::remove_all(logs, ignored);
    if (!end) return false;
    const auto bytes = fs::file_size(m.file, failed);
    m.file_bytes = failed ? 0 : static_cast<std::int64_t>(bytes);
  }
  return true;
}

}  // namespace krysol::apps
