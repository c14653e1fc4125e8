// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/registry.hpp>

#include <fmt/core.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/solver/cholesky/cholesky.hpp>
#include <krysol/solver/coarsening/node_blocks.hpp>
#include <krysol/solver/composed/chebyshev.hpp>
#include <krysol/solver/composed/schwarz.hpp>
#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/krylov/minres.hpp>
#include <krysol/solver/multigrid/multigrid.hpp>
#include <krysol/solver/precond/block_jacobi.hpp>
#include <krysol/solver/precond/fsai.hpp>
#include <krysol/solver/precond/ic0.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/solver/precond/ssor.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace krysol {
namespace {

template <class Options, class T, class Exec>
using Method = SolveResult (*)(const Exec&, const Operator<T, Exec>&, const ConstVector<T, Exec>&,
                               const Vector<T, Exec>&, const AnyPreconditioner<T, Exec>&,
                               const StoppingCriteria&, const Observer&, const Options&,
                               Workspace<T, Exec>*);

/// What a solve by name passes on.
template <class T, class Exec>
struct Call {
  const Exec& exec;
  const Operator<T, Exec>& a;
  const ConstVector<T, Exec>& b;
  const Vector<T, Exec>& x;
  const AnyPreconditioner<T, Exec>& m;
  const StoppingCriteria& stop;
  const Observer& observer;
  std::string_view name;
  const NamedOptions& options;
  Workspace<T, Exec>* workspace;
};

template <class T, class Exec>
struct SolverEntry {
  MethodInfo info;
  SolveResult (*solve)(const Call<T, Exec>&);
};

template <class Options, class T, class Exec, Method<Options, T, Exec> method>
SolveResult by_name(const Call<T, Exec>& c) {
  return method(c.exec, c.a, c.b, c.x, c.m, c.stop, c.observer, Options::read(c.name, c.options),
                c.workspace);
}

/// To add a solver: write its header, and add a line here.
template <class T, class Exec>
std::vector<SolverEntry<T, Exec>> solvers() {
  using A = Operator<T, Exec>;
  using M = AnyPreconditioner<T, Exec>;
  return {
      {{"cg", "symmetric (Hermitian) positive definite systems", cg_traits},
       &by_name<CgOptions, T, Exec, &cg<Exec, A, T, M>>},
      {{"minres", "symmetric (Hermitian) systems, definite or not; singular ones", minres_traits},
       &by_name<NoOptions, T, Exec, &minres<Exec, A, T, M>>},
  };
}

template <class T, class Exec>
using Made = std::unique_ptr<AnyPreconditioner<T, Exec>>;

/// What a preconditioner is made of: its entry sees to it that a matrix is there if it needs one.
template <class T, class Exec>
struct Ingredients {
  std::string_view name;  // as it was asked for, for messages
  const PreconditionerInput<T, Exec>& input;
  const HostCsr<T>& matrix() const { return *input.matrix; }
  OptionReader options(std::initializer_list<std::string_view> known) const {
    return {"preconditioner", name, input.options, known};
  }
};

template <class T, class Exec>
struct PreconditionerEntry {
  PreconditionerInfo info;
  Made<T, Exec> (*make)(const Ingredients<T, Exec>&);
};

template <class T, class Exec, class M>
Made<T, Exec> erased(M m) {
  return std::make_unique<PreconditionerOf<M, T, Exec>>(std::move(m));
}

template <class T, class Exec>
Made<T, Exec> none(const Ingredients<T, Exec>& from) {
  static_cast<void>(from.options({}));
  return erased<T, Exec>(Identity{});
}

template <class T, class Exec>
Made<T, Exec> jacobi(const Ingredients<T, Exec>& from) {
  static_cast<void>(from.options({}));
  return erased<T, Exec>(make_jacobi<Exec>(from.matrix()));
}

template <class T, class Exec>
Made<T, Exec> block_jacobi(const Ingredients<T, Exec>& from) {
  const HostCsr<T>& a = from.matrix();
  Index block = from.options({"block"}).whole_number("block", 0);
  if (block == 0) {
    const Index of_node = multigrid::rows_of_node(a.row_ptr.data(), a.col_idx.data(), a.rows);
    block = of_node > 1 ? of_node : BlockJacobi<T, Exec>::default_block;
  }
  return erased<T, Exec>(make_block_jacobi<Exec>(a, block));
}

template <class T, class Exec>
Made<T, Exec> ic0(const Ingredients<T, Exec>& from) {
  static_cast<void>(from.options({}));
  return erased<T, Exec>(make_ic0<Exec>(from.matrix()));
}

template <class T, class Exec>
Made<T, Exec> ic(const Ingredients<T, Exec>& from) {
  const OptionReader options = from.options({"level", "threshold"});
  FillRule rule;
  rule.threshold = options.number_between("threshold", 0, 1, 0);
  if (rule.threshold > 0 && options.has("level")) {
    throw std::invalid_argument(
        fmt::format("preconditioner '{}': 'level' and 'threshold' are two rules for the same "
                    "entries; give one of them",
                    from.name));
  }
  if (rule.threshold == 0) {
    rule.level = options.whole_number_to("level", 16, Ic<T, Exec>::default_level);
  }
  return erased<T, Exec>(make_ic<Exec>(from.matrix(), rule));
}

template <class T, class Exec>
Made<T, Exec> fsai(const Ingredients<T, Exec>& from) {
  static_cast<void>(from.options({}));
  return erased<T, Exec>(make_fsai<Exec>(from.matrix()));
}

template <class T, class Exec>
Made<T, Exec> ssor(const Ingredients<T, Exec>& from) {
  const double weight =
      from.options({"weight"}).number_between("weight", 0, 2, Ssor<T, Exec>::default_weight);
  return erased<T, Exec>(make_ssor<Exec>(from.matrix(), weight));
}

template <class T, class Exec>
Made<T, Exec> amg(const Ingredients<T, Exec>& from) {
  const Operator<T, Exec>* multiply = from.input.multiply;
  MultigridOptions options = MultigridOptions::read(from.name, from.input.options);
  options.levels.near_null = from.input.near_null;
  return erased<T, Exec>(Multigrid<T, Exec>(
      from.matrix(), options, multiply != nullptr ? multiply->name() : std::string_view{}));
}

template <class T, class Exec>
Made<T, Exec> cholesky_factors(const Ingredients<T, Exec>& from) {
  static_cast<void>(from.options({}));
  return erased<T, Exec>(Cholesky<T, Exec>(from.matrix()));
}

/// With arrays of its own, which stay what they are when the caller's change.
template <class T>
HostCsr<T> copy_of(const HostCsr<T>& a) {
  HostCsr<T> copy{a.rows, a.cols, {}, {}, {}};
  copy.row_ptr = allocate<decltype(copy.row_ptr)>("copy.row_ptr", a.row_ptr.extent(0));
  copy.col_idx = allocate<decltype(copy.col_idx)>("copy.col_idx", a.col_idx.extent(0));
  copy.values = allocate<decltype(copy.values)>("copy.values", a.values.extent(0));
  Kokkos::deep_copy(copy.row_ptr, a.row_ptr);
  Kokkos::deep_copy(copy.col_idx, a.col_idx);
  Kokkos::deep_copy(copy.values, a.values);
  return copy;
}

/// No smaller than any eigenvalue of D^-1 A, as far as the Ritz values of CG for a pseudo-random
/// right-hand side show, with a margin. For rows of one process: others would find other bounds.
template <class T, class Exec>
double largest_eigenvalue_of(std::string_view name, const Operator<T, Exec>& a,
                             const AnyPreconditioner<T, Exec>& d) {
  constexpr std::int64_t steps = 20;
  constexpr double margin = 1.05;
  if (a.rows == 0) return 1;
  const Exec exec;
  const auto b = uninitialized<T>(exec, "chebyshev.b", a.rows);
  const auto x = uninitialized<T>(exec, "chebyshev.x", a.rows);
  for_each("krysol::chebyshev(b)", exec, a.rows, cg_kernels::Noise<T>{b.data()});
  Kokkos::deep_copy(exec, x, T(0));
  StoppingCriteria stop;
  stop.max_iterations = steps;
  SolveResult seen = solve<T, Exec>("cg", exec, a, b, x, d, stop);
  const bool null_direction =
      seen.status == Status::indefinite_matrix && seen.breakdown.curvature == 0;
  if (null_direction && seen.iterations > 0) {  // A is singular: as far as that does not show
    stop.max_iterations = seen.iterations;
    Kokkos::deep_copy(exec, x, T(0));
    seen = solve<T, Exec>("cg", exec, a, b, x, d, stop);
  }
  if (!seen.cg || !seen.cg->spectrum.known()) {
    throw PreconditionerRefusal(
        fmt::format("{}: the largest eigenvalue of A is not found by CG, which ends with '{}'",
                    name, to_string(seen.status)),
        -1);
  }
  const RitzValue& largest = seen.cg->spectrum.largest;
  return margin * (largest.value + largest.residual);
}

template <class T, class Exec>
Made<T, Exec> chebyshev(const Ingredients<T, Exec>& from) {
  const OptionReader reader = from.options({"degree", "ratio"});
  ChebyshevOptions options;
  options.degree = reader.whole_number_to("degree", 64, options.degree);
  options.ratio = reader.number_between("ratio", 1, 1e6, options.ratio);
  const PreconditionerInput<T, Exec>& input = from.input;
  std::shared_ptr<const Operator<T, Exec>> a;
  if (input.multiply != nullptr) {
    a = {std::shared_ptr<void>(), input.multiply};  // it outlives M
  } else if (input.matrix != nullptr) {
    a = make_operator<T, Exec>("csr", copy_of(*input.matrix));
  } else {
    throw std::invalid_argument(
        fmt::format("preconditioner '{}' is made from A, and there is none", from.name));
  }
  if (input.matrix == nullptr) {
    const PreconditionerOf<Identity, T, Exec> ones{Identity{}};
    options.largest = largest_eigenvalue_of<T, Exec>(from.name, *a, ones);
    return erased<T, Exec>(Chebyshev<T, Exec>(std::move(a), {}, options));
  }
  const Made<T, Exec> diagonal = erased<T, Exec>(make_jacobi<Exec>(*input.matrix));
  options.largest = largest_eigenvalue_of<T, Exec>(from.name, *a, *diagonal);
  return erased<T, Exec>(Chebyshev<T, Exec>(std::move(a), diagonal->inverse_diagonal(), options));
}

template <class T, class Exec>
Made<T, Exec> schwarz(const Ingredients<T, Exec>& from) {
  const OptionReader reader = from.options({"rows", "overlap", "local"});
  SchwarzOptions options;
  options.rows_per_part = reader.whole_number("rows", options.rows_per_part);
  options.overlap = reader.whole_number_to("overlap", 16, options.overlap);
  const bool exact = reader.one_of("local", {"cholesky", "ic0"}) == 0;
  const HostCsr<T>& a = from.matrix();
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("schwarz: a matrix of {} x {}, which is not square", a.rows, a.cols));
  }
  SchwarzParts parts = make_schwarz_parts(a.row_ptr.data(), a.col_idx.data(), a.rows, options);
  const HostCsr<T> blocks = matrix_of_parts(parts, a);
  try {
    std::shared_ptr<AnyPreconditioner<T, Exec>> local =
        exact ? erased<T, Exec>(Cholesky<T, Exec>(blocks))
              : erased<T, Exec>(make_ic0<Exec>(blocks));
    return erased<T, Exec>(Schwarz<T, Exec>(parts, std::move(local)));
  } catch (const PreconditionerRefusal& refused) {
    refuse_part(parts, refused);
  }
}

