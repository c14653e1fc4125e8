// Compressed sparse rows cut along the merge path: equal work a piece, however long a row is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/formats/coo.hpp>

namespace krysol {

/// Entries and row ends that one piece takes: a thread's on a host, a team's on a GPU.
template <class Exec>
inline constexpr Offset merge_piece = Tiles<Exec>::tiled ? 4096 : staged_entries;

/// The matrix as in Csr. Merging the list of its entries with the list of its row ends gives
/// rows + nnz steps; piece p takes the steps [p length, (p + 1) length), and so may begin and end
/// within a row. What is left of its last row goes to a carry that is added afterwards, in order,
/// so that the bits do not depend on the number of threads. Bytes a multiplication (double): 12 a
/// nonzero, 8 a row of row_ptr, 8 a column of x, 16 a row of y, and 24 a piece. Merrill & Garland,
/// SC '16, DOI 10.1109/SC.2016.57.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct CsrMerge {
  static constexpr std::string_view name = "csr_merge";
  static constexpr std::string_view good_for =
      "rows of wildly different lengths: graphs, dense rows";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Csr<S, Exec> csr;                      // its block_row stays empty
  Kokkos::View<Index*, Exec> piece_row;  // [pieces + 1] row ends before each piece
  Carries<Exec> carries;                 // one a piece

  Offset nnz() const { return csr.nnz(); }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return {.bytes = matrix.csr_bytes(), .shares_csr = matrix.on_host()};
  }
};

template <class S, class Exec>
std::int64_t bytes(const CsrMerge<S, Exec>& a) {
  return bytes(a.csr) + static_cast<std::int64_t>(a.piece_row.extent(0) * sizeof(Index));
}

/// Row ends before each piece of `length` steps: [pieces + 1]. row_ptr: [rows + 1].
std::vector<Index> merge_pieces(const Offset* row_ptr, Index rows, Offset length);

/// y := alpha A x + beta y for the rows that end in piece p, and the sum that is left over.
template <class S, class T, class Exec>
struct MergePiece {
  CsrProduct<S, T, Exec> product;
  const Index* piece_row;
  Index rows;
  Offset nnz;
  T alpha;
  T beta;
  T* y;
  Index* carry_row;  // [pieces] the row that goes on in the next piece, or -1
  T* carry;          // [pieces]

  /// The entry before which those of piece p end.
  KOKKOS_INLINE_FUNCTION Offset end_of(std::int64_t p) const {
    const Offset stop = (p + 1) * merge_piece<Exec> - piece_row[p + 1];
    return stop < nnz ? stop : nnz;  // the last piece may be shorter
  }

  template <Ahead ahead, bool few>
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION void add_rows(std::int64_t p) const {
    constexpr Offset length = merge_piece<Exec>;
    constexpr Offset chained_from = CsrProduct<S, T, Exec>::long_row;
    const CsrProduct<S, T, Exec> a = product;  // in registers, see RowLoop
    T* const to = y;
    const T scale = alpha;
    const T keep = beta;
    const Index last = piece_row[p + 1];
    const Offset end = end_of(p);
    Offset k = p * length - piece_row[p];
    for (Index i = piece_row[p]; i < last; ++i) {
      const Offset row_end = a.row_ptr[i + 1];
      const T scaled = scale * a.template row<ahead, few>(k, row_end, chained_from);
      to[i] = keep == T(0) ? scaled : scaled + keep * to[i];
      k = row_end;
    }
    carry_row[p] = k < end ? last : -1;
    carry[p] = k < end ? a.template row<ahead, few>(k, end, chained_from) : T(0);
  }

  template <bool few>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows_of(std::int64_t p) const {
    if (!product.beyond_cache) {
      add_rows<Ahead::nothing, few>(p);
    } else if (product.may_ask_for_x(end_of(p))) {
      add_rows<Ahead::matrix_and_x, few>(p);
    } else {
      add_rows<Ahead::matrix, few>(p);
    }
  }

