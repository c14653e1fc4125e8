// The program spmv_bench: what it measures is not tested, what it says of it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <cmath>
#include <map>

#include <krysol/spmv/select/formats.hpp>
#include "apps/bench/bench_summary.hpp"
#include "documented_json.hpp"
#include "programs.hpp"

#ifdef KRYSOL_SPMV_BENCH
namespace {

using namespace krysol_tests;

constexpr bool on_host = krysol::on_host<Kokkos::DefaultExecutionSpace>;

class SpmvBench : public ProgramTest {
 protected:
  SpmvBench() : ProgramTest(KRYSOL_SPMV_BENCH) {}

  Json bench(Arguments arguments, int code = 0) const {
    arguments.insert(arguments.end(), {"--iterations", "2", "--warm-up", "0"});
    return report(std::move(arguments), code);
  }
};

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
  EXPECT_EQ(listed.count("Eigen"), on_host ? 1U : 0U);
  std::set<std::string> measured;
  const Json r = bench({"poisson2d:20", "--format", "csr"})["reports"][0];
  for (const Json& line : r["lines"]) {
    if (line["peer"] == false) continue;
    EXPECT_GT(line["product"]["median_s"], 0) << line;
    measured.insert(line["name"].get<std::string>());
  }
  EXPECT_EQ(measured, listed);
}

TEST_F(SpmvBench, TakesTheSamplesRandomMatrixByDefault) {
  const Json r = bench({"--length", "500", "--density", "0.01", "--format", "csr"})["reports"][0];
  EXPECT_EQ(r["matrix"], "random:500:0.01");
  EXPECT_EQ(r["rows"], 500);
  EXPECT_NEAR(r["nnz"].get<double>(), 2500, 300);
  EXPECT_EQ(bench({"--length", "500", "--no-peers"})["reports"][0]["nnz"], r["nnz"])
      << "the same name is the same matrix";
}

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
  if (on_host) names.emplace_back("Eigen");
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

