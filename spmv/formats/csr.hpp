// Compressed sparse rows: the format that files, assembly and all conversions go through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <utility>

#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/kernels/missed_reads.hpp>
#include <krysol/spmv/kernels/row_blocks.hpp>
#include <krysol/spmv/kernels/row_lanes.hpp>
#include <krysol/spmv/kernels/slots.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// A(i, col_idx[k]) = values[k] for row_ptr[i] <= k < row_ptr[i+1].
/// Bytes a multiplication (double): 12 a nonzero, 8 a row of row_ptr, 8 a column of x, 16 a row of
/// y.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Csr {
  static constexpr std::string_view name = "csr";
  static constexpr std::string_view good_for = "any matrix; nothing is padded or reordered";
  static constexpr std::string_view variants = "thread|lanes|balanced";
  template <class T>
  static constexpr bool multiplies_packs = true;
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Kokkos::View<Offset*, Exec> row_ptr;   // [rows + 1] where each row begins; row_ptr[rows] = nnz
  Kokkos::View<Index*, Exec> col_idx;    // [nnz] column of each entry
  Kokkos::View<S*, Exec> values;         // [nnz]
  Kokkos::View<Index*, Exec> block_row;  // [blocks + 1] first row of each block of similar work
  RowSchedule schedule = RowSchedule::automatic;
  int lanes = 1;           // of a team, on a row
  bool staged = false;     // on a GPU: rows are summed in scratch memory, see StagedRows
  bool scattered = false;  // on a host: rows read x all over, and not from the second caches
  bool uneven = false;     // on a host: rows often differ in length from the one before

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
};

/// The same pattern and schedule with other values, [nnz].
template <class To, class S, class Exec>
Csr<To, Exec> with_values(const Csr<S, Exec>& a, Kokkos::View<To*, Exec> values) {
  return {a.rows,     a.cols,  a.row_ptr, a.col_idx,   std::move(values), a.block_row,
          a.schedule, a.lanes, a.staged,  a.scattered, a.uneven};
}

template <class S, class Exec>
ListedBlocks row_blocks(const Csr<S, Exec>& a) {
  detail::require_schedule("krysol::Csr", a.rows, a.block_row.extent(0));
  return listed_blocks(a.rows, a.block_row);
}

template <class S, class Exec>
int row_lanes(const Csr<S, Exec>& a) {
  return Tiles<Exec>::tiled ? 1 : a.lanes;
}

