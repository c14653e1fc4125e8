// The two renderings of what matrix_info found out.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "portrait.hpp"

namespace krysol::apps {

/// For people. Rows and columns count from 1.
std::string as_text(const Portrait& p);

/// For machines: docs/matrix_info.md describes it.
std::string as_json(const Portrait& p);

}  // namespace krysol::apps
