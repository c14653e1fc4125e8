// Values that repeat, as codes into a table of them, with short columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/kernels/distinct_values.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/short_product.hpp>

namespace krysol {

inline constexpr std::size_t few_values = 16;    // as many as two vector registers hold
inline constexpr std::size_t short_codes = 256;  // more take codes of 16 bits

/// A(order(s C + l), column(k)) = table[code[k]] at slot k = slice_ptr[s] + j C + l, in slices as
/// in SellU16, of which any number may be far. Values are told apart by their bits, so that
/// -0.0 and each NaN stay what they are. Bytes a multiplication: 3 a slot for at most 256 distinct
/// values (2 more in far slices), 4 for more, 20 a slice, 4 a page of a slice, the table, 8 a
/// column of x, 16 a row of y, and 4 a row where sorted. CSR-VI of Kourtis, Goumas & Koziris, CF
/// '08, DOI 10.1145/1366230.1366244, in slices.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct SellDictionary : ShortSlices<Exec> {
  static constexpr std::string_view name = "sell_dictionary";
  static constexpr std::string_view good_for =
      "few distinct values, neighbours near: unit weights, one material; a byte or two for each";
  static constexpr std::string_view variants = "N";
  static constexpr bool looks_at_values = true;
  using value_type = S;
  using execution_space = Exec;

  Index distinct = 0;  // values
  // In the order in which entries first name them; never shorter than few_values.
  Kokkos::View<S*, Exec> table;
  Kokkos::View<std::uint8_t*, Exec> code;        // [slots], 0 where padded; empty where long_code
  Kokkos::View<std::uint16_t*, Exec> long_code;  // [slots] is, for more than 256 values

  static FormatEstimate estimate(const MatrixProfile& matrix) {
    constexpr auto word = static_cast<std::int64_t>(sizeof(std::uint16_t));
    const SliceSize& size = choose_window(matrix);
    const ValueSample& sample = sample_values(matrix);
    const auto far = static_cast<std::int64_t>((1 - short_share(matrix).near_or_pages) *
                                               static_cast<double>(size.slots * word));
    const bool one_byte = sample.distinct <= static_cast<std::int64_t>(short_codes);
    const std::int64_t bytes = short_slice_bytes(matrix) + far + size.slots * (one_byte ? 1 : word);
    std::string refusal;
    if (matrix.on_host()) refusal = refuse_far_sample(matrix);
    // Were there no more than a table holds, all equally often, a sample would repeat few.
    if (refusal.empty() && 2 * sample.distinct > sample.looked_at) {
      refusal = "of " + std::to_string(sample.looked_at) + " values sampled " +
                std::to_string(sample.distinct) + " differ";
    }
    if (refusal.empty()) refusal = refuse_more_than(bytes, 1, matrix.csr_bytes(), "csr");
    // Each value is looked up in a table of those that were seen, which takes long where it is new.
    const double share = sample.looked_at == 0 ? 0
                                               : static_cast<double>(sample.distinct) /
                                                     static_cast<double>(sample.looked_at);
    return {.bytes = bytes,
            .refusal = refusal,
            .variant = std::to_string(size.sigma),
            .conversion = 1.9 + 14 * share,
            .cached = over_csr_in_lanes() *  // codes are looked up
                      (sample.distinct <= static_cast<std::int64_t>(few_values) ? 2.6 : 3.5)};
  }
};

template <class S, class Exec>
std::int64_t bytes(const SellDictionary<S, Exec>& a) {
  return static_cast<std::int64_t>(a.table.extent(0) * sizeof(S) + a.code.extent(0) +
                                   a.long_code.extent(0) * sizeof(std::uint16_t)) +
         slice_bytes(a);
}

#if defined(KRYSOL_VECTOR_TYPES) && !defined(__clang__)
/// The values of a slice's slots where the table fits in two vector registers.
template <class S>
struct FewValues {
  static constexpr Offset ahead = 4096;  // slots
  const S* table;                        // [few_values]
  const std::uint8_t* code;

  FewValues from(Offset k) const { return {table, code + k}; }
  const S& operator()(Offset k) const { return table[code[k]]; }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Offset k) const { prefetch(code + k + ahead); }
  /// Those of eight slots, by one instruction where a register holds eight numbers of 64 bits.
  template <class T>
  requires(detail::in_vectors<S, T>&& register_bytes == 64) KOKKOS_FORCEINLINE_FUNCTION
      void load(Offset k, EightSums<T>& eight) const {
    static_assert(few_values == 2 * pack_width);
    using Table = Registers<S, pack_width>;
    using Slots = detail::VectorOf<std::uint64_t, pack_width>::type;
    Table first;
    Table last;
    std::uint64_t codes;
    first.load(table);
    last.load(table + pack_width);
    std::memcpy(&codes, code + k, sizeof codes);
    // The shuffle takes them modulo 16.
    const Slots slots = (Slots{} + codes) >> Slots{0, 8, 16, 24, 32, 40, 48, 56};
    const auto values =
        __builtin_shuffle(first.v, last.v, __builtin_convertvector(slots, typename Table::Mask));
    eight.v = __builtin_convertvector(values, typename EightSums<T>::Vector);
  }
};
#endif

