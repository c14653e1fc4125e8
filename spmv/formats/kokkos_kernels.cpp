// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/kokkos_kernels.hpp>

#include <KokkosSparse_spmv.hpp>

#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

template <class S, class Exec>
struct KokkosKernelsPlan {
  using Device = typename Exec::device_type;
  using Matrix = KokkosSparse::CrsMatrix<const S, const Index, Device, void, const Offset>;
  using Handle = KokkosSparse::SPMVHandle<Exec, Matrix, ConstVector<S, Exec>, Vector<S, Exec>>;
  Matrix matrix;
  Handle handle;

  explicit KokkosKernelsPlan(const KokkosKernels<S, Exec>& a)
      : matrix("A", a.rows, a.cols, a.nnz(), a.csr.values, a.csr.row_ptr, a.csr.col_idx),
        handle(a.merge ? KokkosSparse::SPMV_MERGE_PATH : KokkosSparse::SPMV_NATIVE) {}
};

template <class S, class Exec>
void make_plan(KokkosKernels<S, Exec>& a) {
  a.plan = std::make_shared<KokkosKernelsPlan<S, Exec>>(a);
}

template <class S, class Exec>
void multiply(const Exec& exec, S alpha, const KokkosKernels<S, Exec>& a,
              const ConstVector<S, Exec>& x, S beta, const Vector<S, Exec>& y) {
  KokkosSparse::spmv(exec, &a.plan->handle, KokkosSparse::NoTranspose, alpha, a.plan->matrix, x,
                     beta, y);
}

#define KRYSOL_INSTANTIATE(S, Exec)                                     \
  template void make_plan(KokkosKernels<S, Exec>&);                     \
  template void multiply(const Exec&, S, const KokkosKernels<S, Exec>&, \
                         const ConstVector<S, Exec>&, S, const Vector<S, Exec>&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
