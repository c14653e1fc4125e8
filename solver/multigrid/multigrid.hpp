// Algebraic multigrid as a preconditioner.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <krysol/solver/multigrid/cycle.hpp>
#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/precond/preconditioner.hpp>

namespace krysol {

/// What multigrid is made with, as `amg:cycle=w,degree=3` says it.
struct MultigridOptions {
  multigrid::HierarchyOptions levels{};
  multigrid::CycleOptions cycle{};
  bool in_double = false;  // levels are stored in double, else in float; complex alike

  /// cycle (v, w), degree (1 to 16), strength, block, coarsest (1 to 2000), precision (float,
  /// double), coarsening (auto, aggregates). Throws as OptionReader does.
  static MultigridOptions read(std::string_view name, const NamedOptions& options);
};

/// z := M^-1 r with one cycle over the levels of A, grids or made by smoothed aggregation. M is
/// symmetric positive definite where A is, as far as rounding lets it be: a W-cycle in float needs
/// the eigenvalues of the last levels, scaled to ones on the diagonal, above 1e-6 or so. Bytes: see
/// multigrid::Hierarchy. The setup is done on the host, in double. T: double, float, complex alike.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
class Multigrid {
 public:
  static constexpr std::string_view name = "amg";

  /// format: what A is multiplied in, by its name, where that is known. Throws as
  /// multigrid::make_hierarchy does.
  Multigrid(const HostCsr<T>& a, const MultigridOptions& options, std::string_view format);

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  double bytes() const;
  SetupNote setup_note() const { return note_; }
  std::vector<SetupFact> report() const { return facts_; }
  /// Throws as the constructor does, and is then as before; std::invalid_argument where A has other
  /// rows.
  void update(const HostCsr<T>& a);

 private:
  using Stored = std::conditional_t<is_complex<T>, Kokkos::complex<float>, float>;
  using StoredInDouble = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

  MultigridOptions options_;
  bool grid_ = false;
  std::shared_ptr<const multigrid::Hierarchy<Stored, Exec>> levels_;
  std::shared_ptr<const multigrid::Hierarchy<StoredInDouble, Exec>> in_double_;
  SetupNote note_;
  std::vector<SetupFact> facts_;
};

}  // namespace krysol
