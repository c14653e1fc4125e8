// What a solve is asked for, and what it tells: plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include <krysol/spmv/order/order_choice.hpp>
#include <krysol/spmv/select/format_choice.hpp>

namespace krysol {

/// What was done from the matrix to the solution, for programs to show. Rows and columns count from
/// 0 and are those of the caller's matrix; sentences count rows from 1, as files do.
struct SolveReport {
  bool screened = false;  // the matrix was looked at before the solve; an operator cannot be
  MatrixProperties<std::complex<double>> properties{};
  bool refused = false;  // by that look: nothing below was made, and `result` says why
  OrderChoice order{};
  std::string format{};                  // as SolveOptions::format repeats it
  std::optional<FormatChoice> choice{};  // where "auto" chose it
  std::optional<TuningRecord> tuning{};  // where keep_tuning asked for it
  std::int64_t format_bytes = 0;
  std::string solver{};
  std::string preconditioner{};  // that was used: another one where `refusal` says so
  std::vector<std::pair<std::string, std::string>>
      preconditioner_facts{};         // what it tells of itself
  std::string refusal{};              // what could not be built, and at which row
  std::vector<std::string> notes{};   // what a user should know of the choices
  std::vector<std::string> passes{};  // over the caller's arrays, that types or layout asked for
  StoppingCriteria stop{};
  Counter screen{};      // properties of the matrix
  Counter convert{};     // order and format of the last setup or update
  Counter setup{};       // preconditioner, likewise
  bool solved = false;   // an iteration was started
  SolveResult result{};  // of the last solve; of several columns the last one that
                         // did not converge, or the last
};

/// Everything that cg_solve can be told, with the same defaults. Names are those of its --list:
/// list_solvers(), list_preconditioners(), list_formats(), list_orders().
struct SolveOptions {
  std::string solver = "cg";
  NamedOptions solver_options{};          // what it alone has, as {{"lambda_min", "1e-3"}} for cg
  std::string preconditioner = "jacobi";  // with its options after a colon: "block-jacobi:8"
  NamedOptions preconditioner_options{};  // or here: {{"block", "8"}}
  std::string format = "auto";            // "auto": measured, unless the matrix is small
  std::string order = "auto";             // of the rows while solving
  StoppingCriteria stop{};
  Observer observer{};  // called after each iteration; false ends the solve with the x so far
  /// Multiplications that a setup will be used for, which measuring must pay within; 0: 400, or
  /// stop.max_iterations where that is less.
  double expected_products = 0;
  std::optional<TuningRecord> tuning{};  // a format and order of before, taken where they fit
  std::string tuning_name = "the tuning record";  // in the note that says that it does not
  TuningMemory tuning_memory{};   // of earlier runs' measurements; none unless it is given
  bool keep_tuning = false;       // makes SolveReport::tuning: a pass over the pattern
  bool strict = false;            // a preconditioner that cannot be built is an error, not replaced
  SolveReport* report = nullptr;  // where krysol::solve puts what it did; Solver::report has it too
};

}  // namespace krysol
