// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/choice/preconditioner_choice.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <krysol/solver/choice/joined_results.hpp>
#include <krysol/solver/cholesky/cholesky.hpp>
#include <krysol/solver/coarsening/box_grid.hpp>
#include <krysol/spmv/base/spaces.hpp>
#include <krysol/spmv/kernels/padding.hpp>
#include <krysol/spmv/order/cuthill_mckee.hpp>

namespace krysol {
namespace {

constexpr double margin = 0.8;   // of the cost of going on: predictions are no better than that
constexpr double least = 6e7;    // cost of what is left: some milliseconds are worth no choice
constexpr double much_more = 3;  // may be left later than now: what pays then is remembered
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What is left of the criteria for a solve that goes on.
StoppingCriteria rest_of(StoppingCriteria stop, std::int64_t rows, const SolveResult& done,
                         double seconds) {
  const std::int64_t most = stop.max_iterations > 0 ? stop.max_iterations : 10 * rows;
  stop.max_iterations = std::max<std::int64_t>(1, most - done.iterations);
  if (stop.time_limit_s > 0) stop.time_limit_s = std::max(1e-9, stop.time_limit_s - seconds);
  return stop;
}

/// Progress of a solve that went on after so many iterations, for its caller.
Progress counted_on(Progress p, std::int64_t before, const Kokkos::Timer& clock) {
  p.iteration += before;
  p.seconds = clock.seconds();
  return p;
}

/// What became of iterations with a preconditioner; and `all`, which they went on from.
void record(SolveResult r, bool first, PreconditionerTrial& trial, SolveResult& all) {
  trial.iterations = r.iterations;
  trial.seconds = r.seconds;
  trial.first_residual = r.initial_residual;
  trial.last_residual = r.residual;
  if (first) {
    all = std::move(r);
  } else {
    choice::join(all, std::move(r));
  }
}

/// The grid that the rows are the nodes of, of one to three unknowns.
struct GridOfNodes {
  multigrid::BoxGrid grid;
  Index block = 1;
};

template <class T>
std::optional<GridOfNodes> grid_of_nodes(const HostCsr<T>& a) {
  for (Index block = 1; block <= 3; ++block) {
    if (a.rows % block != 0) continue;
    const auto grid = multigrid::box_grid(a.row_ptr.data(), a.col_idx.data(), a.rows, block);
    if (grid) return GridOfNodes{*grid, block};
  }
  return std::nullopt;
}

/// About the least multiplications that a factorization takes in three dimensions: five times those
/// for a plane across the grid, as often as there are cubes beside each other along its longest
/// direction (7 times for the 7-point star on 30^3, 40 for a beam of 10 x 10 x 40 hexahedra). 0
/// elsewhere: it may be cheap.
double least_multiplications(const std::optional<GridOfNodes>& nodes) {
  if (!nodes || nodes->grid.dimensions < 3) return 0;
  std::array<Index, 3> n = nodes->grid.nodes;
  std::sort(n.begin(), n.end());
  const double plane = static_cast<double>(nodes->block) * n[0] * n[1];
  return 5 * plane * plane * plane * n[2] / n[1];
}

/// The same for other meshes: those for one separator, taken for full. 0 where rows have few
/// entries, or a few have many: levels of trees and of networks with hubs are wide, and what
/// separates them is not.
template <class T>
double least_multiplications_of_mesh(const HostCsr<T>& a) {
  constexpr double of_a_mesh = 7;  // nonzeros a row
  constexpr double of_a_hub = 8;   // times as many
  const double mean = static_cast<double>(a.nnz()) / std::max<double>(a.rows, 1);
  if (mean < of_a_mesh || static_cast<double>(longest_row(a)) > of_a_hub * mean) return 0;
  const double width = mean_level_width(a.row_ptr.data(), a.col_idx.data(), a.rows);
  return width * width * width;
}

}  // namespace

template <class T>
double positive_off_diagonal(const HostCsr<T>& a) {
  struct Sums {
    double all = 0;
    double positive = 0;
  };
  constexpr std::int64_t step = 4096;  // rows: no bit depends on the number of threads
  const EqualBlocks pieces{a.rows, step};
  std::vector<Sums> parts(static_cast<std::size_t>(pieces.count()));
  host_for("krysol::choice(signs)", pieces.count(), [&](std::int64_t p) {
    Sums sums;
    for (std::int64_t i = pieces.first(p); i < pieces.last(p); ++i) {
      for (Offset k = a.row_ptr.data()[i]; k < a.row_ptr.data()[i + 1]; ++k) {
        if (a.col_idx.data()[k] == i) continue;
        const auto v = static_cast<double>(real_part(a.values.data()[k]));
        sums.all += std::abs(v);
        sums.positive += std::max(v, 0.0);
      }
    }
    parts[static_cast<std::size_t>(p)] = sums;
  });
  Sums sums;
  for (const Sums& part : parts) {
    sums.all += part.all;
    sums.positive += part.positive;
  }
  return sums.all > 0 ? sums.positive / sums.all : 0;
}

template <class T>
PreconditionerChoice<T>::PreconditionerChoice(const HostCsr<T>& a,
                                              std::shared_ptr<const Operator<T>> op,
                                              std::shared_ptr<LateFormat<T>> late,
                                              std::vector<PreconditionerStage> stages, bool strict,
                                              std::shared_ptr<const NearNullVectors> near_null)
    : a_(a),
      op_(std::move(op)),
      late_(std::move(late)),
      stages_(std::move(stages)),
      strict_(strict),
      near_null_(std::move(near_null)) {
  const std::string name = stages_.empty() ? "jacobi" : stages_.front().name;
  first_ =
      std::make_shared<Made>(make_preconditioner<T, Exec>(name, {&a_, op_.get(), {}, near_null_}));
  current_ = in_use(first_);
  candidates_ = {{"cholesky"}, {"amg"}};
}

template <class T>
void PreconditionerChoice<T>::update(const HostCsr<T>& a, std::shared_ptr<const Operator<T>> op,
                                     std::shared_ptr<LateFormat<T>> late) {
  const std::lock_guard lock(mutex_);
  update_preconditioner<T, Exec>(*first_, a, op.get());  // all that may throw
  a_ = a;
  op_ = std::move(op);
  late_ = std::move(late);
  seen_.reset();
  of_stage_.clear();
  InUse still;
  for (Candidate& c : candidates_) {
    std::shared_ptr<Made> used;
    if (c.made.made && c.made.made == current_.made) used = c.made.made;
    c = {c.name};
    if (!used) continue;
    current_ = {};
    try {
      update_preconditioner<T, Exec>(*used, a, op_.get());
      if (used->used == c.name) still = c.made = in_use(std::move(used));
    } catch (const std::bad_alloc&) {  // it is made anew where it pays and there is room
    }
  }
  current_ = still.made ? still : in_use(first_);
}

template <class T>
choice::SystemSize PreconditionerChoice<T>::size() const {
  choice::SystemSize n{static_cast<double>(a_.rows), static_cast<double>(a_.nnz()), sizeof(T),
                       static_cast<double>(op_->bytes())};
  n.on_host = on_host<Exec>;
  return n;
}

template <class T>
typename PreconditionerChoice<T>::InUse PreconditionerChoice<T>::in_use(
    std::shared_ptr<Made> made) const {
  const double applied = made->m->is_diagonal() ? 0 : made->m->bytes();
  return {std::move(made), choice::iteration_cost(size(), applied)};
}

/// Makes a candidate; where it is refused, or there is no memory for it, that is its outcome.
template <class T>
typename PreconditionerChoice<T>::InUse PreconditionerChoice<T>::made_now(
    Candidate& c, PreconditionerTrial& trial) {
  const Kokkos::Timer timer;
  std::shared_ptr<Made> made;
  try {
    if (c.name == "cholesky") {
      Cholesky<T, Exec> m(a_, *std::exchange(elimination_, std::nullopt));
      Made described;
      const SetupNote note = m.setup_note();
      described.m = std::make_unique<PreconditionerOf<Cholesky<T, Exec>, T, Exec>>(std::move(m));
      described.note = note.remedy;
      described.requested = described.used = c.name;
      made = std::make_shared<Made>(std::move(described));
    } else {
      made = std::make_shared<Made>(
          make_preconditioner<T, Exec>(c.name, {&a_, op_.get(), {}, near_null_}));
    }
    Exec{}.fence();
    if (made->used != c.name) trial.outcome = "not made: " + made->refusal;
  } catch (const PreconditionerRefusal& refused) {
    trial.outcome = fmt::format("not made: {}", refused.what());
  } catch (const std::bad_alloc& e) {
    trial.outcome = fmt::format("not made: {}", e.what());
  }
  trial.setup_seconds += timer.seconds();
  c.out = !trial.outcome.empty();
  if (c.out) return {};
  return c.made = in_use(std::move(made));
}

/// The order of a factorization, which says what that would cost: kept where it might pay if there
/// was much more left.
template <class T>
void PreconditionerChoice<T>::order_rows(double remaining,
                                         std::vector<PreconditionerTrial>& trials) {
  Candidate& factors = candidates_.front();
  PreconditionerTrial trial;
  trial.name = factors.name;
  trial.cost_without = remaining;
  trial.outcome = "ordered";
  const double most_entries = choice::entries_worth(size(), much_more * remaining);
  const Kokkos::Timer timer;
  try {
    elimination_ =
        sparse_cholesky::eliminate(a_.row_ptr.data(), a_.col_idx.data(), a_.rows, most_entries);
    if (elimination_) {
      const choice::Cost cost = choice::cholesky_cost(size(), *elimination_);
      trial.predicted_cost = cost.total();
      trial.predicted_iterations = cost.iterations;
    } else {
      too_much_fill_at_ = remaining;
      trial.predicted_cost = unlimited;
      trial.outcome =
          fmt::format("not made: its factor would have more than {:.3g} entries", most_entries);
    }
  } catch (const std::exception& e) {  // std::bad_alloc, std::invalid_argument
    factors.out = true;
    trial.outcome = fmt::format("not made: {}", e.what());
  }
  trial.setup_seconds = timer.seconds();
  trials.insert(trials.end() - 1, trial);
}

/// Whether a factorization may still be thought of, whose order is not known.
template <class T>
bool PreconditionerChoice<T>::may_be_ordered(double remaining) const {
  const Candidate& factors = candidates_.front();
  return !factors.out && !factors.made.made && !elimination_ &&
         remaining > much_more * too_much_fill_at_;
}

/// What one costs at least whose order is not known.
template <class T>
double PreconditionerChoice<T>::least_of_factorization() const {
  return std::max(2 * choice::elimination_cost(size()),
                  choice::multiplications_cost(size(), seen_->least_flops));
}

/// Multiplications that are made with what is in use, if predictions hold: all that are left, or
/// those before another preconditioner costs less because so much was spent. After better_than.
template <class T>
double PreconditionerChoice<T>::products_ahead(double remaining, double spent, const InUse& now) {
  const std::lock_guard lock(mutex_);
  double least_of_others = unlimited;
  for (const Candidate& c : candidates_) {
    if (c.out || c.made.made == now.made) continue;
    const bool known = c.name != candidates_.front().name || elimination_;
    if (known) {
      least_of_others = std::min(least_of_others, c.cost.total());
    } else if (may_be_ordered(remaining)) {
      least_of_others = std::min(least_of_others, least_of_factorization());
    }
  }
  double ahead = remaining;
  if (choice::price_of(least_of_others, unlimited) < margin * remaining) {
    ahead = std::clamp(least_of_others - spent - margin * remaining, 0.0, remaining);
  }
  return ahead / now.iteration;
}

/// The cheapest candidate, made, where one is predicted to cost less than `remaining`, after
/// `spent` on what is in use, and its setup no more than `most_setup`. The last of `trials` is of
/// what is in use now, and then of what is returned.
template <class T>
typename PreconditionerChoice<T>::InUse PreconditionerChoice<T>::better_than(
    double remaining, double spent, double most_setup, const InUse& now,
    std::vector<PreconditionerTrial>& trials) {
  const std::lock_guard lock(mutex_);
  if (!seen_) {
    const auto nodes = grid_of_nodes(a_);
    seen_ = Seen{positive_off_diagonal(a_), least_multiplications(nodes),
                 nodes && !is_complex<T> ? nodes->block : 0};
  }
  // What multigrid may turn out to take; a factorization is known, and so is multigrid on grids.
  const double guess = seen_->grid == 0 ? 1.5 : 1;
  choice::SystemSize n = size();
  n.positive_off_diagonal = seen_->positive_off_diagonal;
  n.grid = seen_->grid;
  Candidate& factors = candidates_.front();
  Candidate& levels = candidates_.back();
  levels.cost = choice::multigrid_cost(n);
  // The order alone may take longer than all that others do, and says whether the rest pays.
  const bool levels_open = !levels.out && levels.made.made != now.made;
  const double others = levels_open ? std::min(remaining, guess * levels.cost.total()) : remaining;
  const auto order_may_pay = [&] {
    return may_be_ordered(remaining) && choice::elimination_cost(n) < most_setup &&
           choice::price_of(least_of_factorization(), spent) < margin * others;
  };
  if (order_may_pay() && !seen_->knows_meshes) {  // takes little beside the order
    seen_->knows_meshes = true;
    if (seen_->least_flops == 0) seen_->least_flops = least_multiplications_of_mesh(a_);
  }
  if (order_may_pay()) order_rows(remaining, trials);
  if (elimination_) factors.cost = choice::cholesky_cost(n, *elimination_);
  Candidate* best = nullptr;
  for (Candidate& c : candidates_) {
    const bool known = c.made.made || c.name != factors.name || elimination_;
    if (c.out || !known || c.made.made == now.made) continue;
    choice::Cost cost = c.cost;
    if (c.made.made) cost.setup = 0;
    if (cost.setup <= most_setup &&
        choice::price_of((&c == &levels ? guess : 1) * cost.total(), spent) < margin * remaining &&
        (best == nullptr || guess * cost.total() < best->cost.total())) {  // multigrid is last
      best = &c;
    }
  }
  if (best == nullptr) return {};
  PreconditionerTrial trial;
  if (best->made.made) {  // in an earlier solve
    trial.name = best->name;
    trial.cost_without = remaining;
    trials.push_back(trial);
    return best->made;
  }
  const auto ordered = std::find_if(trials.begin(), trials.end(), [&](const auto& t) {
    return t.name == best->name && t.outcome == "ordered";
  });
  if (ordered != trials.end()) {
    trial.setup_seconds = ordered->setup_seconds;
    trials.erase(ordered);
  }
  trial.name = best->name;
  trial.predicted_cost = best->cost.total();
  trial.predicted_iterations = best->cost.iterations;
  trial.cost_without = remaining;
  InUse made = made_now(*best, trial);
  if (made.made) {
    trials.push_back(trial);  // of the iterations that follow
  } else {
    trials.insert(trials.end() - 1, trial);
  }
  return made;
}

/// Sees each iteration with one preconditioner, and whether another would be better.
template <class T>
class PreconditionerChoice<T>::Watch {
 public:
  InUse now;
  InUse next{};               // to go on with
  bool stopped = false;       // by the caller's observer
  double setup_seconds = 0;   // of what was made in the meantime
  double format_seconds = 0;  // likewise, of choosing a format
  double predicted_left = 0;  // cost of what was left when it was last looked at

