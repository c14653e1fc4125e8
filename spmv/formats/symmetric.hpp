// One triangle of a symmetric or Hermitian matrix, entry by entry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/row_loop.hpp>
#include <krysol/spmv/kernels/symmetric_parts.hpp>

namespace krysol {

/// Bytes: a lower bound, the values of one triangle and an offset of 16 bits for each 8 of them, as
/// if all slices had shared lists.
FormatEstimate estimate_symmetric(const MatrixProfile& matrix);

/// A(i, j) for j >= i alone; A(j, i) is its conjugate. Slices of C rows follow each other in two
/// streams. Where the C rows name the same offsets d = j - i, the pattern has n, d_1 .. d_n, and
/// the C values of d_1 stand before those of d_2: vector registers take C rows, x and y as they
/// lie. Any other slice has the word own_lists, the lengths of its rows, their offsets row by row,
/// and values in that order. Words take 16 bits where no offset is above longest_short_reach, else
/// 32. Bytes a multiplication (double), m = (nnz + rows) / 2 with a full diagonal: 8 m, 2 / C to 2
/// a stored entry, 2 to 4 a row, 8 a column of x, 16 a row of y, 32 a row of carry.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Symmetric {
  static constexpr std::string_view name = "symmetric";
  static constexpr std::string_view good_for =
      "symmetric or Hermitian, neighbours near the diagonal: one triangle is read";
  static constexpr bool symmetric_only = true;
  static constexpr Index slice = 8;  // C
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;                                // of the whole matrix
  Kokkos::View<std::uint16_t*, Exec> short_pattern;  // one of the two is empty
  Kokkos::View<std::uint32_t*, Exec> long_pattern;
  Kokkos::View<S*, Exec> values;
  SymmetricParts<Exec> parts;

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_symmetric(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const Symmetric<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * sizeof(S) +
                                   a.short_pattern.extent(0) * sizeof(std::uint16_t) +
                                   a.long_pattern.extent(0) * sizeof(std::uint32_t) +
                                   static_cast<std::size_t>(a.parts.carries.count()) * sizeof(S) +
                                   a.parts.tile_end.extent(0) * sizeof(Index));
}

/// Bytes a stored entry: 8 and its share of a list; its entries of x and y are in cache.
template <class D, class S, class T, class Exec>
struct SymmetricHalf {
  static constexpr Index C = Symmetric<S, Exec>::slice;
  const D* words;
  const S* values;

  KOKKOS_INLINE_FUNCTION TriangleCursor<D, S> begin(Offset word, Offset value) const {
    return {words + word, values + value};
  }

  /// Asks for what later rows will need of x and of the sums: once for offsets that follow each
  /// other.
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_packs_ahead(const T* from, const T* to,
                                                            const D* list, Index k, Index n) {
    if (k + 1 < n && list[k + 1] - list[k] <= pack_rows_ahead) return;
    for (int l = 0; l < C; ++l) {
      prefetch(from + l + pack_rows_ahead);
      prefetch(to + l + pack_rows_ahead);
    }
  }

