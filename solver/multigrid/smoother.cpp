// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/smoother.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <krysol/solver/coarsening/strong_lines.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/multigrid/largest_eigenvalue.hpp>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/multigrid/smoother_kernels.hpp>
#include <krysol/solver/precond/colours.hpp>
#include <krysol/solver/precond/level_scheduled_solve.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol::multigrid {
namespace {

/// Numbers of the host, rounded to S, in the memory of Exec.
template <class S, class Exec, class W>
Vector<S, Exec> rounded_vector(const char* label, const std::vector<W>& from) {
  const auto to = host_array<S>(label, from.size());
  for (std::size_t k = 0; k < from.size(); ++k) to(k) = rounded<S>(from[k]);
  return in_memory_of<Exec>(to);
}

/// weight(|a_i1|, ..., |a_in|) of each row i.
template <class W, class Weight>
std::vector<double> weights_of_rows(const HostCsr<W>& a, const Weight& weight) {
  std::vector<double> weights(static_cast<std::size_t>(a.rows));
  const Offset* const row_ptr = a.row_ptr.data();
  host_for("krysol::smoother(weights)", a.rows, [&, to = weights.data()](std::int64_t i) {
    to[i] = weight(a.values.data() + row_ptr[i], row_ptr[i + 1] - row_ptr[i]);
  });
  return weights;
}

/// 1 / sum_j |a_ij|. A row that is out of the levels is 0.
struct InverseOfRowSum {
  template <class W>
  double operator()(const W* row, Offset count) const {
    double sum = 0;
    for (Offset k = 0; k < count; ++k) sum += std::sqrt(abs_squared(row[k]));
    return sum > 0 ? 1 / sum : 0;
  }
};

/// 1 / sum_j |a_ij|^2, with a_ii = 1.
struct InverseOfSquares {
  template <class W>
  double operator()(const W* row, Offset count) const {
    double sum = 0;
    for (Offset k = 0; k < count; ++k) sum += abs_squared(row[k]);
    return sum > 0 ? 1 / sum : 0;
  }
};

/// A bound of the eigenvalues of M^-1 A, by products; precondition(r) is M^-1 r.
template <class S, class Exec, class Precondition>
double bound_by_products(const LevelMatrix<S, Exec>& a, const Precondition& precondition) {
  const Exec exec;
  ReductionWorkspace<Exec> sums;
  return lanczos_bound<S>(
      exec, a.rows(), sums,
      [&](const Vector<S, Exec>& p, const Vector<S, Exec>& q) {
        krysol::multigrid::apply(exec, S(1), a, p, S(0), q);
        return dot(exec, p, q, sums);
      },
      precondition);
}

template <class S, class Exec>
double bound_of(const LevelMatrix<S, Exec>& a) {
  return bound_by_products<S>(a, [](const Vector<S, Exec>& r) { return r; });
}

template <class S, class Exec, class M>
double bound_of(const LevelMatrix<S, Exec>& a, const M& m) {
  const auto z = uninitialized<S>(Exec{}, "smoother.z", a.rows());
  return bound_by_products<S>(a, [&](const Vector<S, Exec>& r) {
    m.apply(Exec{}, r, z);
    return Vector<S, Exec>(z);
  });
}

/// M^-1 = factor diag(weights).
template <class S, class Exec>
PointSmoother<S, Exec> with_weights(std::vector<double> weights, double factor = 1) {
  for (double& w : weights) w *= factor;
  return {rounded_vector<Real<S>, Exec>("smoother.weights", weights)};
}

template <class S, class Exec, class W>
BlockSmoother<S, Exec> with_blocks(const HostCsr<W>& a, Index block) {
  const BlockInverses<W> made = invert_diagonal_blocks(a, block);
  BlockSmoother<S, Exec> m;
  m.blocks.block = block;
  m.blocks.inverse = allocate<decltype(m.blocks.inverse)>("smoother.blocks", a.rows, block);
  const auto host = Kokkos::create_mirror_view(m.blocks.inverse);
  for (std::size_t k = 0; k < made.inverse.size(); ++k)
    host.data()[k] = rounded<S>(made.inverse[k]);
  Kokkos::deep_copy(m.blocks.inverse, host);
  return m;
}

template <class S, class Exec, class W>
LineSmoother<S, Exec> with_lines(const StrongLines<W>& lines) {
  return {on_device<Exec>("smoother.lines", lines.begin),
          on_device<Exec>("smoother.rows", lines.row),
          rounded_vector<S, Exec>("smoother.lower", lines.lower),
          rounded_vector<Real<S>, Exec>("smoother.pivots", lines.inverse_pivots)};
}

template <class Exec, class W>
ColouredSweeps<Exec> with_colours(const HostCsr<W>& a) {
  const std::vector<Index> colour = greedy_colours(a);
  const Levels by_colour = order_by_level(colour);
  return {on_device<Exec>("smoother.rows", by_colour.order), by_colour.begin};
}

/// residual := residual - A d.
template <class S, class Exec>
void subtract_step(const Exec& exec, const LevelMatrix<S, Exec>& a, LevelVectors<S, Exec>& v) {
  krysol::multigrid::apply(exec, S(-1), a, v.d, S(1), v.residual);
}

// ---- Steps with any M

/// The first of `steps` from x = 0, which is not subtracted yet; returns how many were taken.
template <class S, class Exec, class M>
int first_steps(const Exec& exec, const SmootherSteps& c, const M& m, const LevelMatrix<S, Exec>& a,
                int, bool, LevelVectors<S, Exec>& v) {
  m.apply(exec, v.r, v.d);
  for_each("krysol::smoother(first)", exec, a.rows(),
           FirstStep<S>{static_cast<Real<S>>(c.of_residual(1)), v.r.data(), v.residual.data(),
                        v.d.data(), v.x.data()});
  return 1;
}

/// Step k with the one before it subtracted; k = 1: d is a correction, which x still lacks.
template <class S, class Exec, class M>
void next_step(const Exec& exec, const SmootherSteps& c, const M& m, const LevelMatrix<S, Exec>& a,
               int k, bool, LevelVectors<S, Exec>& v) {
  using R = Real<S>;
  subtract_step(exec, a, v);
  m.apply(exec, v.residual, v.r);
  for_each("krysol::smoother(step)", exec, a.rows(),
           NextStep<S>{static_cast<R>(c.of_last(k)), static_cast<R>(c.of_residual(k)),
                       static_cast<R>(k > 1 ? 0 : 1), v.r.data(), v.d.data(), v.x.data()});
}

// ---- Steps with a diagonal M go with the product

/// The first two of `steps` from x = 0, or the only one. last: nothing but x is needed.
template <class S, class Exec>
int first_steps(const Exec& exec, const SmootherSteps& c, const PointSmoother<S, Exec>& m,
                const LevelMatrix<S, Exec>& a, int steps, bool last, LevelVectors<S, Exec>& v) {
  using R = Real<S>;
  if (m.weights.extent(0) > 0) {
    return first_steps<S, Exec, PointSmoother<S, Exec>>(exec, c, m, a, steps, last, v);
  }
  const auto b = static_cast<R>(c.of_residual(1));
  const bool two = steps > 1;
  const auto of_last = static_cast<R>(two ? c.of_last(2) : 0);
  const auto next = static_cast<R>(two ? c.of_residual(2) : 0);
  smooth<S>(exec, a,
            {.f = b,
             .a = of_last * b,
             .b = next,
             .g = b,
             .y = nullptr,
             .r_before = v.r.data(),
             .r = last && steps <= 2 ? nullptr : v.residual.data(),
             .d = two && !(last && steps == 2) ? v.d.data() : nullptr,
             .x = v.x.data(),
             .fresh = true},
            v.r);
  return 2;
}

template <class S, class Exec>
void next_step(const Exec& exec, const SmootherSteps& c, const PointSmoother<S, Exec>& m,
               const LevelMatrix<S, Exec>& a, int k, bool last, LevelVectors<S, Exec>& v) {
  using R = Real<S>;
  smooth<S>(exec, a,
            {.f = 1,
             .a = static_cast<R>(c.of_last(k)),
             .b = static_cast<R>(c.of_residual(k)),
             .g = static_cast<R>(k > 1 ? 0 : 1),
             .y = nullptr,
             .r_before = v.residual.data(),
             .weights = m.weights.extent(0) > 0 ? m.weights.data() : nullptr,
             .r = last ? nullptr : v.residual.data(),
             .d = last ? nullptr : v.r.data(),
             .x = v.x.data()},
            v.d);
  std::swap(v.d, v.r);
}

// ---- What all of them do

template <class S, class Exec, class M>
void steps_before(const Exec& exec, const SmootherSteps& c, const M& m,
                  const LevelMatrix<S, Exec>& a, int degree, LevelVectors<S, Exec>& v) {
  const int taken = first_steps(exec, c, m, a, degree, false, v);
  for (int k = taken + 1; k <= degree; ++k) next_step(exec, c, m, a, k, false, v);
  if (taken <= degree) subtract_step(exec, a, v);  // else it is
}

template <class S, class Exec, class M>
void steps_after(const Exec& exec, const SmootherSteps& c, const M& m,
                 const LevelMatrix<S, Exec>& a, int degree, bool wanted, LevelVectors<S, Exec>& v) {
  for (int k = 1; k <= degree; ++k) next_step(exec, c, m, a, k, k == degree && !wanted, v);
  if (wanted) subtract_step(exec, a, v);
}

template <class S, class Exec, class M>
void steps_alone(const Exec& exec, const SmootherSteps& c, const M& m,
                 const LevelMatrix<S, Exec>& a, int steps, LevelVectors<S, Exec>& v) {
  const int taken = first_steps(exec, c, m, a, steps, true, v);
  for (int k = taken + 1; k <= steps; ++k) next_step(exec, c, m, a, k, k == steps, v);
}

// ---- Sweeps

template <class S, class Exec>
void sweep(const Exec& exec, const ColouredSweeps<Exec>& m, const LevelMatrix<S, Exec>& a,
           bool forward, const LevelVectors<S, Exec>& v) {
  const auto& csr = std::get<Csr<S, Exec>>(a.format);
  const std::size_t colours = m.begin.size() - 1;
  for (std::size_t k = 0; k < colours; ++k) {
    const std::size_t c = forward ? k : colours - 1 - k;
    for_each("krysol::smoother(colour)", exec, m.begin[c + 1] - m.begin[c],
             SweepColour<S>{m.row.data() + m.begin[c], csr.row_ptr.data(), csr.col_idx.data(),
                            csr.values.data(), v.r.data(), v.x.data()});
  }
}

/// residual := r - A x.
template <class S, class Exec>
void find_residual(const Exec& exec, const LevelMatrix<S, Exec>& a,
                   const LevelVectors<S, Exec>& v) {
  Kokkos::deep_copy(exec, v.residual, v.r);
  krysol::multigrid::apply(exec, S(-1), a, v.x, S(1), v.residual);
}

template <class S, class Exec>
void steps_before(const Exec& exec, const SmootherSteps&, const ColouredSweeps<Exec>& m,
                  const LevelMatrix<S, Exec>& a, int degree, LevelVectors<S, Exec>& v) {
  Kokkos::deep_copy(exec, v.x, S(0));
  for (int k = 0; k < degree; ++k) sweep(exec, m, a, true, v);
  find_residual(exec, a, v);
}

template <class S, class Exec>
void steps_after(const Exec& exec, const SmootherSteps&, const ColouredSweeps<Exec>& m,
                 const LevelMatrix<S, Exec>& a, int degree, bool wanted, LevelVectors<S, Exec>& v) {
  for_each("krysol::smoother(add)", exec, a.rows(), Add<S>{v.d.data(), v.x.data()});
  for (int k = 0; k < degree; ++k) sweep(exec, m, a, false, v);
  if (wanted) find_residual(exec, a, v);
}

template <class S, class Exec>
void steps_alone(const Exec& exec, const SmootherSteps&, const ColouredSweeps<Exec>& m,
                 const LevelMatrix<S, Exec>& a, int steps, LevelVectors<S, Exec>& v) {
  Kokkos::deep_copy(exec, v.x, S(0));
  for (int k = 0; k < steps / 2; ++k) sweep(exec, m, a, true, v);
  for (int k = 0; k < steps / 2; ++k) sweep(exec, m, a, false, v);
}

}  // namespace

