// A run's files: JSON that comes back, CSV and page with the same numbers, and what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include <krysol/report/runs/run_page.hpp>
#include <krysol/report/runs/run_record.hpp>
#include "messages.hpp"
#include "report/runs/run_records.hpp"

namespace krysol::report {
namespace {

using krysol_tests::holds;
using krysol_tests::run_of;
using krysol_tests::solved;

RunRecord record_with_everything() {
  RunRecord run = run_of({solved("HB/a,\"b\"", 12), solved("c", 0, "other")});
  run.program = "/bin/cg_solve";
  run.other_program = "/bin/old";
  run.other_version = "krysol 0.0.9";
  run.command = "regress 'a b' --turns 3";
  run.machine = "a machine";
  run.cores = 2;
  run.jobs = 3;
  run.memory_bytes = 1 << 30;
  run.time_limit_s = 60.5;
  run.memory_limit_bytes = 1 << 29;
  run.shard = "3/16";
  run.triad = {12.25, 13.5};
  run.methods.push_back({"other", {"--precond", "ic0"}});
  RunEntry& e = run.entries[0];
  e.message = "line one\nand two, \"quoted\"";
  e.seconds = {0.1, 0.30000000000000004, 0.2};
  e.other_seconds = {0.3, 0.2, 0.1};
  e.curve = {{0, 1}, {5, 1e-3}, {12, 5.5e-9}};
  e.preconditioner = "jacobi";
  e.choice = "auto:jacobi";
  e.rhs = "A*random:1";
  e.timed_format = "stencil";
  e.timed_status = "stagnated";
  e.other_status = "converged";
  RunEntry& f = run.entries[1];
  f.outcome = SolveOutcome::crashed;
  f.status = "";
  f.signal = 11;
  f.exit_code = -1;
  f.iterations = -1;
  f.residual.reset();
  f.checked_residual.reset();
  f.rounding.reset();
  f.error.reset();
  return run;
}

TEST(RunRecord, ComesBackFromItsJson) {
  const RunRecord run = record_with_everything();
  const std::string json = as_json(run);
  const RunRecord back = run_record_of(json, "run.json");
  EXPECT_EQ(as_json(back), json);
  EXPECT_EQ(back.entries[0].seconds, run.entries[0].seconds);
  EXPECT_EQ(back.entries[1].outcome, SolveOutcome::crashed);
  EXPECT_EQ(back.entries[1].iterations, -1);
  EXPECT_FALSE(back.entries[1].residual.has_value());
  EXPECT_EQ(back.matrices[0].spy, "2x2:91/19");
  EXPECT_EQ(as_json_line(run_entry_of(as_json_line(run.entries[0]))), as_json_line(run.entries[0]));
  EXPECT_EQ(as_json_line(matrix_entry_of(as_json_line(run.matrices[0]))),
            as_json_line(run.matrices[0]));
}

TEST(RunRecord, KnowsEveryOutcomeByName) {
  for (int k = 0; k <= static_cast<int>(SolveOutcome::wrong_result); ++k) {
    const auto outcome = static_cast<SolveOutcome>(k);
    EXPECT_EQ(krysol::report::outcome_of(to_string(outcome)), outcome);
    EXPECT_EQ(is_fault(outcome), k >= static_cast<int>(SolveOutcome::internal_error));
  }
  EXPECT_THROW(krysol::report::outcome_of("fine"), std::invalid_argument);
}

std::string refusal_of_run(const std::string& json) {
  try {
    run_record_of(json, "old.json");
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "taken";
}

TEST(RunRecord, SaysWhatIsWrongWithAFile) {
  const std::string json = as_json(record_with_everything());
  EXPECT_TRUE(
      holds(refusal_of_run(json.substr(0, json.size() / 2)), "old.json: no JSON, or cut off"));
  EXPECT_TRUE(holds(refusal_of_run("[]"), "old.json: an object was expected"));
  EXPECT_TRUE(holds(refusal_of_run("{}"), "old.json: the key \"schema\" is missing"));
  EXPECT_TRUE(holds(refusal_of_run("{\"schema\": \"krysol/regress/9\"}"),
                    "old.json: the schema krysol/regress/1 was expected, found krysol/regress/9"));
  std::string other = json;
  other.replace(other.find("\"iterations\":12"), 15, "\"iterations\":\"x\"");
  EXPECT_TRUE(holds(refusal_of_run(other),
                    "old.json, solve 1: the value of \"iterations\" is of the wrong type"));
  other = json;
  other.replace(other.find("\"outcome\":\"converged\""), 21, "\"outcome\":\"perfect\"");
  EXPECT_TRUE(holds(refusal_of_run(other), "'perfect' is no outcome"));
}

/// Records of a CSV text, quotes undone.
std::vector<std::vector<std::string>> csv_records(const std::string& text) {
  std::vector<std::vector<std::string>> out(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted && c == '"' && k + 1 < text.size() && text[k + 1] == '"') {
      out.back().back() += c;
      ++k;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      out.emplace_back(1);
    } else {
      out.back().back() += c;
    }
  }
  out.pop_back();
  return out;
}

TEST(RunRecord, HasTheSameNumbersInCsvJsonAndPage) {
  const RunRecord run = record_with_everything();
  const RunIndex index(run);
  const auto records = csv_records(as_csv(run));
  ASSERT_EQ(records.size(), 1 + run.entries.size());
  const std::string page = run_page(run, {});
  for (std::size_t n = 0; n < run.entries.size(); ++n) {
    ASSERT_EQ(records[n + 1].size(), run_columns.size());
    for (std::size_t c = 0; c < run_columns.size(); ++c) {
      std::string expected = cell(index, run.entries[n], run_columns[c]);
      for (char& ch : expected) ch = ch == '\n' ? ' ' : ch;
      EXPECT_EQ(records[n + 1][c], expected) << run_columns[c];
    }
  }
  // The median of 0.1, 0.2 and a number whose last digit counts, in all three.
  const RunRecord back = run_record_of(as_json(run), "run.json");
  EXPECT_EQ(cell(RunIndex(back), back.entries[0], "seconds"), "0.2");
  EXPECT_EQ(cell(RunIndex(back), back.entries[0], "checked_residual"), "5.5e-09");
  for (const char* const column :
       {"rows", "nonzeros", "iterations", "checked_residual", "error", "seconds", "peak_bytes"}) {
    const std::string value = cell(index, run.entries[0], column);
    EXPECT_NE(page.find("data-value=\"" + value + "\""), std::string::npos)
        << column << " " << value;
  }
  EXPECT_NE(page.find("HB/a,&quot;b&quot;"), std::string::npos);
}

TEST(RunRecord, TakesTheMiddleOfItsTimes) {
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1}), 2);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(record_with_everything().median_triad(), (12.25 + 13.5) / 2);
}

TEST(RunPage, HoldsEverySolveWithItsDetails) {
  RunRecord run = record_with_everything();
  run.entries[0].seconds.clear();
  Comparison c;
  c.baseline = "last.json";
  c.changes.push_back({Change::Kind::worse, "c", "other", "converged became crashed <now>", 1});
  const std::string page = run_page(run, {c});
  for (const char* const part :
       {"<template id=\"d0\">", "<template id=\"d1\">", "Against last.json",
        "converged became crashed &lt;now&gt;", "class=\"spy\"", "Time against size", "cg_solve c",
        "signal", "line one"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("Performance profile"), std::string::npos)
      << "nothing was timed by two methods";
  run.entries[1] = solved("HB/a,\"b\"", 3, "other");
  run.entries[0].seconds = {0.1};
  run.entries[1].seconds = {0.05};
  EXPECT_NE(run_page(run, {}).find("Performance profile"), std::string::npos);
}

}  // namespace
}  // namespace krysol::report
