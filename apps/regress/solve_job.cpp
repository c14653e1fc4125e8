// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/solve_job.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <krysol/io/bytes/parse_error.hpp>

#include "common/cli.hpp"
#include "common/matrix_source.hpp"
#include "common/read_options.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int not_written = 4;  // exit status of the check
constexpr const char* kept =
    "; what is done so far is kept, and the same command goes on from there once there is room";

std::string text_in(const fs::path& path, std::size_t most = std::size_t{1} << 26) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::array<char, 65536> block{};
  while (in && text.size() < most) {
    in.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

/// The last line that says anything, without the program's name and "error:".
std::string last_words(const std::string& text) {
  std::istringstream in(text);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with("Run ")) continue;
    last = line;
  }
  const auto at = last.find("error: ");
  if (at != std::string::npos) last.erase(0, at + std::strlen("error: "));
  constexpr std::size_t longest = 400;
  return last.substr(0, longest);
}

bool has_option(const std::vector<std::string>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& o) {
    return o == name || o.starts_with(std::string(name) + "=");
  });
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  bool within = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      within = true;
    } else if (c == ' ' || c == '\t') {
      if (within) out.push_back(std::move(word));
      word.clear();
      within = false;
    } else {
      word += c;
      within = true;
    }
  }
  if (quote != 0) throw UsageError(fmt::format("--method {}: a quote is not closed", text));
  if (within) out.push_back(std::move(word));
  return out;
}

/// What stands at a way through objects; null where there is none.
Json value_at(const Json& json, const std::vector<const char*>& way) {
  const Json* at = &json;
  for (const char* const key : way) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return *at;
}

std::optional<double> number_at(const Json& json, const std::vector<const char*>& way) {
  const Json value = value_at(json, way);
  return value.is_number() ? std::optional<double>(value.get<double>()) : std::nullopt;
}

std::string text_at(const Json& json, const std::vector<const char*>& way) {
  const Json value = value_at(json, way);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Iteration and relative residual, a hundred of them at most.
std::vector<std::pair<double, double>> curve_in(const fs::path& path) {
  constexpr std::size_t most = 100;
  std::vector<std::pair<double, double>> all;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);  // names
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string k;
    std::string residual;
    std::string relative;
    if (!std::getline(fields, k, ',') || !std::getline(fields, residual, ',') ||
        !std::getline(fields, relative, ',')) {
      continue;
    }
    char* end = nullptr;
    const double r = std::strtod(relative.c_str(), &end);
    if (end == relative.c_str() || !std::isfinite(r)) continue;
    constexpr double digits = 1e3;  // four digits are enough for a picture
    const double power = r > 0 ? std::pow(10.0, std::floor(std::log10(r))) : 1;
    all.emplace_back(std::strtod(k.c_str(), nullptr),
                     std::round(r / power * digits) / digits * power);
  }
  if (all.size() <= most) return all;
  std::vector<std::pair<double, double>> out;
  const std::size_t step = (all.size() + most - 2) / (most - 1);
  for (std::size_t k = 0; k < all.size(); k += step) out.push_back(all[k]);
  if (out.back().first < all.back().first) out.push_back(all.back());
  return out;
}

void make_empty(const fs::path& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  fs::create_directories(folder, failed);
  if (failed) throw FileError(fmt::format("{}: {}", folder.string(), failed.message()));
}

SolveOutcome outcome_of_status(const std::string& status, int exit_code) {
  if (exit_code == exit_converged) return SolveOutcome::converged;
  return status == "stagnated" ? SolveOutcome::stagnated : SolveOutcome::not_converged;
}

}  // namespace

