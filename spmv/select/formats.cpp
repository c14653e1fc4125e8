// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/select/formats.hpp>

#include <fmt/core.h>
#include <krysol/spmv/select/make_operator.hpp>

namespace krysol {
namespace {

template <class F>
constexpr std::string_view variants_of() {
  if constexpr (requires { F::variants; }) return F::variants;
  return {};
}

template <class F>
constexpr bool looks_at_values_of_matrix() {
  if constexpr (requires { F::looks_at_values; }) return F::looks_at_values;
  return false;
}

template <class F>
FormatEstimate estimate_of(const MatrixProfile& matrix) {
  if constexpr (requires { F::estimate(matrix); }) {
    return F::estimate(matrix);
  } else {
    return {matrix.csr_bytes()};
  }
}

template <class... F>
std::vector<FormatInfo> describe(TypeList<F...>) {
  return {FormatInfo{F::name, F::good_for, variants_of<F>(),
                     looks_at_values_of_matrix<F>() || is_symmetric_only<F>, is_symmetric_only<F>,
                     &estimate_of<F>}...};
}

}  // namespace

std::vector<FormatInfo> list_formats() {
  return describe(Formats<double, Kokkos::DefaultExecutionSpace>{});
}

namespace detail {

void throw_unknown(std::string_view name) {
  std::string known;
  const auto add = [&known](const FormatInfo& f) {
    known += fmt::format(" {}", f.name);
    if (!f.variants.empty()) known += fmt::format("[:{}]", f.variants);
  };
  const auto formats = list_formats();
  const auto same = std::find_if(formats.begin(), formats.end(), [name](const FormatInfo& f) {
    return f.name == name.substr(0, name.find(':'));
  });
  if (same != formats.end()) {  // it is the variant that is not known
    add(*same);
    if (same->variants == "N") known += fmt::format(": {}", same->good_for);
  } else {
    std::for_each(formats.begin(), formats.end(), add);
  }
  throw std::invalid_argument(fmt::format("unknown format '{}'; known:{}", name, known));
}

void throw_unknown_here(std::string_view base, std::string_view name) {
  for (const FormatInfo& f : describe(FormatsOfHosts<double, Host>{})) {
    if (f.name == base) {
      throw FormatRefusal(fmt::format(
          "format '{}' is for hosts: threads walk parts of the matrix from one end to the other",
          base));
    }
  }
  throw_unknown(name);
}

void throw_not_reduced(std::string_view base) {
  throw FormatRefusal(
      fmt::format("format '{}' multiplies vectors of its values' own type only, so none of them "
                  "can be stored in less precision",
                  base));
}

}  // namespace detail
}  // namespace krysol
