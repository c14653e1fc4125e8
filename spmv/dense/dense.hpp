// Products of dense blocks: C := alpha A B + beta C.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/dense/dense_view.hpp>

namespace krysol {

/// How a product of blocks is computed.
enum class DenseKernel {
  registers,  // a tile of C in the registers of each core, or of each thread of a GPU
  tiled,      // a tile of C and of both factors in the scratch memory of a team
};

/// A line of `--list`.
struct DenseKernelInfo {
  std::string_view name;
  std::string_view good_for;
  DenseKernel kernel;
};
std::vector<DenseKernelInfo> list_dense_kernels();

/// The kernel of that name. Throws std::invalid_argument with the list of names for one that is
/// unknown.
DenseKernel dense_kernel(std::string_view name);

struct GemmOptions {
  DenseKernel kernel = DenseKernel::registers;
  int block = 16;  // rows and columns of a tile of `tiled`; the other's are those of the registers
};

/// Memory for packed blocks and partial sums. Kept by the caller across many products, so that an
/// iteration allocates nothing. One object serves one stream of work.
template <class T, class Exec>
struct DenseWork {
  Vector<T, Exec> entries;
};

/// C := alpha A B + beta C, with A [m, k], B [k, n], C [m, n]; beta = 0 does not read C, and alpha
/// = 0 reads neither A nor B. C may share no entry with A or B.
///
/// An entry of C is a sum in an order that depends on m, n, k, the kernel and its block, never on
/// the number of threads. Its error is below 2 (k + 8) eps (|alpha| |A| |B| + |beta| |C|), complex
/// numbers 4 times that. Where k is long and C small, as for the Gram matrices A^H B of block
/// solvers, pieces of the sum are computed side by side and then added up. Bytes: A, B and C once
/// where they fit the last cache; `registers` packs the shorter of A and B once more.
///
/// Throws std::invalid_argument, naming the shapes, where they do not fit together, where C is A or
/// B, or where a tile of that block size exceeds a team's scratch memory.
/// Instantiated in the library for float, double and complex of both on each enabled space.
template <class T, class Exec>
void gemm_of_views(const Exec& exec, T alpha,
                   const DenseView<const T, typename Exec::memory_space>& a,
                   const DenseView<const T, typename Exec::memory_space>& b, T beta,
                   const DenseView<T, typename Exec::memory_space>& c, DenseWork<T, Exec>& work,
                   const GemmOptions& options);

/// A block as kernels of Exec see it, constant or not.
template <class T, class Exec, DenseBlock Block>
DenseView<T, typename Exec::memory_space> as_seen_from(const Block& block) {
  auto a = dense_view(block);
  static_assert(Kokkos::SpaceAccessibility<Exec, typename decltype(a)::MemorySpace>::accessible,
                "kernels of this space cannot reach this block's memory");
  return {a.data, a.rows, a.cols, a.row_stride, a.col_stride, a.conjugated};
}

/// The same for whatever dense_view takes: Kokkos Views of any layout, parts of them, and
/// adjoint(A) or transpose(A) in place of a factor.
template <class Exec, DenseBlock A, DenseBlock B, DenseBlock C>
void gemm(const Exec& exec, std::type_identity_t<EntryOf<C>> alpha, const A& a, const B& b,
          std::type_identity_t<EntryOf<C>> beta, const C& c, DenseWork<EntryOf<C>, Exec>& work,
          const GemmOptions& options = {}) {
  using T = EntryOf<C>;
  gemm_of_views<T, Exec>(exec, alpha, as_seen_from<const T, Exec>(a),
                         as_seen_from<const T, Exec>(b), beta, as_seen_from<T, Exec>(c), work,
                         options);
}
template <class Exec, DenseBlock A, DenseBlock B, DenseBlock C>
void gemm(const Exec& exec, std::type_identity_t<EntryOf<C>> alpha, const A& a, const B& b,
          std::type_identity_t<EntryOf<C>> beta, const C& c, const GemmOptions& options = {}) {
  DenseWork<EntryOf<C>, Exec> work;
  gemm(exec, alpha, a, b, beta, c, work, options);
}

}  // namespace krysol
