// The program spmv_bench: what it measures is not tested, what it says of it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <krysol/spmv/select/formats.hpp>
#include <nlohmann/json.hpp>
#include "spmv_bench_runs.hpp"

#ifdef KRYSOL_SPMV_BENCH
namespace {

using namespace krysol_tests;

TEST_F(SpmvBench, MeasuresEveryFormatAndVerifiesIt) {
  const Json j = bench({"random:600:0.02", "--verify"});
  ASSERT_EQ(j["reports"].size(), 1U);
  const Json& r = j["reports"][0];
  EXPECT_EQ(r["rows"], 600);
  EXPECT_EQ(r["scalar"], "double");
  EXPECT_EQ(r["lines"][0]["name"], "serial csr");
  EXPECT_EQ(r["lines"][0]["speed_up_over_serial"], 1.0);
  Arguments names = {"auto"};
  for (const auto& f : krysol::list_formats()) {
    if (f.symmetric_only) {
      EXPECT_TRUE(holds(line_of(r, std::string(f.name))["refused"], "not symmetric to the bit"))
          << f.name;
    } else if (f.name == "dia") {
      EXPECT_TRUE(holds(line_of(r, "dia")["refused"], "diagonals")) << line_of(r, "dia");
    } else {
      names.emplace_back(f.name);
    }
  }
  for (const std::string& name : names) {
    const Json line = line_of(r, name);
    ASSERT_FALSE(line.is_null()) << name;
    EXPECT_EQ(line["correct"], true) << name;
    EXPECT_LT(line["relative_error"], 1e-13) << name;
    EXPECT_GT(line["product"]["median_s"], 0) << name;
    EXPECT_GE(line["product"]["p90_s"], line["product"]["p10_s"]) << name;
    EXPECT_GT(line["bytes"], 12 * r["nnz"].get<int>()) << name;
  }
}

TEST_F(SpmvBench, MeasuresThePeersThatItLists) {
  const std::string list = run_exactly({"--list"}).out;
  const std::string head = "peers of this build:\n  ";
  const auto begin = list.find(head);
  ASSERT_NE(begin, std::string::npos) << list;
  std::string names = lines_of(list.substr(begin + head.size())).at(0);
  std::set<std::string> listed;
  while (names != "none" && !names.empty()) {
    const auto comma = names.find(", ");
    listed.insert(names.substr(0, comma));
    names = comma == std::string::npos ? "" : names.substr(comma + 2);
  }
  EXPECT_EQ(listed.count("Eigen"), bench_on_host ? 1U : 0U);
  std::set<std::string> measured;
  const Json r = bench({"poisson2d:20", "--format", "csr"})["reports"][0];
  for (const Json& line : r["lines"]) {
    if (line["peer"] == false) continue;
    EXPECT_GT(line["product"]["median_s"], 0) << line;
    measured.insert(line["name"].get<std::string>());
  }
  EXPECT_EQ(measured, listed);
}

/// A peer's bytes are those of CSR with 32-bit row pointers, of x, and of y read and written.
TEST_F(SpmvBench, CountsTheBytesOfPeers) {
  const auto wide = write("wide.mtx",
                          "%%MatrixMarket matrix coordinate real general\n"
                          "7 9 3\n1 9 2\n4 1 3\n7 5 4\n");
  for (const std::string& matrix : {wide, std::string("poisson2d:20")}) {
    SCOPED_TRACE(matrix);
    const Json r = bench({matrix, "--format", "csr"})["reports"][0];
    const int rows = r["rows"];
    const int cols = r["cols"];
    const int nnz = r["nnz"];
    int peers = 0;
    for (const Json& line : r["lines"]) {
      if (line["peer"] == false || line.contains("refused")) continue;
      ++peers;
      EXPECT_EQ(line["bytes"], 12 * nnz + 4 * (rows + 1) + 8 * (cols + 2 * rows)) << line;
      const double rate = line["bytes"].get<double>() / 1e9;
      EXPECT_NEAR(line["GB_per_s"].get<double>() * line["product"]["median_s"].get<double>(), rate,
                  1e-9 * rate)
          << line;
    }
    if (bench_on_host) {
      EXPECT_GT(peers, 0);
    }
  }
}

TEST_F(SpmvBench, TakesTheSamplesRandomMatrixByDefault) {
  const Json r = bench({"--length", "500", "--density", "0.01", "--format", "csr"})["reports"][0];
  EXPECT_EQ(r["matrix"], "random:500:0.01");
  EXPECT_EQ(r["rows"], 500);
  EXPECT_NEAR(r["nnz"].get<double>(), 2500, 300);
  EXPECT_EQ(bench({"--length", "500", "--no-peers"})["reports"][0]["nnz"], r["nnz"])
      << "the same name is the same matrix";
}

#ifdef KRYSOL_HAVE_FLOAT
TEST_F(SpmvBench, ReadsFilesAndSingles) {
  const auto matrix = write("m.mtx",
                            "%%MatrixMarket matrix coordinate real general\n"
                            "2 3 3\n1 1 1\n2 2 0.1\n2 3 -7\n");
  const Json r = bench({matrix, "--single", "--verify", "--format", "csr,ell"})["reports"][0];
  EXPECT_EQ(r["scalar"], "float");
  EXPECT_EQ(r["cols"], 3);
  EXPECT_EQ(r["lines"].size(), 3U) << "no peers in float";
  for (const char* name : {"csr", "ell"}) EXPECT_EQ(line_of(r, name)["correct"], true) << name;
}

TEST_F(SpmvBench, StoresValuesInFloatUnderVectorsOfDouble) {
  const auto matrix = write("m.mtx",
                            "%%MatrixMarket matrix coordinate real general\n"
                            "2 3 3\n1 1 1\n2 2 0.1\n2 3 -7\n");
  const Arguments arguments = {matrix,       "--reduced", "--verify",
                               "--no-peers", "--format",  "csr,ell,auto"};
  const Json r = bench(arguments)["reports"][0];
  EXPECT_EQ(r["scalar"], "double");
  for (const char* name : {"csr", "ell"}) {
    const Json reduced = line_of(r, std::string(name) + " (float values)");
    EXPECT_EQ(reduced["correct"], true) << name;
    EXPECT_LT(reduced["bytes"].get<int>(), line_of(r, name)["bytes"].get<int>()) << name;
    EXPECT_GT(reduced["relative_error"].get<double>(), 1e-10)
        << name << ": 0.1 is not the float next to it";
  }
  EXPECT_NE(run({matrix, "--reduced", "--single"}).code, 0);
}

TEST_F(SpmvBench, ChoosesForAsManyProductsAsAreSaid) {
  const auto reason = [&](const char* products) {
    const Arguments arguments = {"poisson2d:80", "--no-peers", "--format",
                                 "auto",         "--products", products};
    const Json r = bench(arguments)["reports"][0];
    return r["auto"]["reason"].get<std::string>();
  };
  EXPECT_EQ(reason("39"), "39 multiplications are too few to measure for");
  EXPECT_FALSE(holds(reason("400"), "too few"));
  EXPECT_EQ(run({"poisson2d:80", "--products", "-1"}).code, 2);
}

/// 1 + 2^-24 lies halfway between two floats: no value is rounded further, relative to itself.
TEST_F(SpmvBench, AllowsForTheRoundingOfEachValueToFloat) {
  const std::string value = "1.000000059604644775390625";
  const auto matrix = write("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 " +
                                         value + "\n2 2 " + value + "\n3 3 -" + value + "\n");
  const Arguments arguments = {matrix,       "--reduced", "--verify",
                               "--no-peers", "--format",  "csr,ell"};
  const Json r = bench(arguments)["reports"][0];
  for (const char* name : {"csr", "ell"}) {
    const Json reduced = line_of(r, std::string(name) + " (float values)");
    EXPECT_EQ(reduced["correct"], true) << name;
    EXPECT_NEAR(reduced["relative_error"].get<double>(), 0x1p-24, 1e-12) << name;
    EXPECT_LT(line_of(r, name)["relative_error"].get<double>(), 1e-15) << name;
  }
}
#else
TEST_F(SpmvBench, RefusesTypesThatThisBuildDoesNotHold) {
  for (const char* option : {"--single", "--reduced"}) {
    const Outcome o = run({"poisson2d:9", option});
    EXPECT_EQ(o.code, 2) << option;
    EXPECT_TRUE(holds(o.err, std::string(option) + " needs krysol::float")) << o.err;
  }
}
#endif

TEST_F(SpmvBench, MakesEveryProblem) {
  // rows and nonzeros that a pencil finds
  const std::map<std::string, std::pair<int, int>> problems = {
      {"poisson:4", {64, 64 + 2 * 3 * 4 * 4 * 3}},
      {"poisson2d:5", {25, 25 + 2 * 2 * 5 * 4}},
      {"jumps:3", {27, 27 + 2 * 3 * 3 * 3 * 2}},
      {"anisotropy:5", {25, 25 + 2 * 2 * 5 * 4}},
      {"fem:3", {81, 9 * 7 * 7 * 7}},
      {"random:40:1", {40, 1600}}};
  for (const auto& [name, size] : problems) {
    const Json r = bench({name, "--verify", "--format", "csr"})["reports"][0];
    EXPECT_EQ(r["rows"], size.first) << name;
    EXPECT_EQ(r["nnz"], size.second) << name;
    EXPECT_EQ(line_of(r, "csr")["correct"], true) << name;
  }
  const Json r = bench({"graph:2000", "--format", "csr_merge", "--verify"})["reports"][0];
  EXPECT_EQ(r["rows"], 2000);
  EXPECT_EQ(line_of(r, "csr_merge")["correct"], true);
}

TEST_F(SpmvBench, TimesTransfersWithCopiesAndManagedMemory) {
  const Json copies = bench({"poisson2d:20", "--transfers", "--format", "csr"})["reports"][0];
  EXPECT_EQ(copies["memory"], "copies");
  EXPECT_GT(line_of(copies, "csr")["with_transfers"]["median_s"], 0);
  const Json managed =
      bench({"poisson2d:20", "--transfers", "--managed", "--format", "csr"})["reports"][0];
  EXPECT_EQ(managed["memory"], "managed");
  EXPECT_GT(line_of(managed, "csr")["with_transfers"]["median_s"], 0);
}

TEST_F(SpmvBench, MultipliesInAnotherOrderOfTheRows) {
  Triplets<double> t;  // a chain whose rows stand far from their neighbours
  t.rows = t.cols = 1001;
  const auto place = [](krysol::Index i) { return (i * 389) % 1001; };
  for (krysol::Index i = 0; i < 1001; ++i) {
    t.add(place(i), place(i), 2.5 + 0.001 * i);
    if (i > 0) t.add(place(i), place(i - 1), -1);
    if (i > 0) t.add(place(i - 1), place(i), -2);
  }
  const auto chain = write("chain.mtx", t);
  const Arguments rcm = {chain,      "--reorder",           "rcm",
                         "--format", "csr,stencil_pattern", "--no-peers"};
  Arguments verified = rcm;
  verified.emplace_back("--verify");
  const Json r = bench(verified)["reports"][0];
  EXPECT_EQ(r["reorder"]["name"], "rcm");
  EXPECT_GT(r["reorder"]["bandwidth_before"], 200);
  EXPECT_LT(r["reorder"]["bandwidth_after"], 1) << "2 of 3 entries stand beside the diagonal";
  EXPECT_GT(r["reorder"]["seconds"], 0);
  EXPECT_EQ(line_of(r, "csr")["correct"], true);
  // What is timed is the chain in order: all but its ends have the same neighbours.
  EXPECT_EQ(line_of(r, "stencil_pattern")["correct"], true);
  const Json file = bench({chain, "--format", "csr,stencil_pattern", "--no-peers"})["reports"][0];
  EXPECT_EQ(file["reorder"], (Json{{"name", "none"}}));
  EXPECT_TRUE(line_of(file, "stencil_pattern").contains("refused") ||
              line_of(file, "stencil_pattern")["bytes"] > line_of(r, "stencil_pattern")["bytes"]);
  EXPECT_TRUE(holds(run(rcm).out, "rows in the order of rcm: mean |i - j| of 1 instead of "));
  const auto wide = write("wide.mtx",
                          "%%MatrixMarket matrix coordinate real general\n"
                          "2 3 2\n1 1 1\n2 3 2\n");
  const Outcome many = run({chain, wide, "--reorder", "rcm", "--format", "csr", "--no-peers"});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_TRUE(holds(many.out, ", rows in the order of rcm; csr by turns")) << many.out;
  EXPECT_TRUE(holds(many.out, "passed over: " + wide +
                                  ": --reorder rcm takes square matrices, "
                                  "this one is 2 x 3"))
      << many.out;
  expect_refusal({wide, "--reorder", "rcm"}, "wide.mtx: --reorder rcm takes square matrices");
  expect_refusal({chain, "--reorder", "metis"}, "--reorder");
  const auto csv = lines_of(
      run({chain, "--reorder", "rcm", "--format", "csr", "--no-peers", "--quiet", "--csv", "-"})
          .out);
  EXPECT_TRUE(csv.at(0).ends_with(",order,refused"));
  EXPECT_TRUE(csv.at(1).ends_with(",rcm,"));
}

TEST_F(SpmvBench, TimesSeveralVectorsAtOnce) {
  // 11: a panel of eight and one that is not full.
  const Json r = bench({"poisson2d:20", "--vectors", "11", "--verify"})["reports"][0];
  EXPECT_EQ(r["vectors"], 11);
  Arguments names = {"auto"};
  if (bench_on_host) names.emplace_back("Eigen");
  for (const auto& f : krysol::list_formats()) names.emplace_back(f.name);
  int measured = 0;
  for (const std::string& name : names) {
    const Json line = line_of(r, name);
    ASSERT_FALSE(line.is_null()) << name;
    if (line.contains("refused")) continue;
    ++measured;
    EXPECT_GT(line["several_vectors"]["p10_s"], 0) << name;
    EXPECT_GE(line["several_vectors"]["p90_s"], line["several_vectors"]["p10_s"]) << name;
    const double one = line["product"]["median_s"];
    EXPECT_NEAR(line["several_over_one"].get<double>() * one, line["several_vectors"]["median_s"],
                1e-12)
        << name;
    if (line["peer"] == true) continue;
    EXPECT_EQ(line["correct"], true) << name;
    EXPECT_LT(line["relative_error"], 1e-13) << name;
  }
  EXPECT_GT(measured, 8);
  for (const char* name : {"serial csr", "Kokkos Kernels"}) {
    EXPECT_FALSE(line_of(r, name).contains("several_vectors")) << name;
  }
  EXPECT_FALSE(bench({"poisson2d:9", "--format", "csr"})["reports"][0].contains("vectors"));
}

TEST_F(SpmvBench, ShowsSeveralVectorsInEachTable) {
  const Arguments few = {"--vectors",    "3", "--format", "csr,ell", "--no-peers",
                         "--iterations", "2"};
  const auto with = [&few](Arguments first) {
    first.insert(first.end(), few.begin(), few.end());
    return first;
  };
  const auto column = [](const std::string& line, std::size_t k) {
    std::vector<std::string> fields = {""};
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return k < fields.size() ? fields[k] : "none";
  };
  const auto csv = lines_of(run(with({"poisson2d:9", "--csv", "-", "--quiet"})).out);
  ASSERT_EQ(csv.size(), 4U);
  EXPECT_EQ(column(csv[0], 14), "vectors");
  EXPECT_EQ(column(csv[0], 15), "several_vectors_s");
  EXPECT_EQ(column(csv[1], 14), "") << "the serial reference has none";
  EXPECT_EQ(column(csv[2], 14), "3");
  EXPECT_NEAR(std::stod(column(csv[2], 15)) / std::stod(column(csv[2], 6)),
              std::stod(column(csv[2], 16)), 1e-9);
  const Outcome one = run(with({"poisson2d:9"}));
  EXPECT_TRUE(holds(lines_of(one.out)[2], "3 vectors ms  to one")) << one.out;
  EXPECT_TRUE(holds(one.out, "3 vectors multiplied at once")) << one.out;
  const Outcome many = run(with({"poisson2d:9", "poisson2d:8"}));
  EXPECT_TRUE(holds(many.out, "  3 vectors/one")) << many.out;
  const auto lines = lines_of(many.out);
  ASSERT_GE(lines.size(), 6U) << many.out;
  EXPECT_EQ(lines[1].size(), lines[2].size()) << many.out;
  EXPECT_EQ(lines[1].size(), lines[4].size()) << many.out;
  EXPECT_TRUE(holds(run(with({"--sizes", "50:100"})).out, "time for 3 vectors at once over one"));
}

TEST_F(SpmvBench, TabulatesSpeedUpsOverSizes) {
  const Outcome o = run({"--sizes", "100:400", "--format", "csr,ell", "--no-peers"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 5U) << o.out;
  EXPECT_TRUE(holds(lines[1], "csr            ell")) << o.out;
  for (const int k : {0, 1, 2}) {
    EXPECT_TRUE(holds(lines[static_cast<std::size_t>(k) + 2], std::to_string(100 << k)));
  }
}

TEST_F(SpmvBench, SaysWhyAFormatHasNoFigures) {
  Triplets<double> t;
  t.rows = t.cols = 3000;
  for (krysol::Index i = 0; i < 3000; ++i) {
    t.add(i, i, 2);
    t.add(7, i, 1);
  }
  const auto matrix = write("row.mtx", t);
  const Json r = bench({matrix, "--verify"})["reports"][0];
  for (const char* name : {"ell", "ellpack_r"}) {
    EXPECT_TRUE(holds(line_of(r, name)["refused"], "longest row has 3000 entries")) << name;
  }
  EXPECT_EQ(line_of(r, "csr_merge")["correct"], true);
  EXPECT_TRUE(holds(run({matrix, "--iterations", "1"}).out, "longest row has 3000 entries"));
}

TEST_F(SpmvBench, ExplainsWhatAutoTried) {
  const Outcome o = run({"poisson2d:90", "--format", "auto", "--iterations", "1", "--explain"});
  EXPECT_EQ(o.code, 0) << o.err;
  for (const auto& f : krysol::list_formats()) {
    EXPECT_TRUE(holds(o.out, fmt::format("\n  {}", f.name))) << f.name << o.out;
  }
  EXPECT_TRUE(holds(o.out, "chosen: ")) << o.out;
}

TEST_F(SpmvBench, WritesCsv) {
  const Outcome o = run({"poisson2d:9", "--format", "csr", "--no-peers", "--csv", "-", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 3U) << o.out;
  EXPECT_TRUE(lines[0].starts_with("matrix,rows,cols,nnz,scalar,candidate,median_s,")) << o.out;
  EXPECT_TRUE(lines[2].starts_with("poisson2d:9,81,81,369,double,csr,")) << o.out;
  EXPECT_EQ(std::count(lines[2].begin(), lines[2].end(), ','),
            std::count(lines[0].begin(), lines[0].end(), ','));
}

#ifdef KRYSOL_HAVE_FLOAT
TEST_F(SpmvBench, ReturnsOneWhereAResultIsWrong) {
  // 1e300 is infinite in float, and so is y: no rounding explains that.
  const auto matrix = write("large.mtx",
                            "%%MatrixMarket matrix coordinate real general\n"
                            "2 2 2\n1 1 1e300\n2 2 1\n");
  const Arguments arguments = {matrix, "--single", "--verify", "--format", "csr"};
  EXPECT_EQ(line_of(bench(arguments, 1)["reports"][0], "csr")["correct"], false);
  const Outcome o = run(arguments);
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(holds(o.out, "WRONG")) << o.out;
  EXPECT_EQ(run({matrix, "--verify", "--format", "csr", "--iterations", "1"}).code, 0)
      << "a double holds it";
}
#endif

TEST_F(SpmvBench, ReturnsOneWhereNoFormatHasFigures) {
  const std::string format = bench_on_host ? "symmetric" : "dia";
  const Json refused = bench({"random:5000:0.002", "--format", format}, 1);
  EXPECT_TRUE(refused["reports"][0]["lines"][1].contains("refused"));
  bench({"random:5000:0.002", "poisson2d:5", "--format", format}, 0);
}

TEST_F(SpmvBench, ListsFormatsProblemsAndPeers) {
  const Outcome o = run_exactly({"--list"});
  EXPECT_EQ(o.code, 0);
  for (const auto& f : krysol::list_formats()) {
    EXPECT_TRUE(holds(o.out, fmt::format("\n  {} ", f.name))) << f.name;
  }
  for (const char* part : {"\n  auto ", "poisson:N", "graph:N", "peers of this build"}) {
    EXPECT_TRUE(holds(o.out, part)) << part;
  }
  EXPECT_TRUE(holds(run_exactly({"--version"}).out, "krysol"));
}

TEST_F(SpmvBench, RefusesWhatMakesNoSense) {
  expect_refusal({"poisson:0"}, "a size from 1 to 1000");
  expect_refusal({"poisson:2000"}, "a size from 1 to 1000");
  expect_refusal({"random:10:2"}, "a density above 0 and up to 1");
  expect_refusal({"no_such_file.mtx"}, "no_such_file.mtx");
  expect_refusal({"--format", "elk"}, "unknown format 'elk'");
  expect_refusal({"--format", "csr:elk", "--length", "10"}, "unknown format 'csr:elk'");
  expect_refusal({"--sizes", "400:100"}, "--sizes takes FROM:TO");
  expect_refusal({"poisson:3", "--managed"}, "--managed requires --transfers");
  expect_refusal({"--sizes", "10:20", "poisson:3"}, "leave the file out");
  expect_refusal({"poisson:3", "--csv", "-"}, "only one of");
  expect_refusal({"poisson:3", "--picture", "-"}, "only one of");
  expect_refusal({"--sizes", "10:20", "--limit", "1"}, "and --limit");
  expect_refusal({"poisson:3", "--limit", "1"}, "--limit takes the largest of several matrices");
  expect_refusal({"--length", "10", "--limit", "4"}, "--limit takes the largest of several");
  expect_refusal({"--length", "0"}, "takes a whole number from 1");
  for (const std::string option : {"--limit", "--iterations", "--vectors"}) {
    for (const std::string number : {"0", "1000001"}) {
      expect_refusal({"poisson:3", option, number}, option);
    }
  }
  const auto complex =
      write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 0\n");
  expect_refusal({complex}, "is complex");
}

/// Any number of matrices, one as well.
TEST_F(SpmvBench, RefusesAnyLimitWhereThereIsNothingToLeaveOut) {
  const std::string one = "--limit takes the largest of several matrices; there is one";
  for (const std::string limit : {"1", "2", "1000000"}) {
    expect_refusal({"--length", "10", "--limit", limit}, one);
    expect_refusal({"poisson:3", "--limit", limit}, one);
    expect_refusal({"--sizes", "10:20", "--limit", limit}, "and --limit");
  }
}

}  // namespace
#endif
