// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/core.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <krysol/solver/choice/preconditioner_choice.hpp>
#include <krysol/solver/interface/checked_options.hpp>
#include <krysol/solver/interface/early_results.hpp>
#include <krysol/solver/interface/null_components.hpp>
#include <krysol/solver/interface/plain_properties.hpp>
#include <krysol/solver/interface/value_watch.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/outcome/breakdown.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/base/runtime.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <krysol/spmv/select/late_format.hpp>
#include <krysol/spmv/select/tuning_record.hpp>

namespace krysol {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("krysol::solve: " + what);
}

/// Rows of a result as the caller counts them.
void count_as_caller(const Permutation& order, SolveResult& result) {
  if (order.empty()) return;
  const auto of_caller = [&](Index& i) {
    if (i >= 0) i = order[static_cast<std::size_t>(i)];
  };
  BreakdownCertificate& e = result.breakdown;
  of_caller(e.row);
  of_caller(e.col);
  for (RowShare& share : e.largest) of_caller(share.row);
  if (!e.direction.empty()) e.direction = inverse_permute(order, e.direction);
  result.advice = advice(result);
}

std::vector<std::pair<std::string, std::string>> named(const std::vector<SetupFact>& facts) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const SetupFact& fact : facts) list.emplace_back(fact.name, fact.value);
  return list;
}

}  // namespace

/// What the setup made. Everything of `Made` is replaced at once, so that an update that throws
/// leaves all as it was.
using Region = Kokkos::Profiling::ScopedRegion;

template <class T>
struct Solver<T>::State {
  RuntimeLease lease{};  // the first to be made, and the last to go
  SolveOptions options;
  MatrixInput<T> input{};  // in the caller's order
  OrderChoice order{};
  Vector<Index> places{};  // order on the device; empty: none
  std::shared_ptr<const Operator<T>> op{};
  std::shared_ptr<LateFormat<T>> late{};                // `op`, where its format is chosen later
  NullComponents null{};                                // in the order of the rows while solving
  MadePreconditioner<T, Exec> m{};                      // that has been asked for
  std::unique_ptr<PreconditionerChoice<T>> chooses{};   // or what chooses one
  std::shared_ptr<const AnyPreconditioner<T>> own_m{};  // or the caller's
  std::optional<SolveResult> refused{};
  std::unique_ptr<ValueWatch> watch{};
  SolveReport report{};
  mutable std::mutex reporting{};

  explicit State(SolveOptions o) : options(std::move(o)) {
    check_options(options);
    report.solver = options.solver;
    report.preconditioner = options.preconditioner;
    report.format = options.format;
    report.stop = options.stop;
  }

  const AnyPreconditioner<T>& preconditioner() const { return own_m ? *own_m : *m.m; }
  const MadePreconditioner<T, Exec>& made() const { return chooses ? chooses->first() : m; }

  /// Which equations have no solution: looked for where the method would go astray on those.
  NullComponents found_null(const HostCsr<T>& a, SolveReport& to) const {
    NullComponents found;
    if (method_traits(options.solver).needs_definiteness) found = null_components(a);
    to.null_vectors = found.count();
    if (found.count() > 0) {
      to.notes.push_back(
          fmt::format("A is singular: the rows of {} component{} sum to 0. Of the solutions, where "
                      "there are any, x has the mean of the starting guess on each component",
                      found.count(), found.count() == 1 ? "" : "s"));
    }
    const Index lone = rows_of_diagonal_alone(a);
    if (lone > 0 && lone < a.rows) {
      to.notes.push_back(
          fmt::format("{} row{} nothing beside the diagonal, as boundary conditions "
                      "do, and no part in what else is solved",
                      lone, lone == 1 ? " has" : "s have"));
    }
    return found;
  }

  /// Adds what is missing of m, or `chooses`.
  void make_m(const HostCsr<T>& a) {
    auto near_null = near_null_of(options, a.rows, order.order);
    if (!is_auto(options)) {
      m = make_preconditioner<T, Exec>(options.preconditioner,
                                       {&a, op.get(), options.preconditioner_options, near_null});
      return;
    }
    auto stages = preconditioner_stages(options.preconditioner, options.preconditioner_options);
    const bool saved = options.tuning && report.choice && report.choice->reused;
    if (stages.empty() && saved && !options.tuning->preconditioner.empty() && may_choose(options)) {
      const std::string& name = options.tuning->preconditioner;
      stages = preconditioner_stages(base_of(name) == "auto" ? name : "auto:" + name, {});
    }
    if (!stages.empty() && !may_choose(options)) {
      refuse(fmt::format("preconditioner '{}' goes with cg alone, and with no lambda_min",
                         options.preconditioner));
    }
    if (may_choose(options)) {
      chooses = std::make_unique<PreconditionerChoice<T>>(a, op, late, std::move(stages),
                                                          options.strict, std::move(near_null));
    } else {
      m = make_preconditioner<T, Exec>("jacobi", {&a, op.get(), {}});
    }
  }

