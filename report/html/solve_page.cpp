// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/html/solve_page.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <krysol/report/html/escaped.hpp>
#include <krysol/report/html/page.hpp>
#include <krysol/report/html/spy_svg.hpp>
#include <krysol/report/text.hpp>

namespace krysol::report::html {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

std::string whole(std::int64_t n) { return grouped(n); }

/// What the result rests on, in sentences.
std::string certificate(const Report& r) {
  const SolveResult& s = r.result;
  const char* const look = s.converged() ? "good" : s.status == Status::stagnated ? "warn" : "bad";
  std::string out = fmt::format(
      "<p class=\"lead\"><span class=\"{}\">{}</span>{}</p>\n", look, to_string(s.status),
      r.solved
          ? escaped(fmt::format(" after {}, {}", plural(s.iterations, "iteration", "iterations"),
                                time_text(r.seconds_to_solution)))
          : std::string(": nothing was solved"));
  out += fmt::format("<p>{}</p>\n", escaped(s.advice));
  if (!r.solved) return out;
  Facts list;
  list.emplace_back("|b - Ax|, computed from x", fmt::format("{:.6g}", s.residual));
  if (s.b_norm > 0)
    list.emplace_back("|b - Ax| / |b|", fmt::format("{:.6g}", s.residual / s.b_norm));
  list.emplace_back("tolerance for |b - Ax|", fmt::format("{:.6g}", s.target));
  if (r.error) list.emplace_back("|x - x*| / |x*|", fmt::format("{:.6g}", *r.error));
  if (s.attainable > 0)
    list.emplace_back("attainable with rounding", fmt::format("{:.6g}", s.attainable));
  if (s.restarts > 0) list.emplace_back("restarts from the true residual", whole(s.restarts));
  if (s.cg && !s.cg->flexible) {
    const ErrorBounds& e = s.cg->error;
    if (std::isfinite(e.lower)) {
      list.emplace_back(fmt::format("|x - x*|_A, {} before the last, at least",
                                    plural(e.delay, "iteration", "iterations")),
                        fmt::format("{:.3g}", e.lower));
    }
    if (std::isfinite(e.upper_estimate)) {
      list.emplace_back("|x - x*|_A, estimated", fmt::format("{:.3g}", e.upper_estimate));
    }
    if (std::isfinite(e.upper_bound)) {
      list.emplace_back("|x - x*|_A, at most (by --lambda-min)",
                        fmt::format("{:.3g}", e.upper_bound));
    }
  }
  out += facts(list);
  for (const std::string& note : r.notes)
    out += fmt::format("<p class=\"soft\">Note: {}</p>\n", escaped(note));
  return out;
}

/// Every so many points, first and last among them.
Series thinned(std::string name, const std::vector<double>& values, double by) {
  constexpr std::size_t most = 600;
  Series s{std::move(name)};
  const std::size_t step = std::max<std::size_t>(1, (values.size() + most - 1) / most);
  for (std::size_t k = 0; k < values.size(); k += step) {
    s.points.push_back({static_cast<double>(k), values[k] / by});
  }
  if (!values.empty() && (values.size() - 1) % step != 0) {
    s.points.push_back({static_cast<double>(values.size() - 1), values.back() / by});
  }
  return s;
}

bool any_known(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](double v) { return std::isfinite(v) && v > 0; });
}

std::string convergence_section(const Report& r) {
  const SolveResult& s = r.result;
  if (s.history.size() < 2) return {};
  const double b = s.b_norm > 0 ? s.b_norm : 1;
  Chart residuals;
  residuals.title = "Residual";
  residuals.description = "Norm of the residual relative to b, over the iterations";
  residuals.x = {"iteration"};
  residuals.y = {"|r| / |b|", Scale::logarithmic};
  residuals.series.push_back(thinned("of the recurrence", s.history, b));
  Series last{"true, of the x returned", Series::Kind::dots};
  last.points.push_back({static_cast<double>(s.iterations), s.residual / b,
                         fmt::format("|b - Ax| / |b| = {:.3e}", s.residual / b)});
  residuals.series.push_back(std::move(last));
  residuals.levels.push_back({"tolerance", s.target / b});
  std::string out = figure(
      residuals, "Where the recurrence meets the tolerance, b - Ax is computed; that decides.");
  if (s.cg && !s.cg->flexible) {
    const ErrorHistory& h = s.cg->error_history;
    const double size = s.cg->error.solution_norm > 0 ? s.cg->error.solution_norm : 1;
    Chart errors;
    errors.title = "Error in the A-norm";
    errors.description = "Bounds and estimate of the A-norm of x - x* relative to that of x*";
    errors.x = {"iteration"};
    errors.y = {"|x - x*|_A / |x*|_A", Scale::logarithmic};
    if (any_known(h.lower)) errors.series.push_back(thinned("lower bound", h.lower, size));
    if (any_known(h.upper_estimate))
      errors.series.push_back(thinned("upper estimate", h.upper_estimate, size));
    if (any_known(h.upper_bound))
      errors.series.push_back(thinned("upper bound", h.upper_bound, size));
    if (!errors.series.empty()) {
      out += figure(
          errors,
          "From the coefficients of the iteration itself; the upper one is an estimate unless "
          "--lambda-min is given.");
    }
  }
  return section("convergence", "Convergence", "<div class=\"figures\">\n" + out + "</div>\n");
}

