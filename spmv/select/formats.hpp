// Operators in any format, made by its name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <krysol/spmv/base/format_refusal.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>
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
  FormatEstimate (*estimate)(const MatrixProfile&) = nullptr;  // its own, see FormatEstimate
};

std::vector<FormatInfo> list_formats();

/// The matrix in the format of that name, in the memory of Exec. A name may carry a variant, as in
/// `csr:lanes`. Throws std::invalid_argument with the list of names for one that is unknown, and
/// FormatRefusal, with the numbers, where the format cannot reasonably hold this matrix.
/// std::invalid_argument too for what check() refuses, in one pass over the matrix.
///
/// The operator may share the arrays of `csr`: on a host csr, csr_merge and kokkos_kernels share
/// all three, coo its columns and values, bsr its values. Shared arrays cost no memory, and values
/// changed in place change the operator. All other formats, and any on a device, copy. Views keep
/// shared arrays alive; memory behind unmanaged Views must outlive the operator. To change the
/// values of an operator in any format, make a new one.
///
/// A const operator may multiply for several host threads at once, each with vectors and a
/// ReductionWorkspace of its own: every product has the bits that it has alone. What a product
/// needs beside its vectors is held by one caller at a time (ScratchPool). Kokkos runs the kernels
/// that threads launch on one instance of Serial or OpenMP one after the other; threads that are to
/// multiply at the same time need instances of their own, such as Kokkos::OpenMP(1), each of which
/// has its own team.
///
/// Instantiated in krysol::krysol for double and complex<double>, in krysol::float for float and
/// complex<float>, on each enabled space.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> make_operator(std::string_view name, const HostCsr<S>& csr);

namespace detail {
/// make_operator for a matrix that check() has passed. `mirrored`: the caller has seen what
/// MatrixProperties::mirrored says, so that no format has to look again. Instantiated with it.
template <class S, class Exec>
std::unique_ptr<Operator<S, Exec>> make_checked_operator(std::string_view name,
                                                         const HostCsr<S>& csr, bool mirrored);
}  // namespace detail

/// make_operator with each value rounded once to half the bytes: float under vectors of double,
/// complex alike. The operator is that of reduced_precision(csr): every product and sum is still
/// one of the vectors' type. Formats that look for equal values look at the rounded ones. Bytes a
/// nonzero of csr: 8 instead of 12 (double), 12 instead of 20 (complex<double>). Throws
/// FormatRefusal too for what reduced_precision refuses, and for a format that multiplies vectors
/// of its values' type only.
///
/// Instantiated in krysol::float, for double and complex<double> on each enabled space.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
requires std::is_same_v < Real<S>,
double > std::unique_ptr<Operator<S, Exec>> make_reduced_operator(std::string_view name,
                                                                  const HostCsr<S>& csr);

}  // namespace krysol
