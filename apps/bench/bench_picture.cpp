// The picture of a benchmark: SVG by hand, self-contained, for light and dark screens and for
// print. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include <krysol/report/html/escaped.hpp>
#include "bench/bench_summary.hpp"

namespace krysol::apps {
namespace {

/// A file's name without folder and endings; a problem as it is.
std::string short_name(const std::string& matrix) {
  std::string name = matrix.substr(matrix.rfind('/') + 1);
  const auto ending = name.rfind(".mtx");
  if (ending != std::string::npos && ending > 0) name.resize(ending);
  constexpr std::size_t longest = 24;
  // Cut between characters, not within one.
  if (name.size() > longest) {
    std::size_t at = longest - 2;
    while (at > 0 && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80) --at;
    name.resize(at);
    name += "..";
  }
  return name;
}

std::string thousands(std::int64_t n) {
  if (n >= 10000000) return fmt::format("{:.0f} M", static_cast<double>(n) / 1e6);
  if (n >= 1000000) return fmt::format("{:.1f} M", static_cast<double>(n) / 1e6);
  if (n >= 1000) return fmt::format("{:.0f} k", static_cast<double>(n) / 1e3);
  return fmt::format("{}", n);
}

std::string label(const BenchReport& r) {
  return fmt::format("{}, {}", short_name(r.matrix), thousands(r.nnz));
}

/// A candidate's marker: a colour, of Okabe and Ito's set for all kinds of eyes and then of Tol's
/// muted one, and a shape. No two of fifty have both alike.
struct Marker {
  std::string name;
  std::size_t shape = 0;
  std::string style;  // a class of the style sheet
};

constexpr std::array<const char*, 5> shapes = {"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
                                               "M-3.5,-3.5h7v7h-7z", "M0,-4.6L4.3,3.4H-4.3z",
                                               "M0,-5L5,0L0,5L-5,0z", "M0,4.6L4.3,-3.4H-4.3z"};
constexpr const char* ring = "M-6.5,0a6.5,6.5 0 1,0 13,0a6.5,6.5 0 1,0 -13,0z";
constexpr const char* dash = "M-7,0h14";
constexpr std::array<const char*, 10> colours = {"#e69f00", "#56b4e9", "#009e73", "#cc79a7",
                                                 "#0072b2", "#d55e00", "#999933", "#44aa99",
                                                 "#aa4499", "#88ccee"};

constexpr const char* style_sheet = R"(<style>
  .paper { fill: #ffffff } .ink { fill: #222222 } .line { stroke: #222222 } .grid { stroke: #dddddd }
  .auto, .serial, .peer { fill: none; stroke: #222222; stroke-width: 1.6 }
  .spread { stroke-opacity: 0.55; stroke-width: 1 } text { font: 12px sans-serif }
  .halo { stroke: #ffffff; stroke-width: 4; paint-order: stroke }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #16181d } .ink { fill: #e6e6e6 } .line { stroke: #e6e6e6 } .grid { stroke: #3a3f47 }
    .auto, .serial, .peer { stroke: #e6e6e6 } .halo { stroke: #16181d }
  }
  @media print {
    .paper { fill: #ffffff } .ink { fill: #000000 } .line { stroke: #000000 } .grid { stroke: #cccccc }
    .auto, .serial, .peer { stroke: #000000 } .halo { stroke: #ffffff }
  }
)";

/// All candidates of the reports in the order of their first lines.
std::vector<Marker> markers_of(const std::vector<BenchReport>& reports) {
  std::vector<Marker> markers;
  std::size_t formats = 0;
  std::size_t peers = 0;
  for (const BenchReport& r : reports) {
    for (std::size_t k = 0; k < r.lines.size(); ++k) {
      const std::string name(candidate(r.lines[k]));
      const bool known = std::any_of(markers.begin(), markers.end(),
                                     [&](const Marker& m) { return m.name == name; });
      if (known) continue;
      if (k == 0) {
        markers.push_back({name, 0, "serial"});
      } else if (name == "auto") {
        markers.push_back({name, 0, "auto"});
      } else if (r.lines[k].peer) {
        markers.push_back({name, 1 + peers++ % 4, "peer"});
      } else {
        const std::size_t shape = (formats + formats / colours.size()) % shapes.size();
        markers.push_back({name, shape, fmt::format("f{}", formats % colours.size())});
        ++formats;
      }
    }
  }
  return markers;
}

const char* path_of(const Marker& m) {
  return m.style == "auto" ? ring : m.style == "serial" ? dash : shapes[m.shape];
}

std::string drawn(const Marker& m, double x, double y, const std::string& title) {
  return fmt::format(
      "<path class=\"marker {}\" transform=\"translate({:.1f},{:.1f})\" d=\"{}\">"
      "<title>{}</title></path>\n",
      m.style, x, y, path_of(m), html::escaped(title));
}

/// `more`: attributes besides.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view more = {}) {
  return fmt::format(
      "<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
      anchor, more, html::escaped(text));
}

/// A logarithmic axis from bottom to top.
struct Axis {
  double low = 0;
  double high = 0;
  double bottom = 0;
  double top = 0;
  double at(double v) const {
    const double share = (std::log(v) - std::log(low)) / (std::log(high) - std::log(low));
    return bottom - (bottom - top) * std::clamp(share, 0.0, 1.0);
  }
};

/// Where columns are, and the candidates of each: side by side in the order of the legend, so that
/// no marker hides another.
struct Place {
  double left = 70;
  double right = 0;
  double step = 0;
  std::size_t candidates = 1;
  double x(std::size_t column) const { return left + step * (static_cast<double>(column) + 0.5); }
  double apart() const { return std::min(0.85 * step / static_cast<double>(candidates), 24.0); }
  double x(std::size_t column, std::size_t candidate) const {
    const double middle = 0.5 * (static_cast<double>(candidates) - 1);
    return x(column) + apart() * (static_cast<double>(candidate) - middle);
  }
  bool has_room_for_spread() const { return apart() >= 3; }
};

/// What one of the two panels shows: a figure that falls with the seconds of a product.
struct Panel {
  std::string title;
  std::string unit;
  double mark = 0;  // a line across, where above 0
  std::string mark_name;
  double (*figure)(const BenchReport& r, const BenchLine& line, double seconds) = nullptr;
};

double rate(const BenchReport&, const BenchLine& line, double seconds) {
  return static_cast<double>(line.bytes) / seconds / 1e9;
}

const BenchLine& baseline(const BenchReport& r) {
  const BenchLine* csr = find_line(r, "csr");
  return csr != nullptr ? *csr : r.lines[0];
}

double speed_up(const BenchReport& r, const BenchLine&, double seconds) {
  return baseline(r).product.median / seconds;
}

bool has_figure(const BenchLine& line) { return line.refused.empty() && line.product.median > 0; }

Axis axis_of(const Panel& panel, const std::vector<const BenchReport*>& columns, double top,
             double bottom) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const BenchReport* r : columns) {
    for (const BenchLine& line : r->lines) {
      if (!has_figure(line)) continue;
      const double v = panel.figure(*r, line, line.product.median);
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
  if (panel.mark > 0) {
    low = std::min(low, panel.mark);
    high = std::max(high, panel.mark);
  }
  if (!(high > 0)) low = high = 1;
  return {low / 1.25, high * 1.25, bottom, top};
}

std::string grid(const Axis& axis, const Place& place) {
  // 1, 2, 5 of each power of ten; only the powers where there are many of them, more where few.
  const double powers = std::log10(axis.high / axis.low);
  const auto digits = powers > 3     ? std::vector<double>{1}
                      : powers > 1.2 ? std::vector<double>{1, 2, 5}
                                     : std::vector<double>{1, 1.5, 2, 3, 4, 5, 7};
  std::string out;
  for (int power = -9; power < 10; ++power) {
    for (const double digit : digits) {
      const double v = digit * std::pow(10.0, power);
      if (v < axis.low || v > axis.high) continue;
      out += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>\n", place.left,
                         axis.at(v), place.right);
      out += text_at(place.left - 8, axis.at(v) + 4, "end", fmt::format("{:g}", v));
    }
  }
  return out;
}

std::string draw(const Panel& panel, const std::vector<const BenchReport*>& columns,
                 const std::vector<Marker>& markers, const Place& place, double top,
                 double bottom) {
  const Axis axis = axis_of(panel, columns, top, bottom);
  std::string out = text_at(place.left, top - 10, "start", panel.title);
  out += grid(axis, place);
  for (std::size_t c = 1; c < columns.size(); ++c) {  // between columns
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}V{:.1f}\"/>\n",
                       place.x(c) - 0.5 * place.step, top, bottom);
  }
  out += fmt::format("<path class=\"line\" fill=\"none\" d=\"M{:.1f},{:.1f}V{:.1f}H{:.1f}\"/>\n",
                     place.left, top, bottom, place.right);
  if (panel.mark > 0) {
    out +=
        fmt::format("<path class=\"line\" stroke-dasharray=\"6 4\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>\n",
                    place.left, axis.at(panel.mark), place.right);
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const BenchReport& r = *columns[c];
    for (std::size_t k = 0; k < markers.size(); ++k) {
      const Marker& m = markers[k];
      const BenchLine* line = find_line(r, m.name);
      if (line == nullptr || !has_figure(*line)) continue;
      const double v = panel.figure(r, *line, line->product.median);
      const double x = place.x(c, k);
      if (line->product.low > 0 && place.has_room_for_spread()) {
        out += fmt::format("<path class=\"spread {}\" d=\"M{:.1f},{:.1f}V{:.1f}\"/>\n", m.style, x,
                           axis.at(panel.figure(r, *line, line->product.high)),
                           axis.at(panel.figure(r, *line, line->product.low)));
      }
      out += drawn(m, x, axis.at(v),
                   fmt::format("{}, {}: {:.3g} {}", r.matrix, line->name, v, panel.unit));
    }
  }
  if (panel.mark > 0) {
    out += "<g class=\"halo\">" +
           text_at(place.right - 4, axis.at(panel.mark) - 5, "end", panel.mark_name) + "</g>\n";
  }
  return out;
}

}  // namespace

std::string as_svg(const std::vector<BenchReport>& reports) {
  std::vector<const BenchReport*> columns;
  for (const BenchReport& r : reports) columns.push_back(&r);
  std::stable_sort(columns.begin(), columns.end(),
                   [](const BenchReport* p, const BenchReport* q) { return p->nnz < q->nnz; });
  const std::vector<Marker> markers = markers_of(reports);
  const auto count = static_cast<double>(std::max<std::size_t>(columns.size(), 1));

  double longest_label = 0;
  for (const BenchReport* r : columns) {
    longest_label = std::max(longest_label, static_cast<double>(label(*r).size()));
  }

  Place place;
  place.candidates = std::max<std::size_t>(markers.size(), 1);
  place.step = std::clamp(1600 / count, 14.0, 24.0 * static_cast<double>(place.candidates));
  place.right = place.left + std::max(place.step * count, 360.0);
  place.step = (place.right - place.left) / count;
  const double legend = place.right + 24;
  const double width = legend + 160;
  constexpr double panel_height = 280;
  constexpr double first_top = 84;
  const double panels_end = first_top + 2 * panel_height + 50;
  const double height = std::max(panels_end + 50 + 5.4 * longest_label,
                                 first_top + 20.0 * static_cast<double>(markers.size()) + 40);

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>y = A x in every format</title>\n",
      width, height);
  out += style_sheet;
  for (std::size_t k = 0; k < colours.size(); ++k) {
    out += fmt::format("  .f{0} {{ fill: {1}; stroke: {1} }}\n", k, colours[k]);
  }
  out += "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
  if (!reports.empty()) {
    out += text_at(place.left, 26, "start",
                   fmt::format("y = A x on {} {}, {}, {}", reports.size(),
                               reports.size() == 1 ? "matrix" : "matrices", reports[0].scalar,
                               reports[0].where),
                   " style=\"font-size:16px\"");
    out += text_at(
        place.left, 46, "start",
        fmt::format(
            "candidates by turns, medians of {} turns{}", reports[0].turns,
            place.has_room_for_spread() ? "; thin lines from the 10th to the 90th percentile" : ""),
        " style=\"font-size:11px\"");
  }

