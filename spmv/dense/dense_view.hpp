// Dense blocks as they lie, which products of blocks are given.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>
#include <utility>

#include <krysol/spmv/base/types.hpp>

namespace krysol {

/// A matrix with any two strides, in memory that kernels of Memory reach: entry (i, j) is
/// data[i row_stride + j col_stride], conjugated where the flag says so. It does not own the
/// entries.
template <class T, class Memory = Kokkos::DefaultExecutionSpace::memory_space>
struct DenseView {
  using Entry = std::remove_const_t<T>;
  using MemorySpace = Memory;

  T* data = nullptr;
  Offset rows = 0;
  Offset cols = 0;
  Offset row_stride = 1;
  Offset col_stride = 0;
  bool conjugated = false;
};

/// A Kokkos::View of rank 2 and any layout, or of rank 1, which is a single column.
template <class Data, class... Properties>
auto dense_view(const Kokkos::View<Data, Properties...>& v) {
  using View = Kokkos::View<Data, Properties...>;
  static_assert(View::rank() == 1 || View::rank() == 2,
                "a dense block is a view of rank 2, or of rank 1 for a single column");
  DenseView<typename View::value_type, typename View::memory_space> d;
  d.data = v.data();
  d.rows = static_cast<Offset>(v.extent(0));
  d.row_stride = static_cast<Offset>(v.stride(0));
  if constexpr (View::rank() == 2) {
    d.cols = static_cast<Offset>(v.extent(1));
    d.col_stride = static_cast<Offset>(v.stride(1));
  } else {
    d.cols = 1;
    d.col_stride = d.rows * d.row_stride;
  }
  return d;
}
template <class T, class Memory>
DenseView<T, Memory> dense_view(const DenseView<T, Memory>& d) {
  return d;
}

/// What dense_view takes.
template <class Block>
concept DenseBlock = requires(const Block& a) {
  dense_view(a).row_stride;
};
template <DenseBlock Block>
using EntryOf = typename decltype(dense_view(std::declval<Block>()))::Entry;

/// A^T and A^H: other views of the same entries.
template <DenseBlock Block>
auto transpose(const Block& block) {
  auto a = dense_view(block);
  std::swap(a.rows, a.cols);
  std::swap(a.row_stride, a.col_stride);
  return a;
}
template <DenseBlock Block>
auto adjoint(const Block& block) {
  auto a = transpose(block);
  a.conjugated = !a.conjugated;
  return a;
}

}  // namespace krysol
