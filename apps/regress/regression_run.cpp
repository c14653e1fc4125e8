// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/regression_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <thread>

#include <fmt/core.h>

#include <krysol/spmv/base/join.hpp>
#include "common/cli.hpp"
#include "common/progress_line.hpp"
#include "regress/journal.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double patience = 5;  // times the limit of processor time, by the clock

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// A line on a terminal that is written over, with the time left; elsewhere one now and then.
class RunProgress {
 public:
  explicit RunProgress(bool wanted)
      : wanted_(wanted), terminal_(::isatty(STDERR_FILENO) == 1), began_(Clock::now()) {}
  ~RunProgress() { clear(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  void begin(std::string what, std::size_t done, std::size_t of) {
    clear();
    what_ = std::move(what);
    at_begin_ = done;
    of_ = of;
    began_ = Clock::now();
    next_ = 0;
  }
  void show(std::size_t done, const std::string& name) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (!wanted_ || seconds < next_) return;
    next_ = seconds + (terminal_ ? 0.2 : 15);
    const std::size_t here = done - at_begin_;
    std::string left;
    if (here > 0 && seconds > 1) {
      const double s = seconds / static_cast<double>(here) * static_cast<double>(of_ - done);
      left = fmt::format(", {}:{:02} left", static_cast<long>(s) / 60, static_cast<long>(s) % 60);
    }
    fmt::print(stderr, "{}regress: {} {} of {}{}: {}{}", terminal_ ? "\r\033[K" : "", what_, done,
               of_, left, name, terminal_ ? "" : "\n");
    std::fflush(stderr);
    shown_ = terminal_;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  bool wanted_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point began_;
  double next_ = 0;
  std::string what_;
  std::size_t at_begin_ = 0;
  std::size_t of_ = 0;
};

}  // namespace

struct RegressionRun::State {
  explicit State(RunSettings given)
      : settings(std::move(given)),
        folder(fs::path(settings.output.string() + ".work")),
        limits{settings.time_limit_s, patience * settings.time_limit_s,
               settings.memory_limit_bytes},
        progress(!settings.quiet),
        journal(settings.output.string() + ".journal") {
    version = version_of(settings.program, folder);
    if (!settings.other.empty()) other_version = version_of(settings.other, folder);
    journal.begin(described(), utc_now(), settings.restart);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  /// What must be the same for a journal to be gone on with.
  std::map<std::string, std::string> described() const {
    std::map<std::string, std::string> out;
    out["program"] = settings.program;
    out["version of the program"] = version;
    out["program to compare with"] = settings.other;
    out["version of that program"] = other_version;
    out["time limit"] = fmt::format("{}", settings.time_limit_s);
    out["memory limit"] = fmt::format("{}", settings.memory_limit_bytes);
    out["number of turns"] = fmt::format("{}", settings.turns);
    out["shard"] = settings.shard;
    std::string methods;
    for (const SolveMethod& m : settings.methods) {
      methods += fmt::format("{}={};", m.method.name, quoted_command(m.method.options));
    }
    out["list of methods"] = methods;
    std::string matrices;
    for (const ListedMatrix& m : settings.matrices) matrices += m.name + "=" + m.file + ";";
    out["list of matrices"] = matrices;
    return out;
  }

  bool solve_all();
  bool time_all();
  bool take_turn(const ListedMatrix& matrix, const SolveMethod& method, std::size_t turn);
  bool worth_a_turn(const SolveKey& key, std::size_t turn) const;
  RunRecord record() const;

  RunSettings settings;
  fs::path folder;
  ProcessLimits limits;
  RunProgress progress;
  std::string version;
  std::string other_version;
  Journal journal;  // of which there is one: `folder` is used by no other regress
};

/// Outcomes, several solves at a time. False where it was interrupted.
bool RegressionRun::State::solve_all() {
  struct Task {
    const ListedMatrix* matrix;
    const SolveMethod* method;
  };
  std::vector<Task> left;
  for (const ListedMatrix& m : settings.matrices) {
    for (const SolveMethod& method : settings.methods) {
      if (journal.entries.count({m.name, method.method.name}) == 0) left.push_back({&m, &method});
    }
  }
  // The largest first, so that none runs alone at the end.
  std::stable_sort(left.begin(), left.end(), [](const Task& a, const Task& b) {
    return a.matrix->file_bytes > b.matrix->file_bytes;
  });
  const std::size_t all = settings.matrices.size() * settings.methods.size();
  progress.begin("solved", all - left.size(), all);
  std::vector<std::unique_ptr<SolveJob>> running(static_cast<std::size_t>(settings.jobs));
  std::size_t next = 0;
  std::size_t done = all - left.size();
  while (next < left.size() ||
         std::any_of(running.begin(), running.end(), [](const auto& j) { return bool(j); })) {
    if (CatchInterrupt::happened()) return false;
    bool moved = false;
    for (std::size_t slot = 0; slot < running.size(); ++slot) {
      auto& job = running[slot];
      if (!job && next < left.size()) {
        const Task& task = left[next++];
        job = std::make_unique<SolveJob>(settings.program, *task.matrix, *task.method, limits,
                                         folder / fmt::format("{}", slot));
        progress.show(done, task.matrix->name);
        moved = true;
      }
      if (!job || !job->poll()) continue;
      if (job->matrix_entry && journal.matrices.count(job->entry.matrix) == 0) {
        journal.add(*job->matrix_entry);
      }
      journal.add(job->entry);
      job.reset();
      ++done;
      moved = true;
    }
    if (!moved) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  progress.clear();
  return true;
}

bool RegressionRun::State::worth_a_turn(const SolveKey& key, std::size_t turn) const {
  constexpr double long_solve = 10;  // s: one time is enough, but where two programs are compared
  const RunEntry& e = journal.entries.at(key);
  if (e.outcome > Outcome::not_converged || e.iterations < 1) return false;
  const auto found = journal.turns.find(key);
  const std::size_t taken = found == journal.turns.end() ? 0 : found->second.size();
  if (taken != turn) return false;  // it was taken before, or one before it failed
  if (turn == 0) return true;
  if (!found->second.back().problem.empty()) return false;
  if (settings.other.empty()) {
    return turn < static_cast<std::size_t>(settings.turns) &&
           found->second.front().seconds < long_solve;
  }
  if (turn < static_cast<std::size_t>(settings.turns)) return true;
  std::vector<double> before;
  std::vector<double> now;
  for (const TurnTimes& t : found->second) {
    before.push_back(t.other);
    now.push_back(t.seconds);
  }
  return judge(before, now).suspect;
}

/// One solve by one program or both; the order alternates. False where it was interrupted.
bool RegressionRun::State::take_turn(const ListedMatrix& matrix, const SolveMethod& method,
                                     std::size_t turn) {
  TurnTimes times;
  const auto take = [&](const std::string& program) {
    return timed_solve(program, matrix, method, limits, folder / "turn",
                       [] { return CatchInterrupt::happened(); });
  };
  TimedSolve other;
  if (!settings.other.empty() && turn % 2 == 1) other = take(settings.other);
  const TimedSolve now = take(settings.program);
  if (!settings.other.empty() && turn % 2 == 0) other = take(settings.other);
  if (CatchInterrupt::happened()) return false;
  times.seconds = now.seconds;
  times.status = now.status;
  times.format = now.format;
  times.problem = now.problem;
  times.other = other.seconds;
  if (times.problem.empty() && !settings.other.empty() && !other.problem.empty()) {
    times.problem = "of the other program: " + other.problem;
  }
  journal.add({matrix.name, method.method.name}, times);
  return true;
}

bool RegressionRun::State::time_all() {
  if (settings.turns < 1) return true;
  const std::size_t most =
      settings.other.empty()
          ? static_cast<std::size_t>(settings.turns)
          : std::max(static_cast<std::size_t>(settings.turns), TimingLimits{}.most_turns);
  for (std::size_t turn = 0; turn < most; ++turn) {
    std::vector<std::pair<const ListedMatrix*, const SolveMethod*>> due;
    for (const ListedMatrix& m : settings.matrices) {
      for (const SolveMethod& method : settings.methods) {
        if (worth_a_turn({m.name, method.method.name}, turn)) due.emplace_back(&m, &method);
      }
    }
    if (due.empty()) continue;
    if (journal.triads.size() <= turn) {
      journal.add_triad(measured_triad(settings.program, limits, folder / "turn",
                                       [] { return CatchInterrupt::happened(); }));
    }
    progress.begin(fmt::format("round {} of times:", turn + 1), 0, due.size());
    std::size_t done = 0;
    for (const auto& [matrix, method] : due) {
      progress.show(done++, matrix->name);
      if (CatchInterrupt::happened() || !take_turn(*matrix, *method, turn)) return false;
    }
    progress.clear();
  }
  return true;
}

RunRecord RegressionRun::State::record() const {
  RunRecord out;
  out.started = journal.started();
  out.finished = utc_now();
  out.command = settings.command;
  out.program = settings.program;
  out.version = version;
  out.other_program = settings.other;
  out.other_version = other_version;
  out.machine = machine_name();
  out.cores = usable_cores();
  out.jobs = settings.jobs;
  out.memory_bytes = machine_memory();
  out.time_limit_s = settings.time_limit_s;
  out.memory_limit_bytes = settings.memory_limit_bytes;
  out.shard = settings.shard;
  for (const double t : journal.triads) {
    if (t > 0) out.triad.push_back(t);
  }
  for (const SolveMethod& m : settings.methods) out.methods.push_back(m.method);
  for (const ListedMatrix& m : settings.matrices) {
    const auto known = journal.matrices.find(m.name);
    if (known != journal.matrices.end()) {
      out.matrices.push_back(known->second);
    } else {
      MatrixEntry unread;
      unread.name = m.name;
      unread.file = m.file;
      unread.file_bytes = m.file_bytes;
      unread.spd = m.spd;
      out.matrices.push_back(std::move(unread));
    }
    for (const SolveMethod& method : settings.methods) {
      const SolveKey key{m.name, method.method.name};
      RunEntry e = journal.entries.at(key);
      const auto turns = journal.turns.find(key);
      if (turns != journal.turns.end()) {
        for (const TurnTimes& t : turns->second) {
          if (!t.problem.empty()) {
            // A solve that has an outcome must have it again.
            e.outcome = t.problem.starts_with("of the other") ? e.outcome : Outcome::crashed;
            if (t.problem.starts_with("too much memory")) e.outcome = Outcome::memory_limit;
            if (t.problem.starts_with("out of time")) e.outcome = Outcome::time_limit;
            if (t.problem.starts_with("no report") || t.problem.starts_with("exit status")) {
              e.outcome = Outcome::no_report;
            }
            e.message = t.problem;
            continue;
          }
          e.seconds.push_back(t.seconds);
          if (!settings.other.empty()) e.other_seconds.push_back(t.other);
          e.timed_format = t.format;
          e.timed_status = t.status == e.status ? "" : t.status;
        }
      }
      out.entries.push_back(std::move(e));
    }
  }
  return out;
}

RegressionRun::RegressionRun(RunSettings settings)
    : state_(std::make_unique<State>(std::move(settings))) {}
RegressionRun::~RegressionRun() = default;

std::optional<RunRecord> RegressionRun::run() {
  if (state_->journal.resumed() && !state_->settings.quiet) {
    fmt::print(stderr, "regress: goes on with the run of {}: {} solves are done\n",
               state_->journal.started(), state_->journal.entries.size());
  }
  if (!state_->solve_all() || !state_->time_all()) return std::nullopt;
  return state_->record();
}

void RegressionRun::forget() { state_->journal.remove(); }

}  // namespace krysol::apps
