// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/strength.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/spmv/base/scalar.hpp>

namespace krysol::multigrid {
namespace {

/// For |A_IJ|^2 / (|A_II| |A_JJ|).
std::uint8_t weight_of(double square, double theta) {
  if (!(square > theta * theta)) return 0;
  return static_cast<std::uint8_t>(1 + std::min(254.0, std::round(254 * std::sqrt(square))));
}

template <class S>
Strength of_entries(const HostCsr<S>& a, double theta) {
  Strength s;
  s.nodes = a.rows;
  s.row_ptr = a.row_ptr;
  s.col_idx = a.col_idx;
  s.weight = host_array<std::uint8_t>("strength.weight", static_cast<std::size_t>(a.nnz()));
  host_for("krysol::strength", a.rows, [&, to = s.weight.data()](std::int64_t i) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const bool itself = a.col_idx.data()[k] == i;
      to[k] = itself ? 0 : weight_of(abs_squared(a.values.data()[k]), theta);
    }
  });
  s.weight_of_row = s.weight;
  return s;
}

/// The neighbours of a node, with the squares of their blocks' norms.
template <class S>
class BlockRow {
 public:
  BlockRow(const HostCsr<S>& a, Index block)
      : a_(a), block_(block), place_(static_cast<std::size_t>(a.cols / block), -1) {}

  void load(Index node) {
    for (const Index j : neighbours) place_[static_cast<std::size_t>(j)] = -1;
    neighbours.clear();
    squares.clear();
    for (Offset k = begin(node); k < begin(node + 1); ++k) {
      const Index j = a_.col_idx.data()[k] / block_;
      Index& at = place_[static_cast<std::size_t>(j)];
      if (at < 0) {
        at = static_cast<Index>(neighbours.size());
        neighbours.push_back(j);
        squares.push_back(0);
      }
      squares[static_cast<std::size_t>(at)] += abs_squared(a_.values.data()[k]);
    }
  }
  Offset begin(Index node) const { return a_.row_ptr.data()[Offset{node} * block_]; }
  /// Of the neighbour that entry k leads to.
  std::size_t place(Offset k) const {
    return static_cast<std::size_t>(
        place_[static_cast<std::size_t>(a_.col_idx.data()[k] / block_)]);
  }

  std::vector<Index> neighbours;
  std::vector<double> squares;

 private:
  const HostCsr<S>& a_;
  Index block_;
  std::vector<Index> place_;  // [nodes] in `neighbours`, or -1
};

/// Row I of the graph, with weights in place of values; sets those of the entries of A, too.
template <class S>
class GraphRow {
 public:
  GraphRow(const HostCsr<S>& a, Index block, double theta, const double* diagonal,
           std::uint8_t* weight_of_entry)
      : row_(a, block), theta_(theta), diagonal_(diagonal), weight_of_entry_(weight_of_entry) {}

  Offset operator()(Index node, RowStore<std::uint8_t>& store) {
    row_.load(node);
    const std::size_t count = row_.neighbours.size();
    store.open(static_cast<Offset>(count));
    for (std::size_t n = 0; n < count; ++n) {
      const Index j = row_.neighbours[n];
      const double scale = diagonal_[node] * diagonal_[j];
      const bool usable = j != node && scale > 0;
      store.col_idx[n] = j;
      store.values[n] = usable ? weight_of(row_.squares[n] / scale, theta_) : 0;
    }
    for (Offset k = row_.begin(node); k < row_.begin(node + 1); ++k) {
      weight_of_entry_[k] = store.values[row_.place(k)];
    }
    return static_cast<Offset>(count);
  }

 private:
  BlockRow<S> row_;
  double theta_;
  const double* diagonal_;
  std::uint8_t* weight_of_entry_;
};

template <class S>
Strength of_blocks(const HostCsr<S>& a, Index block, double theta) {
  Strength s;
  s.block = block;
  s.nodes = a.rows / block;
  std::vector<double> diagonal(static_cast<std::size_t>(s.nodes));  // |A_II|
  host_for("krysol::strength(diagonal)", s.nodes, [&](std::int64_t node) {
    double square = 0;
    for (std::int64_t i = node * block; i < (node + 1) * block; ++i) {
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        if (a.col_idx.data()[k] / block == node) square += abs_squared(a.values.data()[k]);
      }
    }
    diagonal[static_cast<std::size_t>(node)] = std::sqrt(square);
  });
  s.weight_of_row = host_array<std::uint8_t>("strength.weight", static_cast<std::size_t>(a.nnz()));
  // The graph, with weights in place of values.
  std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  for (Index& i : first) i /= block;
  first.back() = s.nodes;
  RowMemory<std::uint8_t> memory;
  const LooseRows<std::uint8_t> made =
      make_rows("krysol::strength(blocks)", s.nodes, s.nodes, first, memory,
                GraphRow<S>(a, block, theta, diagonal.data(), s.weight_of_row.data()));
  const HostCsr<std::uint8_t> graph = joined(made, first);
  s.row_ptr = graph.row_ptr;
  s.col_idx = graph.col_idx;
  s.weight = graph.values;
  return s;
}

}  // namespace

template <class S>
Strength strong_connections(const HostCsr<S>& a, Index block, double theta) {
  return block == 1 ? of_entries(a, theta) : of_blocks(a, block, theta);
}

template Strength strong_connections(const HostCsr<double>&, Index, double);
template Strength strong_connections(const HostCsr<Kokkos::complex<double>>&, Index, double);

}  // namespace krysol::multigrid