/// What a host's loop over rows asks memory for before it needs it.
enum class Ahead { nothing, matrix, matrix_and_x };

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
  bool few_a_row;  // at most eight nonzeros, in the mean: loops of their own, without a branch
  bool uneven;     // see Csr
  bool scattered;  // see Csr
  bool gathers;    // see gathers_pay
  bool staged;     // on a GPU: blocks are made for scratch memory, see StagedRows
  static constexpr bool writes_in_order = !is_pack<T>;
  /// Packs and complex numbers take so long for an entry that one loop serves all rows.
  static constexpr bool has_loops_for_few = !is_pack<T> && !is_complex<T>;

  /// Asks for `count` of the entries 512 further on than k. Always inlined: g++ leaves prefetches
  /// out of a function that only reads, because to it they do nothing.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void fetch_ahead(Offset k) const {
    constexpr Offset distance = 512;
    constexpr int values_of_a_line = sizeof(S) < 64 ? 64 / sizeof(S) : 1;
    constexpr int columns_of_a_line = 64 / sizeof(Index);
    for (int l = 0; l < count; l += values_of_a_line) prefetch(values + k + distance + l);
    for (int l = 0; l < count; l += columns_of_a_line) prefetch(col_idx + k + distance + l);
  }

  /// Asks for the entries of x that packs need.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_packs(Offset begin, Offset end) const {
    for (Offset k = begin; k < end; ++k) {
      prefetch(x + col_idx[k + packs_ahead < last ? k + packs_ahead : last]);
    }
  }

  /// How far ahead to ask for single entries of x, in entries: each is a line of the first cache,
  /// which has 512 of them or more.
  static constexpr Offset x_ahead = 128;

  /// May rows whose entries end before `end` ask for entries of x? In lanes they do for up to
  /// pack_width more than they have.
  KOKKOS_FORCEINLINE_FUNCTION bool may_ask_for_x(Offset end) const {
    return !is_pack<T> && scattered && end + x_ahead + pack_width <= last;
  }

  /// total plus the product of entry k.
  template <Ahead ahead>
  KOKKOS_FORCEINLINE_FUNCTION T add_entry(Offset k, const T& total) const {
    if constexpr (ahead == Ahead::matrix_and_x) prefetch(x + col_idx[k + x_ahead]);
    return total + static_cast<T>(values[k]) * x[col_idx[k]];
  }

  /// Entry by entry on a host; four at a time where there are that many, with the same sum.
  template <Ahead ahead, bool few>
  KOKKOS_FORCEINLINE_FUNCTION T short_row(Offset begin, Offset end) const {
    T total = T(0);
    Offset k = begin;
    if constexpr (!is_pack<T> && !few) {
      for (; k + 4 <= end; k += 4) {
        for (int l = 0; l < 4; ++l) total = add_entry<ahead>(k + l, total);
      }
    }
    for (; k < end; ++k) total = add_entry<ahead>(k, total);
    return total;
  }

  /// Eight chains: what vector lanes would sum, whatever the compiler makes of it.
  template <Ahead ahead>
  KOKKOS_FORCEINLINE_FUNCTION T chained_row(Offset begin, Offset end) const {
    constexpr int chains = pack_width;
    EightSums<T> sums = {};
    Offset k = begin;
    for (; k + chains <= end; k += chains) {
      if constexpr (ahead != Ahead::nothing) fetch_ahead<chains>(k);
      if constexpr (ahead == Ahead::matrix_and_x) {
        for (int l = 0; l < chains; ++l) prefetch(x + col_idx[k + l + x_ahead]);
      }
      add_eight_entries(col_idx + k, values + k, x, gathers, sums);
    }
    if constexpr (detail::in_vectors<S, T>) {
      add_first_entries(col_idx + k, values + k, static_cast<int>(end - k), last + 1 - k, x,
                        gathers, sums);
      return sums.sum();
    } else {
      T chain[chains];
      store_eight(sums, chains, chain);
      for (int l = 0; k + l < end; ++l) {
        chain[l] += static_cast<T>(values[k + l]) * x[col_idx[k + l]];
      }
      return ((chain[0] + chain[4]) + (chain[2] + chain[6])) +
             ((chain[1] + chain[5]) + (chain[3] + chain[7]));
    }
  }

  /// The sum of a row; `few`: of a matrix with few_a_row.
  template <Ahead ahead, bool few>
  KOKKOS_FORCEINLINE_FUNCTION T row(Offset begin, Offset end, Offset chained_from) const {
    if constexpr (ahead != Ahead::nothing && is_pack<T>) fetch_packs(begin, end);
    if (end - begin >= chained_from) return chained_row<ahead>(begin, end);
    if constexpr (ahead != Ahead::nothing) {
      if constexpr (few) {
        for (Offset k = begin; k < end; k += 8) fetch_ahead<8>(k);
      } else {
        // As many for each row, whatever its length: where lengths differ the branches of asking
        // for just what is new are mispredicted, and loads of x wait.
        fetch_ahead<16>(begin);
      }
    }
    return short_row<ahead, few>(begin, end);
  }

  // A chain of additions waits four cycles for each; short rows overlap with the next instead.
  static constexpr Offset long_row = 24;

  /// Rows [first, first + count) on a host.
  template <Ahead ahead, bool few>
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void add_rows(std::int64_t first, int count,
                                                         T* sum) const {
    const CsrProduct mine = *this;  // in registers, see RowLoop
    const Offset chained_from = use_lanes ? 0 : long_row;
    const Offset* const row_end = row_ptr + first + 1;
    Offset begin = row_ptr[first];
    for (int w = 0; w < count; ++w) {
      const Offset end = row_end[w];
      sum[w] = mine.template row<ahead, few>(begin, end, chained_from);
      begin = end;
    }
  }

  /// Asks for what n entries from k on need, further on.
  template <Ahead ahead, int n>
  KOKKOS_FORCEINLINE_FUNCTION void fetch_lanes(Offset k) const {
    if constexpr (ahead != Ahead::nothing) fetch_ahead<n>(k);
    if constexpr (ahead == Ahead::matrix_and_x) {
      for (int l = 0; l < n; ++l) prefetch(x + col_idx[k + l + x_ahead]);
    }
  }

  /// total[l] += the products of entries k + l. instruction: `gathers`, known to the compiler.
  template <bool instruction, int n>
  KOKKOS_FORCEINLINE_FUNCTION void add_lanes(Offset k, Registers<T, n>& total) const {
    Registers<T, n> entries;
    Registers<T, n> in;
    in.gather(x, col_idx + k, instruction);
    entries.load(values + k);
    total.add_product(entries, in);
  }

  /// The same of fewer than n, those before `end`.
  template <bool instruction, int n>
  KOKKOS_FORCEINLINE_FUNCTION void add_last_lanes(Offset k, Offset end,
                                                  Registers<T, n>& total) const {
    const auto left = static_cast<int>(end - k);
    Registers<T, n> entries;
    Registers<T, n> in;
    gather_first(x, col_idx + k, left, last + 1 - k, instruction, in);
    load_first(values + k, left, entries);
    total.add_product(entries, in);
  }

  /// What the end of a row asks for: where its entries of x are gathered, none of x.
  template <Ahead ahead, bool instruction>
  static constexpr Ahead at_end =
      instruction&& ahead == Ahead::matrix_and_x ? Ahead::matrix : ahead;

  /// The entries of a row, n at a time. Returns `end`.
  template <Ahead ahead, bool instruction, int n>
  KOKKOS_FORCEINLINE_FUNCTION Offset row_in_lanes(Offset begin, Offset end,
                                                  Registers<T, n>& total) const {
    total.fill(T(0));
    Offset k = begin;
    for (; k + n <= end; k += n) {
      fetch_lanes<ahead, n>(k);
      add_lanes<instruction>(k, total);
    }
    fetch_lanes<at_end<ahead, instruction>, n>(k);
    add_last_lanes<instruction>(k, end, total);
    return end;
  }

  /// The same in the lower and the upper half of 2 n lanes, which are added to each other as the
  /// first step of their sum.
  template <Ahead ahead, bool instruction, int n>
  KOKKOS_FORCEINLINE_FUNCTION Offset row_in_halves(Offset begin, Offset end,
                                                   Registers<T, n>& total) const {
    constexpr Offset both = Offset{2} * n;
    Registers<T, n> upper;
    total.fill(T(0));
    upper.fill(T(0));
    Offset k = begin;
    for (; k + both <= end; k += both) {
      fetch_lanes<ahead, 2 * n>(k);
      add_lanes<instruction>(k, total);
      add_lanes<instruction>(k + n, upper);
    }
    fetch_lanes<at_end<ahead, instruction>, 2 * n>(k);
    if (k + n <= end) {
      add_lanes<instruction>(k, total);
      add_last_lanes<instruction>(k + n, end, upper);
    } else {
      add_last_lanes<instruction>(k, end, total);
    }
    total += upper;
    return end;
  }

  template <Ahead ahead, bool instruction, bool halves, int n>
  KOKKOS_FORCEINLINE_FUNCTION Offset one_row(Offset begin, Offset end,
                                             Registers<T, n>& total) const {
    if constexpr (halves) {
      return row_in_halves<ahead, instruction>(begin, end, total);
    } else {
      return row_in_lanes<ahead, instruction>(begin, end, total);
    }
  }

  /// As many rows as a register has numbers, with their sums in registers.
  template <Ahead ahead, bool instruction, bool halves, int... l>
  KOKKOS_FORCEINLINE_FUNCTION Offset rows_in_lanes(Offset begin, const Offset* row_end, T* sum,
                                                   std::integer_sequence<int, l...>) const {
    constexpr int n = sizeof...(l);
    Registers<T, n> row[n];
    ((begin = one_row<ahead, instruction, halves>(begin, row_end[l], row[l])), ...);
    store_sums(row, sum);
    return begin;
  }

  /// The same as add_rows, in n lanes: with a branch for every n entries alone, so that a row with
  /// fewer takes none that depends on its length. Where entries of x are loaded one by one
  /// registers of 64 bytes gain nothing, and the ends of rows take longer in them (Zen 4: 1.1 times
  /// the whole).
  template <Ahead ahead, bool instruction, int n>
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void add_rows_in_lanes(std::int64_t first, int count,
                                                                  T* sum) const {
    constexpr bool halves = !instruction && n * sizeof(T) > 32;
    constexpr int width = halves ? n / 2 : n;
    const CsrProduct mine = *this;  // in registers, see RowLoop
    const Offset* const row_end = row_ptr + first + 1;
    Offset begin = row_ptr[first];
    int w = 0;
    for (; w + width <= count; w += width) {
      begin = mine.template rows_in_lanes<ahead, instruction, halves>(
          begin, row_end + w, sum + w, std::make_integer_sequence<int, width>{});
    }
    for (; w < count; ++w) {
      Registers<T, width> row;
      begin = mine.template one_row<ahead, instruction, halves>(begin, row_end[w], row);
      sum[w] = row.sum();
    }
  }

  template <Ahead ahead, bool few>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows_with(std::int64_t first, int count, T* sum) const {
    if constexpr (has_row_lanes<S, T>) {
      constexpr int n = lanes_of_rows<T, few>;
      if (!few || uneven || use_lanes) {
        if (gathers) {
          add_rows_in_lanes<ahead, true, n>(first, count, sum);
        } else {
          add_rows_in_lanes<ahead, false, n>(first, count, sum);
        }
        return;
      }
    }
    add_rows<ahead, few>(first, count, sum);
  }

  template <bool few>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows_of(std::int64_t first, int count, T* sum) const {
    if (!beyond_cache) {
      add_rows_with<Ahead::nothing, few>(first, count, sum);
    } else if (may_ask_for_x(row_ptr[first + count])) {
      add_rows_with<Ahead::matrix_and_x, few>(first, count, sum);
    } else {
      add_rows_with<Ahead::matrix, few>(first, count, sum);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>& member, std::int64_t first, int count,
                                         T* sum) const {
    if constexpr (Tiles<Exec>::tiled) {
      if constexpr (!has_loops_for_few) {
        add_rows_of<is_pack<T>>(first, count, sum);
      } else if (few_a_row) {
        add_rows_of<true>(first, count, sum);
      } else {
        add_rows_of<false>(first, count, sum);
      }
    } else {
      const EntriesTimesX<S, T> entries = {values, col_idx, x};
      const Offset begin = row_ptr[first];
      const Offset end = row_ptr[first + 1];
      if (!use_lanes) {
        sum[0] = entries.sum(begin, end);
        return;
      }
      T total = T(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, end - begin),
          [&](Offset k, T& mine) { mine += entries.product(begin + k); }, total);
      sum[0] = total;
    }
  }
};

