// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/report/matrix_report_text.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/report/report.hpp>
#include <krysol/report/text.hpp>
#include <krysol/spmv/base/join.hpp>

namespace krysol::report {
using namespace analysis;  // NOLINT(google-build-using-namespace)
namespace {

/// A share in per cent; never 100 % or 0 % where it is not.
std::string percent(double share) {
  if (share > 0.999 && share < 1) return "> 99.9 %";
  return fmt::format("{:.3g} %", 100 * share);
}

std::string first(const Tally& t) { return fmt::format("first {}", t.first + 1); }

std::string place(const Place& p) { return fmt::format("({}, {})", p.row + 1, p.col + 1); }

std::string matrix_block(const MatrixReport& p) {
  const FileReport& f = p.file;
  std::string out = line(
      "matrix", fmt::format("{} ({}, {} {} {})", file_and_member(f.name, f.member),
                            size(static_cast<double>(f.bytes)), f.format, f.field, f.symmetry));
  const std::string share =
      p.rows > 0 && p.cols > 0 ? fmt::format(", {} of all places", percent(p.density())) : "";
  const std::string stored = f.stored_entries == p.nnz ? ""
                                                       : fmt::format("; {} entries in the file",
                                                                     grouped(f.stored_entries));
  out += line("", fmt::format("{} x {}, {}{}{}", grouped(p.rows), grouped(p.cols),
                              plural(p.nnz, "nonzero", "nonzeros"), share, stored));
  if (f.duplicates > 0) {
    out += line("", fmt::format("{} summed", plural(f.duplicates, "duplicate entry was",
                                                    "duplicate entries were")));
  }
  if (p.values.zeros > 0) {
    out += line("", fmt::format("{} of them zero, and kept", plural(p.values.zeros, "is", "are")));
  }
  if (f.rounded_integers > 0) {
    out += line("", fmt::format("{} beyond 2^53 rounded",
                                plural(f.rounded_integers, "integer was", "integers were")));
  }
  for (const std::string& repair : f.repairs) out += line("", fmt::format("repaired: {}", repair));
  return out;
}

std::string mirror_text(std::string_view kind, const Mirror& m, std::int64_t nnz) {
  if (m.exact()) return fmt::format("values {}, exactly", kind);
  return fmt::format(
      "values not {}: {} of {} places match; largest difference {:.3g} at {}, {:.2e} |A|_F", kind,
      grouped(m.matched), grouped(nnz), m.largest_difference, place(m.where), m.relative);
}

std::string symmetry_block(const MatrixReport& p) {
  if (!p.square()) return line("symmetry", "not square");
  const SymmetryProperties& s = p.symmetry;
  const std::string pattern =
      s.mirrored == s.off_diagonal
          ? "pattern symmetric"
          : fmt::format(
                "pattern not symmetric: {} of {} off the diagonal have a mirror image ({}), "
                "{} has none",
                grouped(s.mirrored), grouped(s.off_diagonal),
                percent(static_cast<double>(s.mirrored) / static_cast<double>(s.off_diagonal)),
                place(s.unmirrored));
  std::string out = line("symmetry", pattern);
  const bool skew = s.skew.exact() && p.nnz > 0;
  if (skew) out += line("", "values skew-symmetric, exactly");
  if (p.values.complex) {
    if (skew && !s.hermitian.exact()) return out;
    out += line("", mirror_text("Hermitian", s.hermitian, p.nnz));
  }
  if (!skew || s.symmetric.exact()) {
    out += line("", mirror_text("symmetric", s.symmetric, p.nnz));
  }
  return out;
}

std::string lengths_text(const Lengths& l) {
  if (l.shortest == l.longest) return plural(l.longest, "nonzero each", "nonzeros each");
  return fmt::format("{} to {} nonzeros; mean {:.2f}, median {:g}, standard deviation {:.2f}",
                     grouped(l.shortest), grouped(l.longest), l.mean, l.median, l.deviation);
}

/// Of n rows beside `other` columns, or the other way round.
std::string empties(const Tally& t, std::string_view kind, std::int64_t n, std::int64_t other) {
  if (t.count == 0) return {};
  return line("", fmt::format("{} ({}){}",
                              plural(t.count, fmt::format("{} is empty", kind),
                                     fmt::format("{}s are empty", kind)),
                              first(t), n - t.count < other ? ": the rank is not full" : ""));
}

std::string range_of_bin(std::size_t bin) {
  if (bin == 0) return "0";
  const std::int64_t low = std::int64_t{1} << (bin - 1);
  return low == 1 ? "1" : fmt::format("{}-{}", low, 2 * low - 1);
}

/// A bar a bin, for rows of different lengths.
std::string histogram(const Lengths& l) {
  if (l.shortest == l.longest) return {};
  constexpr int widest = 40;
  const std::int64_t most = *std::max_element(l.histogram.begin(), l.histogram.end());
  std::string out;
  for (std::size_t bin = 0; bin < l.histogram.size(); ++bin) {
    const std::int64_t n = l.histogram[bin];
    if (n == 0) continue;
    const auto bar = static_cast<std::size_t>(
        std::max(1.0, std::round(widest * static_cast<double>(n) / static_cast<double>(most))));
    out += line("", fmt::format("  {:>11}  {:>11}  {}", range_of_bin(bin), grouped(n),
                                std::string(bar, '#')));
  }
  return out;
}

std::string lengths_block(const MatrixReport& p) {
  if (p.rows == 0 || p.cols == 0) return {};
  std::string out = line("rows", lengths_text(p.row_lengths));
  out += empties(p.row_lengths.empty, "row", p.rows, p.cols);
  out += histogram(p.row_lengths);
  const bool same = p.square() && p.symmetry.mirrored == p.symmetry.off_diagonal;
  if (same) return out;
  out += line("columns", lengths_text(p.col_lengths));
  return out + empties(p.col_lengths.empty, "column", p.cols, p.rows);
}

std::string band_block(const MatrixReport& p) {
  if (p.nnz == 0) return {};
  const Band& b = p.band;
  return line("band", fmt::format("{} below the diagonal, {} above, mean distance {:.1f}",
                                  grouped(b.lower), grouped(b.upper), b.mean_distance)) +
         line("", fmt::format("profile {} below, {} above", grouped(b.lower_profile),
                              grouped(b.upper_profile)));
}

std::string graph_block(const MatrixReport& p) {
  const Components& c = p.components;
  if (c.count == 0) return {};
  const std::string_view of = c.of_rows_and_columns ? "rows and columns" : "rows";
  if (c.count == 1)
    return line("graph", fmt::format("connected, of {} {}", grouped(c.largest),
                                     c.largest == 1 ? "row" : of));
  return line("graph", fmt::format("{} connected components, the largest of {} {}; {} of one alone",
                                   grouped(c.count), grouped(c.largest), of, grouped(c.isolated)));
}

std::string blocks_block(const MatrixReport& p) {
  if (p.nnz == 0) return {};
  std::vector<std::string> fills;
  for (const BlockSize& b : p.blocks.sizes)
    fills.push_back(fmt::format("{:.0f} % ({})", 100 * b.fill, b.size));
  std::string out =
      line("blocks", fmt::format("of b x b places filled (b): {}", join(fills, ", ")));
  if (p.blocks.best == 1) return out + line("", "no blocks take fewer bytes than single entries");
  const BlockSize& best = p.blocks.sizes[static_cast<std::size_t>(p.blocks.best - 2)];
  return out + line("", fmt::format("fewest bytes with b = {}: {} blocks, {} of them full",
                                    best.size, grouped(best.blocks), grouped(best.full)));
}

std::string diagonal_block(const MatrixReport& p) {
  const Diagonal& d = p.diagonal;
  if (d.length == 0) return {};
  const std::string range = d.smallest == d.largest
                                ? fmt::format("{:.4g}", d.smallest)
                                : fmt::format("{:.4g} to {:.4g}", d.smallest, d.largest);
  std::string out;
  if (d.positive == d.length && d.not_real.count == 0) {
    out = line("diagonal", fmt::format("positive, {}", range));
  } else {
    std::vector<std::string> kinds{fmt::format("{} positive", grouped(d.positive))};
    const auto add = [&](const Tally& t, std::string_view kind) {
      if (t.count > 0) kinds.push_back(fmt::format("{} {} ({})", grouped(t.count), kind, first(t)));
    };
    add(d.negative, "negative");
    add(d.zero, "zero");
    add(d.missing, "missing");
    add(d.not_real, "not real");
    out = line("diagonal", fmt::format("{}; {}", range, join(kinds, ", ")));
  }
  if (d.dominant == d.length) return out + line("", "strictly dominant in every row");
  const std::string fails =
      d.not_dominant.count > 0
          ? fmt::format("; not in {} ({})", grouped(d.not_dominant.count), first(d.not_dominant))
          : "";
  return out + line("", fmt::format("strictly dominant in {}, equal to the rest in {}{}",
                                    plural(d.dominant, "row", "rows"), grouped(d.balanced), fails));
}

std::string number(double real, double imaginary) {
  if (imaginary == 0) return fmt::format("{:.6g}", real);
  return fmt::format("{:.6g}{:+.6g}i", real, imaginary);
}

std::string values_block(const MatrixReport& p) {
  const Values& v = p.values;
  if (p.nnz == 0) return {};
  const std::string frequent = number(v.frequent_real, v.frequent_imaginary);
  const double share = static_cast<double>(v.most_frequent) / static_cast<double>(p.nnz);
  std::string out =
      line("values",
           v.distinct == 1
               ? fmt::format("all {}", frequent)
               : fmt::format("{} different numbers; {} most often, in {} ({})", grouped(v.distinct),
                             frequent, plural(v.most_frequent, "place", "places"), percent(share)));
  const std::string range =
      v.complex ? "" : fmt::format("{:.4g} to {:.4g}, ", v.smallest, v.largest);
  out += line("", fmt::format("{}magnitudes {:.4g} to {:.4g}", range, v.smallest_magnitude,
                              v.largest_magnitude));
  return out + line("", fmt::format("norms: 1-norm {:.4g}, infinity {:.4g}, Frobenius {:.4g}",
                                    v.norm_1, v.norm_inf, v.norm_frobenius));
}

std::string row_sums_block(const MatrixReport& p) {
  if (p.nnz == 0) return {};
  const RowSums& s = p.row_sums;
  if (s.null_vector) {
    return line(
        "row sums",
        s.largest == 0
            ? std::string("all zero: A (1, ..., 1) = 0")
            : fmt::format("zero but for rounding, {:.1e} at most: A (1, ..., 1) = 0", s.largest));
  }
  const std::string zero = s.zero > 0 ? fmt::format("; {} are zero", grouped(s.zero)) : "";
  return line("row sums", fmt::format("{:.4g} at most, {:.3g} of the row's magnitudes{}", s.largest,
                                      s.relative, zero));
}

std::string condition(const Ends& e) {
  if (std::isinf(e.condition)) return "condition beyond 1 / eps: singular but for rounding";
  return fmt::format("condition at least {:.3g}", e.condition);
}

std::string spectrum_block(const MatrixReport& p) {
  std::string out;
  if (const auto& e = p.spectra.eigenvalues) {
    out += line(
        "spectrum",
        fmt::format("eigenvalues from {:.4g} (residual {:.1e}) to {:.4g} ({:.1e}), "
                    "by {} Lanczos steps",
                    e->smallest, e->smallest_residual, e->largest, e->largest_residual, e->steps));
    if (e->condition > 0) out += line("", condition(*e));
  }
  if (const auto& e = p.spectra.singular_values) {
    out += line(out.empty() ? "spectrum" : "",
                fmt::format("singular values from {:.4g} to {:.4g}, by {} Golub-Kahan steps",
                            e->smallest, e->largest, e->steps));
    out += line("", condition(*e));
  }
  return out;
}

std::string definite_block(const MatrixReport& p) {
  const Definiteness& d = p.definite;
  const std::string_view verdict = d.verdict == Verdict::yes  ? "positive definite"
                                   : d.verdict == Verdict::no ? "not positive definite"
                                                              : "may be positive definite";
  return line("definite", fmt::format("{}: {}", verdict, d.text));
}

}  // namespace

std::string as_text(const MatrixReport& p) {
  std::string out = matrix_block(p);
  out += lengths_block(p);
  out += band_block(p);
  out += graph_block(p);
  out += blocks_block(p);
  out += '\n';
  out += symmetry_block(p);
  if (p.square()) out += diagonal_block(p);
  out += values_block(p);
  out += row_sums_block(p);
  out += spectrum_block(p);
  out += definite_block(p);
  return out + fmt::format("\nread in {:.3f} s, looked at in {:.3f} s ({})\n", p.read_seconds,
                           p.seconds, machine_as_text(p.backend, p.threads, ""));
}

}  // namespace krysol::report
