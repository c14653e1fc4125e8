// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/multigrid/multigrid.hpp>

#include <fmt/core.h>
#include <krysol/solver/multigrid/level_scaling.hpp>
#include <krysol/solver/precond/jacobi.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace krysol {
namespace {

template <class W>
std::vector<SetupFact> facts_of(const multigrid::HostHierarchy<W>& h, int degree) {
  const auto of_first = [](double v, double first) {
    return fmt::format("{:.2f}", first > 0 ? v / first : 1.0);
  };
  double rows = 0;
  double nnz = 0;
  for (const auto& level : h.levels) {
    rows += level.a.rows;
    nnz += static_cast<double>(level.a.nnz());
  }
  const auto& first = h.levels.front().a;
  std::vector<SetupFact> facts = {
      {"levels", std::to_string(h.levels.size())},
      {"coarsening", h.grid ? "grids" : "smoothed aggregation"},
      {"products of a smoother", std::to_string(degree)},
      {"rows a node", std::to_string(h.block)},
      {"near-null vectors", std::to_string(h.near_null)},
      {"rows of all levels over those of the first", of_first(rows, first.rows)},
      {"nonzeros of all levels over those of the first",
       of_first(nnz, static_cast<double>(first.nnz()))}};
  return facts;
}

template <class Levels>
void add_levels(const Levels& levels, std::vector<SetupFact>& facts) {
  int l = 0;
  for (const auto& level : levels) {
    facts.push_back({fmt::format("level {}", ++l),
                     fmt::format("{} rows, {} nonzeros, {}, {:.1f} MB, eigenvalues below {:.2f}",
                                 level.a.rows(), level.a.nnz(), level.a.name(),
                                 static_cast<double>(level.a.bytes()) / 1e6, level.largest)});
  }
}

void add_seconds(const multigrid::SetupSeconds& s, std::vector<SetupFact>& facts) {
  facts.push_back(
      {"seconds of the setup",
       fmt::format(
           "strength {:.3f}, aggregation {:.3f}, prolongation {:.3f}, products {:.3f}, scaling "
           "{:.3f}, bounds {:.3f}, coarsest level {:.3f}, formats {:.3f}",
           s.strength, s.aggregation, s.prolongation, s.product, s.scaling, s.bounds, s.coarsest,
           s.conversion)});
}

/// How it would be said that something was done in another way than asked.
template <class W>
SetupNote note_of(const multigrid::HostHierarchy<W>& h) {
  SetupNote note;
  const auto last = h.levels.back().a.rows;
  if (!h.stalled.empty() && h.inverse.extent(0) == 0) {
    note.refusal = fmt::format("amg: {}", h.stalled);
    note.remedy = fmt::format("the last level has {} rows and is smoothed, not solved", last);
  } else if (h.null_space > 0) {
    note.remedy =
        fmt::format("amg: the last level is singular; {} of its {} directions are left out",
                    h.null_space, last);
  }
  return note;
}

}  // namespace

#ifndef KRYSOL_FOR_FLOAT
MultigridOptions MultigridOptions::read(std::string_view name, const NamedOptions& options) {
  const OptionReader reader(
      "preconditioner", name, options,
      {"cycle", "degree", "strength", "block", "coarsest", "precision", "coarsening"});
  MultigridOptions o;
  o.cycle.visits = reader.one_of("cycle", {"v", "w"}) == 1 ? 2 : 1;
  o.cycle.degree = reader.whole_number_to("degree", 16, o.cycle.degree);
  o.levels.strength = reader.number_from("strength", 0, 1, o.levels.strength);
  o.levels.block = reader.whole_number_to("block", 64, 0);
  o.levels.coarsest = reader.whole_number_to("coarsest", 2000, o.levels.coarsest);
  o.levels.coarsening = reader.one_of("coarsening", {"auto", "aggregates"}) == 1
                            ? multigrid::Coarsening::aggregates
                            : multigrid::Coarsening::automatic;
  o.in_double = reader.one_of("precision", {"float", "double"}) == 1;
  return o;
}
#endif

template <class T, class Exec>
Multigrid<T, Exec>::Multigrid(const HostCsr<T>& a, const MultigridOptions& options,
                              std::string_view format)
    : options_(options), grid_(format == "stencil" || format == "stencil_pattern") {
  multigrid::HostHierarchy<StoredInDouble> host =
      multigrid::make_hierarchy(multigrid::scaled_entries<StoredInDouble>(a, {}), options.levels);
  facts_ = facts_of(host, options.cycle.degree > 0 ? options.cycle.degree : host.degree);
  note_ = note_of(host);
  Kokkos::Timer timer;
  if (options.in_double) {
    in_double_ = std::make_shared<const multigrid::Hierarchy<StoredInDouble, Exec>>(
        host, options.cycle, grid_);
    add_levels(in_double_->levels(), facts_);
  } else {
    levels_ =
        std::make_shared<const multigrid::Hierarchy<Stored, Exec>>(host, options.cycle, grid_);
    add_levels(levels_->levels(), facts_);
  }
  Exec{}.fence("krysol::multigrid(setup)");
  host.seconds.conversion = timer.seconds();
  add_seconds(host.seconds, facts_);
}

template <class T, class Exec>
void Multigrid<T, Exec>::apply(const Exec& exec, const ConstVector<T, Exec>& r,
                               const Vector<T, Exec>& z) const {
  if (in_double_) {
    in_double_->apply(exec, r, z);
  } else {
    levels_->apply(exec, r, z);
  }
}

template <class T, class Exec>
double Multigrid<T, Exec>::bytes() const {
  return in_double_ ? in_double_->bytes(sizeof(T)) : levels_->bytes(sizeof(T));
}

template <class T, class Exec>
void Multigrid<T, Exec>::update(const HostCsr<T>& a) {
  check_rows(name, static_cast<std::size_t>(in_double_ ? in_double_->rows() : levels_->rows()), a);
  *this = Multigrid(a, options_, grid_ ? "stencil" : "");
}

#define KRYSOL_INSTANTIATE(T, Exec) template class Multigrid<T, Exec>;
KRYSOL_FOR_EACH_SOLVED_ENTRY_AND_SPACE(KRYSOL_INSTANTIATE)
#undef KRYSOL_INSTANTIATE

}  // namespace krysol