template <class S, class T, class Exec>
requires(!is_pack<T>)
    KOKKOS_INLINE_FUNCTION StagedRows<S, T> staged_rows(const CsrProduct<S, T, Exec>& a) {
  return {{a.values, a.col_idx, a.x}, a.row_ptr, a.staged};
}

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
          reads_beyond_cache(bytes(a), x),
          a.nnz() <= Offset{8} * a.rows,
          a.uneven,
          a.scattered,
          gathers_pay<T>(),
          a.staged};
}

/// True where rows should prefetch x: x exceeds the second-level caches, matrix and x all caches,
/// and more than a tenth of the reads of x miss, by a sample of col_idx (missed_reads: grids 0.02
/// to 0.08, meshes as they are generated 0.14 and more). Below that the hardware prefetches as
/// well, and asking costs a fifth of the time. False on a GPU.
template <class S, class Exec>
bool reads_x_all_over(const Csr<S, Exec>& a) {
  if constexpr (Tiles<Exec>::tiled) {
    const auto x = std::int64_t{a.cols} * std::int64_t{sizeof(S)};
    if (x <= cache_sizes().second || !beyond_cache(bytes(a) + x)) return false;
    return missed_reads(a.col_idx.data(), a.nnz(), sizeof(S)) > 0.1;
  }
  return false;
}

