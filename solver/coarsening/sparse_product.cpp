// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/coarsening/sparse_product.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <krysol/solver/coarsening/row_builder.hpp>

namespace krysol::multigrid {
namespace {

template <class S>
struct RowsOfCsr {
  const Offset* row_ptr;
  const Index* col_idx;
  const S* values;

  explicit RowsOfCsr(const HostCsr<S>& a)
      : row_ptr(a.row_ptr.data()), col_idx(a.col_idx.data()), values(a.values.data()) {}
  RowEntries<S> row(Index i) const {
    return {col_idx + row_ptr[i], values + row_ptr[i], row_ptr[i + 1] - row_ptr[i]};
  }
};

template <class S>
struct LooseRowsView {
  const RowEntries<S>* rows;
  RowEntries<S> row(Index i) const { return rows[i]; }
};

/// Row i of A B, for rows of B as they are found.
template <class S, class RowsOfB>
class ProductRow {
 public:
  ProductRow(const HostCsr<S>& a, RowsOfB b, Index cols) : a_(a), b_(b), cols_(cols) {}

  Offset operator()(Index i, RowStore<S>& store) {
    if (places_.empty()) places_.assign(static_cast<std::size_t>(cols_), -1);
    const RowEntries<S> of_a = a_.row(i);
    Offset most = 0;
    for (Offset k = 0; k < of_a.count; ++k) most += b_.row(of_a.col_idx[k]).count;
    store.open(most);
    Index* const col = store.col_idx;
    S* const value = store.values;
    Offset* const place = places_.data();
    const Offset base = base_;
    Offset used = 0;
    for (Offset k = 0; k < of_a.count; ++k) {
      const S factor = of_a.values[k];
      const RowEntries<S> of_b = b_.row(of_a.col_idx[k]);
      for (Offset q = 0; q < of_b.count; ++q) {
        const Index c = of_b.col_idx[q];
        const Offset at = place[c] - base;
        if (at < 0) {
          place[c] = base + used;
          col[used] = c;
          value[used] = factor * of_b.values[q];
          ++used;
        } else {
          value[at] += factor * of_b.values[q];
        }
      }
    }
    base_ += used;
    return used;
  }