  Watch(PreconditionerChoice& choice, InUse with, const Observer& observer, std::int64_t before,
        const Kokkos::Timer& clock, const StoppingCriteria& rest,
        std::vector<PreconditionerTrial>& trials, const InUse* back, double cost_of_back)
      : now(std::move(with)),
        choice_(choice),
        observer_(observer),
        before_(before),
        clock_(clock),
        rest_(rest),
        trials_(trials),
        back_(back),
        cost_of_back_(cost_of_back) {}

  bool operator()(const Progress& p) {
    if (observer_) {
      stopped = !observer_(counted_on(p, before_, clock_));
      if (stopped) return false;
    }
    if (p.iteration < next_look_ || p.iterations_left < 0) return true;
    next_look_ = p.iteration + std::max<std::int64_t>(1, p.iteration / 8);
    // Without rounding CG ends after as many iterations as there are rows.
    const std::int64_t left =
        std::min({p.iterations_left, 3 * std::int64_t{choice_.a_.rows},
                  rest_.max_iterations > 0 ? rest_.max_iterations - p.iteration
                                           : std::numeric_limits<std::int64_t>::max()});
    predicted_left = static_cast<double>(left) * now.iteration;
    const double per_second = static_cast<double>(p.iteration) * now.iteration /
                              std::max(1e-9, p.seconds - setup_seconds - format_seconds);
    const double most_setup =
        rest_.time_limit_s > 0 ? (rest_.time_limit_s - p.seconds) * per_second : unlimited;
    if (predicted_left < least) return true;
    const Kokkos::Timer timer;
    const std::size_t made = trials_.size();
    const double spent = static_cast<double>(p.iteration) * now.iteration;
    next = choice_.better_than(predicted_left, spent, most_setup, now, trials_);
    if (trials_.size() != made || next.made) setup_seconds += timer.seconds();
    if (next.made) return false;
    // As good as the one before, had that gone on?
    if (back_ != nullptr && cost_of_back_ < margin * margin * predicted_left) {
      next = *back_;
      PreconditionerTrial trial;
      trial.name = next.made->used;
      trial.cost_without = predicted_left;
      trials_.push_back(trial);
      return false;
    }
    if (choice_.late_ && !choice_.late_->chosen()) choose_format(spent);
    return true;
  }

