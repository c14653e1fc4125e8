// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/prolongation.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/spmv/base/scalar.hpp>

namespace krysol::multigrid {
namespace {

/// The nodes of each aggregate, ascending.
struct Members {
  HostArray<Index> first;  // [count + 1]
  HostArray<Index> node;

  explicit Members(const Aggregates& a)
      : first(host_array<Index>("members.first", static_cast<std::size_t>(a.count) + 1)),
        node(host_array<Index>("members.node", a.of_node.extent(0))) {
    const Index* const of_node = a.of_node.data();
    const auto nodes = static_cast<Index>(a.of_node.extent(0));
    // begin[g + 1] moves from the beginning of aggregate g to its end, where the next one begins
    Index* const begin = first.data();
    std::fill_n(begin, first.extent(0), 0);
    for (Index i = 0; i < nodes; ++i) {
      if (of_node[i] >= 0 && of_node[i] + 1 < a.count) ++begin[of_node[i] + 2];
    }
    for (Index g = 0; g < a.count; ++g) begin[g + 1] += begin[g];
    for (Index i = 0; i < nodes; ++i) {
      if (of_node[i] >= 0) node.data()[begin[of_node[i] + 1]++] = i;
    }
  }
};

template <class S>
double column_norm(const S* column, std::size_t rows) {
  double square = 0;
  for (std::size_t i = 0; i < rows; ++i) square += abs_squared(column[i]);
  return std::sqrt(square);
}

/// Q R of a few rows, in place: q [rows k] by columns, r [k k] by rows. Gram-Schmidt, twice.
template <class S>
void orthonormalize(S* q, std::size_t rows, std::size_t k, S* r) {
  constexpr double dependent = 1e-8;  // of what is left of a column
  std::fill_n(r, k * k, S(0));
  for (std::size_t c = 0; c < k; ++c) {
    S* const column = q + c * rows;
    const double before = column_norm(column, rows);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t d = 0; d < c; ++d) {
        const S* const other = q + d * rows;
        S inner = S(0);
        for (std::size_t i = 0; i < rows; ++i) inner += conjugate(other[i]) * column[i];
        for (std::size_t i = 0; i < rows; ++i) column[i] -= inner * other[i];
        r[d * k + c] += inner;
      }
    }
    const double norm = column_norm(column, rows);
    const bool usable = norm > dependent * before;
    const S by = from_double<S>(usable ? 1 / norm : 0);
    for (std::size_t i = 0; i < rows; ++i) column[i] *= by;
    r[c * k + c] = from_double<S>(usable ? norm : 0);
  }
}

/// What smoothing divides by: the diagonal of A with the weak entries of the same unknown added,
/// row by row, in proportion to the near-null vector b that is this unknown's. With one unknown a
/// node, F b = A b.
struct Lumped {
  HostArray<double> diagonal;  // [rows]
  double largest_sum = 0;      // of |F| / D, over the rows
};

template <class S>
Lumped lumped(const HostCsr<S>& a, const Strength& s, const NearNullSpace<S>& b) {
  constexpr double least = 0.1;  // of the diagonal of A
  constexpr std::int64_t step = 4096;
  const EqualBlocks pieces{a.rows, step};
  Lumped out;
  out.diagonal = host_array<double>("lumped", static_cast<std::size_t>(a.rows));
  std::vector<double> largest(static_cast<std::size_t>(pieces.count()), 0);
  host_for("krysol::lumped", pieces.count(), [&](std::int64_t p) {
    double most = 0;
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      double d = 1;
      double strong = 0;
      const auto unknown = static_cast<Index>(i % s.block);
      const S* const of_unknown = b.values.data() + unknown;
      const S own = unknown < b.count ? of_unknown[i * b.count] : S(0);  // there may be fewer
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        const Index j = a.col_idx.data()[k];
        if (j == i) continue;
        if (s.weight_of_row.data()[k] != 0 || j / s.block == i / s.block) {
          strong += std::sqrt(abs_squared(a.values.data()[k]));
        } else if (j % s.block == unknown && own != S(0)) {
          d += real_part(a.values.data()[k] * of_unknown[Offset{j} * b.count] / own);
        }
      }
      if (!(d > least)) d = 1;
      out.diagonal.data()[i] = d;
      most = std::max(most, 1 + strong / d);
    }
    largest[static_cast<std::size_t>(p)] = most;
  });
  for (const double most : largest) out.largest_sum = std::max(out.largest_sum, most);
  return out;
}

/// Row i of (I - omega D^-1 F) T.
template <class S>
class SmoothedRow {
 public:
  SmoothedRow(const HostCsr<S>& a, const Strength& strength, const Aggregates& aggregates,
              const Tentative<S>& t, const double* diagonal, double omega)
      : a_(a),
        strength_(strength),
        aggregates_(aggregates),
        t_(t),
        diagonal_(diagonal),
        omega_(omega) {}

  Offset operator()(Index i, RowStore<S>& store) {
    if (places_.empty()) places_.assign(static_cast<std::size_t>(aggregates_.count), -1);
    if (strength_.block == 1 && t_.coarse.count == 1) return add_entries<1, 1>(i, store);
    return without_zeros(store, add_entries<0, 0>(i, store));
  }

