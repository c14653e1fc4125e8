// One solve of a regression run: the command, what became of it, and whether x is right.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
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

/// How a solve is run, and what is looked at.
enum class SolveKind {
  repeatable,  // by SolveMethod::repeatable; x is checked
  as_typed,    // as a user would; x is checked
  timed        // likewise, and only the time counts
};

/// A solve under way, and the check that follows it: two processes, one after the other.
class SolveJob {
 public:
  /// folder: of its own; it is emptied.
  SolveJob(const std::string& program, ListedMatrix matrix, SolveMethod method,
           const ProcessLimits& limits, std::filesystem::path folder, SolveKind kind);

  /// True once all is known. To be called every few milliseconds. Throws FileError where the disk
  /// has no room for what a solve writes: that is no outcome of it.
  bool poll();
  /// Until it is done; false where `stop` said so before.
  bool wait(const std::function<bool()>& stop);

  RunEntry entry;
  double seconds = 0;                       // seconds_to_solution as it reports it; 0: it does not
  std::string format;                       // that was used
  std::optional<MatrixEntry> matrix_entry;  // where the check could read the matrix

 private:
  void start_check();
  void take_solve(const ProcessEnd& end);
  void take_check(const ProcessEnd& end);
  void judge_residual(const CheckResult& result);

  ListedMatrix matrix_;
  SolveMethod method_;
  ProcessLimits limits_;
  std::filesystem::path folder_;
  SolveKind kind_;
  std::unique_ptr<Process> process_;
  bool checking_ = false;
  bool done_ = false;
  bool claims_ = false;  // there is a report whose residual can be compared
  double target_ = 0;    // of |b - A x| / |b|
  double outside_ = 0;   // the part of b that --project left out, over |b|
};

/// GB/s of the machine, as the program itself measures it beside a small solve; 0 where it cannot.
double measured_triad(const std::string& program, const std::filesystem::path& folder,
                      const std::function<bool()>& stop);

/// The first line that `program --version` prints. Throws UsageError where it cannot be run.
std::string version_of(const std::string& program, const std::filesystem::path& folder);

}  // namespace krysol::apps