SolveMethod method_from(const std::string& text) {
  SolveMethod out;
  const auto equals = text.find('=');
  const auto space = text.find_first_of(" \t");
  const bool named = equals != std::string::npos && equals > 0 && text.front() != '-' &&
                     (space == std::string::npos || equals < space);
  out.method.options = split_words(named ? text.substr(equals + 1) : text);
  out.method.name = named ? text.substr(0, equals) : text.empty() ? "default" : text;
  std::vector<std::string> words = out.method.options;
  words.push_back(out.method.name);
  for (const std::string& word : words) {
    if (plain_name(word) == word) continue;
    throw UsageError(
        fmt::format("--method {}: printable UTF-8 was expected, which files of "
                    "results can hold",
                    plain_name(text)));
  }
  for (const char* const own :
       {"--json", "--output", "--history", "--quiet", "--no-bandwidth", "--witness",
        "--save-tuning", "--report", "--profile", "--help", "-h", "--version", "--list"}) {
    if (has_option(out.method.options, own)) {
      throw UsageError(fmt::format("--method {}: regress itself uses {}", text, own));
    }
  }
  CLI::App app;
  app.set_help_flag();
  add_read_options(app, out.read);
  app.allow_extras();
  std::vector<std::string> reversed(out.method.options.rbegin(), out.method.options.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    throw UsageError(fmt::format("--method {}: {}", text, e.what()));
  }
  const auto fix = [&](const char* option, const char* value) {
    if (!has_option(out.method.options, option)) {
      out.repeatable.insert(out.repeatable.end(), {option, value});
    }
  };
  const bool reuses = has_option(out.method.options, "--tuning");
  if (!reuses) fix("--format", "csr");
  if (!reuses) fix("--reorder", "none");
  fix("--threads", "1");
  return out;
}

SolveJob::SolveJob(const std::string& program, ListedMatrix matrix, SolveMethod method,
                   const ProcessLimits& limits, fs::path folder, SolveKind kind)
    : matrix_(std::move(matrix)),
      method_(std::move(method)),
      limits_(limits),
      folder_(std::move(folder)),
      kind_(kind) {
  make_empty(folder_);
  entry.matrix = matrix_.name;
  entry.method = method_.method.name;
  // A name that begins with a dash would be an option.
  const bool dash = matrix_.file.starts_with("-");
  std::vector<std::string> command = {program, (dash ? "./" : "") + matrix_.file};
  command.insert(command.end(), method_.method.options.begin(), method_.method.options.end());
  if (kind_ == SolveKind::repeatable) {
    command.insert(command.end(), method_.repeatable.begin(), method_.repeatable.end());
  }
  entry.command = quoted_command(command);
  if (!matrix_.problem.empty()) {
    entry.outcome = SolveOutcome::refused;
    entry.message = matrix_.problem;
    done_ = true;
    return;
  }
  const auto add = [&](const char* option, const char* file) {
    command.insert(command.end(), {option, (folder_ / file).string()});
  };
  add("--json", "report.json");
  if (kind_ != SolveKind::timed) add("--output", "x.mtx");
  if (kind_ == SolveKind::repeatable) add("--history", "history.csv");
  command.insert(command.end(), {"--quiet", "--no-bandwidth"});
  process_ = std::make_unique<Process>(command, folder_, limits_);
}

