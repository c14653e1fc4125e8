// How `auto` chose a format, for people and for machines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <krysol/spmv/select/format_choice.hpp>

namespace krysol::report {

/// A table of what was tried, and the choice.
std::string explain(const FormatChoice& choice);

nlohmann::ordered_json choice_as_json(const FormatChoice& choice);

}  // namespace krysol::report
