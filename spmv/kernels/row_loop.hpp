// The one loop over rows that the formats share, with what happens to a row's sum at its end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include <krysol/spmv/base/pack.hpp>
#include <krysol/spmv/base/reduction.hpp>
#include <krysol/spmv/base/scalar.hpp>
#include <krysol/spmv/base/types.hpp>
#include <krysol/spmv/kernels/staged_rows.hpp>

namespace krysol {

// A format that sums each row in one place consists of its arrays and two functions for this loop:
//
//   auto row_blocks(A)          how its rows are cut into blocks of similar work; must depend on
//                               the matrix alone, so that a sum's order does not depend on threads
//   auto row_product(A, x)      an object with  void operator()(member, first, count, T* sum) const
//                               that sets sum[w] = (A x)(first + w); count <= Tiles<Exec>::rows,
//                               which is 1 on a GPU. One that writes each sum once, row after row,
//                               says  static constexpr bool writes_in_order = true;  it then writes
//                               straight to y where alpha = 1, beta = 0 and rows are in order
//   auto staged_rows(product)   only where a GPU may sum rows in scratch memory: see StagedRows.
//                               The blocks are ListedBlocks then
//   int row_lanes(A)            only where several vector lanes of a team work on one row together
//   RowOrder row_order(A)       only where rows are stored in another order than theirs
//
// What it gets for them: apply, apply_dot, alpha and beta, on every space.

/// The row that a format keeps in each of its places. Bytes a row: 4 where they are listed.
struct RowOrder {
  const Index* row = nullptr;  // [rows]; none: in their own order
};

template <class A>
RowOrder order_of(const A& a) {
  if constexpr (requires { row_order(a); }) {
    return row_order(a);
  } else {
    return {};
  }
}

template <class A>
int lanes_of(const A& a) {
  if constexpr (requires { row_lanes(a); }) {
    return row_lanes(a);
  } else {
    return 1;
  }
}

/// True for a vector whose lines are in no core's second-level cache when they are written: a loop
/// whose matrix is small would wait for each of them.
template <class T, class Exec>
bool writes_beyond_cache(const Vector<T, Exec>& y) {
  return static_cast<std::int64_t>(y.extent(0) * sizeof(T)) > cache_sizes().second;
}

/// Asks for y(first) .. y(first + count), to be written.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void fetch_results(const T* y, std::int64_t first, int count) {
  constexpr int line = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
  for (int w = 0; w < count; w += line) prefetch_to_write(y + first + w);
}

/// y(i) := alpha sum + beta y(i); beta = 0 never reads y.
/// Bytes a row: 8 written (16 with write-allocate), 8 more read where beta != 0.
template <class T>
struct Store {
  static constexpr bool dot = false;
  T alpha;
  T beta;
  T* y;
  RowOrder order;
  bool past_cache = false;    // y is not kept in the caches: packs then are 64 bytes each, not 128
  bool beyond_cache = false;  // see writes_beyond_cache

  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t first, int count) const {
    if (!beyond_cache || order.row != nullptr || (can_stream<T> && past_cache)) return;
    fetch_results(y, first, count);
  }
  /// Where sums go that are stored as they are; null where they are not.
  KOKKOS_FORCEINLINE_FUNCTION T* place(std::int64_t first) const {
    return alpha == T(1) && beta == T(0) && order.row == nullptr ? y + first : nullptr;
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t first, int count, const T* sum) const {
    if (order.row != nullptr) {
      const Index* row = order.row + first;
      T* const all = y;
      const T a = alpha;
      const T b = beta;
      if (b == T(0)) {
        for (int w = 0; w < count; ++w) all[row[w]] = a * sum[w];
      } else {
        for (int w = 0; w < count; ++w) all[row[w]] = a * sum[w] + b * all[row[w]];
      }
      return;
    }
    T* out = y + first;
    if (beta == T(0)) {
      if constexpr (can_stream<T>) {
        if (past_cache) {
          for (int w = 0; w < count; ++w) stream(alpha * sum[w], out[w]);
          return;
        }
      }
#pragma omp simd
      for (int w = 0; w < count; ++w) out[w] = alpha * sum[w];
    } else {
#pragma omp simd
      for (int w = 0; w < count; ++w) out[w] = alpha * sum[w] + beta * out[w];
    }
  }
  KOKKOS_INLINE_FUNCTION void terms(std::int64_t, int, const T*, double*) const {}
};

/// y(i) := sum, and the term conj(x(i)) sum of the dot product x'y.
/// Bytes a row: 8 written (16 with write-allocate); x(i) is in cache, since its row was just read.
template <class T>
struct StoreAndDot {
  static constexpr bool dot = true;
  const T* x;
  T* y;
  RowOrder order;
  bool beyond_cache = false;

  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t first, int count) const {
    if (beyond_cache && order.row == nullptr) fetch_results(y, first, count);
  }
  KOKKOS_FORCEINLINE_FUNCTION T* place(std::int64_t first) const {
    return order.row == nullptr ? y + first : nullptr;
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t first, int count, const T* sum) const {
    if (order.row != nullptr) {
      for (int w = 0; w < count; ++w) y[order.row[first + w]] = sum[w];
      return;
    }
    T* out = y + first;
#pragma omp simd
    for (int w = 0; w < count; ++w) out[w] = sum[w];
  }
  KOKKOS_INLINE_FUNCTION void terms(std::int64_t first, int count, const T* sum,
                                    double* term) const {
    if (order.row != nullptr) {
      for (int w = 0; w < count; ++w) term[w] = real_product(x[order.row[first + w]], sum[w]);
      return;
    }
    const T* in = x + first;
#pragma omp simd
    for (int w = 0; w < count; ++w) term[w] = real_product(in[w], sum[w]);
  }
};