 private:
  /// Rows of a node and columns of an aggregate, where they are known to the compiler; else 0.
  template <Index known_block, Index known_columns>
  Offset add_entries(Index i, RowStore<S>& store) {
    const Index block = known_block > 0 ? known_block : strength_.block;
    const Index k = known_columns > 0 ? known_columns : t_.coarse.count;
    const Offset begin = a_.row_ptr.data()[i];
    const Offset end = a_.row_ptr.data()[i + 1];
    store.open((end - begin + 1) * k);
    const Index own_node = i / block;
    const double by = -omega_ / diagonal_[i];
    Offset used = 0;
    const auto add = [&](Index g, const S& factor, const S* from) {
      Offset& place = places_[static_cast<std::size_t>(g)];
      if (place < base_) {
        place = base_ + used;
        for (Index c = 0; c < k; ++c) {
          store.col_idx[used + c] = g * k + c;
          store.values[used + c] = S(0);
        }
        used += k;
      }
      S* const to = store.values + (place - base_);
      for (Index c = 0; c < k; ++c) to[c] += factor * from[c];
    };
    const Index* const of_node = aggregates_.of_node.data();
    if (of_node[own_node] >= 0) {
      add(of_node[own_node], from_double<S>(1 - omega_), t_.q.data() + Offset{i} * k);
    }
    for (Offset q = begin; q < end; ++q) {
      const Index j = a_.col_idx.data()[q];
      const Index node = j / block;
      if (j == i || (strength_.weight_of_row.data()[q] == 0 && node != own_node)) continue;
      if (of_node[node] < 0) continue;
      add(of_node[node], from_double<S>(by) * a_.values.data()[q], t_.q.data() + Offset{j} * k);
    }
    base_ += used;
    return used;
  }

  /// Closes the gaps that unknowns leave which a row has nothing of.
  static Offset without_zeros(RowStore<S>& store, Offset used) {
    Offset kept = 0;
    for (Offset e = 0; e < used; ++e) {
      if (store.values[e] == S(0)) continue;
      store.col_idx[kept] = store.col_idx[e];
      store.values[kept++] = store.values[e];
    }
    return kept;
  }

  const HostCsr<S>& a_;
  const Strength& strength_;
  const Aggregates& aggregates_;
  const Tentative<S>& t_;
  const double* diagonal_;
  double omega_;
  std::vector<Offset> places_;  // where an aggregate's columns are in row i: see ProductRow
  Offset base_ = 0;
};

}  // namespace

template <class S>
NearNullSpace<S> constants(Index rows, Index block) {
  NearNullSpace<S> b;
  b.count = block;
  b.values =
      host_array<S>("near_null", static_cast<std::size_t>(rows) * static_cast<std::size_t>(block));
  host_for("krysol::constants", rows, [=, to = b.values.data()](std::int64_t i) {
    for (Index c = 0; c < block; ++c) to[i * block + c] = S(c == i % block ? 1 : 0);
  });
  return b;
}

template <class S>
Tentative<S> tentative(const Aggregates& aggregates, Index block, const NearNullSpace<S>& b) {
  const auto k = static_cast<std::size_t>(b.count);
  const auto size = static_cast<std::size_t>(block);
  const Members members(aggregates);
  Tentative<S> out;
  out.q = host_array<S>("tentative", b.values.extent(0));
  out.coarse.count = b.count;
  out.coarse.values =
      host_array<S>("near_null", static_cast<std::size_t>(aggregates.count) * k * k);
  host_for("krysol::tentative(clear)", static_cast<std::int64_t>(aggregates.of_node.extent(0)),
           [&, q = out.q.data()](std::int64_t node) {
             if (aggregates.of_node.data()[node] >= 0) return;
             std::fill_n(q + static_cast<std::size_t>(node) * size * k, size * k, S(0));
           });
  constexpr std::int64_t at_once = 512;  // aggregates, which share an array
  const EqualBlocks pieces{aggregates.count, at_once};
  host_for("krysol::tentative", pieces.count(), [&](std::int64_t p) {
    std::vector<S> local;
    for (std::int64_t g = pieces.first(p); g < pieces.last(p); ++g) {
      const Index* const node = members.node.data() + members.first.data()[g];
      const auto count =
          static_cast<std::size_t>(members.first.data()[g + 1] - members.first.data()[g]);
      const std::size_t rows = count * size;
      const auto row = [&](std::size_t i) {
        return static_cast<std::size_t>(node[i / size]) * size + i % size;
      };
      local.resize(rows * k);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t c = 0; c < k; ++c) local[c * rows + i] = b.values.data()[row(i) * k + c];
      }
      orthonormalize(local.data(), rows, k,
                     out.coarse.values.data() + static_cast<std::size_t>(g) * k * k);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t c = 0; c < k; ++c) out.q.data()[row(i) * k + c] = local[c * rows + i];
      }
    }
  });
  return out;
}

template <class S>
HostCsr<S> smoothed(const HostCsr<S>& a, const Strength& strength, double largest,
                    const Aggregates& aggregates, const NearNullSpace<S>& b, const Tentative<S>& t,
                    RowMemory<S>& memory) {
  const Lumped of = lumped(a, strength, b);
  const double bound = bound_of_filtered(of.largest_sum, largest);
  const std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  return joined(
      make_rows("krysol::multigrid(P)", a.rows, aggregates.count * t.coarse.count, first, memory,
                SmoothedRow<S>(a, strength, aggregates, t, of.diagonal.data(), 4.0 / 3 / bound)),
      first);
}

#define KRYSOL_INSTANTIATE(S)                                                                 \
  template NearNullSpace<S> constants(Index, Index);                                          \
  template Tentative<S> tentative(const Aggregates&, Index, const NearNullSpace<S>&);         \
  template HostCsr<S> smoothed(const HostCsr<S>&, const Strength&, double, const Aggregates&, \
                               const NearNullSpace<S>&, const Tentative<S>&, RowMemory<S>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
