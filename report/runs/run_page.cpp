// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/runs/run_page.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include <krysol/report/html/escaped.hpp>
#include <krysol/report/html/page.hpp>
#include <krysol/report/html/spy_svg.hpp>
#include <krysol/report/runs/performance_profile.hpp>
#include <krysol/report/text.hpp>
#include <krysol/spmv/base/join.hpp>

namespace krysol::report {
using namespace html;  // NOLINT(google-build-using-namespace)
namespace {

/// A column of the table of solves.
struct Column {
  const char* key;  // of run_columns
  const char* title;
  bool number;
};
constexpr std::array<Column, 12> columns = {{{"matrix", "matrix", false},
                                             {"method", "method", false},
                                             {"outcome", "outcome", false},
                                             {"rows", "rows", true},
                                             {"nonzeros", "nonzeros", true},
                                             {"iterations", "iterations", true},
                                             {"checked_residual", "|b - Ax| / |b|", true},
                                             {"error", "error", true},
                                             {"seconds", "seconds", true},
                                             {"peak_bytes", "memory", true},
                                             {"preconditioner", "preconditioner", false},
                                             {"status", "status", false}}};

const char* look_of(SolveOutcome outcome) {
  return outcome <= SolveOutcome::stagnated ? "good" : is_fault(outcome) ? "bad" : "warn";
}

const char* look_of(Change::Kind kind) {
  return kind == Change::Kind::worse ? "bad" : kind == Change::Kind::better ? "good" : "warn";
}

std::string spaced(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string numbers(const std::vector<double>& list, const char* as) {
  std::vector<std::string> texts;
  for (const double v : list) texts.push_back(fmt::format(fmt::runtime(as), v));
  return join(texts, ", ");
}

/// A number as a table shows it; all of its digits are in data-value.
std::string shown(const RunEntry& e, const char* key, const std::string& full) {
  if (full.empty()) return "";
  const std::string_view name = key;
  if (name == "checked_residual") return fmt::format("{:.1e}", *e.checked_residual);
  if (name == "error") return fmt::format("{:.1e}", *e.error);
  if (name == "seconds") return fmt::format("{:.3g}", *e.median_seconds());
  if (name == "peak_bytes") return size(static_cast<double>(e.peak_bytes));
  if (name == "outcome") return spaced(full);
  return full;
}

std::string counts(const RunRecord& run) {
  std::map<SolveOutcome, std::int64_t> of;
  for (const RunEntry& e : run.entries) ++of[e.outcome];
  std::string out = "<ul class=\"chips\">\n";
  for (const auto& [outcome, count] : of) {
    out += fmt::format("<li><span class=\"{}\">{}</span> {}</li>\n", look_of(outcome),
                       spaced(to_string(outcome)), grouped(count));
  }
  return out + "</ul>\n";
}

/// What became better or worse, of which solve, and how.
std::string row_of_change(std::string_view look, std::string_view kind, std::string_view matrix,
                          std::string_view method, std::string_view what) {
  return fmt::format("<tr><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", look,
                     kind, escaped(matrix), escaped(method), escaped(what));
}

std::string table_of_changes(std::string_view label, std::string_view rows) {
  return scrolled(
      label,
      fmt::format("<table>\n<thead><tr><th scope=\"col\">what</th><th scope=\"col\">matrix</th>"
                  "<th scope=\"col\">method</th><th scope=\"col\">change</th></tr></thead>\n"
                  "<tbody>\n{}</tbody></table>\n",
                  rows));
}

std::string changes_section(const std::vector<Comparison>& comparisons) {
  std::string out;
  for (const Comparison& c : comparisons) {
    out += fmt::format("<h3>{}</h3>\n", escaped("Against " + c.baseline));
    out += "<ul class=\"chips\">\n";
    for (const Change::Kind kind :
         {Change::Kind::worse, Change::Kind::changed, Change::Kind::better, Change::Kind::added,
          Change::Kind::gone}) {
      out += fmt::format("<li><span class=\"{}\">{}</span> {}</li>\n", look_of(kind),
                         to_string(kind), c.count(kind));
    }
    out += "</ul>\n";
    if (c.iterations_ratio) {
      out += fmt::format("<p>Iterations: {:.3f} times as many, as a geometric mean.</p>\n",
                         *c.iterations_ratio);
    }
    if (c.time_ratio) {
      out += fmt::format(
          "<p>Time: {:.3f} times as much, as a geometric mean of {}{}.</p>\n", *c.time_ratio,
          plural(static_cast<std::int64_t>(c.timed), "solve", "solves"),
          c.in_turns
              ? ", in turns"
              : ", relative to the triad of each run; machines drift, so this is no verdict");
    }
    if (c.changes.empty()) {
      out += c.compared == 0 ? "<p>Nothing could be compared.</p>\n" : "<p>Nothing changed.</p>\n";
      continue;
    }
    std::string rows;
    for (const Change& change : c.changes) {
      rows += row_of_change(look_of(change.kind), to_string(change.kind), change.matrix,
                            change.method, change.what);
    }
    out += table_of_changes("Changes", rows);
  }
  return out.empty() ? "" : section("changes", "What changed", out);
}

std::string charts_section(const RunRecord& run, const RunIndex& index) {
  std::string out;
  Chart time;
  time.title = "Time against size";
  time.description = "Each dot is a solve; seconds to the solution over nonzeros of the matrix";
  time.x = {"nonzeros", Scale::logarithmic};
  time.y = {"seconds to solution", Scale::logarithmic};
  Chart work;
  work.title = "Iterations against size";
  work.description = "Each dot is a solve that converged or reached the attainable accuracy";
  work.x = {"rows", Scale::logarithmic};
  work.y = {"iterations", Scale::logarithmic};
  for (const Method& m : run.methods) {
    Series seconds{m.name, Series::Kind::dots};
    Series iterations{m.name, Series::Kind::dots};
    for (const RunEntry& e : run.entries) {
      const MatrixEntry* const a = index.matrix(e.matrix);
      if (e.method != m.name || e.outcome > SolveOutcome::stagnated || a == nullptr) continue;
      if (const auto t = e.median_seconds()) {
        seconds.points.push_back({static_cast<double>(a->nonzeros), *t,
                                  fmt::format("{}, {}: {:.3g} s", e.matrix, m.name, *t)});
      }
      iterations.points.push_back(
          {static_cast<double>(a->rows), static_cast<double>(e.iterations),
           fmt::format("{}, {}: {} iterations", e.matrix, m.name, e.iterations)});
    }
    time.series.push_back(std::move(seconds));
    work.series.push_back(std::move(iterations));
  }
  out += figure(time, "Solves that converged or reached the attainable accuracy.");
  out += figure(work);
  const auto profiles = performance_profiles(run);
  if (!profiles.empty()) {
    Chart profile;
    profile.title = "Performance profile";
    profile.description =
        "The share of matrices that a method solves within a multiple of the fastest time";
    profile.x = {"times the time of the fastest method", Scale::logarithmic};
    profile.y = {"share of the matrices", Scale::linear};
    for (const PerformanceProfile& p : profiles) {
      Series s{fmt::format("{} ({} solved)", p.method, p.solved), Series::Kind::steps};
      for (const auto& [tau, rho] : p.steps) s.points.push_back({tau, rho});
      profile.series.push_back(std::move(s));
    }
    out +=
        figure(profile, "Dolan and More (2002): higher is better, and the left end counts wins.");
  }
  return section("charts", "At a glance", "<div class=\"figures\">\n" + out + "</div>\n");
}

std::string convergence(const RunEntry& e) {
  if (e.curve.size() < 2) return {};
  Chart chart;
  chart.title = "Convergence";
  chart.description = "Residual over iterations";
  chart.x = {"iteration"};
  chart.y = {"|r| / |b|", Scale::logarithmic};
  Series s{"recurrence residual"};
  for (const auto& [k, r] : e.curve) s.points.push_back({k, r});
  chart.series.push_back(std::move(s));
  if (e.checked_residual) chart.levels.push_back({"|b - Ax| / |b|, checked", *e.checked_residual});
  return figure(chart);
}

std::string detail(const RunIndex& run, const RunEntry& e, std::size_t number) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) list.emplace_back(name, std::move(value));
  };
  add("outcome", spaced(to_string(e.outcome)) + (e.status.empty() ? "" : " (" + e.status + ")"));
  add("said", e.message);
  add("right-hand side", e.rhs);
  add("residual, reported", cell(run, e, "residual"));
  add("residual, checked in twice the precision", cell(run, e, "checked_residual"));
  add("preconditioner", e.preconditioner);
  add("format, timed", e.timed_format);
  add("status when timed", e.timed_status);
  add("status of the other program", e.other_status);
  add("seconds of each turn", numbers(e.seconds, "{:.4g}"));
  if (e.signal != 0) add("signal", fmt::format("{}", e.signal));
  if (e.exit_code > 1) add("exit status", fmt::format("{}", e.exit_code));
  std::string out = fmt::format("<template id=\"d{}\"><div class=\"detail-body\">\n", number);
  out += facts(list);
  out += "<p class=\"soft\">To repeat it:</p>\n" + command(e.command);
  std::string pictures = convergence(e);
  if (const MatrixEntry* const a = run.matrix(e.matrix); a != nullptr && !a->spy.empty()) {
    pictures +=
        fmt::format("<figure>{}<figcaption>Where {} has entries</figcaption></figure>\n",
                    as_svg(decoded_spy(a->spy), a->rows, a->cols, a->nonzeros), escaped(a->name));
  }
  if (!pictures.empty()) out += "<div class=\"figures\">\n" + pictures + "</div>\n";
  return out + "</div></template>\n";
}