void SolveJob::start_check() {
  CheckTask task;
  task.matrix = matrix_.file;
  task.read = method_.read;
  task.rhs = entry.rhs;
  std::error_code ignored;
  if (fs::exists(folder_ / "x.mtx", ignored)) task.x = folder_ / "x.mtx";
  const fs::path to = folder_ / "check.json";
  const auto body = [task, to] {
    try {
      std::optional<Kokkos::ScopeGuard> guard;
      if (is_made(task.matrix)) {
        guard.emplace(
            Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
      }
      const std::string line = as_line(check_solution(task));
      std::ofstream file(to);
      file << line << '\n';
      file.flush();
      return file ? 0 : not_written;
    } catch (const std::exception& e) {
      fmt::print(stderr, "error: {}\n", e.what());
      std::fflush(stderr);
      return int{exit_bad_input};
    }
  };
  checking_ = true;
  process_ = std::make_unique<Process>(std::function<int()>(body), folder_, limits_);
}

void SolveJob::take_solve(const ProcessEnd& end) {
  entry.exit_code = end.exit_code;
  entry.signal = end.signal;
  entry.wall_seconds = end.wall_seconds;
  entry.cpu_seconds = end.cpu_seconds;
  entry.peak_bytes = end.peak_bytes;
  const std::string said = last_words(text_in(folder_ / "err"));
  if (end.exit_code == exit_bad_input && said.find(folder_.string()) != std::string::npos) {
    throw FileError(said + kept);
  }
  if (end.out_of_memory) {
    entry.outcome = SolveOutcome::memory_limit;
    entry.message = fmt::format("ended at {:.2f} GB, the limit is {:.2f} GB",
                                static_cast<double>(end.peak_bytes) / 1e9,
                                static_cast<double>(limits_.bytes) / 1e9);
  } else if (end.out_of_time) {
    entry.outcome = SolveOutcome::time_limit;
    entry.message = fmt::format("ended after {:.1f} s, of which {:.1f} s on processors",
                                end.wall_seconds, end.cpu_seconds);
  } else if (end.signal == SIGKILL) {
    entry.outcome = SolveOutcome::memory_limit;
    entry.message = "killed from outside (SIGKILL), as a system does that runs out of memory";
  } else if (end.signal != 0) {
    entry.outcome = SolveOutcome::crashed;
    entry.message = fmt::format("signal {} ({}){}", end.signal, ::strsignal(end.signal),
                                said.empty() ? "" : ": " + said);
  } else if (end.exit_code == exit_bad_input) {
    entry.outcome = SolveOutcome::refused;
    entry.message = said;
  } else if (end.exit_code != exit_converged && end.exit_code != exit_not_converged) {
    const bool memory = said.find("not enough memory") != std::string::npos;
    entry.outcome = memory ? SolveOutcome::memory_limit : SolveOutcome::internal_error;
    entry.message = said.empty() ? fmt::format("exit status {}", end.exit_code) : said;
  }
  const bool ended_itself = end.exit_code == exit_converged || end.exit_code == exit_not_converged;
  const std::string text = text_in(folder_ / "report.json");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("result")) {
    if (ended_itself) {
      entry.outcome = SolveOutcome::no_report;
      entry.message = text.empty() ? "exit status 0 or 1, and no report was written"
                                   : "the report is no JSON, or has no result";
      if (!said.empty()) entry.message += ": " + said;
    }
    return;
  }
  entry.status = text_at(json, {"result", "status"});
  entry.preconditioner = text_at(json, {"preconditioner"});
  entry.choice = text_at(json, {"preconditioner_choice", "repeat"});
  entry.rhs = text_at(json, {"rhs"});
  if (const auto k = number_at(json, {"result", "iterations"})) {
    entry.iterations = static_cast<std::int64_t>(*k);
  }
  entry.error = number_at(json, {"result", "relative_error"});
  const auto b_norm = number_at(json, {"result", "b_norm"});
  const auto residual = number_at(json, {"result", "residual"});
  if (residual && b_norm) entry.residual = *b_norm > 0 ? *residual / *b_norm : *residual;
  const auto target = number_at(json, {"result", "target"});
  if (target && b_norm) target_ = *b_norm > 0 ? *target / *b_norm : *target;
  if (has_option(method_.method.options, "--project")) {
    const auto outside = number_at(json, {"result", "outside_range"});
    if (outside && b_norm && *b_norm > 0) outside_ = *outside / *b_norm;
  }
  format = text_at(json, {"format", "name"});
  seconds = number_at(json, {"seconds_to_solution"}).value_or(0);
  if (!(seconds > 0)) {  // of earlier versions
    for (const auto& way : {std::vector<const char*>{"result", "seconds"},
                            std::vector<const char*>{"work", "convert", "seconds"},
                            std::vector<const char*>{"work", "setup", "seconds"}}) {
      seconds += number_at(json, way).value_or(0);
    }
  }
  if (kind_ == SolveKind::repeatable) entry.curve = curve_in(folder_ / "history.csv");
  if (!ended_itself) return;
  entry.outcome = outcome_of_status(entry.status, end.exit_code);
  if (entry.outcome != SolveOutcome::converged) entry.message = text_at(json, {"result", "advice"});
  const bool said_converged = entry.status == "converged";
  if (said_converged != (end.exit_code == exit_converged)) {
    entry.outcome = SolveOutcome::no_report;
    entry.message =
        fmt::format("exit status {}, but the report says {}", end.exit_code, entry.status);
    return;
  }
  claims_ = entry.residual.has_value();
  std::error_code ignored;
  if (kind_ != SolveKind::timed && entry.outcome == SolveOutcome::converged &&
      !fs::exists(folder_ / "x.mtx", ignored)) {
    entry.outcome = SolveOutcome::no_report;
    entry.message = "converged, and no x was written";
  }
}

