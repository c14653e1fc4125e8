// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/run_record.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <krysol/report/html/spy_cells.hpp>
#include <krysol/report/runs/json_shape.hpp>

namespace krysol::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<SolveOutcome, std::string_view>, 10> outcomes = {{
    {SolveOutcome::converged, "converged"},
    {SolveOutcome::stagnated, "stagnated"},
    {SolveOutcome::not_converged, "not_converged"},
    {SolveOutcome::refused, "refused"},
    {SolveOutcome::time_limit, "time_limit"},
    {SolveOutcome::memory_limit, "memory_limit"},
    {SolveOutcome::internal_error, "internal_error"},
    {SolveOutcome::no_report, "no_report"},
    {SolveOutcome::crashed, "crashed"},
    {SolveOutcome::wrong_result, "wrong_result"},
}};

Json known(const std::optional<double>& v) {
  return v && std::isfinite(*v) ? Json(*v) : Json(nullptr);
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const MatrixEntry& m) {
  return {{"name", m.name},   {"file", m.file},         {"file_bytes", m.file_bytes},
          {"rows", m.rows},   {"cols", m.cols},         {"nonzeros", m.nonzeros},
          {"field", m.field}, {"symmetry", m.symmetry}, {"spd", m.spd},
          {"spy", m.spy}};
}

Json json_of(const RunEntry& e) {
  return {{"matrix", e.matrix},
          {"method", e.method},
          {"outcome", to_string(e.outcome)},
          {"status", e.status},
          {"message", e.message},
          {"command", e.command},
          {"exit_code", e.exit_code},
          {"signal", e.signal},
          {"iterations", e.iterations >= 0 ? Json(e.iterations) : Json(nullptr)},
          {"residual", known(e.residual)},
          {"checked_residual", known(e.checked_residual)},
          {"rounding", known(e.rounding)},
          {"error", known(e.error)},
          {"wall_seconds", e.wall_seconds},
          {"cpu_seconds", e.cpu_seconds},
          {"peak_bytes", e.peak_bytes},
          {"preconditioner", e.preconditioner},
          {"choice", e.choice},
          {"rhs", e.rhs},
          {"timed_format", e.timed_format},
          {"timed_status", e.timed_status},
          {"other_status", e.other_status},
          {"seconds", e.seconds},
          {"other_seconds", e.other_seconds},
          {"curve", e.curve}};
}

/// Reads keys of an object; what is wrong is said with the way to it.
class Keys {
 public:
  Keys(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw std::invalid_argument(where_ + ": an object was expected");
  }

  template <class T>
  void read(const char* key, T& to) const {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      throw std::invalid_argument(fmt::format("{}: the key \"{}\" is missing", where_, key));
    }
    try {
      found->get_to(to);
    } catch (const nlohmann::json::exception&) {
      throw std::invalid_argument(fmt::format("{}: the value of \"{}\" is of the wrong type: {}",
                                              where_, key, dumped(*found, -1).substr(0, 60)));
    }
  }
  void read(const char* key, std::optional<double>& to) const {
    to.reset();
    if (is_null(key)) return;
    double v = 0;
    read(key, v);
    to = v;
  }
  bool has(const char* key) const { return json_.contains(key); }
  bool is_null(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_null();
  }
  const Json& list(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_array()) {
      throw std::invalid_argument(fmt::format("{}: the list \"{}\" is missing", where_, key));
    }
    return *found;
  }

 private:
  const Json& json_;
  std::string where_;
};

MatrixEntry matrix_from(const Json& json, const std::string& where) {
  const Keys keys(json, where);
  MatrixEntry m;
  keys.read("name", m.name);
  keys.read("file", m.file);
  keys.read("file_bytes", m.file_bytes);
  keys.read("rows", m.rows);
  keys.read("cols", m.cols);
  keys.read("nonzeros", m.nonzeros);
  keys.read("field", m.field);
  keys.read("symmetry", m.symmetry);
  keys.read("spd", m.spd);
  keys.read("spy", m.spy);
  try {
    if (!m.spy.empty()) decoded_spy(m.spy);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("{}: \"spy\": {}", where, e.what()));
  }
  return m;
}