template <class S, class Exec>
void PointSmoother<S, Exec>::apply(const Exec& exec, const ConstVector<S, Exec>& r,
                                   const Vector<S, Exec>& z) const {
  for_each("krysol::smoother(weigh)", exec, static_cast<std::int64_t>(z.extent(0)),
           WeighRows<S>{weights.data(), r.data(), z.data()});
}

template <class S, class Exec>
void LineSmoother<S, Exec>::apply(const Exec& exec, const ConstVector<S, Exec>& r,
                                  const Vector<S, Exec>& z) const {
  for_each("krysol::smoother(lines)", exec, static_cast<std::int64_t>(begin.extent(0)) - 1,
           SolveLine<S>{begin.data(), row.data(), lower.data(), inverse_pivots.data(), r.data(),
                        z.data()});
}

template <class S, class Exec>
double Smoother<S, Exec>::bytes() const {
  const auto of = [](const auto& view) {
    return static_cast<double>(view.size() * sizeof(*view.data()));
  };
  if (const auto* point = std::get_if<PointSmoother<S, Exec>>(&m)) return of(point->weights);
  if (const auto* blocks = std::get_if<BlockSmoother<S, Exec>>(&m)) {
    return of(blocks->blocks.inverse) +
           2.0 * static_cast<double>(blocks->blocks.inverse.extent(0) * sizeof(S));
  }
  if (const auto* lines = std::get_if<LineSmoother<S, Exec>>(&m)) {
    return 2 * of(lines->row) + 2 * of(lines->lower) + of(lines->inverse_pivots) +
           4.0 * static_cast<double>(lines->row.extent(0) * sizeof(S));
  }
  return of(std::get<ColouredSweeps<Exec>>(m).row);
}