 private:
  void choose_format(double spent) {
    const Kokkos::Timer timer;
    choice_.late_->expect(choice_.products_ahead(predicted_left, spent, now));
    if (!choice_.late_->chosen()) return;
    format_seconds += timer.seconds();
    now = choice_.in_use(now.made);  // iterations cost less from here on
  }

  PreconditionerChoice& choice_;
  const Observer& observer_;
  std::int64_t before_;
  const Kokkos::Timer& clock_;
  const StoppingCriteria& rest_;
  std::vector<PreconditionerTrial>& trials_;
  const InUse* back_;
  double cost_of_back_;
  std::int64_t next_look_ = 12;
};

template <class T>
ChosenSolve PreconditionerChoice<T>::solve(const ConstVector<T, Exec>& b, const Vector<T, Exec>& x,
                                           const StoppingCriteria& stop, const Observer& observer,
                                           const NamedOptions& options) {
  if (!stages_.empty()) return solve_by_stages(b, x, stop, observer, options);
  ChosenSolve out;
  Workspace<T, Exec> workspace;
  const Exec exec;
  InUse now;
  {
    const std::lock_guard lock(mutex_);
    now = current_;
  }
  InUse back;
  double cost_of_back = 0;
  StoppingCriteria rest = stop;
  out.trials.emplace_back();
  out.trials.back().name = now.made->used;
  const Kokkos::Timer timer;
  if (late_ && !late_->chosen()) {
    late_->expect_as_many_again();
    if (late_->chosen()) {
      out.format_seconds = timer.seconds();
      now = in_use(now.made);
    }
  }
  for (bool begun = false;; begun = true) {
    Watch watch(*this, now, observer, out.result.iterations, timer, rest, out.trials,
                back.made ? &back : nullptr, cost_of_back);
    SolveResult r = krysol::solve<T, Exec>(
        "cg", exec, *op_, b, x, *now.made->m, rest, [&](const Progress& p) { return watch(p); },
        options, &workspace);
    now = watch.now;
    r.seconds -= watch.setup_seconds + watch.format_seconds;
    out.setup_seconds += watch.setup_seconds;
    out.format_seconds += watch.format_seconds;
    // Trials of what was only looked at stand before that of what is in use.
    PreconditionerTrial& trial = out.trials[out.trials.size() - (watch.next.made ? 2 : 1)];
    record(std::move(r), !begun, trial, out.result);
    const Status status = out.result.status;
    const bool bad = status == Status::indefinite_preconditioner && now.made != first_;
    if (status == Status::interrupted && watch.next.made && !watch.stopped) {
      trial.outcome = fmt::format("left for {}", watch.next.made->used);
    } else if (bad) {
      trial.outcome = "not positive definite, left for jacobi";
      watch.next = in_use(first_);
      PreconditionerTrial again;
      again.name = first_->used;
      out.trials.push_back(again);
    } else {
      trial.outcome = to_string(status);
      if (watch.next.made) out.trials.back().outcome = "not needed";
      break;
    }
    const bool returns = watch.next.made == back.made || bad;
    {
      const std::lock_guard lock(mutex_);
      for (Candidate& c : candidates_) {  // what was left is not taken again
        if (!c.made.made || c.made.made != now.made) continue;
        c.out = true;
        c.made = {};
      }
    }
    back = returns ? InUse{} : now;
    cost_of_back = watch.predicted_left;
    now = watch.next;
    rest = rest_of(stop, op_->rows, out.result, timer.seconds());
  }
  out.used = now.made->used;
  out.facts = now.made->m->report();
  const std::lock_guard lock(mutex_);
  current_ = now;
  return out;
}

/// Stage s, made once until the values change.
template <class T>
std::shared_ptr<MadePreconditioner<T, Kokkos::DefaultExecutionSpace>>
PreconditionerChoice<T>::stage(std::size_t s) {
  const std::lock_guard lock(mutex_);
  of_stage_.resize(stages_.size());
  if (!of_stage_[s]) {
    of_stage_[s] = std::make_shared<Made>(
        make_preconditioner<T, Exec>(stages_[s].name, {&a_, op_.get(), {}, near_null_}));
    Exec{}.fence();
  }
  if (strict_ && !of_stage_[s]->refusal.empty()) {
    throw std::invalid_argument(of_stage_[s]->refusal + "; strict takes nothing in its place");
  }
  return of_stage_[s];
}

/// As it was told to.
template <class T>
ChosenSolve PreconditionerChoice<T>::solve_by_stages(const ConstVector<T, Exec>& b,
                                                     const Vector<T, Exec>& x,
                                                     const StoppingCriteria& stop,
                                                     const Observer& observer,
                                                     const NamedOptions& options) {
  ChosenSolve out;
  Workspace<T, Exec> workspace;
  const Exec exec;
  const Kokkos::Timer timer;
  std::shared_ptr<Made> made = first_;
  StoppingCriteria rest = stop;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    PreconditionerTrial trial;
    if (s > 0) {
      const Kokkos::Timer setup;
      made = stage(s);
      trial.setup_seconds = setup.seconds();
      out.setup_seconds += trial.setup_seconds;
    }
    trial.name = made->used;
    const std::int64_t before = out.result.iterations;
    const std::int64_t last = stages_[s].iterations;
    bool stopped = false;
    SolveResult r = krysol::solve<T, Exec>(
        "cg", exec, *op_, b, x, *made->m, rest,
        [&](const Progress& p) {
          if (observer) stopped = !observer(counted_on(p, before, timer));
          return !stopped && (last == 0 || p.iteration < last);
        },
        options, &workspace);
    record(std::move(r), s == 0, trial, out.result);
    const Status status = out.result.status;
    const bool goes_on = status == Status::interrupted && !stopped && s + 1 < stages_.size();
    trial.outcome =
        goes_on ? fmt::format("left for {}", stages_[s + 1].name) : std::string(to_string(status));
    if (!made->note.empty()) trial.outcome += "; " + made->note;
    out.trials.push_back(trial);
    if (!goes_on) break;
    rest = rest_of(stop, op_->rows, out.result, timer.seconds());
  }
  out.used = made->used;
  out.facts = made->m->report();
  return out;
}

template double positive_off_diagonal(const HostCsr<double>&);
template double positive_off_diagonal(const HostCsr<Kokkos::complex<double>>&);
template class PreconditionerChoice<double>;
template class PreconditionerChoice<Kokkos::complex<double>>;

}  // namespace krysol
