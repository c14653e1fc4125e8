// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/page.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <krysol/report/html/escaped.hpp>
#include <page_assets.hpp>  // made from page.css and page.js

namespace krysol::report::html {
namespace {

bool is_number(std::string_view text) {
  constexpr std::string_view within = "0123456789.,+-e %x";
  return !text.empty() && (text.front() == '-' || (text.front() >= '0' && text.front() <= '9')) &&
         text.find_first_not_of(within) == std::string_view::npos;
}

}  // namespace

std::string document(std::string_view title, std::string_view body) {
  const std::string name = escaped(title);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // Nothing is loaded, whatever a matrix is named.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n";
  out += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n", name, page_css);
  out += fmt::format(
      "<header><a class=\"skip\" href=\"#main\">To the content</a><h1>{}</h1>\n"
      "<button type=\"button\" id=\"theme\" hidden>Light or dark</button></header>\n"
      "<main id=\"main\">\n{}</main>\n",
      name, body);
  out += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", page_js);
  return out;
}

std::string section(std::string_view id, std::string_view heading, std::string_view content) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n{2}</section>\n",
      id, escaped(heading), content);
}

std::string scrolled(std::string_view label, std::string_view content) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n{}</div>\n",
      escaped(label), content);
}

std::string figure(const Chart& chart, std::string_view caption) {
  std::string out = "<figure>\n" + scrolled(chart.title, as_svg(chart));
  out += fmt::format("<figcaption><strong>{}</strong>{}{}</figcaption>\n</figure>\n",
                     escaped(chart.title), caption.empty() ? "" : ". ", escaped(caption));
  return out;
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : list) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
  }
  return out + "</dl>\n";
}

std::string bars(std::string_view caption, std::string_view names, std::string_view texts,
                 const std::vector<Bar>& list) {
  std::string out = fmt::format(
      "<table class=\"bars\">\n<caption>{0}</caption>\n<thead><tr><th scope=\"col\">{1}</th>"
      "<td></td><th scope=\"col\">{2}</th></tr></thead>\n<tbody>\n",
      escaped(caption), escaped(names), escaped(texts));
  for (const Bar& b : list) {
    const double begin = std::clamp(b.begin, 0.0, 1.0);
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"bar\"><span style=\"margin-left:{:.2f}%;"
        "width:{:.2f}%\"></span></td><td class=\"number\">{}</td></tr>\n",
        escaped(b.name), 100 * begin, 100 * std::clamp(b.length, 0.0, 1 - begin), escaped(b.text));
  }
  return scrolled(caption, out + "</tbody>\n</table>\n");
}

std::string table(std::string_view caption, const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string out = fmt::format("<table>\n<caption>{0}</caption>\n<thead><tr>", escaped(caption));
  for (const std::string& name : head) {
    out += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) {
      out +=
          fmt::format("<td{}>{}</td>", is_number(cell) ? " class=\"number\"" : "", escaped(cell));
    }
    out += "</tr>\n";
  }
  return scrolled(caption, out + "</tbody>\n</table>\n");
}

std::string command(std::string_view text) {
  return fmt::format(
      "<div class=\"command\"><pre tabindex=\"0\"><code>{}</code></pre>"
      "<button type=\"button\" class=\"copy\" hidden>Copy</button></div>\n",
      escaped(text));
}

}  // namespace krysol::report::html
