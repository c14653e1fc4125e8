// A tuning record (the format that auto chose) as a JSON file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include <krysol/spmv/select/format_choice.hpp>

namespace krysol::report {

/// One JSON object; docs/cg_solve-json.md describes it.
std::string as_json(const TuningRecord& saved);

/// What as_json wrote. Throws FileError where the file cannot be read or is something else.
TuningRecord read_choice(const std::filesystem::path& path);

}  // namespace krysol::report
