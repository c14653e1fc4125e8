// Diagonals: the values of each diagonal that has an entry, and no columns at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/kernels/slots.hpp>

namespace krysol {

/// The diagonals that an entry of the sample is on, of some 512 rows taken from all over the
/// matrix: at most as many as there are. Refuses where they alone are much padding, or those of the
/// first 32 rows of the sample.
inline FormatEstimate estimate_dia(const MatrixProfile& matrix) {
  constexpr Index sample = 512;  // rows
  constexpr Index first = 32;
  constexpr Offset each = 64;  // entries of a row
  const std::int64_t rows = matrix.rows();
  std::vector<bool> seen(static_cast<std::size_t>(rows + matrix.cols()));  // by column - row + rows
  std::int64_t diagonals = 0;
  FormatEstimate estimate;
  for (const Index wanted : {first, sample}) {
    const std::int64_t stride = std::max<std::int64_t>(1, rows / wanted);
    for (std::int64_t i = 0; i < rows; i += stride) {
      const Offset begin = matrix.row_ptr()[i];
      const Offset end = matrix.row_ptr()[i + 1];
      const Offset step = std::max<Offset>(1, (end - begin) / each);
      for (Offset k = begin; k < end; k += step) {
        const auto place = static_cast<std::size_t>(matrix.col_idx()[k] - i + rows);
        if (seen[place]) continue;
        seen[place] = true;
        ++diagonals;
      }
    }
    const std::int64_t bytes = diagonals * (rows * matrix.entry_bytes() + rows / 8);
    estimate = {bytes, refuse_more_than(bytes, 1.3, matrix.csr_bytes(), "csr")};
    if (!estimate.refusal.empty()) break;
  }
  return estimate;
}

/// A(i, i + offset[d]) = values(i, d) where bit i % 8 of present(i / 8, d) is set. Slots without an
/// entry, those outside the matrix among them, only pad: they are never multiplied, so that an Inf
/// elsewhere in x stays elsewhere. Stored diagonal by diagonal, so that eight rows take their
/// values and their entries of x as they lie. Bytes a multiplication (double): 8 1/8 a slot, 8 a
/// column of x, 16 a row of y. Saad 2003, section 3.4, DOI 10.1137/1.9780898718003.
template <class S, class Exec = Kokkos::DefaultExecutionSpace>
struct Dia {
  static constexpr std::string_view name = "dia";
  static constexpr std::string_view good_for = "few diagonals, (nearly) full: bands, grids";
  using value_type = S;
  using execution_space = Exec;

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;                                  // slots that hold an entry
  Kokkos::View<Index*, Exec> offset;                   // [diagonals] ascending
  Kokkos::View<S**, Kokkos::LayoutLeft, Exec> values;  // [rows, diagonals]; 0 where padded
  Kokkos::View<std::uint8_t**, Kokkos::LayoutLeft, Exec> present;  // [ceil(rows / 8), diagonals]

  Offset nnz() const { return entries; }
  static FormatEstimate estimate(const MatrixProfile& matrix) { return estimate_dia(matrix); }
};

template <class S, class Exec>
std::int64_t bytes(const Dia<S, Exec>& a) {
  return static_cast<std::int64_t>(a.values.extent(0) * a.values.extent(1) * sizeof(S) +
                                   a.present.extent(0) * a.present.extent(1) +
                                   a.offset.extent(0) * sizeof(Index));
}

template <class S, class Exec>
EqualBlocks row_blocks(const Dia<S, Exec>& a) {
  return {a.rows, rows_of_block<Exec>(a.rows)};
}

/// Bytes a slot: 8 1/8; its entry of x is in cache from the diagonal before.
template <class S, class T, class Exec>
struct DiaProduct {
  const Index* offset;
  Index diagonals;
  const S* values;
  const std::uint8_t* present;
  Offset rows;
  Offset bytes;  // of a diagonal's bits
  const T* x;

