// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/cholesky/factors.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <Eigen/Dense>
#include <krysol/solver/precond/preconditioner.hpp>
#include <krysol/spmv/base/memory.hpp>
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

/// Whether what a front adds to its parent, so many numbers, is held by Stacks. The first touch of
/// small pages takes as long as what is computed in them; more has memory of its own for as long as
/// it is needed.
bool on_stack(std::size_t n) {
  constexpr std::size_t most = std::size_t{1} << 17;
  return n <= most;
}

/// What the small fronts of a core's subtrees add to their parents. Children come just before their
/// parents, so that two stacks hold it, which the levels of the tree take in turns: the children of
/// a front lie on top of one while the front is made on the other. They grow towards each other, in
/// memory that is touched once.
template <class W>
class Stacks {
 public:
  /// In [begin, end), from a multiple of 64 bytes to another.
  Stacks(W* begin, W* end) : begin_(begin), end_(end), up_(begin), down_(end) {}

  /// Numbers that n of them take: the next ones begin at a multiple of 64 bytes, too.
  static std::size_t rounded(std::size_t n) {
    constexpr std::size_t step = 64 / sizeof(W);
    return (n + step - 1) / step * step;
  }

  W* push(Index depth, std::size_t n) {
    const auto taken = static_cast<std::ptrdiff_t>(rounded(n));
    if (depth % 2 == 0) return std::exchange(up_, up_ + taken);
    return down_ -= taken;
  }
  /// What was pushed after `oldest`, and that itself, if it is on the stack.
  void pop(Index depth, W* oldest, std::size_t n) {
    if (std::less<>()(oldest, begin_) || !std::less<>()(oldest, end_)) return;
    if (depth % 2 == 0) {
      up_ = std::min(up_, oldest, std::less<>());
    } else {
      down_ = std::max(down_, oldest + static_cast<std::ptrdiff_t>(rounded(n)), std::less<>());
    }
  }

 private:
  W* begin_;
  W* end_;
  W* up_;
  W* down_;
};

/// Numbers that a front adds to its parent, stored as a square.
std::size_t added(const Elimination& e, Index s) {
  const auto m = static_cast<std::size_t>(e.rows_of(s) - e.columns_of(s));
  return m * m;
}

template <class W>
struct Factorization {
  static constexpr Index tile = 96;   // columns and rows of a front that one core takes at a time
  static constexpr Index strip = 32;  // columns of a panel that are eliminated one by one

  const Elimination& e;
  const Offset* row_ptr;
  const Index* col_idx;
  const W* a;
  const double* scale;
  Factors<W>& out;
  std::vector<std::vector<Index>> children{};
  std::vector<W*> update{};       // what each supernode adds to its parent: its lower triangle
  std::vector<Numbers<W>> own{};  // of each supernode for which that is not on a stack
  std::mutex counting{};

  /// Adds what a child left to a front of r rows and n columns, which have their places in `local`.
  void extend_add(Index c, const std::vector<Index>& local, Index r, Index n, W* panel, W* below,
                  bool large) {
    const Index cn = e.columns_of(c);
    const Index cm = e.rows_of(c) - cn;
    const Index* const rows = e.row_idx.data() + e.row_begin[nth(c)] + cn;
    each_tile(cm, strip, large, [&](Index begin, Index last) {
      for (Index j = begin; j < last; ++j) {
        const W* const from = update[nth(c)] + Offset{j} * cm;
        const Index t = local[nth(rows[j])];
        W* const to = t < n ? panel + Offset{t} * r : below + Offset{t - n} * (r - n) - n;
        for (Index i = j; i < cm; ++i) to[local[nth(rows[i])]] += from[i];
      }
    });
  }

  /// The rows of a front have their places in `local` [rows].
  void assemble(Index s, std::vector<Index>& local, W* panel, W* below, bool large) {
    const Index r = e.rows_of(s);
    const Index n = e.columns_of(s);
    const Index m = r - n;
    const Index first = e.first[nth(s)];
    const Index* rows = e.row_idx.data() + e.row_begin[nth(s)];
    for (Index q = 0; q < r; ++q) local[nth(rows[q])] = q;
    // Products add to whole strips and tiles on the diagonal; what is above is never read.
    each_tile(r, strip, large, [&](Index begin, Index last) {
      for (Index j = begin; j < last; ++j) {
        if (j < n) {
          const Index top = j / strip * strip;
          std::fill_n(panel + Offset{j} * r + top, r - top, W(0));
        } else {
          const Index top = (j - n) / tile * tile;
          std::fill_n(below + Offset{j - n} * m + top, m - top, W(0));
        }
      }
    });
    for (Index j = 0; j < n; ++j) {
      const Index i = e.order[nth(first + j)];
      W* const to = panel + Offset{j} * r;
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const Index p = e.place[nth(col_idx[k])];
        if (p < first + j) continue;
        const Index q = local[nth(p)];
        if (q >= r || rows[q] != p) continue;  // it has no mirror
        to[q] += (scale[i] * scale[col_idx[k]]) * Eigen::numext::conj(a[k]);
      }
    }
    for (const Index c : children[nth(s)]) extend_add(c, local, r, n, panel, below, large);
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

