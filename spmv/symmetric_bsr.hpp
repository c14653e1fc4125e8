// One triangle of a symmetric or Hermitian matrix, in dense blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/bsr.hpp>
#include <krysol/spmv/symmetric_parts.hpp>

namespace krysol {

/// Block row I holds the rows I b to I b + b - 1. Where their entries from the diagonal block on
/// are full, aligned blocks of b x b, the pattern has their number m and their offsets J - I,
/// ascending; of values first come those of the diagonal block, row by row, if it is there (offset
/// 0), and then b rows of b (m - 1) each. Any other block row has the word own_lists, and then what
/// a slice of Symmetric has: the lengths of its rows, their offsets from the diagonal on, and
/// values in that order; nothing is padded. Words take 16 bits where no entry is further than
/// longest_short_reach from the diagonal, else 32. Bytes a multiplication (double): 8 an entry of
/// the triangle, 2 to 4 a block and a block row, 8 a column of x, 16 a row of y, 32 a row of carry.
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
};

template <class S, class Exec>
std::int64_t bytes(const SymmetricBsr<S, Exec>& a) {
  return static_cast<std::int64_t>(
      a.values.extent(0) * sizeof(S) + a.short_pattern.extent(0) * sizeof(std::uint16_t) +
      a.long_pattern.extent(0) * sizeof(std::uint32_t) + a.parts.carry.extent(0) * sizeof(S) +
      a.parts.tile_end.extent(0) * sizeof(Index));
}

/// Bytes a stored entry: 8; a block: 2 to 4, and its b entries of x and y, which are in cache.
template <int B, class D, class S, class T>
struct SymmetricBlocks {
  static constexpr int lanes = 8;
  static constexpr int most = 240 / B / lanes * lanes;  // blocks at a time; B most entries of x
  const D* words;
  const S* values;

  KOKKOS_INLINE_FUNCTION TriangleCursor<D, S> begin(Offset word, Offset value) const {
    return {words + word, values + value};
  }

  /// Eight columns of B rows: their products with x, and those of their mirror image. v: a row
  /// every `stride` values.
  KOKKOS_INLINE_FUNCTION static void add_columns(const S* v, Offset stride, const T* xj,
                                                 const T* scaled, T (&chain)[B][lanes], T* mirror) {
    T sum[lanes] = {};
    for (int r = 0; r < B; ++r) {
      const S* row = v + r * stride;
#pragma omp simd
      for (int l = 0; l < lanes; ++l) {
        const T a = static_cast<T>(row[l]);
        chain[r][l] += a * xj[l];
        sum[l] += conjugate(a) * scaled[r];
      }
    }
    for (int l = 0; l < lanes; ++l) mirror[l] = sum[l];
  }