  KOKKOS_INLINE_FUNCTION void add_each(unsigned bits, std::int64_t i, Index d, int count,
                                       T* sum) const {
    const S* v = values + d * rows + i;
    for (int l = 0; l < count; ++l) {
      if (((bits >> l) & 1U) != 0) sum[l] += static_cast<T>(v[l]) * x[i + l + offset[d]];
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member<Exec>&, std::int64_t first, int count,
                                         T* sum) const {
    for (int w = 0; w < count; ++w) sum[w] = T(0);
    if constexpr (Tiles<Exec>::tiled) {
      static_assert(Tiles<Exec>::rows % 8 == 0);  // tiles begin with a byte of bits
      constexpr unsigned all = 0xFF;
      for (Index d = 0; d < diagonals; ++d) {
        const std::uint8_t* bits = present + d * bytes + first / 8;
        const S* v = values + d * rows + first;
        for (int w = 0; w < count; w += 8, ++bits) {
          prefetch(v + w + Tiles<Exec>::rows);
          if (*bits != all) {
            add_each(*bits, first + w, d, count - w < 8 ? count - w : 8, sum + w);
            continue;
          }
          const T* from = x + (first + w + offset[d]);
#pragma omp simd
          for (int l = 0; l < 8; ++l) sum[w + l] += static_cast<T>(v[w + l]) * from[l];
        }
      }
    } else {
      for (Index d = 0; d < diagonals; ++d) {
        add_each(static_cast<unsigned>(present[d * bytes + first / 8]) >> (first % 8), first, d, 1,
                 sum);
      }
    }
  }
};

template <class S, class T, class Exec>
DiaProduct<S, T, Exec> row_product(const Dia<S, Exec>& a, const Kokkos::View<const T*, Exec>& x) {
  return {a.offset.data(),
          static_cast<Index>(a.offset.extent(0)),
          a.values.data(),
          a.present.data(),
          static_cast<Offset>(a.values.extent(0)),
          static_cast<Offset>(a.present.extent(0)),
          x.data()};
}

/// The slots of a tile of rows: all padded, and then its entries.
template <class S>
struct FillDia {
  static constexpr std::int64_t tile = 256;  // a multiple of 8
  const HostCsr<S>& from;
  const std::vector<Index>& diagonal;  // [rows + cols - 1] number of the diagonal of each offset
  Index diagonals;
  S* values;
  std::uint8_t* present;

  void operator()(std::int64_t t) const {
    const std::int64_t rows = from.rows;
    const std::int64_t bytes = (rows + 7) / 8;
    const std::int64_t first = t * tile;
    const std::int64_t last = std::min(rows, first + tile);
    for (Index d = 0; d < diagonals; ++d) {
      std::fill(values + d * rows + first, values + d * rows + last, S(0));
      std::fill(present + d * bytes + first / 8, present + d * bytes + (last + 7) / 8,
                std::uint8_t{0});
    }
    for (std::int64_t i = first; i < last; ++i) {
      for (Offset k = from.row_ptr.data()[i]; k < from.row_ptr.data()[i + 1]; ++k) {
        const std::int64_t offset = from.col_idx.data()[k] - i;
        const std::int64_t d = diagonal[static_cast<std::size_t>(offset + rows - 1)];
        values[d * rows + i] += from.values.data()[k];  // entries of one place add up
        std::uint8_t& bits = present[d * bytes + i / 8];
        bits = static_cast<std::uint8_t>(bits | 1U << (i % 8));
      }
    }
  }
};

/// Throws FormatRefusal, with the numbers, where diagonals would be mostly padding: by the rule of
/// ell. Two passes over the columns.
template <class S, class Exec>
void from_csr(const HostCsr<S>& host, Dia<S, Exec>& a) {
  const std::int64_t rows = host.rows;
  const std::int64_t offsets = host.nnz() == 0 ? 0 : rows + host.cols - 1;
  std::vector<Index> diagonal(static_cast<std::size_t>(offsets), 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (Offset k = host.row_ptr.data()[i]; k < host.row_ptr.data()[i + 1]; ++k) {
      diagonal[static_cast<std::size_t>(host.col_idx.data()[k] - i + rows - 1)] = 1;
    }
  }
  std::vector<Index> offset;
  for (std::int64_t o = 0; o < offsets; ++o) {
    Index& number = diagonal[static_cast<std::size_t>(o)];
    if (number == 0) continue;
    number = static_cast<Index>(offset.size());
    offset.push_back(static_cast<Index>(o - rows + 1));
  }
  const auto diagonals = static_cast<std::int64_t>(offset.size());
  const std::int64_t slots = diagonals * rows;
  const std::int64_t bytes_of_bits = (rows + 7) / 8;
  refuse_padding(
      a.name, "entries are on " + std::to_string(diagonals) + " diagonals", slots, host.nnz(),
      slots * static_cast<std::int64_t>(sizeof(S)) + diagonals * bytes_of_bits, bytes(host));
  a.rows = host.rows;
  a.cols = host.cols;
  a.entries = host.nnz();
  a.offset = to_device<Exec>("dia.offset", offset);
  a.values = allocate<decltype(a.values)>("dia.values", rows, diagonals);
  a.present = allocate<decltype(a.present)>("dia.present", bytes_of_bits, diagonals);
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.values);
  const auto present = Kokkos::create_mirror_view(Kokkos::HostSpace{}, a.present);
  const FillDia<S> fill{host, diagonal, static_cast<Index>(diagonals), values.data(),
                        present.data()};
  host_for("krysol::from_csr(dia)", (rows + FillDia<S>::tile - 1) / FillDia<S>::tile, fill);
  Kokkos::deep_copy(a.values, values);
  Kokkos::deep_copy(a.present, present);
}

}  // namespace krysol
