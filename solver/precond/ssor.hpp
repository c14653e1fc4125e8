// Symmetric successive over-relaxation, in the order of a colouring.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <krysol/solver/precond/level_scheduled_solve.hpp>

namespace krysol {

/// What ssor knows of a matrix before its values: kept while those change in time.
struct SsorStructure {
  std::vector<Index> colour;    // [rows] from 0; no row is coupled to another of its colour
  std::vector<Offset> row_ptr;  // [rows + 1] of the entries that lead to smaller colours
  std::vector<Index> col_idx;   // [nnz] ascending in a row
  SweepPattern sweeps;
};

/// With greedy_colours.
template <class T>
SsorStructure analyze_ssor(const HostCsr<T>& a);

/// N = w L D^-1 and D / (w (2 - w)) for the L of that structure. Throws std::invalid_argument,
/// naming the row, where the pattern is another one, and PreconditionerRefusal where a diagonal
/// entry is not positive and finite. Both are instantiated in the library for its entry types.
template <class T>
FactorValues<T> weigh_ssor(const SsorStructure& structure, const HostCsr<T>& a, double w);

/// Throws std::invalid_argument unless 1e-6 <= w <= 2 - 1e-6.
void check_ssor_weight(double w);

/// z := M^-1 r with M = w / (2 - w) (D/w + L) D^-1 (D/w + L^H), where D is the diagonal of A and L
/// what is below it once the rows stand in the order of their colours: a sweep of successive
/// over-relaxation over the colours, and one back. w = 1 is symmetric Gauss-Seidel. M is positive
/// definite for every symmetric A with a positive diagonal. All rows of a colour are independent.
/// Bytes: see LevelScheduledSolve. Saad 2003, sections 4.1.1, 10.2 and 12.4.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct Ssor {
  static constexpr std::string_view name = "ssor";
  static constexpr double default_weight = 1;
  static constexpr bool can_smooth = true;  // M - A is positive semidefinite

  double weight = default_weight;
  std::shared_ptr<const SsorStructure> structure;
  LevelScheduledSolve<T, Exec> sweeps;

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const {
    sweeps.apply(exec, r, z);
  }
  double bytes() const { return sweeps.bytes(); }
  std::vector<SetupFact> report() const {
    return {{"weight", number_as_text(weight)},
            {"colours", std::to_string(structure->sweeps.levels.count())}};
  }

  /// For other values in the same pattern. Throws as weigh_ssor does, and is then as before.
  void update(const HostCsr<T>& a) {
    set_values(structure->sweeps, weigh_ssor(*structure, a, weight), sweeps);
  }
};

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
Ssor<T, Exec> make_ssor(const HostCsr<T>& a, double weight = Ssor<T, Exec>::default_weight) {
  check_ssor_weight(weight);
  Ssor<T, Exec> m;
  m.weight = weight;
  m.structure = std::make_shared<const SsorStructure>(analyze_ssor(a));
  m.sweeps = make_sweeps<T, Exec>(m.structure->sweeps);
  m.update(a);
  return m;
}

}  // namespace krysol
