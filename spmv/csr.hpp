// Compressed sparse rows: the format that files, assembly and all conversions go through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <string_view>
#include <vector>

#include <krysol/spmv/places.hpp>
#include <krysol/spmv/triplets.hpp>

namespace krysol {

/// Who works on a row of a Csr.
enum class CsrSchedule {
  automatic,  // balanced on a host; on a GPU lanes where rows are long enough, else thread
  thread,     // one thread a row, blocks of equally many rows
  lanes,    // a team of vector lanes a row (on a host: one core's vector lanes), equally many rows
  balanced  // blocks of rows with equally many nonzeros, a thread or lanes a row by their length
};

/// A(i, col_idx[k]) = values[k] for row_ptr[i] <= k < row_ptr[i+1].
/// Bytes a multiplication (double): 12 a nonzero, 8 a row of row_ptr, 8 a column of x, 16 a row of
/// y.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Csr {
  static constexpr std::string_view name = "csr";
  static constexpr std::string_view good_for = "any matrix; nothing is padded or reordered";
  static constexpr std::string_view variants = "thread|lanes|balanced";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Kokkos::View<Offset*, Exec> row_ptr;   // [rows + 1] where each row begins; row_ptr[rows] = nnz
  Kokkos::View<Index*, Exec> col_idx;    // [nnz] column of each entry
  Kokkos::View<S*, Exec> values;         // [nnz]
  Kokkos::View<Index*, Exec> block_row;  // [blocks + 1] first row of each block of similar work
  CsrSchedule schedule = CsrSchedule::automatic;
  int lanes = 1;  // of a team, on a row

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
};

/// A matrix in host memory, as files and assembly give it.
template <class S>
using HostCsr = Csr<S, Host>;

/// Blocks of rows with similar work, from a list of first rows.
struct ListedBlocks {
  const Index* first_row = nullptr;
  std::int64_t blocks = 0;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return blocks; }
  KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t b) const { return first_row[b]; }
  KOKKOS_INLINE_FUNCTION std::int64_t last(std::int64_t b) const { return first_row[b + 1]; }
};

/// block_row: [blocks + 1], what plan_csr found; a matrix without rows has no blocks.
template <class Exec>
ListedBlocks listed_blocks(Index rows, const Kokkos::View<Index*, Exec>& block_row) {
  return {block_row.data(), rows == 0 ? 0 : static_cast<std::int64_t>(block_row.extent(0)) - 1};
}

