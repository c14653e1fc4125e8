// What auto measured in earlier runs, in small files of the user's cache folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string_view>

#include <krysol/spmv/select/format_choice.hpp>

namespace krysol::report {

/// The folder that KRYSOL_TUNING_CACHE names, else (also where it is "on") krysol/tuning in the
/// user's cache folder; empty where it is "off", or no folder can be named.
std::filesystem::path tuning_folder();

/// Files that a folder keeps; the oldest go.
inline constexpr int most_tuning_files = 500;

/// One file, a tuning record as JSON, for each matrix, entry type, space, number of threads,
/// processor (processor_identity()) and `build` (the text of --version, say): its name is a hash of
/// them. The folder is made when the first is kept, and any file may be removed at any time. A file
/// that cannot be read or is no such record counts as none, and one that cannot be written is not.
/// With an empty folder nothing is recalled or kept.
TuningMemory tuning_files(const std::filesystem::path& folder, std::string_view build);

}  // namespace krysol::report
