// Block compressed sparse rows: one column index for a dense block of b x b values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/slots.hpp>
#include <krysol/spmv/kernels/variant.hpp>

namespace krysol {

inline constexpr Index largest_block = 8;

/// Refuses too few full blocks.
FormatEstimate estimate_bsr(const MatrixProfile& matrix);

/// Block row I holds the rows I b to I b + b - 1; its values are value_ptr[I] .. value_ptr[I + 1],
/// row after row, and its indices index_ptr[I] .. index_ptr[I + 1]. Where its entries are full,
/// aligned blocks of b x b, its m indices are the blocks' columns, ascending as in csr: row I b + r
/// has A(I b + r, b index[k] + d) at value_ptr[I] + (r m + k) b + d. Any other block row has the
/// lengths of its rows as its first indices, and then a column for each of its values: nothing is
/// ever padded, so that no zero meets an infinity. Bytes a multiplication (double): 8 a nonzero, 4
/// a block, 16 a block row, 8 a column of x, 16 a row of y.
///
/// A host core copies the entries of x that a block row names once, and multiplies them with its b
/// rows, value by value in order: no gather, and b times fewer indices.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Bsr {
  static constexpr std::string_view name = "bsr";
  static constexpr std::string_view good_for =
      "dense blocks of 2 to 8 unknowns a node; bsr:N gives their size";
  static constexpr std::string_view variants = "N";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Index block = 0;                        // b; 0 asks from_csr to choose
  int lanes = 1;                          // of a team, on a row
  Kokkos::View<Offset*, Exec> value_ptr;  // [block rows + 1]
  Kokkos::View<Offset*, Exec> index_ptr;  // [block rows + 1]
  Kokkos::View<Index*, Exec> index;       // [index_ptr[block rows]]
  Kokkos::View<S*, Exec> values;          // [nnz]
  Kokkos::View<Index*, Exec> block_row;   // [blocks + 1] first row of each block of similar work

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_bsr(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const Bsr<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * sizeof(S) +
                                   (a.value_ptr.extent(0) + a.index_ptr.extent(0)) *
                                       sizeof(Offset) +
                                   (a.index.extent(0) + a.block_row.extent(0)) * sizeof(Index));
}

