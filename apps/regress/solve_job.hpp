// One solve of a regression run: the command, what became of it, and whether x is right.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krysol/io/model/matrix_file.hpp>
#include <krysol/report/runs/run_record.hpp>
#include "common/rooms.hpp"
#include "regress/matrix_list.hpp"
#include "regress/process.hpp"
#include "regress/residual_check.hpp"

namespace krysol::apps {

/// A method, and what its options say of reading and of the right-hand side, which the check needs.
struct SolveMethod {
  Method method;
  ReadOptions read{};
  /// Options of the solve whose outcome is kept: one thread, format and order that no measurement
  /// chooses, where the method leaves them open. So it repeats bit for bit.
  std::vector<std::string> repeatable{};
};

/// "NAME=OPTIONS" or OPTIONS alone, split as a shell does where nothing is quoted or escaped but by
/// single or double quotes. Throws UsageError where an option is one that regress itself sets.
SolveMethod method_from(const std::string& text);

/// A solve under way, and the check that follows it: two processes, one after the other.
class SolveJob {
 public:
  /// folder: of its own; it is emptied.
  SolveJob(std::string program, ListedMatrix matrix, SolveMethod method, ProcessLimits limits,
           std::filesystem::path folder);

  /// True once all is known. To be called every few milliseconds.
  bool poll();

  RunEntry entry;
  std::optional<MatrixEntry> matrix_entry;  // where the check could read the matrix
  const ListedMatrix& listed() const { return matrix_; }

 private:
  void start_check();
  void take_solve(const ProcessEnd& end);
  void take_check(const ProcessEnd& end);

  std::string program_;
  ListedMatrix matrix_;
  SolveMethod method_;
  ProcessLimits limits_;
  std::filesystem::path folder_;
  std::unique_ptr<Process> process_;
  bool checking_ = false;
  bool done_ = false;
  bool claims_ = false;  // there is a report whose residual can be compared
  double target_ = 0;    // of |b - A x| / |b|
};

/// What a solve that is only timed says.
struct TimedSolve {
  double seconds = 0;  // seconds_to_solution; 0: it did not say
  std::string status;
  std::string format;
  std::string problem;  // why there is no time
};
TimedSolve timed_solve(const std::string& program, const ListedMatrix& matrix,
                       const SolveMethod& method, const ProcessLimits& limits,
                       const std::filesystem::path& folder, const std::function<bool()>& stop);

/// GB/s of the machine, as the program itself measures it beside a small solve; 0 where it cannot.
double measured_triad(const std::string& program, const ProcessLimits& limits,
                      const std::filesystem::path& folder, const std::function<bool()>& stop);

/// The first line that `program --version` prints. Throws UsageError where it cannot be run.
std::string version_of(const std::string& program, const std::filesystem::path& folder);

}  // namespace krysol::apps
