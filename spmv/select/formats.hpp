// Operators in any format, made by its name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <krysol/spmv/base/format_refusal.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/operator.hpp>

namespace krysol {

/// A line of `--list`.
struct FormatInfo {
  std::string_view name;
  std::string_view good_for;
  std::string_view variants;     // what may stand after a colon, as in "thread|lanes"; may be empty
  bool looks_at_values = false;  // its bytes depend on them, not on the pattern alone
  bool symmetric_only = false;   // refuses any other matrix
};

std::vector<FormatInfo> list_formats();

/// The matrix in the format of that name, in the memory of Exec. A name may carry a variant, as in
/// `csr:lanes`. Throws std::invalid_argument with the list of names for one that is unknown, and
/// FormatRefusal, with the numbers, where the format cannot reasonably hold this matrix.
///
/// Instantiated in krysol::krysol for double and complex<double>, in krysol::float for float and
/// complex<float>, on each enabled space.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view name, const HostCsr<S>& csr);

/// The same with each value rounded once to half the bytes: float under vectors of double, complex
/// alike. The operator is that of reduced_precision(csr): every product and sum is still one of the
/// vectors' type. Formats that look for equal values look at the rounded ones. Bytes a nonzero of
/// csr: 8 instead of 12 (double), 12 instead of 20 (complex<double>). Throws FormatRefusal too for
/// what reduced_precision refuses, and for a format that multiplies vectors of its values' type
/// only.
///
/// Instantiated in krysol::float, for double and complex<double> on each enabled space.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
requires std::is_same_v < Real<S>,
double > std::unique_ptr<Operator<S, Exec>> make_reduced_operator(std::string_view name,
                                                                  const HostCsr<S>& csr);

}  // namespace krysol
