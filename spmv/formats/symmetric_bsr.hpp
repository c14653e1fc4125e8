// One triangle of a symmetric or Hermitian matrix, in dense blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/formats/bsr.hpp>
#include <krysol/spmv/kernels/symmetric_parts.hpp>

namespace krysol {

/// One triangle, and its share of the indices that bsr has.
FormatEstimate estimate_symmetric_bsr(const MatrixProfile& matrix);

/// Block row I holds the rows I b to I b + b - 1. Where their entries from the diagonal block on
/// are full, aligned blocks of b x b, the pattern has their number m and their offsets J - I,
/// ascending; the b b values of each follow each other, row by row. Any other block row has the
/// word own_lists, and then what a slice of Symmetric has: the lengths of its rows, their offsets
/// from the diagonal on, and values in that order; nothing is padded. Words take 16 bits where no
/// entry is further than longest_short_reach from the diagonal, else 32. Bytes a multiplication
/// (double): 8 an entry of the triangle, 2 to 4 a block and a block row, 8 a column of x, 16 a row
/// of y, 32 a row of carry.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SymmetricBsr {
  static constexpr std::string_view name = "symmetric_bsr";
  static constexpr std::string_view good_for =
      "the same with dense blocks of 2 to 8 unknowns a node; symmetric_bsr:N gives their size";
  static constexpr std::string_view variants = "N";
  static constexpr bool symmetric_only = true;
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Index block = 0;                                   // b; 0 asks from_csr to choose
  Offset entries = 0;                                // of the whole matrix
  Kokkos::View<std::uint16_t*, Exec> short_pattern;  // one of the two is empty
  Kokkos::View<std::uint32_t*, Exec> long_pattern;
  Kokkos::View<S*, Exec> values;
  SymmetricParts<Exec> parts;

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) {
    return estimate_symmetric_bsr(matrix);
  }
};

template <class S, class Exec>
std::int64_t bytes(const SymmetricBsr<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * sizeof(S) +
                                   a.short_pattern.extent(0) * sizeof(std::uint16_t) +
                                   a.long_pattern.extent(0) * sizeof(std::uint32_t) +
                                   static_cast<std::size_t>(a.parts.carries.count()) * sizeof(S) +
                                   a.parts.tile_end.extent(0) * sizeof(Index));
}

/// Bytes a stored entry: 8; a block: 2 to 4, and its b entries of x and y, which are in cache.
template <int B, class D, class S, class T>
struct SymmetricBlocks {
  static constexpr int W = B == 2 ? 2 : B <= 4 ? 4 : 8;  // lanes; those from B on are of no use
  const D* words;
  const S* values;
  Index cols;

  KOKKOS_INLINE_FUNCTION TriangleCursor<D, S> begin(Offset word, Offset value) const {
    return {words + word, values + value};
  }

  /// B entries of x from j, and what follows them where there is anything.
  KOKKOS_INLINE_FUNCTION void load(const T* x, Index j, T (&to)[W]) const {
    if (W == B || cols - j >= W) {
#pragma omp simd
      for (int l = 0; l < W; ++l) to[l] = x[j + l];
    } else {
      for (int l = 0; l < B; ++l) to[l] = x[j + l];
    }
  }

  /// The block row from i, of m full blocks. Returns its share of x'A x.
  KOKKOS_FORCEINLINE_FUNCTION double add_block_row(Index i, const D* list, Index m, const S* v,
                                                   T alpha, const T* x,
                                                   const PartSums<T>& sums) const {
    constexpr Offset ahead = 512;  // 4 KiB
    T own[B][W] = {};
    T others[B][W] = {};
    T xj[W] = {};
    T scaled[B];
    for (int r = 0; r < B; ++r) scaled[r] = alpha * x[i + r];
    Index k = 0;
    if (m > 0 && list[0] == 0) {
      load(x, i, xj);
      for (int r = 0; r < B; ++r) {
#pragma omp simd
        for (int l = 0; l < W; ++l) own[r][l] = static_cast<T>(v[r * B + l]) * xj[l];
      }
      for (int p = 0; p < B * B; p += 8) prefetch(v + p + ahead);
      k = 1;
    }
    for (; k < m; ++k) {
      const S* block = v + Offset{k} * B * B;
      for (int p = 0; p < B * B; p += 8) prefetch(block + p + ahead);
      const Index j = i + static_cast<Index>(list[k]) * B;
      load(x, j, xj);
      T mirror[W] = {};
      for (int r = 0; r < B; ++r) {
#pragma omp simd
        for (int l = 0; l < W; ++l) {
          const S a = block[r * B + l];
          others[r][l] += static_cast<T>(a) * xj[l];
          mirror[l] += static_cast<T>(conjugate(a)) * scaled[r];
        }
      }
      T* to = sums.rows(j, B);
      for (int d = 0; d < B; ++d) to[d] += mirror[d];
    }
    double term = 0;
    T* y = sums.y + i;
    for (int r = 0; r < B; ++r) {
      T mine = T(0);
      T rest = T(0);
      for (int d = 0; d < B; ++d) {
        mine += own[r][d];
        rest += others[r][d];
      }
      y[r] += alpha * (mine + rest);
      term += dot_terms(x[i + r], mine, rest);
    }
    return term;
  }

