// Assembles a matrix from a function that makes one row: no triplets, no sorting, on all cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol::gallery {

struct Entry {
  Index col;
  double value;
};
using Row = std::vector<Entry>;

/// 64 mixed bits of a position, so that rows can be made in any order. Steele, Lea & Flood,
/// OOPSLA 2014, DOI 10.1145/2660193.2660195 (SplitMix64).
inline std::uint64_t random_bits(std::uint64_t stream, std::uint64_t position) {
  std::uint64_t z = stream * 0xD1B54A32D192ED03U + (position + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// A number in [0, 1) from a position.
inline double uniform(std::uint64_t stream, std::uint64_t position) {
  return static_cast<double>(random_bits(stream, position) >> 11) * 0x1.0p-53;
}

/// Rows from a function that appends the entries of one, by ascending columns. Called twice a row.
template <class MakeRow>
HostCsr<double> assemble(std::int64_t rows, const MakeRow& make_row) {
  HostCsr<double> a;
  a.rows = a.cols = static_cast<Index>(rows);
  a.row_ptr = allocate<decltype(a.row_ptr)>("csr.row_ptr", rows + 1);
  Offset* row_ptr = a.row_ptr.data();
  row_ptr[0] = 0;
  host_for("krysol::problem(lengths)", rows, [&](std::int64_t i) {
    thread_local Row row;
    row.clear();
    make_row(i, row);
    row_ptr[i + 1] = static_cast<Offset>(row.size());
  });
  for (std::int64_t i = 0; i < rows; ++i) row_ptr[i + 1] += row_ptr[i];
  a.col_idx = allocate<decltype(a.col_idx)>("csr.col_idx", row_ptr[rows]);
  a.values = allocate<decltype(a.values)>("csr.values", row_ptr[rows]);
  host_for("krysol::problem(entries)", rows, [&](std::int64_t i) {
    thread_local Row row;
    row.clear();
    make_row(i, row);
    auto to = static_cast<std::size_t>(row_ptr[i]);
    for (const Entry& e : row) {
      a.col_idx(to) = e.col;
      a.values(to++) = e.value;
    }
  });
  return a;
}

}  // namespace krysol::gallery