/// To add a preconditioner: write its header, and add a line here.
template <class T, class Exec>
std::vector<PreconditionerEntry<T, Exec>> preconditioners() {
  return {
      {{.name = "none", .good_for = "well-scaled matrices, comparisons", .needs_matrix = false},
       &none<T, Exec>},
      {{"jacobi", "any matrix with a positive diagonal; costs next to nothing"}, &jacobi<T, Exec>},
      {{"block-jacobi",
        "several unknowns a node; block-jacobi:N for N rows a block, else those of a node, or 4",
        true},
       &block_jacobi<T, Exec>},
      {{"ic0",
        "meshes, structures: a third of jacobi's iterations, each two to four times as long"},
       &ic0<T, Exec>},
      {{"ic",
        "likewise with fill, harder systems: ic:K for entries up to level K, 1 by default, or "
        "ic:threshold=T for those above T",
        true},
       &ic<T, Exec>},
      {{"fsai",
        "an approximate inverse, two products: half of jacobi's iterations on many cores and GPUs"},
       &fsai<T, Exec>},
      {{"ssor",
        "half of jacobi's iterations, fit for many cores and GPUs; ssor:W with 0 < W < 2, 1 by "
        "default",
        true},
       &ssor<T, Exec>},
      {{"chebyshev",
        "products in place of sums over all rows, for many cores and GPUs; chebyshev:N for N of "
        "them, 4 by default",
        true, false},
       &chebyshev<T, Exec>},
      {{"schwarz",
        "systems for parts of the rows, which overlap: schwarz:N for N rows a part, 1000 by "
        "default",
        true},
       &schwarz<T, Exec>},
      {{"amg",
        "grids, meshes, structures, the larger the better: tens of iterations whatever the size",
        true},
       &amg<T, Exec>},
      {{"cholesky",
        "an exact factorization: some 10^5 rows, systems that take others thousands of iterations"},
       &cholesky_factors<T, Exec>},
  };
}