  /// `below` [m * m]: for what it adds to its parent.
  void eliminate_front(Index s, std::vector<Index>& local, W* below, bool together) {
    const Index r = e.rows_of(s);
    const Index n = e.columns_of(s);
    const Index m = r - n;
    W* const values = out.values.get() + e.value_begin[nth(s)];
    const bool large = together && r >= 2 * tile;
    assemble(s, local, values, below, large);
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
    Part<W> u(below, m, m, Eigen::OuterStride<>(m));
    const auto rest = panel.bottomRows(m);
    each_tile(m, tile, large, [&](Index first, Index last) {
      const Index w = last - first;
      u.block(first, first, m - first, w).noalias() -=
          rest.bottomRows(m - first) * rest.middleRows(first, w).adjoint();
    });
    update[nth(s)] = below;
  }

  /// Supernodes one after the other, each with all cores where `together`; `at_work` is the one
  /// under way.
  void eliminate_fronts(const std::vector<Index>& supernodes, const std::vector<Index>& depth,
                        Stacks<W>& stacks, bool together, Index& at_work) {
    if (supernodes.empty()) return;
    std::vector<Index> local(nth(e.rows));
    for (const Index s : supernodes) {
      at_work = s;
      const std::size_t n = added(e, s);
      if (!on_stack(n)) own[nth(s)] = numbers<W>(n);
      W* const below = on_stack(n) ? stacks.push(depth[nth(s)], n) : own[nth(s)].get();
      eliminate_front(s, local, below, together);
      for (const Index c : children[nth(s)]) {
        if (own[nth(c)]) {
          own[nth(c)].reset();
        } else {
          stacks.pop(depth[nth(c)], update[nth(c)], added(e, c));
        }
      }
    }
  }
};

/// Subtrees for the cores, each to be done by one, and what is above them.
struct Shares {
  std::vector<std::vector<Index>> of_core;  // supernodes, children first
  std::vector<Index> above;                 // ascending
};

/// Trees given out to cores, the most work first, each to the core that has the least.
struct GivenOut {
  std::vector<Index> trees;
  std::vector<std::size_t> core;  // of each
  double most = 0;                // work of a core
};

GivenOut given_out(std::vector<Index> trees, const std::vector<double>& work, std::size_t cores) {
  std::sort(trees.begin(), trees.end(), [&](Index s, Index t) {
    return work[nth(s)] != work[nth(t)] ? work[nth(s)] > work[nth(t)] : s < t;
  });
  GivenOut out;
  std::vector<double> given(cores, 0.0);
  for (const Index root : trees) {
    const auto least = std::min_element(given.begin(), given.end());
    *least += work[nth(root)];
    out.core.push_back(static_cast<std::size_t>(least - given.begin()));
  }
  out.trees = std::move(trees);
  out.most = *std::max_element(given.begin(), given.end());
  return out;
}

std::vector<Index> no_smaller(const std::vector<Index>& trees, const std::vector<double>& work,
                              double least) {
  std::vector<Index> kept;
  std::copy_if(trees.begin(), trees.end(), std::back_inserter(kept),
               [&](Index s) { return work[nth(s)] >= least; });
  return kept;
}

/// Trees are taken apart until the cores have as much to do as each other, but for a tenth: small
/// fronts above them take longer than where each core makes its own. Large ones do not, and one at
/// a time they take less memory.
Shares shares_of_cores(const Elimination& e, const std::vector<std::vector<Index>>& children,
                       int cores) {
  constexpr double least = 2e6;  // less is done before other cores have woken up
  constexpr double even = 1.1;
  constexpr double shared = 5e7;  // multiplications of a front that cores make well together
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
  const std::size_t parts = e.flops > least ? static_cast<std::size_t>(cores) : 1;
  const double small = std::max(least, e.flops / (4.0 * cores));
  double left = e.flops;  // in the trees
  while (parts > 1 && !trees.empty() && work[nth(trees.front())] > small) {
    const double enough = even * left / cores;
    if (e.flops_of(trees.front()) < shared && work[nth(trees.front())] <= enough &&
        given_out(no_smaller(trees, work, enough / 32), work, parts).most <= enough) {
      break;  // the rest fits in between
    }
    std::pop_heap(trees.begin(), trees.end(), by_work);
    const Index s = trees.back();
    trees.pop_back();
    shares.above.push_back(s);
    left -= e.flops_of(s);
    for (const Index c : children[nth(s)]) {
      trees.push_back(c);
      std::push_heap(trees.begin(), trees.end(), by_work);
    }
  }
  std::sort(shares.above.begin(), shares.above.end());
  const GivenOut given = given_out(std::move(trees), work, parts);
  std::vector<Index> owner(nth(count), -1);
  for (std::size_t k = 0; k < given.trees.size(); ++k) {
    owner[nth(given.trees[k])] = static_cast<Index>(given.core[k]);
  }
  for (Index s = count; s-- > 0;) {
    const Index up = e.parent[nth(s)];
    if (owner[nth(s)] < 0 && up >= 0) owner[nth(s)] = owner[nth(up)];
  }
  shares.of_core.resize(parts);
  for (Index s = 0; s < count; ++s) {
    if (owner[nth(s)] >= 0) shares.of_core[nth(owner[nth(s)])].push_back(s);
  }
  return shares;
}

