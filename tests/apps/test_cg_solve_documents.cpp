// What cg_solve is documented to do: its JSON report, and what README.md shows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include <fmt/core.h>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "cg_solve_runs.hpp"
#include "documented_json.hpp"

#ifdef KRYSOL_CG_SOLVE
namespace {

using namespace krysol_tests;

// ---- the JSON report

TEST_F(CgSolve, WritesTheJsonThatIsDocumented) {
  const auto table = documented("cg_solve-json.md");
  EXPECT_GT(table.size(), 60U);
  std::set<std::string> named;
  for (const auto& [path, types] : table) named.insert(path);

  const auto complex_pair = write("c.mtx",
                                  "%%MatrixMarket matrix coordinate complex general\n"
                                  "2 2 4\n1 1 2 0\n1 2 0 1\n2 1 0 1\n2 2 2 0\n");
  PathTypes seen;
  const auto add = [&](const Json& j) { collect(j, "", named, seen); };
  const Outcome full =
      run_exactly({grid_, "--threads", "1", "--quiet", "--json", in("report.json").string()});
  EXPECT_EQ(full.code, 0) << full.err;
  add(Json::parse(text_of(in("report.json"))));
  for (const auto& [path, types] : table) {
    if (path.starts_with("result.breakdown.")) continue;      // only where there is some
    if (path.starts_with("preconditioner_report")) continue;  // jacobi has nothing to tell
    if (path.starts_with("profile")) continue;                // only where it is asked for
    EXPECT_EQ(seen.count(path), 1U) << path << " is documented, and missing";
  }
  EXPECT_EQ(seen.count("result.breakdown.row"), 0U);
  add(report({grid_, "--precond", "ic0", "--profile"}, 0));
  add(report({write("i.mtx", indefinite)}, 1));
  add(report({write("u.mtx", unsymmetric)}, 1));
  add(report({write("n.mtx", negative_diagonal)}, 1));
  add(report({complex_pair}, 1));
  expect_documented(seen, table);
  for (const auto& [path, types] : table) EXPECT_EQ(seen.count(path), 1U) << path << " never came";
}

TEST_F(CgSolve, WritesJsonEvenForNamesThatAreNotUtf8) {
  const auto matrix = write("a\xff.mtx", chain(3));
  EXPECT_EQ(report({matrix}, 0)["matrix"]["rows"], 3);
}

// ---- what README.md says

const fs::path root = fs::path(KRYSOL_DATA_DIR).parent_path();

TEST(Readme, ShowsTheExampleThatIsCompiled) {
  const std::string example = text_of(root / "examples" / "readme.cpp");
  const auto code = example.find("#include");
  ASSERT_NE(code, std::string::npos);
  EXPECT_TRUE(holds(text_of(root / "README.md"), "```cpp\n" + example.substr(code) + "```\n"));
}

TEST(Readme, ListsEveryMethodThatTheLibraryHas) {
  const std::string readme = text_of(root / "README.md");
  const auto expect_row = [&](const auto& entry) {
    const auto row = readme.find(fmt::format("\n| `{}` | ", entry.name));
    ASSERT_NE(row, std::string::npos) << entry.name << " is missing";
    std::string line = readme.substr(row + 1, readme.find('\n', row + 1) - row - 1);
    line.erase(std::remove(line.begin(), line.end(), '`'), line.end());
    EXPECT_EQ(line, fmt::format("| {} | {} |", entry.name, entry.good_for));
  };
  for (const auto& e : krysol::list_formats()) expect_row(e);
  for (const auto& e : krysol::list_solvers()) expect_row(e);
  for (const auto& e : krysol::list_preconditioners()) expect_row(e);
}

TEST(Readme, LinksToFilesThatExist) {
  for (const char* name :
       {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md", "docs/cg_solve-json.md",
        "docs/gemm_bench.md", "docs/matrix_convert.md", "docs/spmv_bench.md", "data/README.md",
        "io/README.md", "apps/README.md"}) {
    const std::string text = text_of(root / name);
    for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of("#)", at + 2) - at - 2);
      if (target.empty() || holds(target, "://")) continue;
      EXPECT_TRUE(fs::exists((root / name).parent_path() / target)) << name << ": " << target;
    }
  }
}

/// The names in the first column of a table: what stands between backquotes.
std::set<std::string> first_column(const std::string& text) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(2, line.find(" |", 2) - 2);
    for (auto at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const auto end = cell.find('`', at + 1);
      names.insert(cell.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

TEST(Readme, OfARoomNamesWhatIsInIt) {
  for (const char* room : {"io", "spmv", "solver", "gallery", "analysis", "report", "apps"}) {
    std::set<std::string> there;
    for (const auto& entry : fs::directory_iterator(root / room)) {
      const fs::path path = entry.path();
      if (entry.is_directory()) there.insert(path.filename().string() + "/");
      const bool named =
          std::string(room) == "apps" ? path.extension() == ".cpp" : path.extension() == ".hpp";
      if (named) there.insert(path.filename().string());
    }
    EXPECT_EQ(first_column(text_of(root / room / "README.md")), there) << room;
  }
  for (const std::string& folder : first_column(text_of(root / "tests" / "README.md"))) {
    EXPECT_TRUE(fs::is_directory(root / "tests" / folder)) << folder;
  }
}

TEST_F(CgSolve, PrintsWhatTheReadmeShows) {
  if (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    GTEST_SKIP() << "the README shows a run on a processor";
  }
  const auto shown = lines_of(text_of(root / "README.md"));
  const auto printed = lines_of(run({grid_}).out);
  // Times, bytes a second, the number of threads and the path of the matrix differ from run to run.
  for (const std::string& line : printed) {
    if (line.starts_with("  work ")) break;
    if (line.starts_with("matrix ") || line.starts_with("method ") || holds(line, " ms")) continue;
    EXPECT_EQ(std::count(shown.begin(), shown.end(), line) > 0, true) << line;
  }
  EXPECT_GT(printed.size(), 15U);
}

}  // namespace
#endif