template <class Entries>
[[noreturn]] void throw_unknown(std::string_view kind, std::string_view name,
                                const Entries& entries) {
  std::string known;
  for (const auto& e : entries) known += fmt::format(" {}", e.info.name);
  throw std::invalid_argument(fmt::format("unknown {} '{}'; known:{}", kind, name, known));
}

template <class T, class Exec>
MadePreconditioner<T, Exec> described(Made<T, Exec> m, const std::string& name,
                                      const NamedOptions& options,
                                      const std::shared_ptr<const NearNullVectors>& near_null) {
  const SetupNote seen = m->setup_note();
  const std::string_view between = seen.refusal.empty() ? "" : "; ";
  return {std::move(m), fmt::format("{}{}{}", seen.refusal, between, seen.remedy),
          seen.refusal, name,
          name,         options,
          near_null};
}

template <class T, class Exec>
MadePreconditioner<T, Exec> replaced(const PreconditionerRefusal& refused, const std::string& name,
                                     const NamedOptions& options,
                                     const std::shared_ptr<const NearNullVectors>& near_null,
                                     const HostCsr<T>& a) {
  const PreconditionerInput<T, Exec> input{&a};
  return {jacobi<T, Exec>({"jacobi", input}),
          fmt::format("{}; jacobi is used instead", refused.what()),
          refused.what(),
          name,
          "jacobi",
          options,
          near_null};
}

