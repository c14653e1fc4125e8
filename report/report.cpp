// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/report.hpp>

#include <cmath>

#include <fmt/core.h>

#include <krysol/report/choice_report.hpp>
#include <krysol/report/text.hpp>
#include <krysol/spmv/base/join.hpp>

namespace krysol::report {
namespace {

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.2f} ms", 1e3 * seconds) : fmt::format("{:.3f} s", seconds);
}

std::string symmetry(const MatrixSummary& m) {
  const std::string tolerance = fmt::format("checked to {:.0e}", m.symmetry_tolerance);
  if (m.rows != m.cols) return "not square";
  if (m.asymmetry == 0) return "symmetric, exactly";
  if (m.asymmetric_row == m.asymmetric_col) {
    return fmt::format("{} ({}): entry ({}, {}) on the diagonal is not real",
                       m.symmetric ? "symmetric" : "not symmetric", tolerance, m.asymmetric_row + 1,
                       m.asymmetric_col + 1);
  }
  return fmt::format("{} ({}): entries ({}, {}) and ({}, {}) differ by {:.1e} relatively",
                     m.symmetric ? "symmetric" : "not symmetric", tolerance, m.asymmetric_row + 1,
                     m.asymmetric_col + 1, m.asymmetric_col + 1, m.asymmetric_row + 1, m.asymmetry);
}

std::string diagonal(const MatrixSummary& m) {
  if (m.rows == 0) return "no rows";
  const std::string range =
      m.smallest_diagonal == m.largest_diagonal
          ? fmt::format("{:.4g}", m.smallest_diagonal)
          : fmt::format("{:.4g} to {:.4g}", m.smallest_diagonal, m.largest_diagonal);
  if (m.positive_diagonal == m.rows) return fmt::format("diagonal positive, {}", range);
  return fmt::format("diagonal {}: {} positive, {} negative, {} zero, {} missing", range,
                     grouped(m.positive_diagonal), grouped(m.negative_diagonal),
                     grouped(m.zero_diagonal), grouped(m.missing_diagonal));
}

std::string matrix_block(const Report& r) {
  const MatrixSummary& m = r.matrix;
  std::string out = line("matrix", file_and_member(m.file, m.member));
  out += line("", fmt::format("{} x {}, {} ({} {}, {} stored)", grouped(m.rows), grouped(m.cols),
                              plural(m.nnz, "nonzero", "nonzeros"), m.field, m.symmetry,
                              plural(m.stored_entries, "entry", "entries")));
  if (m.duplicates > 0) {
    out += line("", fmt::format("{} summed", plural(m.duplicates, "duplicate entry was",
                                                    "duplicate entries were")));
  }
  if (m.explicit_zeros > 0) {
    out += line("", fmt::format("{} zero, and kept",
                                plural(m.explicit_zeros, "stored entry is", "stored entries are")));
  }
  for (const std::string& repair : m.repairs) out += line("", fmt::format("repaired: {}", repair));
  out += line("", symmetry(m));
  out += line("", diagonal(m));
  const double mean = m.rows > 0 ? static_cast<double>(m.nnz) / static_cast<double>(m.rows) : 0;
  out += line(
      "", fmt::format(
              "rows of {} to {}, {:.1f} on average{}", m.shortest_row,
              plural(m.longest_row, "nonzero", "nonzeros"), mean,
              m.empty_rows > 0 ? fmt::format(", {} of them empty", grouped(m.empty_rows)) : ""));
  return out;
}

std::string work_line(std::string_view label, const Counter& w, double total) {
  if (w.calls == 0) return {};
  const bool rate = w.bytes > 0 && w.seconds > 0;
  return fmt::format("  {:<15}{:>11.3f}{:>7.1f} %{:>9}{:>12}{:>10}\n", label, 1e3 * w.seconds,
                     total > 0 ? 100 * w.seconds / total : 0, w.calls,
                     w.bytes > 0 ? size(w.bytes) : "-",
                     rate ? fmt::format("{:.1f}", w.bytes / w.seconds / 1e9) : "-");
}