/// Sets `schedule`, `lanes`, `staged`, `block_row`, `scattered` and `uneven`. Call it after filling
/// the arrays by hand; the functions below have done so.
template <class S, class Exec>
void set_schedule(Csr<S, Exec>& a, RowSchedule schedule) {
  const auto row_ptr = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a.row_ptr);
  const RowBlockPlan plan = plan_row_blocks(row_ptr.data(), a.rows, schedule, Tiles<Exec>::tiled,
                                            rows_of_block<Exec>(a.rows));
  a.schedule = schedule;
  a.lanes = plan.lanes;
  a.staged = plan.staged;
  a.block_row = to_device<Exec>("csr.block_row", plan.block_row);
  a.scattered = reads_x_all_over(a);
  a.uneven = Tiles<Exec>::tiled && are_uneven(row_ptr.data(), a.rows);
}

/// Chooses, before from_csr, a schedule by its name, as in the format name `csr:lanes`.
template <class S, class Exec>
bool set_variant(Csr<S, Exec>& a, std::string_view variant) {
  if (variant == "thread") {
    a.schedule = RowSchedule::thread;
  } else if (variant == "lanes") {
    a.schedule = RowSchedule::lanes;
  } else if (variant == "balanced") {
    a.schedule = RowSchedule::balanced;
  } else {
    return false;
  }
  return true;
}

/// The arrays in the memory of Exec: the same ones where that is the host's, which must not change
/// while `a` is used.
template <class S, class Exec>
void share_arrays(const HostCsr<S>& host, Csr<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  a.row_ptr = in_memory_of<Exec>(host.row_ptr);
  a.col_idx = in_memory_of<Exec>(host.col_idx);
  a.values = in_memory_of<Exec>(host.values);
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Csr<S, Exec>& a) {
  share_arrays(host, a);
  set_schedule(a, a.schedule);
}

}  // namespace krysol
