// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats.hpp>

#include <fmt/format.h>
#include <krysol/spmv/spaces.hpp>

namespace krysol {
namespace {

template <class F>
constexpr std::string_view variants_of() {
  if constexpr (requires { F::variants; }) return F::variants;
  return {};
}

template <class F>
constexpr bool looks_at_values() {
  if constexpr (requires { F::looks_at_values; }) return F::looks_at_values;
  return false;
}

template <class... F>
std::vector<FormatInfo> describe(TypeList<F...>) {
  return {FormatInfo{F::name, F::good_for, variants_of<F>(),
                     looks_at_values<F>() || is_symmetric_only<F>, is_symmetric_only<F>}...};
}

template <class F>
bool choose_variant(F& format, std::string_view variant) {
  if (variant.empty()) return true;
  if constexpr (requires { set_variant(format, variant); }) {
    return set_variant(format, variant);
  } else {
    return false;
  }
}

[[noreturn]] void throw_unknown(std::string_view name) {
  std::string known;
  for (const FormatInfo& f : list_formats()) {
    known += fmt::format(" {}", f.name);
    if (!f.variants.empty()) known += fmt::format("[:{}]", f.variants);
  }
  throw std::invalid_argument(fmt::format("unknown format '{}'; known:{}", name, known));
}

/// A name that this space has no format for; another may.
template <class S>
[[noreturn]] void throw_unknown_here(std::string_view base, std::string_view name) {
  for (const FormatInfo& f : describe(FormatsOfHosts<S, Host>{})) {
    if (f.name == base) {
      throw FormatRefusal(fmt::format(
          "format '{}' is for hosts: threads walk parts of the matrix from one end to the other",
          base));
    }
  }
  throw_unknown(name);
}

template <class S, class Exec, class... F>
std::unique_ptr<Operator<S, Exec>> make(TypeList<F...>, std::string_view name,
                                        const HostCsr<S>& csr) {
  const std::string_view base = name.substr(0, name.find(':'));
  const std::string_view variant =
      base.size() < name.size() ? name.substr(base.size() + 1) : std::string_view{};
  if (base.size() < name.size() && variant.empty()) throw_unknown(name);
  std::unique_ptr<Operator<S, Exec>> made;
  const auto try_one = [&]<class Format>(Format format) {
    if (Format::name != base) return;
    if (!choose_variant(format, variant)) throw_unknown(name);
    from_csr(csr, format);
    made = std::make_unique<OperatorOf<Format, S, Exec>>(std::move(format));
  };
  (try_one(F{}), ...);
  if (!made) throw_unknown_here<S>(base, name);
  return made;
}

}  // namespace

std::vector<FormatInfo> list_formats() {
  return describe(Formats<double, Kokkos::DefaultExecutionSpace>{});
}

template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view name, const HostCsr<S>& csr) {
  check(csr);
  return make<S, Exec>(Formats<S, Exec>{}, name, csr);
}

#define KRYSOL_INSTANTIATE(S, Exec) \
  template std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view, const HostCsr<S>&);
KRYSOL_FOR_EACH_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
