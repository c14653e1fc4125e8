// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/cholesky/factors.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <exception>
#include <mutex>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol::sparse_cholesky {
namespace {

constexpr double lost_pivot = 1e-14;
constexpr double negative_pivot = -1e-11;

std::size_t nth(Offset i) { return static_cast<std::size_t>(i); }

template <class W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
template <class W>
using Part = Eigen::Map<Dense<W>, 0, Eigen::OuterStride<>>;
template <class W>
using ConstPart = Eigen::Map<const Dense<W>, 0, Eigen::OuterStride<>>;
template <class W>
using Column = Eigen::Map<Eigen::Matrix<W, Eigen::Dynamic, 1>>;

/// Runs body(first, last) over tiles of [0, n): on all cores where `together`.
template <class Body>
void each_tile(Index n, Index tile, bool together, const Body& body) {
  const Index tiles = (n + tile - 1) / tile;
  const auto run = [&](std::int64_t t) {
    const Index first = static_cast<Index>(t) * tile;
    body(first, std::min(n, first + tile));
  };
  if (together) {
    host_for_uneven("krysol::sparse_cholesky(tiles)", tiles, run);
  } else {
    for (Index t = 0; t < tiles; ++t) run(t);
  }
}

template <class W>
struct Factorization {
  static constexpr Index tile = 96;   // columns and rows of a front that one core takes at a time
  static constexpr Index strip = 32;  // columns of a panel that are eliminated one by one

  const Elimination& e;
  const Offset* row_ptr;
  const Index* col_idx;
  const W* a;
  Factors<W>& out;
  std::vector<std::vector<Index>> children{};
  std::vector<Numbers<W>> update{};  // what each supernode adds to its parent
  std::mutex counting{};

  /// The rows of a front have their places in `local` [rows].
  void assemble(Index s, std::vector<Index>& local, W* panel, W* below) {
    const Index r = e.rows_of(s);
    const Index n = e.columns_of(s);
    const Index m = r - n;
    const Index first = e.first[nth(s)];
    const Index* rows = e.row_idx.data() + e.row_begin[nth(s)];
    for (Index q = 0; q < r; ++q) local[nth(rows[q])] = q;
    std::fill_n(panel, nth(Offset{r} * n), W(0));
    std::fill_n(below, nth(Offset{m} * m), W(0));
    for (Index j = 0; j < n; ++j) {
      const Index i = e.order[nth(first + j)];
      W* const to = panel + Offset{j} * r;
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const Index p = e.place[nth(col_idx[k])];
        if (p < first + j) continue;
        const Index q = local[nth(p)];
        if (q < r && rows[q] == p) to[q] += Eigen::numext::conj(a[k]);  // else it has no mirror
      }
    }
    for (const Index c : children[nth(s)]) {
      const Index cn = e.columns_of(c);
      const Index cm = e.rows_of(c) - cn;
      const Index* crows = e.row_idx.data() + e.row_begin[nth(c)] + cn;
      const W* from = update[nth(c)].get();
      for (Index j = 0; j < cm; ++j, from += cm) {
        const Index t = local[nth(crows[j])];
        W* const to = t < n ? panel + Offset{t} * r : below + Offset{t - n} * m - n;
        for (Index i = j; i < cm; ++i) to[local[nth(crows[i])]] += from[i];
      }
      update[nth(c)].reset();
    }
  }

  /// Columns [begin, end) of a panel that holds what columns before them left: one by one.
  void eliminate_columns(Index s, Part<W>& panel, Index begin, Index end) {
    const Index r = e.rows_of(s);
    for (Index j = begin; j < end; ++j) {
      const Index left = r - j - 1;
      auto below = panel.col(j).tail(left);
      const double d = std::real(panel(j, j));
      const Index row = e.order[nth(e.first[nth(s)] + j)];
      if (!(d >= negative_pivot) || !std::isfinite(d)) {
        throw PreconditionerRefusal(
            fmt::format("cholesky: the pivot of row {} is {:.3g}, with ones on the diagonal of A",
                        row + 1, d),
            row);
      }
      if (d <= lost_pivot) {
        const std::lock_guard lock(counting);
        if (out.lost++ == 0 || row < out.first_lost) out.first_lost = row;
        panel(j, j) = W(1);
        below.setZero();
        continue;
      }
      panel(j, j) = W(std::sqrt(d));
      below /= panel(j, j);
      for (Index k = j + 1; k < end; ++k) {
        panel.col(k).tail(r - k) -= panel.col(j).tail(r - k) * Eigen::numext::conj(panel(k, j));
      }
    }
  }

