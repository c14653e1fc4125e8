// Solvers and preconditioners by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/preconditioner.hpp>
#include <krysol/solver/solver.hpp>
#include <krysol/spmv/csr.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

/// A line of `--list`.
struct MethodInfo {
  std::string_view name;
  std::string_view good_for;
};
std::vector<MethodInfo> list_solvers();
std::vector<MethodInfo> list_preconditioners();

/// A preconditioner, and what its setup had to do differently: empty, or a sentence for the user.
template <class T, class Exec>
struct MadePreconditioner {
  std::unique_ptr<AnyPreconditioner<T, Exec>> m;
  std::string note;
};

/// The preconditioner of that name for A. A name may carry a number, as in `block-jacobi:8`.
/// Throws std::invalid_argument with the list of names for one that is unknown.
/// Both are instantiated in the library for double, float and complex<double> on each enabled
/// space.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a);

/// Runs the solver of that name; see its header for what it takes. Throws as that does, and
/// std::invalid_argument with the list of names for one that is unknown.
template <class T, class Exec>
SolveResult solve(std::string_view name, const Exec& exec, const Operator<T, Exec>& a,
                  const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
                  const AnyPreconditioner<T, Exec>& m, const Stop& stop = {},
                  const Observer& observer = {});

}  // namespace krysol
