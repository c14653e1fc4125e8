// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/registry.hpp>

#include <charconv>

#include <fmt/format.h>
#include <krysol/solver/block_jacobi.hpp>
#include <krysol/solver/cg.hpp>
#include <krysol/solver/jacobi.hpp>
#include <krysol/spmv/spaces.hpp>

namespace krysol {
namespace {

template <class T, class Exec>
struct SolverEntry {
  MethodInfo info;
  SolveResult (*solve)(const Exec&, const Operator<T, Exec>&, const ConstVector<T, Exec>&,
                       const Vector<T, Exec>&, const AnyPreconditioner<T, Exec>&, const Stop&,
                       const Observer&);
};

/// To add a solver: write its header, and add a line here.
template <class T, class Exec>
std::vector<SolverEntry<T, Exec>> solvers() {
  return {
      {{"cg", "symmetric (Hermitian) positive definite systems"},
       &cg<Exec, Operator<T, Exec>, T, AnyPreconditioner<T, Exec>>},
  };
}

template <class T, class Exec>
struct PreconditionerEntry {
  MethodInfo info;
  /// parameter: the number behind the colon, 0 where there is none
  MadePreconditioner<T, Exec> (*make)(const HostCsr<T>&, Index parameter);
  bool takes_parameter;
};

template <class T, class Exec>
MadePreconditioner<T, Exec> none(const HostCsr<T>&, Index) {
  return {std::make_unique<PreconditionerOf<Identity, T, Exec>>(Identity{}), {}};
}

template <class T, class Exec>
MadePreconditioner<T, Exec> jacobi(const HostCsr<T>& a, Index) {
  using M = Jacobi<T, Exec>;
  return {std::make_unique<PreconditionerOf<M, T, Exec>>(make_jacobi<Exec>(a)), {}};
}

template <class T, class Exec>
MadePreconditioner<T, Exec> block_jacobi(const HostCsr<T>& a, Index block) {
  using M = BlockJacobi<T, Exec>;
  M m = make_block_jacobi<Exec>(a, block > 0 ? block : M::default_block);
  std::string note;
  if (m.fallback_blocks > 0) {
    note = fmt::format(
        "block-jacobi: {} block(s) are not positive definite, the first at row {}; their diagonal "
        "is used instead",
        m.fallback_blocks, m.first_fallback + 1);
  }
  return {std::make_unique<PreconditionerOf<M, T, Exec>>(std::move(m)), std::move(note)};
}

/// To add a preconditioner: write its header, and add a line here.
template <class T, class Exec>
std::vector<PreconditionerEntry<T, Exec>> preconditioners() {
  return {
      {{"none", "well-scaled matrices, comparisons"}, &none<T, Exec>, false},
      {{"jacobi", "any matrix with a positive diagonal; costs next to nothing"},
       &jacobi<T, Exec>,
       false},
      {{"block-jacobi", "several unknowns a node; block-jacobi:N for N rows a block, 4 by default"},
       &block_jacobi<T, Exec>,
       true},
  };
}

template <class Entries>
[[noreturn]] void throw_unknown(std::string_view kind, std::string_view name,
                                const Entries& entries) {
  std::string known;
  for (const auto& e : entries) known += fmt::format(" {}", e.info.name);
  throw std::invalid_argument(fmt::format("unknown {} '{}'; known:{}", kind, name, known));
}

template <class Entries>
std::vector<MethodInfo> infos(const Entries& entries) {
  std::vector<MethodInfo> list;
  for (const auto& e : entries) list.push_back(e.info);
  return list;
}

}  // namespace

std::vector<MethodInfo> list_solvers() { return infos(solvers<double, Host>()); }

std::vector<MethodInfo> list_preconditioners() { return infos(preconditioners<double, Host>()); }

template <class T, class Exec>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a) {
  const auto entries = preconditioners<T, Exec>();
  const std::string_view base = name.substr(0, name.find(':'));
  Index parameter = 0;
  bool parameter_fits = true;
  if (base.size() < name.size()) {
    const std::string_view text = name.substr(base.size() + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parameter);
    parameter_fits = error == std::errc{} && end == text.data() + text.size() && parameter > 0;
  }
  for (const auto& e : entries) {
    if (e.info.name != base) continue;
    if (base.size() < name.size() && !e.takes_parameter) break;
    if (!parameter_fits) {
      throw std::invalid_argument(fmt::format(
          "preconditioner '{}': expected a whole number from 1 on behind '{}:'", name, base));
    }
    return e.make(a, parameter);
  }
  throw_unknown("preconditioner", name, entries);
}

template <class T, class Exec>
SolveResult solve(std::string_view name, const Exec& exec, const Operator<T, Exec>& a,
                  const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
                  const AnyPreconditioner<T, Exec>& m, const Stop& stop, const Observer& observer) {
  const auto entries = solvers<T, Exec>();
  for (const auto& e : entries) {
    if (e.info.name == name) return e.solve(exec, a, b, x, m, stop, observer);
  }
  throw_unknown("solver", name, entries);
}

#define KRYSOL_INSTANTIATE_TYPE(T, Exec)                                                         \
  template MadePreconditioner<T, Exec> make_preconditioner(std::string_view, const HostCsr<T>&); \
  template SolveResult solve(std::string_view, const Exec&, const Operator<T, Exec>&,            \
                             const ConstVector<T, Exec>&, const Vector<T, Exec>&,                \
                             const AnyPreconditioner<T, Exec>&, const Stop&, const Observer&);
#define KRYSOL_INSTANTIATE(Exec)        \
  KRYSOL_INSTANTIATE_TYPE(double, Exec) \
  KRYSOL_INSTANTIATE_TYPE(float, Exec)  \
  KRYSOL_INSTANTIATE_TYPE(Kokkos::complex<double>, Exec)
KRYSOL_FOR_EACH_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE
#undef KRYSOL_INSTANTIATE_TYPE

}  // namespace krysol
