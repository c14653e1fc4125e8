// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/classical.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace krysol::multigrid {
namespace {

struct SameUnknown {
  const std::uint8_t* unknown;  // null: all are
  bool operator()(Index i, Index j) const { return unknown == nullptr || unknown[i] == unknown[j]; }
};

/// Which rows strongly depend on each row.
struct Dependents {
  std::vector<Offset> first;  // [rows + 1]
  std::vector<Index> row;

  Dependents(const HostCsr<double>& a, const std::uint8_t* strong)
      : first(static_cast<std::size_t>(a.rows) + 1, 0) {
    const Index* const col_idx = a.col_idx.data();
    for (Offset k = 0; k < a.nnz(); ++k) {
      if (strong[k] != 0) ++first[static_cast<std::size_t>(col_idx[k]) + 1];
    }
    for (std::size_t i = 0; i + 1 < first.size(); ++i) first[i + 1] += first[i];
    row.resize(static_cast<std::size_t>(first.back()));
    std::vector<Offset> next(first.begin(), first.end() - 1);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        if (strong[k] == 0) continue;
        row[static_cast<std::size_t>(next[static_cast<std::size_t>(col_idx[k])]++)] = i;
      }
    }
  }
  Offset count(Index i) const {
    return first[static_cast<std::size_t>(i) + 1] - first[static_cast<std::size_t>(i)];
  }
};

/// In [0, 1), the same on every machine.
double noise(Index i) {
  auto bits = static_cast<std::uint32_t>(i) + 1;
  bits = (bits ^ (bits >> 16)) * 0x7feb352dU;
  bits = (bits ^ (bits >> 15)) * 0x846ca68bU;
  bits ^= bits >> 16;
  return static_cast<double>(bits) / 4294967296.0;
}

enum class Part : std::uint8_t { open, coarse, fine };

/// The `most` largest of a row's entries, in place, scaled to the sum of all. Returns their number.
Offset keep_largest(Index* col, double* value, Offset count, Index most,
                    std::vector<double>& sizes) {
  if (count <= most) return count;
  double all = 0;
  sizes.clear();
  for (Offset k = 0; k < count; ++k) {
    all += value[k];
    sizes.push_back(std::abs(value[k]));
  }
  std::nth_element(sizes.begin(), sizes.begin() + (most - 1), sizes.end(), std::greater<>());
  const double least = sizes[static_cast<std::size_t>(most) - 1];
  // Of those as large as the last, the first.
  auto ties = most - static_cast<Index>(std::count_if(sizes.begin(), sizes.begin() + most,
                                                      [&](double s) { return s > least; }));
  Offset kept = 0;
  double left = 0;
  for (Offset k = 0; k < count; ++k) {
    const double size = std::abs(value[k]);
    if (size < least || (size == least && ties-- <= 0)) continue;
    col[kept] = col[k];
    value[kept] = value[k];
    left += value[kept++];
  }
  constexpr double cancelled = 1e-3;  // of the largest entry
  if (std::abs(left) > cancelled * *std::max_element(sizes.begin(), sizes.end())) {
    for (Offset k = 0; k < kept; ++k) value[k] *= all / left;
  }
  return kept;
}

/// Row i of P.
class ExtendedRow {
 public:
  ExtendedRow(const HostCsr<double>& a, const Unknowns& unknown, const std::uint8_t* strong,
              const Index* coarse, Index most)
      : row_ptr_(a.row_ptr.data()),
        col_idx_(a.col_idx.data()),
        values_(a.values.data()),
        rows_(a.rows),
        same_{unknown.empty() ? nullptr : unknown.data()},
        strong_(strong),
        coarse_(coarse),
        most_(most) {}

