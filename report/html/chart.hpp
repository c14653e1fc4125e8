// Charts as SVG, part of a page: their colours are those of its style sheet, for light and dark.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace krysol::report::html {

enum class Scale { linear, logarithmic };

struct Axis {
  std::string label;  // with its unit
  Scale scale = Scale::linear;
};

struct Point {
  double x = 0;
  double y = 0;
  std::string title{};  // of a dot: shown where the pointer rests
};

struct Series {
  enum class Kind { line, steps, dots };
  std::string name;
  Kind kind = Kind::line;
  std::vector<Point> points{};
};

/// A horizontal line across the chart, with its name.
struct Level {
  std::string name;
  double y = 0;
};

struct Chart {
  std::string title;
  std::string description;  // what is seen in it, for those who do not see it
  Axis x{};
  Axis y{};
  std::vector<Series> series{};  // eight have looks of their own
  std::vector<Level> levels{};
};

/// Places on an axis where numbers stand: 1, 2 or 5 times a power of ten, some five of them; of a
/// logarithmic axis powers of ten, at most some eight. Both limits finite, low < high; low > 0
/// where logarithmic.
std::vector<double> ticks_of(double low, double high, Scale scale);

/// One <svg> element. Points that are not finite, or not positive on a logarithmic axis, are left
/// out, and interrupt a line. Lines and dots differ by dashes and shapes too, not by colour alone.
std::string as_svg(const Chart& chart);

}  // namespace krysol::report::html