template <class Product>
inline constexpr bool writes_in_order = requires {
  requires Product::writes_in_order;
};

/// What a format's staged_rows gives: its entries, where each row's begin, and whether rows are to
/// be summed in scratch memory. Its blocks then are staged_entries entries at most, or one row.
template <class S, class T>
struct StagedRows {
  EntriesTimesX<S, T> entries;
  const Offset* row_ptr;
  bool wanted;
};

/// True for a product of which a GPU may sum rows in scratch memory.
template <class Product, class T, class Exec>
inline constexpr bool may_stage = can_stage<T, Exec>&& requires(const Product& p) {
  staged_rows(p);
};

template <class T, class Exec, class Blocks, class Product, class Epilogue>
struct RowLoop {
  Blocks blocks;
  Product product;
  Epilogue epilogue;
  double* partial;  // [blocks] this loop's share of the dot product, where there is one

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, const Member<Exec>& member) const {
    const std::int64_t first = blocks.first(b);
    const std::int64_t last = blocks.last(b);
    if constexpr (Tiles<Exec>::tiled) {
      constexpr int tile = Tiles<Exec>::rows;
      // A copy, which stays in registers: sums that are stored might change `product` itself, for
      // all that a compiler knows, and its pointers would be loaded again for each row.
      const Product multiply = product;
      alignas(64) T sum[tile];  // eight sums are a line, not parts of two
      double term[Epilogue::dot ? tile : 1];
      double total = 0;
      for (std::int64_t i = first; i < last; i += tile) {
        const auto count = static_cast<int>(last - i < tile ? last - i : tile);
        // Lines of y come in while rows are summed, where those are written one by one; 256 of them
        // at once fill the buffers of stores, and the next rows wait.
        T* place = nullptr;
        if constexpr (writes_in_order<Product>) place = epilogue.place(i);
        if (place == nullptr) epilogue.fetch(i + tile, count);  // after the block, another's
        T* const got = place != nullptr ? place : sum;
        multiply(member, i, count, got);
        if (place == nullptr) epilogue.store(i, count, sum);
        if constexpr (Epilogue::dot) {
          epilogue.terms(i, count, got, term);
          total += sum_of_tile(term, count);
        }
      }
      if constexpr (Epilogue::dot) partial[b] = total;
      if constexpr (can_stream<T>) end_of_streams();
    } else {
      rows_of_teams(b, member);
    }
  }

  /// Each row by a thread of the team, or by its lanes.
  KOKKOS_INLINE_FUNCTION void rows_of_teams(std::int64_t b, const Member<Exec>& member) const {
    const std::int64_t first = blocks.first(b);
    const std::int64_t last = blocks.last(b);
    if constexpr (Epilogue::dot) {
      double total = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(member, first, last),
          [&](std::int64_t i, double& mine) {
            T sum;
            double term;
            product(member, i, 1, &sum);
            Kokkos::single(Kokkos::PerThread(member), [&]() { epilogue.store(i, 1, &sum); });
            epilogue.terms(i, 1, &sum, &term);
            mine += term;
          },
          total);
      Kokkos::single(Kokkos::PerTeam(member), [&]() { partial[b] = total; });
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, first, last), [&](std::int64_t i) {
        T sum;
        product(member, i, 1, &sum);
        Kokkos::single(Kokkos::PerThread(member), [&]() { epilogue.store(i, 1, &sum); });
      });
    }
  }
};

/// The same on a GPU from scratch memory; a row that is a block by the whole team.
template <class T, class Exec, class Staged, class Epilogue>
struct StagedRowLoop {
  ListedBlocks blocks;
  Staged staged;
  Epilogue epilogue;
  double* partial;

  using Products = TeamArray<T, Exec>;  // [staged_entries]
  using Parts = PartsOfSums<T, Exec>;
  using Terms = PartsOfSums<double, Exec>;  // of the dot product

