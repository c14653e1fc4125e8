// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/tuning_files.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/hash.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/report/tuning_record_json.hpp>
#include <krysol/spmv/base/processor.hpp>

namespace krysol::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".tuning.json";

/// `machine` tells the processor and the program.
fs::path file_of(const fs::path& folder, std::string_view machine, const TuningRecord& r) {
  const MatrixFingerprint& m = r.matrix;
  const std::string key = fmt::format("{}\n{} {} {} {}\n{} {} {} {:x}", machine, r.entry, r.space,
                                      r.threads, r.with_dot, m.rows, m.cols, m.nnz, m.pattern);
  return folder / (hex(hash128(key)) + std::string(ending));
}

void remove_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.size() == 32 + ending.size() && name.ends_with(ending) &&
                      name.find_first_not_of("0123456789abcdef") == 32;
    if (!ours) continue;
    std::error_code gone;
    const auto time = entry.last_write_time(gone);
    if (!gone) files.emplace_back(time, entry.path());
  }
  std::sort(files.begin(), files.end());
  const auto count = static_cast<std::ptrdiff_t>(files.size());
  for (std::ptrdiff_t k = 0; k < count - most_tuning_files; ++k) {
    std::error_code gone;
    fs::remove(files[static_cast<std::size_t>(k)].second, gone);
  }
}

}  // namespace

fs::path tuning_folder() {
  const char* const wish = std::getenv("KRYSOL_TUNING_CACHE");
  if (wish != nullptr && std::string_view(wish) == "off") return {};
  if (wish != nullptr && *wish != '\0' && std::string_view(wish) != "on") return wish;
  const fs::path caches = user_cache_folder();
  return caches.empty() ? fs::path{} : caches / "tuning";
}

TuningMemory tuning_files(const fs::path& folder, std::string_view build) {
  if (folder.empty()) return {};
  TuningMemory memory;
  const std::string machine = fmt::format("{}\n{}", build, processor_identity());
  memory.recall = [folder, machine](const TuningRecord& wanted) -> std::optional<TuningRecord> {
    try {
      const fs::path path = file_of(folder, machine, wanted);
      if (!fs::is_regular_file(path)) return std::nullopt;
      return read_choice(path);
    } catch (const FileError&) {
    } catch (const fs::filesystem_error&) {
    }
    return std::nullopt;
  };
  memory.keep = [folder, machine, build = std::string(build)](const TuningRecord& record) {
    try {
      fs::create_directories(folder);
      TuningRecord signed_record = record;
      signed_record.version = build;
      const fs::path path = file_of(folder, machine, record);
      remove_abandoned(path, 3600);
      OutputFile file(path, {.permissions = 0600, .sync = false});
      file.write(as_json(signed_record));
      file.commit();
      remove_oldest(folder);
    } catch (const FileError&) {  // a full disk, or another user's folder, is no reason to stop
    } catch (const fs::filesystem_error&) {
    }
  };
  return memory;
}

}  // namespace krysol::report
