// Coordinates on the device: a row, a column and a value for each entry, in any order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/formats/csr.hpp>
#include <krysol/spmv/kernels/carries.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>

namespace krysol {

/// Entries a segment: a thread's on a host, a team's on a GPU.
template <class Exec>
inline constexpr Offset coo_segment = Tiles<Exec>::tiled ? 4096 : staged_entries;

/// Two sums a segment.
constexpr std::int64_t coo_carries(Offset nnz, Offset length) {
  return 2 * ((nnz + length - 1) / length);
}

/// A = sum over k of values[k] e(row_idx[k]) e(col_idx[k])'; entries of one place add up.
/// Entries in ascending order of rows (as from_csr leaves them) are summed in segments of fixed
/// size, whose results do not depend on the number of threads. In any other order each entry is
/// added by an atomic operation, and the last bits of a sum depend on who came first.
/// Bytes a multiplication (double): 16 an entry, 8 a column of x, 16 a row of y to set it, and 16
/// for each row of a segment to add to it.
/// Bell & Garland, SC '09, DOI 10.1145/1654059.1654078.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Coo {
  static constexpr std::string_view name = "coo";
  static constexpr std::string_view good_for = "very few or very uneven rows; entries in any order";
  static constexpr std::string_view variants = "segments|atomics";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Kokkos::View<Index*, Exec> row_idx;  // [nnz]
  Kokkos::View<Index*, Exec> col_idx;  // [nnz]
  Kokkos::View<S*, Exec> values;       // [nnz]
  bool sorted_by_row = false;          // true promises ascending row_idx
  bool atomics = false;                // as if they were not sorted
  Carries<Exec> carries;               // two a segment

  Offset nnz() const { return static_cast<Offset>(values.extent(0)); }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return {matrix.nnz() * (matrix.slot_bytes() + std::int64_t{sizeof(Index)})};
  }
};

template <class S, class Exec>
std::int64_t bytes(const Coo<S, Exec>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(S) + 2 * sizeof(Index));
}

/// y := beta y, without reading y where beta = 0.
template <class T>
struct ScaleBy {
  T beta;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = beta == T(0) ? T(0) : beta * y[i];
  }
};

/// y(row) += alpha a x(col), one entry at a time, in no particular order.
template <class S, class T>
struct CooAtomic {
  const Index* row_idx;
  const Index* col_idx;
  const S* values;
  T alpha;
  const T* x;
  T* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    add_atomically(y[row_idx[k]], alpha * (static_cast<T>(values[k]) * x[col_idx[k]]));
  }
};

/// One segment of a sorted list. A row that lies inside the segment is finished here. The first and
/// the last may go on in a neighbour: their sums are left for CarriesOfRows, so no row of another
/// thread, or team, is touched.
template <class S, class T, class Exec>
struct CooSegment {
  const Index* row_idx;
  const Index* col_idx;
  const S* values;
  Offset nnz;
  Offset length;  // entries a segment
  T alpha;
  const T* x;
  T* y;
  Index* carry_row;  // [2 segments] the row of a sum that is left over, or -1
  T* carry;          // [2 segments]
  bool asks_ahead;   // of short rows, which are not in the caches

  /// The sum of the entries from k on that are in k's row and before end; k moves behind them.
  template <bool fetch>
  KOKKOS_FORCEINLINE_FUNCTION T row_sum(Offset& k, Offset end) const {
    if constexpr (fetch) {
      // Short rows take 0.8 of the time with it on Zen 3, whose own prefetching hangs on where the
      // loop's instructions happen to lie. Rows of 81 take 1.4 of it on a Xeon with AMX.
      constexpr Offset ahead = 512;
      prefetch(values + k + ahead);
      prefetch(row_idx + k + ahead);
      prefetch(col_idx + k + ahead);
    }
    const Index row = row_idx[k];
    T sum = T(0);
    do {
      sum += static_cast<T>(values[k]) * x[col_idx[k]];
      ++k;
    } while (k < end && row_idx[k] == row);
    return sum;
  }

  template <bool fetch>
  KOKKOS_FORCEINLINE_FUNCTION void add_segment(std::int64_t s) const {
    const CooSegment mine = *this;  // in registers, see RowLoop
    const Offset begin = s * length;
    const Offset end = begin + length < nnz ? begin + length : nnz;
    Offset k = begin;
    Index row = mine.row_idx[k];
    T sum = mine.template row_sum<fetch>(k, end);
    carry_row[2 * s] = k < end ? row : -1;
    carry[2 * s] = sum;
    while (k < end) {
      row = mine.row_idx[k];
      sum = mine.template row_sum<fetch>(k, end);
      if (k < end) mine.y[row] += mine.alpha * sum;
    }
    carry_row[2 * s + 1] = row;
    carry[2 * s + 1] = sum;
  }

