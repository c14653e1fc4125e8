// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/analysis/definiteness.hpp>

#include <limits>

#include <fmt/core.h>

#include <krysol/analysis/entries.hpp>
#include <krysol/analysis/structure.hpp>

namespace krysol::analysis {
namespace {

Definiteness make(Verdict verdict, std::string reason, std::string text, const Place& place = {},
                  double value = std::numeric_limits<double>::quiet_NaN()) {
  return {verdict, std::move(reason), place, value, std::move(text)};
}

/// d e - h^2 <= 0 for d, e > 0, in exact arithmetic; `uncertain` where h is rounded, and then only
/// if no doubt is left. Powers of two are taken out, so that nothing overflows.
bool minor_is_not_positive(double d, double e, double h, bool uncertain) {
  int d_power = 0;
  int e_power = 0;
  int h_power = 0;
  d = std::frexp(d, &d_power);
  e = std::frexp(e, &e_power);
  h = std::frexp(h, &h_power);
  const int power = d_power + e_power - 2 * h_power;
  if (power > 3) return false;
  if (power < -3) return h != 0;
  d = std::ldexp(d, power);
  const double product = d * e;
  const double square = h * h;
  if (uncertain) return product < square * (1 - 16 * std::numeric_limits<double>::epsilon());
  if (product != square) return product < square;
  return std::fma(d, e, -product) <= std::fma(h, h, -square);
}

struct Minor {
  Place place;
  double value = 0;

  void operator+=(const Minor& o) {
    if (!place.known()) *this = o;
  }
};

template <class S>
std::vector<double> diagonal_numbers(const HostCsr<S>& a) {
  std::vector<double> d(static_cast<std::size_t>(a.rows), 0.0);
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (Offset k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (static_cast<std::size_t>(a.col_idx(at)) == i) {
        d[i] = static_cast<double>(real_part(a.values(at)));
      }
    }
  }
  return d;
}

/// The first i < j with a(i,i) a(j,j) <= |h|^2, h the mean of a(i,j) and conj(a(j,i)).
template <class S>
Minor find_minor(const HostCsr<S>& a, const HostCsr<S>& transposed) {
  const std::vector<double> d = diagonal_numbers(a);
  return over_rows<Minor>("krysol::minors", a.rows, [&](std::int64_t i, Minor& found) {
    if (found.place.known()) return;
    for_each_pair(a, transposed, i, [&](Index j, const S* stored, const S* image) {
      if (j <= i || found.place.known()) return;
      const S v = stored == nullptr ? S(0) : *stored;
      const S w = image == nullptr ? S(0) : conjugate(*image);
      const S h = v == w ? v : S(0.5) * v + S(0.5) * w;
      const bool uncertain = v != w || (imaginary_part(h) != 0 && real_part(h) != 0);
      const double di = d[static_cast<std::size_t>(i)];
      const double dj = d[static_cast<std::size_t>(j)];
      if (!minor_is_not_positive(di, dj, magnitude(h), uncertain)) return;
      found = {{i, j}, di * dj - magnitude(h) * magnitude(h)};
    });
  });
}

/// What the rows of a connected component of the nonzero entries have in common.
struct ComponentProperties {
  bool sums_are_zero = true;
  bool all_dominant = true;
  bool one_strictly = false;
};

template <class S>
std::vector<ComponentProperties> properties_of_components(const HostCsr<S>& a, DisjointSets& sets) {
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (a.values(at) != S(0)) sets.join(i, a.col_idx(at));
    }
  }
  std::vector<ComponentProperties> properties(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    ComponentProperties& f = properties[static_cast<std::size_t>(sets.find(i))];
    if (f.sums_are_zero && !row_sum_is_zero(a, i)) f.sums_are_zero = false;
    const Dominance dominance = dominance_of_row(a, i);
    if (dominance == Dominance::none) f.all_dominant = false;
    if (dominance == Dominance::strict) f.one_strictly = true;
  }
  return properties;
}

/// By row sums and by dominance.
template <class S>
std::optional<Definiteness> judge_components(const HostCsr<S>& a, const MatrixReport& p) {
  DisjointSets sets(a.rows);
  const auto properties = properties_of_components(a, sets);
  bool dominant = p.symmetry.hermitian.exact();
  for (Index i = 0; i < a.rows; ++i) {
    if (sets.find(i) != i) continue;
    const ComponentProperties& f = properties[static_cast<std::size_t>(i)];
    if (f.sums_are_zero) {
      const std::string text =
          p.components.count == 1
              ? std::string("all rows sum to zero: A x = 0 for x = (1, ..., 1)")
              : fmt::format(
                    "the rows connected to row {} all sum to zero: A x = 0 for an x of ones there",
                    i + 1);
      return make(Verdict::no, "row_sums", text, {i, -1}, 0);
    }
    dominant = dominant && f.all_dominant && f.one_strictly;
  }
  if (!dominant) return std::nullopt;
  if (p.diagonal.dominant == p.rows) {
    return make(Verdict::yes, "strictly_dominant",
                "Hermitian with a positive diagonal, and every row is strictly dominant "
                "(Gershgorin)");
  }
  return make(Verdict::yes, "irreducibly_dominant",
              "Hermitian with a positive diagonal, and every row is dominant, in each connected "
              "component one at least strictly (Gershgorin)");
}

