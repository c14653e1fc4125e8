// All solves of a regression run: side by side for their outcomes, one at a time for their times.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <krysol/report/runs/run_record.hpp>
#include <krysol/report/runs/timing_verdict.hpp>
#include "common/rooms.hpp"
#include "regress/matrix_list.hpp"
#include "regress/solve_job.hpp"

namespace krysol::apps {

struct RunSettings {
  std::string program;  // cg_solve
  std::string other;    // --against; empty: none
  std::string command;  // that repeats the run
  std::filesystem::path output;
  std::vector<ListedMatrix> matrices;
  std::vector<SolveMethod> methods;
  std::string shard;
  double time_limit_s = 60;             // of processor time; of the clock five times as much
  std::int64_t memory_limit_bytes = 0;  // of a solve
  int jobs = 1;
  int turns = 3;  // of each solve; 0: no times
  bool restart = false;
  bool quiet = false;
};

/// Runs what the journal beside `output` does not hold yet. None where it was interrupted: the same
/// call goes on later. Throws UsageError and FileError as Journal does, and UsageError where a
/// program cannot be run. The journal is removed by `forget`, once all is written.
class RegressionRun {
 public:
  explicit RegressionRun(RunSettings settings);
  ~RegressionRun();
  std::optional<RunRecord> run();
  void forget();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krysol::apps