  /// The same for packs, which are vector registers by themselves: a sum a row.
  KOKKOS_FORCEINLINE_FUNCTION void add_block_row_of_packs(Index i, const D* list, Index m,
                                                          const S* v, T alpha, const T* x,
                                                          const PartSums<T>& sums) const {
    constexpr Index near = pack_rows_ahead / B;  // blocks
    T sum[B] = {};
    T scaled[B];
    for (int r = 0; r < B; ++r) scaled[r] = alpha * x[i + r];
    for (Index k = 0; k < m; ++k) {
      const S* block = v + Offset{k} * B * B;
      for (int p = 0; p < B * B; p += 8) prefetch(block + p + 512);
      const Index j = i + static_cast<Index>(list[k]) * B;
      const T* from = x + j;
      if (list[k] == 0) {
        for (int r = 0; r < B; ++r) {
          for (int l = 0; l < B; ++l) sum[r] += static_cast<T>(block[r * B + l]) * from[l];
        }
        continue;
      }
      T* to = sums.rows(j, B);
      if (k + 1 == m || list[k + 1] - list[k] > near) {
        for (int l = 0; l < B; ++l) {
          prefetch(from + l + near * B);
          prefetch(to + l + near * B);
        }
      }
      for (int l = 0; l < B; ++l) {
        T mirror = to[l];
        const T xj = from[l];
        for (int r = 0; r < B; ++r) {
          const S a = block[r * B + l];
          sum[r] += static_cast<T>(a) * xj;
          mirror += static_cast<T>(conjugate(a)) * scaled[r];
        }
        to[l] = mirror;
      }
    }
    for (int r = 0; r < B; ++r) sums.y[i + r] += alpha * sum[r];
  }

  /// The block rows from i on that are full blocks, as far as they follow each other: up to the
  /// first that is not, or `last`, which it returns. Adds their shares of x'A x to `total`. By
  /// itself, as add_own_lists is: together in one loop one of the two takes 1.1 to 1.6 times as
  /// long.
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION Index add_block_rows(TriangleCursor<D, S>& at, Index i,
                                                                Index last, T alpha, const T* x,
                                                                const PartSums<T>& sums,
                                                                double& total) const {
    const PartSums<T> to = sums;  // in registers: what is stored might change `sums` itself
    TriangleCursor<D, S> from = at;
    double terms = total;
    for (; i < last && *from.word != own_lists<D>; i += B) {
      const auto m = static_cast<Index>(*from.word++);
      if constexpr (is_pack<T>) {
        add_block_row_of_packs(i, from.word, m, from.value, alpha, x, to);
      } else {
        terms += add_block_row(i, from.word, m, from.value, alpha, x, to);
      }
      from.word += m;
      from.value += Offset{m} * B * B;
    }
    at = from;
    total = terms;
    return i;
  }

  /// The same of block rows whose rows have lists of their own.
  KRYSOL_KEEP_APART KOKKOS_INLINE_FUNCTION Index add_own_lists(TriangleCursor<D, S>& at, Index i,
                                                               Index last, T alpha, const T* x,
                                                               const PartSums<T>& sums,
                                                               double& total) const {
    const PartSums<T> to = sums;
    const D* word = at.word;
    const S* v = at.value;
    double terms = total;
    while (i < last && *word == own_lists<D>) {
      const Index count = last - i < B ? last - i : B;
      const D* const length = word + 1;
      word = length + count;
      for (Index r = 0; r < count; ++r) {
        const auto n = static_cast<Index>(length[r]);
        add_half_row(i + r, word, n, v, alpha, x, to, terms);
        word += n;
        v += n;
      }
      i += count;
    }
    at = {word, v};
    total = terms;
    return i;
  }

  KOKKOS_INLINE_FUNCTION double rows(TriangleCursor<D, S>& at, Index first, Index last, T alpha,
                                     const T* x, const PartSums<T>& sums) const {
    double total = 0;
    for (Index i = first; i < last;) {
      i = *at.word == own_lists<D> ? add_own_lists(at, i, last, alpha, x, sums, total)
                                   : add_block_rows(at, i, last, alpha, x, sums, total);
    }
    return total;
  }
};

/// Chooses the block size by the format's variant, as in `symmetric_bsr:3`.
template <class S, class Exec>
bool set_variant(SymmetricBsr<S, Exec>& a, std::string_view variant) {
  Index block = 0;
  if (!read_count(variant, block) || block < 2 || block > largest_block) return false;
  a.block = block;
  return true;
}

