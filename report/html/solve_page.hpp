// The page of a solve.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <krysol/report/html/picture_data.hpp>
#include <krysol/report/report.hpp>

namespace krysol::report::html {

/// How the solve is had once more.
struct SolveCommands {
  std::string as_typed;
  std::string repeats;  // with what was chosen by measuring, so that it repeats bit for bit
};

/// The outcome and what it rests on, convergence, the matrix, what was chosen and why, the
/// spectrum, where the time went. Numbers are those of as_json(report).
std::string solve_page(const Report& report, const MatrixPicture& picture,
                       const SolveCommands& commands);

}  // namespace krysol::report::html
