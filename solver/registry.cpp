// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/registry.hpp>

#include <charconv>
#include <optional>

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <krysol/solver/krylov/cg.hpp>
#include <krysol/solver/precond/block_jacobi.hpp>
#include <krysol/solver/precond/ic0.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/solver/precond/ssor.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class T, class Exec>
struct SolverEntry {
  MethodInfo info;
  SolveResult (*solve)(const Exec&, const Operator<T, Exec>&, const ConstVector<T, Exec>&,
                       const Vector<T, Exec>&, const AnyPreconditioner<T, Exec>&,
                       const StoppingCriteria&, const Observer&);
};

/// To add a solver: write its header, and add a line here.
template <class T, class Exec>
std::vector<SolverEntry<T, Exec>> solvers() {
  return {
      {{"cg", "symmetric (Hermitian) positive definite systems"},
       &cg<Exec, Operator<T, Exec>, T, AnyPreconditioner<T, Exec>>},
  };
}

/// What stands after the colon of a name; nothing where there is none.
struct Parameter {
  std::string_view name;  // all of it, for messages
  std::optional<std::string_view> text{};
};

[[noreturn]] void throw_parameter(const Parameter& p, std::string_view expected) {
  throw std::invalid_argument(fmt::format("preconditioner '{}': expected {} after '{}:'", p.name,
                                          expected, p.name.substr(0, p.name.find(':'))));
}

Index whole_number(const Parameter& p, Index without) {
  if (!p.text) return without;
  Index value = 0;
  const char* end = p.text->data() + p.text->size();
  const auto [stop, error] = std::from_chars(p.text->data(), end, value);
  if (error != std::errc{} || stop != end || value < 1) {
    throw_parameter(p, "a whole number from 1 on");
  }
  return value;
}

double weight_below_2(const Parameter& p, double without) {
  if (!p.text) return without;
  double value = 0;
  const char* end = p.text->data() + p.text->size();
  const auto [stop, error] = fast_float::from_chars(p.text->data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0 && value < 2)) {
    throw_parameter(p, "a number above 0 and below 2");
  }
  return value;
}

template <class T, class Exec>
using Made = std::unique_ptr<AnyPreconditioner<T, Exec>>;

template <class T, class Exec>
struct PreconditionerEntry {
  MethodInfo info;
  Made<T, Exec> (*make)(const HostCsr<T>&, const Parameter&);
  bool takes_parameter;
};

template <class T, class Exec, class M>
Made<T, Exec> erased(M m) {
  return std::make_unique<PreconditionerOf<M, T, Exec>>(std::move(m));
}

template <class T, class Exec>
Made<T, Exec> none(const HostCsr<T>&, const Parameter&) {
  return erased<T, Exec>(Identity{});
}

template <class T, class Exec>
Made<T, Exec> jacobi(const HostCsr<T>& a, const Parameter&) {
  return erased<T, Exec>(make_jacobi<Exec>(a));
}

template <class T, class Exec>
Made<T, Exec> block_jacobi(const HostCsr<T>& a, const Parameter& p) {
  const Index block = whole_number(p, BlockJacobi<T, Exec>::default_block);
  return erased<T, Exec>(make_block_jacobi<Exec>(a, block));
}

template <class T, class Exec>
Made<T, Exec> ic0(const HostCsr<T>& a, const Parameter&) {
  return erased<T, Exec>(make_ic0<Exec>(a));
}

template <class T, class Exec>
Made<T, Exec> ssor(const HostCsr<T>& a, const Parameter& p) {
  return erased<T, Exec>(make_ssor<Exec>(a, weight_below_2(p, Ssor<T, Exec>::default_weight)));
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
      {{"ic0",
        "meshes, structures: a third of jacobi's iterations, each two to four times as long"},
       &ic0<T, Exec>,
       false},
      {{"ssor",
        "half of jacobi's iterations, fit for many cores and GPUs; ssor:W with 0 < W < 2, 1 by "
        "default"},
       &ssor<T, Exec>,
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

template <class T, class Exec>
MadePreconditioner<T, Exec> described(Made<T, Exec> m, const std::string& name) {
  const SetupNote seen = m->setup_note();
  const std::string_view between = seen.refusal.empty() ? "" : "; ";
  return {std::move(m), fmt::format("{}{}{}", seen.refusal, between, seen.remedy), seen.refusal,
          name, name};
}

template <class T, class Exec>
MadePreconditioner<T, Exec> replaced(const PreconditionerRefusal& refused, const std::string& name,
                                     const HostCsr<T>& a) {
  return {jacobi<T, Exec>(a, {"jacobi"}), fmt::format("{}; jacobi is used instead", refused.what()),
          refused.what(), name, "jacobi"};
}

}  // namespace

#ifndef KRYSOL_FOR_FLOAT
std::vector<MethodInfo> list_solvers() { return infos(solvers<double, Host>()); }

std::vector<MethodInfo> list_preconditioners() { return infos(preconditioners<double, Host>()); }
#endif

template <class T, class Exec>
MadePreconditioner<T, Exec> make_preconditioner(std::string_view name, const HostCsr<T>& a) {
  const auto entries = preconditioners<T, Exec>();
  Parameter parameter{name};
  const std::string_view base = name.substr(0, name.find(':'));
  if (base.size() < name.size()) parameter.text = name.substr(base.size() + 1);
  for (const auto& e : entries) {
    if (e.info.name != base) continue;
    if (parameter.text && !e.takes_parameter) break;
    try {
      return described<T, Exec>(e.make(a, parameter), std::string(name));
    } catch (const PreconditionerRefusal& refused) {
      return replaced<T, Exec>(refused, std::string(name), a);
    }
  }
  throw_unknown("preconditioner", name, entries);
}

template <class T, class Exec>
void update_preconditioner(MadePreconditioner<T, Exec>& made, const HostCsr<T>& a) {
  try {
    if (made.used == made.requested && made.m->update(a)) {
      made = described<T, Exec>(std::move(made.m), made.requested);
      return;
    }
  } catch (const PreconditionerRefusal& refused) {
    made = replaced<T, Exec>(refused, made.requested, a);
    return;
  }
  made = make_preconditioner<T, Exec>(made.requested, a);
}

template <class T, class Exec>
SolveResult solve(std::string_view name, const Exec& exec, const Operator<T, Exec>& a,
                  const std::type_identity_t<ConstVector<T, Exec>>& b, const Vector<T, Exec>& x,
                  const AnyPreconditioner<T, Exec>& m, const StoppingCriteria& stop,
                  const Observer& observer) {
  const auto entries = solvers<T, Exec>();
  for (const auto& e : entries) {
    if (e.info.name == name) return e.solve(exec, a, b, x, m, stop, observer);
  }
  throw_unknown("solver", name, entries);
}

#define KRYSOL_INSTANTIATE(T, Exec)                                                              \
  template MadePreconditioner<T, Exec> make_preconditioner(std::string_view, const HostCsr<T>&); \
  template void update_preconditioner(MadePreconditioner<T, Exec>&, const HostCsr<T>&);          \
  template SolveResult solve(std::string_view, const Exec&, const Operator<T, Exec>&,            \
                             const ConstVector<T, Exec>&, const Vector<T, Exec>&,                \
                             const AnyPreconditioner<T, Exec>&, const StoppingCriteria&,         \
                             const Observer&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
