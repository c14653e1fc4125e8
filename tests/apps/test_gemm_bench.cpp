// The program gemm_bench: what it measures is not tested, what it says of it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <array>
#include <functional>

#include <krysol/spmv/dense/dense.hpp>
#include "programs.hpp"

#ifdef KRYSOL_GEMM_BENCH
namespace {

using namespace krysol_tests;

class GemmBench : public ProgramTest {
 protected:
  GemmBench() : ProgramTest(KRYSOL_GEMM_BENCH) {}

  Json bench(Arguments arguments, int code = 0) const {
    arguments.insert(arguments.end(), {"--iterations", "2", "--warm-up", "0"});
    const Json r = report(std::move(arguments), code);
    for (const Json& line : r["lines"]) {  // so that `line_of` finds whole names only
      EXPECT_FALSE(holds(line["name"].get<std::string>(), ": ")) << line;
    }
    return r;
  }
};

Arguments kernel_names() {
  Arguments names = {"serial"};
  for (const auto& k : krysol::list_dense_kernels()) names.emplace_back(k.name);
  return names;
}

TEST_F(GemmBench, TakesTheSamplesSizesByDefault) {
  const Json r = bench({"--verify"});
  for (const char* size : {"x", "y", "z"}) EXPECT_EQ(r[size], 64) << size;
  EXPECT_EQ(r["block"], 16);
  EXPECT_EQ(r["scalar"], "double");
  EXPECT_EQ(r["turns"], 2);
  EXPECT_NEAR(r["error_bound"].get<double>(), 2 * 72 * 2.22e-16, 1e-16);
  for (const std::string& name : kernel_names()) {
    const Json line = line_of(r, name);
    ASSERT_FALSE(line.is_null()) << name;
    EXPECT_EQ(line["correct"], true) << name;
    EXPECT_LT(line["relative_error"], r["error_bound"]) << name;
    EXPECT_GT(line["relative_error"], 0) << name << ": a sum of 64 random products rounds";
    const double seconds = line["product"]["median_s"].get<double>();
    EXPECT_GT(seconds, 0) << name;
    EXPECT_GE(line["product"]["p90_s"], line["product"]["p10_s"]) << name;
    EXPECT_NEAR(line["GFLOP_per_s"].get<double>() * seconds, 2e-9 * 64 * 64 * 64, 1e-12) << name;
    EXPECT_FALSE(line.contains("with_transfers")) << name;
  }
  EXPECT_EQ(line_of(r, "serial")["speed_up_over_serial"], 1.0);
}

/// The types of entries that this build holds.
std::vector<std::string> types() {
#ifdef KRYSOL_HAVE_FLOAT
  return {"float", "double"};
#else
  return {"double"};
#endif
}

TEST_F(GemmBench, VerifiesEveryKernelInEachTypeAtAwkwardSizes) {
  for (const std::string& type : types()) {
    for (const auto& [x, y, z] : {std::array{"1", "1", "1"}, std::array{"65", "63", "7"},
                                  std::array{"8", "5000", "9"}, std::array{"700", "3", "5"}}) {
      const Json r = bench(
          {"-x", x, "-y", y, "-z", z, "--type", type, "--verify", "--block", "5", "--no-peers"});
      EXPECT_EQ(r["scalar"], type);
      EXPECT_EQ(r["x"].dump() + r["y"].dump() + r["z"].dump(), std::string(x) + y + z);
      EXPECT_EQ(r["lines"].size(), kernel_names().size());
      for (const Json& line : r["lines"]) EXPECT_EQ(line["correct"], true) << line;
    }
  }
}

/// Of entries that are all different: among 64 x 64 products one is rounded by nearly the most that
/// rounding can do, which a few numbers again and again would not show.
TEST_F(GemmBench, MultipliesEntriesThatDiffer) {
  const Json r = bench({"-y", "1", "--verify", "--no-peers"});
  for (const std::string& name : kernel_names()) {
    const Json line = line_of(r, name);
    ASSERT_FALSE(line.is_null()) << name;
    EXPECT_GT(line["relative_error"].get<double>(), 0.9 * 0x1p-53) << name;
    EXPECT_LT(line["relative_error"].get<double>(), 1.001 * 0x1p-53) << name;
  }
}

TEST_F(GemmBench, TimesTransfers) {
  const Json r = bench({"--transfers", "--kernel", "register,serial", "--type", types().front()});
  const Json line = line_of(r, "register");
  const double seconds = line["with_transfers"]["median_s"].get<double>();
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(line["with_transfers_GFLOP_per_s"].get<double>() * seconds, 2e-9 * 64 * 64 * 64,
              1e-12);
  EXPECT_FALSE(line_of(r, "serial").contains("with_transfers")) << "it is on the host already";
  const Outcome o = run({"--transfers", "--iterations", "1"});
  EXPECT_TRUE(holds(lines_of(o.out)[2], "with copies ms   GFLOP/s")) << o.out;
}

TEST_F(GemmBench, TakesTheKernelsThatItIsGiven) {
  const Json r = bench({"--kernel", "tiled", "--no-peers"});
  ASSERT_EQ(r["lines"].size(), 1U);
  EXPECT_EQ(r["lines"][0]["name"], "tiled");
  EXPECT_FALSE(r["lines"][0].contains("speed_up_over_serial")) << "nothing was timed to compare";
  EXPECT_FALSE(r["lines"][0].contains("correct")) << "nobody asked";
}

TEST_F(GemmBench, SaysWhyAKernelHasNoFigures) {
  const Json r = bench({"--block", "1024", "-x", "3", "--verify"});
  EXPECT_TRUE(holds(line_of(r, "tiled")["refused"], "take a smaller block"));
  EXPECT_EQ(line_of(r, "register")["correct"], true);
  EXPECT_TRUE(holds(run({"--block", "1024", "--iterations", "1"}).out, "take a smaller block"));
}

TEST_F(GemmBench, ReturnsOneWhereNoKernelHasFigures) {
  const Json r = bench({"--block", "1024", "--kernel", "tiled"}, 1);
  EXPECT_TRUE(r["lines"][0].contains("refused"));
  EXPECT_EQ(bench({"--block", "1024", "--kernel", "tiled,register"})["lines"].size(),
            r["lines"].size() + 1);
}

TEST_F(GemmBench, MeasuresPeersWhereTheHostMultiplies) {
  const Json r = bench({});
  if (!krysol::on_host<Kokkos::DefaultExecutionSpace>) {
    for (const Json& line : r["lines"]) EXPECT_EQ(line["peer"], false) << line;
    return;
  }
  EXPECT_EQ(line_of(r, "Eigen")["peer"], true);
  EXPECT_GT(line_of(r, "Eigen")["GFLOP_per_s"], 0);
}

TEST_F(GemmBench, WritesCsvAndTables) {
  const Outcome o = run({"-x", "9", "--kernel", "register", "--no-peers", "--csv", "-", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 2U) << o.out;
  EXPECT_TRUE(lines[0].starts_with("x,y,z,scalar,block,candidate,median_s,")) << o.out;
  EXPECT_TRUE(lines[1].starts_with("9,64,64,double,16,register,")) << o.out;
  EXPECT_EQ(std::count(lines[1].begin(), lines[1].end(), ','),
            std::count(lines[0].begin(), lines[0].end(), ','));
  const Outcome refused =
      run({"--block", "1024", "--kernel", "tiled", "--no-peers", "--csv", "-", "--quiet"});
  EXPECT_TRUE(holds(refused.out, "\n64,64,64,double,1024,tiled,,,,,,,,,\"krysol::gemm: tiles"))
      << refused.out;
  const Outcome table = run({"-x", "9", "--verify", "--iterations", "1"});
  EXPECT_TRUE(table.out.starts_with("C (9 x 64) = A (9 x 64) B (64 x 64), double, ")) << table.out;
  for (const char* part : {"GFLOP/s", "speed-up", "register", "is rounding", "tiled by 16"}) {
    EXPECT_TRUE(holds(table.out, part)) << part << table.out;
  }
  EXPECT_FALSE(holds(table.out, "bandwidth"));
  EXPECT_EQ(run({"--quiet", "--iterations", "1"}).out, "");
}

TEST_F(GemmBench, WritesTheJsonThatIsDocumented) {
  const std::string doc = text_of(fs::path(KRYSOL_DATA_DIR).parent_path() / "docs/gemm_bench.md");
  const std::function<void(const Json&)> look = [&](const Json& j) {
    for (const auto& [key, value] : j.items()) {
      EXPECT_TRUE(j.is_array() || holds(doc, "`" + key + "`")) << key << " is not documented";
      if (value.is_structured()) look(value);
    }
  };
  look(bench({"--verify", "--transfers", "--block", "1024"}));
  const Outcome full = run_exactly({"--threads", "1", "--json", in("r.json").string()});
  EXPECT_EQ(full.code, 0) << full.err;
  const Json with_bandwidth = Json::parse(text_of(in("r.json")));
  EXPECT_GT(with_bandwidth["bandwidth"]["triad_GB_per_s"], 0);
  look(with_bandwidth);
  for (const std::string& name : kernel_names()) EXPECT_TRUE(holds(doc, "`" + name + "`")) << name;
}

TEST_F(GemmBench, ListsKernelsAndPeers) {
  const Outcome o = run_exactly({"--list"});
  EXPECT_EQ(o.code, 0);
  for (const std::string& name : kernel_names()) EXPECT_TRUE(holds(o.out, "\n  " + name + " "));
  EXPECT_TRUE(holds(o.out, "peers of this build"));
  EXPECT_TRUE(holds(run_exactly({"--version"}).out, "krysol"));
}

TEST_F(GemmBench, RefusesWhatMakesNoSense) {
  expect_refusal({"-x", "0"}, "-x");
  expect_refusal({"-z", "-3"}, "-z");
  expect_refusal({"-x", "2147483649"}, "-x");
  expect_refusal({"-y", "two"}, "-y");
  expect_refusal({"--block", "0"}, "--block");
  expect_refusal({"--type", "half"}, "--type");
  expect_refusal({"--kernel", "naive"}, "unknown kernel 'naive'; known: serial register tiled");
  expect_refusal({"--kernel", "tiled:3"}, "no variants");
  expect_refusal({"--iterations", "0"}, "--iterations");
  expect_refusal({"--csv", "-"}, "only one of");
  expect_refusal({"--quiet", "--csv", "-", "--json", "-"}, "only one of");
  expect_refusal({"64"}, "64");
}

}  // namespace
#endif
