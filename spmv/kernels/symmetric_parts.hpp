// One triangle of a symmetric matrix, in parts that threads take without waiting for each other:
// what the symmetric formats share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/kernels/carries.hpp>
#include <krysol/spmv/kernels/matrix_profile.hpp>
#include <krysol/spmv/kernels/padding.hpp>

namespace krysol {

// Of each pair of entries A(i, j) and A(j, i) = conj(A(i, j)), i < j, only the first is stored,
// with row i: it adds to y(i) and to y(j). Rows are cut into parts, by the matrix alone. A part
// sets its own rows of y, tile after tile, a window ahead that stays in cache; what it has for rows
// after its last one goes to its carry. A second pass adds the carries, in the order of the parts:
// no atomics, and the bits do not depend on the number of threads. The window and the carries are
// as long as the matrix reaches away from its diagonal, so matrices that reach far need an order of
// their rows that keeps neighbours together. Alappat, Basermann, Bishop, Fehske, Hager, Schenk,
// Thies & Wellein (RACE), ACM TOPC 7(3), 2020, DOI 10.1145/3399732 do the same by levels and
// colours, without carries.

/// How one triangle is cut, in the memory of Exec.
template <class Exec>
struct SymmetricParts {
  Index tile = 1;                         // rows a tile
  Kokkos::View<Index*, Exec> part_row;    // [parts + 1] first rows; parts begin with a tile
  Kokkos::View<Index*, Exec> tile_end;    // [tiles] one past the last column its rows name
  Kokkos::View<Offset*, Exec> word_ptr;   // [parts] where the pattern of each begins
  Kokkos::View<Offset*, Exec> value_ptr;  // [parts] where its values begin
  Kokkos::View<Offset*, Exec> carry_ptr;  // [parts + 1]
  Carries<Exec> carries;                  // [carry_ptr[parts]]

  std::int64_t count() const { return static_cast<std::int64_t>(word_ptr.extent(0)); }
};

/// A carry begins so many rows before the end of its part: a vector of rows that crosses that end
/// goes there as a whole.
inline constexpr Index carry_margin = 7;

/// Where a part leaves its sums.
template <class T>
struct PartSums {
  T* y;
  T* carry;      // of all parts
  Offset shift;  // row j is at carry[shift + j]
  Index last;    // of the part's rows, one past