  /// `blocks` blocks right of the diagonal of the block row from i: adds their products to `others`
  /// and their mirror image to `sums`. v: B rows, one every `stride` values.
  KOKKOS_INLINE_FUNCTION static void add_blocks(Index i, const D* list, int blocks, const S* v,
                                                Offset stride, const T* x, const T* scaled,
                                                const PartSums<T>& sums, T* others) {
    constexpr Offset ahead = 512;  // 4 KiB
    T packed[most * B];
    T mirror[most * B];
    T chain[B][lanes] = {};
    const int n = blocks * B;
    for (int k = 0; k < blocks; ++k) {
      const T* from = x + (i + static_cast<Offset>(list[k]) * B);
      for (int d = 0; d < B; ++d) packed[k * B + d] = from[d];
    }
    int k = 0;
    for (; k + lanes <= n; k += lanes) {
      for (int r = 0; r < B; ++r) prefetch(v + r * stride + k + ahead);
      add_columns(v + k, stride, packed + k, scaled, chain, mirror + k);
    }
    if (k < n && n >= lanes) {
      // The last eight once more; what was taken already meets a zero.
      T rest[lanes] = {};
      for (int l = k; l < n; ++l) rest[lanes - n + l] = packed[l];
      add_columns(v + (n - lanes), stride, rest, scaled, chain, mirror + (n - lanes));
    } else {
      for (; k < n; ++k) {
        T sum = T(0);
        for (int r = 0; r < B; ++r) {
          const T a = static_cast<T>(v[r * stride + k]);
          chain[r][0] += a * packed[k];
          sum += conjugate(a) * scaled[r];
        }
        mirror[k] = sum;
      }
    }
    for (int r = 0; r < B; ++r) {
      const T* c = chain[r];
      others[r] += ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7]));
    }
    for (int b = 0; b < blocks; ++b) {
      T* to = sums.rows(i + static_cast<Index>(list[b]) * B, B);
      for (int d = 0; d < B; ++d) to[d] += mirror[b * B + d];
    }
  }

  /// The block row from i, of m full blocks. Returns its share of x'A x.
  KOKKOS_INLINE_FUNCTION static double add_block_row(Index i, const D* list, Index m, const S* v,
                                                     T alpha, const T* x, const PartSums<T>& sums) {
    T own[B] = {};
    T others[B] = {};
    T scaled[B];
    const T* xi = x + i;
    for (int r = 0; r < B; ++r) scaled[r] = alpha * xi[r];
    if (m > 0 && list[0] == 0) {
      for (int r = 0; r < B; ++r) {
        for (int d = 0; d < B; ++d) own[r] += static_cast<T>(v[r * B + d]) * xi[d];
      }
      v += B * B;
      ++list;
      --m;
    }
    for (Index k = 0; k < m; k += most) {
      add_blocks(i, list + k, m - k < most ? m - k : most, v + Offset{k} * B, Offset{m} * B, x,
                 scaled, sums, others);
    }
    double term = 0;
    T* y = sums.y + i;
    for (int r = 0; r < B; ++r) {
      y[r] += alpha * (own[r] + others[r]);
      term += real_product(xi[r], own[r]) + 2 * real_product(xi[r], others[r]);
    }
    return term;
  }

  KOKKOS_INLINE_FUNCTION double rows(TriangleCursor<D, S>& at, Index first, Index last, T alpha,
                                     const T* x, const PartSums<T>& sums) const {
    double total = 0;
    for (Index i = first; i < last; i += B) {
      const D head = *at.word++;
      if (head != own_lists<D>) {
        const auto m = static_cast<Index>(head);
        total += add_block_row(i, at.word, m, at.value, alpha, x, sums);
        at.word += m;
        at.value += Offset{m} * (B * B);
        continue;
      }
      const Index count = last - i < B ? last - i : B;
      const D* list = at.word + count;
      for (Index r = 0; r < count; ++r) {
        const auto n = static_cast<Index>(at.word[r]);
        add_half_row(i + r, list, n, at.value, alpha, x, sums, total);
        list += n;
        at.value += n;
      }
      at.word = list;
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
    multiply_parts(label, exec, a.parts, SymmetricBlocks<B, D, S, T>{words.data(), a.values.data()},
                   alpha, x, beta, y, partial);
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
    // Of row r the r entries left of the diagonal are in the diagonal block.
    const Index* top = upper.col_idx + upper.begin(first);
    const bool diagonal = m > 0 && *top == first;
    for (Index k = 0; k < m; ++k) *word++ = static_cast<D>((top[k * b] - first) / b);
    if (diagonal) {
      for (Index r = 0; r < b; ++r) {
        const S* row = from + upper.begin(first + r) - r;
        for (Index d = 0; d < b; ++d) *value++ = row[d];
      }
    }
    const Index skipped = diagonal ? b : 0;
    for (Index r = 0; r < b; ++r) {
      const S* row = from + upper.begin(first + r) - (diagonal ? r : 0) + skipped;
      for (Index k = skipped; k < m * b; ++k) *value++ = *row++;
    }
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
                 BlockSums<Exec>& sums) {
  check_sizes("krysol::apply_dot", a.rows, a.cols, x.extent(0), y.extent(0));
  if (a.parts.count() == 0) return 0;
  double* partial = sums.reserve(exec, a.parts.count(), 1);
  detail::multiply("krysol::apply_dot(symmetric_bsr)", exec, a, T(1), x.data(), T(0), y.data(),
                   partial);
  return finish<1>(exec, sums, a.parts.count())[0];
}

/// Throws FormatRefusal where the matrix is not symmetric to the bit, where too few entries lie in
/// full blocks, where it reaches too far from its diagonal, and on a GPU; std::invalid_argument for
/// a block size out of range.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SymmetricBsr<S, Exec>& a) {
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
    check_symmetric(a.name, host, upper, plan.part_row);
    a.rows = host.rows;
    a.cols = host.cols;
    a.block = block;
    a.entries = host.nnz();
    fill_triangle<detail::FillSymmetricBlocks>(host, upper, plan, a);
  }
}

}  // namespace krysol
