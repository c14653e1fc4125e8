// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/classical.hpp>

#include <algorithm>

#include <krysol/solver/coarsening/classical_rows.hpp>

namespace krysol::multigrid {
namespace {

using classical::Part;

classical::Matrix matrix_of(const HostCsr<double>& a, const Unknowns& unknown) {
  return {a.row_ptr.data(), a.col_idx.data(), a.values.data(),
          unknown.empty() ? nullptr : unknown.data()};
}

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
};

/// The points of a row, found by where each unknown is among them.
struct Points {
  Index* points;
  double* weights;
  std::int32_t* place;  // [rows] -1 before and after
  Offset count = 0;

  KOKKOS_INLINE_FUNCTION void add(Index j) {
    if (place[j] >= 0) return;
    place[j] = static_cast<std::int32_t>(count);
    points[count] = j;
    weights[count++] = 0;
  }
  KOKKOS_INLINE_FUNCTION double* weight_of(Index j) const {
    return place[j] < 0 ? nullptr : weights + place[j];
  }
};

/// Row i of P.
class InterpolatedRow {
 public:
  InterpolatedRow(const classical::ExtendedRow& row, Index rows) : row_(row), rows_(rows) {}

  Offset operator()(Index i, RowStore<double>& store) {
    if (place_.empty()) place_.assign(static_cast<std::size_t>(rows_), -1);
    if (row_.coarse[i] >= 0) {
      store.open(1);
      store.col_idx[0] = row_.coarse[i];
      store.values[0] = 1;
      return 1;
    }
    const auto most = static_cast<std::size_t>(row_.bound(i));
    if (points_.size() < most) {
      points_.resize(most);
      weights_.resize(most);
    }
    store.open(static_cast<Offset>(most));
    Points points{points_.data(), weights_.data(), place_.data()};
    const Offset used = row_.write(i, points, store.col_idx, store.values);
    for (Offset n = 0; n < points.count; ++n) points.place[points.points[n]] = -1;
    return used;
  }

 private:
  classical::ExtendedRow row_;
  Index rows_;
  std::vector<std::int32_t> place_;
  std::vector<Index> points_;
  std::vector<double> weights_;
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
    return classical::keep_largest(store.col_idx, store.values, count, most_);
  }

 private:
  const HostCsr<double>& p_;
  Index most_;
};

}  // namespace

HostArray<std::uint8_t> strong_dependence(const HostCsr<double>& a, const Unknowns& unknown,
                                          double theta) {
  auto strong = host_array<std::uint8_t>("classical.strong", static_cast<std::size_t>(a.nnz()));
  host_for("krysol::strong_dependence", a.rows,
           classical::FindStrong{matrix_of(a, unknown), theta, strong.data()});
  return strong;
}

Splitting independent_sets(const HostCsr<double>& a, const HostArray<std::uint8_t>& strong) {
  const auto rows = static_cast<std::size_t>(a.rows);
  const Dependents dependents(a, strong.data());
  std::vector<double> measure(rows);
  std::vector<Part> part(rows);
  std::vector<std::uint8_t> chosen(rows, 0);
  const classical::Graph graph{
      a.row_ptr.data(),      a.col_idx.data(), strong.data(), dependents.first.data(),
      dependents.row.data(), measure.data(),   part.data(),   chosen.data()};
  host_for("krysol::independent_sets(measure)", a.rows, classical::Measure{graph});
  std::vector<Index> open;
  for (Index i = 0; i < a.rows; ++i) {
    if (part[static_cast<std::size_t>(i)] == Part::open) open.push_back(i);
  }
  while (!open.empty()) {
    const auto count = static_cast<std::int64_t>(open.size());
    const Index* const of_open = open.data();
    host_for("krysol::independent_sets(choose)", count,
             [of_open, body = classical::Choose{graph}](std::int64_t n) { body(of_open[n]); });
    host_for("krysol::independent_sets(mark)", count,
             [of_open, body = classical::Mark{graph}](std::int64_t n) { body(of_open[n]); });
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
  return joined(
      make_rows("krysol::extended_interpolation", a.rows, splitting.count, first, memory,
                InterpolatedRow(
                    {matrix_of(a, unknown), strong.data(), splitting.coarse.data(), most}, a.rows)),
      first);
}

HostCsr<double> truncated(const HostCsr<double>& p, Index most, RowMemory<double>& memory) {
  const std::vector<Index> first = shares_of_threads(p.row_ptr.data(), p.rows);
  return joined(
      make_rows("krysol::truncated", p.rows, p.cols, first, memory, TruncatedRow(p, most)), first);
}

}  // namespace krysol::multigrid