  void eliminate_front(Index s, std::vector<Index>& local, bool together) {
    const Index r = e.rows_of(s);
    const Index n = e.columns_of(s);
    const Index m = r - n;
    W* const values = out.values.get() + e.value_begin[nth(s)];
    Numbers<W> below = numbers<W>(nth(Offset{m} * m));
    assemble(s, local, values, below.get());
    const bool large = together && r >= 2 * tile;
    Part<W> panel(values, r, n, Eigen::OuterStride<>(r));
    for (Index begin = 0; begin < n; begin += strip) {
      const Index end = std::min(n, begin + strip);
      if (begin > 0) {  // what the columns before them leave of these
        each_tile(r - begin, tile, large, [&](Index first, Index last) {
          panel.block(begin + first, begin, last - first, end - begin).noalias() -=
              panel.block(begin + first, 0, last - first, begin) *
              panel.block(begin, 0, end - begin, begin).adjoint();
        });
      }
      eliminate_columns(s, panel, begin, end);
    }
    Part<W> u(below.get(), m, m, Eigen::OuterStride<>(m));
    const auto rest = panel.bottomRows(m);
    each_tile(m, tile, large, [&](Index first, Index last) {
      const Index w = last - first;
      u.block(first, first, m - first, w).noalias() -=
          rest.bottomRows(m - first) * rest.middleRows(first, w).adjoint();
    });
    update[nth(s)] = std::move(below);
  }
};

/// Subtrees for the cores, each to be done by one, and what is above them.
struct Shares {
  std::vector<std::vector<Index>> of_core;  // supernodes, children first
  std::vector<Index> above;                 // ascending
};

Shares shares_of_cores(const Elimination& e, const std::vector<std::vector<Index>>& children,
                       int cores) {
  constexpr double least = 2e6;  // less is done before other cores have woken up
  const Index count = e.supernodes();
  std::vector<double> work(nth(count));
  for (Index s = 0; s < count; ++s) {
    work[nth(s)] += e.flops_of(s);
    if (e.parent[nth(s)] >= 0) work[nth(e.parent[nth(s)])] += work[nth(s)];
  }
  Shares shares;
  const auto by_work = [&](Index s, Index t) { return work[nth(s)] < work[nth(t)]; };
  std::vector<Index> trees;  // a heap
  for (Index s = 0; s < count; ++s) {
    if (e.parent[nth(s)] < 0) trees.push_back(s);
  }
  std::make_heap(trees.begin(), trees.end(), by_work);
  const double large = std::max(least, e.flops / (4.0 * cores));
  while (cores > 1 && !trees.empty() && work[nth(trees.front())] > large) {
    std::pop_heap(trees.begin(), trees.end(), by_work);
    const Index s = trees.back();
    trees.pop_back();
    shares.above.push_back(s);
    for (const Index c : children[nth(s)]) {
      trees.push_back(c);
      std::push_heap(trees.begin(), trees.end(), by_work);
    }
  }
  std::sort(shares.above.begin(), shares.above.end());
  std::sort(trees.begin(), trees.end(), [&](Index s, Index t) {
    return work[nth(s)] != work[nth(t)] ? work[nth(s)] > work[nth(t)] : s < t;
  });
  const std::size_t parts = e.flops > least ? static_cast<std::size_t>(cores) : 1;
  shares.of_core.resize(parts);
  std::vector<double> given(parts, 0.0);
  std::vector<Index> owner(nth(count), -1);
  for (const Index root : trees) {
    const auto core = std::min_element(given.begin(), given.end()) - given.begin();
    given[static_cast<std::size_t>(core)] += work[nth(root)];
    owner[nth(root)] = static_cast<Index>(core);
  }
  for (Index s = count; s-- > 0;) {
    const Index up = e.parent[nth(s)];
    if (owner[nth(s)] < 0 && up >= 0) owner[nth(s)] = owner[nth(up)];
  }
  for (Index s = 0; s < count; ++s) {
    if (owner[nth(s)] >= 0) shares.of_core[nth(owner[nth(s)])].push_back(s);
  }
  return shares;
}

}  // namespace