std::string matrix_section(const Report& r, const MatrixPicture& p) {
  const MatrixSummary& m = r.matrix;
  Facts list = {
      {"file", file_and_member(m.file, m.member)},
      {"size", fmt::format("{} x {}, {}", whole(m.rows), whole(m.cols),
                           plural(m.nnz, "nonzero", "nonzeros"))},
      {"as declared",
       fmt::format("{} {}, {}", m.field, m.symmetry, plural(m.stored_entries, "entry", "entries"))},
      {"symmetric", m.symmetric
                        ? (m.asymmetry == 0 ? "exactly" : fmt::format("to {:.1e}", m.asymmetry))
                        : fmt::format("no: entries differ by {:.1e}", m.asymmetry)},
      {"diagonal",
       fmt::format("{} positive, {} negative, {} zero, {} missing; {:.4g} to {:.4g}",
                   whole(m.positive_diagonal), whole(m.negative_diagonal), whole(m.zero_diagonal),
                   whole(m.missing_diagonal), m.smallest_diagonal, m.largest_diagonal)},
      {"rows", fmt::format("{} to {} nonzeros", m.shortest_row, m.longest_row)}};
  if (m.duplicates > 0) list.emplace_back("duplicates, summed", whole(m.duplicates));
  if (m.explicit_zeros > 0) list.emplace_back("stored zeros", whole(m.explicit_zeros));
  for (const std::string& repair : m.repairs) list.emplace_back("repaired", repair);
  std::string out = facts(list) + "<div class=\"figures\">\n";
  if (p.spy.known()) {
    out += fmt::format(
        "<figure>{}<figcaption><strong>Where it has entries</strong>: darker is denser"
        "</figcaption></figure>\n",
        as_svg(p.spy, m.rows, m.cols, m.nnz));
  }
  const auto share = [](std::int64_t n, std::int64_t most) {
    return most > 0 ? static_cast<double>(n) / static_cast<double>(most) : 0;
  };
  std::vector<Bar> lengths;
  const std::int64_t most_rows =
      p.row_lengths.empty() ? 0 : *std::max_element(p.row_lengths.begin(), p.row_lengths.end());
  for (std::size_t bin = 0; bin < p.row_lengths.size(); ++bin) {
    if (p.row_lengths[bin] == 0) continue;
    const std::int64_t low = bin == 0 ? 0 : std::int64_t{1} << (bin - 1);
    lengths.push_back(
        {low <= 1 ? fmt::format("{}", low) : fmt::format("{} to {}", low, 2 * low - 1), 0,
         share(p.row_lengths[bin], most_rows), whole(p.row_lengths[bin])});
  }
  out += bars("Lengths of rows", "nonzeros", "rows", lengths);
  std::vector<Bar> sizes;
  std::int64_t most_values = p.zeros;
  for (const auto& [decade, count] : p.magnitudes) most_values = std::max(most_values, count);
  if (p.zeros > 0) sizes.push_back({"0", 0, share(p.zeros, most_values), whole(p.zeros)});
  for (const auto& [decade, count] : p.magnitudes) {
    sizes.push_back({fmt::format("1e{}", decade), 0, share(count, most_values), whole(count)});
  }
  out += bars("Sizes of values", "|a_ij| from", "entries", sizes);
  return section("matrix", "The matrix", out + "</div>\n");
}