  static std::size_t scratch() {
    return Products::shmem_size(staged_entries) + Parts::bytes() +
           (Epilogue::dot ? Terms::bytes() : 0);
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, const TeamMember<Exec>& member) const {
    const Index first = blocks.first_row[b];
    const auto rows = static_cast<int>(blocks.first_row[b + 1] - first);
    const Offset* const row_ptr = staged.row_ptr + first;
    const Offset begin = row_ptr[0];
    const Parts parts(member);
    if (rows == 1) {
      const Offset end = row_ptr[1];
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{staging_threads}), [&](int t) {
        parts.part(t) = staged.entries.sum_of_thread(begin + t, end);
      });
      parts.sum_of_team(member, [&](const T& sum) {
        epilogue.store(first, 1, &sum);
        if constexpr (Epilogue::dot) epilogue.terms(first, 1, &sum, partial + b);
      });
      return;
    }
    const Products products(member.team_scratch(0), staged_entries);
    const auto count = static_cast<int>(row_ptr[rows] - begin);
    const auto begin_of = [&](int w) { return static_cast<int>(row_ptr[w] - begin); };
    const auto product = [&](int w) { return products(w); };
    if constexpr (Epilogue::dot) {
      const Terms terms(member);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int{staging_threads}),
                           [&](int t) { terms.part(t) = 0; });
      staged.entries.stage(member, begin, count, products.data());
      parts.sum_rows(member, rows, begin_of, product, [&](int w, const T& sum, int t) {
        double term;
        epilogue.store(first + w, 1, &sum);
        epilogue.terms(first + w, 1, &sum, &term);
        terms.part(t) += term;
      });
      terms.sum_of_team(member, [&](double sum) { partial[b] = sum; });
    } else {
      staged.entries.stage(member, begin, count, products.data());
      parts.sum_rows(member, rows, begin_of, product,
                     [&](int w, const T& sum, int) { epilogue.store(first + w, 1, &sum); });
    }
  }
};

template <class T, class Exec, class Blocks, class Product, class Epilogue>
void row_loop(const std::string& label, const Exec& exec, const Blocks& blocks, int lanes,
              const Product& product, const Epilogue& epilogue, double* partial) {
  if constexpr (may_stage<Product, T, Exec>) {
    const auto staged = staged_rows(product);
    if (staged.wanted) {
      for_each_piece<T>(label, exec, blocks.count(),
                        StagedRowLoop<T, Exec, std::remove_const_t<decltype(staged)>, Epilogue>{
                            blocks, staged, epilogue, partial});
      return;
    }
  }
  for_each_block(label, exec, blocks.count(), lanes,
                 RowLoop<T, Exec, Blocks, Product, Epilogue>{blocks, product, epilogue, partial});
}

/// A format of the kind described above.
template <class A, class T, class Exec>
concept RowFormat = requires(const A& a, ConstVector<T, Exec> x) {
  row_blocks(a);
  row_product(a, x);
};

/// Throws std::invalid_argument, naming the function and the sizes, where y = A x does not fit.
void check_sizes(std::string_view function, Index rows, Index cols, std::size_t x, std::size_t y);

/// Throws std::invalid_argument, naming the function and the sizes, where x'A x makes no sense.
void check_square(std::string_view function, std::int64_t rows, std::int64_t cols);

/// y := alpha A x + beta y. x: [A.cols], y: [A.rows], not overlapping. beta = 0 never reads y, and
/// a row's result depends only on the entries of x that its nonzeros name. The type of y is the one
/// computed in; A's values may be stored in a narrower one. Throws std::invalid_argument where
/// sizes differ. Returns before the device is done.
template <class A, class T, class Exec>
requires RowFormat<A, T, Exec>
void apply(const Exec& exec, std::type_identity_t<T> alpha, const A& a,
           std::type_identity_t<ConstVector<T, Exec>> x, std::type_identity_t<T> beta,
           const Vector<T, Exec>& y) {
  check_sizes("krysol::apply", a.rows, a.cols, x.extent(0), y.extent(0));
  row_loop<T>(std::string("krysol::apply(") + std::string(A::name) + ")", exec, row_blocks(a),
              lanes_of(a), row_product(a, x),
              Store<T>{alpha, beta, y.data(), order_of(a),
                       beyond_cache(static_cast<std::int64_t>(y.extent(0) * sizeof(T))),
                       writes_beyond_cache(y)},
              nullptr);
}

/// y := A x; returns the real part of x'y (for complex vectors x' is the conjugate transpose; x'A x
/// is real for a Hermitian A). The dot product is free of memory traffic: it is taken while the
/// rows are in cache. A must be square. Throws as apply does. Waits for the device.
template <class A, class T, class Exec>
requires RowFormat<A, T, Exec>
double apply_dot(const Exec& exec, const A& a, std::type_identity_t<ConstVector<T, Exec>> x,
                 const Vector<T, Exec>& y, ReductionWorkspace<Exec>& sums) {
  check_sizes("krysol::apply_dot", a.rows, a.cols, x.extent(0), y.extent(0));
  check_square("krysol::apply_dot", a.rows, a.cols);
  const auto blocks = row_blocks(a);
  if (blocks.count() == 0 && !sums.all_reduce.spread()) return 0;
  double* partial = sums.reserve(exec, blocks.count(), 1);
  row_loop<T>(std::string("krysol::apply_dot(") + std::string(A::name) + ")", exec, blocks,
              lanes_of(a), row_product(a, x),
              StoreAndDot<T>{x.data(), y.data(), order_of(a), writes_beyond_cache(y)}, partial);
  return finish<1>(exec, sums, blocks.count())[0];
}

}  // namespace krysol