  /// C rows from i that share the n offsets of `list`.
  KOKKOS_FORCEINLINE_FUNCTION static void add_slice(Index i, const D* list, Index n, const S* v,
                                                    T alpha, const T* x, const PartSums<T>& sums,
                                                    double* terms) {
    constexpr Offset ahead = 512;  // 4 KiB
    T own[C] = {};
    T others[C] = {};
    T scaled[C];
    const T* xi = x + i;
    for (int l = 0; l < C; ++l) scaled[l] = alpha * xi[l];
    Index k = 0;
    if (n > 0 && list[0] == 0) {
      prefetch(v + ahead);
#pragma omp simd
      for (int l = 0; l < C; ++l) own[l] = static_cast<T>(v[l]) * xi[l];
      k = 1;
    }
    for (; k < n; ++k) {
      const S* vk = v + Offset{k} * C;
      prefetch(vk + ahead);
      const Index j = i + static_cast<Index>(list[k]);
      const T* from = x + j;
      T* to = sums.rows(j, C);
      if constexpr (is_pack<T>) fetch_packs_ahead(from, to, list, k, n);
#pragma omp simd
      for (int l = 0; l < C; ++l) {
        others[l] += static_cast<T>(vk[l]) * from[l];
        to[l] += static_cast<T>(conjugate(vk[l])) * scaled[l];
      }
    }
    T* y = sums.y + i;
#pragma omp simd
    for (int l = 0; l < C; ++l) {
      y[l] += alpha * (own[l] + others[l]);
      terms[l] += dot_terms(xi[l], own[l], others[l]);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION double rows(TriangleCursor<D, S>& at, Index first, Index last,
                                          T alpha, const T* x, const PartSums<T>& sums) const {
    double terms[C] = {};
    for (Index i = first; i < last; i += C) {
      const D head = *at.word++;
      if (head != own_lists<D>) {
        const auto n = static_cast<Index>(head);
        add_slice(i, at.word, n, at.value, alpha, x, sums, terms);
        at.word += n;
        at.value += Offset{n} * C;
        continue;
      }
      const Index lanes = last - i < C ? last - i : C;
      const D* list = at.word + lanes;
      for (Index l = 0; l < lanes; ++l) {
        const auto n = static_cast<Index>(at.word[l]);
        prefetch(at.value + 512);
        prefetch(list + 1024 / sizeof(D));
        add_half_row(i + l, list, n, at.value, alpha, x, sums, terms[l]);
        list += n;
        at.value += n;
      }
      at.word = list;
    }
    return sum_of_tile(terms, C);
  }
};

namespace detail {

/// How many words and values a slice takes.
struct SliceRule {
  UpperRows upper;

  UnitSize operator()(Index first, Index count) const;
};

/// Writes the pattern and the values of tile t.
template <class D, class S>
struct FillSymmetric {
  UpperRows upper;
  const TrianglePlan& plan;
  const S* from;
  D* words;
  S* values;

  void operator()(std::int64_t t) const {
    constexpr Index C = Symmetric<S, Host>::slice;
    const auto at = static_cast<std::size_t>(t);
    const auto first = static_cast<Index>(t * plan.tile);
    const Index last = upper.rows - first < plan.tile ? upper.rows : first + plan.tile;
    D* word = words + plan.tile_word[at];
    S* value = values + plan.tile_value[at];
    for (Index i = first; i < last; i += C) {
      const Index lanes = last - i < C ? last - i : C;
      if (plan.uniform[static_cast<std::size_t>(i / C)] != 0) {
        const Index n = upper.length(i);
        *word++ = static_cast<D>(n);
        for (Index k = 0; k < n; ++k) {
          *word++ = static_cast<D>(upper.col_idx[upper.begin(i) + k] - i);
        }
        for (Index l = 0; l < C; ++l) {
          const S* row = from + upper.begin(i + l);
          for (Index k = 0; k < n; ++k) value[Offset{k} * C + l] = row[k];
        }
        value += Offset{n} * C;
        continue;
      }
      detail::fill_own_lists(upper, from, i, lanes, word, value);
    }
  }
};

}  // namespace detail

namespace detail {
/// y := alpha A x + beta y; partial: [parts] shares of x'A x, or none.
template <class S, class T, class Exec>
void multiply(const std::string& label, const Exec& exec, const Symmetric<S, Exec>& a, T alpha,
              const T* x, T beta, T* y, double* partial) {
  const auto by = [&](const auto& words) {
    using D = typename std::decay_t<decltype(words)>::value_type;
    multiply_parts(label, exec, a.parts,
                   SymmetricHalf<D, S, T, Exec>{words.data(), a.values.data()}, alpha, x, beta, y,
                   partial);
  };
  if (a.short_pattern.extent(0) > 0) {
    by(a.short_pattern);
  } else {
    by(a.long_pattern);
  }
}
}  // namespace detail

/// y := alpha A x + beta y; see apply in row_loop.hpp. Each term of a sum is scaled by alpha.
template <class S, class T, class Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const Symmetric<S, Exec>& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  detail::multiply("krysol::apply(symmetric)", exec, a, alpha, x.data(), beta, y.data(), nullptr);
}

/// y := A x; returns the real part of x'y, which each entry of the triangle gives to as it is
/// read: no second pass. Waits for the device.
template <class S, class T, class Exec>
double apply_dot(const Exec& exec, const Symmetric<S, Exec>& a,
                 std::type_identity_t<ConstVector<T, Exec>> x, const Vector<T, Exec>& y,
                 ReductionWorkspace<Exec>& sums) {
  check_sizes("krysol::apply_dot", a.rows, a.cols, x.extent(0), y.extent(0));
  if (a.parts.count() == 0 && !sums.all_reduce.spread()) return 0;
  double* partial = sums.reserve(exec, a.parts.count(), 1);
  detail::multiply("krysol::apply_dot(symmetric)", exec, a, T(1), x.data(), T(0), y.data(),
                   partial);
  return finish<1>(exec, sums, a.parts.count())[0];
}

/// Throws FormatRefusal where the matrix is not symmetric to the bit, where it reaches too far from
/// its diagonal, and on a GPU. `mirrored`: the caller has seen that it is symmetric to the bit.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Symmetric<S, Exec>& a, bool mirrored = false) {
  if constexpr (!on_host<Exec>) {
    detail::refuse_device(a.name, Exec::name());
  } else {
    const UpperRows upper = upper_rows(a.name, host);
    const TrianglePlan plan =
        plan_triangle(a.name, upper, a.slice, std::int64_t{sizeof(S)}, detail::SliceRule{upper});
    if (!mirrored) check_symmetric(a.name, host, upper, plan.part_row);
    a.rows = host.rows;
    a.cols = host.cols;
    a.entries = host.nnz();
    fill_triangle<detail::FillSymmetric>(host, upper, plan, a);
  }
}

}  // namespace krysol
