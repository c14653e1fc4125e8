// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include <krysol/report/choice_report.hpp>
#include <krysol/report/report.hpp>

#include <cmath>

namespace krysol::report {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const Counter& w) {
  return {{"seconds", w.seconds}, {"calls", w.calls}, {"bytes", w.bytes}};
}

/// A real number where the imaginary part is zero, else [re, im].
Json as_json(const std::complex<double>& v) {
  if (v.imag() == 0) return v.real();
  return Json::array({v.real(), v.imag()});
}

Json as_json(const MatrixSummary& m) {
  return {{"file", m.file},
          {"member", m.member},
          {"file_bytes", m.file_bytes},
          {"field", m.field},
          {"declared_symmetry", m.symmetry},
          {"stored_entries", m.stored_entries},
          {"duplicates", m.duplicates},
          {"explicit_zeros", m.explicit_zeros},
          {"repairs", m.repairs},
          {"rows", m.rows},
          {"cols", m.cols},
          {"nonzeros", m.nnz},
          {"shortest_row", m.shortest_row},
          {"longest_row", m.longest_row},
          {"empty_rows", m.empty_rows},
          {"symmetric", m.symmetric},
          {"asymmetry", m.asymmetry},
          {"symmetry_tolerance", m.symmetry_tolerance},
          {"diagonal",
           {{"positive", m.positive_diagonal},
            {"negative", m.negative_diagonal},
            {"zero", m.zero_diagonal},
            {"missing", m.missing_diagonal},
            {"smallest", m.smallest_diagonal},
            {"largest", m.largest_diagonal}}}};
}

Json format_of(const Report& r) {
  Json out = {{"name", r.format}, {"bytes", r.format_bytes}};
  if (r.choice) out["auto"] = choice_as_json(*r.choice);
  return out;
}

Json order_of(const OrderChoice& o) {
  return {{"name", o.name},
          {"reason", o.reason},
          {"seconds", o.seconds},
          {"bandwidth_before", o.bandwidth_before},
          {"bandwidth_after", o.bandwidth_after},
          {"speed_up", o.speed_up}};
}

/// Rows and columns count from 1 here, as in the files that they refer to.
Json breakdown(const SolveResult& s) {
  const BreakdownCertificate& e = s.breakdown;
  Json out = Json::object();
  if (s.status == Status::indefinite_matrix) {
    out["iteration"] = e.iteration;
    out["curvature"] = e.curvature;
    out["largest_rows"] = Json::array();
    for (const RowShare& share : e.largest) {
      out["largest_rows"].push_back({{"row", share.row + 1}, {"share", share.share}});
    }
  }
  if (e.row >= 0) out["row"] = e.row + 1;
  if (e.col >= 0) {
    out["col"] = e.col + 1;
    out["value"] = as_json(e.value);
    out["mirrored_value"] = as_json(e.mirrored_value);
  }
  return out;
}

Json as_json(const RitzValue& v) {
  return {{"value", v.value}, {"residual", v.residual}, {"converged", v.converged}};
}

Json as_json(const Spectrum& s) {
  if (!s.known()) return nullptr;
  Json out = {{"smallest", as_json(s.smallest)},
              {"largest", as_json(s.largest)},
              {"condition", s.condition},
              {"at_least", s.at_least},
              {"confirming_steps", s.confirming_steps},
              {"confirming_seconds", s.confirming_seconds},
              {"values", Json::array()}};
  for (const RitzValue& v : s.values) out["values"].push_back(as_json(v));
  return out;
}

Json as_json(const ErrorBounds& e) {
  return {{"lower", e.lower},
          {"delay", e.delay},
          {"upper_estimate", e.upper_estimate},
          {"upper_bound", e.upper_bound},
          {"lambda_min_refuted", e.lambda_min_refuted},
          {"solution_norm", e.solution_norm}};
}

