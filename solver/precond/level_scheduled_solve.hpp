// Two triangular solves, level by level: what ic0 and ssor have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/scratch_pool.hpp>

namespace krysol {

// Kokkos Kernels' level solves are not used: they know no Hermitian factors and no 64-bit row
// pointers, launch a kernel for each level however small, and are no part of every installation.

/// The entries (i, j) of A with rank[j] < rank[i], and its diagonal.
template <class T>
struct LowerPart {
  std::vector<Offset> row_ptr;  // [rows + 1]
  std::vector<Index> col_idx;   // [nnz] ascending in a row; duplicates are summed
  std::vector<T> values;        // [nnz]
  std::vector<T> diagonal;      // [rows] 0 where no entry is stored
  Index tied_row = -1;          // the first with an entry beside the diagonal whose ranks are equal
};

/// rank: [rows]; empty where a row's rank is its number. Throws std::invalid_argument unless A is
/// square. Instantiated in the library for its entry types.
template <class T>
LowerPart<T> lower_part(const HostCsr<T>& a, const std::vector<Index>& rank = {});

/// Throws PreconditionerRefusal, naming the first row whose diagonal entry is not positive and
/// finite.
template <class T>
void check_diagonal(std::string_view name, const LowerPart<T>& part);

/// Throws std::invalid_argument, naming the first row that differs, unless both are one pattern.
void check_pattern(std::string_view name, const std::vector<Offset>& row_ptr,
                   const std::vector<Index>& col_idx, const std::vector<Offset>& other_row_ptr,
                   const std::vector<Index>& other_col_idx);

/// Rows in an order in which each depends on rows of earlier levels alone or, where `chained`, also
/// on rows before it in its own level. A place is a position in this order.
struct Levels {
  std::vector<Index> order;  // [rows] row at each place; ascending within a level
  std::vector<Index> begin;  // [levels + 1] first place of each level
  bool chained = false;      // within a level rows do depend on those before them

  Index count() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Rows by their level: 0 to levels - 1.
Levels order_by_level(const std::vector<Index>& level_of_row);

/// One level for one thread, which saves the way between rows and places.
Levels in_their_own_order(Index rows);

/// Row i depends on each column j < i that it holds: level(i) = 1 + max level(j).
/// Anderson & Saad, Int. J. High Speed Comput. 1(1), 1989, DOI 10.1142/S0129053389000056.
Levels dependency_levels(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx);

/// Neighbouring levels that are worked on together: one with many rows by all threads, a run of
/// small ones by one team of a GPU or one thread of a host.
struct SweepStep {
  Index first_level = 0;
  Index last_level = 0;  // after the last one
  Index first = 0;       // place
  Index last = 0;        // after the last one
  bool wide = false;
};

/// Both triangles of a factor by places, on the host, with no values yet.
struct SweepPattern {
  struct Triangle {
    std::vector<Offset> row_ptr;  // [rows + 1]
    std::vector<Index> col_idx;   // [nnz] places
    std::vector<Offset> source;   // [nnz] which entry of the LowerPart each is
  };
  Levels levels;
  Triangle forward;   // N: entries at smaller places
  Triangle backward;  // N^H: entries at larger places

  std::vector<SweepStep> steps(bool host) const;
};

/// The pattern of a LowerPart in that order. Each of its entries must lead to an earlier level.
SweepPattern arrange(const std::vector<Offset>& row_ptr, const std::vector<Index>& col_idx,
                     Levels levels);

/// z := M^-1 r for M = (I + N) D (I + N)^H, where N is strictly lower triangular in the order of
/// the levels and D > 0 diagonal. Each step is a launch; one parallel region with a barrier after
/// each level was slower on two busy cores. Several host threads may apply one object at once.
/// Bytes a row and application in double: 24 forward (r, y with its write-allocate), 40 backward
/// (y read and written, D, z with its write-allocate), 24 of row_ptr and order; a nonzero of N: 24.
template <class T, class Exec>
struct LevelScheduledSolve {
  struct Triangle {
    Kokkos::View<Offset*, Exec> row_ptr;  // [rows + 1]
    Kokkos::View<Index*, Exec> col_idx;   // [nnz] places
    Kokkos::View<T*, Exec> values;        // [nnz]
  };
  Kokkos::View<Index*, Exec> order;        // [rows] row at each place
  Kokkos::View<Index*, Exec> level_begin;  // [levels + 1] first place of each level
  Kokkos::View<SweepStep*, Kokkos::HostSpace> steps;
  Triangle forward;
  Triangle backward;
  Vector<Real<T>, Exec> inverse_pivots;  // [rows] 1 / D, by places
  ScratchPool<Vector<T, Exec>, Exec> y;  // [rows] by places, one for each solve that runs

