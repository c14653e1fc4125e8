// What a regression run has done so far, on disk: it survives whatever ends the run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <krysol/report/runs/run_record.hpp>
#include "common/rooms.hpp"

namespace krysol::apps {

/// A solve's name in a run: matrix and method.
using SolveKey = std::pair<std::string, std::string>;

/// A solve of a turn, as a user would run it; of both programs where two are compared.
struct TurnTimes {
  double seconds = 0;  // 0: it did not end as a solve that is timed should
  double other = 0;
  SolveOutcome outcome = SolveOutcome::converged;
  std::string status;
  std::string other_status;
  std::string format;
  std::string message;
};

/// Lines of JSON, each written and synced before the next thing is done. The first says what is
/// run, so that a journal of another run is not taken for this one's.
class Journal {
 public:
  /// Throws UsageError where another process has it open; FileError where it cannot be written.
  explicit Journal(std::filesystem::path path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// what: the settings of the run, by name. Reads what is there of the same run; a last line that
  /// is cut off is forgotten. Throws UsageError where it is of a run with other settings (it names
  /// the first that differs), or none, and `restart` is false.
  void begin(const std::map<std::string, std::string>& what, const std::string& started,
             bool restart);

  const std::string& started() const { return started_; }
  bool resumed() const { return resumed_; }

  void add(const MatrixEntry& matrix);
  void add(const RunEntry& entry);
  void add(const SolveKey& key, const TurnTimes& times);
  void add_triad(double triad);
  /// The run's files are written: the journal goes.
  void remove();

  std::map<std::string, MatrixEntry> matrices;
  std::map<SolveKey, RunEntry> entries;
  std::map<SolveKey, std::vector<TurnTimes>> turns;
  std::vector<double> triads;

 private:
  void take(const std::string& line);
  void write(const std::string& line);

  std::filesystem::path path_;
  std::string started_;
  bool resumed_ = false;
  int file_ = -1;
};

}  // namespace krysol::apps
