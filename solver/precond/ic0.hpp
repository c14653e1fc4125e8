// Incomplete Cholesky, without fill, with that of some levels or with what is large.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <krysol/solver/precond/ic_fill.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol {

/// What ic0 and ic know of a matrix before its values: kept while those change in time.
struct Ic0Structure {
  std::string_view name = "ic0";  // in messages
  FillRule rule;
  std::vector<Offset> row_ptr;  // [rows + 1] of the strictly lower triangle of A
  std::vector<Index> col_idx;   // [nnz] ascending in a row
  FillPattern fill;             // of L, where the rule makes it another one
  SweepPattern sweeps;
};

/// L L^H = A + shift diag(A) at the places of L, as M = (I + N) D (I + N)^H.
template <class T>
struct Ic0Factor {
  FactorValues<T> values;
  double shift = 0;
  int attempts = 1;
  Index first_bad_row = -1;  // where the factorization without a shift had no positive pivot
};

/// threads: of a host that will apply it; 0 for a GPU. Few threads keep the rows in their own
/// order, and one of them does the work. No bit of a result depends on it. With a threshold the
/// places are those that the values of this A make large (fill_above); they are kept for others.
/// Throws as fill_of_levels does; with a threshold, PreconditionerRefusal where a diagonal entry is
/// not positive and finite.
template <class T>
Ic0Structure analyze_ic0(const HostCsr<T>& a, int threads = 0, const FillRule& rule = {});

/// Row by row, with S A S in place of A where S = diag(A)^-1/2:
///
///     l(i,j) = (a(i,j) - sum over k < j of l(i,k) conj(l(j,k))) / l(j,j) for the j < i of row i,
///     l(i,i)^2 = a(i,i) - sum over k < i of |l(i,k)|^2
///
/// Where a pivot l(i,i)^2 is not positive, or lost in rounding, all of it is done again for
/// S A S + shift I, with a larger shift each time. Throws std::invalid_argument, naming the row,
/// where the pattern is another one, and PreconditionerRefusal where a diagonal entry is not
/// positive and finite or where no shift up to `largest_ic0_shift` helps.
/// Meijerink & van der Vorst, Math. Comp. 31, 1977, DOI 10.1090/S0025-5718-1977-0438681-4;
/// Manteuffel, Math. Comp. 34, 1980, DOI 10.1090/S0025-5718-1980-0559197-0 for the shift;
/// Lin & More, SISC 21(1), 1999, DOI 10.1137/S1064827597327334 for scaling and its growth.
/// Both are instantiated in the library for its entry types.
template <class T>
Ic0Factor<T> factorize_ic0(const Ic0Structure& structure, const HostCsr<T>& a);

inline constexpr double smallest_ic0_shift = 1e-3;
inline constexpr double largest_ic0_shift = 4.0;

/// A sentence for the user where a shift was needed.
SetupNote ic0_note(std::string_view name, double shift, int attempts, Index first_bad_row);

/// z := M^-1 r with M = L L^H, which equals A at the places of L's nonzeros: those of A.
/// Bytes: see LevelScheduledSolve; 1.4 times those of a multiplication by a 7-point matrix.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Ic0 {
  static constexpr std::string_view name = "ic0";

  std::shared_ptr<const Ic0Structure> structure;
  LevelScheduledSolve<T, Exec> sweeps;
  double shift = 0;
  int attempts = 1;
  Index first_bad_row = -1;  // where shift = 0 failed

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    sweeps.apply(exec, r, z);
  }
  double bytes() const { return sweeps.bytes(); }
  SetupNote setup_note() const { return ic0_note(structure->name, shift, attempts, first_bad_row); }
  std::vector<SetupFact> report() const {
    return {{"entries below the diagonal", std::to_string(sweeps.forward.values.extent(0))},
            {"levels", structure->sweeps.levels.chained
                           ? "none, one thread takes the rows in their order"
                           : std::to_string(structure->sweeps.levels.count())},
            {"shift", number_as_text(shift)},
            {"factorizations", std::to_string(attempts)}};
  }

  /// For other values in the same pattern. Throws as factorize_ic0 does, and is then as before.
  void update(const HostCsr<T>& a) {
    const Ic0Factor<T> factor = factorize_ic0(*structure, a);
    set_values(structure->sweeps, factor.values, sweeps);
    shift = factor.shift;
    attempts = factor.attempts;
    first_bad_row = factor.first_bad_row;
  }
};

/// The same with fill.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Ic : Ic0<T, Exec> {
  static constexpr std::string_view name = "ic";
  static constexpr int default_level = 1;
};

template <class M, class Exec, class T>
M make_incomplete_cholesky(const HostCsr<T>& a, const FillRule& rule) {
  M m;
  const int threads = on_host<Exec> ? static_cast<int>(Exec{}.concurrency()) : 0;
  Ic0Structure structure = analyze_ic0(a, threads, rule);
  structure.name = M::name;
  m.structure = std::make_shared<const Ic0Structure>(std::move(structure));
  m.sweeps = make_sweeps<T, Exec>(m.structure->sweeps);
  m.update(a);
  return m;
}

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Ic0<T, Exec> make_ic0(const HostCsr<T>& a) {
  return make_incomplete_cholesky<Ic0<T, Exec>, Exec>(a, {});
}

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Ic<T, Exec> make_ic(const HostCsr<T>& a,
                    const FillRule& rule = {.level = Ic<T, Exec>::default_level}) {
  return make_incomplete_cholesky<Ic<T, Exec>, Exec>(a, rule);
}

}  // namespace krysol
