// What benchmarks write of reports whose numbers are given: text, CSV, JSON, the picture. They are
// compared with what was read and looked at once, golden/bench_documents.txt and
// golden/bench_picture.svg. After a change that is meant: KRYSOL_WRITE_GOLDEN=1, and look again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include "apps/bench/bench_summary.hpp"
#include "apps/bench/gemm.hpp"
#include "programs.hpp"

#ifdef KRYSOL_SPMV_BENCH
namespace {

using namespace krysol::apps;

BenchLine bench_line(const std::string& name, double seconds, std::int64_t bytes) {
  BenchLine line;
  line.name = name;
  line.bytes = bytes;
  line.product = {seconds, 0.9 * seconds, 1.3 * seconds};
  line.convert_seconds = name == "serial csr" ? 0 : 7.25 * seconds;
  return line;
}

/// Three matrices: with peers, vectors and a choice; with errors and transfers; reordered, and
/// larger. The same candidates in each.
std::vector<BenchReport> bench_reports() {
  std::vector<BenchReport> reports;
  const std::vector<std::string> names = {"/data/of/a/b_123456789012345678901234567890.mtx.gz",
                                          "poisson:30", "c,\"d\".mtx"};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double unit = std::vector<double>{3.21e-5, 1.234e-3, 0.0567}[k];
    BenchReport r;
    r.matrix = names[k];
    r.scalar = "double";
    r.where = "OpenMP, 2 threads";
    r.rows = std::vector<std::int64_t>{812, 27000, 3000000}[k];
    r.cols = r.rows;
    r.nnz = 7 * r.rows + 11;
    r.turns = 9;
    const std::int64_t bytes = 12 * r.nnz + 24 * r.rows;
    r.lines = {bench_line("serial csr", 2.5 * unit, bytes),
               bench_line("csr", unit, bytes),
               bench_line("ell", 0.8 * unit, bytes + 96),
               bench_line("sell_c_sigma", 0.75 * unit, bytes - 1000),
               bench_line("bsr", 0, 0),
               bench_line(k == 1 ? "auto: ell" : "auto: sell_c_sigma:512", 0.77 * unit, bytes),
               bench_line("MKL", 0.9 * unit, bytes),
               bench_line("Eigen", (k == 2 ? 0.7 : 1.9) * unit, bytes)};
    r.lines[4].refused = "bsr: 1.00 indices for each nonzero";
    r.lines[6].peer = r.lines[7].peer = true;
    for (BenchLine& line : r.lines) {
      if (line.product.median > 0) line.speed_up = r.lines[0].product.median / line.product.median;
    }
    reports.push_back(r);
  }
  for (BenchReport& r : reports) r.vectors = 8;
  for (std::size_t l = 1; l < 4; ++l) {
    BenchLine& line = reports[0].lines[l];
    line.several = {3.1 * line.product.median, 3 * line.product.median, 4 * line.product.median};
    line.several_over_one = 3.1;
  }
  krysol::FormatChoice choice;
  choice.name = "sell_c_sigma:512";
  choice.reason = "1.30 times the speed of csr; the conversion pays after 29 multiplications";
  choice.seconds = 0.00123;
  choice.trials = {
      {.name = "csr", .measured = true, .seconds = 3.3e-5, .bytes = 90000, .remark = {}},
      {.name = "sell_c_sigma:512",
       .measured = true,
       .seconds = 2.5e-5,
       .convert_seconds = 2.4e-4,
       .bytes = 88000,
       .break_even = 29.1,
       .remark = {}},
      {.name = "dia", .bytes = 5000000, .remark = "5.0 MB against 0.1 MB of csr"}};
  reports[0].choice = choice;
  reports[1].verified = true;
  reports[1].transfers = true;
  for (std::size_t l = 1; l < 6; ++l) {
    BenchLine& line = reports[1].lines[l];
    line.error = 1.5e-17 * static_cast<double>(l);
    line.with_transfers = {11 * line.product.median, 10 * line.product.median,
                           12 * line.product.median};
  }
  reports[1].lines[2].wrong = true;
  reports[1].lines[2].error = 0.25;
  reports[2].order.name = "rcm";
  reports[2].order.reason = "mean |i - j| 120 in place of 33000";
  reports[2].order.seconds = 1.5;
  reports[2].order.bandwidth_before = 33000;
  reports[2].order.bandwidth_after = 120;
  reports[2].bandwidth = {.triad = 43.21, .read = 38.7};
  for (BenchReport& r : reports) {
    if (r.order.name.empty()) r.order.name = "none";
  }
  return reports;
}

