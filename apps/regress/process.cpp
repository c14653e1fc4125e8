// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/spmv/base/processor.hpp>

namespace krysol::apps {
namespace {

constexpr double between_looks = 0.02;  // s: at 10 GB/s, 200 MB beyond the limit
constexpr double grace = 2;             // s from SIGTERM to SIGKILL
constexpr double all_memory = std::numeric_limits<double>::infinity();

/// A process of this machine, as /proc shows it.
struct RunningProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  double cpu_seconds = 0;  // with those of its children that have ended
  std::int64_t bytes = 0;
};

/// A line of /proc/PID/stat: what follows the name, which may hold anything.
bool read_process(const char* name, RunningProcess& out) {
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::ifstream file(fmt::format("/proc/{}/stat", name));
  std::string line;
  if (!std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  out.pid = static_cast<pid_t>(std::strtol(name, nullptr, 10));
  fields >> skipped >> out.parent >> out.group;
  for (int k = 6; k <= 13; ++k) fields >> skipped;
  double times = 0;  // utime, stime, cutime, cstime
  for (int k = 14; k <= 17; ++k) {
    double t = 0;
    fields >> t;
    times += t;
  }
  for (int k = 18; k <= 23; ++k) fields >> skipped;
  std::int64_t pages = 0;
  fields >> pages;
  out.cpu_seconds = times / ticks;
  out.bytes = pages * page;
  return static_cast<bool>(fields);
}

/// All processes, looked at once for all that are watched; no more often than a twentieth of a
/// core's time allows.
const std::vector<RunningProcess>& running_processes() {
  using Clock = std::chrono::steady_clock;
  static std::vector<RunningProcess> all;
  static Clock::time_point next{};
  const auto began = Clock::now();
  if (began < next) return all;
  all.clear();
  if (DIR* const folder = ::opendir("/proc")) {
    for (const dirent* entry = ::readdir(folder); entry != nullptr; entry = ::readdir(folder)) {
      RunningProcess one;
      if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && read_process(entry->d_name, one)) {
        all.push_back(one);
      }
    }
    ::closedir(folder);
  }
  const auto ended = Clock::now();
  constexpr int share = 20;
  const auto least =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(between_looks / 2));
  next = ended + std::max(least, share * (ended - began));
  return all;
}

void open_as(const std::filesystem::path& path, int flags, int as) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file >= 0) ::dup2(file, as);
  if (file > 2) ::close(file);
}

}  // namespace

void Process::start(const std::filesystem::path& folder, const std::function<void(int)>& child) {
  std::array<int, 2> channel{};  // says why a program could not be started
  if (::pipe2(channel.data(), O_CLOEXEC) != 0) {
    throw FileError(fmt::format("a pipe to a process: {}", reason(errno)));
  }
  const pid_t parent = ::getpid();
#ifdef __linux__
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what its children leave behind becomes this one's
#endif
  pid_ = ::fork();
  if (pid_ < 0) {
    const int error = errno;
    ::close(channel[0]);
    ::close(channel[1]);
    throw FileError(fmt::format("a process: {}", reason(error)));
  }
  if (pid_ == 0) {
    ::setpgid(0, 0);
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
#endif
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    open_as("/dev/null", O_RDONLY, 0);
    open_as(folder / "out", O_WRONLY | O_CREAT | O_TRUNC, 1);
    open_as(folder / "err", O_WRONLY | O_CREAT | O_TRUNC, 2);
#ifdef __linux__
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
#endif
    child(channel[1]);
    ::_exit(127);
  }
  ::setpgid(pid_, pid_);
  ::close(channel[1]);
  began_ = Clock::now();
  int error = 0;
  const ssize_t read = ::read(channel[0], &error, sizeof(error));
  ::close(channel[0]);
  if (read == sizeof(error)) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    errno = error;
    throw FileError(reason(error));
  }
}

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& folder,
                 const ProcessLimits& limits)
    : limits_(limits) {
  std::vector<char*> arguments;  // before the fork, after which nothing should be allocated
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  try {
    start(folder, [&](int channel) {
      ::execvp(arguments[0], arguments.data());
      const int error = errno;
      if (::write(channel, &error, sizeof(error)) < 0) ::_exit(126);
    });
  } catch (const FileError& e) {
    throw FileError(fmt::format("{}: cannot be started: {}", command.front(), e.what()));
  }
}

Process::Process(const std::function<int()>& body, const std::filesystem::path& folder,
                 const ProcessLimits& limits)
    : limits_(limits) {
  start(folder, [&](int channel) {
    ::close(channel);
    constexpr int most_files = 1024;
    for (int file = 3; file < most_files; ++file) ::close(file);  // locks among them
    ::_exit(body());
  });
}

