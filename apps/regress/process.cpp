// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
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
#include <sstream>
#include <thread>

#include <fmt/core.h>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>

namespace krysol::apps {
namespace {

constexpr double between_looks = 0.02;  // s: at 10 GB/s, 200 MB beyond the limit
constexpr double grace = 2;             // s from SIGTERM to SIGKILL

struct GroupUse {
  double cpu_seconds = 0;
  std::int64_t bytes = 0;
};

/// A line of /proc/PID/stat after the name, which may hold anything.
bool read_stat(const char* pid, std::string& line) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  if (!std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  line.erase(0, name_end + 1);
  return true;
}

/// What all processes of a group use now, and what their children that ended have used.
GroupUse use_of_group(pid_t group) {
  GroupUse use;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return use;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::string line;
  for (const dirent* entry = ::readdir(folder); entry != nullptr; entry = ::readdir(folder)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_stat(entry->d_name, line))
      continue;
    std::istringstream fields(line);
    std::string state;
    long long ppid = 0;
    long long pgrp = 0;
    fields >> state >> ppid >> pgrp;
    if (pgrp != group) continue;
    std::string skipped;
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
    use.cpu_seconds += times / ticks;
    use.bytes += pages * page;
  }
  ::closedir(folder);
  return use;
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
    ::_exit(body());
  });
}

Process::~Process() {
  if (pid_ < 0 || end_) return;
  kill_group(SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

void Process::kill_group(int signal) const {
  if (::kill(-pid_, signal) != 0) ::kill(pid_, signal);
}

double Process::age() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

/// Compares what the group uses with the limits.
void Process::look() {
  const double now = age();
  if (asked_ >= 0 && now - asked_ > grace) kill_group(SIGKILL);
  if (now - looked_ < between_looks) return;
  looked_ = now;
  const GroupUse use = use_of_group(pid_);
  group_cpu_ = std::max(group_cpu_, use.cpu_seconds);
  peak_ = std::max(peak_, use.bytes);
  if (limits_.bytes > 0 && use.bytes > limits_.bytes && !out_of_memory_) {
    out_of_memory_ = true;
    kill_group(SIGKILL);
  }
  const bool late = (limits_.cpu_seconds > 0 && use.cpu_seconds > limits_.cpu_seconds) ||
                    (limits_.wall_seconds > 0 && now > limits_.wall_seconds);
  if (late && asked_ < 0) {
    out_of_time_ = true;
    asked_ = now;
    kill_group(SIGTERM);
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
    out.cpu_seconds = std::max(group_cpu_, seconds(used.ru_utime) + seconds(used.ru_stime));
    out.peak_bytes = std::max(peak_, std::int64_t{used.ru_maxrss} * 1024);
  }
  out.out_of_time = out_of_time_;
  out.out_of_memory = out_of_memory_;
  ::kill(-pid_, SIGKILL);  // what it left behind
  end_ = out;
  return end_;
}

std::optional<ProcessEnd> Process::wait(const std::function<bool()>& stop) {
  auto nap = std::chrono::microseconds(200);
  while (!poll()) {
    if (stop()) {
      kill_group(SIGKILL);
      int status = 0;
      ::waitpid(pid_, &status, 0);
      pid_ = -1;
      return std::nullopt;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::microseconds(5000));
  }
  return end_;
}

std::int64_t machine_memory() {
  std::int64_t bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  for (const char* const path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
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

int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace krysol::apps