Json outcome(const Report& r) {
  const SolveResult& s = r.result;
  Json out = {{"status", to_string(s.status)},
              {"converged", s.converged()},
              {"advice", s.advice},
              {"iterations", s.iterations},
              {"restarts", s.restarts}};
  const auto known = [&](double v) { return r.solved ? Json(v) : Json(nullptr); };
  out["residual"] = known(s.residual);
  out["initial_residual"] = known(s.initial_residual);
  out["b_norm"] = known(s.b_norm);
  out["target"] = known(s.target);
  out["null_vectors"] = r.null_vectors;
  out["outside_range"] = known(s.outside_range);
  out["attainable"] = s.attainable > 0 ? Json(s.attainable) : Json(nullptr);
  out["rounding"] = s.rounding > 0 ? Json(s.rounding) : Json(nullptr);
  out["relative_error"] = r.error ? Json(*r.error) : Json(nullptr);
  const CgInsight cg = s.cg.value_or(CgInsight{});
  out["energy_error"] = as_json(cg.error);
  out["spectrum"] = as_json(cg.spectrum);
  out["flexible"] = cg.flexible;
  out["iterations_left"] = s.iterations_left >= 0 ? Json(s.iterations_left) : Json(nullptr);
  out["seconds"] = s.seconds;
  out["breakdown"] = breakdown(s);
  return out;
}

Json facts_of(const Report& r) {
  Json out = Json::array();
  for (const auto& [name, value] : r.preconditioner_facts) {
    out.push_back({{"name", name}, {"value", value}});
  }
  return out;
}

Json choice_of_preconditioner(const Report& r) {
  if (r.trials.empty()) return nullptr;
  const auto known = [](double v) { return v > 0 && std::isfinite(v) ? Json(v) : Json(nullptr); };
  Json tried = Json::array();
  for (const PreconditionerTrial& t : r.trials) {
    tried.push_back({{"name", t.name},
                     {"predicted_cost", known(t.predicted_cost)},
                     {"predicted_iterations", known(t.predicted_iterations)},
                     {"cost_without", known(t.cost_without)},
                     {"setup_seconds", t.setup_seconds},
                     {"iterations", t.iterations},
                     {"seconds", t.seconds},
                     {"first_residual", known(t.first_residual)},
                     {"last_residual", known(t.last_residual)},
                     {"outcome", t.outcome}});
  }
  return {{"repeat", stages_as_text(r.trials)}, {"tried", tried}};
}

Json profile_of(const Report& r) {
  Json out = Json::array();
  for (const ProfileNode& n : r.profile) {
    out.push_back({{"name", n.name},
                   {"depth", n.depth},
                   {"kernel", n.kernel},
                   {"calls", n.calls},
                   {"seconds", n.seconds},
                   {"bytes", n.bytes > 0 ? Json(n.bytes) : Json(nullptr)}});
  }
  return out;
}

}  // namespace

std::string as_json(const Report& r) {
  Json out = {{"schema", "krysol/cg_solve/1"},
              {"version", r.version},
              {"backend", r.backend},
              {"device", r.device},
              {"threads", r.threads},
              {"matrix", as_json(r.matrix)},
              {"format", format_of(r)},
              {"reorder", order_of(r.order)},
              {"solver", r.solver},
              {"preconditioner", r.preconditioner},
              {"preconditioner_report", facts_of(r)},
              {"preconditioner_choice", choice_of_preconditioner(r)},
              {"rhs", r.rhs},
              {"x0", r.x0},
              {"stop",
               {{"rtol", r.stop.rtol},
                {"atol", r.stop.atol},
                {"max_iterations", r.stop.max_iterations},
                {"time_limit_s", r.stop.time_limit_s},
                {"lambda_min", r.lambda_min}}},
              {"notes", r.notes},
              {"result", outcome(r)},
              {"seconds_to_solution", r.seconds_to_solution},
              {"work",
               {{"read", as_json(r.read)},
                {"convert", as_json(r.convert)},
                {"setup", as_json(r.setup)},
                {"spmv", as_json(r.result.spmv)},
                {"vectors", as_json(r.result.vectors)},
                {"preconditioner", as_json(r.result.preconditioner)},
                {"residuals", as_json(r.result.residuals)}}}};
  if (r.bandwidth) {
    out["bandwidth"] = {{"triad_GB_per_s", r.bandwidth->triad},
                        {"read_GB_per_s", r.bandwidth->read},
                        {"array_bytes", r.bandwidth->array_bytes}};
  } else {
    out["bandwidth"] = nullptr;
  }
  if (!r.profile.empty()) out["profile"] = profile_of(r);
  // A matrix name may hold bytes that are not UTF-8; they are replaced, not fatal.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace krysol::report