/// [supernodes] ancestors of each.
std::vector<Index> depths(const Elimination& e) {
  std::vector<Index> depth(nth(e.supernodes()), 0);
  for (Index s = e.supernodes(); s-- > 0;) {
    if (e.parent[nth(s)] >= 0) depth[nth(s)] = depth[nth(e.parent[nth(s)])] + 1;
  }
  return depth;
}

/// What the Stacks of supernodes hold at most that are made one after the other. `held`
/// [supernodes]: zeros, as it is left.
template <class W>
std::size_t most_on_stacks(const Elimination& e, const std::vector<std::vector<Index>>& children,
                           const std::vector<Index>& supernodes, std::vector<std::size_t>& held) {
  std::size_t now = 0;
  std::size_t most = 0;
  for (const Index s : supernodes) {
    const std::size_t n = added(e, s);
    if (on_stack(n)) held[nth(s)] = Stacks<W>::rounded(n);
    now += held[nth(s)];
    most = std::max(most, now);
    for (const Index c : children[nth(s)]) now -= std::exchange(held[nth(c)], 0);
  }
  for (const Index s : supernodes) held[nth(s)] = 0;
  return most;
}

}  // namespace

template <class W>
Factors<W> numeric_factors(const Elimination& e, const Offset* row_ptr, const Index* col_idx,
                           const W* values, const double* scale) {
  Factors<W> out;
  Factorization<W> run{e, row_ptr, col_idx, values, scale, out};
  run.children.resize(nth(e.supernodes()));
  run.update.resize(nth(e.supernodes()));
  run.own.resize(nth(e.supernodes()));
  for (Index s = 0; s < e.supernodes(); ++s) {
    if (e.parent[nth(s)] >= 0) run.children[nth(e.parent[nth(s)])].push_back(s);
  }
  const Shares shares = shares_of_cores(e, run.children, Host().concurrency());
  const std::vector<Index> depth = depths(e);
  std::vector<std::size_t> end(1, 0);  // of the stacks of each core, and of what is above
  std::vector<std::size_t> held(nth(e.supernodes()), 0);
  for (const auto& of_core : shares.of_core) {
    end.push_back(end.back() + most_on_stacks<W>(e, run.children, of_core, held));
  }
  end.push_back(end.back() + most_on_stacks<W>(e, run.children, shares.above, held));
  // Large fronts under way take about as much again as L in the worst of cases.
  require_host_memory("cholesky.values",
                      sizeof(W) * (2 * e.entries() + static_cast<double>(end.back())));
  out.values = numbers<W>(nth(e.value_begin.back()));
  const Numbers<W> memory = numbers<W>(end.back());
  std::vector<Stacks<W>> stacks;
  for (std::size_t k = 1; k < end.size(); ++k) {
    stacks.emplace_back(memory.get() + end[k - 1], memory.get() + end[k]);
  }
  // Of several, the one that a single core would have thrown.
  std::vector<std::exception_ptr> thrown(nth(e.supernodes()));
  const auto subtrees = [&](std::int64_t c) {
    const std::vector<Index>& of_core = shares.of_core[nth(c)];
    Index at_work = of_core.empty() ? 0 : of_core.front();
    try {
      run.eliminate_fronts(of_core, depth, stacks[nth(c)], false, at_work);
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
  Index at_work = 0;
  run.eliminate_fronts(shares.above, depth, stacks.back(), true, at_work);
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

#define KRYSOL_INSTANTIATE(W)                                                                    \
  template Factors<W> numeric_factors(const Elimination&, const Offset*, const Index*, const W*, \
                                      const double*);                                            \
  template void solve(const Elimination&, const Factors<W>&, W*);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(std::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::sparse_cholesky