/// Where there is no matrix to make jacobi from.
template <class T, class Exec>
MadePreconditioner<T, Exec> left_out(const PreconditionerRefusal& refused,
                                     const PreconditionerInput<T, Exec>& input,
                                     const std::string& name) {
  return {none<T, Exec>({"none", PreconditionerInput<T, Exec>{}}),
          fmt::format("{}; none is used instead", refused.what()),
          refused.what(),
          name,
          "none",
          input.options,
          input.near_null};
}

template <class T, class Exec>
SolverEntry<T, Exec> solver_of(std::string_view name) {
  const auto entries = solvers<T, Exec>();
  for (const auto& e : entries) {
    if (e.info.name != base_of(name)) continue;
    if (e.info.name == name || e.info.traits.takes_parameters) return e;
  }
  throw_unknown("solver", name, entries);
}

}  // namespace

#ifndef KRYSOL_FOR_FLOAT
std::vector<MethodInfo> list_solvers() {
  std::vector<MethodInfo> list;
  for (const auto& e : solvers<double, Host>()) list.push_back(e.info);
  return list;
}

std::vector<PreconditionerInfo> list_preconditioners() {
  std::vector<PreconditionerInfo> list;
  for (const auto& e : preconditioners<double, Host>()) list.push_back(e.info);
  return list;
}