  /// A in rows, and whether CG can work on it at all.
  HostCsr<T> screened(const MatrixInput<T>& in, SolveReport& to) const {
    const Region region("krysol::screen");
    Kokkos::Timer timer;
    HostCsr<T> a = in.csr;
    auto properties = analyze(a);
    // To the last bit: what is solved is A, not a matrix within the tolerance of it.
    if (in.adjoint && (properties.asymmetry != 0 || !properties.symmetric)) {
      a = adjoint_of(a);
      properties = analyze(a);
      to.passes.emplace_back("transposed: by columns, and not symmetric to the last bit");
    }
    to.screened = true;
    to.properties = plain(properties);
    to.screen = {};
    to.screen.add(timer.seconds(), static_cast<double>(2 * bytes(a)));
    auto breakdown = find_breakdown(properties, method_traits(options.solver));
    to.refused = breakdown.has_value();
    if (breakdown) to.result = std::move(*breakdown);
    return a;
  }

  /// In the order of `options`, or of a record that fits the matrix then.
  HostCsr<T> ordered(const HostCsr<T>& a, OrderChoice& choice) const {
    const double products = expected_products(options);
    const auto& tuning = options.tuning;
    if (tuning && order_of_rows(options) == "auto" && tuning->matrix.rows == a.rows &&
        tuning->matrix.nnz == a.nnz()) {
      HostCsr<T> moved = reorder(tuning->order, a, products, choice);
      if (mismatch(*tuning, moved).empty()) return moved;
      choice = {};
    }
    return reorder(order_of_rows(options), a, products, choice);
  }

  /// A in a format, and once more where that is chosen later.
  struct Formatted {
    std::shared_ptr<const Operator<T>> op{};
    std::shared_ptr<LateFormat<T>> late{};
  };

  Formatted selected(const HostCsr<T>& a, SolveReport& to) const {
    SelectOptions select;
    select.with_dot = true;
    select.products = expected_products(options);
    select.mirrored = to.properties.mirrored;
    if (may_choose_late(options)) {
      const double done = late ? late->products_done() : 0;
      auto made = std::make_shared<LateFormat<T>>(a, select, options.tuning_memory, done);
      describe_late(*made, to);
      return {made, made};
    }
    FormatChoice choice;
    auto made = options.tuning ? select_format(a, select, *options.tuning, choice)
                               : select_format(a, select, options.tuning_memory, choice);
    if (!choice.mismatch.empty()) {
      to.notes.push_back(fmt::format("{} does not fit, the format was measured anew: {}",
                                     options.tuning_name, choice.mismatch));
    }
    if (options.keep_tuning) {
      // One that was reused is kept with the measurements that it came with.
      to.tuning = choice.reused ? *options.tuning : save(choice, a, select);
      if (!choice.reused) to.tuning->order = order.name;
    }
    to.format = choice.name;
    to.choice = std::move(choice);
    return {std::move(made)};
  }

  static void describe_late(const LateFormat<T>& made, SolveReport& to) {
    to.choice = made.choice();
    to.format = to.choice->name;
    to.format_bytes = made.bytes();
  }

  Formatted formatted(const HostCsr<T>& a, SolveReport& to) const {
    to.format = options.format;
    if (options.format != "auto") return {make_operator<T>(options.format, a)};
    return selected(a, to);
  }

  void describe_preconditioner(SolveReport& to) const {
    const std::string counted =
        order.order.empty() ? "" : fmt::format("; rows counted in the order '{}'", order.name);
    to.preconditioner = made().used;
    to.preconditioner_facts = named(made().m->report());
    to.trials.clear();
    to.refusal = made().refusal.empty() ? "" : made().refusal + counted;
    if (!made().note.empty()) to.notes.push_back(made().note + counted);
  }

  /// After a solve in which the preconditioner was chosen.
  static void describe_choice(const ChosenSolve& seen, SolveReport& to) {
    to.preconditioner = seen.used;
    to.preconditioner_facts = named(seen.facts);
    to.trials = seen.trials;
    if (seen.setup_seconds > 0) to.setup.add(seen.setup_seconds, 0);
    if (seen.format_seconds > 0) to.convert.add(seen.format_seconds, 0);
  }

