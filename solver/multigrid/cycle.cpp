// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/cycle.hpp>

#include <algorithm>

#include <fmt/core.h>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/multigrid/cycle_kernels.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/format_refusal.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol::multigrid {
namespace {

/// The matrix in that format, unless it is refused.
template <class Format, class S, class Exec>
bool try_format(const HostCsr<S>& a, LevelMatrix<S, Exec>& to) {
  Format format;
  try {
    from_csr(a, format);
  } catch (const FormatRefusal&) {
    return false;
  }
  to.format = std::move(format);
  return true;
}

template <class S, class Exec>
LevelMatrix<S, Exec> as_csr_level(const HostCsr<S>& a, bool shared) {
  LevelMatrix<S, Exec> m;
  try_format<Csr<S, Exec>>(shared && on_host<Exec> ? with_own_pattern(a) : a, m);
  return m;
}

template <class S, class W, class Exec>
Csr<S, Exec> as_csr(const HostCsr<W>& host) {
  Csr<S, Exec> a;
  from_csr(scaled_entries<S>(host, {}), a);
  return a;
}

template <class S, class W>
struct RoundEntries {
  const W* from;
  S* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const { to[k] = rounded<S>(from[k]); }
};

/// The same matrix with values of S.
template <class S, class W, class Exec>
Csr<S, Exec> rounded_matrix(const Exec& exec, const Csr<W, Exec>& from) {
  if constexpr (std::is_same_v<S, W>) {
    return from;
  } else {
    const auto values = uninitialized<S>(exec, "multigrid.values", from.nnz());
    for_each("krysol::multigrid(rounded)", exec, from.nnz(),
             RoundEntries<S, W>{from.values.data(), values.data()});
    return with_values(from, values);
  }
}

/// A level that a device made.
template <class S, class W, class Exec>
Level<S, Exec> level_of(const Exec& exec, const DeviceLevel<W, Exec>& from) {
  Level<S, Exec> level;
  level.a.format = rounded_matrix<S>(exec, from.a);
  level.p = rounded_matrix<S>(exec, from.p);
  level.r = rounded_matrix<S>(exec, from.r);
  level.smoother.steps.polynomial = true;
  level.smoother.steps.largest = from.largest > 0 ? from.largest : 1;
  return level;
}

/// The level's matrix with the arrays of `before`, which has its pattern, where only their values
/// differ; false elsewhere.
template <class S, class Exec, class W>
bool set_values(const HostLevel<W>& from, const LevelMatrix<S, Exec>& before,
                LevelMatrix<S, Exec>& to) {
  if constexpr (std::is_same_v<S, float> && on_host<Exec>) {
    if (before.rows() != from.a.rows || before.nnz() != from.a.nnz()) return false;
    const double* const scale = from.scale.extent(0) > 0 ? from.scale.data() : nullptr;
    const ScaledEntry<S, W> value{from.a.col_idx.data(), from.a.values.data(), scale};
    if (const auto* same = std::get_if<StencilPattern<S, Exec>>(&before.format)) {
      to.format = with_values(*same, from.a.row_ptr.data(), value);
      return true;
    }
    if (const auto* same = std::get_if<Stencil<S, Exec>>(&before.format)) {
      auto other = with_values(*same, from.a.row_ptr.data(), value);
      if (other) to.format = std::move(*other);
      return other.has_value();
    }
  }
  return false;
}

/// y := P' x from a level to the next one.
template <class S, class Exec>
void restrict_to(const Exec& exec, const Level<S, Exec>& level, const Vector<S, Exec>& x,
                 const Vector<S, Exec>& y) {
  if constexpr (!is_complex<S>) {
    if (level.grid) return multiply_transposed(exec, *level.grid, x, y);
  }
  krysol::apply(exec, S(1), level.r, x, S(0), y);
}

/// y := P x from the next level to this one.
template <class S, class Exec>
void prolong(const Exec& exec, const Level<S, Exec>& level, const Vector<S, Exec>& x,
             const Vector<S, Exec>& y) {
  if constexpr (!is_complex<S>) {
    if (level.grid) return multiply(exec, *level.grid, x, y);
  }
  krysol::apply(exec, S(1), level.p, x, S(0), y);
}

/// Names a level to profilers, where one listens.
class LevelRegion {
 public:
  explicit LevelRegion(std::size_t level) : listened_(Kokkos::Tools::profileLibraryLoaded()) {
    if (listened_) Kokkos::Profiling::pushRegion(fmt::format("level {}", level + 1));
  }
  ~LevelRegion() {
    if (listened_) Kokkos::Profiling::popRegion();
  }
  LevelRegion(const LevelRegion&) = delete;
  LevelRegion& operator=(const LevelRegion&) = delete;