RunEntry entry_from(const Json& json, const std::string& where) {
  const Keys keys(json, where);
  RunEntry e;
  std::string outcome;
  keys.read("matrix", e.matrix);
  keys.read("method", e.method);
  keys.read("outcome", outcome);
  e.outcome = outcome_of(outcome);
  keys.read("status", e.status);
  keys.read("message", e.message);
  keys.read("command", e.command);
  keys.read("exit_code", e.exit_code);
  keys.read("signal", e.signal);
  if (!keys.is_null("iterations")) keys.read("iterations", e.iterations);
  keys.read("residual", e.residual);
  keys.read("checked_residual", e.checked_residual);
  keys.read("rounding", e.rounding);
  keys.read("error", e.error);
  keys.read("wall_seconds", e.wall_seconds);
  keys.read("cpu_seconds", e.cpu_seconds);
  keys.read("peak_bytes", e.peak_bytes);
  keys.read("preconditioner", e.preconditioner);
  if (keys.has("choice")) keys.read("choice", e.choice);  // not in files of earlier versions
  keys.read("rhs", e.rhs);
  keys.read("timed_format", e.timed_format);
  keys.read("timed_status", e.timed_status);
  keys.read("other_status", e.other_status);
  keys.read("seconds", e.seconds);
  keys.read("other_seconds", e.other_seconds);
  keys.read("curve", e.curve);
  return e;
}

Json parsed(std::string_view text, const std::string& where) {
  check_json_shape(text, where);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw std::invalid_argument(fmt::format("{}: no JSON, or cut off: {}", where, e.what()));
  }
}

/// Quoted where CSV (RFC 4180) needs it.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

std::string text_of(const std::optional<double>& v) {
  return v && std::isfinite(*v) ? dumped(Json(*v), -1) : "";
}

}  // namespace

std::string_view to_string(SolveOutcome outcome) {
  for (const auto& [value, name] : outcomes) {
    if (value == outcome) return name;
  }
  return "no_report";
}

SolveOutcome outcome_of(std::string_view text) {
  for (const auto& [value, name] : outcomes) {
    if (name == text) return value;
  }
  throw std::invalid_argument(fmt::format("'{}' is no outcome of a solve", text));
}

bool is_fault(SolveOutcome outcome) { return outcome >= SolveOutcome::internal_error; }

