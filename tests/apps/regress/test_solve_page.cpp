// The page of a solve, and the tree of regions and kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/cg_solve_runs.hpp"

#if defined(KRYSOL_REGRESS) && defined(KRYSOL_CG_SOLVE)
namespace {

using namespace krysol_tests;

// ---- the pages and the profile of a single solve

TEST_F(CgSolve, WritesAPageOfTheSolve) {
  const Outcome o = run_exactly({grid_, "--threads", "1", "--report", in("page.html").string(),
                                 "--json", in("r.json").string(), "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string page = text_of(in("page.html"));
  const Json r = Json::parse(text_of(in("r.json")));
  for (const char* const part :
       {"<h2 id=\"outcome-h\">Outcome</h2>", "Convergence", "Error in the A-norm",
        "Where it has entries", "Lengths of rows", "Sizes of values", "What was chosen, and why",
        "Spectrum", "Roofline", "Once more"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  // The numbers are those of the JSON report.
  const auto shows = [&](const Json& number) {
    const std::string text = fmt::format(">{:.6g}<", number.get<double>());
    EXPECT_NE(page.find(text), std::string::npos) << text;
  };
  shows(r["result"]["residual"]);
  shows(r["result"]["target"]);
  shows(r["result"]["relative_error"]);
  for (const char* const kind : {"spmv", "vectors", "residuals"}) {
    shows(r["work"][kind]["seconds"]);
    shows(r["work"][kind]["bytes"]);
  }
  EXPECT_NE(page.find("cg_solve " + grid_ + " --threads 1"), std::string::npos);
  EXPECT_NE(page.find("--format csv"), 0U);
  EXPECT_NE(
      page.find(fmt::format("--format {} --reorder none", r["format"]["name"].get<std::string>())),
      std::string::npos);
}

TEST_F(CgSolve, WritesAPageOfWhatWasNotSolved) {
  for (const std::string& text : {indefinite, negative_diagonal, unsymmetric, hermitian}) {
    const std::string matrix = write("a.mtx", text);
    const Outcome o = run({matrix, "--report", "-", "--quiet"});
    EXPECT_EQ(o.code, text == hermitian ? 0 : 1) << o.err;
    EXPECT_TRUE(o.out.starts_with("<!DOCTYPE html>"));
    EXPECT_TRUE(o.out.ends_with("</html>\n"));
  }
  expect_refusal({grid_, "--report", "-"},
                 "the report and --report - would mix on standard output");
  expect_refusal({grid_, "--report", in("x").string(), "--json", in("x").string()},
                 "two outputs would go to this file");
}

TEST_F(CgSolve, ShowsTheTreeOfRegionsAndKernels) {
  const Json r = report({"jumps:12", "--precond", "amg", "--profile"}, 0);
  const auto node = [&](const std::string& name) -> Json {
    for (const Json& n : r["profile"]) {
      if (n["name"] == name) return n;
    }
    return nullptr;
  };
  for (const char* const name :
       {"krysol::make_problem", "krysol::Solver", "krysol::make_preconditioner", "krysol::solve",
        "krysol::cg", "level 1", "level 2"}) {
    EXPECT_FALSE(node(name).is_null()) << name;
  }
  const std::pair<const char*, const char*> kinds[] = {
      {"SpMV", "spmv"}, {"vectors", "vectors"}, {"preconditioner", "preconditioner"}};
  const int depth = node("krysol::cg")["depth"].get<int>() + 1;  // not in krysol::cg(confirm)
  for (const auto& [name, key] : kinds) {
    Json n;
    for (const Json& one : r["profile"]) {
      if (one["name"] == name && one["depth"] == depth) n = one;
    }
    ASSERT_FALSE(n.is_null()) << name;
    EXPECT_EQ(n["calls"], r["work"][key]["calls"]) << name;
    EXPECT_EQ(n["bytes"], r["work"][key]["bytes"]) << name;
    EXPECT_GE(n["seconds"].get<double>(), 0.9 * r["work"][key]["seconds"].get<double>()) << name;
  }
  // What is within a region takes no longer than the region.
  std::vector<double> left;
  for (const Json& n : r["profile"]) {
    left.resize(n["depth"].get<std::size_t>());
    if (!left.empty()) {
      left.back() -= n["seconds"].get<double>();
      EXPECT_GE(left.back(), -1e-4) << n;
    }
    left.push_back(n["seconds"].get<double>());
  }
  const Outcome o = run({grid_, "--profile"});
  EXPECT_TRUE(holds(o.out, "krysol::cg")) << o.out;
  EXPECT_TRUE(holds(o.out, "krysol::apply_dot(csr)")) << o.out;
}

}  // namespace
#endif
