// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/cholesky/cholesky.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/memory.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class W, class T>
W in_double(const T& v) {
  if constexpr (is_complex<T>) {
    return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  } else {
    return static_cast<double>(v);
  }
}

template <class T, class W>
T from_factors(const W& v) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    return T(static_cast<R>(v.real()), static_cast<R>(v.imag()));
  } else {
    return static_cast<R>(v);
  }
}

/// a(i,i)^-1/2.
template <class T>
std::vector<double> scale_to_ones(const HostCsr<T>& a) {
  std::vector<double> scale(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    const auto d = static_cast<double>(real_part(diagonal_entry(a, i)));
    const double s = 1 / std::sqrt(d);
    if (!(d > 0) || !is_finite(s)) {
      throw PreconditionerRefusal(
          fmt::format("cholesky: row {} has {:.6g} on the diagonal", i + 1, d), i);
    }
    scale[static_cast<std::size_t>(i)] = s;
  }
  return scale;
}

template <class T>
sparse_cholesky::Elimination elimination_of(const HostCsr<T>& a) {
  if (a.rows != a.cols) {
    throw std::invalid_argument(
        fmt::format("cholesky: a matrix of {} x {}, which is not square", a.rows, a.cols));
  }
  static_cast<void>(scale_to_ones(a));  // what would refuse it, before anything takes long
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  return *sparse_cholesky::eliminate(a.row_ptr.data(), a.col_idx.data(), a.rows, unlimited);
}

}  // namespace

template <class T, class Exec>
Cholesky<T, Exec>::Cholesky(const HostCsr<T>& a) : Cholesky(a, elimination_of(a)) {}

template <class T, class Exec>
Cholesky<T, Exec>::Cholesky(const HostCsr<T>& a, sparse_cholesky::Elimination&& elimination) {
  auto pattern = std::make_shared<Pattern>();
  pattern->row_ptr.assign(a.row_ptr.data(), a.row_ptr.data() + a.rows + 1);
  pattern->col_idx.assign(a.col_idx.data(), a.col_idx.data() + a.nnz());
  pattern->elimination = std::move(elimination);
  pattern_ = std::move(pattern);
  update(a);
}

template <class T, class Exec>
void Cholesky<T, Exec>::update(const HostCsr<T>& a) {
  const Pattern& p = *pattern_;
  check_rows(name, p.row_ptr.size() - 1, a);
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Offset begin = p.row_ptr[row];
    const Offset end = p.row_ptr[row + 1];
    const Index* const columns = a.col_idx.data();
    if (a.row_ptr(row) == begin && a.row_ptr(row + 1) == end &&
        std::equal(columns + begin, columns + end, p.col_idx.data() + begin)) {
      continue;
    }
    throw std::invalid_argument(fmt::format(
        "cholesky: row {} has nonzeros at other places than when the matrix was analysed", i + 1));
  }
  const Kokkos::Timer timer;
  std::vector<double> scale = scale_to_ones(a);
  const W* values = nullptr;
  std::vector<W> in_double_values;
  if constexpr (std::is_same_v<T, W>) {
    values = a.values.data();
  } else {
    require_host_memory("cholesky.in_double", static_cast<double>(a.nnz()) * sizeof(W));
    in_double_values.resize(static_cast<std::size_t>(a.nnz()));
    std::transform(a.values.data(), a.values.data() + a.nnz(), in_double_values.begin(),
                   in_double<W, T>);
    values = in_double_values.data();
  }
  factors_ = std::make_shared<const sparse_cholesky::Factors<W>>(sparse_cholesky::numeric_factors(
      p.elimination, p.row_ptr.data(), p.col_idx.data(), values, scale.data()));
  scale_ = std::move(scale);
  seconds_ = timer.seconds();
}

template <class T, class Exec>
void Cholesky<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                              const Vector<T, Exec>& z) const {
  exec.fence("krysol::sparse_cholesky(r)");
  const auto host_r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, r);
  const auto host_z = Kokkos::create_mirror_view(Kokkos::HostSpace{}, z);
  const std::vector<Index>& order = pattern_->elimination.order;
  const auto x = sparse_cholesky::numbers<W>(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    x[k] = scale_[i] * in_double<W>(host_r(i));
  }
  sparse_cholesky::solve(pattern_->elimination, *factors_, x.get());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    host_z(i) = from_factors<T>(scale_[i] * x[k]);
  }
  Kokkos::deep_copy(z, host_z);
}

template <class T, class Exec>
double Cholesky<T, Exec>::bytes() const {
  const auto rows = static_cast<double>(scale_.size());
  return 2 * sizeof(W) * pattern_->elimination.entries() +
         rows * (2 * sizeof(T) + 4 * sizeof(W) + 2 * sizeof(double));
}

template <class T, class Exec>
SetupNote Cholesky<T, Exec>::setup_note() const {
  if (factors_->lost == 0) return {};
  return {"", fmt::format("cholesky: {} pivot(s) are nothing but rounding, the first at row {}; 1 "
                          "is used instead",
                          factors_->lost, factors_->first_lost + 1)};
}

template <class T, class Exec>
std::vector<SetupFact> Cholesky<T, Exec>::report() const {
  const sparse_cholesky::Elimination& e = pattern_->elimination;
  return {
      {"entries of L", fmt::format("{:.0f}", e.entries())},
      {"MB of L", fmt::format("{:.1f}", e.entries() * sizeof(W) / 1e6)},
      {"supernodes", std::to_string(e.supernodes())},
      {"multiplications", fmt::format("{:.2e}", e.flops)},
      {"lost pivots", std::to_string(factors_->lost)},
      {"seconds of the setup", fmt::format("order {:.3f}, factors {:.3f}", e.seconds, seconds_)}};
}

#define KRYSOL_INSTANTIATE(T, Exec) template class Cholesky<T, Exec>;
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
