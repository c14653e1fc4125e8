// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/formats/kokkos_kernels.hpp>

#include <KokkosSparse_spmv.hpp>

#include <krysol/spmv/base/scratch_pool.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {

template <class S, class Exec>
struct KokkosKernelsPlan {
  using Device = typename Exec::device_type;
  using Matrix = KokkosSparse::CrsMatrix<const S, const Index, Device, void, const Offset>;
  using Handle = KokkosSparse::SPMVHandle<Exec, Matrix, ConstVector<S, Exec>, Vector<S, Exec>>;
  Matrix matrix;
  // A vendor's library keeps its buffers in the handle, from the first multiplication on.
  ScratchPool<std::unique_ptr<Handle>, Exec> handles;

  explicit KokkosKernelsPlan(const KokkosKernels<S, Exec>& a)
      : matrix("A", a.rows, a.cols, a.nnz(), a.csr.values, a.csr.row_ptr, a.csr.col_idx) {}
};

template <class S, class Exec>
void make_plan(KokkosKernels<S, Exec>& a) {
  a.plan = std::make_shared<KokkosKernelsPlan<S, Exec>>(a);
}

template <class S, class Exec>
void multiply(const Exec& exec, S alpha, const KokkosKernels<S, Exec>& a,
              const ConstVector<S, Exec>& x, S beta, const Vector<S, Exec>& y) {
  using Handle = typename KokkosKernelsPlan<S, Exec>::Handle;
  const auto handle = a.plan->handles.take(exec, [&a] {
    return std::make_unique<Handle>(a.merge ? KokkosSparse::SPMV_MERGE_PATH
                                            : KokkosSparse::SPMV_NATIVE);
  });
  KokkosSparse::spmv(exec, handle->get(), KokkosSparse::NoTranspose, alpha, a.plan->matrix, x, beta,
                     y);
}

#define KRYSOL_INSTANTIATE(S, Exec)                                     \
  template void make_plan(KokkosKernels<S, Exec>&);                     \
  template void multiply(const Exec&, S, const KokkosKernels<S, Exec>&, \
                         const ConstVector<S, Exec>&, S, const Vector<S, Exec>&);
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
