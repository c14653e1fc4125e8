// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/chart.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/core.h>

#include <krysol/report/html/escaped.hpp>

namespace krysol::report::html {
namespace {

constexpr double width = 520;
constexpr double left = 64;
constexpr double right = 510;
constexpr double legend_line = 18;
constexpr double plot_height = 260;
constexpr std::size_t looks = 8;  // of the style sheet: s0 to s7

constexpr std::array<const char*, 5> shapes = {"M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z",
                                               "M-3,-3h6v6h-6z", "M0,-4L4,3H-4z",
                                               "M0,-4.5L4.5,0L0,4.5L-4.5,0z", "M0,4L4,-3H-4z"};

bool shows(const Chart& c, const Point& p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (c.x.scale == Scale::linear || p.x > 0) &&
         (c.y.scale == Scale::linear || p.y > 0);
}

/// An axis with its limits, and where it lies.
struct Ruler {
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  double from = 0;  // pixels
  double to = 1;

  void widen() {
    if (scale == Scale::logarithmic) {
      low = std::pow(10.0, std::floor(std::log10(low) + 1e-9));
      high = std::pow(10.0, std::ceil(std::log10(high) - 1e-9));
      if (!(low < high)) high = 10 * low;
    } else {
      if (low > 0 && low < 0.5 * high) low = 0;
      if (!(low < high)) {
        const double by = low == 0 ? 1 : std::abs(low) / 2;
        low -= by;
        high += by;
      }
    }
  }
  double place(double v) const {
    const double share = scale == Scale::logarithmic ? (std::log10(v) - std::log10(low)) /
                                                           (std::log10(high) - std::log10(low))
                                                     : (v - low) / (high - low);
    return from + share * (to - from);
  }
};

std::string number(double v, Scale scale) {
  if (scale == Scale::logarithmic && (v < 1e-2 || v > 1e4)) {
    return fmt::format("1e{:.0f}", std::log10(v));
  }
  return fmt::format("{:.6g}", v);
}

std::string look(std::size_t series) { return fmt::format("s{}", series % looks); }

std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& more = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor,
                     more, escaped(text));
}

std::string path_of(const Chart& c, const Series& s, const Ruler& x, const Ruler& y) {
  std::string d;
  bool down = false;  // the pen
  double last_y = 0;
  for (const Point& p : s.points) {
    if (!shows(c, p)) {
      down = false;
      continue;
    }
    const double at_y = y.place(p.y);
    if (!down) {
      d += fmt::format("M{:.1f},{:.1f}", x.place(p.x), at_y);
    } else if (s.kind == Series::Kind::steps) {
      d += fmt::format("L{:.1f},{:.1f}L{:.1f},{:.1f}", x.place(p.x), last_y, x.place(p.x), at_y);
    } else {
      d += fmt::format("L{:.1f},{:.1f}", x.place(p.x), at_y);
    }
    last_y = at_y;
    down = true;
  }
  return d;
}

std::string drawn(const Chart& c, const Series& s, std::size_t k, const Ruler& x, const Ruler& y) {
  if (s.kind != Series::Kind::dots) {
    const std::string d = path_of(c, s, x, y);
    return d.empty() ? d : fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", look(k), d);
  }
  std::string out;
  for (const Point& p : s.points) {
    if (!shows(c, p)) continue;
    const std::string title =
        p.title.empty() ? "" : fmt::format("<title>{}</title>", escaped(p.title));
    out += fmt::format(
        "<path class=\"dot {}\" transform=\"translate({:.1f},{:.1f})\" d=\"{}\">{}</path>\n",
        look(k), x.place(p.x), y.place(p.y), shapes[k % shapes.size()], title);
  }
  return out;
}

/// Names of the series, in lines as wide as the chart. Returns where the chart begins.
double draw_legend(const Chart& c, std::string& out) {
  double x = left;
  double y = 14;
  for (std::size_t k = 0; k < c.series.size(); ++k) {
    const Series& s = c.series[k];
    if (s.name.empty()) continue;
    const double needs = 34 + 6.6 * static_cast<double>(s.name.size());
    if (x > left && x + needs > right) {
      x = left;
      y += legend_line;
    }
    out +=
        s.kind == Series::Kind::dots
            ? fmt::format(
                  "<path class=\"dot {}\" transform=\"translate({:.1f},{:.1f})\" d=\"{}\"/>",
                  look(k), x + 10, y - 4, shapes[k % shapes.size()])
            : fmt::format("<path class=\"line {}\" d=\"M{:.1f},{:.1f}h20\"/>", look(k), x, y - 4);
    out += text_at(x + 25, y, "start", s.name) + "\n";
    x += needs;
  }
  return y + 12;
}