std::string choices_section(const Report& r) {
  Facts list = {
      {"method", fmt::format("{} with {}", r.solver, r.preconditioner)},
      {"format", fmt::format("{}, {}{}", r.format, size(static_cast<double>(r.format_bytes)),
                             r.choice ? "; auto: " + r.choice->reason : "")},
      {"order of the rows",
       r.order.reason.empty() ? r.order.name : r.order.name + ": " + r.order.reason},
      {"right-hand side", r.rhs},
      {"starting guess", r.x0}};
  std::string out = facts(list);
  if (!r.trials.empty()) {
    const auto known = [](double v, const char* as) {
      return v > 0 && std::isfinite(v) ? fmt::format(fmt::runtime(as), v) : std::string();
    };
    std::vector<std::vector<std::string>> rows;
    for (const PreconditionerTrial& t : r.trials) {
      const bool predicted =
          t.predicted_cost > 0 && t.cost_without > 0 && std::isfinite(t.predicted_cost);
      rows.push_back({t.name, known(t.predicted_iterations, "{:.0f}"),
                      predicted ? fmt::format("{:.2g}", t.predicted_cost / t.cost_without) : "",
                      known(1e3 * t.setup_seconds, "{:.3g}"), fmt::format("{}", t.iterations),
                      known(1e3 * t.seconds, "{:.3g}"), known(t.first_residual, "{:.2e}"),
                      known(t.last_residual, "{:.2e}"), t.outcome});
    }
    out += table("Preconditioners that auto took, or looked at, in order",
                 {"name", "predicted iterations", "cost over going on", "setup ms", "iterations",
                  "ms", "|b - Ax| before", "after", "what became of it"},
                 rows);
  }
  if (r.choice) {
    std::vector<std::vector<std::string>> rows;
    for (const FormatTrial& t : r.choice->trials) {
      rows.push_back({t.name, t.measured ? fmt::format("{:.4g}", 1e3 * t.seconds) : "",
                      t.bytes > 0 ? size(static_cast<double>(t.bytes)) : "",
                      t.measured ? fmt::format("{:.3g}", 1e3 * t.convert_seconds) : "", t.remark});
    }
    out += table("Formats that auto held against each other",
                 {"format", "ms a product", "size", "ms to make", "remark"}, rows);
  }
  if (!r.preconditioner_facts.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : r.preconditioner_facts) rows.push_back({name, value});
    out += table("What " + r.preconditioner + " is made of", {"part", "value"}, rows);
  }
  return section("choices", "What was chosen, and why", out);
}

std::string spectrum_section(const Report& r) {
  if (!r.result.cg || !r.result.cg->spectrum.known()) return {};
  const Spectrum& s = r.result.cg->spectrum;
  const char* const of = r.preconditioner == "none" ? "A" : "M^-1 A";
  std::vector<std::vector<std::string>> rows;
  for (const RitzValue& v : s.values) {
    rows.push_back({fmt::format("{:.8g}", v.value), fmt::format("{:.1e}", v.residual),
                    v.converged ? "yes" : "no"});
  }
  std::string out = facts(
      {{fmt::format("smallest eigenvalue of {}", of),
        fmt::format("{:.6g} ({})", s.smallest.value, s.smallest.converged ? "converged" : "seen")},
       {fmt::format("largest eigenvalue of {}", of),
        fmt::format("{:.6g} ({})", s.largest.value, s.largest.converged ? "converged" : "seen")},
       {"condition", fmt::format("{}{:.4g}", s.at_least ? "at least " : "", s.condition)},
       {"steps that confirm the smallest, from a start of their own",
        fmt::format("{}", s.confirming_steps)}});
  out += table("Ritz values at both ends", {"value", "an eigenvalue is within", "converged"}, rows);
  return section("spectrum", "Spectrum", out);
}

/// What happened one after the other.
std::string timeline(const Report& r) {
  struct Part {
    std::string name;
    double seconds;
  };
  std::vector<Part> parts = {{"read", r.read.seconds}, {"convert", r.convert.seconds}};
  if (r.trials.empty()) {
    parts.push_back({"setup of " + r.preconditioner, r.setup.seconds});
    parts.push_back({plural(r.result.iterations, "iteration", "iterations"), r.result.seconds});
  }
  for (const PreconditionerTrial& t : r.trials) {
    if (t.setup_seconds > 0) parts.push_back({"setup of " + t.name, t.setup_seconds});
    if (t.iterations > 0) {
      parts.push_back(
          {fmt::format("{} with {}", plural(t.iterations, "iteration", "iterations"), t.name),
           t.seconds});
    }
  }
  double total = 0;
  for (const Part& p : parts) total += p.seconds;
  std::vector<Bar> list;
  double at = 0;
  for (const Part& p : parts) {
    if (p.seconds <= 0 || total <= 0) continue;
    list.push_back({p.name, at / total, p.seconds / total, time_text(p.seconds)});
    at += p.seconds;
  }
  return bars("One after the other, from left to right", "part", "time", list);
}