 private:
  bool listened_;
};

}  // namespace

template <class S, class Exec>
LevelMatrix<S, Exec> make_level_matrix(const HostCsr<S>& a, Index block, bool grid, bool shared) {
  LevelMatrix<S, Exec> m;
  if constexpr (std::is_same_v<S, float>) {
    if (grid && try_format<Stencil<S, Exec>>(a, m)) return m;
    if (grid && try_format<StencilPattern<S, Exec>>(a, m)) return m;
    if constexpr (on_host<Exec>) {
      constexpr Index few = 1000;  // rows that csr multiplies as fast
      const bool blocks = block > 1 && block <= largest_block;
      if (a.rows > few && blocks && try_format<Bsr<S, Exec>>(a, m)) return m;
      if (a.rows > few && try_format<SellCSigma<S, Exec>>(a, m)) return m;
    }
  }
  return as_csr_level<S, Exec>(a, shared);
}

template <class S, class Exec>
template <class W>
Hierarchy<S, Exec>::Hierarchy(const HostHierarchy<W>& host, const CycleOptions& options, bool grid,
                              const Hierarchy* before, const DeviceLevels<W, Exec>& on_device)
    : options_(options) {
  if (options_.degree == 0) options_.degree = host.degree;
  for (const DeviceLevel<W, Exec>& from : on_device) {
    levels_.push_back(level_of<S>(Exec{}, from));
  }
  for (std::size_t l = 0; l < host.levels.size(); ++l) {
    const HostLevel<W>& from = host.levels[l];
    const std::size_t number = levels_.size();
    const bool first = number == 0;
    Level<S, Exec> level;
    if (before == nullptr || number >= before->levels_.size() ||
        !set_values(from, before->levels_[number].a, level.a)) {
      level.a = options_.smoother == SmootherKind::gauss_seidel
                    ? as_csr_level<S, Exec>(scaled_entries<S>(from.a, from.scale), first)
                    : make_level_matrix<S, Exec>(scaled_entries<S>(from.a, from.scale),
                                                 first || host.grid ? host.block : 1,
                                                 host.grid || (first && grid), first);
    }
    const bool solved = l + 1 == host.levels.size() && host.inverse.extent(0) > 0;
    if (!solved) level.smoother = make_smoother<S, Exec>(options_.smoother, from, level.a);
    if (from.p.rows > 0) {
      level.p = as_csr<S, W, Exec>(from.p);
      level.r = as_csr<S, W, Exec>(from.r);
    }
    if (from.grid) {
      level.grid =
          GridTransfer<Real<S>, Exec>(*from.grid, host.block, from.scale, host.levels[l + 1].scale);
    }
    levels_.push_back(std::move(level));
  }
  inverse_ = in_memory_of<Exec>(host.inverse);
  const auto rows = static_cast<std::int64_t>(host.scale.extent(0));
  const double* const from = host.scale.data();
  if (rows > 0) largest_scale_ = *std::max_element(from, from + rows);
  const auto scale = host_array<Real<S>>("multigrid.scale", host.scale.extent(0));
  host_for("krysol::multigrid(scale)", rows,
           [=, largest = largest_scale_, to = scale.data()](std::int64_t i) {
             to[i] = static_cast<Real<S>>(from[i] / largest);
           });
  scale_ = in_memory_of<Exec>(scale);
}

template <class S, class Exec>
typename Hierarchy<S, Exec>::Work Hierarchy<S, Exec>::make_work(const Exec& exec) const {
  Work work;
  for (const Level<S, Exec>& level : levels_) {
    const std::int64_t rows = level.a.rows();
    const std::size_t l = work.of_level.size();
    const bool visited_again = options_.visits > 1 && l > 0 && l + 1 < levels_.size();
    const std::int64_t again = visited_again ? rows : 0;
    const std::int64_t of_krylov = options_.krylov ? again : 0;
    work.of_level.push_back({uninitialized<S>(exec, "multigrid.r", rows),
                             uninitialized<S>(exec, "multigrid.x", rows),
                             uninitialized<S>(exec, "multigrid.d", rows),
                             uninitialized<S>(exec, "multigrid.residual", rows),
                             uninitialized<S>(exec, "multigrid.before", again),
                             uninitialized<S>(exec, "multigrid.rhs", of_krylov),
                             uninitialized<S>(exec, "multigrid.product", of_krylov)});
  }
  return work;
}

