// Runs for tests: made of nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

#include <krysol/report/runs/run_record.hpp>

namespace krysol_tests {

inline krysol::report::RunEntry solved(const std::string& matrix, std::int64_t iterations,
                                       const std::string& method = "default") {
  krysol::report::RunEntry e;
  e.matrix = matrix;
  e.method = method;
  e.outcome = krysol::report::SolveOutcome::converged;
  e.status = "converged";
  e.exit_code = 0;
  e.iterations = iterations;
  e.residual = 5e-9;
  e.checked_residual = 5.5e-9;
  e.rounding = 1e-13;
  e.error = 1e-7;
  e.wall_seconds = 0.25;
  e.cpu_seconds = 0.2;
  e.peak_bytes = 200000000;
  e.command = "cg_solve " + matrix;
  return e;
}

inline krysol::report::RunRecord run_of(std::vector<krysol::report::RunEntry> entries) {
  krysol::report::RunRecord run;
  run.started = "2026-01-02T03:04:05Z";
  run.finished = "2026-01-02T03:05:05Z";
  run.version = "krysol 0.1.0";
  run.methods.push_back({"default", {}});
  run.entries = std::move(entries);
  for (const auto& e : run.entries) {
    const bool known = std::any_of(run.matrices.begin(), run.matrices.end(),
                                   [&](const auto& m) { return m.name == e.matrix; });
    if (known) continue;
    krysol::report::MatrixEntry m;
    m.name = e.matrix;
    m.file = e.matrix + ".mtx";
    m.rows = m.cols = 100;
    m.nonzeros = 460;
    m.field = "real";
    m.symmetry = "symmetric";
    m.spy = "2x2:91/19";
    run.matrices.push_back(m);
  }
  return run;
}

}  // namespace krysol_tests