/// A folder with two matrices, one of them further down; a vector, a complex and a broken matrix;
/// and what is none of them.
fs::path mixed_folder(const fs::path& folder) {
  const auto write = [&folder](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
  };
  fs::create_directories(folder / "below");
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  write("below/a.mtx", banner + "real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
  write("b.mtx", banner + "pattern general\n3 3 4\n1 1\n2 2\n3 3\n3 1\n");
  write("b_b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  write("c.mtx", banner + "complex general\n1 1 1\n1 1 2 0\n");
  write("d.mtx", banner + "real general\n2 2 1\n3 1 1\n");
  write("notes.txt", "not a matrix");
  return folder;
}

TEST_F(SpmvBench, MeasuresAFolderAndNamesWhatItCannotRead) {
  const auto folder = mixed_folder(in("f"));
  const Arguments arguments = {folder.string(), "--format", "csr,ell,auto", "--iterations", "2"};
  const Outcome o = run(arguments);
  EXPECT_EQ(o.code, 2) << "a file that cannot be read is bad input, after the others";
  EXPECT_TRUE(holds(o.err, (folder / "d.mtx").string() + ":3:1:")) << o.err;
  EXPECT_EQ(lines_of(o.err).size(), 1U) << o.err;
  for (const char* part : {"b.mtx  ", "below/a.mtx  ", "geometric mean of 2", "lowest",
                           "b_b.mtx: is a dense array", "c.mtx: spmv_bench takes real"}) {
    EXPECT_TRUE(holds(o.out, part)) << part << '\n' << o.out;
  }
  Arguments quiet = arguments;
  quiet.insert(quiet.end(), {"--json", "-", "--quiet"});
  const Json j = Json::parse(run(quiet).out, nullptr, false);
  ASSERT_EQ(j["reports"].size(), 2U) << j;
  EXPECT_EQ(j["reports"][0]["matrix"], (folder / "b.mtx").string());
  EXPECT_EQ(j["reports"][1]["matrix"], (folder / "below/a.mtx").string());
  EXPECT_EQ(j["reports"][1]["nnz"], 4);
  std::map<std::string, bool> broken;
  for (const Json& p : j["passed_over"]) {
    broken[fs::path(p["matrix"].get<std::string>()).filename().string()] = p["broken"];
  }
  EXPECT_EQ(broken,
            (std::map<std::string, bool>{{"b_b.mtx", false}, {"c.mtx", false}, {"d.mtx", true}}));
  fs::remove(folder / "d.mtx");
  EXPECT_EQ(run(arguments).code, 0);
}

/// A chain of folders whose path is longer than any that can be opened, to be removed again: the
/// library takes such a path apart, and not every one does.
class TooDeepFolder {
 public:
  explicit TooDeepFolder(const fs::path& top) : top_(top) {
    fs::create_directories(top);
    for (int here = open_in(AT_FDCWD, top.c_str()); here >= 0; here = next(here)) {
      folders_.push_back(here);
      if (folders_.size() * name_.size() > 4500) break;
    }
  }
  TooDeepFolder(const TooDeepFolder&) = delete;
  TooDeepFolder& operator=(const TooDeepFolder&) = delete;
  ~TooDeepFolder() {
    for (std::size_t k = folders_.size(); k-- > 0;) {
      if (k + 1 < folders_.size()) unlinkat(folders_[k], name_.c_str(), AT_REMOVEDIR);
      close(folders_[k]);
    }
    fs::remove(top_);
  }

 private:
  static int open_in(int folder, const char* name) {
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  int next(int here) const {
    return mkdirat(here, name_.c_str(), 0700) == 0 ? open_in(here, name_.c_str()) : -1;
  }

  fs::path top_;
  std::string name_ = std::string(200, 'd');
  std::vector<int> folders_;
};

TEST_F(SpmvBench, PassesOverAFolderThatCannotBeRead) {
  const auto folder = mixed_folder(in("f"));
  fs::remove(folder / "d.mtx");
  const TooDeepFolder deep(folder / "deep");
  std::error_code error;
  fs::directory_iterator(fs::path(folder / "deep") / std::string(5000, 'd'), error);
  ASSERT_TRUE(error);
  const Arguments arguments = {folder.string(), "--format", "csr",
                               "--iterations",  "1",        "--no-peers"};
  const Outcome o = run(arguments);
  EXPECT_EQ(o.code, 2) << "not all of the folder was measured";
  EXPECT_TRUE(holds(o.out, "geometric mean of 2")) << o.out;
  ASSERT_EQ(lines_of(o.err).size(), 1U) << o.err;
  EXPECT_TRUE(o.err.starts_with("spmv_bench: error: " + (folder / "deep").string())) << o.err;
  EXPECT_TRUE(holds(o.err, ": the folder cannot be read: ")) << o.err;
  Arguments quiet = arguments;
  quiet.insert(quiet.end(), {"--json", "-", "--quiet"});
  const Json passed_over = Json::parse(run(quiet).out, nullptr, false)["passed_over"];
  ASSERT_EQ(passed_over.size(), 3U);
  EXPECT_EQ(passed_over[0]["broken"], true);
  EXPECT_TRUE(holds(passed_over[0]["reason"], "the folder cannot be read"));
  expect_refusal({(folder / "deep").string()}, "in the folders that can be read");
}

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

TEST_F(SpmvBench, ReturnsOneWhereNoFormatHasFigures) {
  const Arguments refused = {"random:50:0.2", "--format", "symmetric"};
  EXPECT_TRUE(bench(refused, 1)["reports"][0]["lines"][1].contains("refused"));
  bench({"random:50:0.2", "poisson2d:5", "--format", "symmetric"}, on_host ? 0 : 1);
}

krysol::apps::BenchLine timed(const char* name, double seconds, bool peer = false) {
  krysol::apps::BenchLine line;
  line.name = name;
  line.peer = peer;
  line.product.median = seconds;
  return line;
}

TEST(BenchSummary, ComparesWithAllThatAnyMatrixHas) {
  krysol::apps::BenchReport first;  // one that other libraries could not take
  first.matrix = "first";
  first.lines = {timed("serial csr", 4), timed("auto: ell", 1)};
  krysol::apps::BenchReport second;
  second.matrix = "second";
  second.lines = {timed("serial csr", 9), timed("csr", 3), timed("auto: csr", 1),
                  timed("MKL", 2, true), timed("Eigen", 5, true)};
  krysol::apps::BenchReport third = second;
  third.matrix = "third";
  third.lines[3] = timed("Other", 8, true);
  third.lines[4].refused = "too large";
  const auto all = krysol::apps::compare({first, second, third});
  std::vector<std::string> over;
  for (const auto& c : all) over.push_back(c.over);
  EXPECT_EQ(over,
            (std::vector<std::string>{"serial csr", "csr", "MKL", "Eigen", "Other", "best peer"}));
  EXPECT_EQ(all[0].matrices, 3);
  EXPECT_NEAR(all[0].geometric_mean, std::cbrt(4 * 9 * 9), 1e-12);
  EXPECT_EQ(all[0].lowest_at, "first");
  EXPECT_EQ(all[3].matrices, 1) << "Eigen refused the third";
  EXPECT_EQ(all[5].matrices, 2);
  EXPECT_NEAR(all[5].geometric_mean, 4, 1e-12) << "2 and 8";
}

TEST(BenchSummary, KeepsColumnsInLineWhereNobodyWasMeasured) {
  krysol::apps::BenchReport first;
  first.lines = {timed("serial csr", 4), timed("csr", 0), timed("auto: ell", 1),
                 timed("MKL", 0, true)};
  first.lines[1].refused = first.lines[3].refused = "no room";
  const auto all = {first, first};
  const auto head = lines_of(krysol::apps::summary_head(first, 30)).at(1);
  const auto line = lines_of(krysol::apps::summary_line(first, 30)).at(0);
  EXPECT_TRUE(head.ends_with("  serial csr      csr      MKL")) << head;
  EXPECT_TRUE(line.ends_with("        4.00        -        -")) << line;
  for (const auto& sum : lines_of(krysol::apps::summary_end(all, 30))) {
    EXPECT_EQ(sum.size(), head.size()) << sum;
    EXPECT_TRUE(sum.ends_with("        4.00        -        -")) << sum;
  }
}

TEST_F(SpmvBench, ComparesOverAllMatricesByTheirMedians) {
  const Json j = bench({"poisson2d:60", "random:300:0.1", "--format", "csr,auto"});
  ASSERT_EQ(j["reports"].size(), 2U);
  EXPECT_EQ(j["summary"]["candidate"], "auto");
  std::set<std::string> others;
  for (const Json& mean : j["summary"]["speed_ups"]) {
    const std::string over = mean["over"];
    others.insert(over);
    EXPECT_EQ(mean["matrices"], 2) << over;
    double product = 1;
    double lowest = 1e300;
    for (const Json& r : j["reports"]) {
      double time = 1e300;
      for (const Json& line : r["lines"]) {
        if (over == "best peer" ? line["peer"].get<bool>() : line["name"] == over) {
          time = std::min(time, line["product"]["median_s"].get<double>());
        }
      }
      const double factor = time / line_of(r, "auto")["product"]["median_s"].get<double>();
      product *= factor;
      lowest = std::min(lowest, factor);
    }
    EXPECT_NEAR(mean["geometric_mean"], std::sqrt(product), 1e-12 * product) << over;
    EXPECT_NEAR(mean["lowest"], lowest, 1e-12 * lowest) << over;
  }
  for (const char* name : {"serial csr", "csr"}) EXPECT_EQ(others.count(name), 1U) << name;
  EXPECT_EQ(others.count("Eigen"), on_host ? 1U : 0U);
}

TEST_F(SpmvBench, TakesTheLargestMatricesOfMany) {
  const auto folder = mixed_folder(in("f"));
  fs::remove(folder / "d.mtx");
  const Json j = bench({folder.string(), "poisson2d:3", "poisson2d:2", "--limit", "3", "--format",
                        "csr", "--no-peers"});
  std::vector<int> nonzeros;
  for (const Json& r : j["reports"]) nonzeros.push_back(r["nnz"]);
  EXPECT_EQ(nonzeros, (std::vector<int>{33, 12, 4}));
  EXPECT_EQ(j["reports"][2]["matrix"], (folder / "b.mtx").string()) << "of equal ones the first";
}

/// Enough of XML for pictures: tags close in order, attributes are quoted and stand once, entities
/// are known. Returns what is wrong, or nothing.
std::string wrong_in_xml(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      const auto end = text.find(';', at);
      const std::string entity = text.substr(at, end - at + 1);
      if (!std::set<std::string>{"&amp;", "&lt;", "&gt;", "&quot;"}.count(entity)) return entity;
    }
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const auto end = text.find('>', at);
    if (end == std::string::npos) return "an open tag";
    std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + tag.substr(1);
      open.pop_back();
      continue;
    }
    const bool empty = tag.ends_with("/");
    if (empty) tag.pop_back();
    std::string rest = tag.substr(std::min(tag.size(), tag.find(' ')));
    std::set<std::string> attributes;
    while (rest.find('=') != std::string::npos) {
      const auto equals = rest.find('=');
      const auto close = rest.find('"', equals + 2);
      if (rest[equals + 1] != '"' || close == std::string::npos) return tag;
      if (!attributes.insert(rest.substr(0, equals)).second) return tag;
      rest = rest.substr(close + 1);
    }
    if (rest.find_first_not_of(' ') != std::string::npos) return tag;
    if (!empty) open.push_back(tag.substr(0, tag.find(' ')));
  }
  return open.empty() ? "" : "open: " + open.back();
}