std::optional<double> median(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

std::optional<double> RunEntry::median_seconds() const { return median(seconds); }

bool RunEntry::changed_preconditioner() const { return choice.find('/') != std::string::npos; }
std::optional<double> RunRecord::median_triad() const { return median(triad); }

RunIndex::RunIndex(const RunRecord& run) {
  for (const MatrixEntry& m : run.matrices) matrices_.emplace(m.name, &m);
  for (const RunEntry& e : run.entries) entries_.emplace(e.matrix + '\n' + e.method, &e);
}

const MatrixEntry* RunIndex::matrix(const std::string& name) const {
  const auto found = matrices_.find(name);
  return found == matrices_.end() ? nullptr : found->second;
}

const RunEntry* RunIndex::entry(const std::string& matrix, const std::string& method) const {
  const auto found = entries_.find(matrix + '\n' + method);
  return found == entries_.end() ? nullptr : found->second;
}

std::string as_json_line(const RunEntry& entry) { return dumped(json_of(entry), -1); }
std::string as_json_line(const MatrixEntry& matrix) { return dumped(json_of(matrix), -1); }
RunEntry run_entry_of(std::string_view json) {
  return entry_from(parsed(json, "a solve"), "a solve");
}
MatrixEntry matrix_entry_of(std::string_view json) {
  return matrix_from(parsed(json, "a matrix"), "a matrix");
}

std::string as_json(const RunRecord& run) {
  Json methods = Json::array();
  for (const Method& m : run.methods) {
    methods.push_back({{"name", m.name}, {"options", m.options}});
  }
  const Json head = {{"schema", RunRecord::schema},
                     {"started", run.started},
                     {"finished", run.finished},
                     {"command", run.command},
                     {"program", run.program},
                     {"version", run.version},
                     {"other_program", run.other_program},
                     {"other_version", run.other_version},
                     {"machine", run.machine},
                     {"cores", run.cores},
                     {"jobs", run.jobs},
                     {"memory_bytes", run.memory_bytes},
                     {"time_limit_s", run.time_limit_s},
                     {"memory_limit_bytes", run.memory_limit_bytes},
                     {"shard", run.shard},
                     {"triad_GB_per_s", run.triad},
                     {"methods", methods}};
  // Matrices and solves take a line each: such a file can be read, and compared by diff.
  std::string out = dumped(head, 1);
  out.resize(out.size() - 2);
  const auto add = [&out](const char* key, const auto& list) {
    out += fmt::format(",\n \"{}\": [", key);
    for (const auto& item : list) {
      out += &item == list.data() ? "\n  " : ",\n  ";
      out += as_json_line(item);
    }
    out += "\n ]";
  };
  add("matrices", run.matrices);
  add("solves", run.entries);
  return out + "\n}\n";
}

std::string cell(const RunIndex& run, const RunEntry& e, std::string_view column) {
  static const MatrixEntry nothing;
  const auto of_matrix = [&]() -> const MatrixEntry& {
    const MatrixEntry* const m = run.matrix(e.matrix);
    return m == nullptr ? nothing : *m;
  };
  const auto whole = [](std::int64_t n) { return fmt::format("{}", n); };
  if (column == "matrix") return e.matrix;
  if (column == "method") return e.method;
  if (column == "outcome") return std::string(to_string(e.outcome));
  if (column == "status") return e.status;
  if (column == "rows") return whole(of_matrix().rows);
  if (column == "cols") return whole(of_matrix().cols);
  if (column == "nonzeros") return whole(of_matrix().nonzeros);
  if (column == "field") return of_matrix().field;
  if (column == "symmetry") return of_matrix().symmetry;
  if (column == "iterations") return e.iterations >= 0 ? whole(e.iterations) : "";
  if (column == "residual") return text_of(e.residual);
  if (column == "checked_residual") return text_of(e.checked_residual);
  if (column == "error") return text_of(e.error);
  if (column == "seconds") return text_of(e.median_seconds());
  if (column == "wall_seconds") return text_of(e.wall_seconds);
  if (column == "cpu_seconds") return text_of(e.cpu_seconds);
  if (column == "peak_bytes") return whole(e.peak_bytes);
  if (column == "preconditioner") return e.preconditioner;
  if (column == "format") return e.timed_format;
  if (column == "message") return e.message;
  throw std::logic_error(fmt::format("regress: no column {}", column));
}

std::string as_csv(const RunRecord& run) {
  const RunIndex index(run);
  std::string out;
  for (const char* const column : run_columns) {
    out += out.empty() ? column : fmt::format(",{}", column);
  }
  out += '\n';
  for (const RunEntry& e : run.entries) {
    bool first = true;
    for (const char* const column : run_columns) {
      if (!first) out += ',';
      out += csv_field(cell(index, e, column));
      first = false;
    }
    out += '\n';
  }
  return out;
}

RunRecord run_record_of(std::string_view text, const std::string& name) {
  const Json json = parsed(text, name);
  const Keys keys(json, name);
  std::string schema;
  keys.read("schema", schema);
  if (schema != RunRecord::schema) {
    throw std::invalid_argument(
        fmt::format("{}: the schema {} was expected, found {}", name, RunRecord::schema, schema));
  }
  RunRecord run;
  keys.read("started", run.started);
  keys.read("finished", run.finished);
  keys.read("command", run.command);
  keys.read("program", run.program);
  keys.read("version", run.version);
  keys.read("other_program", run.other_program);
  keys.read("other_version", run.other_version);
  keys.read("machine", run.machine);
  keys.read("cores", run.cores);
  keys.read("jobs", run.jobs);
  keys.read("memory_bytes", run.memory_bytes);
  keys.read("time_limit_s", run.time_limit_s);
  keys.read("memory_limit_bytes", run.memory_limit_bytes);
  keys.read("shard", run.shard);
  keys.read("triad_GB_per_s", run.triad);
  for (const Json& m : keys.list("methods")) {
    const Keys of_method(m, name + ", a method");
    Method method;
    of_method.read("name", method.name);
    of_method.read("options", method.options);
    run.methods.push_back(std::move(method));
  }
  for (const Json& m : keys.list("matrices")) {
    run.matrices.push_back(
        matrix_from(m, fmt::format("{}, matrix {}", name, run.matrices.size() + 1)));
  }
  for (const Json& e : keys.list("solves")) {
    run.entries.push_back(entry_from(e, fmt::format("{}, solve {}", name, run.entries.size() + 1)));
  }
  return run;
}

}  // namespace krysol::report
