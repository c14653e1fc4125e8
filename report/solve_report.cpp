// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/solve_report.hpp>

namespace krysol::report {
namespace {

void describe(const MatrixProperties<std::complex<double>>& p, MatrixSummary& m) {
  m.rows = p.rows;
  m.cols = p.cols;
  m.nnz = p.nnz;
  m.shortest_row = p.shortest_row;
  m.longest_row = p.longest_row;
  m.empty_rows = p.empty_rows;
  m.symmetric = p.symmetric;
  m.asymmetry = p.asymmetry;
  m.symmetry_tolerance = symmetry_tolerance;
  m.asymmetric_row = p.asymmetric_row;
  m.asymmetric_col = p.asymmetric_col;
  m.positive_diagonal = p.positive_diagonal;
  m.negative_diagonal = p.negative_diagonal;
  m.zero_diagonal = p.zero_diagonal;
  m.missing_diagonal = p.missing_diagonal;
  m.smallest_diagonal = p.smallest_diagonal;
  m.largest_diagonal = p.largest_diagonal;
}

}  // namespace

void take(const SolveReport& solve, Report& report) {
  if (solve.screened) describe(solve.properties, report.matrix);
  report.order = solve.order;
  report.format = solve.format;
  report.choice = solve.choice;
  report.format_bytes = solve.format_bytes;
  report.solver = solve.solver;
  report.preconditioner = solve.preconditioner;
  report.preconditioner_facts = solve.preconditioner_facts;
  report.trials = solve.trials;
  report.stop = solve.stop;
  report.notes.insert(report.notes.end(), solve.notes.begin(), solve.notes.end());
  report.null_vectors = solve.null_vectors;
  report.result = solve.result;
  report.solved = solve.solved;
  report.convert = solve.convert;
  report.setup = solve.setup;
}

}  // namespace krysol::report