template <class S, class Exec>
ListedBlocks row_blocks(const Bsr<S, Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
int row_lanes(const Bsr<S, Exec>& a) {
  return Tiles<Exec>::tiled ? 1 : a.lanes;
}

/// Bytes a nonzero: 8, and 1 / b of its entry of x; a block: 4.
template <class S, class T, class Exec>
struct BsrProduct {
  const Offset* value_ptr;
  const Offset* index_ptr;
  const Index* index;
  const S* values;
  const T* x;
  Index block;
  Index rows;

  /// Is the block row made of full blocks? m indices for b b m values.
  KOKKOS_INLINE_FUNCTION bool full(std::int64_t block_row) const {
    const Offset indices = index_ptr[block_row + 1] - index_ptr[block_row];
    return indices * block * block == value_ptr[block_row + 1] - value_ptr[block_row];
  }

  /// v[0 .. n) times packed, in eight chains.
  KOKKOS_INLINE_FUNCTION static T dense_row(const S* v, const T* packed, int n) {
    constexpr int chains = 8;
    constexpr int ahead = 512;
    T c[chains] = {};
    int k = 0;
    for (; k + chains <= n; k += chains) {
      prefetch(v + k + ahead);
#pragma omp simd
      for (int l = 0; l < chains; ++l) c[l] += static_cast<T>(v[k + l]) * packed[k + l];
    }
    T rest = T(0);
    for (; k < n; ++k) rest += static_cast<T>(v[k]) * packed[k];
    return ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7])) + rest;
  }

  static constexpr int packed_entries = 256;  // of x, 2 KiB

  /// The m blocks from `list`, whose B rows of values begin at v. packed: [packed_entries].
  template <int B>
  KOKKOS_INLINE_FUNCTION void add_blocks(const Index* list, Offset m, const S* v, T* packed,
                                         T* sum) const {
    constexpr int most = packed_entries / B;  // blocks a time
    for (int r = 0; r < B; ++r) sum[r] = T(0);
    for (Offset begin = 0; begin < m; begin += most) {
      const auto blocks = static_cast<int>(m - begin < most ? m - begin : most);
      for (int k = 0; k < blocks; ++k) {
        const T* from = x + static_cast<Offset>(list[begin + k]) * B;
        for (int d = 0; d < B; ++d) packed[k * B + d] = from[d];
      }
      for (int r = 0; r < B; ++r) {
        sum[r] += dense_row(v + (r * m + begin) * B, packed, blocks * B);
      }
    }
  }

  /// The same for packs, which are vector registers by themselves: nothing to copy together. Always
  /// inlined: g++ leaves prefetches out of a function that only reads.
  template <int B>
  KOKKOS_FORCEINLINE_FUNCTION void add_blocks_to_packs(const Index* list, Offset m, const S* v,
                                                       T* sum) const {
    T mine[B] = {};
    for (Offset k = 0; k < m; ++k) {
      const T* from = x + static_cast<Offset>(list[k]) * B;
      if (k + 1 == m || (list[k + 1] - list[k]) * B > pack_rows_ahead) {
        for (int d = 0; d < B; ++d) prefetch(from + d + pack_rows_ahead);
      }
      for (int r = 0; r < B; ++r) {
        const S* in_row = v + (r * m + k) * B;
        prefetch(in_row + 512);
        for (int d = 0; d < B; ++d) mine[r] += static_cast<T>(in_row[d]) * from[d];
      }
    }
    for (int r = 0; r < B; ++r) sum[r] = mine[r];
  }

  template <int B>
  KOKKOS_INLINE_FUNCTION void add_rows(std::int64_t first, int count, T* sum) const {
    [[maybe_unused]] T packed[packed_entries];
    for (int w = 0; w < count;
         w += B) {  // a block of rows is one tile, and begins with a block row
      const std::int64_t i = (first + w) / B;
      const Index* list = index + index_ptr[i];
      const S* v = values + value_ptr[i];
      if (count - w >= B && full(i)) {
        const Offset m = index_ptr[i + 1] - index_ptr[i];
        if constexpr (is_pack<T>) {
          add_blocks_to_packs<B>(list, m, v, sum + w);
        } else {
          add_blocks<B>(list, m, v, packed, sum + w);
        }
        continue;
      }
      const int lanes = count - w < B ? count - w : B;
      const Index* cols_of_row = list + lanes;
      for (int r = 0; r < lanes; ++r) {
        sum[w + r] = chained_row(x, cols_of_row, list[r], v);
        cols_of_row += list[r];
        v += list[r];
      }
    }
  }

  /// Lanes of a team on one row.
  template <class TeamMember>
  KOKKOS_INLINE_FUNCTION T row_by_lanes(const TeamMember& member, std::int64_t row) const {
    const std::int64_t i = row / block;
    const auto r = static_cast<Index>(row % block);
    const Index* list = index + index_ptr[i];
    const S* v = values + value_ptr[i];
    const Offset m = index_ptr[i + 1] - index_ptr[i];
    T total = T(0);
    if (full(i)) {
      v += r * m * block;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, m * block),
          [&](Offset k, T& mine) {
            mine +=
                static_cast<T>(v[k]) * x[static_cast<Offset>(list[k / block]) * block + k % block];
          },
          total);
      return total;
    }
    const Index lanes = rows - i * block < block ? static_cast<Index>(rows - i * block) : block;
    Offset before = 0;
    for (Index above = 0; above < r; ++above) before += list[above];
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, list[r]),
        [&](Index k, T& mine) {
          mine += static_cast<T>(v[before + k]) * x[list[lanes + before + k]];
        },
        total);
    return total;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>& member, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      switch (block) {
        case 2:
          return add_rows<2>(first, count, sum);
        case 3:
          return add_rows<3>(first, count, sum);
        case 4:
          return add_rows<4>(first, count, sum);
        case 5:
          return add_rows<5>(first, count, sum);
        case 6:
          return add_rows<6>(first, count, sum);
        case 7:
          return add_rows<7>(first, count, sum);
        default:  // 8: from_csr lets no other pass
          return add_rows<8>(first, count, sum);
      }
    } else {
      sum[0] = row_by_lanes(member, first);
    }
  }
};