  /// The format that was chosen, for other values; chosen anew where it refuses those.
  Formatted formatted_again(const HostCsr<T>& a, SolveReport& to) const {
    if (late && !late->chosen()) return selected(a, to);
    try {
      return {make_operator<T>(to.format, a)};
    } catch (const FormatRefusal& refusal) {
      if (options.format != "auto") throw;
      to.notes.push_back(fmt::format("the format was chosen anew: {}", refusal.what()));
      return selected(a, to);
    }
  }

  void check_strict() {
    if (!options.strict || report.refusal.empty()) return;
    m.m.reset();
    chooses.reset();
    throw std::invalid_argument(report.refusal + "; strict takes nothing in its place");
  }

  void watch_values() {
    watch.reset();
    if (!input.shares_values || input.csr.nnz() == 0) return;
    watch = std::make_unique<ValueWatch>(input.csr.values.data(),
                                         input.csr.nnz() * static_cast<std::int64_t>(sizeof(T)));
  }

  void set_up(MatrixInput<T> in) {
    if (in.csr.rows != in.csr.cols) {
      const bool t = in.adjoint;
      refuse(
          fmt::format("A x = b needs a square matrix, this one is {} x {}; for least squares use "
                      "LSQR or CGLS",
                      t ? in.csr.cols : in.csr.rows, t ? in.csr.rows : in.csr.cols));
    }
    report.passes = in.passes;
    input = std::move(in);
    const HostCsr<T> a = screened(input, report);
    watch_values();
    if (report.refused) {
      refused = report.result;
      return;
    }
    make_all(a);
  }

  /// Order, format and preconditioner, with nothing to begin with.
  void make_all(const HostCsr<T>& a) {
    Kokkos::Timer timer;
    const HostCsr<T> moved = ordered(a, order);
    if (!order.order.empty()) places = to_device<Exec>("order", order.order);
    Formatted made_op = formatted(moved, report);
    op = std::move(made_op.op);
    late = std::move(made_op.late);
    report.order = order;
    report.format_bytes = op->bytes();
    report.convert = {};
    report.convert.add(timer.seconds(), static_cast<double>(bytes(moved) + op->bytes()));

    null = found_null(moved, report);
    timer.reset();
    make_m(moved);
    Exec{}.fence();
    report.setup = {};
    report.setup.add(timer.seconds(), 0);
    describe_preconditioner(report);
    check_strict();
  }

  void update(MatrixInput<T> in) {
    const Region region("krysol::update");
    SolveReport to = report;
    to.notes.clear();
    to.passes = in.passes;
    const HostCsr<T> a = screened(in, to);
    if (to.refused) {
      input = std::move(in);
      report = std::move(to);
      refused = report.result;
      watch_values();
      return;
    }
    if (!op || (!m.m && !chooses)) {  // nothing to keep: the matrix before was refused
      input = std::move(in);
      report = std::move(to);
      refused.reset();
      op.reset();
      late.reset();
      watch_values();
      make_all(a);
      return;
    }
    Kokkos::Timer timer;
    const HostCsr<T> moved = order.order.empty() ? a : reordered(a, order.order);
    Formatted made_op = formatted_again(moved, to);
    to.format_bytes = made_op.op->bytes();
    to.convert = {};
    to.convert.add(timer.seconds(), static_cast<double>(bytes(moved) + made_op.op->bytes()));
    NullComponents found = found_null(moved, to);
    timer.reset();
    if (chooses) {
      chooses->update(moved, made_op.op, made_op.late);
    } else {
      update_preconditioner(m, moved, made_op.op.get());
    }
    op = std::move(made_op.op);  // which M may multiply by: nothing that throws comes between
    late = std::move(made_op.late);
    null = std::move(found);
    input = std::move(in);
    Exec{}.fence();
    to.setup = {};
    to.setup.add(timer.seconds(), 0);
    describe_preconditioner(to);
    report = std::move(to);
    refused.reset();
    watch_values();
    check_strict();
  }

  /// Throws where shared values are not those of the setup. Reads 1/64 of the bytes that the solve
  /// moved, or all values where they may be the reason that it failed.
  void check_watch(const SolveResult& r) const {
    if (!watch) return;
    const double products = static_cast<double>(r.iterations) + 2;
    const double moved =
        products * static_cast<double>(std::max(op ? op->bytes() : 0, bytes(input.csr)));
    const bool differs =
        r.converged() ? watch->changed(static_cast<std::int64_t>(moved / 64)) : watch->changed();
    if (!differs) return;
    refuse(
        "the values of the matrix are no longer those that were set up; call update() after a "
        "change, "
        "and keep the arrays that are shared");
  }

