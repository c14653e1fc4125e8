// Block-Jacobi: the diagonal blocks of A, inverted.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/precond/jacobi.hpp>

namespace krysol {

/// What to tell the user of blocks that are not positive definite.
SetupNote block_jacobi_note(Index fallback_blocks, Index first_fallback);

/// z(K) := A(K, K)^-1 r(K) for blocks K of `block` neighbouring rows (the last may be shorter).
/// A block that is not positive definite falls back to its diagonal, as Jacobi treats it, and is
/// counted; a matrix with such a block is not positive definite.
/// Bytes a row and application in double: 8 block for the inverse, 8 r, 16 z.
/// Saad 2003, section 4.1.1.
template <class T, class Exec = Kokkos::DefaultExecutionSpace>
struct BlockJacobi {
  static constexpr std::string_view name = "block-jacobi";
  static constexpr Index default_block = 4;

  Index block = default_block;
  Index fallback_blocks = 0;  // not positive definite
  Index first_fallback = -1;  // the first row of the first of them
  /// [rows, block] inverse(i, j): entry of z(i) from r(first row of i's block + j)
  Kokkos::View<T**, Kokkos::LayoutLeft, Exec> inverse;

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  /// For other values. Throws std::invalid_argument unless A has as many rows as before.
  void update(const HostCsr<T>& a);
  SetupNote setup_note() const { return block_jacobi_note(fallback_blocks, first_fallback); }
  std::vector<SetupFact> report() const {
    return {{"rows a block", std::to_string(block)},
            {"blocks not positive definite", std::to_string(fallback_blocks)}};
  }
  double bytes() const {
    return static_cast<double>((inverse.extent(0) * inverse.extent(1) + 3 * inverse.extent(0)) *
                               sizeof(T));
  }
};

template <class T>
struct BlockProduct {
  const T* inverse;
  std::int64_t rows;
  Index block;
  const T* r;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t first = i / block * block;
    const std::int64_t last = first + block < rows ? first + block : rows;
    T sum = T(0);
    for (std::int64_t j = first; j < last; ++j) sum += inverse[(j - first) * rows + i] * r[j];
    z[i] = sum;
  }
};

template <class T, class Exec>
void BlockJacobi<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                                 const Vector<T, Exec>& z) const {
  const auto rows = static_cast<std::int64_t>(z.extent(0));
  for_each("krysol::block_jacobi", exec, rows,
           BlockProduct<T>{inverse.data(), rows, block, r.data(), z.data()});
}

/// The inverses of the diagonal blocks on the host: inverse[j rows + i] as in BlockJacobi.
template <class T>
struct BlockInverses {
  std::vector<T> inverse;
  Index fallback_blocks = 0;
  Index first_fallback = -1;
};

/// Throws std::invalid_argument unless 1 <= block <= 64.
void check_block(Index block);

/// Throws as check_block does. Instantiated in the library for double,
/// float and complex numbers of both.
template <class T>
BlockInverses<T> invert_diagonal_blocks(const HostCsr<T>& a, Index block);

template <class T, class Exec>
void BlockJacobi<T, Exec>::update(const HostCsr<T>& a) {
  check_rows(name, inverse.extent(0), a);
  const BlockInverses<T> made = invert_diagonal_blocks(a, block);
  const Kokkos::View<const T**, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>
      host(made.inverse.data(), static_cast<std::size_t>(a.rows), static_cast<std::size_t>(block));
  Kokkos::deep_copy(inverse, host);
  fallback_blocks = made.fallback_blocks;
  first_fallback = made.first_fallback;
}

template <class Exec = Kokkos::DefaultExecutionSpace, class T>
BlockJacobi<T, Exec> make_block_jacobi(const HostCsr<T>& a,
                                       Index block = BlockJacobi<T, Exec>::default_block) {
  check_block(block);
  BlockJacobi<T, Exec> m;
  m.block = block;
  m.inverse = allocate<decltype(m.inverse)>("block_jacobi.inverse", a.rows, block);
  m.update(a);
  return m;
}

}  // namespace krysol