  /// The sum of row j.
  KOKKOS_INLINE_FUNCTION T* row(Index j) const { return j < last ? y + j : carry + (shift + j); }
  /// The sums of `width` rows from j.
  KOKKOS_INLINE_FUNCTION T* rows(Index j, Index width) const {
    return j + width <= last ? y + j : carry + (shift + j);
  }
};

/// Where a part has come to in its pattern and values.
template <class D, class S>
struct TriangleCursor {
  const D* word;
  const S* value;
};

/// The word that marks a slice or a block row whose rows have lists of their own.
template <class D>
inline constexpr D own_lists = static_cast<D>(-1);

/// Patterns have words of 16 bits where A(i, j) = 0 for all j - i above this.
inline constexpr Index longest_short_reach = 65533;

/// What a row gives to x'A x: its diagonal entry once, the others twice. Several vectors at once
/// have no such product.
template <class T>
KOKKOS_INLINE_FUNCTION double dot_terms(const T& xi, const T& own, const T& others) {
  if constexpr (is_pack<T>) {
    return 0;
  } else {
    return real_product(xi, own) + 2 * real_product(xi, others);
  }
}

/// One row of a triangle: v[k] = A(i, i + list[k]) for 0 <= k < n, offsets ascending. Adds alpha
/// v[k] x(i + list[k]) to y(i), alpha conj(v[k]) x(i) to the sum of row i + list[k] unless that is
/// i, and the row's share of x'A x to `term`.
template <class D, class S, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_half_row(Index i, const D* list, Index n, const S* v, T alpha,
                                              const T* x, const PartSums<T>& sums, double& term) {
  constexpr int chains = 4;
  const T xi = x[i];
  T own = T(0);
  Index k = 0;
  if (n > 0 && list[0] == 0) {
    own = static_cast<T>(v[0]) * xi;
    k = 1;
  }
  const T scaled = alpha * xi;
  T chain[chains] = {};
  const auto add = [&](Index at, T& c) {
    const Index j = i + static_cast<Index>(list[at]);
    c += static_cast<T>(v[at]) * x[j];
    *sums.row(j) += static_cast<T>(conjugate(v[at])) * scaled;
  };
  for (; k + chains <= n; k += chains) {
    for (int c = 0; c < chains; ++c) add(k + c, chain[c]);
  }
  for (; k < n; ++k) add(k, chain[0]);
  const T others = (chain[0] + chain[2]) + (chain[1] + chain[3]);
  sums.y[i] += alpha * (own + others);
  term += dot_terms(xi, own, others);
}

/// One part. `Half` is a format's triangle: half.rows(cursor, first, last, alpha, x, sums) adds
/// alpha times the products of a tile's rows, and returns their share of x'A x.
/// Bytes a row: 8 of x, 16 of y; a row of carry: 8 written, and read and added by AddCarries.
template <class Half, class T>
struct SymmetricPart {
  Half half;
  const Index* part_row;
  const Index* tile_end;
  const Offset* word_ptr;
  const Offset* value_ptr;
  const Offset* carry_ptr;
  Index tile;
  T alpha;
  const T* x;
  T beta;
  T* y;
  T* carry;
  double* partial;  // [parts] shares of x'A x, or none

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const Index first = part_row[p];
    const Index last = part_row[p + 1];
    for (Offset k = carry_ptr[p]; k < carry_ptr[p + 1]; ++k) carry[k] = T(0);
    const PartSums<T> sums{y, carry, carry_ptr[p] + carry_margin - last, last};
    auto cursor = half.begin(word_ptr[p], value_ptr[p]);
    double total = 0;
    Index ready = first;  // rows of y that may be added to
    for (Index i = first; i < last; i += tile) {
      const Index end = last - i < tile ? last : i + tile;
      const Index named = tile_end[i / tile] < last ? tile_end[i / tile] : last;
      if (beta == T(0)) {
        for (; ready < named; ++ready) y[ready] = T(0);
      } else {
        for (; ready < named; ++ready) y[ready] = beta * y[ready];
      }
      total += half.rows(cursor, i, end, alpha, x, sums);
    }
    if (carry_ptr[p] < carry_ptr[p + 1]) {  // not the last part, so a tile at least
      for (Index j = last - carry_margin; j < last; ++j) y[j] += carry[sums.shift + j];
    }
    if (partial != nullptr) partial[p] = total;
  }
};

/// Adds to the rows of part p what the parts before it have for them.
template <class T>
struct AddCarries {
  const Index* part_row;
  const Offset* carry_ptr;
  const T* carry;
  T* y;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const Offset first = part_row[p];
    const Offset last = part_row[p + 1];
    for (std::int64_t q = 0; q < p; ++q) {
      const Offset shift = carry_ptr[q] + carry_margin - part_row[q + 1];
      const Offset end = carry_ptr[q + 1] - shift < last ? carry_ptr[q + 1] - shift : last;
#pragma omp simd
      for (Offset j = first; j < end; ++j) y[j] += carry[shift + j];
    }
  }
};

/// y := alpha A x + beta y, and the shares of x'A x where `partial` is no null pointer.
template <class Half, class T, class Exec>
void multiply_parts(const std::string& label, const Exec& exec, const SymmetricParts<Exec>& parts,
                    const Half& half, T alpha, const T* x, T beta, T* y, double* partial) {
  if constexpr (on_host<Exec>) {  // from_csr refuses any other
    if (parts.count() == 0) return;
    using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    const auto lease = parts.carries.take(exec);
    T* carry = lease->template sum<T>();
    Kokkos::parallel_for(label, Range(exec, 0, parts.count()),
                         SymmetricPart<Half, T>{half, parts.part_row.data(), parts.tile_end.data(),
                                                parts.word_ptr.data(), parts.value_ptr.data(),
                                                parts.carry_ptr.data(), parts.tile, alpha, x, beta,
                                                y, carry, partial});
    if (parts.count() == 1) return;
    Kokkos::parallel_for(label + "(carries)", Range(exec, 0, parts.count()),
                         AddCarries<T>{parts.part_row.data(), parts.carry_ptr.data(), carry, y});
  }
}

