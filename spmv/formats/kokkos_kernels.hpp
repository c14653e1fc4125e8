// Compressed sparse rows multiplied by Kokkos Kernels, where the build has found it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <limits>
#include <memory>
#include <string>

#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

/// Kokkos Kernels' own matrix and handle, which its headers know.
template <class S, class Exec>
struct KokkosKernelsPlan;

/// The matrix as in Csr, multiplied by KokkosSparse::spmv: `native` gives each row to a thread or
/// to the lanes of a team, `merge` cuts along the merge path and adds what rows have in several
/// pieces in no fixed order, so that its bits depend on the number of threads. Bytes a
/// multiplication: as Csr. It multiplies vectors of its own entry type only. Throws what Kokkos
/// Kernels throws.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct KokkosKernels {
  static constexpr std::string_view name = "kokkos_kernels";
  static constexpr std::string_view good_for = "comparison: Kokkos Kernels' product of csr";
  static constexpr std::string_view variants = "native|merge";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  bool merge = false;
  Csr<S, Exec> csr;  // its block_row stays empty
  std::shared_ptr<KokkosKernelsPlan<S, Exec>> plan;

  Offset nnz() const { return csr.nnz(); }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return {.bytes = matrix.csr_bytes(), .shares_csr = matrix.on_host()};
  }
};

template <class S, class Exec>
std::int64_t bytes(const KokkosKernels<S, Exec>& a) {
  return bytes(a.csr);
}

template <class S, class Exec>
bool set_variant(KokkosKernels<S, Exec>& a, std::string_view variant) {
  a.merge = variant == "merge";
  return a.merge || variant == "native";
}

/// y := alpha A x + beta y; see apply in row_loop.hpp.
/// Instantiated in the library for float, double and complex of both on each enabled space.
template <class S, class Exec>
void multiply(const Exec& exec, S alpha, const KokkosKernels<S, Exec>& a,
              const ConstVector<S, Exec>& x, S beta, const Vector<S, Exec>& y);

template <class S, std::same_as<S> T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const KokkosKernels<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  if (a.rows == 0) return;
  multiply<S, Exec>(exec, alpha, a, x, beta, y);
}

/// Instantiated in the library likewise.
template <class S, class Exec>
void make_plan(KokkosKernels<S, Exec>& a);

/// Throws FormatRefusal for 2^31 nonzeros and more, which Kokkos Kernels 4.5 counts in int on
/// Serial, and for `merge` where a small team would end the program (OpenMPTarget).
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, KokkosKernels<S, Exec>& a) {
  if (host.nnz() > std::numeric_limits<int>::max()) {
    throw FormatRefusal("kokkos_kernels: " + std::to_string(host.nnz()) +
                        " nonzeros are more than it counts on every execution space, 2147483647");
  }
  if (a.merge && least_team<Exec>() > 1) {
    throw FormatRefusal(
        "kokkos_kernels:merge asks for teams of fewer threads than this space has, " +
        std::to_string(least_team<Exec>()));
  }
  a.rows = host.rows;
  a.cols = host.cols;
  share_arrays(host, a.csr);
  make_plan(a);
}

}  // namespace krysol