TEST_F(SpmvBench, DrawsAMarkerForEachCandidateAndMatrix) {
  EXPECT_NE(wrong_in_xml("<a><b></a>"), "");
  EXPECT_NE(wrong_in_xml("<a b=1/>"), "");
  EXPECT_NE(wrong_in_xml("<a>&nbsp;</a>"), "");
  fs::create_directories(in("a<&>"));
  const auto odd = write("a<&>/\xff\"x\".mtx",
                         "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  const auto picture = in("p.svg");
  const Outcome o = run({odd, "poisson2d:9", "--iterations", "2", "--picture", picture.string(),
                         "--json", "-", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string svg = text_of(picture);
  EXPECT_EQ(wrong_in_xml(svg), "");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << svg.substr(0, 60);
  EXPECT_TRUE(holds(svg, "a&lt;&amp;&gt;/\xEF\xBF\xBD&quot;x&quot;.mtx, csr: "));
  const auto count = [&svg](const std::string& part) {
    int found = 0;
    for (auto at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  int markers = 0;
  const Json j = Json::parse(o.out, nullptr, false);
  for (const Json& r : j["reports"]) {
    for (const Json& line : r["lines"]) {
      const bool drawn = !line.contains("refused");
      markers += drawn ? 2 : 0;  // in each of the two panels
      if (r["matrix"] != "poisson2d:9") continue;
      const auto name = line["name"].get<std::string>();
      EXPECT_EQ(count("<title>poisson2d:9, " + name + ": "), drawn ? 2 : 0) << name;
    }
  }
  EXPECT_GT(markers, 40);
  EXPECT_EQ(count("class=\"marker "), markers);
}

TEST_F(SpmvBench, FindsOutEarlyThatAPictureCannotBeWritten) {
  expect_refusal({"poisson:100", "--picture", in("no/such/folder.svg").string()}, "folder.svg");
  fs::create_directory(in("empty"));
  expect_refusal({in("empty").string()}, "holds no file whose name ends in .mtx");
}

TEST_F(SpmvBench, WritesTheJsonThatIsDocumented) {
  const auto table = documented("spmv_bench.md");
  EXPECT_GT(table.size(), 50U);
  PathTypes seen;
  const auto add = [&](const Json& j) { collect(j, "", {}, seen); };
  const auto folder = mixed_folder(in("f"));
  fs::remove(folder / "d.mtx");
  add(bench({folder.string(), "poisson2d:90", "--verify", "--transfers", "--vectors", "2",
             "--reorder", "rcm"}));
  const Outcome full = run_exactly({"poisson2d:9", "--threads", "1", "--format", "csr", "--quiet",
                                    "--json", in("r.json").string()});
  EXPECT_EQ(full.code, 0) << full.err;
  add(Json::parse(text_of(in("r.json"))));
  expect_documented(seen, table);
  for (const auto& [path, types] : table) EXPECT_EQ(seen.count(path), 1U) << path << " never came";
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
  expect_refusal({"--sizes", "10:20", "poisson:3"}, "leave the file out");
  expect_refusal({"poisson:3", "--csv", "-"}, "only one of");
  expect_refusal({"poisson:3", "--picture", "-"}, "only one of");
  expect_refusal({"--sizes", "10:20", "--limit", "1"}, "and --limit");
  expect_refusal({"poisson:3", "--limit", "1"}, "--limit takes the largest of several matrices");
  expect_refusal({"--length", "10", "--limit", "4"}, "--limit takes the largest of several");
  expect_refusal({"--length", "0"}, "takes a number from 1");
  expect_refusal({"poisson:3", "--vectors", "0"}, "--vectors");
  const auto complex =
      write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 0\n");
  expect_refusal({complex}, "is complex");
}

}  // namespace
#endif
