// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/regression_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <thread>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/base/processor.hpp>
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

  /// done, of: solves, of which `work` is left, in any unit.
  void begin(std::string what, std::size_t done, std::size_t of, double work) {
    clear();
    what_ = std::move(what);
    done_ = done;
    of_ = of;
    work_ = work;
    worked_ = 0;
    began_ = Clock::now();
    next_ = 0;
  }
  void add(double work) {
    ++done_;
    worked_ += work;
  }
  void show(const std::string& name) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (!wanted_ || seconds < next_) return;
    next_ = seconds + (terminal_ ? 0.2 : 15);
    std::string left;
    if (worked_ > 0 && seconds > 1) {
      const double s = seconds / worked_ * (work_ - worked_);
      left = fmt::format(", {}:{:02} left", static_cast<long>(s) / 60, static_cast<long>(s) % 60);
    }
    fmt::print(stderr, "{}regress: {} {} of {}{}: {}{}", terminal_ ? "\r\033[K" : "", what_, done_,
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
  std::size_t done_ = 0;
  std::size_t of_ = 0;
  double work_ = 0;
  double worked_ = 0;
};

/// What a solve costs, before anything is known of it.
double guessed_work(const ListedMatrix& m) {
  constexpr double of_a_process = 2e4;  // bytes of a file that take as long as starting a program
  return of_a_process + static_cast<double>(m.file_bytes);
}

/// Size and time of a file: another one of that name is another. Of a name without a folder
/// nothing.
std::string stamp_of(const std::string& file) {
  std::error_code failed;
  const auto bytes = fs::file_size(file, failed);
  if (failed) return "";
  const auto time = fs::last_write_time(file, failed);
  if (failed) return "";
  return fmt::format("{} bytes, {}", bytes, time.time_since_epoch().count());
}

/// A folder that goes when this does. Throws UsageError where there is one of that name with
/// anything in it that runs do not make.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {
    std::error_code failed;
    const auto kind = fs::symlink_status(path_, failed);
    if (fs::exists(kind) && !(fs::is_directory(kind) && holds_parts_alone())) {
      throw UsageError(
          fmt::format("{}: is there already, and not of a run; regress would put its files there "
                      "and remove it: give --output another name",
                      path_.string()));
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// A folder in it that no process of an earlier run writes to.
  fs::path part(const std::string& name) const {
    return path_ / fmt::format("{}-{}", ::getpid(), name);
  }

 private:
  /// PID-NAME, and the folder of measurements.
  bool holds_parts_alone() const {
    std::error_code failed;
    for (fs::directory_iterator at(path_, failed), end; !failed && at != end;
         at.increment(failed)) {
      const std::string name = at->path().filename().string();
      const auto digits = name.find_first_not_of("0123456789");
      const bool part = digits != std::string::npos && digits > 0 && name[digits] == '-';
      if (!at->is_directory(failed) || !(part || name == "tuning")) return false;
    }
    return !failed;
  }

  fs::path path_;
};

bool runs_on_a_gpu(const std::string& version) {
  return version.find(", CUDA") != std::string::npos || version.find(", HIP") != std::string::npos;
}

}  // namespace

struct RegressionRun::State {
  explicit State(RunSettings given)
      : settings(std::move(given)),
        progress(!settings.quiet),
        journal(settings.output.string() + ".journal"),
        folder(settings.output.string() + work_ending) {
    // Measurements of formats stay within the run: no night profits from the one before.
    ::setenv("KRYSOL_TUNING_CACHE", (folder.path() / "tuning").c_str(), 1);
    version = version_of(settings.program, folder.part("version"));
    if (!settings.other.empty()) other_version = version_of(settings.other, folder.part("version"));
    const int cores = usable_cores();
    if (settings.jobs == 0) settings.jobs = runs_on_a_gpu(version) ? 1 : cores;
    const double sharing = std::max(1.0, static_cast<double>(settings.jobs) / cores);
    limits = {settings.time_limit_s, patience * sharing * settings.time_limit_s,
              settings.memory_limit_bytes};
    timed_limits = {0, patience * settings.time_limit_s, settings.memory_limit_bytes};
    journal.begin(described(), utc_now(), settings.restart);
  }

  /// What must be the same for a journal to be gone on with.
  std::map<std::string, std::string> described() const {
    std::map<std::string, std::string> out;
    out["program"] = settings.program;
    out["file of the program"] = stamp_of(settings.program);
    out["file of the program to compare with"] = stamp_of(settings.other);
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
    for (const ListedMatrix& m : settings.matrices) {
      matrices +=
          fmt::format("{}, {}{};", m.name, stamp_of(m.file), m.problem.empty() ? "" : ", missing");
    }
    out["list of matrices"] = matrices;
    return out;
  }

  bool solve_all();
  bool time_all();
  bool take_turn(const ListedMatrix& matrix, const SolveMethod& method, std::size_t turn);
  bool worth_a_turn(const SolveKey& key, std::size_t turn) const;
  bool has_room_for(const ListedMatrix& matrix) const;
  void add_turns(const SolveKey& key, RunEntry& e) const;
  RunRecord record() const;

  RunSettings settings;
  ProcessLimits limits;
  ProcessLimits timed_limits;
  RunProgress progress;
  std::string version;
  std::string other_version;
  Journal journal;  // of which there is one: `folder` is used by no other regress
  WorkFolder folder;
};

