// What a regression run found: plain data, and its two files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace krysol::report {

/// How a solve ended, as the process that watched it saw it; from good to bad.
enum class SolveOutcome {
  converged,       // and x, checked apart, is what was claimed
  stagnated,       // at the accuracy that is attainable
  not_converged,   // any other status; RunEntry::status names it
  refused,         // bad input or usage: exit status 2
  time_limit,      // ended from outside
  memory_limit,    // likewise, or the program said that there is not enough
  internal_error,  // exit status 3, or one that no table lists
  no_report,       // an exit status of 0 or 1, but no report or x that can be read
  crashed,         // by a signal
  wrong_result     // |b - A x| is larger than the report says
};
std::string_view to_string(SolveOutcome outcome);
/// Throws std::invalid_argument for a text that is no outcome.
SolveOutcome outcome_of(std::string_view text);
/// What no program should do, whatever it did before: internal_error and all after it.
bool is_fault(SolveOutcome outcome);

/// A way to solve: options of cg_solve under a name.
struct Method {
  std::string name;
  std::vector<std::string> options;
};

/// A matrix, as the check that reads its file found it.
struct MatrixEntry {
  std::string name;  // GROUP/NAME where an index knows it, else the path in its folder
  std::string file;
  std::int64_t file_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;  // with both triangles
  std::string field;
  std::string symmetry;
  std::string spd;  // "yes" or "no" where an index says so, else empty
  std::string spy;  // see html/spy_cells.hpp
};

/// A matrix solved by a method.
struct RunEntry {
  std::string matrix;  // MatrixEntry::name
  std::string method;  // Method::name
  SolveOutcome outcome = SolveOutcome::no_report;
  std::string status;   // that the program reports; empty where it reports none
  std::string message;  // its advice, or why it was ended
  std::string command;  // repeats the solve
  int exit_code = -1;   // of a program that a signal ended -1
  int signal = 0;
  std::int64_t iterations = -1;
  std::optional<double> residual{};          // |b - A x| / |b|, as reported
  std::optional<double> checked_residual{};  // from the file of x, in twice the precision
  std::optional<double> rounding{};          // by so much of |b| may those differ
  std::optional<double> error{};             // |x - x*| / |x*|, as reported
  double wall_seconds = 0;                   // of the process, beside others
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;  // memory of the process and its children
  std::string preconditioner;   // in use at the end
  std::string choice;           // of `auto`: --precond repeats it; empty where nothing was chosen
  std::string rhs;
  std::string timed_format;           // in the turns
  std::string timed_status;           // of a turn, where it is not `status`
  std::string other_status;           // of the other program in the turns
  std::vector<double> seconds;        // of each turn, alone on the machine: seconds_to_solution
  std::vector<double> other_seconds;  // of the other program in the same turns
  std::vector<std::pair<double, double>> curve;  // iteration and |r| / |b|, thinned out

  /// The median of `seconds`; none where there are none.
  std::optional<double> median_seconds() const;
  /// Whether `auto` left a preconditioner for another one.
  bool changed_preconditioner() const;
};

struct RunRecord {
  static constexpr std::string_view schema = "krysol/regress/1";
  std::string started;  // UTC, 2026-01-31T12:00:00Z
  std::string finished;
  std::string command;        // repeats the run
  std::string program;        // that solved
  std::string version;        // as it prints it
  std::string other_program;  // that it was timed against; empty: none
  std::string other_version;
  std::string machine;  // processor and system
  int cores = 0;
  int jobs = 0;
  std::int64_t memory_bytes = 0;
  double time_limit_s = 0;
  std::int64_t memory_limit_bytes = 0;
  std::string shard;          // "3/16", "1/3,3/3"; empty: all
  std::vector<double> triad;  // GB/s, before each round of turns
  std::vector<Method> methods;
  std::vector<MatrixEntry> matrices;
  std::vector<RunEntry> entries;  // by matrix, then by method

  /// The median of `triad`; none where there are none.
  std::optional<double> median_triad() const;
};

/// Finds what a run holds by its names. The run must not change meanwhile.
class RunIndex {
 public:
  explicit RunIndex(const RunRecord& run);

  /// nullptr where there is none.
  const MatrixEntry* matrix(const std::string& name) const;
  const RunEntry* entry(const std::string& matrix, const std::string& method) const;

 private:
  std::unordered_map<std::string, const MatrixEntry*> matrices_;
  std::unordered_map<std::string, const RunEntry*> entries_;
};

/// The middle one; of an even number the mean of the middle two; none of none.
std::optional<double> median(std::vector<double> numbers);

/// docs/regress.md describes both.
std::string as_json(const RunRecord& run);
std::string as_csv(const RunRecord& run);
/// One entry, or one matrix, as a line of JSON without a line feed, and back. The names tell which.
std::string as_json_line(const RunEntry& entry);
std::string as_json_line(const MatrixEntry& matrix);
RunEntry run_entry_of(std::string_view json);
MatrixEntry matrix_entry_of(std::string_view json);

/// The columns of the CSV file and what stands in them; also the cells of pages, so that the
/// numbers are the same to the last digit.
inline constexpr std::array run_columns = {
    "matrix",      "method",           "outcome",        "status",   "rows",
    "cols",        "nonzeros",         "field",          "symmetry", "iterations",
    "residual",    "checked_residual", "error",          "seconds",  "wall_seconds",
    "cpu_seconds", "peak_bytes",       "preconditioner", "format",   "message"};
std::string cell(const RunIndex& run, const RunEntry& entry, std::string_view column);

/// name: of the file, for messages. Throws std::invalid_argument where it is no such record, names
/// its schema where that is another, and says which key is missing or of the wrong type.
RunRecord run_record_of(std::string_view json, const std::string& name);

}  // namespace krysol::report