GemmReport gemm_report() {
  GemmReport r;
  r.x = 96;
  r.y = 128;
  r.z = 80;
  r.block = 16;
  r.scalar = "float";
  r.where = "OpenMP, 2 threads";
  r.verified = true;
  r.error_bound = 3.2e-6;
  r.transfers = true;
  r.turns = 7;
  GemmLine serial;
  serial.name = "serial";
  serial.product = {1.5e-3, 1.4e-3, 1.7e-3};
  serial.speed_up = 1;
  GemmLine tiled;
  tiled.name = "tiled";
  tiled.product = {2.5e-4, 2.4e-4, 3.1e-4};
  tiled.with_transfers = {4.5e-4, 4.2e-4, 5e-4};
  tiled.speed_up = 6;
  tiled.error = 1.2e-7;
  GemmLine wrong = tiled;
  wrong.name = "register";
  wrong.wrong = true;
  wrong.error = 0.5;
  GemmLine refused;
  refused.name = "lanes";
  refused.refused = "lanes: it needs a GPU, \"Cuda\" or HIP";
  GemmLine peer;
  peer.name = "Eigen";
  peer.peer = true;
  peer.product = {1.1e-4, 1e-4, 1.3e-4};
  r.lines = {serial, tiled, wrong, refused, peer};
  r.bandwidth = {.triad = 43.21, .read = 38.7};
  return r;
}

std::string golden(const std::string& name) {
  return std::string(KRYSOL_TEST_DIR) + "/apps/golden/" + name;
}

/// Numbers and what is between them.
struct Document {
  std::vector<double> numbers;
  std::string rest;

  explicit Document(const std::string& text) {
    const std::regex number("[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?");
    auto at = text.begin();
    for (std::sregex_iterator m(text.begin(), text.end(), number), end; m != end; ++m) {
      rest.append(at, (*m)[0].first);
      rest += '#';
      numbers.push_back(std::stod(m->str()));
      at = (*m)[0].second;
    }
    rest.append(at, text.end());
  }
};

/// The same but for the rounding of numbers, which differs between libraries of mathematics.
void expect_golden(const std::string& text, const std::string& name, double absolute,
                   double relative) {
  if (std::getenv("KRYSOL_WRITE_GOLDEN") != nullptr) {
    std::ofstream(golden(name), std::ios::binary) << text;
    GTEST_SKIP() << "written anew";
  }
  const Document mine(text);
  const Document wanted(krysol_tests::text_of(golden(name)));
  EXPECT_EQ(mine.rest, wanted.rest);
  ASSERT_EQ(mine.numbers.size(), wanted.numbers.size());
  for (std::size_t k = 0; k < mine.numbers.size(); ++k) {
    EXPECT_NEAR(mine.numbers[k], wanted.numbers[k], absolute + relative * wanted.numbers[k])
        << "number " << k;
  }
}

TEST(BenchDocuments, SayWhatTheyWereReadToSay) {
  const auto reports = bench_reports();
  std::string text;
  for (const BenchReport& r : reports) text += as_text(r, true) + "\n";
  text += "---- sizes\n" + speed_ups_as_text(reports);
  constexpr std::size_t width = 30;
  text += "---- summary\n" + summary_head(reports[0], width);
  for (const BenchReport& r : reports) text += summary_line(r, width);
  text += summary_end(reports, width);
  text += "---- csv\n" + as_csv(reports);
  text += "---- json\n" +
          as_json(reports, {{"e.mtx", "complex numbers", false}, {"f.mtx", "1:2: cut", true}}, "v");
  const GemmReport gemm = gemm_report();
  text += "---- gemm\n" + as_text(gemm) + as_csv(gemm) + as_json(gemm, "v");
  expect_golden(text, "bench_documents.txt", 0, 1e-12);
}

/// The columns are those of the first size, which may be the only one.
TEST(BenchDocuments, HaveTheColumnsOfTheFirstSize) {
  auto reports = bench_reports();
  const auto one = krysol_tests::lines_of(speed_ups_as_text({reports[0]}));
  ASSERT_EQ(one.size(), 6U) << "two tables of a title, the names and a size";
  EXPECT_EQ(one[1].size(), one[2].size()) << one[1] << '\n' << one[2];
  reports[1].lines.resize(3);  // as if it had fewer candidates
  const auto several = krysol_tests::lines_of(speed_ups_as_text(reports));
  EXPECT_EQ(several.at(1), one[1]);
  EXPECT_TRUE(one[1].ends_with("Eigen")) << one[1];
}

