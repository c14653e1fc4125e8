// Solvers and preconditioners by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/krylov/workspace.hpp>
#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

/// A line of `--list`.
struct MethodInfo {
  std::string_view name;
  std::string_view good_for;
  MethodTraits traits;
};
std::vector<MethodInfo> list_solvers();

/// What the method of that name asks of a matrix: for find_breakdown, which so refuses only what it
/// cannot solve. Throws std::invalid_argument with the list of names for one that is unknown.
MethodTraits method_traits(std::string_view name);

struct PreconditionerInfo {
  std::string_view name;
  std::string_view good_for;
  bool takes_parameters = false;  // in its name, after a colon, or as named options
  bool needs_matrix = true;       // it cannot be made for an operator whose entries nobody has
};
std::vector<PreconditionerInfo> list_preconditioners();

/// A preconditioner, and what its setup had to do differently.
template <class T, class Exec>
struct MadePreconditioner {
  std::unique_ptr<AnyPreconditioner<T, Exec>> m;
  std::string note{};       // empty, or a sentence for the user
  std::string refusal{};    // its first half, where all or part of what was asked for was not built
  std::string requested{};  // the name that was asked for
  std::string used{};       // the name of what was made: another one where that was refused
  NamedOptions options{};   // that were asked for
};

/// What a preconditioner may be made from. Both are of one matrix; what is not at hand is null.
template <class T, class Exec>
struct PreconditionerInput {
  const HostCsr<T>* matrix = nullptr;           // its entries, on the host
  const Operator<T, Exec>* multiply = nullptr;  // as the solver multiplies by it; outlives M
  NamedOptions options{};  // as those in a name: block-jacobi:8 is {{"block", "8"}}
};

/// The preconditioner of that name for A. A name may carry parameters, as `block-jacobi:8` does, or
/// `block-jacobi:block=8`. One that cannot be built for these values is replaced by jacobi, and
/// `refusal` says why: the row, and what was seen there. Throws std::invalid_argument with the list
/// of names for one that is unknown, for an option that it does not have, and where it needs the
/// entries of A and has none. All of these are instantiated in the library for double, float and
/// complex of both on each enabled space.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name,
                                                const PreconditionerInput<T, Exec>& input);
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a);

/// Makes of `made` what make_preconditioner would make of its requested name and options for A,
/// whose pattern is that of the matrix before and whose values may be others: what was found from
/// the pattern is kept. Throws std::invalid_argument, naming the row, where the pattern does not
/// fit; `made` is then as before.
template <class T, class Exec>
void update_preconditioner(MadePreconditioner<T, Exec>& made, const HostCsr<T>& a);

/// Runs the solver of that name; see its header for what it takes. options: what it alone has, as
/// {{"lambda_min", "1e-3"}} for cg. workspace: vectors to work in, kept from one solve to the next,
/// and the all-reduce of rows that are spread over processes; nullptr: its own. Throws as the
/// method does, and std::invalid_argument with the list of names for one that is unknown.
template <class T, class Exec>
SolveResult solve(std::string_view name, const Exec& exec, const Operator<T, Exec>& a,
                  const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
                  const AnyPreconditioner<T, Exec>& m, const StoppingCriteria& stop = {},
                  const Observer& observer = {}, const NamedOptions& options = {},
                  Workspace<T, Exec>* workspace = nullptr);

}  // namespace krysol
