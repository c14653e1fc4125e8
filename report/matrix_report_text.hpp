// The result of matrix_info as text and as JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <krysol/analysis/matrix_report.hpp>

namespace krysol::report {

using analysis::MatrixReport;

/// For people. Rows and columns count from 1.
std::string as_text(const MatrixReport& p);

/// For machines: docs/matrix_info.md describes it.
std::string as_json(const MatrixReport& p);

}  // namespace krysol::report