/// A time of 0 is no time: nothing is divided by it.
TEST(BenchDocuments, MakeNoFigureOfATimeOfZero) {
  GemmReport r = gemm_report();
  r.lines.resize(1);
  r.lines[0].product = {};
  const auto json = krysol_tests::Json::parse(as_json(r, "v"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["lines"][0]["GFLOP_per_s"], 0);
  EXPECT_TRUE(krysol_tests::holds(as_csv(r), ",0.000000e+00,0,")) << as_csv(r);
  EXPECT_FALSE(krysol_tests::holds(as_text(r), "inf")) << as_text(r);
}

/// Whatever columns there are, each line ends where its last heading does.
TEST(BenchDocuments, HaveANumberBelowEachHeading) {
  for (const int vectors : {0, 1, 2, 8}) {
    for (const bool transfers : {false, true}) {
      for (const bool verified : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", vectors, transfers, verified));
        BenchReport r = bench_reports()[0];
        r.vectors = vectors;
        r.transfers = transfers;
        r.verified = verified;
        const auto lines = krysol_tests::lines_of(as_text(r, false));
        std::size_t heading = 0;
        while (heading < lines.size() && !lines[heading].starts_with("y = A x")) ++heading;
        ASSERT_LT(heading + r.lines.size(), lines.size());
        for (std::size_t k = 0; k < r.lines.size(); ++k) {
          if (!r.lines[k].refused.empty()) continue;
          const bool has_error = verified && k > 0 && !r.lines[k].peer;
          const std::size_t without = verified && !has_error ? 11 : 0;  // columns of the error
          const std::string& line = lines[heading + 1 + k];
          EXPECT_EQ(line.size(), lines[heading].size() - without) << lines[heading] << '\n' << line;
        }
      }
    }
  }
}

/// One vector is a number of vectors too: its column is there, in all lines of a table.
TEST(BenchDocuments, HaveAColumnForAnyNumberOfVectors) {
  constexpr std::size_t width = 60;  // of the names, none of which is longer
  for (const int vectors : {0, 1, 2, 100}) {
    SCOPED_TRACE(vectors);
    auto reports = bench_reports();
    for (BenchReport& r : reports) r.vectors = vectors;
    const std::string what = of_vectors(vectors);
    const auto head = krysol_tests::lines_of(summary_head(reports[0], width));
    ASSERT_EQ(head.size(), 2U);
    EXPECT_EQ(krysol_tests::holds(head[1], "  " + what + "/one"), vectors > 0) << head[1];
    for (const BenchReport& r : reports) {
      const auto line = krysol_tests::lines_of(summary_line(r, width));
      ASSERT_EQ(line.size(), 1U);
      EXPECT_EQ(line[0].size(), head[1].size()) << head[1] << '\n' << line[0];
      EXPECT_EQ(krysol_tests::holds(as_text(r, false), what + " ms"), vectors > 0);
      EXPECT_EQ(krysol_tests::holds(as_text(r, false), what + " multiplied at once"), vectors > 0);
    }
    for (const std::string& line : krysol_tests::lines_of(summary_end(reports, width))) {
      EXPECT_EQ(line.size(), head[1].size()) << head[1] << '\n' << line;
    }
    EXPECT_EQ(krysol_tests::holds(speed_ups_as_text(reports), "time for " + what + " at once"),
              vectors > 0);
  }
}

TEST(BenchDocuments, ThePictureIsTheOneThatWasLookedAt) {
  expect_golden(as_svg(bench_reports()), "bench_picture.svg", 0.11, 0);  // tenths of a pixel
}

/// Of reports that differ it names what the first says.
TEST(BenchDocuments, ThePictureIsHeadedByItsFirstReport) {
  auto reports = bench_reports();
  for (std::size_t k = 1; k < reports.size(); ++k) {
    reports[k].scalar = "float";
    reports[k].where = "elsewhere";
    reports[k].turns = 5;
  }
  for (const std::size_t n : {3U, 2U, 1U}) {
    reports.resize(n);
    const std::string svg = as_svg(reports);
    EXPECT_TRUE(
        krysol_tests::holds(svg, fmt::format(">y = A x on {} {}, double, OpenMP, 2 threads<", n,
                                             n == 1 ? "matrix" : "matrices")))
        << n;
    EXPECT_TRUE(krysol_tests::holds(svg, "candidates by turns, medians of 9 turns")) << n;
  }
}

TEST(BenchDocuments, ThePictureSaysHowManyNonzerosInFewDigits) {
  const std::pair<std::int64_t, const char*> cases[] = {{0, "0"},           {7, "7"},
                                                        {999, "999"},       {1000, "1 k"},
                                                        {189011, "189 k"},  {999999, "1000 k"},
                                                        {1000000, "1.0 M"}, {2340000, "2.3 M"},
                                                        {9940000, "9.9 M"}, {9999999, "10.0 M"},
                                                        {10000000, "10 M"}, {21000011, "21 M"}};
  for (const auto& [nonzeros, text] : cases) {
    BenchReport r = bench_reports()[1];
    r.nnz = nonzeros;
    EXPECT_TRUE(krysol_tests::holds(as_svg({r}), fmt::format(">poisson:30, {}</text>", text)))
        << nonzeros;
  }
}

/// A line across a panel only where there is something to hold figures against.
TEST(BenchDocuments, ThePictureMarksNoBandwidthThatWasNotMeasured) {
  const auto count = [](const std::string& svg, const std::string& part) {
    int found = 0;
    for (auto at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  auto reports = bench_reports();
  const std::string with = as_svg(reports);
  for (BenchReport& r : reports) r.bandwidth.reset();
  const std::string without = as_svg(reports);
  for (const char* part : {"stroke-dasharray", "class=\"halo\""}) {
    EXPECT_EQ(count(with, part), 2) << part;
    EXPECT_EQ(count(without, part), 1) << part;
  }
  EXPECT_TRUE(krysol_tests::holds(with, "reading memory"));
  EXPECT_FALSE(krysol_tests::holds(without, "reading memory"));
}

}  // namespace
#endif