// ---- conversion

/// Values after the last one, which vector registers may read and not use.
inline constexpr Offset values_to_spare = 8;

/// The entries of csr from the diagonal on.
struct UpperRows {
  const Offset* row_ptr;
  const Index* col_idx;
  Index rows;
  Kokkos::View<Index*, Kokkos::HostSpace> lower;  // [rows] entries before the diagonal

  Offset begin(Index i) const { return row_ptr[i] + lower.data()[i]; }
  Offset end(Index i) const { return row_ptr[i + 1]; }
  Index length(Index i) const { return static_cast<Index>(end(i) - begin(i)); }
  /// One past the last column that the row names, itself at least.
  Index reach_end(Index i) const { return length(i) > 0 ? col_idx[end(i) - 1] + 1 : i + 1; }
};

/// Throws FormatRefusal where the matrix is not square, where the columns of a row do not ascend,
/// and, naming a pair, where the triangles differ in their numbers of entries.
template <class S>
UpperRows upper_rows(std::string_view format, const HostCsr<S>& a);

/// A slice of 8 rows or a block row: what it takes to store it.
struct UnitSize {
  bool uniform;  // one list for all of its rows
  Offset words;
  Offset values;
};

/// How a triangle is to be stored.
struct TrianglePlan {
  Index unit = 1;  // rows
  Index tile = 1;  // rows, a multiple of unit
  Index reach = 0;
  Offset words = 0;
  Offset values = 0;
  std::vector<std::uint8_t> uniform;  // [units]
  std::vector<Index> tile_end;        // [tiles]
  std::vector<Offset> tile_word;      // [tiles]
  std::vector<Offset> tile_value;     // [tiles]
  std::vector<Index> part_row;        // [parts + 1]
  std::vector<Offset> carry_ptr;      // [parts + 1]

  bool is_short() const { return reach <= longest_short_reach; }
};

/// Cuts the rows into parts. tile_end, tile_word, tile_value: as planned. Throws FormatRefusal
/// where the carries would cost too much: with the numbers.
void cut_parts(std::string_view format, Index rows, std::int64_t entry_bytes, TrianglePlan& plan);

/// Throws FormatRefusal, naming the first pair of entries, where A(j, i) = conj(A(i, j)) does not
/// hold to the bit. part_row: [parts + 1] parts of the rows, each for one core.
template <class S>
void check_symmetric(std::string_view format, const HostCsr<S>& a, const UpperRows& upper,
                     const std::vector<Index>& part_row);

/// Does a sample of rows leave it open that the matrix may be symmetric? O(1).
template <class S>
bool may_be_symmetric(const HostCsr<S>& a);

/// A sentence where the sample shows that it is not.
std::string refuse_unsymmetric_sample(const MatrixProfile& matrix);

/// Entries of one triangle with its diagonal, where that is full.
inline std::int64_t triangle_entries(const MatrixProfile& matrix) {
  return (matrix.nnz() + matrix.rows()) / 2;
}