namespace detail {

/// y := alpha A x + beta y; partial: [parts] shares of x'A x, or none.
template <class S, class T, class Exec>
void multiply(const std::string& label, const Exec& exec, const SymmetricBsr<S, Exec>& a, T alpha,
              const T* x, T beta, T* y, double* partial) {
  const auto by = [&]<int B>(const auto& words) {
    using D = typename std::decay_t<decltype(words)>::value_type;
    multiply_parts(label, exec, a.parts,
                   SymmetricBlocks<B, D, S, T>{words.data(), a.values.data(), a.cols}, alpha, x,
                   beta, y, partial);
  };
  const auto of_size = [&]<int B>() {
    if (a.block != B) return;
    if (a.short_pattern.extent(0) > 0) {
      by.template operator()<B>(a.short_pattern);
    } else {
      by.template operator()<B>(a.long_pattern);
    }
  };
  [&]<int... more>(std::integer_sequence<int, more...>) {
    (of_size.template operator()<more + 2>(), ...);
  }
  (std::make_integer_sequence<int, largest_block - 1>{});
}

/// How many words and values a block row takes.
struct BlockRowRule {
  UpperRows upper;
  Index block;

  UnitSize operator()(Index first, Index count) const;
};

/// Writes the pattern and the values of tile t.
template <class D, class S>
struct FillSymmetricBlocks {
  UpperRows upper;
  const TrianglePlan& plan;
  const S* from;
  D* words;
  S* values;

  /// m full blocks.
  void fill_blocks(Index first, Index m, D*& word, S*& value) const {
    const Index b = plan.unit;
    *word++ = static_cast<D>(m);
    const Index* top = upper.col_idx + upper.begin(first);
    for (Index k = 0; k < m; ++k) *word++ = static_cast<D>((top[Offset{k} * b] - first) / b);
    const bool diagonal = m > 0 && *top == first;
    for (Index r = 0; r < b; ++r) {
      // The diagonal block of row r begins r entries before the diagonal.
      const S* row = from + upper.begin(first + r) - (diagonal ? r : 0);
      for (Index k = 0; k < m; ++k) {
        for (Index d = 0; d < b; ++d) value[(Offset{k} * b + r) * b + d] = row[Offset{k} * b + d];
      }
    }
    value += Offset{m} * b * b;
  }

  void operator()(std::int64_t t) const {
    const auto at = static_cast<std::size_t>(t);
    const auto first = static_cast<Index>(t * plan.tile);
    const Index last = upper.rows - first < plan.tile ? upper.rows : first + plan.tile;
    D* word = words + plan.tile_word[at];
    S* value = values + plan.tile_value[at];
    for (Index i = first; i < last; i += plan.unit) {
      if (plan.uniform[static_cast<std::size_t>(i / plan.unit)] != 0) {
        fill_blocks(i, (upper.length(i) + plan.unit - 1) / plan.unit, word, value);
        continue;
      }
      fill_own_lists(upper, from, i, last - i < plan.unit ? last - i : plan.unit, word, value);
    }
  }
};

}  // namespace detail

/// y := alpha A x + beta y; see apply in row_loop.hpp. Each term of a sum is scaled by alpha.
template <class S, class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const SymmetricBsr<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  detail::multiply("krysol::apply(symmetric_bsr)", exec, a, alpha, x.data(), beta, y.data(),
                   nullptr);
}

/// y := A x; returns the real part of x'y, to which each block of the triangle gives as it is read:
/// no second pass. Waits for the device.
template <class S, class T, class Exec>
double apply_dot(const Exec& exec, const SymmetricBsr<S, Exec>& a,
                 std::type_identity_t<ConstVector<T, Exec>> x, const Vector<T, Exec>& y,
                 ReductionWorkspace<Exec>& sums) {
  check_sizes("krysol::apply_dot", a.rows, a.cols, x.extent(0), y.extent(0));
  if (a.parts.count() == 0 && !sums.all_reduce.spread()) return 0;
  double* partial = sums.reserve(exec, a.parts.count(), 1);
  detail::multiply("krysol::apply_dot(symmetric_bsr)", exec, a, T(1), x.data(), T(0), y.data(),
                   partial);
  return finish<1>(exec, sums, a.parts.count())[0];
}

/// Throws FormatRefusal where the matrix is not symmetric to the bit, where too few entries lie in
/// full blocks, where it reaches too far from its diagonal, and on a GPU; std::invalid_argument for
/// a block size out of range. `mirrored`: the caller has seen that it is symmetric to the bit.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SymmetricBsr<S, Exec>& a, bool mirrored = false) {
  if constexpr (!on_host<Exec>) {
    detail::refuse_device(a.name, Exec::name());
  } else {
    const UpperRows upper = upper_rows(a.name, host);
    const Index block =
        a.block > 0 ? a.block
                    : choose_block(host.row_ptr.data(), host.col_idx.data(), host.rows).block;
    detail::check_block_size(a.name, block);
    const TrianglePlan plan = plan_triangle(a.name, upper, block, std::int64_t{sizeof(S)},
                                            detail::BlockRowRule{upper, block});
    detail::refuse_few_blocks(a.name, block, plan.words, plan.values);
    if (!mirrored) check_symmetric(a.name, host, upper, plan.part_row);
    a.rows = host.rows;
    a.cols = host.cols;
    a.block = block;
    a.entries = host.nnz();
    fill_triangle<detail::FillSymmetricBlocks>(host, upper, plan, a);
  }
}

}  // namespace krysol
