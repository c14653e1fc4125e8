// Sliced ELL with columns of 16 bits, counted from where each slice reads x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/short_product.hpp>

namespace krysol {

/// Slice s holds the C rows order(s C), order(s C + 1), ..., sorted and padded as in SellCSigma;
/// slot j of lane l is at k = slice_ptr[s] + j C + l, A(order(s C + l), column(k)) = values[k],
/// with column(k) of 16 bits by the slice's own rule (ShortSlice): from its first column where it
/// spans at most 65535; from the first column of up to 15 pages of 4096 that its rows read, as
/// those of a mesh do; in 32 bits for the rest, at most a quarter of the nonzeros. Bytes a
/// multiplication (double): 10 a slot (12 in far slices), 20 a slice, 4 a page of a slice, 8 a
/// column of x, 16 a row of y, and 4 a row where sorted. Short offsets within parts of a matrix:
/// Buluc, Fineman, Frigo, Gilbert & Leiserson, SPAA '09, DOI 10.1145/1583991.1584053; Williams,
/// Oliker et al., SC '07, DOI 10.1145/1362622.1362674.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SellU16 : ShortSlices<Exec> {
  static constexpr std::string_view name = "sell_u16";
  static constexpr std::string_view good_for =
      "meshes and stencils: rows near each other read x in few places; columns take 16 bits";
  static constexpr std::string_view variants = "N";
  using value_type = S;
  using execution_space = Exec;

  Kokkos::View<S*, Exec> values;  // [slots] 0 where padded

  static FormatEstimate estimate(const MatrixProfile& matrix) {
    const SliceSize& size = choose_window(matrix);
    const std::int64_t bytes = short_slice_bytes(matrix) + size.slots * matrix.entry_bytes();
    std::string refusal = refuse_far_sample(matrix);
    if (refusal.empty()) refusal = refuse_more_than(bytes, 1.5, matrix.csr_bytes(), "csr");
    return {.bytes = bytes,
            .refusal = refusal,
            .variant = std::to_string(size.sigma),
            // As sell_c_sigma, but columns need widening, and each slice some work at its begin.
            .cached = (matrix.mean_row() < 6 ? 1.2 : 1.03) * cached_slices(matrix, bytes)};
  }
};

template <class S, class Exec>
std::int64_t bytes(const SellU16<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * sizeof(S)) + slice_bytes(a);
}

/// Bytes a slot: 10, and its entry of x.
template <class S, class T, class Exec>
struct SellU16Product {
  ShortProduct<T, Exec> slices;
  PlainValues<S> values;

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    slices.rows(first, count, values, sum);
  }
};

template <class S, class T, class Exec>
SellU16Product<S, T, Exec> row_product(const SellU16<S, Exec>& a,
                                       const Kokkos::View<const T*, Exec>& x) {
  return {short_product(a, bytes(a), x), {a.values.data()}};
}

/// The values of a HostCsr as they are.
template <class S>
struct EntryValue {
  const S* values;
  const S& operator()(Offset k) const { return values[k]; }
};

/// Throws FormatRefusal where even sorted rows would be mostly padding, and where fewer than
/// three quarters of the nonzeros lie in slices whose columns fit in 16 bits.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SellU16<S, Exec>& a) {
  constexpr Index C = ShortSlices<Exec>::slice_rows;
  const SlicePlan slices =
      plan_slices(host.row_ptr.data(), host.rows, C, a.sigma, Tiles<Exec>::block);
  const Offset slots = slices.slice_ptr.back();
  refuse_padding(a.name, host, longest_row(host), slots);
  const ShortPlan plan =
      plan_short_slices(slices, host.row_ptr.data(), host.col_idx.data(), host.rows, C);
  refuse_far_slices(a.name, plan, C, host.nnz());
  set_short_slices(host, slices, plan, a);
  a.values = allocate<decltype(a.values)>("sell_u16.values", slots);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  host_for("krysol::from_csr(sell_u16)", static_cast<std::int64_t>(slices.full.size()),
           FillPlaces<C, S, EntryValue<S>>{host.row_ptr.data(),
                                           slices.row.empty() ? nullptr : slices.row.data(),
                                           slices.slice_ptr.data(),
                                           host.rows,
                                           values.data(),
                                           S(0),
                                           {host.values.data()}});
  Kokkos::deep_copy(a.values, values);
}

}  // namespace krysol