MethodTraits method_traits(std::string_view name) {
  return solver_of<double, Host>(name).info.traits;
}
#endif

template <class T, class Exec>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name,
                                                const PreconditionerInput<T, Exec>& input) {
  const Kokkos::Profiling::ScopedRegion region("krysol::make_preconditioner");
  const auto entries = preconditioners<T, Exec>();
  for (const auto& e : entries) {
    if (e.info.name != base_of(name)) continue;
    if (e.info.name != name && !e.info.takes_parameters) break;
    if (e.info.needs_matrix && input.matrix == nullptr) {
      throw std::invalid_argument(
          fmt::format("preconditioner '{}' is made from the entries of A; for an operator without "
                      "them there are 'none' and 'chebyshev', or your own",
                      name));
    }
    try {
      return described<T, Exec>(e.make({name, input}), std::string(name), input.options,
                                input.near_null);
    } catch (const PreconditionerRefusal& refused) {
      if (input.matrix == nullptr) return left_out<T, Exec>(refused, input, std::string(name));
      return replaced<T, Exec>(refused, std::string(name), input.options, input.near_null,
                               *input.matrix);
    }
  }
  throw_unknown("preconditioner", name, entries);
}

template <class T, class Exec>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a) {
  return make_preconditioner<T, Exec>(name, PreconditionerInput<T, Exec>{&a});
}

template <class T, class Exec>
void update_preconditioner(MadePreconditioner<T, Exec>& made, const HostCsr<T>& a,
                           const Operator<T, Exec>* multiply) {
  try {
    if (made.used == made.requested && made.m->update(a)) {
      made = described<T, Exec>(std::move(made.m), made.requested, made.options, made.near_null);
      return;
    }
  } catch (const PreconditionerRefusal& refused) {
    made = replaced<T, Exec>(refused, made.requested, made.options, made.near_null, a);
    return;
  }
  made = make_preconditioner<T, Exec>(
      made.requested, PreconditionerInput<T, Exec>{&a, multiply, made.options, made.near_null});
}

template <class T, class Exec>
SolveResult solve(std::string_view name, const Exec& exec, const Operator<T, Exec>& a,
                  const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
                  const AnyPreconditioner<T, Exec>& m, const StoppingCriteria& stop,
                  const Observer& observer, const NamedOptions& options,
                  Workspace<T, Exec>* workspace) {
  const SolverEntry<T, Exec> entry = solver_of<T, Exec>(name);
  if (!m.is_fixed() && !entry.info.traits.admits_changing_preconditioner) {
    throw std::invalid_argument(
        fmt::format("solver '{}' needs a preconditioner that is the same linear map in each call, "
                    "and this '{}' is not; cg takes it",
                    name, m.name()));
  }
  return entry.solve({exec, a, b, x, m, stop, observer, name, options, workspace});
}

#define KRYSOL_INSTANTIATE(T, Exec)                                                              \
  template MadePreconditioner<T, Exec> make_preconditioner(std::string_view,                     \
                                                           const PreconditionerInput<T, Exec>&); \
  template MadePreconditioner<T, Exec> make_preconditioner(std::string_view, const HostCsr<T>&); \
  template void update_preconditioner(MadePreconditioner<T, Exec>&, const HostCsr<T>&,           \
                                      const Operator<T, Exec>*);                                 \
  template SolveResult solve(std::string_view, const Exec&, const Operator<T, Exec>&,            \
                             const ConstVector<T, Exec>&, const Vector<T, Exec>&,                \
                             const AnyPreconditioner<T, Exec>&, const StoppingCriteria&,         \
                             const Observer&, const NamedOptions&, Workspace<T, Exec>*);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
