// Is x what the program says? |b - A x| once more, from the files and in twice the precision.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <krysol/io/model/matrix_file.hpp>
#include <krysol/report/runs/run_record.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// What to check.
struct CheckTask {
  std::string matrix;  // a file, or the name of a problem
  ReadOptions read;
  std::string rhs;          // as the report of the solve names it
  std::filesystem::path x;  // empty: there is none
};

struct CheckResult {
  MatrixEntry matrix;              // sizes, field, symmetry, picture
  std::optional<double> residual;  // |b - A x| / |b|; |b - A x| where b = 0
  std::optional<double> rounding;  // by so much of |b| may a residual in double differ from that
  std::string problem;             // why there is no residual
};

/// Reads the matrix as a list of entries and x, makes b anew, and sums b - A x entry by entry with
/// error-free transformations (Ogita, Rump & Oishi, SIAM J. Sci. Comput. 26(6), 2005, DOI
/// 10.1137/030601818): in about 32 digits, with none of the code that solves. rounding: n_i + 3
/// units of eps = 2^-52 of (|A||x| + |b|)_i in row i of n_i entries, and of (|A||x*|)_i where
/// b = A x*, as norms. Throws what reading throws.
CheckResult check_solution(const CheckTask& task);

/// The result as a line of text, and back: it is made in a process of its own.
std::string as_line(const CheckResult& result);
CheckResult check_result_of(const std::string& line);

}  // namespace krysol::apps