  SolveResult solve_vector(const Vector<T>& b, const Vector<T>& x, const StoppingCriteria& stop,
                           std::optional<ChosenSolve>& seen) const {
    NamedOptions with = options.solver_options;
    if (null.count() > 0) with["confirm"] = "0";  // it would find the null vectors
    if (!chooses) {
      return krysol::solve<T, Exec>(options.solver, Exec{}, *op, ConstVector<T>(b), x,
                                    preconditioner(), stop, options.observer, with);
    }
    seen = chooses->solve(ConstVector<T>(b), x, stop, options.observer, with);
    return std::move(seen->result);
  }

  /// With b in the range of A: what is outside is compared with the tolerance, or left out where
  /// that was asked for. x keeps its part along the null vectors.
  SolveResult solve_singular(const ColumnsRef& columns, std::int64_t c, const Vector<T>& x,
                             std::optional<ChosenSolve>& seen) const {
    constexpr double share = 0.9;  // of the tolerance, that may be used up by it
    constexpr double rounding = 1e-13;
    const Vector<T> b = gathered<T>(columns, c, places, true);
    const auto outside = means(null, b);
    const double norm = norm_of_means(null, outside);
    const auto mean_of_guess = means(null, x);
    ReductionWorkspace<Exec> sums;
    const double b_norm = norm2(Exec{}, b, sums);
    add_means(null, outside, -1, b);
    StoppingCriteria stop = options.stop;
    const double target = std::max(stop.atol, stop.rtol * b_norm);
    if (!options.project) {
      if (norm > share * target && norm > rounding * b_norm) {
        const Vector<T> r = gathered<T>(columns, c, places, true);
        apply(Exec{}, T(-1), *op, ConstVector<T>(x), T(1), r);
        return no_solution(norm, norm2(Exec{}, r, sums), b_norm, target,
                           method_traits(options.solver));
      }
      const double used_up = target > 0 ? std::min(1.0, norm / target) : 0;
      stop.rtol = 0;
      stop.atol = target * std::sqrt(1 - used_up * used_up);
    } else {
      stop.atol = std::max(stop.atol, 8 * std::numeric_limits<double>::epsilon() * b_norm);
    }
    SolveResult r = solve_vector(b, x, stop, seen);
    auto drift = means(null, x);
    for (std::size_t k = 0; k < drift.size(); ++k) drift[k] -= mean_of_guess[k];
    add_means(null, drift, -1, x);
    r.outside_range = norm;
    if (!options.project) {
      r.target = target;
      r.b_norm = b_norm;
      r.residual = std::hypot(r.residual, norm);
      r.initial_residual = std::hypot(r.initial_residual, norm);
    }
    r.advice = advice(r);
    return r;
  }

  /// `seen`, where a preconditioner was chosen meanwhile, is all but the result.
  SolveResult solve_column(const ColumnsRef& b, const ColumnsRef& x, std::int64_t c,
                           std::optional<ChosenSolve>& seen) const {
    if (refused) {
      check_watch(*refused);
      return *refused;
    }
    if (!own_m && !m.m && !chooses) refuse("the last update was refused by `strict`; update again");
    const Vector<T> from = gathered<T>(b, c, places, false);
    const Vector<T> to = gathered<T>(x, c, places, true);
    for (const bool in_b : {true, false}) {
      const std::int64_t bad = first_not_finite<T>(in_b ? from : to);
      if (bad < 0) continue;
      const auto place = static_cast<std::size_t>(bad);
      const Index row = order.order.empty() ? static_cast<Index>(bad) : order.order[place];
      return stopped_at_not_finite(row, in_b, options.stop.atol, method_traits(options.solver));
    }
    SolveResult r = null.count() > 0 ? solve_singular(b, c, to, seen)
                                     : solve_vector(from, to, options.stop, seen);
    count_as_caller(order.order, r);
    check_watch(r);
    scatter<T>(to, places, x, c);
    return r;
  }
};

template <class T>
Solver<T>::Solver(const CsrArrays& a, SolveOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  const Region region("krysol::Solver");
  state_->set_up(matrix_input<T>(a));
}

