// Solvers and preconditioners by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/krylov/workspace.hpp>
#include <krysol/solver/outcome/named_options.hpp>
#include <krysol/solver/outcome/solver.hpp>
#include <krysol/solver/precond/near_null_vectors.hpp>
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

/// What the method `name` requires of A; find_breakdown refuses a matrix only for lacking that, and
/// for Inf or NaN.
/// Throws std::invalid_argument, with the list of names, for an unknown name.
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
  std::shared_ptr<const NearNullVectors> near_null{};  // that were given
};

/// What a preconditioner may be made from. Both are of one matrix; what is not at hand is null.
template <class T, class Exec>
struct PreconditionerInput {
  const HostCsr<T>* matrix = nullptr;           // its entries, on the host
  const Operator<T, Exec>* multiply = nullptr;  // as the solver multiplies by it; outlives M
  NamedOptions options{};  // as those in a name: block-jacobi:8 is {{"block", "8"}}
  std::shared_ptr<const NearNullVectors> near_null{};  // for multigrid
};

/// The preconditioner `name` for A. The name may carry options, as in `block-jacobi:8` or
/// `block-jacobi:block=8`. One that cannot be built for these values is replaced by jacobi, and
/// `refusal` says why, with the row. Throws std::invalid_argument for an unknown name, with the
/// list of names, for an unknown option or a value out of range, and where the entries of A are
/// needed but input.matrix is null. Like the functions below, it is instantiated in krysol::krysol
/// for double and complex<double>, in krysol::float for float and complex<float>, on each enabled
/// space.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name,
                                                const PreconditionerInput<T, Exec>& input);
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a);

/// Rebuilds `made` for A, a matrix with the same pattern as before and other values. multiply: as
/// in PreconditionerInput, of that A; null: where M multiplies by A, it does so in csr. The result
/// is that of make_preconditioner with made.requested and made.options, but the analysis of the
/// pattern is reused. Throws std::invalid_argument where the pattern differs (ic0, ic,
/// ssor and cholesky name the row; others compare only the number of rows; amg is made anew for
/// another pattern, and from the second update on keeps its interpolation); `made` is then
/// unchanged.
template <class T, class Exec>
void update_preconditioner(MadePreconditioner<T, Exec>& made, const HostCsr<T>& a,
                           const Operator<T, Exec>* multiply = nullptr);

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
