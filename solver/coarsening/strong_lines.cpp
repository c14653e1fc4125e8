// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/strong_lines.hpp>

#include <array>
#include <cmath>

namespace krysol::multigrid {
namespace {

/// The strong couplings of a row: where it has more than two, it is in no line.
struct Couplings {
  std::array<Index, 2> row{-1, -1};
  int count = 0;

  void add(Index j) {
    if (count < 2) row[static_cast<std::size_t>(count)] = j;
    ++count;
  }
  bool in_line() const { return count == 1 || count == 2; }
};

template <class S>
std::vector<double> strongest_of_rows(const HostCsr<S>& a) {
  std::vector<double> strongest(static_cast<std::size_t>(a.rows), 0);
  host_for("krysol::lines(strongest)", a.rows, [&, to = strongest.data()](std::int64_t i) {
    for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
      if (a.col_idx.data()[k] == i) continue;
      to[i] = std::max(to[i], std::sqrt(abs_squared(a.values.data()[k])));
    }
  });
  return strongest;
}

template <class S>
std::vector<Couplings> couplings_of_rows(const HostCsr<S>& a) {
  constexpr double strong = 0.5;
  const std::vector<double> strongest = strongest_of_rows(a);
  std::vector<Couplings> couplings(strongest.size());
  host_for("krysol::lines(couplings)", a.rows,
           [&, to = couplings.data(), most = strongest.data()](std::int64_t i) {
             for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
               const Index j = a.col_idx.data()[k];
               const double size = std::sqrt(abs_squared(a.values.data()[k]));
               if (j != i && size > 0 && size > strong * std::sqrt(most[i] * most[j])) to[i].add(j);
             }
           });
  return couplings;
}

template <class S>
S entry(const HostCsr<S>& a, Index i, Index j) {
  S sum = S(0);
  for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
    if (a.col_idx.data()[k] == j) sum += a.values.data()[k];
  }
  return sum;
}

/// Takes rows one after the other and factorizes as it goes.
template <class S>
class LineWriter {
 public:
  LineWriter(const HostCsr<S>& a, StrongLines<S>& to) : a_(&a), to_(&to) {
    const auto rows = static_cast<std::size_t>(a.rows);
    to.row.reserve(rows);
    to.lower.reserve(rows);
    to.inverse_pivots.reserve(rows);
    to.begin.push_back(0);
  }
  /// The next row of a line, which is coupled to the one before.
  void add(Index i) {
    constexpr double least = 0.01;  // pivot
    S lower = S(0);
    double pivot = 1;
    if (static_cast<std::size_t>(to_->begin.back()) < to_->row.size()) {
      const S coupling = entry(*a_, i, to_->row.back());
      const double before = to_->inverse_pivots.back();
      pivot = 1 - abs_squared(coupling) * before;
      if (pivot < least) {
        end();
        pivot = 1;
      } else {
        lower = coupling * from_double<S>(before);
      }
    }
    to_->row.push_back(i);
    to_->lower.push_back(lower);
    to_->inverse_pivots.push_back(1 / pivot);
  }
  void end() {
    const auto size = static_cast<Index>(to_->row.size());
    if (size - to_->begin.back() > 1) to_->coupled_rows += size - to_->begin.back();
    if (size > to_->begin.back()) to_->begin.push_back(size);
  }

 private:
  const HostCsr<S>* a_;
  StrongLines<S>* to_;
};

}  // namespace

template <class S>
StrongLines<S> strong_lines(const HostCsr<S>& a) {
  const std::vector<Couplings> couplings = couplings_of_rows(a);
  const auto of = [&](Index i) -> const Couplings& {
    return couplings[static_cast<std::size_t>(i)];
  };
  // A's values may differ a little across the diagonal: a coupling counts where both rows say so.
  const auto coupled = [&](Index i, Index j) {
    return of(j).in_line() && (of(j).row[0] == i || of(j).row[1] == i);
  };
  const auto neighbours = [&](Index i) {
    Couplings inside;
    if (!of(i).in_line()) return inside;
    for (int k = 0; k < of(i).count; ++k) {
      const Index j = of(i).row[static_cast<std::size_t>(k)];
      if (coupled(i, j)) inside.add(j);
    }
    return inside;
  };
  StrongLines<S> lines;
  LineWriter<S> writer(a, lines);
  std::vector<bool> taken(static_cast<std::size_t>(a.rows), false);
  const auto walk = [&](Index i) {
    for (Index next = i; next >= 0;) {
      taken[static_cast<std::size_t>(next)] = true;
      writer.add(next);
      const Couplings near = neighbours(next);
      next = -1;
      for (int k = 0; k < near.count && next < 0; ++k) {
        const Index j = near.row[static_cast<std::size_t>(k)];
        if (!taken[static_cast<std::size_t>(j)]) next = j;
      }
    }
    writer.end();
  };
  for (Index i = 0; i < a.rows; ++i) {
    if (neighbours(i).count < 2) {
      if (!taken[static_cast<std::size_t>(i)]) walk(i);
    }
  }
  for (Index i = 0; i < a.rows; ++i) {  // rings
    if (!taken[static_cast<std::size_t>(i)]) walk(i);
  }
  return lines;
}

template StrongLines<double> strong_lines(const HostCsr<double>&);
template StrongLines<Kokkos::complex<double>> strong_lines(const HostCsr<Kokkos::complex<double>>&);

}  // namespace krysol::multigrid