/// residual: work[l].residual is r - A x afterwards, but on the last level.
template <class S, class Exec>
void Hierarchy<S, Exec>::cycle(const Exec& exec, std::size_t l, bool residual, Work& work) const {
  constexpr int alone = 16;  // steps on a last level that is too large to be inverted
  const LevelRegion region(l);
  const Level<S, Exec>& level = levels_[l];
  LevelVectors<S, Exec>& v = work[l];
  if (l + 1 == levels_.size()) {
    if (exact()) {
      for_each("krysol::multigrid(last)", exec, level.a.rows(),
               MultiplyDense<S, InDouble>{level.a.rows(), inverse_.data(), v.r.data(), v.x.data()});
    } else {
      smooth_alone(exec, level.smoother, level.a, alone, v);
    }
    return;
  }
  smooth_before(exec, level.smoother, level.a, options_.degree, v);
  restrict_to(exec, level, v.residual, work[l + 1].r);
  visit(exec, l + 1, work);
  prolong(exec, level, work[l + 1].x, v.d);
  smooth_after(exec, level.smoother, level.a, options_.degree, residual, v);
}

/// The cycles of level l that one of the level above takes.
template <class S, class Exec>
void Hierarchy<S, Exec>::visit(const Exec& exec, std::size_t l, Work& work) const {
  const bool last = l + 1 == levels_.size();
  if (options_.krylov && !last) {
    visit_by_krylov(exec, l, work);
    return;
  }
  LevelVectors<S, Exec>& v = work[l];
  const int visits = last ? 1 : options_.visits;
  cycle(exec, l, visits > 1, work);
  for (int again = 2; again <= visits; ++again) {
    std::swap(v.r, v.residual);
    Kokkos::deep_copy(exec, v.before, v.x);
    cycle(exec, l, again < visits, work);
    for_each("krysol::multigrid(add)", exec, levels_[l].a.rows(),
             Add<S>{v.before.data(), v.x.data()});
  }
}

/// Two steps of flexible CG for A x = r, from x = 0. With c and d from the cycles for r and for
/// r - t c'r / c'Ac A c: x = the combination of c and d that is nearest to the solution in the
/// A-norm.
template <class S, class Exec>
void Hierarchy<S, Exec>::visit_by_krylov(const Exec& exec, std::size_t l, Work& work) const {
  using R = Real<S>;
  constexpr double enough = 0.25;  // of |r|, after the first step
  LevelVectors<S, Exec>& v = work[l];
  const std::int64_t rows = levels_[l].a.rows();
  // The right-hand side that a cycle begins with, less its residual, is A x.
  Kokkos::deep_copy(exec, v.rhs, v.r);
  cycle(exec, l, true, work);
  // v.product := A c
  const auto first = sum_over<5>(
      "krysol::multigrid(K, first)", exec, rows, work.sums,
      FirstKrylovTerms<S>{v.x.data(), v.rhs.data(), v.residual.data(), v.product.data()});
  const double rho = first[0];  // c'Ac
  if (!(rho > 0) || !is_finite(rho)) return;
  const double t = first[1] / rho;
  const double left = first[2] - t * (2 * first[3] - t * first[4]);  // |r - t A c|^2
  if (!(left > enough * enough * first[2])) {
    for_each("krysol::multigrid(K, one step)", exec, rows,
             ScaledSum<S>{static_cast<R>(t), v.x.data(), R(0), v.x.data(), v.x.data()});
    return;
  }
  Kokkos::deep_copy(exec, v.before, v.x);
  for_each("krysol::multigrid(K, residual)", exec, rows,
           NextRightHandSide<S>{static_cast<R>(t), v.product.data(), v.rhs.data(), v.r.data()});
  cycle(exec, l, true, work);
  const auto second = sum_over<3>(
      "krysol::multigrid(K, second)", exec, rows, work.sums,
      SecondKrylovTerms<S>{v.x.data(), v.rhs.data(), v.residual.data(), v.product.data()});
  const double gamma = second[0];                        // d'Ac
  const double rho_2 = second[1] - gamma * gamma / rho;  // d'Ad of the part of d conjugate to c
  double of_d = second[2] / rho_2;
  if (!(rho_2 > 0) || !is_finite(of_d)) of_d = 0;
  const double of_c = t - gamma / rho * of_d;
  for_each("krysol::multigrid(K, x)", exec, rows,
           ScaledSum<S>{static_cast<R>(of_c), v.before.data(), static_cast<R>(of_d), v.x.data(),
                        v.x.data()});
}

