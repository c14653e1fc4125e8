// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/outcome/advice.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include <fmt/core.h>
#include <krysol/spmv/base/finite.hpp>

namespace krysol {
namespace {

std::string_view plural(std::int64_t n) { return n == 1 ? "" : "s"; }

std::string iterations(const SolveResult& r) {
  return fmt::format("{} iteration{}", r.iterations, plural(r.iterations));
}

std::string residual_so_far(const SolveResult& r) {
  return fmt::format("|b - Ax| is {:.2e}, {:.2e} was asked for", r.residual, r.target);
}

/// " The condition number of M^-1 A is ...", or nothing.
std::string condition(const SolveResult& r) {
  if (!r.cg || !r.cg->spectrum.known()) return {};
  return fmt::format(" The condition number of {} is {}{:.2g}.",
                     r.cg->preconditioned ? "M^-1 A" : "A",
                     r.cg->spectrum.at_least ? "at least " : "", r.cg->spectrum.condition);
}

/// "CG", "this method".
std::string in_a_sentence(std::string_view title) {
  return title == MethodTraits{}.title ? "this method" : std::string(title);
}

std::string beyond_rounding(const SolveResult& r) {
  return fmt::format(
      " That is out of reach: rounding x to this precision alone makes |b - Ax| about {:.1e}, and "
      "{} ends at one to ten times that. Ask for less.",
      r.rounding, in_a_sentence(r.method.title));
}

/// What it would take, where that can be told.
std::string prediction(const SolveResult& r) {
  if (r.iterations_left < 0) return {};
  if (r.iterations_left > 100 * r.iterations) {
    return " The end is not in sight: at the rate so far it takes more than a hundred times as "
           "many.";
  }
  const double seconds = r.seconds / static_cast<double>(r.iterations);
  return fmt::format(" About {} more iteration{} ({:.2g} s) would do, {}.", r.iterations_left,
                     plural(r.iterations_left), seconds * static_cast<double>(r.iterations_left),
                     r.cg ? "by the spectrum seen so far" : "at the rate so far");
}

/// For solves that were ended before they were done.
std::string what_is_left(const SolveResult& r) {
  if (out_of_reach(r.target, r.rounding)) return beyond_rounding(r);
  return prediction(r) + condition(r);
}

constexpr std::string_view nearly_singular =
    "A is nearly singular, or singular and b not in its range (then fix an unknown, or add a "
    "boundary condition)";

/// " |b - Ax| was ..." and what to do, for a result that looks_singular.
std::string singular(const SolveResult& r) {
  return fmt::format(" |b - Ax| was {:.2e} at the start: {}. cholesky or MINRES tells.",
                     r.initial_residual, nearly_singular);
}

/// What the size of x says of A.
std::string growth(const SolveResult& r) {
  constexpr double large = 1e9;
  const double least = r.growth / (1 + (r.b_norm > 0 ? r.residual / r.b_norm : 0));
  if (!(least > large)) return {};
  return fmt::format(" |A||x| is {:.1e} |b - r|, and the condition number of A no smaller: {}.{}",
                     least, nearly_singular, r.cg ? " MINRES tells." : "");
}

std::string max_iterations(const SolveResult& r) {
  const std::string start =
      fmt::format("Not converged after {}: {}.", iterations(r), residual_so_far(r));
  if (looks_singular(r)) return start + condition(r) + singular(r);
  const std::string so_far =
      r.method.smallest.empty() ? "" : fmt::format(" x has the smallest {}.", r.method.smallest);
  if (out_of_reach(r.target, r.rounding)) return start + beyond_rounding(r) + so_far;
  const bool soon = r.iterations_left >= 0 && r.iterations_left <= r.iterations / 2;
  const std::string_view remedy =
      soon ? " Allow them with a higher --max-iterations."
           : " A better preconditioner saves more than a higher --max-iterations.";
  return fmt::format("{}{}{}{}{}", start, prediction(r), remedy, condition(r), so_far);
}

/// A small residual is no small error where the condition is bad.
std::string error_left(const SolveResult& r) {
  if (!r.cg) return {};
  const double error = r.cg->error.relative(r.cg->error.upper_estimate);
  if (!(error > 1e-6) || !(error > 100 * r.residual / r.b_norm)) return {};
  return fmt::format(
      " The error is larger than the residual: |x - x*|_A is about {:.1e} |x*|_A{}.{} Where that "
      "matters, ask for a smaller tolerance.",
      error, r.cg->spectrum.smallest.converged ? "" : " or more", condition(r));
}

/// What CG alone would not have met.
std::string hidden_direction(const SolveResult& r) {
  if (!r.cg || !r.cg->not_definite) return {};
  return " A is not positive definite, or is singular: p'Ap <= 0 was met from another start, of "
         "which b has nothing. x need not be the only solution.";
}

std::string indefinite_matrix(const SolveResult& r) {
  const BreakdownCertificate& e = r.breakdown;
  if (e.row >= 0) {
    return fmt::format(
        "A is not positive definite: its diagonal entry in row {} is {}{}. Check the sign of the "
        "matrix and rows that were eliminated; {} needs a positive definite matrix, MINRES a "
        "symmetric one.",
        e.row + 1, e.value.real(), e.value == 0.0 ? " or missing" : "",
        in_a_sentence(r.method.title));
  }
  std::string rows;
  for (const RowShare& s : e.largest) {
    rows += fmt::format("{}{} ({:.0f} %)", rows.empty() ? "" : ", ", s.row + 1, 100 * s.share);
  }
  return fmt::format(
      "A is {}: at iteration {} p'Ap {} for a direction of length 1{}. Its largest rows, with "
      "their share of |p|^2: {}. Look there for a wrong sign, a missing "
      "boundary condition or a constraint; an indefinite system needs MINRES, a singular one a "
      "fixed "
      "unknown.",
      e.curvature == 0 ? "not positive definite, or singular to this precision"
                       : "not positive definite",
      e.iteration,
      e.curvature == 0 ? std::string("is no more than rounding")
                       : fmt::format("= {:.6e}", e.curvature),
      e.curvature == 0 ? "" : ", so that an eigenvalue is no larger", rows);
}

std::string not_symmetric(const SolveResult& r) {
  const BreakdownCertificate& e = r.breakdown;
  const std::string_view kind = e.complex_entries ? "Hermitian" : "symmetric";
  const std::string remedy = fmt::format(
      "{} needs a symmetric (Hermitian) matrix; for others use GMRES or BiCGStab, or "
      "repair the assembly.",
      r.method.title);
  if (e.row < 0) {
    return fmt::format(
        "A is not {}, and that is why the solve ended after {}: u'A v and v'A u of two "
        "vectors differ by {:.1e} of |u||A v|. {}",
        kind, iterations(r), e.asymmetry, remedy);
  }
  const auto number = [](const std::complex<double>& v) {
    return v.imag() == 0 ? fmt::format("{}", v.real()) : fmt::format("{}{:+}i", v.real(), v.imag());
  };
  if (e.row == e.col) {
    return fmt::format("A is not {}: A({}, {}) = {} on the diagonal is not real. {}", kind,
                       e.row + 1, e.col + 1, number(e.value), remedy);
  }
  // A(i,j) = A(j,i), both complex: some libraries call that symmetric, and few methods take it.
  const bool unconjugated = e.complex_entries && e.value == e.mirrored_value;
  return fmt::format("A is not {4}: A({0}, {1}) = {2}, A({1}, {0}) = {3}{5}. {6}", e.row + 1,
                     e.col + 1, number(e.value), number(e.mirrored_value), kind,
                     unconjugated ? ", where one must be the conjugate of the other; a complex "
                                    "symmetric matrix is not Hermitian"
                                  : "",
                     remedy);
}

std::string not_finite(const SolveResult& r) {
  const BreakdownCertificate& e = r.breakdown;
  if (e.col >= 0) {
    return fmt::format("A({}, {}) is not a finite number.", e.row + 1, e.col + 1);
  }
  if (e.row >= 0) {
    return fmt::format("{} is not finite at row {}: look there, in A, b and the starting guess.",
                       is_finite(r.b_norm) ? "b - A x0" : "b", e.row + 1);
  }
  if (!is_finite(r.b_norm) || !is_finite(r.initial_residual)) {
    return fmt::format(
        "The norm of {} is beyond the range of this precision, though its entries are finite: "
        "scale the system.",
        is_finite(r.b_norm) ? "b - A x0" : "b");
  }
  return fmt::format(
      "A number overflowed or was undefined at iteration {}; x is that of the iteration before. "
      "Entries of A or of M^-1 are too large or too small for this precision, or are Inf or NaN: "
      "scale the system.",
      r.iterations + 1);
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_iterations:
      return "max_iterations";
    case Status::time_limit:
      return "time_limit";
    case Status::interrupted:
      return "interrupted";
    case Status::stagnated:
      return "stagnated";
    case Status::indefinite_matrix:
      return "indefinite_matrix";
    case Status::indefinite_preconditioner:
      return "indefinite_preconditioner";
    case Status::not_symmetric:
      return "not_symmetric";
    case Status::not_finite:
      return "not_finite";
    case Status::inconsistent:
      return "inconsistent";
  }
  return "unknown";
}

bool looks_singular(const SolveResult& r) {
  if (r.converged() || !r.cg) return false;
  if (r.cg->null_direction) return r.residual > 0.1 * r.initial_residual;
  if (r.status == Status::indefinite_matrix && r.breakdown.curvature == 0) {
    return r.residual > r.initial_residual;
  }
  // Of the spectrum flexible CG knows nothing; CG's residual may grow by the root of a condition.
  if (r.cg->flexible) return r.residual > 1e6 * r.initial_residual;
  return r.cg->spectrum.condition > 1e11 && r.residual > r.initial_residual;
}

std::string advice(const SolveResult& r) {
  switch (r.status) {
    case Status::converged:
      if (r.b_norm == 0) return "b is zero, so x is.";
      if (r.iterations == 0) return "The starting guess already meets the tolerance.";
      return fmt::format("The residual computed from x meets the tolerance after {}{}.{}{}",
                         iterations(r),
                         r.restarts > 0 ? fmt::format(" and {} restart{} from the true residual",
                                                      r.restarts, plural(r.restarts))
                                        : "",
                         error_left(r), hidden_direction(r));
    case Status::max_iterations:
      return max_iterations(r);
    case Status::time_limit:
      return fmt::format("The time limit ended the solve after {}: {}.{}", iterations(r),
                         residual_so_far(r), what_is_left(r));
    case Status::interrupted:
      return fmt::format("Interrupted after {}: {}; x is the last{}{}.{}", iterations(r),
                         residual_so_far(r), r.method.best_in.empty() ? "" : " and best in ",
                         r.method.best_in, what_is_left(r));
    case Status::stagnated:
      if (looks_singular(r)) {
        return fmt::format("x has grown until rounding it alone makes the residual: {}.{}{}",
                           residual_so_far(r), condition(r), singular(r));
      }
      return fmt::format(
          "Rounding ends it: |b - Ax| is {:.2e}, {:.2e} was asked for{}. Rounding x alone makes "
          "about {:.2e}, all rounding of a solve up to {:.2e} (10 eps (|A||x| + |b|)); what lies "
          "between takes residuals of a higher precision.{}{} Ask for less.",
          r.residual, r.target,
          r.restarts > 0 ? fmt::format(", and {} restart{} from the true residual led no further",
                                       r.restarts, plural(r.restarts))
                         : "",
          r.rounding, r.attainable, condition(r), growth(r));
    case Status::indefinite_matrix:
      return indefinite_matrix(r);
    case Status::indefinite_preconditioner:
      return fmt::format(
          "The preconditioner is not positive definite: r'M^-1 r <= 0 at iteration {}. Try jacobi "
          "or "
          "none.",
          r.iterations);
    case Status::not_symmetric:
      return not_symmetric(r);
    case Status::not_finite:
      return not_finite(r);
    case Status::inconsistent:
      if (r.outside_range > 0) {
        return fmt::format(
            "A x = b has no solution: A is singular, for all rows of a part of it sum to 0, and a "
            "part of b of norm {:.3e} = {:.2e} |b| is outside its range; no x has a smaller "
            "residual than that. Correct b, fix an unknown or add a boundary condition; or solve "
            "without that part of b (--project).",
            r.outside_range, r.outside_range / r.b_norm);
      }
      return fmt::format(
          "A x = b has no solution: A is singular to this precision, and b - Ax, of norm {:.2e}, "
          "cannot "
          "be made "
          "smaller in the norm of M^-1. x is a least-squares solution in that norm. Fix an "
          "unknown, "
          "add a boundary condition, or see that b is in the range of A.",
          r.residual);
  }
  return {};
}

std::vector<RowShare> largest_shares(const std::vector<std::complex<double>>& direction) {
  std::vector<Index> row(direction.size());
  std::iota(row.begin(), row.end(), Index{0});
  const auto size = [&](Index i) { return std::norm(direction[static_cast<std::size_t>(i)]); };
  const auto count = std::min<std::size_t>(5, row.size());
  std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count), row.end(),
                    [&](Index i, Index j) { return size(i) > size(j); });
  double total = 0;
  for (const auto& v : direction) total += std::norm(v);
  std::vector<RowShare> shares;
  for (std::size_t k = 0; k < count; ++k) {
    if (size(row[k]) > 0) shares.push_back({row[k], size(row[k]) / total});
  }
  return shares;
}

