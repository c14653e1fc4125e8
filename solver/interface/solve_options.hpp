// What a solve is asked for, and what it tells: plain data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krysol/solver/choice/preconditioner_trial.hpp>
#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/solver/precond/near_null_vectors.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include <krysol/spmv/order/order_choice.hpp>
#include <krysol/spmv/select/format_choice.hpp>

namespace krysol {

/// What was done from the matrix to the solution, for programs to show. Rows and columns count from
/// 0 and are those of the caller's matrix; sentences count rows from 1, as files do.
struct SolveReport {
  bool screened = false;  // values, symmetry and diagonal were checked; an operator's cannot be
  MatrixProperties<std::complex<double>> properties{};
  bool refused = false;  // by that check: nothing below was set up, and `result` says why
  OrderChoice order{};
  std::string format{};                  // as SolveOptions::format repeats it
  std::optional<FormatChoice> choice{};  // where "auto" chose it
  std::optional<TuningRecord> tuning{};  // where keep_tuning asked for it
  std::int64_t format_bytes = 0;
  std::string solver{};
  std::string preconditioner{};  // the one in use: not the one asked for where `refusal` says so
  std::vector<std::pair<std::string, std::string>>
      preconditioner_facts{};                 // names and values, as its report() gives them
  std::vector<PreconditionerTrial> trials{};  // by "auto" in the last solve, in order
  std::string refusal{};                      // what could not be built, and at which row
  std::vector<std::string> notes{};           // what a user should know of the choices
  std::vector<std::string> passes{};          // copies made of the caller's arrays, and why
  StoppingCriteria stop{};
  Index null_vectors = 0;  // known ones of A: as many components whose rows sum to 0, for cg
  Counter screen{};        // properties of the matrix
  Counter convert{};       // order and format of the last setup or update
  Counter setup{};         // preconditioner, likewise
  bool solved = false;     // solve was called, and the matrix had not been refused
  SolveResult result{};    // of the last solve; of several columns the first that did not
                           // converge, else the last
};

/// Everything that cg_solve can be told, with the same defaults. Names are those of its --list:
/// list_solvers(), list_preconditioners(), list_formats(), list_orders().
struct SolveOptions {
  std::string solver = "cg";
  NamedOptions solver_options{};          // what it alone has, as {{"lambda_min", "1e-3"}} for cg
  std::string preconditioner = "auto";    // with its options after a colon: "block-jacobi:8"
  NamedOptions preconditioner_options{};  // or here: {{"block", "8"}}
  std::string format = "auto";            // "auto": measured, unless the matrix is small
  std::string order = "auto";             // of the rows while solving
  StoppingCriteria stop{};
  Observer observer{};  // called after each iteration; false ends the solve with the x so far
  /// Multiplications by A expected of all solves with this setup: choosing an order and a format
  /// must pay off within them. 0: not known; they are taken for 400, or stop.max_iterations where
  /// that is set and smaller. Where the preconditioner is chosen, too ("auto"), they are taken for
  /// 150 by the order, and the format is csr until a solve is predicted to make 250 more of them,
  /// or that many were made (LateFormat).
  double expected_products = 0;
  /// Vectors that A turns into almost nothing, which multigrid is to keep: rigid_body_modes() makes
  /// those of an elastic body. With "auto" and "amg"; rows are not put in another order then,
  /// unless `order` names one.
  std::shared_ptr<const NearNullVectors> near_null{};
  std::optional<TuningRecord> tuning{};           // of an earlier run; used where it fits
  std::string tuning_name = "the tuning record";  // what notes call `tuning` where it does not fit
  TuningMemory tuning_memory{};   // of earlier runs' measurements; none unless it is given
  bool keep_tuning = false;       // makes SolveReport::tuning: a pass over the pattern
  bool project = false;           // with cg: solve without the part of b along null vectors of A
  bool strict = false;            // a preconditioner that cannot be built is an error, not replaced
  SolveReport* report = nullptr;  // where krysol::solve puts what it did; Solver::report has it too
};

}  // namespace krysol