  Offset operator()(Index i, RowStore<double>& store) {
    if (place_.empty()) place_.assign(static_cast<std::size_t>(rows_), -1);
    if (coarse_[i] >= 0) {
      store.open(1);
      store.col_idx[0] = coarse_[i];
      store.values[0] = 1;
      return 1;
    }
    points_.clear();
    weights_.clear();
    for_strong(i, [&](Index j) {
      if (coarse_[j] >= 0) {
        add_point(j);
      } else {
        for_strong(j, [&](Index k) {
          if (coarse_[k] >= 0) add_point(k);
        });
      }
    });
    const double diagonal = sum_row(i);
    store.open(static_cast<Offset>(points_.size()));
    Offset used = 0;
    for (std::size_t n = 0; n < points_.size(); ++n) {
      place_[static_cast<std::size_t>(points_[n])] = -1;
      const double w = -weights_[n] / diagonal;
      if (!(diagonal > 0) || w == 0 || !std::isfinite(w)) continue;
      store.col_idx[used] = coarse_[points_[n]];
      store.values[used++] = w;
    }
    return keep_largest(store.col_idx, store.values, used, most_, sizes_);
  }

 private:
  template <class Visit>
  void for_strong(Index i, const Visit& visit) const {
    for (Offset k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
      if (strong_[k] != 0) visit(col_idx_[k]);
    }
  }
  void add_point(Index j) {
    std::int32_t& place = place_[static_cast<std::size_t>(j)];
    if (place >= 0) return;
    place = static_cast<std::int32_t>(points_.size());
    points_.push_back(j);
    weights_.push_back(0);
  }
  double* weight_of(Index j) {
    const std::int32_t place = place_[static_cast<std::size_t>(j)];
    return place < 0 ? nullptr : &weights_[static_cast<std::size_t>(place)];
  }

  /// Collects the row in the weights of its points; returns the diagonal that is left.
  double sum_row(Index i) {
    double diagonal = 0;
    for (Offset k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
      const Index j = col_idx_[k];
      if (!same_(i, j)) continue;
      const double v = values_[k];
      if (j == i) {
        diagonal += v;
      } else if (double* const w = weight_of(j); w != nullptr) {
        *w += v;
      } else if (strong_[k] == 0 || !distribute(v, j, i, diagonal)) {
        diagonal += v;
      }
    }
    return diagonal;
  }

  /// What row i gets from its neighbour k, which is not kept, to those whose values k follows.
  bool distribute(double v, Index k, Index i, double& diagonal) {
    double sum = 0;
    const auto for_parts = [&](const auto& add) {
      for (Offset q = row_ptr_[k]; q < row_ptr_[k + 1]; ++q) {
        const Index l = col_idx_[q];
        if (l == k || !(values_[q] < 0) || !same_(k, l)) continue;
        if (l == i) {
          add(values_[q], diagonal);
        } else if (double* const w = weight_of(l); w != nullptr) {
          add(values_[q], *w);
        }
      }
    };
    for_parts([&](double part, const double&) { sum += part; });
    if (sum == 0) return false;
    for_parts([&](double part, double& to) { to += v * (part / sum); });
    return true;
  }

  const Offset* row_ptr_;
  const Index* col_idx_;
  const double* values_;
  Index rows_;
  SameUnknown same_;
  const std::uint8_t* strong_;
  const Index* coarse_;
  Index most_;
  std::vector<std::int32_t> place_;  // [rows] of a kept unknown among `points_`; else -1
  std::vector<Index> points_;
  std::vector<double> weights_;
  std::vector<double> sizes_;
};

class TruncatedRow {
 public:
  TruncatedRow(const HostCsr<double>& p, Index most) : p_(p), most_(most) {}

  Offset operator()(Index i, RowStore<double>& store) {
    const Offset first = p_.row_ptr.data()[i];
    const Offset count = p_.row_ptr.data()[i + 1] - first;
    store.open(count);
    std::copy_n(p_.col_idx.data() + first, count, store.col_idx);
    std::copy_n(p_.values.data() + first, count, store.values);
    return keep_largest(store.col_idx, store.values, count, most_, sizes_);
  }

 private:
  const HostCsr<double>& p_;
  Index most_;
  std::vector<double> sizes_;
};

}  // namespace

