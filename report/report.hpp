// What a run of cg_solve found out, as plain data, and its two renderings.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <krysol/report/profile.hpp>
#include <krysol/solver/choice/preconditioner_trial.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/spmv/order/order_choice.hpp>
#include <krysol/spmv/select/format_choice.hpp>

namespace krysol::report {

/// The matrix as it was read. Rows and columns count from 0.
struct MatrixSummary {
  std::string file;
  std::string member;  // of an archive
  std::int64_t file_bytes = 0;
  std::string field;     // of the file: real, integer, pattern, complex
  std::string symmetry;  // that the file declares
  std::int64_t stored_entries = 0;
  std::int64_t duplicates = 0;
  std::int64_t explicit_zeros = 0;
  std::vector<std::string> repairs;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t shortest_row = 0;
  std::int64_t longest_row = 0;
  std::int64_t empty_rows = 0;
  bool symmetric = false;  // as checked
  double asymmetry = 0;
  double symmetry_tolerance = 0;
  std::int64_t asymmetric_row = -1;
  std::int64_t asymmetric_col = -1;
  std::int64_t positive_diagonal = 0;
  std::int64_t negative_diagonal = 0;
  std::int64_t zero_diagonal = 0;
  std::int64_t missing_diagonal = 0;
  double smallest_diagonal = 0;
  double largest_diagonal = 0;
};

/// Gigabytes (1e9 bytes) a second, measured in this run.
struct Bandwidth {
  double triad = 0;  // a := b + s c, 32 bytes an entry with the write-allocate; 24 on a device
  double read = 0;   // the sum of one array, 8 bytes an entry
  std::int64_t array_bytes = 0;
};

struct Report {
  std::string version;  // one line
  std::string backend;
  std::string device;
  int threads = 0;
  MatrixSummary matrix;
  std::string format;                  // repeats the run where it is given as --format
  std::optional<FormatChoice> choice;  // where auto chose it
  OrderChoice order;
  std::int64_t format_bytes = 0;
  std::string solver;
  std::string preconditioner;
  std::vector<std::pair<std::string, std::string>>
      preconditioner_facts;                 // a table of what was made
  std::vector<PreconditionerTrial> trials;  // where `auto` chose it
  std::string rhs;
  std::string x0;
  StoppingCriteria stop;
  double lambda_min = 0;  // CgOptions::lambda_min
  std::vector<std::string> notes;
  Index null_vectors = 0;  // known ones of A
  SolveResult result;
  bool solved = false;          // an iteration was started
  std::optional<double> error;  // |x - x*|_2 / |x*|_2 where x* is known
  Counter read;
  Counter convert;
  Counter setup;                   // of the preconditioner
  double seconds_to_solution = 0;  // from the rows in memory to x, all that lies between
  std::optional<Bandwidth> bandwidth;
  std::vector<ProfileNode> profile;  // where it was asked for
};

/// What a program ran on, as in "OpenMP, 2 threads" or "CUDA, " and the device's name.
std::string machine_as_text(std::string_view backend, int threads, std::string_view device);

/// For people; `explained` shows how the format was chosen.
std::string as_text(const Report& report, bool explained = false);

/// For machines: docs/cg_solve-json.md describes it.
std::string as_json(const Report& report);

/// iteration,residual,relative_residual and the bounds of |x - x*|_A; one line an iteration, from
/// 0.
std::string history_as_csv(const SolveResult& result);

}  // namespace krysol::report
