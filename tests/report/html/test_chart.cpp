// Charts and pages: what stands in them, and that nothing of a matrix's name becomes markup.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <krysol/report/html/chart.hpp>
#include <krysol/report/html/escaped.hpp>
#include <krysol/report/html/page.hpp>
#include <krysol/report/html/spy_cells.hpp>
#include <krysol/report/html/spy_svg.hpp>

namespace krysol::report::html {
namespace {

int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Chart, PutsTicksAtRoundNumbersWithinTheLimits) {
  using V = std::vector<double>;
  EXPECT_EQ(ticks_of(0, 10, Scale::linear), (V{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks_of(0, 4, Scale::linear), (V{0, 1, 2, 3, 4}));
  EXPECT_EQ(ticks_of(-1, 1, Scale::linear), (V{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(ticks_of(1, 1000, Scale::logarithmic), (V{1, 10, 100, 1000}));
  const V far = ticks_of(1e-16, 1e16, Scale::logarithmic);
  EXPECT_LE(far.size(), 9U);
  EXPECT_NEAR(far.front() / 1e-16, 1, 1e-9);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-1e3, 1e3);
  for (int k = 0; k < 1000; ++k) {
    const double a = any(random);
    const double b = a + std::abs(any(random)) + 1e-3;
    const V ticks = ticks_of(a, b, Scale::linear);
    ASSERT_GE(ticks.size(), 3U) << a << " " << b;
    ASSERT_LE(ticks.size(), 8U) << a << " " << b;
    ASSERT_GE(ticks.front(), a - 1e-9);
    ASSERT_LE(ticks.back(), b + 1e-9);
  }
}

TEST(Chart, DrawsPointsWhereTheyBelong) {
  Chart c;
  c.title = "A <b> & \"c\"";
  c.x = {"x"};
  c.y = {"y", Scale::logarithmic};
  c.series.push_back({"line", Series::Kind::line, {{0, 1}, {10, 100}}});
  c.series.push_back({"dots", Series::Kind::dots, {{5, 10, "here"}}});
  const std::string svg = as_svg(c);
  EXPECT_NE(svg.find("aria-label=\"A &lt;b&gt; &amp; &quot;c&quot;\""), std::string::npos) << svg;
  // x from 64 to 510 for 0 to 10; y in decades, so that 10 is halfway between 1 and 100
  std::smatch line;
  ASSERT_TRUE(std::regex_search(
      svg, line, std::regex("class=\"line s0\" d=\"M64.0,([0-9.]+)L510.0,([0-9.]+)\"")))
      << svg;
  std::smatch dot;
  ASSERT_TRUE(
      std::regex_search(svg, dot,
                        std::regex("class=\"dot s1\" transform=\"translate\\(287.0,([0-9.]+)\\)\" "
                                   "d=\"[^\"]+\"><title>here")))
      << svg;
  const double middle = (std::stod(line[1]) + std::stod(line[2])) / 2;
  EXPECT_NEAR(std::stod(dot[1]), middle, 0.11);
}

TEST(Chart, LeavesOutWhatHasNoPlace) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Chart c;
  c.y = {"y", Scale::logarithmic};
  c.series.push_back({"line", Series::Kind::line, {{0, 1}, {1, nan}, {2, 2}, {3, 0}, {4, 8}}});
  const std::string svg = as_svg(c);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  std::smatch line;
  ASSERT_TRUE(std::regex_search(svg, line, std::regex("class=\"line s0\" d=\"(M64[^\"h]*)\"")));
  EXPECT_EQ(count_of(line[1], "M"), 3) << line[1];
  c.series[0].points = {{nan, 1}};
  EXPECT_NE(as_svg(c).find("Nothing to draw"), std::string::npos);
  c.series.clear();
  EXPECT_NE(as_svg(c).find("Nothing to draw"), std::string::npos);
}

TEST(Chart, DrawsOneValueAndStepsAndLevels) {
  Chart c;
  c.series.push_back({"s", Series::Kind::steps, {{1, 5}, {2, 5}, {3, 5}}});
  c.levels.push_back({"goal", 5});
  const std::string svg = as_svg(c);
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  EXPECT_EQ(count_of(svg, "class=\"level\""), 1);
  EXPECT_NE(svg.find(">goal</text>"), std::string::npos);
}

TEST(Page, TakesNoMarkupFromNames) {
  EXPECT_EQ(escaped("<a href=\"x\">&\x01\xff"), "&lt;a href=&quot;x&quot;&gt;&amp; \xef\xbf\xbd");
  const std::string evil = "</script><script>alert(1)</script>";
  const std::string page =
      document(evil, section("id", evil,
                             facts({{evil, evil}}) + table(evil, {evil}, {{evil}}) +
                                 bars(evil, evil, evil, {{evil, 0, 1, evil}}) + command(evil)));
  EXPECT_EQ(count_of(page, "<script>"), 1) << "the page's own";
  EXPECT_EQ(count_of(page, "alert(1)</script>"), 0);
}

TEST(Page, AsksNoNetworkForAnything) {
  const std::string page = document("a", "b");
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Page, KeepsBarsWithinTheirTable) {
  const std::string html = bars("c", "n", "t", {{"a", 0.5, 2, "x"}, {"b", -1, 0.25, "y"}});
  EXPECT_NE(html.find("margin-left:50.00%;width:50.00%"), std::string::npos) << html;
  EXPECT_NE(html.find("margin-left:0.00%;width:25.00%"), std::string::npos) << html;
}

TEST(SpyCells, ComeBackFromTheirText) {
  std::mt19937 random(7);
  for (int k = 0; k < 200; ++k) {
    SpyCells cells;
    cells.height = 1 + static_cast<int>(random() % 9);
    cells.width = 1 + static_cast<int>(random() % 30);
    for (int p = 0; p < cells.height * cells.width; ++p) {
      const bool runs = k % 2 == 0 && p > 0 && random() % 4 != 0;
      cells.shades.push_back(runs ? cells.shades.back() : static_cast<std::uint8_t>(random() % 10));
    }
    const SpyCells back = decoded_spy(encoded(cells));
    ASSERT_EQ(back.height, cells.height);
    ASSERT_EQ(back.width, cells.width);
    ASSERT_EQ(back.shades, cells.shades) << encoded(cells);
  }
  EXPECT_EQ(encoded({}), "");
  EXPECT_FALSE(decoded_spy("").known());
}

TEST(SpyCells, RefuseWhatIsNone) {
  for (const char* const text :
       {"3", "3x", "3x3", "x3:", "0x3:", "3x0:", "-1x3:", "2x2:123", "2x2:11/11/11", "2x2:a",
        "2x2:*9d1", "2x2:*2", "2x2:*2d", "2x2:*-1d3", "99999x99999:", "99999999999x1:"}) {
    EXPECT_THROW(decoded_spy(text), std::invalid_argument) << text;
  }
}

TEST(SpyCells, AreDarkestWhereTheMatrixIsDensest) {
  krysol::report::SpyGrid grid;
  grid.rows = grid.cols = 4;
  grid.height = grid.width = 2;
  grid.stored = {4, 0, 1, 2};
  EXPECT_EQ(cells_of(grid).shades, (std::vector<std::uint8_t>{9, 0, 1, 5}));
  const std::string svg = as_svg(cells_of(grid), 4, 4, 7);
  EXPECT_NE(svg.find("opacity=\"1.00\" d=\"M0 0.5h1\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("4 rows, 4 columns, 7 nonzeros"), std::string::npos);
}

}  // namespace
}  // namespace krysol::report::html