HostArray<std::uint8_t> strong_dependence(const HostCsr<double>& a, const Unknowns& unknown,
                                          double theta) {
  const SameUnknown same{unknown.empty() ? nullptr : unknown.data()};
  auto strong = host_array<std::uint8_t>("classical.strong", static_cast<std::size_t>(a.nnz()));
  host_for("krysol::strong_dependence", a.rows, [&, to = strong.data()](std::int64_t i) {
    double most = 0;
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const Index j = a.col_idx.data()[k];
      if (j != i && same(static_cast<Index>(i), j)) most = std::max(most, -a.values.data()[k]);
    }
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      const Index j = a.col_idx.data()[k];
      const double v = -a.values.data()[k];
      to[k] = j != i && same(static_cast<Index>(i), j) && v > 0 && v >= theta * most ? 1 : 0;
    }
  });
  return strong;
}

Splitting independent_sets(const HostCsr<double>& a, const HostArray<std::uint8_t>& strong) {
  const auto rows = static_cast<std::size_t>(a.rows);
  const Dependents dependents(a, strong.data());
  std::vector<double> measure(rows);
  std::vector<Part> part(rows, Part::open);
  std::vector<Index> open;
  for (Index i = 0; i < a.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    measure[at] = static_cast<double>(dependents.count(i)) + noise(i);
    if (measure[at] < 1) {
      part[at] = Part::fine;
    } else {
      open.push_back(i);
    }
  }
  // Larger, or as large with a larger number: no two neighbours are both the largest.
  const auto above = [&](Index i, Index j) {
    const double mine = measure[static_cast<std::size_t>(i)];
    const double other = measure[static_cast<std::size_t>(j)];
    return mine > other || (mine == other && i > j);
  };
  const auto for_dependences = [&](Index i, const auto& visit) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      if (strong.data()[k] != 0) visit(a.col_idx.data()[k]);
    }
  };
  std::vector<char> chosen(rows, 0);
  while (!open.empty()) {
    const auto count = static_cast<std::int64_t>(open.size());
    host_for("krysol::independent_sets(choose)", count, [&](std::int64_t n) {
      const Index i = open[static_cast<std::size_t>(n)];
      bool largest = true;
      const auto compare = [&](Index j) {
        largest = largest && (part[static_cast<std::size_t>(j)] != Part::open || above(i, j));
      };
      for_dependences(i, compare);
      for (Offset k = dependents.first[static_cast<std::size_t>(i)];
           k < dependents.first[static_cast<std::size_t>(i) + 1]; ++k) {
        compare(dependents.row[static_cast<std::size_t>(k)]);
      }
      chosen[static_cast<std::size_t>(i)] = largest ? 1 : 0;
    });
    host_for("krysol::independent_sets(mark)", count, [&](std::int64_t n) {
      const auto i = static_cast<std::size_t>(open[static_cast<std::size_t>(n)]);
      if (chosen[i] != 0) {
        part[i] = Part::coarse;
        return;
      }
      bool depends = false;
      for_dependences(static_cast<Index>(i), [&](Index j) {
        depends = depends || chosen[static_cast<std::size_t>(j)] != 0;
      });
      if (depends) part[i] = Part::fine;
    });
    std::erase_if(open, [&](Index i) { return part[static_cast<std::size_t>(i)] != Part::open; });
  }
  Splitting s;
  s.coarse = host_array<Index>("classical.coarse", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    s.coarse.data()[i] = part[i] == Part::coarse ? s.count++ : -1;
  }
  return s;
}

HostCsr<double> extended_interpolation(const HostCsr<double>& a, const Unknowns& unknown,
                                       const HostArray<std::uint8_t>& strong,
                                       const Splitting& splitting, Index most,
                                       RowMemory<double>& memory) {
  const std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  return joined(make_rows("krysol::extended_interpolation", a.rows, splitting.count, first, memory,
                          ExtendedRow(a, unknown, strong.data(), splitting.coarse.data(), most)),
                first);
}

HostCsr<double> truncated(const HostCsr<double>& p, Index most, RowMemory<double>& memory) {
  const std::vector<Index> first = shares_of_threads(p.row_ptr.data(), p.rows);
  return joined(
      make_rows("krysol::truncated", p.rows, p.cols, first, memory, TruncatedRow(p, most)), first);
}

}  // namespace krysol::multigrid
