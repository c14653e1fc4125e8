// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/solver/interface/checked_options.hpp>

#include <algorithm>

#include <fmt/core.h>
#include <krysol/solver/choice/preconditioner_stages.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/base/finite.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include <krysol/spmv/select/formats.hpp>
#include <krysol/spmv/select/select.hpp>

namespace krysol {
namespace {

[[noreturn]] void refuse_option(const std::string& what) {
  throw std::invalid_argument("krysol::solve: " + what);
}

void check_at_least(std::string_view name, double v, double lowest) {
  if (!is_finite(v) || v < lowest) {
    refuse_option(fmt::format("{} is {}; it must be a finite number from {}", name, v, lowest));
  }
}

template <class Entries>
void check_name(std::string_view kind, std::string_view name, const Entries& entries) {
  std::string known;
  for (const auto& e : entries) {
    if (e.name == name) return;
    known += fmt::format(" {}", e.name);
  }
  throw std::invalid_argument(fmt::format("unknown {} '{}'; known:{}", kind, name, known));
}

/// Whether amg is, or may become, the preconditioner.
bool may_use_multigrid(const SolveOptions& o) {
  if (base_of(o.preconditioner) == "amg") return true;
  if (!is_auto(o) || !may_choose(o)) return false;
  const auto stages = preconditioner_stages(o.preconditioner, o.preconditioner_options);
  return stages.empty() || std::any_of(stages.begin(), stages.end(), [](const auto& stage) {
           return base_of(stage.name) == "amg";
         });
}

}  // namespace

void check_stopping(const StoppingCriteria& stop) {
  check_at_least("stop.rtol", stop.rtol, 0);
  check_at_least("stop.atol", stop.atol, 0);
  check_at_least("stop.time_limit_s", stop.time_limit_s, 0);
  if (stop.max_iterations < 0) {
    refuse_option(fmt::format("stop.max_iterations is {}; 0 stands for ten times the rows",
                              stop.max_iterations));
  }
}

bool is_auto(const SolveOptions& o) { return base_of(o.preconditioner) == "auto"; }

bool may_choose(const SolveOptions& o) {
  const auto bound = o.solver_options.find("lambda_min");
  return base_of(o.solver) == "cg" && (bound == o.solver_options.end() || bound->second == "0");
}

void check_options(const SolveOptions& o) {
  check_stopping(o.stop);
  check_at_least("expected_products", o.expected_products, 0);
  method_traits(o.solver);  // throws for a name that is unknown
  check_name("order", o.order, list_orders());
  auto preconditioners = list_preconditioners();
  preconditioners.push_back({"auto", {}});
  check_name("preconditioner", base_of(o.preconditioner), preconditioners);
  if (is_auto(o)) preconditioner_stages(o.preconditioner, o.preconditioner_options);
  if (o.near_null && !may_use_multigrid(o)) {
    refuse_option(
        fmt::format("near-null vectors go with the preconditioners auto and amg, not {}",
                    is_auto(o) ? o.preconditioner + " as it is used here" : o.preconditioner));
  }
  if (o.project && !method_traits(o.solver).needs_definiteness) {
    refuse_option(fmt::format(
        "project goes with cg, which looks for null vectors; {} takes b as it is", o.solver));
  }
  auto formats = list_formats();
  formats.push_back({"auto", {}, {}});
  check_name("format", base_of(o.format), formats);
}

bool may_choose_late(const SolveOptions& o) {
  return o.format == "auto" && o.preconditioner == "auto" && may_choose(o) &&
         o.expected_products == 0 && !o.tuning && !o.keep_tuning;
}

double expected_products(const SolveOptions& o) {
  if (o.expected_products > 0) return o.expected_products;
  constexpr double before_another_preconditioner = 150;
  const double usual =
      may_choose_late(o) ? before_another_preconditioner : SelectOptions{}.products;
  return o.stop.max_iterations == 0 ? usual
                                    : std::min(usual, static_cast<double>(o.stop.max_iterations));
}

std::string order_of_rows(const SolveOptions& o) {
  return o.near_null && o.order == "auto" ? "none" : o.order;
}

std::shared_ptr<const NearNullVectors> near_null_of(const SolveOptions& o, Index rows,
                                                    const std::vector<Index>& order) {
  if (!o.near_null) return {};
  check_near_null(*o.near_null, rows);
  if (order.empty()) return o.near_null;
  return std::make_shared<const NearNullVectors>(reordered(*o.near_null, order));
}

}  // namespace krysol
