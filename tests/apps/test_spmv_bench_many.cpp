// spmv_bench over many matrices: folders, comparisons over all of them, their picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>
#include "apps/bench/bench_summary.hpp"
#include "apps/bench/interleaved_timing.hpp"
#include "documented_json.hpp"
#include "spmv_bench_runs.hpp"

#ifdef KRYSOL_SPMV_BENCH
namespace {

using namespace krysol_tests;

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

TEST_F(SpmvBench, CallsAMatrixBrokenThatItHasNoMemoryFor) {
#if defined(__SANITIZE_ADDRESS__) || defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  GTEST_SKIP() << "the limit is one of the addresses of a host's memory";
#endif
  fs::create_directory(in("f"));
  krysol::Triplets<double> t{3000, 3000, krysol::Symmetry::general, {}, {}, {}};
  for (krysol::Index i = 0; i < 3000; ++i) t.add(i, i, 2.0);
  krysol::write_matrix(in("f/a.mtx"), t);
  krysol::write_matrix(in("f/b.mtx"), t);
  const Outcome o = run_exactly(
      {"-c", "ulimit -v 16000000 || exit 77; exec \"$@\"", "sh", program_, in("f").string(),
       "--format", "csr", "--iterations", "1", "--no-peers", "--no-bandwidth", "--threads", "1",
       "--vectors", "1000000", "--json", "-", "--quiet"},
      "sh");
  if (o.code == 77) GTEST_SKIP() << "ulimit -v does not work here";
  EXPECT_EQ(o.code, 2) << o.out << o.err;
  const Json passed_over = Json::parse(o.out, nullptr, false)["passed_over"];
  ASSERT_EQ(passed_over.size(), 2U) << o.out << o.err;
  for (const Json& p : passed_over) {
    EXPECT_EQ(p["broken"], true);
    EXPECT_TRUE(holds(p["reason"].get<std::string>(), "not enough memory")) << p;
  }
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

TEST(BenchSummary, HasNoColumnOfCsrForCsrItselfOrWhereThereIsNone) {
  for (const char* subject : {"csr", "ell"}) {
    krysol::apps::BenchReport only;
    only.matrix = "only";
    only.lines = {timed("serial csr", 4), timed(subject, 2)};
    ASSERT_EQ(krysol::apps::summary_subject(only), subject);
    const auto all = krysol::apps::compare({only, only});
    ASSERT_EQ(all.size(), 1U) << subject;
    EXPECT_EQ(all[0].over, "serial csr");
    const auto head = lines_of(krysol::apps::summary_head(only, 30)).at(1);
    EXPECT_TRUE(head.ends_with("  serial csr")) << head;
    const auto line = lines_of(krysol::apps::summary_line(only, 30)).at(0);
    EXPECT_TRUE(line.ends_with("        2.00")) << line;
    EXPECT_EQ(line.size(), head.size()) << line;
  }
}

/// A turn repeats what is too short for the clock, and takes what is long enough once.
TEST(InterleavedTiming, RepeatsShortProductsWithinATurn) {
  constexpr std::size_t count = 6;
  constexpr std::size_t slow = 5;
  constexpr int warm_up = 2;
  constexpr int turns = 3;
  std::array<int, count> calls{};
  std::vector<krysol::apps::Candidate> candidates(count);
  for (std::size_t k = 0; k < count; ++k) {
    candidates[k].multiply = [&calls, k] {
      if (k == slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++calls[k];
    };
  }
  krysol::apps::time_interleaved(candidates, warm_up, turns);
  int most = 0;  // of the short ones
  for (std::size_t k = 0; k < count; ++k) {
    const krysol::apps::Candidate& c = candidates[k];
    EXPECT_EQ(c.seconds.size(), static_cast<std::size_t>(turns)) << k;
    EXPECT_TRUE(c.transfer_seconds.empty()) << k;
    EXPECT_GE(c.repeats, 1) << k;
    EXPECT_LE(c.repeats, 1000) << k;
    EXPECT_GE(calls[k], 1 + (warm_up + turns) * c.repeats) << k;
    if (k != slow) most = std::max(most, c.repeats);
  }
  EXPECT_GT(most, 1);
  EXPECT_EQ(candidates[slow].repeats, 1);
  for (const double s : candidates[slow].seconds) EXPECT_GE(s, 1e-3);
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
    EXPECT_NEAR(mean["geometric_mean"], std::sqrt(product), 1e-12 * std::sqrt(product)) << over;
    EXPECT_NEAR(mean["lowest"], lowest, 1e-12 * lowest) << over;
  }
  for (const char* name : {"serial csr", "csr"}) EXPECT_EQ(others.count(name), 1U) << name;
  EXPECT_EQ(others.count("Eigen"), bench_on_host ? 1U : 0U);
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
  // No marker stands above another: each place is taken once in each panel.
  std::map<std::string, int> at_place;
  std::set<std::string> looks;
  int shown = 0;
  const std::regex marker(
      "<path class=\"(marker )?([a-z0-9]+)\" transform=\"translate\\(([-0-9.]+),"
      "[-0-9.]+\\)\" d=\"([^\"]+)\"");
  for (std::sregex_iterator m(svg.begin(), svg.end(), marker), end; m != end; ++m) {
    if ((*m)[1].matched) {
      ++at_place[(*m)[3]];
    } else {  // of the legend
      ++shown;
      looks.insert((*m)[2].str() + (*m)[4].str());
    }
  }
  EXPECT_EQ(static_cast<int>(at_place.size()), markers / 2);
  for (const auto& [x, times] : at_place) EXPECT_EQ(times, 2) << x;
  EXPECT_GT(shown, 10);
  EXPECT_EQ(static_cast<int>(looks.size()), shown);
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

}  // namespace
#endif