std::string work_table(const Report& r) {
  const SolveResult& s = r.result;
  const double total = r.read.seconds + r.convert.seconds + r.setup.seconds + s.seconds;
  std::string out = fmt::format("  {:<15}{:>11}{:>9}{:>9}{:>12}{:>10}\n", "work", "ms", "share",
                                "calls", "bytes", "GB/s");
  out += work_line("read", r.read, total);
  out += work_line("convert", r.convert, total);
  out += work_line("setup", r.setup, total);
  out += work_line("SpMV", s.spmv, total);
  out += work_line("vectors", s.vectors, total);
  out += work_line("preconditioner", s.preconditioner, total);
  out += work_line("true residuals", s.residuals, total);
  if (s.preconditioner.calls == 0 && r.preconditioner != "none" && s.vectors.calls > 0) {
    out += fmt::format("  ({} is applied inside the vector loops)\n", r.preconditioner);
  }
  if (r.bandwidth) {
    out += fmt::format(
        "  bandwidth of this run, arrays of {}: triad {:.1f} GB/s, reading {:.1f} GB/s\n",
        size(static_cast<double>(r.bandwidth->array_bytes)), r.bandwidth->triad, r.bandwidth->read);
  }
  return out;
}

std::string spectrum_line(const Report& r) {
  if (r.result.cg && r.result.cg->flexible) {
    return line("", fmt::format("spectrum and |x - x*|_A: not known, {} is not the same linear map "
                                "in each call (flexible CG){}",
                                r.preconditioner,
                                r.lambda_min > 0 ? ", so that --lambda-min bounds nothing" : ""));
  }
  if (!r.result.cg || !r.result.cg->spectrum.known()) return {};
  const Spectrum& s = r.result.cg->spectrum;
  const auto end = [](const RitzValue& v) {
    return fmt::format("{:.4g} ({})", v.value, v.converged ? "converged" : "seen");
  };
  return line("", fmt::format("spectrum of {}: {} to {}, condition {}{:.3g}",
                              r.preconditioner == "none" ? "A" : "M^-1 A", end(s.smallest),
                              end(s.largest), s.at_least ? "at least " : "", s.condition));
}

std::string energy_lines(const Report& r) {
  if (!r.result.cg) return {};
  const ErrorBounds& e = r.result.cg->error;
  const auto relative = [&](double error) {
    return std::isnan(e.solution_norm) ? "" : fmt::format(" = {:.2e} |x*|_A", e.relative(error));
  };
  std::vector<std::string> parts;
  if (!std::isnan(e.upper_estimate)) {
    // Smaller eigenvalues than were seen would make it larger.
    const bool converged = r.result.cg->spectrum.smallest.converged;
    parts.push_back(fmt::format("estimated {:.2e}{}{}", e.upper_estimate,
                                relative(e.upper_estimate), converged ? "" : " or more"));
  }
  if (!std::isnan(e.lower)) {
    parts.push_back(fmt::format("{} iteration{} before it was {:.2e} or more", e.delay,
                                e.delay == 1 ? "" : "s", e.lower));
  }
  if (parts.empty()) return {};
  std::string out = line("", fmt::format("error |x - x*|_A: {}", join(parts, "; ")));
  if (e.lambda_min_refuted) {
    out += line("",
                fmt::format("no bound of it: --lambda-min {:.4g} is wrong, an eigenvalue no larger "
                            "than {:.4g} was seen",
                            r.lambda_min, r.result.cg->spectrum.smallest.value));
  }
  if (!std::isnan(e.upper_bound)) {
    out += line("", fmt::format("at most {:.2e}{}, given that no eigenvalue is below {:.4g}",
                                e.upper_bound, relative(e.upper_bound), r.lambda_min));
  }
  return out;
}

/// What `auto` tried, where that was more than one.
std::string trial_lines(const Report& r) {
  if (r.trials.size() < 2) return {};
  std::string out;
  for (const PreconditionerTrial& t : r.trials) {
    std::vector<std::string> parts;
    if (t.predicted_cost > 0 && t.cost_without > 0) {
      parts.push_back(std::isfinite(t.predicted_cost)
                          ? fmt::format("predicted to take {:.2g} of going on without it",
                                        t.predicted_cost / t.cost_without)
                          : std::string("looked at"));
    }
    if (t.setup_seconds > 0) parts.push_back(fmt::format("setup {}", duration(t.setup_seconds)));
    if (t.iterations > 0) {
      parts.push_back(fmt::format("{} iteration{} in {}", t.iterations,
                                  t.iterations == 1 ? "" : "s", duration(t.seconds)));
      parts.push_back(
          fmt::format("|b - Ax| from {:.1e} to {:.1e}", t.first_residual, t.last_residual));
    }
    parts.push_back(t.outcome);
    out +=
        line(&t == r.trials.data() ? "auto" : "", fmt::format("{}: {}", t.name, join(parts, ", ")));
  }
  out += line("", fmt::format("to repeat it: --precond {}", stages_as_text(r.trials)));
  return out;
}

