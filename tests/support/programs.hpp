// Programs as their users meet them: started as processes, judged by exit code, output and files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <nlohmann/json.hpp>
#include "messages.hpp"

namespace krysol_tests {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
using krysol::Triplets;

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The line of a candidate in a benchmark's report, with or without what stands after a colon in
/// its name; null where there is none.
inline Json line_of(const Json& report, const std::string& name) {
  for (const Json& line : report["lines"]) {
    const auto found = line["name"].get<std::string>();
    if (found.substr(0, found.find(": ")) == name) return line;
  }
  return nullptr;
}

/// An exit status as the shell shows it: 128 + the signal for a program that one has ended.
inline int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

/// A folder of its own for each test, and runs of the program in it.
class ProgramTest : public testing::Test {
 protected:
  /// measures: the program takes --no-bandwidth.
  explicit ProgramTest(const std::string& program, bool measures = true)
      : program_(program),
        measures_(measures),
        folder_(fs::temp_directory_path() /
                fmt::format("krysol_{}_{}_{}", fs::path(program).filename().string(), ::getpid(),
                            testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directory(folder_);
  }
  ~ProgramTest() override { fs::remove_all(folder_); }

  fs::path in(const std::string& name) const { return folder_ / name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(in(name), std::ios::binary) << text;
    return in(name).string();
  }

  std::string write(const std::string& name, const Triplets<double>& matrix) const {
    krysol::write_matrix(in(name), matrix);
    return in(name).string();
  }

  std::string write_vector(const std::string& name, const std::vector<double>& v) const {
    krysol::write_dense(in(name), static_cast<krysol::Index>(v.size()), 1, v);
    return in(name).string();
  }

  /// Starts a program; "1>FILE" and "2>FILE" as the shell would. Returns its process id.
  pid_t start(const std::string& program, Arguments arguments, const fs::path& out,
              const fs::path& err) const {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  /// One thread unless a test says otherwise: on a busy machine two of them wait for each other.
  Arguments with_defaults(Arguments arguments) const {
    if (measures_) arguments.emplace_back("--no-bandwidth");
    if (std::count(arguments.begin(), arguments.end(), "--threads") == 0) {
      arguments.insert(arguments.end(), {"--threads", "1"});
    }
    return arguments;
  }

  Outcome run(const Arguments& arguments) const { return run_exactly(with_defaults(arguments)); }

  Outcome run_exactly(const Arguments& arguments) const { return run_exactly(arguments, program_); }

  Outcome run_exactly(const Arguments& arguments, const std::string& program,
                      const fs::path& out_to = {}) const {
    const fs::path out = out_to.empty() ? in(".out") : out_to;
    const pid_t pid = start(program, arguments, out, in(".err"));
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    Outcome outcome{exit_code(status), out_to.empty() ? text_of(out) : "", text_of(in(".err"))};
    fs::remove(in(".out"));
    fs::remove(in(".err"));
    return outcome;
  }

  /// The JSON report of a run whose exit code is expected.
  Json report(Arguments arguments, int code) const {
    arguments.insert(arguments.end(), {"--json", "-", "--quiet"});
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.out << o.err;
    EXPECT_EQ(o.err, "");
    return Json::parse(o.out, nullptr, false);
  }

  /// Bad input: exit code 2, nothing on standard output, one sentence that says so.
  void expect_refusal(const Arguments& arguments, const std::string& message) const {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(o.err.starts_with(fs::path(program_).filename().string() + ": error: ")) << o.err;
    EXPECT_TRUE(holds(o.err, message)) << o.err;
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  const std::string program_;
  const bool measures_;
  const fs::path folder_;
};

}  // namespace krysol_tests