/// The values of a slice's slots.
template <class S, class Code>
struct TableValues {
  static constexpr Offset ahead = 4096 / sizeof(Code);  // slots
  const S* table;
  const Code* code;

  KOKKOS_INLINE_FUNCTION TableValues from(Offset k) const { return {table, code + k}; }
  KOKKOS_INLINE_FUNCTION const S& operator()(Offset k) const { return table[code[k]]; }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Offset k) const { prefetch(code + k + ahead); }
};

/// Bytes a slot: 3 or 4, and its entry of x.
template <class S, class T, class Exec>
struct SellDictionaryProduct {
  ShortProduct<T, Exec> slices;
  const S* table;
  const std::uint8_t* code;
  const std::uint16_t* long_code;  // null: code
  bool few;                        // distinct values: at most few_values

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
#if defined(KRYSOL_VECTOR_TYPES) && !defined(__clang__)
    if (few) {
      slices.rows(first, count, FewValues<S>{table, code}, sum);
      return;
    }
#endif
    if (long_code == nullptr) {
      slices.rows(first, count, TableValues<S, std::uint8_t>{table, code}, sum);
    } else {
      slices.rows(first, count, TableValues<S, std::uint16_t>{table, long_code}, sum);
    }
  }
};

template <class S, class T, class Exec>
SellDictionaryProduct<S, T, Exec> row_product(const SellDictionary<S, Exec>& a,
                                              const Kokkos::View<const T*, Exec>& x) {
  return {short_product(a, bytes(a), x), a.table.data(), a.code.data(),
          a.long_code.extent(0) == 0 ? nullptr : a.long_code.data(),
          a.table.extent(0) == few_values};
}

/// The number of an entry's value.
template <class S, class Code>
struct EntryCode {
  const S* values;
  const DistinctValues<S>* numbers;
  Code operator()(Offset k) const { return static_cast<Code>(numbers->number_of(values[k])); }
};

template <class S, class Exec, class Code>
void fill_codes(const HostCsr<S>& host, const SlicePlan& slices, const DistinctValues<S>& numbers,
                Kokkos::View<Code*, Exec>& code) {
  constexpr Index C = ShortSlices<Exec>::slice_rows;
  code = allocate<Kokkos::View<Code*, Exec>>("sell_dictionary.code", slices.slice_ptr.back());
  const auto mirror = Kokkos::create_mirror_view(Kokkos::HostSpace{}, code);
  host_for("krysol::from_csr(sell_dictionary)", static_cast<std::int64_t>(slices.full.size()),
           FillPlaces<C, Code, EntryCode<S, Code>>{host.row_ptr.data(),
                                                   slices.row.empty() ? nullptr : slices.row.data(),
                                                   slices.slice_ptr.data(),
                                                   host.rows,
                                                   mirror.data(),
                                                   Code{0},
                                                   {host.values.data(), &numbers}});
  Kokkos::deep_copy(code, mirror);
}

/// Throws FormatRefusal where values are too many, and where even sorted rows would be mostly
/// padding.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, SellDictionary<S, Exec>& a) {
  constexpr Index C = ShortSlices<Exec>::slice_rows;
  const DistinctValues<S> numbers = find_values(a.name, host);
  const SlicePlan slices =
      plan_slices(host.row_ptr.data(), host.rows, C, a.sigma, Tiles<Exec>::block);
  refuse_padding(a.name, host, longest_row(host), slices.slice_ptr.back());
  set_short_slices(
      host, slices,
      plan_short_slices(slices, host.row_ptr.data(), host.col_idx.data(), host.rows, C), a);
  std::vector<S> table = numbers.values();
  if (table.size() < few_values) table.resize(few_values);
  a.distinct = static_cast<Index>(numbers.values().size());
  a.table = to_device<Exec>("sell_dictionary.table", table);
  if (numbers.values().size() <= short_codes) {
    fill_codes(host, slices, numbers, a.code);
  } else {
    fill_codes(host, slices, numbers, a.long_code);
  }
}

}  // namespace krysol