template <class T>
Solver<T>::Solver(std::shared_ptr<const Operator<T>> a, SolveOptions options,
                  std::shared_ptr<const AnyPreconditioner<T>> m)
    : state_(std::make_unique<State>(std::move(options))) {
  State& s = *state_;
  if (!a) refuse("there is no operator");
  if (a->rows != a->cols || a->rows < 0) {
    refuse(fmt::format("A x = b needs a square operator, this one is {} x {}", a->rows, a->cols));
  }
  s.op = std::move(a);
  s.order.name = s.report.order.name = "none";
  s.report.format = s.op->name();
  s.report.format_bytes = s.op->bytes();
  s.report.notes.emplace_back(
      "an operator without a matrix: symmetry, diagonal and values cannot be looked at before the "
      "solve");
  if (m) {
    s.own_m = std::move(m);
    s.report.preconditioner = s.own_m->name();
    return;
  }
  std::string name = s.options.preconditioner;
  if ((name == "jacobi" && !s.options.strict) || name == "auto") {
    s.report.notes.push_back(fmt::format("{} needs a matrix: none is used", name));
    name = "none";
  }
  s.m = make_preconditioner<T, Exec>(name, {nullptr, s.op.get(), s.options.preconditioner_options});
  s.describe_preconditioner(s.report);
}

template <class T>
Solver<T>::~Solver() = default;
template <class T>
Solver<T>::Solver(Solver&&) noexcept = default;
template <class T>
Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;

template <class T>
std::vector<SolveResult> Solver<T>::solve_columns(const ColumnsRef& b, const ColumnsRef& x) const {
  const Region region("krysol::solve");
  const State& s = *state_;
  check_columns("krysol::solve", rows(), b, x);
  std::vector<SolveResult> all;
  std::vector<std::optional<ChosenSolve>> chosen(static_cast<std::size_t>(b.cols));
  for (std::int64_t c = 0; c < b.cols; ++c) {
    all.push_back(s.solve_column(b, x, c, chosen[static_cast<std::size_t>(c)]));
  }
  const std::lock_guard lock(s.reporting);
  for (const std::optional<ChosenSolve>& c : chosen) {
    if (c) state_->describe_choice(*c, state_->report);
  }
  if (s.late) state_->describe_late(*s.late, state_->report);
  state_->report.solved = !s.refused && !all.empty();
  for (const SolveResult& r : all) {
    if (&r == &all.back() || !r.converged()) state_->report.result = r;
    if (!r.converged()) break;
  }
  return all;
}

template <class T>
void Solver<T>::multiply_column(const ColumnsRef& x, const ColumnsRef& y) const {
  const Region region("krysol::multiply");
  const State& s = *state_;
  check_columns("krysol::Solver::multiply", rows(), x, y);
  if (s.refused || !s.op) refuse("the matrix was refused, and no format was made to multiply with");
  for (std::int64_t c = 0; c < x.cols; ++c) {
    const Vector<T> from = gathered<T>(x, c, s.places, false);
    const Vector<T> to = uninitialized<T>(Exec{}, "y", rows());
    apply(Exec{}, T(1), *s.op, ConstVector<T>(from), T(0), to);
    scatter<T>(to, s.places, y, c);
  }
}

template <class T>
void Solver<T>::update_values(const ScalarsRef& values, bool unusable) {
  State& s = *state_;
  if (unusable) refuse("values of a matrix must be contiguous and in memory of the host");
  if (s.input.csr.row_ptr.extent(0) == 0) refuse("an operator without a matrix has no values");
  MatrixInput<T> in = s.input;
  in.passes.clear();
  const bool same = s.input.shares_values && values.data == s.input.values.data;
  in.csr.values = converted_values(s.input, values, same);
  in.shares_values = same;
  if (!same) in.values = {};
  s.update(std::move(in));
}

template <class T>
void Solver<T>::update_shared() {
  const State& s = *state_;
  if (!s.input.shares_values) {
    refuse("update() takes the values of shared arrays, but these were copied: give the values");
  }
  update_values(s.input.values, false);
}

template <class T>
void Solver<T>::update_matrix(const CsrArrays& a) {
  State& s = *state_;
  MatrixInput<T> in = matrix_input<T>(a);
  if (in.adjoint != s.input.adjoint || !same_pattern(in.csr, s.input.csr)) {
    refuse("the matrix has another pattern than the one that was set up: make a new Solver");
  }
  s.update(std::move(in));
}

template <class T>
Index Solver<T>::rows() const {
  return state_->op ? state_->op->rows : state_->input.csr.rows;
}

template <class T>
SolveReport Solver<T>::report() const {
  const std::lock_guard lock(state_->reporting);
  return state_->report;
}

template <class T>
void Solver<T>::set_stop(const StoppingCriteria& stop) {
  check_stopping(stop);
  state_->options.stop = state_->report.stop = stop;
}

template <class T>
void Solver<T>::set_observer(const Observer& observer) {
  state_->options.observer = observer;
}

template class Solver<double>;
template class Solver<Kokkos::complex<double>>;

}  // namespace krysol