template <class S, class Exec>
std::string Smoother<S, Exec>::summary() const {
  if (const auto* sweeps = std::get_if<ColouredSweeps<Exec>>(&m)) {
    const std::size_t colours = sweeps->begin.size() - 1;
    return fmt::format(", {} colour{}", colours, colours == 1 ? "" : "s");
  }
  if (!steps.polynomial) return {};
  if (const auto* lines = std::get_if<LineSmoother<S, Exec>>(&m)) {
    return fmt::format(", {} lines, eigenvalues below {:.2f}", lines->begin.extent(0) - 1,
                       steps.largest);
  }
  return fmt::format(", eigenvalues below {:.2f}", steps.largest);
}

template <class S, class Exec, class W>
Smoother<S, Exec> make_smoother(SmootherKind kind, const HostLevel<W>& level,
                                const LevelMatrix<S, Exec>& a) {
  constexpr double safe = 1.8;  // 2 and more is not reduced
  const auto scaled = [&] { return scaled_entries<W>(level.a, level.scale); };
  Smoother<S, Exec> c;
  // Of no product, as of a matrix of zeros, there is no bound.
  const auto set_polynomial = [&](double largest) {
    c.steps.polynomial = true;
    c.steps.largest = largest > 0 ? largest : std::max(level.largest, 1.0);
  };
  switch (kind) {
    case SmootherKind::l1_jacobi:
      c.m = with_weights<S, Exec>(weights_of_rows(scaled(), InverseOfRowSum{}));
      return c;
    case SmootherKind::spai0: {
      const std::vector<double> weights = weights_of_rows(scaled(), InverseOfSquares{});
      const double largest = bound_of(a, with_weights<S, Exec>(weights));
      c.m = with_weights<S, Exec>(weights, std::min(1.0, safe / largest));
      return c;
    }
    case SmootherKind::gauss_seidel:
      c.m = with_colours<Exec>(scaled());
      return c;
    case SmootherKind::block:
      if (level.block > 1 && level.block <= 64) {
        const BlockSmoother<S, Exec> blocks = with_blocks<S, Exec>(scaled(), level.block);
        set_polynomial(bound_of(a, blocks));
        c.m = blocks;
        return c;
      }
      break;
    case SmootherKind::line: {
      const StrongLines<W> lines = strong_lines(scaled());
      if (lines.coupled_rows > level.a.rows / 2) {
        const LineSmoother<S, Exec> solves = with_lines<S, Exec>(lines);
        set_polynomial(bound_of(a, solves));
        c.m = solves;
        return c;
      }
      break;
    }
    case SmootherKind::chebyshev:
      break;
  }
  // Row sums say enough, but where they are far from the eigenvalues.
  set_polynomial(level.far_bound ? std::min(level.largest, bound_of(a)) : level.largest);
  return c;
}

