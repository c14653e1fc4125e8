// Dense blocks by tiles in a team's scratch memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/vector.hpp>
#include <krysol/spmv/dense/dense_product.hpp>

namespace krysol {

/// A square tile in scratch memory.
template <class T, class Exec>
using ScratchTile = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::scratch_memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A team has a tile of C, `block` by `block`, and walks along k with such tiles of A and B.
/// Bytes a tile of C: 2 k block entries of A and B, and C.
template <class T, class Exec>
struct TeamTiles {
  DenseProduct<T> product;
  int block;
  int scratch_level = 0;
  Offset row_tiles;
  Offset col_tiles;

  TeamTiles(const DenseProduct<T>& p, int size)
      : product(p),
        block(size),
        row_tiles((p.rows + size - 1) / size),
        col_tiles((p.cols + size - 1) / size) {}

  Offset teams() const { return row_tiles * col_tiles * product.pieces; }
  std::size_t scratch_bytes() const {
    const auto size = static_cast<std::size_t>(block);
    return 3 * ScratchTile<T, Exec>::shmem_size(size, size);
  }

  /// Runs body(slow, fast) over the places of a tile; neighbouring threads have neighbouring
  /// `fast`.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_places(const TeamMember<Exec>& member, const Body& body) const {
    const int size = block;
    if constexpr (Tiles<Exec>::tiled) {  // a team is one thread
      for (int slow = 0; slow < size; ++slow) {
        for (int fast = 0; fast < size; ++fast) body(slow, fast);
      }
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size * size),
                           [&](int place) { body(place / size, place % size); });
    }
  }

  /// A tile of a factor, with zeros beyond its end. Entries that lie side by side in memory are
  /// read by neighbouring threads.
  KOKKOS_INLINE_FUNCTION void fill(const TeamMember<Exec>& member, const DenseLines<T>& from,
                                   Offset line, Offset lines, Offset k, Offset depth, bool k_first,
                                   const ScratchTile<T, Exec>& tile) const {
    const bool lines_adjacent = from.across == 1;
    for_places(member, [&](int slow, int fast) {
      const int l = lines_adjacent ? fast : slow;
      const int m = lines_adjacent ? slow : fast;
      const T v = line + l < lines && k + m < depth ? from(line + l, k + m) : T(0);
      (k_first ? tile(m, l) : tile(l, m)) = v;
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember<Exec>& member) const {
    const Offset rank = member.league_rank();
    const Offset i0 = rank % row_tiles * block;
    const Offset j0 = rank / row_tiles % col_tiles * block;
    const Offset piece = rank / (row_tiles * col_tiles);
    const auto& scratch = member.team_scratch(scratch_level);
    const ScratchTile<T, Exec> a(scratch, block, block);    // [row, k]
    const ScratchTile<T, Exec> b(scratch, block, block);    // [k, column]
    const ScratchTile<T, Exec> sum(scratch, block, block);  // [row, column]
    for_places(member, [&](int i, int j) { sum(i, j) = T(0); });
    const Offset last = product.last(piece);
    for (Offset k = product.first(piece); k < last; k += block) {
      fill(member, product.a, i0, product.rows, k, last, false, a);
      fill(member, product.b, j0, product.cols, k, last, true, b);
      member.team_barrier();
      multiply(member, a.data(), b.data(), sum.data());
      member.team_barrier();
    }
    member.team_barrier();                        // for a sum of no terms
    for_places(member, [&](int slow, int fast) {  // rows of C are adjacent, where either is
      const Offset i = i0 + fast;
      const Offset j = j0 + slow;
      if (i < product.rows && j < product.cols) product.store(piece, i, j, sum(fast, slow));
    });
  }

  /// sum += a b. On a host four rows and `lanes` columns at a time stay in registers.
  KOKKOS_INLINE_FUNCTION void multiply(const TeamMember<Exec>& member, const T* a, const T* b,
                                       T* sum) const {
    const int size = block;
    if constexpr (Tiles<Exec>::tiled) {
      constexpr int rows = 4;
      constexpr int lanes = 64 / static_cast<int>(sizeof(T));
      int i = 0;
      for (; i + rows <= size; i += rows) {
        int j = 0;
        for (; j + lanes <= size; j += lanes) {
          multiply_part<rows, lanes>(size, a + i * size, b + j, sum + i * size + j);
        }
        for (; j < size; ++j) {
          multiply_part<rows, 1>(size, a + i * size, b + j, sum + i * size + j);
        }
      }
      for (; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          multiply_part<1, 1>(size, a + i * size, b + j, sum + i * size + j);
        }
      }
    } else {
      for_places(member, [&](int i, int j) {
        T s = T(0);
        for (int k = 0; k < size; ++k) add_product(s, a[i * size + k], b[k * size + j]);
        sum[i * size + j] += s;
      });
    }
  }
  template <int rows, int cols>
  KOKKOS_INLINE_FUNCTION static void multiply_part(int size, const T* a, const T* b, T* sum) {
    T s[rows][cols];
    for (auto& row : s) {
      for (T& v : row) v = T(0);
    }
    for (int k = 0; k < size; ++k) {
      for (int r = 0; r < rows; ++r) {
        const T x = a[r * size + k];
#pragma omp simd
        for (int j = 0; j < cols; ++j) add_product(s[r][j], x, b[k * size + j]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int j = 0; j < cols; ++j) sum[r * size + j] += s[r][j];
    }
  }
};

}  // namespace krysol