std::string draw_axes(const Chart& c, const Ruler& x, const Ruler& y) {
  std::string out;
  for (const double v : ticks_of(y.low, y.high, y.scale)) {
    const double at = y.place(v);
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", x.from, at, x.to);
    out += text_at(x.from - 6, at + 4, "end", number(v, y.scale)) + "\n";
  }
  for (const double v : ticks_of(x.low, x.high, x.scale)) {
    const double at = x.place(v);
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}V{:.1f}\"/>", at, y.to, y.from);
    out += text_at(at, y.from + 16, "middle", number(v, x.scale)) + "\n";
  }
  out += fmt::format("<path class=\"frame\" d=\"M{:.1f},{:.1f}V{:.1f}H{:.1f}\"/>\n", x.from, y.to,
                     y.from, x.to);
  const double middle = (y.from + y.to) / 2;
  out += text_at((x.from + x.to) / 2, y.from + 34, "middle", c.x.label);
  out += text_at(14, middle, "middle", c.y.label,
                 fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
  return out + "\n";
}

}  // namespace

std::vector<double> ticks_of(double low, double high, Scale scale) {
  std::vector<double> out;
  if (scale == Scale::logarithmic) {
    const double first = std::ceil(std::log10(low) - 1e-9);
    const double last = std::floor(std::log10(high) + 1e-9);
    const auto count = static_cast<int>(last - first) + 1;
    const int step = std::max(1, (count + 7) / 8);
    for (int k = 0; k < count; k += step) out.push_back(std::pow(10.0, first + k));
    return out;
  }
  const double wanted = (high - low) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (const double by : {1.0, 2.0, 5.0}) {
    if (by * power >= 0.65 * wanted) {
      step = by * power;
      break;
    }
  }
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  const auto count = static_cast<int>(last - first) + 1;
  for (int k = 0; k < count; ++k) out.push_back((first + k) * step + 0.0);  // no -0
  return out;
}

std::string as_svg(const Chart& c) {
  Ruler x{c.x.scale, 0, 0, left, right};
  Ruler y{c.y.scale};
  bool any = false;
  const auto reach = [&](Ruler& ruler, double v, bool first) {
    ruler.low = first ? v : std::min(ruler.low, v);
    ruler.high = first ? v : std::max(ruler.high, v);
  };
  for (const Series& s : c.series) {
    for (const Point& p : s.points) {
      if (!shows(c, p)) continue;
      reach(x, p.x, !any);
      reach(y, p.y, !any);
      any = true;
    }
  }
  if (!any) return "<p class=\"empty\">Nothing to draw.</p>\n";
  for (const Level& l : c.levels) {
    if (std::isfinite(l.y) && (c.y.scale == Scale::linear || l.y > 0)) reach(y, l.y, false);
  }
  x.widen();
  y.widen();
  std::string legend;
  y.to = draw_legend(c, legend);
  y.from = y.to + plot_height;
  std::string out = fmt::format(
      "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-label=\"{}\">\n", width,
      y.from + 42, escaped(c.title + (c.description.empty() ? "" : ". " + c.description)));
  out += legend + draw_axes(c, x, y);
  for (const Level& l : c.levels) {
    if (!std::isfinite(l.y) || (c.y.scale == Scale::logarithmic && !(l.y > 0))) continue;
    const double at = y.place(l.y);
    out += fmt::format("<path class=\"level\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", x.from, at, x.to);
    out += text_at(x.to - 2, at - 4, "end", l.name, " class=\"halo\"") + "\n";
  }
  for (std::size_t k = 0; k < c.series.size(); ++k) out += drawn(c, c.series[k], k, x, y);
  return out + "</svg>\n";
}

}  // namespace krysol::report::html