template <class S, class T, class Exec>
BsrProduct<S, T, Exec> row_product(const Bsr<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  return {a.value_ptr.data(),
          a.index_ptr.data(),
          a.index.data(),
          a.values.data(),
          x.data(),
          a.block,
          a.rows};
}

/// Chooses the block size by the format's variant, as in `bsr:3`.
template <class S, class Exec>
bool set_variant(Bsr<S, Exec>& a, std::string_view variant) {
  Index block = 0;
  if (!read_count(variant, block) || block < 2 || block > largest_block) return false;
  a.block = block;
  return true;
}

/// Pattern of a matrix in blocks.
struct BlockPattern {
  std::vector<Offset> value_ptr;  // [block rows + 1]
  std::vector<Offset> index_ptr;  // [block rows + 1]
  std::vector<Index> index;
  std::vector<Index> block_row;  // [blocks + 1]
};

/// A block size, and the indices that it leaves for each nonzero.
struct BlockChoice {
  Index block = 2;
  double indices = 1;
};

/// The size of 2 to largest_block that leaves the fewest indices, by a sample of block rows.
/// row_ptr: [rows + 1], col_idx: [nnz].
BlockChoice choose_block(const Offset* row_ptr, const Index* col_idx, Index rows);
/// The same for a matrix that several formats ask for it, found once.
const BlockChoice& choose_block(const MatrixProfile& matrix);
/// A sentence where the sample has more than half an index for each nonzero.
std::string refuse_block_sample(const MatrixProfile& matrix);

/// Throws std::invalid_argument for a block size out of range. On the host's cores.
BlockPattern plan_blocks(const Offset* row_ptr, const Index* col_idx, Index rows, Index block,
                         bool host, std::int64_t rows_per_block);

namespace detail {
/// Throws std::invalid_argument, naming the format, unless 2 <= block <= largest_block.
void check_block_size(std::string_view format, Index block);
/// Throws FormatRefusal where more than half an index would be left for each nonzero, and many.
void refuse_few_blocks(std::string_view format, Index block, Offset indices, Offset nnz);
}  // namespace detail

/// Throws FormatRefusal where too few entries lie in full blocks.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Bsr<S, Exec>& a) {
  const Offset* row_ptr = host.row_ptr.data();
  const Index* col_idx = host.col_idx.data();
  const Index block = a.block > 0 ? a.block : choose_block(row_ptr, col_idx, host.rows).block;
  constexpr std::int64_t rows_per_block =
      Tiles<Exec>::tiled ? Tiles<Exec>::rows : Tiles<Exec>::block;
  const BlockPattern plan =
      plan_blocks(row_ptr, col_idx, host.rows, block, Tiles<Exec>::tiled, rows_per_block);
  detail::refuse_few_blocks(a.name, block, static_cast<Offset>(plan.index.size()), host.nnz());
  a.rows = host.rows;
  a.cols = host.cols;
  a.block = block;
  if (!Tiles<Exec>::tiled) a.lanes = device_lanes(row_ptr, host.rows);
  a.value_ptr = to_device<Exec>("bsr.value_ptr", plan.value_ptr);
  a.index_ptr = to_device<Exec>("bsr.index_ptr", plan.index_ptr);
  a.index = to_device<Exec>("bsr.index", plan.index);
  a.block_row = to_device<Exec>("bsr.block_row", plan.block_row);
  a.values = in_memory_of<Exec>(host.values);  // in the order of csr
}

}  // namespace krysol