  void apply(const Exec& exec, const ConstVector<T, Exec>& r, const Vector<T, Exec>& z) const;
  Vector<T, Exec> fresh_y() const {
    return uninitialized<T>(Exec{}, "sweeps.y", static_cast<std::int64_t>(order.extent(0)));
  }
  double bytes() const {
    return static_cast<double>(2 * forward.values.extent(0) * (sizeof(T) + sizeof(Index)) +
                               order.extent(0) * (7 * sizeof(T) + sizeof(Real<T>) +
                                                  2 * sizeof(Offset) + 2 * sizeof(Index)));
  }
};

/// What kernels see of LevelScheduledSolve: one row of either solve.
template <class T, bool Forward>
struct SweepRow {
  const Index* order;
  const Offset* row_ptr;
  const Index* col_idx;
  const T* values;
  const Real<T>* inverse_pivots;
  const T* r;
  T* y;
  T* z;

  /// y(p) := r(p) - N(p, :) y, or in place y(p) := z(p) := y(p) / D(p) - N(:, p)^H y
  KOKKOS_INLINE_FUNCTION void operator()(Index p) const { solve(p, -1, T(0)); }

  /// The same where `known` = y(known_place) is at hand. A chain of rows would otherwise wait for
  /// each entry of y to come back from memory, a third longer.
  KOKKOS_INLINE_FUNCTION T solve(Index p, Index known_place, T known) const {
    constexpr Offset ahead = Forward ? 128 : -128;  // entries; see prefetch
    const Offset begin = row_ptr[p];
    const Offset end = row_ptr[p + 1];
    for (Offset k = begin; k < end; k += 8) {
      prefetch(values + k + ahead);
      prefetch(col_idx + k + ahead);
    }
    T sum = Forward ? r[order[p]] : inverse_pivots[p] * y[p];
    for (Offset k = begin; k + 1 < end; ++k) sum -= values[k] * y[col_idx[k]];
    if (begin < end) {  // the last entry is that of the nearest row
      const Index col = col_idx[end - 1];
      sum -= values[end - 1] * (col == known_place ? known : y[col]);
    }
    y[p] = sum;
    if (!Forward) z[order[p]] = sum;
    return sum;
  }
};

/// A step that is not wide on a host: one thread, row by row.
template <class T, bool Forward>
struct ChainOfRows {
  SweepRow<T, Forward> row;
  SweepStep step;

  KOKKOS_INLINE_FUNCTION void operator()(Index) const {
    const SweepRow<T, Forward> mine = row;  // a local copy: its pointers stay in registers
    Index before = -1;                      // the row that was solved last, and its entry of y
    T last = T(0);
    for (Index k = 0; k < step.last - step.first; ++k) {
      const Index p = Forward ? step.first + k : step.last - 1 - k;
      last = mine.solve(p, before, last);
      before = p;
    }
  }
};

/// The same on a GPU: one team, whose threads wait for each other after each level.
template <class T, class Exec, bool Forward>
struct SmallLevels {
  SweepRow<T, Forward> row;
  const Index* level_begin;
  SweepStep step;

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember<Exec>& member) const {
    const Index count = step.last_level - step.first_level;
    for (Index k = 0; k < count; ++k) {
      const Index level = Forward ? step.first_level + k : step.last_level - 1 - k;
      const Index first = level_begin[level];
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, level_begin[level + 1] - first),
                           [&](Index w) { row(first + w); });
      member.team_barrier();
    }
  }
};

template <class T, class Exec, bool Forward>
void launch_small_levels(const Exec& exec, const SweepRow<T, Forward>& row, const SweepStep& step,
                         const Index* level_begin) {
  Kokkos::parallel_for("krysol::sweep(small levels)",
                       Kokkos::TeamPolicy<Exec>(exec, 1, Tiles<Exec>::team),
                       SmallLevels<T, Exec, Forward>{row, level_begin, step});
}

