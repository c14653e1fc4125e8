// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/report/runs/json_shape.hpp>
#include "common/cli.hpp"

namespace krysol::apps {
namespace {

using Json = nlohmann::json;

constexpr const char* journal_schema = "krysol/regress_journal/1";

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Of two lists with items that end with semicolons, the first items that differ.
std::pair<std::string, std::string> first_difference(std::string was, std::string now) {
  constexpr std::size_t longest = 200;
  for (;;) {
    const auto old_end = was.find(';');
    const auto new_end = now.find(';');
    const std::string old_item = was.substr(0, old_end);
    const std::string new_item = now.substr(0, new_end);
    if (old_item != new_item || old_end == std::string::npos || new_end == std::string::npos) {
      return {old_item.substr(0, longest), new_item.substr(0, longest)};
    }
    was.erase(0, old_end + 1);
    now.erase(0, new_end + 1);
  }
}

}  // namespace

Journal::Journal(std::filesystem::path path) : path_(std::move(path)) {
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    const bool link = file_ < 0 && errno == ELOOP;
    if (file_ < 0 && !link) throw FileError(fmt::format("{}: {}", path_.string(), reason(errno)));
    struct stat kind {};
    if (link || ::fstat(file_, &kind) != 0 || !S_ISREG(kind.st_mode)) {
      if (!link) ::close(file_);
      file_ = -1;
      throw UsageError(fmt::format(
          "{}: a file was expected, for what is done so far; this is a link, a pipe or a device",
          path_.string()));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(file_);
      file_ = -1;
      if (error != EWOULDBLOCK)
        throw FileError(fmt::format("{}: {}", path_.string(), reason(error)));
      throw UsageError(fmt::format(
          "{}: another regress is at work on it; give --output another name", path_.string()));
    }
    // Another run may have removed that file between the two calls.
    struct stat locked {};
    struct stat named {};
    if (::fstat(file_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 &&
        locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
      return;
    }
    ::close(file_);
  }
}

Journal::~Journal() {
  if (file_ < 0) return;
  if (::lseek(file_, 0, SEEK_END) == 0) remove();  // nothing was begun
  ::close(file_);
}

void Journal::begin(const std::map<std::string, std::string>& what, const std::string& started,
                    bool restart) {
  started_ = started;
  std::string text;
  {
    std::ifstream in(path_, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string begins = fmt::format("{{\"journal\":\"{}\"", journal_schema);
  if (text.compare(0, begins.size(), begins, 0, std::min(text.size(), begins.size())) != 0) {
    throw UsageError(
        fmt::format("{}:1: the journal of a run ({}) was expected, found something else; remove "
                    "it, or give --output another name",
                    path_.string(), journal_schema));
  }
  // What follows the last line feed was being written when the run was ended.
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  const auto refuse_head = [&](std::string_view found) {
    throw UsageError(
        fmt::format("{}:1: the journal of a run ({}) was expected, found {}; --restart replaces it",
                    path_.string(), journal_schema, found));
  };
  if (restart || text.empty()) {
    if (::ftruncate(file_, 0) != 0)
      throw FileError(fmt::format("{}: {}", path_.string(), reason(errno)));
    write(one_line({{"journal", journal_schema}, {"started", started_}, {"what", what}}));
    return;
  }
  std::map<std::string, std::string> before;
  try {
    const std::string first = text.substr(0, text.find('\n'));
    report::check_json_shape(first, path_.string());
    const Json head = Json::parse(first);
    before = head.at("what").get<std::map<std::string, std::string>>();
    started_ = head.at("started").get<std::string>();
  } catch (const nlohmann::json::exception& e) {
    refuse_head(e.what());
  }
  for (const auto& [name, value] : what) {
    const auto found = before.find(name);
    const std::string was = found == before.end() ? "" : found->second;
    if (was == value) continue;
    const auto [old_item, new_item] = first_difference(was, value);
    throw UsageError(
        fmt::format("{}: holds a run that was not finished and had another {}: '{}', now '{}'. "
                    "Finish it with its own "
                    "options, give --output another name, or --restart to forget it",
                    path_.string(), name, old_item, new_item));
  }
  std::size_t number = 1;
  for (std::size_t at = text.find('\n') + 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    ++number;
    try {
      take(text.substr(at, end - at));
    } catch (const std::exception& e) {
      throw UsageError(
          fmt::format("{}:{}: {}; --restart begins anew", path_.string(), number, e.what()));
    }
    at = end + 1;
  }
  resumed_ = true;
  const auto size = static_cast<off_t>(text.size());
  if (::ftruncate(file_, size) != 0 || ::lseek(file_, 0, SEEK_END) < 0) {
    throw FileError(fmt::format("{}: {}", path_.string(), reason(errno)));
  }
}

void Journal::take(const std::string& line) {
  report::check_json_shape(line, "a line");
  const Json json = Json::parse(line);
  if (json.contains("matrix_entry")) {
    MatrixEntry m = report::matrix_entry_of(json.at("matrix_entry").dump());
    matrices[m.name] = std::move(m);
  } else if (json.contains("solve")) {
    RunEntry e = report::run_entry_of(json.at("solve").dump());
    entries[{e.matrix, e.method}] = std::move(e);
  } else if (json.contains("turn")) {
    const Json& t = json.at("turn");
    turns[{t.at("matrix").get<std::string>(), t.at("method").get<std::string>()}].push_back(
        {t.at("seconds").get<double>(), t.at("other").get<double>(),
         report::outcome_of(t.at("outcome").get<std::string>()), t.at("status").get<std::string>(),
         t.at("other_status").get<std::string>(), t.at("format").get<std::string>(),
         t.at("message").get<std::string>()});
  } else {
    triads.push_back(json.at("triad").get<double>());
  }
}

void Journal::write(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(file_, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      throw FileError(fmt::format("{}: {}; what is there is kept: the same command goes on from it",
                                  path_.string(), reason(errno)));
    }
    at += static_cast<std::size_t>(wrote);
  }
  ::fdatasync(file_);
}

void Journal::add(const MatrixEntry& matrix) {
  write("{\"matrix_entry\":" + as_json_line(matrix) + "}");
  matrices[matrix.name] = matrix;
}

void Journal::add(const RunEntry& entry) {
  write("{\"solve\":" + as_json_line(entry) + "}");
  entries[{entry.matrix, entry.method}] = entry;
}

void Journal::add(const SolveKey& key, const TurnTimes& t) {
  write(one_line({{"turn",
                   {{"matrix", key.first},
                    {"method", key.second},
                    {"seconds", t.seconds},
                    {"other", t.other},
                    {"outcome", report::to_string(t.outcome)},
                    {"status", t.status},
                    {"other_status", t.other_status},
                    {"format", t.format},
                    {"message", t.message}}}}));
  turns[key].push_back(t);
}

void Journal::add_triad(double triad) {
  write(one_line({{"triad", triad}}));
  triads.push_back(triad);
}

void Journal::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace krysol::apps