std::string work_section(const Report& r) {
  const SolveResult& s = r.result;
  const std::pair<const char*, const Counter*> kinds[] = {{"read", &r.read},
                                                          {"convert", &r.convert},
                                                          {"setup", &r.setup},
                                                          {"SpMV", &s.spmv},
                                                          {"vectors", &s.vectors},
                                                          {"preconditioner", &s.preconditioner},
                                                          {"true residuals", &s.residuals}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, w] : kinds) {
    if (w->calls == 0) continue;
    const bool rate = w->bytes > 0 && w->seconds > 0;
    rows.push_back({name, fmt::format("{:.6g}", w->seconds), fmt::format("{}", w->calls),
                    w->bytes > 0 ? fmt::format("{:.6g}", w->bytes) : "",
                    rate ? fmt::format("{:.3g}", w->bytes / w->seconds / 1e9) : ""});
  }
  std::string out =
      timeline(r) + table("Work", {"kind", "seconds", "calls", "bytes", "GB/s"}, rows);
  if (!r.profile.empty()) {
    std::vector<std::vector<std::string>> nodes;
    for (const ProfileNode& n : r.profile) {
      std::string name;
      for (int d = 0; d < n.depth; ++d) name += "\u00b7 ";
      nodes.push_back({name + n.name, fmt::format("{:.6g}", n.seconds), fmt::format("{}", n.calls),
                       n.bytes > 0 ? fmt::format("{:.6g}", n.bytes) : ""});
    }
    out += table("Regions and kernels", {"name", "seconds", "calls", "bytes"}, nodes);
  }
  if (!r.bandwidth) return section("work", "Where the time went", out);
  // Two operations a nonzero, eight where it is complex; of vectors, two for each of the five
  // updates and sums of a row and iteration, and one for the diagonal of M.
  const bool complex = r.matrix.field == "complex";
  const double by = complex ? 4 : 1;
  struct Kernel {
    const char* name;
    const Counter* work;
    double flops;
  };
  const auto rows_and_calls =
      static_cast<double>(r.matrix.rows) * static_cast<double>(s.iterations);
  constexpr double of_a_row = 11;
  const Kernel kernels[] = {
      {"SpMV", &s.spmv,
       2 * by * static_cast<double>(r.matrix.nnz) * static_cast<double>(s.spmv.calls)},
      {"vectors", &s.vectors, r.solver == "cg" ? of_a_row * by * rows_and_calls : 0}};
  Chart roof;
  roof.title = "Roofline";
  roof.description =
      "Arithmetic a second over arithmetic a byte, below the bandwidths measured in this run";
  roof.x = {"operations a byte", Scale::logarithmic};
  roof.y = {"10^9 operations a second", Scale::logarithmic};
  constexpr double least = 0.01;
  constexpr double most = 1;
  const auto line = [&](const char* name, double gigabytes) {
    roof.series.push_back({fmt::format("{}, {:.1f} GB/s", name, gigabytes),
                           Series::Kind::line,
                           {{least, least * gigabytes}, {most, most * gigabytes}}});
  };
  line("reading", r.bandwidth->read);
  line("triad", r.bandwidth->triad);
  bool any = false;
  for (const Kernel& k : kernels) {
    if (!(k.flops > 0) || !(k.work->bytes > 0) || !(k.work->seconds > 0)) continue;
    any = true;
    roof.series.push_back(
        {k.name,
         Series::Kind::dots,
         {{k.flops / k.work->bytes, k.flops / k.work->seconds / 1e9,
           fmt::format("{}: {:.3g} bytes in {:.3g} s, {:.3g} GB/s", k.name, k.work->bytes,
                       k.work->seconds, k.work->bytes / k.work->seconds / 1e9)}}});
  }
  if (any) {
    out += figure(
        roof, fmt::format(
                  "Measured with arrays of {}. Matrices that stay in a cache run above the lines; "
                  "the roof of arithmetic is far right of all sparse kernels.",
                  size(static_cast<double>(r.bandwidth->array_bytes))));
  }
  return section("work", "Where the time went", out);
}

}  // namespace

std::string solve_page(const Report& r, const MatrixPicture& picture,
                       const SolveCommands& commands) {
  std::string body = section("outcome", "Outcome", certificate(r));
  body += convergence_section(r);
  body += matrix_section(r, picture);
  body += choices_section(r);
  body += spectrum_section(r);
  body += work_section(r);
  std::string how = "<p class=\"soft\">As it was typed:</p>\n" + command(commands.as_typed);
  how +=
      "<p class=\"soft\">With what was chosen, which repeats it bit for bit on this kind of "
      "processor:</p>\n" +
      command(commands.repeats);
  how +=
      facts({{"program", r.version}, {"machine", machine_as_text(r.backend, r.threads, r.device)}});
  body += section("again", "Once more", how);
  return document(fmt::format("{}: {}", r.matrix.file, to_string(r.result.status)), body);
}

}  // namespace krysol::report::html