template <class S, class Exec>
template <class T>
void Hierarchy<S, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                               const Vector<T, Exec>& z) const {
  // The largest entry near 1, whatever r is: float has fewer exponents.
  const double unit = unit_scale(largest_part<const T>(exec, r, ReductionWorkspace<Exec>{}));
  const auto lease = pool_.take(exec, [&] { return make_work(exec); });
  const LevelVectors<S, Exec>& v = (*lease)[0];
  for_each("krysol::multigrid(enter)", exec, rows(),
           ScaleRows<S, T, Real<S>>{unit, scale_.data(), r.data(), v.r.data()});
  cycle(exec, 0, false, *lease);
  const double back = largest_scale_ * largest_scale_ / unit;
  for_each("krysol::multigrid(leave)", exec, rows(),
           ScaleRows<T, S, Real<S>>{back, scale_.data(), v.x.data(), z.data()});
}

template <class S, class Exec>
double Hierarchy<S, Exec>::bytes(std::size_t entry) const {
  double total = 0;
  double visits = 1;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level<S, Exec>& level = levels_[l];
    const auto a = static_cast<double>(level.a.bytes());
    const auto row = static_cast<double>(level.a.rows()) * sizeof(S);
    if (l + 1 == levels_.size()) {
      if (l > 0) visits /= options_.visits;  // once by each cycle of the level above
      const auto inverse = static_cast<double>(inverse_.extent(0) * sizeof(InDouble));
      total += visits * (exact() ? inverse : 15 * (a + level.smoother.bytes() + 6 * row));
      break;
    }
    const auto between =
        static_cast<double>(level.grid ? 2 * krysol::multigrid::bytes(*level.grid)
                                       : krysol::bytes(level.p) + krysol::bytes(level.r));
    // Six vectors a step; fewer in the first, which is two, and in the last.
    const int degree = options_.degree;
    const int vectors = degree > 1 ? 12 * degree - 7 : 7;
    total +=
        visits * (2 * degree * (a + level.smoother.bytes()) + vectors * row + between + 2 * row);
    // Between two cycles.
    const double others = options_.krylov ? 26 : 10;
    if (l > 0) total += (visits - visits / options_.visits) * (a + others * row);
    visits *= options_.visits;
  }
  return total + static_cast<double>(rows()) * (3 * static_cast<double>(entry) + 4 * sizeof(S));
}

#define KRYSOL_INSTANTIATE_FOR(S, W, Exec)                                                   \
  template class Hierarchy<S, Exec>;                                                         \
  template Hierarchy<S, Exec>::Hierarchy(const HostHierarchy<W>&, const CycleOptions&, bool, \
                                         const Hierarchy*, const DeviceLevels<W, Exec>&);
#define KRYSOL_INSTANTIATE_APPLY(S, T, Exec)                                        \
  template void Hierarchy<S, Exec>::apply(const Exec&, const ConstVector<T, Exec>&, \
                                          const Vector<T, Exec>&) const;
// The types of levels for T = float and double; for each that of the vectors around them.
#define KRYSOL_INSTANTIATE(Exec, Float, Double) \
  KRYSOL_INSTANTIATE_FOR(Float, Double, Exec)   \
  KRYSOL_INSTANTIATE_FOR(Double, Double, Exec)  \
  KRYSOL_INSTANTIATE_APPLY(Float, Float, Exec)  \
  KRYSOL_INSTANTIATE_APPLY(Float, Double, Exec) \
  KRYSOL_INSTANTIATE_APPLY(Double, Float, Exec) \
  KRYSOL_INSTANTIATE_APPLY(Double, Double, Exec)
#define KRYSOL_INSTANTIATE_ON(Unused, Exec) \
  KRYSOL_INSTANTIATE(Exec, float, double)   \
  KRYSOL_INSTANTIATE(Exec, Kokkos::complex<float>, Kokkos::complex<double>)
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE_ON, float)
#undef KRYSOL_INSTANTIATE_ON
#undef KRYSOL_INSTANTIATE
#undef KRYSOL_INSTANTIATE_APPLY
#undef KRYSOL_INSTANTIATE_FOR

}  // namespace krysol::multigrid
