// The parts of a page that is one HTML file: it opens from disk, and asks no network for anything.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <krysol/report/html/chart.hpp>

namespace krysol::report::html {

/// The whole file. title: plain text; body: HTML, which stands in <main> after an <h1> of the
/// title. Style sheet and script are in it, for light and dark screens, phones and print; tables of
/// class "sortable" sort by their buttons, see page.js.
std::string document(std::string_view title, std::string_view body);

/// A part of the page under a heading, which `id` leads to. `content` is HTML.
std::string section(std::string_view id, std::string_view heading, std::string_view content);

/// What is wider than a narrow screen, in a frame that scrolls, by the keyboard too. `content` is
/// HTML, `label` plain text that names the frame.
std::string scrolled(std::string_view label, std::string_view content);

/// A chart in a frame that scrolls where the screen is narrow, with a caption of plain text.
std::string figure(const Chart& chart, std::string_view caption = {});

/// Names and values, plain text.
std::string facts(const std::vector<std::pair<std::string, std::string>>& list);

/// A part of a whole: from `begin` on, `length` long, both 0 to 1.
struct Bar {
  std::string name;
  double begin = 0;
  double length = 0;
  std::string text;  // what the bar stands for, in numbers
};
/// A table with a bar a row: histograms and times. Plain text.
std::string bars(std::string_view caption, std::string_view names, std::string_view texts,
                 const std::vector<Bar>& list);

/// A table of plain text. Columns whose cells are numbers are set flush right.
std::string table(std::string_view caption, const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows);

/// What a user may type, to be copied.
std::string command(std::string_view text);

}  // namespace krysol::report::html
