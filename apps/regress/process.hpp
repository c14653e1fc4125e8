// A process that is watched: its time, its memory, and how it ended.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace krysol::apps {

/// After which a process is ended: first asked to (SIGTERM), killed two seconds later; killed at
/// once where it takes too much memory. 0: no limit.
struct ProcessLimits {
  double cpu_seconds = 0;   // of it and its children
  double wall_seconds = 0;  // for those that wait for what never comes
  std::int64_t bytes = 0;   // resident, of it and its children
};

struct ProcessEnd {
  int exit_code = -1;  // where no signal ended it
  int signal = 0;
  bool out_of_time = false;
  bool out_of_memory = false;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;
};

/// A child process in a group of its own. It and all that descends from it is counted and, in the
/// end, killed, also what has left the group (on Linux). Where this process is killed, so is the
/// child itself (on Linux); what that has started lives on. Standard output and error go to the
/// files `out` and `err` of `folder`, standard input is empty.
class Process {
 public:
  /// Throws FileError where the program cannot be started.
  Process(const std::vector<std::string>& command, const std::filesystem::path& folder,
          const ProcessLimits& limits);
  /// Runs `body` in a copy of this process, which must have one thread, and ends with its result.
  Process(const std::function<int()>& body, const std::filesystem::path& folder,
          const ProcessLimits& limits);
  /// Kills what still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Looks at it: to be called every few milliseconds. Set once it has ended.
  const std::optional<ProcessEnd>& poll();
  /// Until it has ended; nothing where `stop` said so before.
  std::optional<ProcessEnd> wait(const std::function<bool()>& stop);

 private:
  using Clock = std::chrono::steady_clock;

  void start(const std::filesystem::path& folder, const std::function<void(int)>& child);
  void look();
  void kill_all(int signal) const;
  void reap() const;
  double age() const;

  ProcessLimits limits_;
  pid_t pid_ = -1;
  Clock::time_point began_;
  std::set<pid_t> members_;  // descendants that were seen
  double looked_ = 0;        // seconds after the start
  double asked_ = -1;        // to end
  double cpu_ = 0;
  std::int64_t peak_ = 0;
  bool out_of_time_ = false;
  bool out_of_memory_ = false;
  std::optional<ProcessEnd> end_;
};

/// Asks `done` every few milliseconds, at first more often. False where `stop` said so before.
bool wait_until(const std::function<bool()>& done, const std::function<bool()>& stop);

/// Bytes of memory of this machine, or of the control group where that has fewer.
std::int64_t machine_memory();
/// The model of the processor, and the system: one line.
std::string machine_name();

}  // namespace krysol::apps