/// rule(first, rows) -> UnitSize says how a unit is stored.
template <class Rule>
TrianglePlan plan_triangle(std::string_view format, const UpperRows& upper, Index unit,
                           std::int64_t entry_bytes, const Rule& rule) {
  TrianglePlan plan;
  constexpr Index rows_of_tile = 256;
  plan.unit = unit;
  plan.tile = rows_of_tile / unit * unit;
  const Index rows = upper.rows;
  const auto tiles = static_cast<std::size_t>((std::int64_t{rows} + plan.tile - 1) / plan.tile);
  plan.uniform.resize(tiles * static_cast<std::size_t>(plan.tile / unit));
  plan.tile_end.resize(tiles);
  plan.tile_word.resize(tiles);
  plan.tile_value.resize(tiles);
  std::vector<Index> reach(tiles);
  host_for("krysol::plan_triangle", static_cast<std::int64_t>(tiles), [&](std::int64_t t) {
    const auto at = static_cast<std::size_t>(t);
    const auto first = static_cast<Index>(t * plan.tile);
    const Index last = rows - first < plan.tile ? rows : first + plan.tile;
    Index end = last;
    for (Index i = first; i < last; ++i) {
      end = std::max(end, upper.reach_end(i));
      reach[at] = std::max(reach[at], upper.reach_end(i) - 1 - i);
    }
    Offset words = 0;
    Offset values = 0;
    for (Index i = first; i < last; i += unit) {
      const UnitSize size = rule(i, std::min(unit, last - i));
      plan.uniform[static_cast<std::size_t>(i / unit)] = size.uniform ? 1 : 0;
      words += size.words;
      values += size.values;
    }
    plan.tile_end[at] = end;
    plan.tile_word[at] = words;
    plan.tile_value[at] = values;
  });
  for (std::size_t t = 0; t < tiles; ++t) {
    plan.reach = std::max(plan.reach, reach[t]);
    plan.words += std::exchange(plan.tile_word[t], plan.words);
    plan.values += std::exchange(plan.tile_value[t], plan.values);
  }
  cut_parts(format, rows, entry_bytes, plan);
  return plan;
}

template <class Exec>
void set_parts(const TrianglePlan& plan, SymmetricParts<Exec>& parts) {
  std::vector<Offset> word_ptr;
  std::vector<Offset> value_ptr;
  for (std::size_t p = 0; p + 1 < plan.part_row.size(); ++p) {
    const auto t = static_cast<std::size_t>(plan.part_row[p] / plan.tile);
    word_ptr.push_back(plan.tile_word[t]);
    value_ptr.push_back(plan.tile_value[t]);
  }
  parts.tile = plan.tile;
  parts.part_row = to_device<Exec>("symmetric.part_row", plan.part_row);
  parts.tile_end = to_device<Exec>("symmetric.tile_end", plan.tile_end);
  parts.word_ptr = to_device<Exec>("symmetric.word_ptr", word_ptr);
  parts.value_ptr = to_device<Exec>("symmetric.value_ptr", value_ptr);
  parts.carry_ptr = to_device<Exec>("symmetric.carry_ptr", plan.carry_ptr);
  parts.carries = Carries<Exec>(plan.carry_ptr.back());
}

/// The patterns and values of tiles, by Fill<D, S>{upper, plan, from, words, values}, and the
/// parts.
template <template <class, class> class Fill, class S, class Format>
void fill_triangle(const HostCsr<S>& host, const UpperRows& upper, const TrianglePlan& plan,
                   Format& a) {
  const auto tiles = static_cast<std::int64_t>(plan.tile_end.size());
  a.values = allocate<decltype(a.values)>("symmetric.values", plan.values + values_to_spare);
  for (Offset k = 0; k < values_to_spare; ++k) a.values.data()[plan.values + k] = S(0);
  const auto fill = [&](auto& pattern) {
    using View = std::decay_t<decltype(pattern)>;
    pattern = allocate<View>("symmetric.pattern", plan.words);
    host_for("krysol::from_csr(symmetric)", tiles,
             Fill<typename View::value_type, S>{upper, plan, host.values.data(), pattern.data(),
                                                a.values.data()});
  };
  a.short_pattern = {};
  a.long_pattern = {};
  if (plan.is_short()) {
    fill(a.short_pattern);
  } else {
    fill(a.long_pattern);
  }
  set_parts(plan, a.parts);
}

namespace detail {
/// Writes the rows of a slice or a block row with a list for each.
template <class D, class S>
void fill_own_lists(const UpperRows& upper, const S* from, Index first, Index count, D*& word,
                    S*& value) {
  *word++ = own_lists<D>;
  for (Index i = first; i < first + count; ++i) *word++ = static_cast<D>(upper.length(i));
  for (Index i = first; i < first + count; ++i) {
    for (Offset k = upper.begin(i); k < upper.end(i); ++k) {
      *word++ = static_cast<D>(upper.col_idx[k] - i);
      *value++ = from[k];
    }
  }
}

/// Throws FormatRefusal on a space whose threads could not take parts one by one.
[[noreturn]] void refuse_device(std::string_view format, std::string_view space);
}  // namespace detail

}  // namespace krysol
