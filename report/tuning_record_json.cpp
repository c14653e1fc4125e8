// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/tuning_record_json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>

#include <krysol/report/choice_report.hpp>

namespace krysol::report {
namespace {

constexpr std::string_view schema = "krysol/tuning_record/1";

/// JSON's numbers lose bits of 64.
std::string hexadecimal(std::uint64_t v) { return fmt::format("{:016x}", v); }

std::uint64_t from_hexadecimal(const std::string& text) {
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, 16);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::invalid_argument(fmt::format("'{}' is no hash", text));
  }
  return v;
}

double number_or(const nlohmann::json& j, double other) {
  return j.is_null() ? other : j.get<double>();
}

FormatTrial trial_from(const nlohmann::json& j) {
  FormatTrial t;
  t.name = j.at("name");
  t.measured = j.at("measured");
  t.seconds = number_or(j.at("seconds"), 0);
  t.convert_seconds = number_or(j.at("convert_seconds"), 0);
  t.bytes = j.at("bytes").is_null() ? 0 : j.at("bytes").get<std::int64_t>();
  t.break_even =
      number_or(j.at("break_even"), t.measured ? std::numeric_limits<double>::infinity() : 0);
  t.remark = j.at("remark");
  return t;
}

TuningRecord choice_from(const nlohmann::json& j) {
  if (j.at("schema") != schema) {
    throw std::invalid_argument(fmt::format("'schema' is not {}", schema));
  }
  TuningRecord saved;
  saved.version = j.at("version");
  saved.entry = j.at("entry");
  saved.space = j.at("space");
  saved.threads = j.at("threads");
  saved.with_dot = j.at("with_dot");
  saved.order = j.at("order");
  if (saved.order != "none" && saved.order != "rcm" && saved.order != "metis") {
    throw std::invalid_argument(
        fmt::format("'order' is '{}', where none, rcm or metis is needed", saved.order));
  }
  saved.preconditioner = j.value("preconditioner", "");
  const nlohmann::json& m = j.at("matrix");
  saved.matrix.rows = m.at("rows");
  saved.matrix.cols = m.at("cols");
  saved.matrix.nnz = m.at("nnz");
  saved.matrix.pattern = from_hexadecimal(m.at("pattern"));
  saved.matrix.values = from_hexadecimal(m.at("values"));
  saved.choice.name = j.at("format");
  const nlohmann::json& choice = j.at("auto");
  saved.choice.reason = choice.at("reason");
  saved.choice.seconds = choice.at("seconds");
  for (const nlohmann::json& t : choice.at("trials")) saved.choice.trials.push_back(trial_from(t));
  return saved;
}

}  // namespace

std::string as_json(const TuningRecord& saved) {
  const MatrixFingerprint& m = saved.matrix;
  const nlohmann::ordered_json out = {{"schema", schema},
                                      {"version", saved.version},
                                      {"format", saved.choice.name},
                                      {"entry", saved.entry},
                                      {"space", saved.space},
                                      {"threads", saved.threads},
                                      {"with_dot", saved.with_dot},
                                      {"order", saved.order},
                                      {"preconditioner", saved.preconditioner},
                                      {"matrix",
                                       {{"rows", m.rows},
                                        {"cols", m.cols},
                                        {"nnz", m.nnz},
                                        {"pattern", hexadecimal(m.pattern)},
                                        {"values", hexadecimal(m.values)}}},
                                      {"auto", choice_as_json(saved.choice)}};
  return out.dump(2) + "\n";
}

TuningRecord read_choice(const std::filesystem::path& path) {
  constexpr std::int64_t longest = 1 << 20;
  const FileText text = read_text(path, longest);
  const auto refuse = [&path](std::string_view why) -> FileError {
    return FileError(fmt::format("{}: is no saved choice of a format: {}", path.string(), why));
  };
  try {
    return choice_from(nlohmann::json::parse(text.view()));
  } catch (const nlohmann::json::exception& e) {
    std::string_view why = e.what();  // "[json.exception.parse_error.101] parse error at line ..."
    why.remove_prefix(std::min(why.size(), why.find("] ") + 2));
    throw refuse(why);
  } catch (const std::invalid_argument& e) {
    throw refuse(e.what());
  }
}

}  // namespace krysol::report