  using Products = TeamArray<T, Exec>;  // [staged_entries]
  using Parts = PartsOfSums<T, Exec>;

  static std::size_t scratch() {
    return Parts::bytes() + (can_stage<T, Exec> ? Products::shmem_size(staged_entries) : 0);
  }

  /// The same by a team, from scratch memory where products fit.
  KOKKOS_INLINE_FUNCTION void add_rows_of_team(std::int64_t p,
                                               const TeamMember<Exec>& member) const {
    const EntriesTimesX<S, T> entries = {product.values, product.col_idx, product.x};
    const Index first = piece_row[p];
    const int rest = piece_row[p + 1] - first;  // the place of what is left over
    const Offset begin = p * merge_piece<Exec> - first;
    const auto count = static_cast<int>(end_of(p) - begin);
    const auto begin_of = [&](int w) {
      return w == 0 ? 0 : w > rest ? count : static_cast<int>(product.row_ptr[first + w] - begin);
    };
    const auto store = [&](int w, const T& sum, int) {
      if (w < rest) {
        T& place = y[first + w];
        place = beta == T(0) ? alpha * sum : alpha * sum + beta * place;
      } else {  // 0 where the piece ends with a row
        carry_row[p] = first + w < rows ? first + w : -1;
        carry[p] = sum;
      }
    };
    const Parts parts(member);
    if constexpr (can_stage<T, Exec>) {
      const Products products(member.team_scratch(0), staged_entries);
      entries.stage(member, begin, count, products.data());
      parts.sum_rows(
          member, rest + 1, begin_of, [&](int w) { return products(w); }, store);
    } else {
      parts.sum_rows(
          member, rest + 1, begin_of, [&](int w) { return entries.product(begin + w); }, store);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, const Member<Exec>& member) const {
    if constexpr (!Tiles<Exec>::tiled) {
      add_rows_of_team(p, member);
    } else if constexpr (!CsrProduct<S, T, Exec>::has_loops_for_few) {
      add_rows_of<is_pack<T>>(p);
    } else if (product.few_a_row) {
      add_rows_of<true>(p);
    } else {
      add_rows_of<false>(p);
    }
  }
};

/// y := alpha A x + beta y; see apply in row_loop.hpp.
template <class S, class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const CsrMerge<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  const auto pieces = static_cast<std::int64_t>(a.piece_row.extent(0)) - 1;
  if (a.rows == 0 || pieces < 1) return;
  const auto lease = a.carries.take(exec);
  Index* carry_row = lease->row();
  T* carry = lease->template sum<T>();
  const MergePiece<S, T, Exec> work{row_product(a.csr, x),
                                    a.piece_row.data(),
                                    a.rows,
                                    a.nnz(),
                                    alpha,
                                    beta,
                                    y.data(),
                                    carry_row,
                                    carry};
  if constexpr (Tiles<Exec>::tiled) {
    for_each_block("krysol::apply(csr_merge)", exec, pieces, 1, work);
  } else {
    for_each_piece<T>("krysol::apply(csr_merge)", exec, pieces, work);
  }
  add_carries("krysol::apply(csr_merge, carry)", exec,
              CarriesOfRows<T, Exec>{carry_row, carry, pieces, alpha, y.data()});
}

template <class S, class Exec>
void from_csr(const HostCsr<S>& host, CsrMerge<S, Exec>& a) {
  a.rows = host.rows;
  a.cols = host.cols;
  share_arrays(host, a.csr);
  a.csr.scattered = reads_x_all_over(a.csr);
  a.piece_row = to_device<Exec>("csr_merge.piece_row",
                                merge_pieces(host.row_ptr.data(), host.rows, merge_piece<Exec>));
  a.carries = Carries<Exec>(static_cast<std::int64_t>(a.piece_row.extent(0)) - 1);
}

}  // namespace krysol
