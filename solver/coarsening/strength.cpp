// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/strength.hpp>

#include <algorithm>
#include <cmath>

#include <krysol/spmv/base/scalar.hpp>

namespace krysol::multigrid {
namespace {

/// For |A_IJ|^2 / (m_I m_J).
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
  const auto largest = host_array<double>("strength.largest", static_cast<std::size_t>(a.rows));
  host_for("krysol::strength(largest)", a.rows, [&, m = largest.data()](std::int64_t i) {
    double square = 0;
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      if (a.col_idx.data()[k] == i) continue;
      square = std::max(square, abs_squared(a.values.data()[k]));
    }
    m[i] = std::sqrt(square);
  });
  host_for("krysol::strength", a.rows,
           [&, m = largest.data(), to = s.weight.data()](std::int64_t i) {
             for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
               const Index j = a.col_idx.data()[k];
               const double scale = m[i] * m[j];
               const bool usable = j != i && scale > 0;
               to[k] = usable ? weight_of(abs_squared(a.values.data()[k]) / scale, theta) : 0;
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
  /// Over the neighbours of the node that was loaded.
  double largest_square(Index node) const {
    double square = 0;
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (neighbours[n] != node) square = std::max(square, squares[n]);
    }
    return square;
  }
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
  GraphRow(const HostCsr<S>& a, Index block, double theta, const double* largest,
           std::uint8_t* weight_of_entry)
      : row_(a, block), theta_(theta), largest_(largest), weight_of_entry_(weight_of_entry) {}

  Offset operator()(Index node, RowStore<std::uint8_t>& store) {
    row_.load(node);
    const std::size_t count = row_.neighbours.size();
    store.open(static_cast<Offset>(count));
    for (std::size_t n = 0; n < count; ++n) {
      const Index j = row_.neighbours[n];
      const double scale = largest_[node] * largest_[j];
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
  const double* largest_;
  std::uint8_t* weight_of_entry_;
};

template <class S>
Strength of_blocks(const HostCsr<S>& a, Index block, double theta) {
  Strength s;
  s.block = block;
  s.nodes = a.rows / block;
  std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  for (Index& i : first) i /= block;
  first.back() = s.nodes;
  const auto largest = host_array<double>("strength.largest", static_cast<std::size_t>(s.nodes));
  host_for("krysol::strength(largest)", static_cast<std::int64_t>(first.size()) - 1,
           [&, m = largest.data()](std::int64_t p) {
             BlockRow<S> row(a, block);
             const auto at = static_cast<std::size_t>(p);
             for (Index node = first[at]; node < first[at + 1]; ++node) {
               row.load(node);
               m[node] = std::sqrt(row.largest_square(node));
             }
           });
  s.weight_of_row = host_array<std::uint8_t>("strength.weight", static_cast<std::size_t>(a.nnz()));
  RowMemory<std::uint8_t> memory;
  const LooseRows<std::uint8_t> made =
      make_rows("krysol::strength(blocks)", s.nodes, s.nodes, first, memory,
                GraphRow<S>(a, block, theta, largest.data(), s.weight_of_row.data()));
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