Process::~Process() {
  if (pid_ < 0 || end_) return;
  kill_all(SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reap();
}

/// The group and, of a signal that nobody ignores, all that was seen to descend from it.
void Process::kill_all(int signal) const {
  if (::kill(-pid_, signal) != 0) ::kill(pid_, signal);
  if (signal != SIGKILL) return;
  for (const pid_t member : members_) ::kill(member, SIGKILL);
}

/// Waits for what has become a child of this process.
void Process::reap() const {
  int status = 0;
  constexpr int most_looks = 100;  // of a millisecond
  for (const pid_t member : members_) {
    for (int k = 0; k < most_looks && ::waitpid(member, &status, WNOHANG) == 0; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

double Process::age() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

/// Compares what it and its descendants use with the limits.
void Process::look() {
  const double now = age();
  if (asked_ >= 0 && now - asked_ > grace) kill_all(SIGKILL);
  if (now - looked_ < between_looks) return;
  looked_ = now;
  const std::vector<RunningProcess>& all = running_processes();
  std::set<pid_t> alive;
  for (bool more = true; more;) {  // until no process has a parent among them
    more = false;
    for (const RunningProcess& p : all) {
      if (alive.count(p.pid) > 0) continue;
      if (p.pid == pid_ || p.group == pid_ || members_.count(p.pid) > 0 ||
          alive.count(p.parent) > 0) {
        alive.insert(p.pid);
        more = true;
      }
    }
  }
  double cpu = 0;
  std::int64_t bytes = 0;
  for (const RunningProcess& p : all) {
    if (alive.count(p.pid) == 0) continue;
    cpu += p.cpu_seconds;
    bytes += p.bytes;
  }
  alive.erase(pid_);
  members_ = std::move(alive);
  cpu_ = std::max(cpu_, cpu);
  peak_ = std::max(peak_, bytes);
  if (limits_.bytes > 0 && bytes > limits_.bytes && !out_of_memory_) {
    out_of_memory_ = true;
    kill_all(SIGKILL);
  }
  const bool late = (limits_.cpu_seconds > 0 && cpu > limits_.cpu_seconds) ||
                    (limits_.wall_seconds > 0 && now > limits_.wall_seconds);
  if (late && asked_ < 0) {
    out_of_time_ = true;
    asked_ = now;
    kill_all(SIGTERM);
  }
}

const std::optional<ProcessEnd>& Process::poll() {
  if (end_) return end_;
  int status = 0;
  rusage used{};
  const pid_t ended = ::wait4(pid_, &status, WNOHANG, &used);
  if (ended == 0) {
    look();
    return end_;
  }
  ProcessEnd out;
  out.wall_seconds = age();
  if (ended == pid_) {
    if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    out.cpu_seconds = std::max(cpu_, seconds(used.ru_utime) + seconds(used.ru_stime));
    out.peak_bytes = std::max(peak_, std::int64_t{used.ru_maxrss} * 1024);
  }
  out.out_of_time = out_of_time_;
  out.out_of_memory = out_of_memory_;
  kill_all(SIGKILL);  // what it left behind
  reap();
  end_ = out;
  return end_;
}

std::optional<ProcessEnd> Process::wait(const std::function<bool()>& stop) {
  wait_until([this] { return poll().has_value(); }, stop);
  return end_;
}

bool wait_until(const std::function<bool()>& done, const std::function<bool()>& stop) {
  auto nap = std::chrono::microseconds(200);
  while (!done()) {
    if (stop()) return false;
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::microseconds(5000));
  }
  return true;
}

std::int64_t machine_memory() {
  const auto all =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double of_group = detail::least_of_groups(
      "/sys/fs/cgroup", detail::text_of("/proc/self/cgroup"), "memory",
      [](const std::filesystem::path& folder) {
        double least = all_memory;
        for (const char* const name : {"memory.max", "memory.limit_in_bytes"}) {
          const double limit = std::strtod(detail::text_of(folder / name).c_str(), nullptr);
          if (limit > 0) least = std::min(least, limit);
        }
        return least;
      });
  return static_cast<std::int64_t>(std::min(all, of_group));
}

std::string machine_name() {
  std::string model = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto at = line.find(": ");
    if (at != std::string::npos) model = line.substr(at + 2);
    break;
  }
  utsname system{};
  if (::uname(&system) != 0) return model;
  return fmt::format("{}, {} {}, {}", model, system.sysname, system.release, system.machine);
}

}  // namespace krysol::apps