template <class S, class Exec>
ListedBlocks row_blocks(const Csr<S, Exec>& a) {
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
int row_lanes(const Csr<S, Exec>& a) {
  return Tiles<Exec>::tiled ? 1 : a.lanes;
}

/// Bytes a row: 8 of row_ptr; a nonzero: 12, and its entry of x.
template <class S, class T, class Exec>
struct CsrProduct {
  const Offset* row_ptr;
  const Index* col_idx;
  const S* values;
  const T* x;
  Offset last;  // entry
  bool use_lanes;
  bool beyond_cache;

  /// The entries that rows 4 KiB further on will need. Always inlined: g++ leaves prefetches out of
  /// a function that only reads, because to it they do nothing.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_ahead(Offset begin, Offset end) const {
    constexpr Offset distance = 512;
    for (Offset k = begin; k < end; k += 8) {
      prefetch(values + k + distance);
      prefetch(col_idx + k + distance);
    }
    if constexpr (is_pack<T>) {
      for (Offset k = begin; k < end; ++k) {
        prefetch(x + col_idx[k + packs_ahead < last ? k + packs_ahead : last]);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION T whole_row(Offset begin, Offset end) const {
    T total = T(0);
    for (Offset k = begin; k < end; ++k) total += static_cast<T>(values[k]) * x[col_idx[k]];
    return total;
  }

  /// Eight chains: what vector lanes would sum, whatever the compiler makes of it.
  KOKKOS_FORCEINLINE_FUNCTION T chained_row(Offset begin, Offset end) const {
    constexpr int chains = pack_width;
    EightSums<T> sums = {};
    Offset k = begin;
    for (; k + chains <= end; k += chains) add_eight_entries(col_idx + k, values + k, x, sums);
    T chain[chains];
    store_eight(sums, chains, chain);
    for (int l = 0; k + l < end; ++l) chain[l] += static_cast<T>(values[k + l]) * x[col_idx[k + l]];
    return ((chain[0] + chain[4]) + (chain[2] + chain[6])) +
           ((chain[1] + chain[5]) + (chain[3] + chain[7]));
  }

  /// Rows [first, first + count) on a host.
  template <bool fetch>
  KRYSOL_KEEP_APART void add_rows(std::int64_t first, int count, T* sum) const {
    // A chain of additions waits four cycles for each; short rows overlap with the next instead.
    const Offset chained_from = use_lanes ? 0 : 24;
    const Offset* const row_end = row_ptr + first + 1;
    Offset begin = row_ptr[first];
    for (int w = 0; w < count; ++w) {
      const Offset end = row_end[w];
      if constexpr (fetch) fetch_ahead(begin, end);
      sum[w] = end - begin >= chained_from ? chained_row(begin, end) : whole_row(begin, end);
      begin = end;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>& member, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if (beyond_cache) {
        add_rows<true>(first, count, sum);
      } else {
        add_rows<false>(first, count, sum);
      }
    } else {
      const Offset begin = row_ptr[first];
      const Offset end = row_ptr[first + 1];
      if (!use_lanes) {
        sum[0] = whole_row(begin, end);
        return;
      }
      T total = T(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, end - begin),
          [&](Offset k, T& mine) {
            mine += static_cast<T>(values[begin + k]) * x[col_idx[begin + k]];
          },
          total);
      sum[0] = total;
    }
  }
};

/// Bytes of a matrix's arrays, and what one multiplication reads of them.
template <class S, class Exec>
std::int64_t bytes(const Csr<S, Exec>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(S) + sizeof(Index)) +
         static_cast<std::int64_t>(a.row_ptr.extent(0) * sizeof(Offset) +
                                   a.block_row.extent(0) * sizeof(Index));
}

template <class S, class T, class Exec>
CsrProduct<S, T, Exec> row_product(const Csr<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  return {a.row_ptr.data(),
          a.col_idx.data(),
          a.values.data(),
          x.data(),
          a.nnz() - 1,
          a.lanes > 1,
          reads_beyond_cache(bytes(a), x)};
}

/// How a matrix's rows are to be worked on, found from its row pointers on the host.
struct CsrPlan {
  int lanes = 1;
  std::vector<Index> block_row;  // [blocks + 1]
};

/// row_ptr: [rows + 1]. row_overhead: what a row costs beside its nonzeros, counted in nonzeros:
/// its pointer, its entry of y, the end of a loop. Depends on the matrix and the kind of space
/// alone, never on thread counts.
CsrPlan plan_csr(const Offset* row_ptr, Index rows, CsrSchedule schedule, bool host,
                 std::int64_t rows_per_block, Offset row_overhead = 3);

/// Sets `schedule`, `lanes` and `block_row`. Call it after filling row_ptr by hand; the functions
/// below have done so.
template <class S, class Exec>
void set_schedule(Csr<S, Exec>& a, CsrSchedule schedule) {
  const auto row_ptr = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a.row_ptr);
  const CsrPlan plan =
      plan_csr(row_ptr.data(), a.rows, schedule, Tiles<Exec>::tiled, Tiles<Exec>::block);
  a.schedule = schedule;
  a.lanes = plan.lanes;
  a.block_row = copy_of<Exec>("csr.block_row", plan.block_row);
}

/// Chooses, before from_csr, a schedule by its name, as in the format name `csr:lanes`.
template <class S, class Exec>
bool set_variant(Csr<S, Exec>& a, std::string_view variant) {
  if (variant == "thread") {
    a.schedule = CsrSchedule::thread;
  } else if (variant == "lanes") {
    a.schedule = CsrSchedule::lanes;
  } else if (variant == "balanced") {
    a.schedule = CsrSchedule::balanced;
  } else {
    return false;
  }
  return true;
}

/// A matrix from triplets, and what was found on the way.
template <class S>
struct Assembled {
  HostCsr<S> matrix;
  std::int64_t duplicates = 0;      // stored entries that were added to an earlier one
  std::int64_t explicit_zeros = 0;  // stored entries that are zero; they are kept
};

/// Sorts, expands the symmetry and sums duplicates in the order in which they stand. Explicit zeros
/// are kept. Throws std::invalid_argument where arrays differ in length, an index is outside the
/// matrix, or a matrix with a symmetry is not square.
template <class T>
Assembled<DeviceScalar<T>> to_csr(const Triplets<T>& entries);

/// Throws std::invalid_argument, naming the place, unless row_ptr ascends from 0 to nnz and all
/// columns are inside the matrix.
template <class S>
void check(const HostCsr<S>& a);

/// The matrix in the memory of another space; the same arrays where that is the host's.
template <class S, class From, class Exec>
void copy(const Csr<S, From>& from, Csr<S, Exec>& to) {
  to.rows = from.rows;
  to.cols = from.cols;
  to.row_ptr = in_memory_of<Exec>(from.row_ptr);
  to.col_idx = in_memory_of<Exec>(from.col_idx);
  to.values = in_memory_of<Exec>(from.values);
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Csr<S, Exec>& a) {
  copy(host, a);
  set_schedule(a, a.schedule == CsrSchedule::automatic ? host.schedule : a.schedule);
}

}  // namespace krysol