std::optional<Definiteness> judge_shape(const MatrixReport& p) {
  if (p.rows != p.cols) {
    return make(Verdict::no, "not_square", fmt::format("{} x {} is not square", p.rows, p.cols));
  }
  if (p.rows == 0) return make(Verdict::open, "empty", "there are no rows");
  if (p.values.not_finite > 0) {
    return make(Verdict::open, "not_finite",
                fmt::format("{} of its values {} not finite", p.values.not_finite,
                            p.values.not_finite == 1 ? "is" : "are"));
  }
  if (!p.symmetry.nearly_hermitian) {
    const Place at = p.symmetry.asymmetric;
    const std::string what =
        at.row == at.col
            ? fmt::format("entry ({0}, {0}) on the diagonal is not real", at.row + 1)
            : fmt::format("entries ({}, {}) and ({}, {}) differ by {:.1e} relatively", at.row + 1,
                          at.col + 1, at.col + 1, at.row + 1, p.symmetry.asymmetry);
    return make(Verdict::no, "not_symmetric", what, at, p.symmetry.asymmetry);
  }
  return std::nullopt;
}

std::optional<Definiteness> judge_diagonal(const MatrixReport& p, const std::vector<double>& d) {
  std::int64_t row = -1;
  for (const Tally& t : {p.diagonal.missing, p.diagonal.zero, p.diagonal.negative}) {
    if (t.count > 0 && (row < 0 || t.first < row)) row = t.first;
  }
  if (row < 0) return std::nullopt;
  const double value = d[static_cast<std::size_t>(row)];
  std::string text = row == p.diagonal.missing.first
                         ? fmt::format("the diagonal entry of row {} is missing", row + 1)
                         : fmt::format("the diagonal entry of row {} is {:.4g}", row + 1, value);
  if (p.diagonal.negative.count == p.rows) text += "; all are negative: try -A";
  return make(Verdict::no, "diagonal", text, {row, row}, value);
}

Definiteness judge_spectrum(const MatrixReport& p) {
  if (!p.spectra.eigenvalues) {
    return make(Verdict::open, "not_looked_at",
                "nothing was seen that speaks against it; eigenvalues were not looked at");
  }
  const double smallest = p.spectra.eigenvalues->smallest;
  if (p.spectra.negative) {
    const Curvature& c = *p.spectra.negative;
    if (c.value + c.rounding < 0) {
      return make(
          Verdict::no, "curvature",
          fmt::format("x'Ax = {:.4g} for an x of length 1, largest in row {}; rounding is at "
                      "most {:.1e}",
                      c.value, c.row + 1, c.rounding),
          {c.row, -1}, c.value);
    }
    return make(Verdict::open, "within_rounding",
                fmt::format("the smallest Ritz value, {:.4g}, is zero but for rounding", smallest),
                {}, smallest);
  }
  return make(
      Verdict::open, "nothing_against",
      fmt::format("nothing was seen that speaks against it; the smallest Ritz value is {:.4g}",
                  smallest),
      {}, smallest);
}

}  // namespace

std::vector<Reason> list_reasons() {
  return {{"not_square", "no: rows and columns differ in number"},
          {"not_symmetric", "no: not Hermitian, to 1e-10"},
          {"diagonal", "no: a diagonal entry is missing, zero or negative"},
          {"minor", "no: a(i,i) a(j,j) - |a(i,j)|^2 <= 0"},
          {"row_sums", "no: the rows of a connected component sum to zero"},
          {"curvature", "no: x'Ax < 0 for an x that Lanczos found"},
          {"strictly_dominant", "yes: strictly diagonally dominant, positive diagonal"},
          {"irreducibly_dominant", "yes: the same, strictly in one row of each component"},
          {"nothing_against", "open: nothing was seen that speaks against it"},
          {"within_rounding", "open: the smallest Ritz value is zero but for rounding"},
          {"not_looked_at", "open: likewise, and --no-lanczos looked at no eigenvalues"},
          {"not_finite", "open: entries are not finite"},
          {"empty", "open: there are no rows"}};
}

template <class S>
Definiteness definiteness_of(const HostCsr<S>& a, const HostCsr<S>& transposed,
                             const MatrixReport& p) {
  if (auto verdict = judge_shape(p)) return *verdict;
  if (auto verdict = judge_diagonal(p, diagonal_numbers(a))) return *verdict;
  if (const Minor m = find_minor(a, transposed); m.place.known()) {
    return make(Verdict::no, "minor",
                fmt::format("the 2 x 2 minor of rows {} and {} is not positive, {:.4g}",
                            m.place.row + 1, m.place.col + 1, m.value),
                m.place, m.value);
  }
  if (auto verdict = judge_components(a, p)) return *verdict;
  return judge_spectrum(p);
}

template Definiteness definiteness_of(const HostCsr<double>&, const HostCsr<double>&,
                                      const MatrixReport&);
template Definiteness definiteness_of(const HostCsr<Kokkos::complex<double>>&,
                                      const HostCsr<Kokkos::complex<double>>&, const MatrixReport&);

}  // namespace krysol::analysis