  /// The first of `count` ascending rows that is not below `row`.
  KOKKOS_FORCEINLINE_FUNCTION static int find(const Index* rows, int count, Index row) {
    int low = 0;
    int high = count;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (rows[middle] < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  using Rows = TeamArray<Index, Exec>;  // [staged_entries] of a segment
  using Products = TeamArray<T, Exec>;  // [staged_entries]
  using Parts = PartsOfSums<T, Exec>;

  static std::size_t scratch() {
    return Rows::shmem_size(staged_entries) + Parts::bytes() +
           (can_stage<T, Exec> ? Products::shmem_size(staged_entries) : 0);
  }

  /// What becomes of the sum of row i of segment s, whose rows are first to last.
  KOKKOS_INLINE_FUNCTION void store(std::int64_t s, Index i, Index first, Index last,
                                    const T& sum) const {
    if (i == last) {
      carry_row[2 * s + 1] = i;
      carry[2 * s + 1] = sum;
    } else if (i > first) {
      y[i] += alpha * sum;
    }
    if (i == first) {
      carry_row[2 * s] = i < last ? i : -1;
      carry[2 * s] = sum;
    }
  }

  /// Sums the rows of a segment from term(0), term(1), ...; `rows`: [count] of its entries.
  template <class Term>
  KOKKOS_INLINE_FUNCTION void sum_segment(const TeamMember<Exec>& member, std::int64_t s,
                                          const Index* rows, int count, const Term& term) const {
    const Parts parts(member);
    const Index first = rows[0];
    const Index last = rows[count - 1];
    if (last - first < count) {
      const auto begin_of = [&](int w) { return find(rows, count, first + w); };
      parts.sum_rows(member, last - first + 1, begin_of, term, [&](int w, const T& sum, int) {
        const Index i = first + w;
        if (i == last || rows[begin_of(w)] == i) store(s, i, first, last, sum);
      });
      return;
    }
    // More rows than entries, most of them empty: by entries, from the first of each row.
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](int w) {
      const Index i = rows[w];
      if (w > 0 && rows[w - 1] == i) return;
      store(s, i, first, last, Parts::sum(term, w, find(rows, count, i + 1), 1));
    });
  }

  /// The same by a team, from scratch memory where products fit.
  KOKKOS_INLINE_FUNCTION void add_segment_of_team(std::int64_t s,
                                                  const TeamMember<Exec>& member) const {
    const EntriesTimesX<S, T> entries = {values, col_idx, x};
    const Offset begin = s * length;
    const auto count = static_cast<int>(begin + length < nnz ? length : nnz - begin);
    const Rows rows(member.team_scratch(0), staged_entries);
    const Index* const row = row_idx + begin;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](int w) { rows(w) = row[w]; });
    if constexpr (can_stage<T, Exec>) {
      const Products products(member.team_scratch(0), staged_entries);
      entries.stage(member, begin, count, products.data());
      sum_segment(member, s, rows.data(), count, [&](int w) { return products(w); });
    } else {
      member.team_barrier();
      sum_segment(member, s, rows.data(), count, [&](int w) { return entries.product(begin + w); });
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t s, const Member<Exec>& member) const {
    if constexpr (!Tiles<Exec>::tiled) {
      add_segment_of_team(s, member);
    } else if (asks_ahead) {
      add_segment<true>(s);
    } else {
      add_segment<false>(s);
    }
  }
};

/// y := alpha A x + beta y; see apply in row_loop.hpp.
template <class S, class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Coo<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  if (beta != T(1)) for_each("krysol::apply(coo, beta)", exec, a.rows, ScaleBy<T>{beta, y.data()});
  const Offset nnz = a.nnz();
  if (nnz == 0) return;
  if (!a.sorted_by_row || a.atomics) {
    // Plain range policy: a tile of entries is not free of conflicts, as for_each promises.
    Kokkos::parallel_for("krysol::apply(coo, atomic)",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, nnz),
                         CooAtomic<S, T>{a.row_idx.data(), a.col_idx.data(), a.values.data(), alpha,
                                         x.data(), y.data()});
    return;
  }
  constexpr Offset length = coo_segment<Exec>;
  const std::int64_t segments = (nnz + length - 1) / length;
  Carries<Exec> carries = a.carries;
  const std::int64_t needed = coo_carries(nnz, length);
  if (carries.count() < needed) carries = Carries<Exec>(needed);  // without from_csr
  const auto lease = carries.take(exec);
  Index* carry_row = lease->row();
  T* carry = lease->template sum<T>();
  const CooSegment<S, T, Exec> work{a.row_idx.data(),
                                    a.col_idx.data(),
                                    a.values.data(),
                                    nnz,
                                    length,
                                    alpha,
                                    x.data(),
                                    y.data(),
                                    carry_row,
                                    carry,
                                    nnz <= Offset{24} * a.rows && reads_beyond_cache(bytes(a), x)};
  if constexpr (Tiles<Exec>::tiled) {
    for_each_block("krysol::apply(coo)", exec, segments, 1, work);
  } else {
    for_each_piece<T>("krysol::apply(coo)", exec, segments, work);
  }
  add_carries("krysol::apply(coo, carry)", exec,
              CarriesOfRows<T, Exec>{carry_row, carry, 2 * segments, alpha, y.data()});
}

struct FillRowIdx {
  const Offset* row_ptr;
  Index* row_idx;
  void operator()(std::int64_t i) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) row_idx[k] = static_cast<Index>(i);
  }
};

/// Chooses how entries are added up, before from_csr: `coo:segments`, the default, or
/// `coo:atomics`.
template <class S, class Exec>
bool set_variant(Coo<S, Exec>& a, std::string_view variant) {
  a.atomics = variant == "atomics";
  return a.atomics || variant == "segments";
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Coo<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  a.col_idx = in_memory_of<Exec>(host.col_idx);
  a.values = in_memory_of<Exec>(host.values);
  const auto row_idx = allocate<Kokkos::View<Index*, Kokkos::HostSpace>>("coo.row_idx", host.nnz());
  host_for("krysol::from_csr(coo)", host.rows, FillRowIdx{host.row_ptr.data(), row_idx.data()});
  a.row_idx = in_memory_of<Exec>(row_idx);
  a.sorted_by_row = true;
  a.carries = Carries<Exec>(coo_carries(a.nnz(), coo_segment<Exec>));
}

}  // namespace krysol