 private:
  RowsOfCsr<S> a_;
  RowsOfB b_;
  Index cols_;
  // Where a column is in row i: at places_[c] - base_, if that is not negative. base_ grows by the
  // length of each row, so that no place has to be forgotten.
  std::vector<Offset> places_;
  Offset base_ = 0;
};

}  // namespace

std::vector<Index> shares_of_threads(const Offset* row_ptr, Index rows) {
  constexpr Index least = 256;  // rows that are worth another thread
  const Index threads =
      std::max<Index>(1, std::min<Index>(static_cast<Index>(Host{}.concurrency()), rows / least));
  std::vector<Index> first(static_cast<std::size_t>(threads) + 1, rows);
  first.front() = 0;
  for (Index p = 1; p < threads; ++p) {
    const Offset wanted = row_ptr[rows] / threads * p;
    first[static_cast<std::size_t>(p)] =
        static_cast<Index>(std::lower_bound(row_ptr, row_ptr + rows, wanted) - row_ptr);
  }
  return first;
}

template <class S>
HostCsr<S> triple_product(const HostCsr<S>& r, const HostCsr<S>& a, const HostCsr<S>& p,
                          RowMemory<S>& memory) {
  if (r.cols != a.rows || a.cols != p.rows) {
    throw std::invalid_argument(
        fmt::format("krysol::multigrid: the product of matrices of {} x {}, {} x {} and {} x {}",
                    r.rows, r.cols, a.rows, a.cols, p.rows, p.cols));
  }
  const LooseRows<S> ap = make_rows("krysol::multigrid(A P)", a.rows, p.cols,
                                    shares_of_threads(a.row_ptr.data(), a.rows), memory,
                                    ProductRow<S, RowsOfCsr<S>>(a, RowsOfCsr<S>(p), p.cols));
  const std::vector<Index> first = shares_of_threads(r.row_ptr.data(), r.rows);
  const LooseRows<S> rap =
      make_rows("krysol::multigrid(R A P)", r.rows, p.cols, first, memory,
                ProductRow<S, LooseRowsView<S>>(r, LooseRowsView<S>{ap.rows.data()}, p.cols));
  return joined(rap, first);
}

template <class S>
void triple_product_values(const HostCsr<S>& r, const HostCsr<S>& a, const HostCsr<S>& p,
                           RowMemory<S>& memory, HostCsr<S>& to) {
  const LooseRows<S> ap = make_rows("krysol::multigrid(A P)", a.rows, p.cols,
                                    shares_of_threads(a.row_ptr.data(), a.rows), memory,
                                    ProductRow<S, RowsOfCsr<S>>(a, RowsOfCsr<S>(p), p.cols));
  const std::vector<Index> first = shares_of_threads(r.row_ptr.data(), r.rows);
  host_for("krysol::multigrid(values of R A P)", static_cast<std::int64_t>(first.size()) - 1,
           [&](std::int64_t share) {
             std::vector<Offset> place(static_cast<std::size_t>(p.cols), -1);
             const auto at = static_cast<std::size_t>(share);
             S* const values = to.values.data();
             const RowsOfCsr<S> rows(r);
             for (Index i = first[at]; i < first[at + 1]; ++i) {
               const Offset begin = to.row_ptr.data()[i];
               const Offset end = to.row_ptr.data()[i + 1];
               for (Offset k = begin; k < end; ++k) {
                 place[static_cast<std::size_t>(to.col_idx.data()[k])] = k;
                 values[k] = S(0);
               }
               const RowEntries<S> of_r = rows.row(i);
               for (Offset k = 0; k < of_r.count; ++k) {
                 const S factor = of_r.values[k];
                 const RowEntries<S> of_ap = ap.row(of_r.col_idx[k]);
                 for (Offset q = 0; q < of_ap.count; ++q) {
                   const Offset here = place[static_cast<std::size_t>(of_ap.col_idx[q])];
                   if (here < begin) {
                     throw std::logic_error("krysol::multigrid: a product of another pattern");
                   }
                   values[here] += factor * of_ap.values[q];
                 }
               }
             }
           });
}

template <class S>
HostCsr<S> product(const HostCsr<S>& a, const HostCsr<S>& b, RowMemory<S>& memory) {
  if (a.cols != b.rows) {
    throw std::invalid_argument(
        fmt::format("krysol::multigrid: the product of matrices of {} x {} and {} x {}", a.rows,
                    a.cols, b.rows, b.cols));
  }
  const std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  return joined(make_rows("krysol::multigrid(A B)", a.rows, b.cols, first, memory,
                          ProductRow<S, RowsOfCsr<S>>(a, RowsOfCsr<S>(b), b.cols)),
                first);
}

template <class S>
HostCsr<S> adjoint_of_rows(const HostCsr<S>& a) {
  const std::vector<Index> first = shares_of_threads(a.row_ptr.data(), a.rows);
  const std::size_t threads = first.size() - 1;
  const auto cols = static_cast<std::size_t>(a.cols);
  const Offset* const a_ptr = a.row_ptr.data();
  const Index* const a_col = a.col_idx.data();
  const S* const a_value = a.values.data();
  // [p cols + j] the entries of column j in the rows of thread p, then where the next of them goes
  const auto place = host_array<Offset>("adjoint.place", threads * cols);
  host_for("krysol::adjoint(count)", static_cast<std::int64_t>(threads), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    Offset* const mine = place.data() + at * cols;
    std::fill_n(mine, cols, Offset{0});
    for (Offset k = a_ptr[first[at]]; k < a_ptr[first[at + 1]]; ++k) ++mine[a_col[k]];
  });
  HostCsr<S> t;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr = host_array<Offset>("adjoint.row_ptr", cols + 1);
  Offset* const row_ptr = t.row_ptr.data();
  row_ptr[0] = 0;
  host_for("krysol::adjoint(lengths)", t.rows, [=, all = place.data()](std::int64_t j) {
    Offset length = 0;
    for (std::size_t p = 0; p < threads; ++p) length += all[p * cols + static_cast<std::size_t>(j)];
    row_ptr[j + 1] = length;
  });
  for (std::size_t j = 0; j < cols; ++j) row_ptr[j + 1] += row_ptr[j];
  host_for("krysol::adjoint(places)", t.rows, [=, all = place.data()](std::int64_t j) {
    Offset next = row_ptr[j];
    for (std::size_t p = 0; p < threads; ++p) {
      Offset& at = all[p * cols + static_cast<std::size_t>(j)];
      const Offset count = at;
      at = next;
      next += count;
    }
  });
  const auto sum = static_cast<std::size_t>(row_ptr[cols]);
  t.col_idx = host_array<Index>("adjoint.col_idx", sum);
  t.values = host_array<S>("adjoint.values", sum);
  Index* const to_col = t.col_idx.data();
  S* const to_value = t.values.data();
  host_for("krysol::adjoint", static_cast<std::int64_t>(threads), [&](std::int64_t p) {
    const auto at = static_cast<std::size_t>(p);
    Offset* const mine = place.data() + at * cols;
    for (Index i = first[at]; i < first[at + 1]; ++i) {
      for (Offset k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
        const Offset to = mine[a_col[k]]++;
        to_col[to] = i;
        to_value[to] = conjugate(a_value[k]);
      }
    }
  });
  return t;
}

#define KRYSOL_INSTANTIATE(S)                                                                  \
  template HostCsr<S> triple_product(const HostCsr<S>&, const HostCsr<S>&, const HostCsr<S>&,  \
                                     RowMemory<S>&);                                           \
  template void triple_product_values(const HostCsr<S>&, const HostCsr<S>&, const HostCsr<S>&, \
                                      RowMemory<S>&, HostCsr<S>&);                             \
  template HostCsr<S> product(const HostCsr<S>&, const HostCsr<S>&, RowMemory<S>&);            \
  template HostCsr<S> adjoint_of_rows(const HostCsr<S>&);
KRYSOL_INSTANTIATE(double)
KRYSOL_INSTANTIATE(Kokkos::complex<double>)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol::multigrid
