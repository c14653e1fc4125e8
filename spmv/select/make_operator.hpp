// The body of make_operator. Only the files that instantiate it include this:
// spmv/select/formats_*.cpp, one for each type of values and vectors, because each takes a compiler
// half a minute and more.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/matrix/reduced_precision.hpp>
#include <krysol/spmv/select/format_list.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace krysol {
namespace detail {

[[noreturn]] void throw_unknown(std::string_view name);
/// A name that this space has no format for; another may.
[[noreturn]] void throw_unknown_here(std::string_view base, std::string_view name);
[[noreturn]] void throw_not_reduced(std::string_view base);

template <class F>
bool choose_variant(F& format, std::string_view variant) {
  if (variant.empty()) return true;
  if constexpr (requires { set_variant(format, variant); }) {
    return set_variant(format, variant);
  } else {
    return false;
  }
}

/// Values of type S, vectors of type T.
template <class T, class S, class Exec, class... F>
std::unique_ptr<Operator<T, Exec>> make_format(TypeList<F...>, std::string_view name,
                                               const HostCsr<S>& csr, bool mirrored = false) {
  const std::string_view base = name.substr(0, name.find(':'));
  const std::string_view variant =
      base.size() < name.size() ? name.substr(base.size() + 1) : std::string_view{};
  if (base.size() < name.size() && variant.empty()) throw_unknown(name);
  std::unique_ptr<Operator<T, Exec>> made;
  const auto try_one = [&]<class Format>(Format format) {
    if (Format::name != base) return;
    if (!choose_variant(format, variant)) throw_unknown(name);
    if constexpr (LinearOperator<Format, T, Exec>) {
      if constexpr (is_symmetric_only<Format>) {
        from_csr(csr, format, mirrored);
      } else {
        from_csr(csr, format);
      }
      made = std::make_unique<OperatorOf<Format, T, Exec>>(std::move(format));
    } else {
      throw_not_reduced(base);
    }
  };
  (try_one(F{}), ...);
  if (!made) throw_unknown_here(base, name);
  return made;
}

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> make_checked_operator(std::string_view name,
                                                         const HostCsr<S>& csr, bool mirrored) {
  return make_format<S, S, Exec>(Formats<S, Exec>{}, name, csr, mirrored);
}

}  // namespace detail

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view name, const HostCsr<S>& csr) {
  const Kokkos::Profiling::ScopedRegion region("krysol::make_operator");
  check(csr);
  return detail::make_checked_operator<S, Exec>(name, csr, false);
}

template <class S, class Exec>
requires std::is_same_v < Real<S>,
double > std::unique_ptr<Operator<S, Exec>> make_reduced_operator(std::string_view name,
                                                                  const HostCsr<S>& csr) {
  check(csr);
  return detail::make_format<S, ReducedPrecision<S>, Exec>(Formats<ReducedPrecision<S>, Exec>{},
                                                           name, reduced_precision(csr));
}

// What a file of them says for its type: KRYSOL_ON_EACH_SPACE(KRYSOL_MAKE_OPERATOR, float), and
// KRYSOL_ON_EACH_SPACE(KRYSOL_MAKE_REDUCED, double).
#define KRYSOL_MAKE_OPERATOR(T, Exec)                                                             \
  template std::unique_ptr<Operator<T, Exec>> make_operator(std::string_view, const HostCsr<T>&); \
  template std::unique_ptr<Operator<T, Exec>> detail::make_checked_operator(                      \
      std::string_view, const HostCsr<T>&, bool);
#define KRYSOL_MAKE_REDUCED(T, Exec)                                                  \
  template std::unique_ptr<Operator<T, Exec>> make_reduced_operator(std::string_view, \
                                                                    const HostCsr<T>&);

}  // namespace krysol