template <class W>
Factors<W> numeric_factors(const Elimination& e, const Offset* row_ptr, const Index* col_idx,
                           const W* values) {
  Factors<W> out;
  out.values = numbers<W>(nth(e.value_begin.back()));
  Factorization<W> run{e, row_ptr, col_idx, values, out};
  run.children.resize(nth(e.supernodes()));
  run.update.resize(nth(e.supernodes()));
  for (Index s = 0; s < e.supernodes(); ++s) {
    if (e.parent[nth(s)] >= 0) run.children[nth(e.parent[nth(s)])].push_back(s);
  }
  const Shares shares = shares_of_cores(e, run.children, Host().concurrency());
  // Of several, the one that a single core would have thrown.
  std::vector<std::exception_ptr> thrown(nth(e.supernodes()));
  const auto subtrees = [&](std::int64_t c) {
    Index at_work = shares.of_core[nth(c)].empty() ? 0 : shares.of_core[nth(c)].front();
    try {
      std::vector<Index> local(nth(e.rows));
      for (const Index s : shares.of_core[nth(c)]) {
        at_work = s;
        run.eliminate_front(s, local, false);
      }
    } catch (...) {
      if (!thrown.empty()) thrown[nth(at_work)] = std::current_exception();
    }
  };
  if (shares.of_core.size() > 1) {
    host_for("krysol::sparse_cholesky(subtrees)", static_cast<std::int64_t>(shares.of_core.size()),
             subtrees);
  } else {
    subtrees(0);
  }
  for (const std::exception_ptr& t : thrown) {
    if (t) std::rethrow_exception(t);
  }
  std::vector<Index> local(nth(e.rows));
  for (const Index s : shares.above) run.eliminate_front(s, local, true);
  return out;
}

template <class W>
void solve(const Elimination& e, const Factors<W>& factors, W* x) {
  Eigen::Matrix<W, Eigen::Dynamic, 1> others(e.rows);
  const auto each = [&](Index s, const auto& step) {
    const Index r = e.rows_of(s);
    const Index n = e.columns_of(s);
    const ConstPart<W> panel(factors.values.get() + e.value_begin[nth(s)], r, n,
                             Eigen::OuterStride<>(r));
    step(panel.topRows(n), panel.bottomRows(r - n), Column<W>(x + e.first[nth(s)], n),
         e.row_idx.data() + e.row_begin[nth(s)] + n, r - n);
  };
  // L y = x
  for (Index s = 0; s < e.supernodes(); ++s) {
    each(s, [&](const auto& top, const auto& rest, Column<W> own, const Index* rows, Index m) {
      top.template triangularView<Eigen::Lower>().solveInPlace(own);
      auto t = others.head(m);
      t.noalias() = rest * own;
      for (Index i = 0; i < m; ++i) x[rows[i]] -= t(i);
    });
  }
  // L^H x = y
  for (Index s = e.supernodes(); s-- > 0;) {
    each(s, [&](const auto& top, const auto& rest, Column<W> own, const Index* rows, Index m) {
      auto t = others.head(m);
      for (Index i = 0; i < m; ++i) t(i) = x[rows[i]];
      own.noalias() -= rest.adjoint() * t;
      top.template triangularView<Eigen::Lower>().adjoint().solveInPlace(own);
    });
  }
}

#define KRYSOL_INSTANTIATE(W)                                                                     \
  template Factors<W> numeric_factors(const Elimination&, const Offset*, const Index*, const W*); \
  template void solve(const Elimination&, const Factors<W>&, W*);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(std::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::sparse_cholesky