void SolveJob::take_check(const ProcessEnd& end) {
  if (end.exit_code == not_written) {
    throw FileError(
        fmt::format("{}: cannot be written{}", (folder_ / "check.json").string(), kept));
  }
  if (end.exit_code != 0) {
    // What cannot be read was said by the program; where that took it, the check must too.
    if (entry.outcome < SolveOutcome::not_converged) {
      entry.outcome = SolveOutcome::no_report;
      entry.message = fmt::format("x could not be checked: {}",
                                  end.out_of_time || end.out_of_memory
                                      ? std::string("beyond the limits of a solve")
                                  : end.signal != 0 ? fmt::format("signal {}", end.signal)
                                                    : last_words(text_in(folder_ / "err")));
    }
    return;
  }
  CheckResult result;
  try {
    result = check_result_of(text_in(folder_ / "check.json"));
  } catch (const std::exception& e) {
    entry.outcome = std::max(entry.outcome, SolveOutcome::no_report);
    entry.message = fmt::format("x could not be checked: {}", e.what());
    return;
  }
  result.matrix.name = matrix_.name;
  result.matrix.file = matrix_.file;
  result.matrix.spd = matrix_.spd;
  matrix_entry = result.matrix;
  if (!result.residual) return;
  entry.checked_residual = result.residual;
  entry.rounding = result.rounding;
  if (claims_ && !is_fault(entry.outcome)) judge_residual(result);
}

/// Is |b - A x| what the report says?
void SolveJob::judge_residual(const CheckResult& result) {
  constexpr double digits = 1.05;  // the report's residual is itself a sum in double
  const double rounding = result.rounding.value_or(0);
  // What --project left out of b is not in the range of A, and no part of what is reported.
  const double allowed = digits * std::hypot(*entry.residual, outside_) + rounding;
  const double goal = digits * std::hypot(target_, outside_) + rounding;
  const bool claim_broken = !(*result.residual <= allowed);
  const bool goal_missed = entry.outcome == SolveOutcome::converged && !(*result.residual <= goal);
  if (!claim_broken && !goal_missed) return;
  entry.outcome = SolveOutcome::wrong_result;
  entry.message = fmt::format(
      "|b - A x| is {:.3e} |b|, the report says {:.3e} (the tolerance is {:.1e}, rounding explains "
      "{:.1e})",
      *result.residual, *entry.residual, target_, rounding);
}

bool SolveJob::poll() {
  if (done_) return true;
  const auto& end = process_->poll();
  if (!end) return false;
  if (checking_) {
    take_check(*end);
    done_ = true;
  } else {
    take_solve(*end);
    done_ = kind_ == SolveKind::timed;
    if (!done_) start_check();
  }
  if (done_) process_.reset();
  return done_;
}

bool SolveJob::wait(const std::function<bool()>& stop) {
  return wait_until([this] { return poll(); }, stop);
}

double measured_triad(const std::string& program, const fs::path& folder,
                      const std::function<bool()>& stop) {
  constexpr double patience = 120;  // s; memory that is new to a machine may be slow
  const ProcessLimits limits{0, patience, 0};
  make_empty(folder);
  Process process({program, "poisson:4", "--json", (folder / "report.json").string(), "--quiet"},
                  folder, limits);
  const auto end = process.wait(stop);
  if (!end || end->exit_code != exit_converged) return 0;
  const Json json = Json::parse(text_in(folder / "report.json"), nullptr, false);
  return number_at(json, {"bandwidth", "triad_GB_per_s"}).value_or(0);
}

std::string version_of(const std::string& program, const fs::path& folder) {
  make_empty(folder);
  try {
    constexpr double patience = 60;
    Process process({program, "--version"}, folder, {0, patience, 0});
    const auto end = process.wait([] { return false; });
    std::string text = text_in(folder / "out");
    text.resize(std::min(text.find('\n'), text.size()));
    if (end && end->exit_code == 0 && !text.empty()) return text;
    throw UsageError(
        fmt::format("{} --version: a line of text and exit status 0 were expected, "
                    "found exit status {}: {}",
                    program, end ? end->exit_code : -1, last_words(text_in(folder / "err"))));
  } catch (const FileError& e) {
    throw UsageError(e.what());
  }
}

}  // namespace krysol::apps
