// A tuning record: auto's choice, saved with the matrix and machine that it fits, for later runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/select/select.hpp>

namespace krysol {

/// Hashes of all row pointers and columns and, where asked for, of all values. Reads each array
/// once, which takes about as long as a multiplication; depends on no number of threads.
/// Instantiated for all entry types.
template <class S>
MatrixFingerprint fingerprint(const HostCsr<S>& csr, bool with_values);

/// What select_format chose for this matrix, on this space. `version` is the caller's to fill in.
/// Instantiated as make_operator is.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
TuningRecord save(const FormatChoice& choice, const HostCsr<S>& csr, const SelectOptions& options);

/// Why a saved choice does not fit this matrix on this space, as a sentence; empty where it fits.
/// Entry type, space, shape and pattern must agree, and the values for formats that look at them;
/// numbers of threads and versions are not compared.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::string mismatch(const TuningRecord& saved, const HostCsr<S>& csr);

/// The matrix in the saved format, without measuring: choice.reused is true then, and the
/// trials are the saved ones. Where it does not fit, or the format refuses, as the other
/// select_format, with the reason in choice.mismatch.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 const TuningRecord& saved, FormatChoice& choice);

/// select_format with what an earlier run on this machine measured as SelectOptions::earlier, where
/// there is such a run of the same matrix, type, space and number of threads; what is new is kept.
/// Costs a fingerprint beside it (about a multiplication), where anything is measured at all.
/// Exceptions of `memory` come through.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
std::unique_ptr<Operator<S, Exec>> select_format(const HostCsr<S>& csr,
                                                 const SelectOptions& options,
                                                 const TuningMemory& memory, FormatChoice& choice);

}  // namespace krysol