std::string filters(const RunRecord& run) {
  std::string out =
      "<div class=\"filters\" data-table=\"solve-table\" hidden>\n"
      "<label>matrix<input type=\"search\" data-column=\"0\" autocomplete=\"off\"></label>\n";
  const auto choice = [&](const char* name, int column, const std::vector<std::string>& values) {
    out += fmt::format("<label>{}<select data-column=\"{}\"><option value=\"\">all</option>", name,
                       column);
    for (const std::string& v : values) {
      out += fmt::format("<option value=\"{0}\">{1}</option>", escaped(v), escaped(spaced(v)));
    }
    out += "</select></label>\n";
  };
  std::vector<std::string> methods;
  for (const Method& m : run.methods) methods.push_back(m.name);
  std::vector<std::string> outcomes;
  for (const RunEntry& e : run.entries) {
    const std::string name(to_string(e.outcome));
    if (std::find(outcomes.begin(), outcomes.end(), name) == outcomes.end())
      outcomes.push_back(name);
  }
  std::sort(outcomes.begin(), outcomes.end());
  choice("method", 1, methods);
  choice("outcome", 2, outcomes);
  return out + "<output aria-live=\"polite\"></output></div>\n";
}

std::string solves_section(const RunRecord& run, const RunIndex& index) {
  std::string out = "<table class=\"sortable\" id=\"solve-table\">\n<thead><tr>";
  for (const Column& c : columns) {
    out += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                       c.number ? " class=\"number\"" : "", escaped(c.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  std::string details;
  std::size_t number = 0;
  for (const RunEntry& e : run.entries) {
    out += "<tr>";
    for (const Column& c : columns) {
      const std::string full = cell(index, e, c.key);
      const std::string text = escaped(shown(e, c.key, full));
      if (std::string_view(c.key) == "matrix") {
        out += fmt::format(
            "<th scope=\"row\" data-value=\"{0}\"><button type=\"button\" class=\"open\" "
            "aria-expanded=\"false\" data-detail=\"d{1}\">{0}</button></th>",
            text, number);
        continue;
      }
      std::string look = c.number ? "number" : "";
      if (std::string_view(c.key) == "outcome") look = look_of(e.outcome);
      out +=
          fmt::format("<td{} data-value=\"{}\">{}</td>",
                      look.empty() ? "" : fmt::format(" class=\"{}\"", look), escaped(full), text);
    }
    out += "</tr>\n";
    details += detail(index, e, number++);
  }
  out += "</tbody>\n</table>\n";
  return section("solves", "All solves", filters(run) + scrolled("All solves", out) + details);
}

std::string run_facts(const RunRecord& run) {
  std::vector<std::pair<std::string, std::string>> list = {
      {"program", run.version},
      {"machine", run.machine},
      {"cores and memory",
       fmt::format("{}, {}", run.cores, size(static_cast<double>(run.memory_bytes)))},
      {"started, finished", fmt::format("{}, {}", run.started, run.finished)},
      {"limits of a solve", fmt::format("{} s of processor time, {}", run.time_limit_s,
                                        size(static_cast<double>(run.memory_limit_bytes)))},
      {"solves at a time", fmt::format("{}; times are taken one at a time", run.jobs)}};
  if (!run.other_program.empty()) list.emplace_back("timed against", run.other_version);
  if (!run.shard.empty()) list.emplace_back("part of the list", run.shard);
  if (!run.triad.empty()) {
    list.emplace_back("triad before each round of turns, GB/s", numbers(run.triad, "{:.1f}"));
  }
  for (const Method& m : run.methods) {
    list.emplace_back("method " + m.name, m.options.empty() ? "no options" : join(m.options, " "));
  }
  return section(
      "environment", "Where and how",
      facts(list) + "<p class=\"soft\">The command of this run:</p>\n" + command(run.command));
}

}  // namespace

std::string run_page(const RunRecord& run, const std::vector<Comparison>& comparisons) {
  std::string body =
      fmt::format("<p class=\"lead\">{} by {}, {}.</p>\n",
                  plural(static_cast<std::int64_t>(run.matrices.size()), "matrix", "matrices"),
                  plural(static_cast<std::int64_t>(run.methods.size()), "method", "methods"),
                  escaped(run.started));
  body += counts(run);
  body += changes_section(comparisons);
  const RunIndex index(run);
  body += charts_section(run, index);
  body += solves_section(run, index);
  body += run_facts(run);
  return document("Regression run of " + run.started, body);
}

std::string history_page(const RunHistory& h, std::size_t most) {
  std::size_t marked = 0;
  for (const SolveHistory& s : h.solves) marked += s.marks.empty() ? 0 : 1;
  std::string body =
      fmt::format("<p class=\"lead\">{}, {}; {} jumped or drifted.</p>\n",
                  plural(static_cast<std::int64_t>(h.runs.size()), "run", "runs"),
                  plural(static_cast<std::int64_t>(h.solves.size()), "solve", "solves"), marked);
  std::string marks;
  for (const SolveHistory& s : h.solves) {
    for (const Mark& mark : s.marks) {
      marks += row_of_change(mark.worse ? "bad" : "good", mark.worse ? "worse" : "better", s.matrix,
                             s.method, mark.text);
    }
  }
  body += section("marks", "What changed",
                  marks.empty() ? std::string("<p>No series jumped or drifted.</p>\n")
                                : table_of_changes("Marks", marks));
  std::string charts;
  std::size_t drawn = 0;
  for (const SolveHistory& s : h.solves) {
    if (drawn >= most && s.marks.empty()) break;
    ++drawn;
    const auto draw = [&](const char* what, const char* unit, const std::vector<double>& values) {
      Chart chart;
      chart.title = fmt::format("{}, {}: {}", s.matrix, s.method, what);
      chart.description = "Over the runs";
      chart.x = {"run"};
      chart.y = {unit};
      Series line{"", Series::Kind::line};
      Series dots{"", Series::Kind::dots};
      for (std::size_t k = 0; k < values.size(); ++k) {
        line.points.push_back({static_cast<double>(k + 1), values[k]});
        dots.points.push_back({static_cast<double>(k + 1), values[k],
                               fmt::format("{}: {:.4g}", h.runs[k], values[k])});
      }
      const bool any =
          std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
      chart.series = {line, dots};
      return any ? figure(chart) : std::string();
    };
    charts += fmt::format("<details{}><summary>{}{}</summary>\n<div class=\"figures\">\n",
                          s.marks.empty() ? "" : " open", escaped(s.matrix + ", " + s.method),
                          s.marks.empty() ? "" : " <span class=\"bad\">marked</span>");
    charts += draw("iterations", "iterations", s.iterations);
    charts += draw("time", "fastest turn x triad, GB", s.work);
    charts += draw("memory", "bytes", s.memory);
    charts += "</div></details>\n";
  }
  if (h.solves.size() > drawn) {
    charts += fmt::format("<p class=\"soft\">{} more, without marks, are not drawn.</p>\n",
                          h.solves.size() - drawn);
  }
  body += section("series", "Each solve over the runs", charts);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < h.runs.size(); ++k) {
    rows.push_back({fmt::format("{}", k + 1), h.runs[k], h.versions[k],
                    std::isfinite(h.triad[k]) ? fmt::format("{:.1f}", h.triad[k]) : ""});
  }
  body += section("runs", "The runs",
                  table("All runs", {"run", "started", "program", "triad GB/s"}, rows));
  return document("History of regression runs", body);
}

}  // namespace krysol::report