/// Whether another solve beside those that run is likely to find memory. One runs in any case.
bool RegressionRun::State::has_room_for(const ListedMatrix& matrix) const {
  constexpr double of_a_byte = 60;  // of a compressed file: entries, rows, format and hierarchy
  constexpr double least = 5e8;
  const auto free = free_host_bytes();
  return !free ||
         static_cast<double>(*free) > least + of_a_byte * static_cast<double>(matrix.file_bytes);
}

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
  double work = 0;
  for (const Task& task : left) work += guessed_work(*task.matrix);
  progress.begin("solved", all - left.size(), all, work);
  std::vector<std::unique_ptr<SolveJob>> running(static_cast<std::size_t>(settings.jobs));
  std::vector<const ListedMatrix*> of_slot(running.size());
  std::size_t next = 0;
  std::size_t at_work = 0;
  while (next < left.size() || at_work > 0) {
    if (CatchInterrupt::happened()) return false;
    bool moved = false;
    for (std::size_t slot = 0; slot < running.size(); ++slot) {
      auto& job = running[slot];
      if (!job && next < left.size() && (at_work == 0 || has_room_for(*left[next].matrix))) {
        const Task& task = left[next++];
        job =
            std::make_unique<SolveJob>(settings.program, *task.matrix, *task.method, limits,
                                       folder.part(fmt::format("{}", slot)), SolveKind::repeatable);
        of_slot[slot] = task.matrix;
        ++at_work;
        moved = true;
      }
      if (!job || !job->poll()) continue;
      if (job->matrix_entry && journal.matrices.count(job->entry.matrix) == 0) {
        journal.add(*job->matrix_entry);
      }
      journal.add(job->entry);
      job.reset();
      --at_work;
      progress.add(guessed_work(*of_slot[slot]));
      moved = true;
    }
    const auto busy =
        std::find_if(running.begin(), running.end(), [](const auto& j) { return bool(j); });
    if (busy != running.end()) progress.show((*busy)->entry.matrix);
    if (!moved) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  progress.clear();
  return true;
}

bool RegressionRun::State::worth_a_turn(const SolveKey& key, std::size_t turn) const {
  constexpr double long_solve = 10;  // s: one time is enough, but where two programs are compared
  const RunEntry& e = journal.entries.at(key);
  if (e.outcome > SolveOutcome::not_converged || e.iterations < 1) return false;
  const auto found = journal.turns.find(key);
  const std::size_t taken = found == journal.turns.end() ? 0 : found->second.size();
  if (taken != turn) return false;  // it was taken before, or one before it failed
  if (turn == 0) return true;
  const TurnTimes& last = found->second.back();
  if (!(last.seconds > 0) || (!settings.other.empty() && !(last.other > 0))) return false;
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

/// One solve by one program or both; the order alternates. In the first turn x is checked once
/// more: as it is typed, a solve takes other formats, orders and numbers of threads than the one
/// whose outcome is kept. False where it was interrupted.
bool RegressionRun::State::take_turn(const ListedMatrix& matrix, const SolveMethod& method,
                                     std::size_t turn) {
  TurnTimes times;
  const auto take_now = [&] {
    SolveJob job(settings.program, matrix, method, timed_limits, folder.part("turn"),
                 turn == 0 ? SolveKind::as_typed : SolveKind::timed);
    if (!job.wait(CatchInterrupt::happened)) return false;
    times.seconds = job.entry.outcome <= SolveOutcome::not_converged ? job.seconds : 0;
    times.outcome = job.entry.outcome;
    times.status = job.entry.status;
    times.format = job.format;
    times.message = job.entry.message;
    return true;
  };
  const auto take_other = [&] {
    if (settings.other.empty()) return true;
    SolveJob job(settings.other, matrix, method, timed_limits, folder.part("turn"),
                 SolveKind::timed);
    if (!job.wait(CatchInterrupt::happened)) return false;
    times.other = job.entry.outcome <= SolveOutcome::not_converged ? job.seconds : 0;
    times.other_status = job.entry.status;
    return true;
  };
  const bool done = turn % 2 == 0 ? take_now() && take_other() : take_other() && take_now();
  if (!done) return false;
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
      const double triad =
          measured_triad(settings.program, folder.part("turn"), CatchInterrupt::happened);
      if (CatchInterrupt::happened()) return false;
      journal.add_triad(triad);
    }
    double work = 0;
    for (const auto& [matrix, method] : due) work += guessed_work(*matrix);
    progress.begin(fmt::format("round {} of times:", turn + 1), 0, due.size(), work);
    for (const auto& [matrix, method] : due) {
      progress.show(matrix->name);
      if (CatchInterrupt::happened() || !take_turn(*matrix, *method, turn)) return false;
      progress.add(guessed_work(*matrix));
    }
    progress.clear();
  }
  return true;
}

/// What the turns found. A solve that ends worse when it is run as it is typed has that outcome.
void RegressionRun::State::add_turns(const SolveKey& key, RunEntry& e) const {
  const auto turns = journal.turns.find(key);
  if (turns == journal.turns.end()) return;
  for (const TurnTimes& t : turns->second) {
    if (t.seconds > 0 && (settings.other.empty() || t.other > 0)) {
      e.seconds.push_back(t.seconds);
      if (!settings.other.empty()) e.other_seconds.push_back(t.other);
    }
    if (!t.format.empty()) e.timed_format = t.format;
    if (!t.other_status.empty()) e.other_status = t.other_status;
    if (t.status != e.status) e.timed_status = t.status;
    if (t.outcome <= e.outcome) continue;
    e.outcome = t.outcome;
    e.message = fmt::format("as it is typed, without --format csr --reorder none --threads 1: {}",
                            t.message.empty() ? t.status : t.message);
  }
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
      add_turns(key, e);
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