std::string outcome_block(const Report& r) {
  const SolveResult& s = r.result;
  std::string out;
  if (!r.solved) {
    out += fmt::format("{}: nothing was solved\n", to_string(s.status));
  } else {
    out += fmt::format("{} after {} iteration{}, {}\n", to_string(s.status), s.iterations,
                       s.iterations == 1 ? "" : "s", duration(s.seconds));
    const std::string relative =
        s.b_norm > 0 ? fmt::format(" = {:.3e} |b|", s.residual / s.b_norm) : "";
    const bool projected = s.outside_range > 1e-12 * s.b_norm && s.status != Status::inconsistent;
    out += line("", fmt::format("true residual |{} - Ax| = {:.3e}{}", projected ? "Pb" : "b",
                                s.residual, relative));
    if (projected) {
      out += line("", fmt::format("Pb: b without its part outside the range of A, of norm {:.3e}",
                                  s.outside_range));
    }
    if (r.error) out += line("", fmt::format("error |x - x*| = {:.3e} |x*|", *r.error));
    out += energy_lines(r);
    out += spectrum_line(r);
  }
  out += line("", s.advice);
  return out;
}

}  // namespace

std::string machine_as_text(std::string_view backend, int threads, std::string_view device) {
  if (backend == "OpenMP") {
    return fmt::format("{}, {} thread{}", backend, threads, threads == 1 ? "" : "s");
  }
  return device.empty() ? std::string(backend) : fmt::format("{}, {}", backend, device);
}

std::string as_text(const Report& r, bool explained) {
  std::string out = matrix_block(r);
  // What is refused at first sight is put into no format.
  const std::string bytes =
      r.format_bytes > 0 ? size(static_cast<double>(r.format_bytes)) : "not made";
  out += line("format", fmt::format("{}, {}{}", r.format, bytes,
                                    r.choice ? fmt::format(" (auto: {})", r.choice->reason) : ""));
  if (explained && r.choice) out += explain(*r.choice);
  if ((!r.order.name.empty() && r.order.name != "none") || (explained && !r.order.reason.empty())) {
    out += line("order",
                fmt::format("{}, {}; {:.3f} s", r.order.name, r.order.reason, r.order.seconds));
  }
  out += line("b", r.rhs);
  out += line("x0", r.x0);
  out += line("method", fmt::format("{} with {}, {}", r.solver, r.preconditioner,
                                    machine_as_text(r.backend, r.threads, r.device)));
  std::vector<std::string> facts;  // on one line, but for those that are lists
  std::string lists;
  for (const auto& [name, value] : r.preconditioner_facts) {
    if (value.find(',') == std::string::npos) {
      facts.push_back(fmt::format("{} {}", name, value));
    } else {
      lists += line("", fmt::format("{}: {}", name, value));
    }
  }
  if (!facts.empty()) out += line("", join(facts, ", "));
  out += lists;
  out += trial_lines(r);
  const std::string absolute = r.stop.atol > 0 ? fmt::format(", or {:.3g}", r.stop.atol) : "";
  out += line("stop", fmt::format("|b - Ax| <= {:.3g} |b|{}", r.stop.rtol, absolute));
  for (const std::string& note : r.notes) out += line("note", note);
  out += fmt::format("\n{}", outcome_block(r));
  out += fmt::format("\n{}", work_table(r));
  if (!r.profile.empty()) out += fmt::format("\n{}", as_text(r.profile));
  return out;
}

std::string history_as_csv(const SolveResult& result) {
  std::string out =
      "iteration,residual,relative_residual,error_lower,error_upper_estimate,error_upper_bound\n";
  const auto known = [](const std::vector<double>& column, std::size_t k) {
    return k < column.size() && std::isfinite(column[k]) ? fmt::format("{}", column[k]) : "";
  };
  const ErrorHistory h = result.cg ? result.cg->error_history : ErrorHistory{};
  for (std::size_t k = 0; k < result.history.size(); ++k) {
    out += fmt::format("{},{},{},{},{},{}\n", k, result.history[k],
                       result.b_norm > 0 ? result.history[k] / result.b_norm : result.history[k],
                       known(h.lower, k), known(h.upper_estimate, k), known(h.upper_bound, k));
  }
  return out;
}

}  // namespace krysol::report