void check_apart(std::string_view function, const void* b, const void* x, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(b);
  const auto second = reinterpret_cast<std::uintptr_t>(x);
  if (first + bytes <= second || second + bytes <= first) return;
  throw std::invalid_argument(
      fmt::format("{}: b and x overlap in memory; x is written while b is still needed", function));
}

std::int64_t iterations_left_at_this_rate(const std::vector<double>& history, double target) {
  constexpr std::size_t first_guess = 10;  // before that nothing has been seen
  if (history.size() <= first_guess || !(target > 0)) return -1;
  const std::size_t k = history.size() - 1;
  const std::size_t middle = k / 2;
  const double rate = std::log(history[middle] / history[k]) / static_cast<double>(k - middle);
  const double left = std::log(history[k] / target) / rate;
  if (!(rate > 0) || !(left < 1e15)) return -1;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(left)));
}

void check_number(std::string_view function, std::string_view field, double value,
                  std::string_view what) {
  if (is_finite(value) && value >= 0) return;
  throw std::invalid_argument(
      fmt::format("{}: {} must be {}; it is {}", function, field, what, value));
}

void check_stop(std::string_view function, const StoppingCriteria& stop) {
  check_number(function, "rtol", stop.rtol, "a finite number from 0 on");
  check_number(function, "atol", stop.atol, "a finite number from 0 on");
  check_number(function, "time_limit_s", stop.time_limit_s, "seconds, or 0 for no limit");
  if (stop.max_iterations < 0) {
    throw std::invalid_argument(
        fmt::format("{}: max_iterations must be positive, or 0 for ten times the rows; it is {}",
                    function, stop.max_iterations));
  }
}

void check_system(std::string_view function, std::int64_t rows, std::int64_t cols, std::size_t b,
                  std::size_t x) {
  if (rows != cols) {
    throw std::invalid_argument(
        fmt::format("{}: A must be square, it is {} x {}", function, rows, cols));
  }
  if (b != static_cast<std::size_t>(rows) || x != static_cast<std::size_t>(rows)) {
    throw std::invalid_argument(
        fmt::format("{}: A has {} rows, b {} entries and x {}", function, rows, b, x));
  }
}

}  // namespace krysol