template <class S, class Exec>
void smooth_before(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                   int degree, LevelVectors<S, Exec>& v) {
  std::visit([&](const auto& m) { steps_before(exec, c.steps, m, a, degree, v); }, c.m);
}

template <class S, class Exec>
void smooth_after(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                  int degree, bool wanted, LevelVectors<S, Exec>& v) {
  std::visit([&](const auto& m) { steps_after(exec, c.steps, m, a, degree, wanted, v); }, c.m);
}

template <class S, class Exec>
void smooth_alone(const Exec& exec, const Smoother<S, Exec>& c, const LevelMatrix<S, Exec>& a,
                  int steps, LevelVectors<S, Exec>& v) {
  std::visit([&](const auto& m) { steps_alone(exec, c.steps, m, a, steps, v); }, c.m);
}

#define KRYSOL_INSTANTIATE_FOR(S, W, Exec)                                                        \
  template struct PointSmoother<S, Exec>;                                                         \
  template struct LineSmoother<S, Exec>;                                                          \
  template struct Smoother<S, Exec>;                                                              \
  template Smoother<S, Exec> make_smoother(SmootherKind, const HostLevel<W>&,                     \
                                           const LevelMatrix<S, Exec>&);                          \
  template void smooth_before(const Exec&, const Smoother<S, Exec>&, const LevelMatrix<S, Exec>&, \
                              int, LevelVectors<S, Exec>&);                                       \
  template void smooth_after(const Exec&, const Smoother<S, Exec>&, const LevelMatrix<S, Exec>&,  \
                             int, bool, LevelVectors<S, Exec>&);                                  \
  template void smooth_alone(const Exec&, const Smoother<S, Exec>&, const LevelMatrix<S, Exec>&,  \
                             int, LevelVectors<S, Exec>&);
// The types of levels, and those of hierarchies on the host.
#define KRYSOL_INSTANTIATE(Unused, Exec)                                        \
  KRYSOL_INSTANTIATE_FOR(float, double, Exec)                                   \
  KRYSOL_INSTANTIATE_FOR(double, double, Exec)                                  \
  KRYSOL_INSTANTIATE_FOR(Kokkos::complex<float>, Kokkos::complex<double>, Exec) \
  KRYSOL_INSTANTIATE_FOR(Kokkos::complex<double>, Kokkos::complex<double>, Exec)
KRYSOL_ON_EACH_SPACE(KRYSOL_INSTANTIATE, float)
#undef KRYSOL_INSTANTIATE
#undef KRYSOL_INSTANTIATE_FOR

}  // namespace krysol::multigrid