template <class T, class Exec, bool Forward>
void launch_step(const Exec& exec, const SweepRow<T, Forward>& row, const SweepStep& step,
                 const Index* level_begin) {
  using Rows = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>;
  if (step.wide) {
    Kokkos::parallel_for("krysol::sweep(level)", Rows(exec, step.first, step.last), row);
  } else if (on_host<Exec>) {
    Kokkos::parallel_for("krysol::sweep(rows)", Rows(exec, 0, 1),
                         ChainOfRows<T, Forward>{row, step});
  } else {
    launch_small_levels(exec, row, step, level_begin);
  }
}

template <bool Forward, class T, class Exec>
SweepRow<T, Forward> sweep_row(const LevelScheduledSolve<T, Exec>& m, const T* r, T* y, T* z) {
  const auto& triangle = Forward ? m.forward : m.backward;
  return {m.order.data(),
          triangle.row_ptr.data(),
          triangle.col_idx.data(),
          triangle.values.data(),
          m.inverse_pivots.data(),
          r,
          y,
          z};
}

template <class T, class Exec>
void LevelScheduledSolve<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                                         const Vector<T, Exec>& z) const {
  const auto lease = y.take(exec, [this] { return fresh_y(); });
  T* const sums = lease->data();
  for (std::size_t s = 0; s < steps.extent(0); ++s) {
    launch_step(exec, sweep_row<true>(*this, r.data(), sums, z.data()), steps(s),
                level_begin.data());
  }
  for (std::size_t s = steps.extent(0); s-- > 0;) {
    launch_step(exec, sweep_row<false>(*this, r.data(), sums, z.data()), steps(s),
                level_begin.data());
  }
}

/// Host numbers in the memory of Exec.
template <class Exec, class V>
Kokkos::View<V*, Exec> on_device(const char* label, const std::vector<V>& host) {
  auto device = allocate<Kokkos::View<V*, Exec>>(label, host.size());
  Kokkos::deep_copy(device, Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                host.data(), host.size()));
  return device;
}

/// N and D of a factor M = (I + N) D (I + N)^H, by rows of the matrix.
template <class T>
struct FactorValues {
  std::vector<T> lower;           // [nnz] N, in the order of the LowerPart
  std::vector<Real<T>> diagonal;  // [rows] D > 0
};

/// Everything but the values.
template <class T, class Exec>
LevelScheduledSolve<T, Exec> make_sweeps(const SweepPattern& pattern) {
  const auto triangle =
      [](const SweepPattern::Triangle& t) -> typename LevelScheduledSolve<T, Exec>::Triangle {
    return {on_device<Exec>("sweeps.row_ptr", t.row_ptr),
            on_device<Exec>("sweeps.col_idx", t.col_idx),
            uninitialized<T>(Exec{}, "sweeps.values", static_cast<std::int64_t>(t.source.size()))};
  };
  LevelScheduledSolve<T, Exec> m;
  m.order = on_device<Exec>("sweeps.order", pattern.levels.order);
  m.level_begin = on_device<Exec>("sweeps.level_begin", pattern.levels.begin);
  m.steps = on_device<Kokkos::HostSpace>("sweeps.steps", pattern.steps(on_host<Exec>));
  m.forward = triangle(pattern.forward);
  m.backward = triangle(pattern.backward);
  const auto rows = static_cast<std::int64_t>(pattern.levels.order.size());
  m.inverse_pivots = uninitialized<Real<T>>(Exec{}, "sweeps.inverse_pivots", rows);
  m.y.take(Exec{}, [&m] { return m.fresh_y(); });  // here, so that no application allocates it
  return m;
}

/// The values of a factor, into arrays that stay where they are.
template <class T, class Exec>
void set_values(const SweepPattern& pattern, const FactorValues<T>& f,
                LevelScheduledSolve<T, Exec>& m) {
  const auto forward = Kokkos::create_mirror_view(m.forward.values);
  const auto backward = Kokkos::create_mirror_view(m.backward.values);
  const auto inverse = Kokkos::create_mirror_view(m.inverse_pivots);
  for (std::size_t k = 0; k < f.lower.size(); ++k) {
    forward(k) = f.lower[static_cast<std::size_t>(pattern.forward.source[k])];
    backward(k) = conjugate(f.lower[static_cast<std::size_t>(pattern.backward.source[k])]);
  }
  for (std::size_t p = 0; p < f.diagonal.size(); ++p) {
    inverse(p) = 1 / f.diagonal[static_cast<std::size_t>(pattern.levels.order[p])];
  }
  Kokkos::deep_copy(m.forward.values, forward);
  Kokkos::deep_copy(m.backward.values, backward);
  Kokkos::deep_copy(m.inverse_pivots, inverse);
}

}  // namespace krysol