  Panel speed{"speed-up over csr", "times csr", 1, "csr", &speed_up};
  if (!reports.empty() && find_line(reports[0], "csr") == nullptr) {
    speed.title = "speed-up over the serial reference";
    speed.unit = "times the serial reference";
    speed.mark_name = "serial";
  }
  Panel bytes{"GB/s, by the bytes of each format", "GB/s", 0, {}, &rate};
  for (const BenchReport& r : reports) {
    if (!r.bandwidth) continue;
    bytes.mark = r.bandwidth->read;
    bytes.mark_name = fmt::format("reading memory, {:.3g} GB/s", bytes.mark);
  }
  out += draw(speed, columns, markers, place, first_top, first_top + panel_height);
  out += draw(bytes, columns, markers, place, panels_end - panel_height, panels_end);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double x = place.x(c) + 4;
    const double y = panels_end + 14;
    out += text_at(x, y, "end", label(*columns[c]),
                   fmt::format(" transform=\"rotate(-60 {:.1f} {:.1f})\"", x, y));
  }
  out += text_at((place.left + place.right) / 2, height - 12, "middle",
                 "matrices by their numbers of nonzeros");
  double y = first_top + 8;
  for (const Marker& m : markers) {
    out += fmt::format("<path class=\"{}\" transform=\"translate({:.1f},{:.1f})\" d=\"{}\"/>\n",
                       m.style, legend, y, path_of(m));
    out += text_at(legend + 16, y + 4, "start", m.name);
    y += 20;
  }
  return out + "</svg>\n";
}

}  // namespace krysol::apps
