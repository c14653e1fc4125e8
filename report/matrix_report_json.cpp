// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include <krysol/report/matrix_report_text.hpp>

namespace krysol::report {
using namespace analysis;  // NOLINT(google-build-using-namespace)
namespace {

using Json = nlohmann::ordered_json;

/// From 1, or null where there is none.
Json from_one(std::int64_t index) { return index < 0 ? Json(nullptr) : Json(index + 1); }

Json as_json(const Place& p) { return {{"row", from_one(p.row)}, {"col", from_one(p.col)}}; }

Json as_json(const Tally& t) { return {{"count", t.count}, {"first", from_one(t.first)}}; }

Json as_json(const FileReport& f) {
  return {{"name", f.name},
          {"member", f.member},
          {"bytes", f.bytes},
          {"text_bytes", f.text_bytes},
          {"format", f.format},
          {"field", f.field},
          {"declared_symmetry", f.symmetry},
          {"stored_entries", f.stored_entries},
          {"duplicates", f.duplicates},
          {"explicit_zeros", f.explicit_zeros},
          {"rounded_integers", f.rounded_integers},
          {"repairs", f.repairs}};
}

Json as_json(const Lengths& l) {
  Json bins = Json::array();
  for (std::size_t k = 0; k < l.histogram.size(); ++k) {
    const std::int64_t from = k == 0 ? 0 : std::int64_t{1} << (k - 1);
    bins.push_back({{"from", from}, {"to", k == 0 ? 0 : 2 * from - 1}, {"count", l.histogram[k]}});
  }
  return {{"shortest", l.shortest},      {"longest", l.longest},     {"mean", l.mean},
          {"median", l.median},          {"deviation", l.deviation}, {"empty", as_json(l.empty)},
          {"histogram", std::move(bins)}};
}

Json as_json(const Band& b) {
  return {{"lower", b.lower},
          {"upper", b.upper},
          {"lower_profile", b.lower_profile},
          {"upper_profile", b.upper_profile},
          {"mean_distance", b.mean_distance}};
}

Json as_json(const Components& c) {
  return {{"of", c.of_rows_and_columns ? "rows and columns" : "rows"},
          {"count", c.count},
          {"largest", c.largest},
          {"isolated", c.isolated}};
}

Json as_json(const Blocks& b) {
  Json sizes = Json::array();
  for (const BlockSize& s : b.sizes) {
    sizes.push_back({{"size", s.size}, {"blocks", s.blocks}, {"full", s.full}, {"fill", s.fill}});
  }
  return {{"best", b.best}, {"sizes", std::move(sizes)}};
}

Json as_json(const Mirror& m) {
  return {{"exact", m.exact()},
          {"matched", m.matched},
          {"largest_difference", m.largest_difference},
          {"at", as_json(m.where)},
          {"relative", m.relative}};
}

Json as_json(const SymmetryProperties& s) {
  return {
      {"pattern",
       {{"exact", s.mirrored == s.off_diagonal},
        {"off_diagonal", s.off_diagonal},
        {"mirrored", s.mirrored},
        {"at", as_json(s.unmirrored)}}},
      {"symmetric", as_json(s.symmetric)},
      {"hermitian", as_json(s.hermitian)},
      {"skew_symmetric", as_json(s.skew)},
      {"nearly_hermitian",
       {{"holds", s.nearly_hermitian}, {"asymmetry", s.asymmetry}, {"at", as_json(s.asymmetric)}}}};
}

Json as_json(const Diagonal& d) {
  return {{"length", d.length},
          {"positive", d.positive},
          {"negative", as_json(d.negative)},
          {"zero", as_json(d.zero)},
          {"missing", as_json(d.missing)},
          {"not_real", as_json(d.not_real)},
          {"smallest", d.smallest},
          {"largest", d.largest},
          {"strictly_dominant", d.dominant},
          {"equal_to_rest", d.balanced},
          {"not_dominant", as_json(d.not_dominant)}};
}

Json as_json(const Values& v) {
  const Json frequent = v.frequent_imaginary == 0
                            ? Json(v.frequent_real)
                            : Json::array({v.frequent_real, v.frequent_imaginary});
  return {{"distinct", v.distinct},
          {"most_frequent", {{"value", frequent}, {"places", v.most_frequent}}},
          {"zeros", v.zeros},
          {"not_finite", v.not_finite},
          {"smallest", v.complex ? Json(nullptr) : Json(v.smallest)},
          {"largest", v.complex ? Json(nullptr) : Json(v.largest)},
          {"smallest_magnitude", v.smallest_magnitude},
          {"largest_magnitude", v.largest_magnitude},
          {"norm_1", v.norm_1},
          {"norm_inf", v.norm_inf},
          {"norm_frobenius", v.norm_frobenius}};
}

Json as_json(const RowSums& s) {
  return {{"largest", s.largest},
          {"relative", s.relative},
          {"zero", s.zero},
          {"constant_null_vector", s.null_vector}};
}

Json as_json(const Ends& e) {
  Json out = {{"steps", e.steps}, {"smallest", e.smallest}, {"largest", e.largest}};
  if (!e.singular_values) {
    out["smallest_residual"] = e.smallest_residual;
    out["largest_residual"] = e.largest_residual;
  }
  return out;
}

Json as_json(const Spectra& s) {
  Json out = {{"eigenvalues", nullptr},
              {"singular_values", nullptr},
              {"curvature", nullptr},
              {"condition_at_least", nullptr},
              {"numerically_singular", false}};
  const auto take_condition = [&](const Ends& e) {
    if (!(e.condition > 0)) return;
    out["condition_at_least"] = e.condition;  // null where it is infinite
    out["numerically_singular"] = std::isinf(e.condition);
  };
  if (s.eigenvalues) {
    out["eigenvalues"] = as_json(*s.eigenvalues);
    take_condition(*s.eigenvalues);
  }
  if (s.singular_values) {
    out["singular_values"] = as_json(*s.singular_values);
    take_condition(*s.singular_values);
  }
  if (s.negative) {
    out["curvature"] = {{"value", s.negative->value},
                        {"rounding", s.negative->rounding},
                        {"row", from_one(s.negative->row)}};
  }
  return out;
}

Json as_json(const Definiteness& d) {
  const std::string_view verdict = d.verdict == Verdict::yes  ? "yes"
                                   : d.verdict == Verdict::no ? "no"
                                                              : "open";
  return {{"verdict", verdict},
          {"reason", d.reason},
          {"at", as_json(d.place)},
          {"value", d.value},
          {"text", d.text}};
}

}  // namespace

std::string as_json(const MatrixReport& p) {
  Json out = {{"schema", "krysol/matrix_info/1"},
              {"version", p.version},
              {"threads", p.threads},
              {"file", as_json(p.file)},
              {"rows", p.rows},
              {"cols", p.cols},
              {"nonzeros", p.nnz},
              {"density", p.density()},
              {"rank_at_most", p.rank_at_most()},
              {"row_lengths", as_json(p.row_lengths)},
              {"col_lengths", as_json(p.col_lengths)},
              {"band", as_json(p.band)},
              {"components", as_json(p.components)},
              {"blocks", as_json(p.blocks)},
              {"symmetry", p.square() ? as_json(p.symmetry) : Json(nullptr)},
              {"diagonal", as_json(p.diagonal)},
              {"values", as_json(p.values)},
              {"row_sums", as_json(p.row_sums)},
              {"spectrum", as_json(p.spectra)},
              {"positive_definite", as_json(p.definite)},
              {"seconds", {{"read", p.read_seconds}, {"analysis", p.seconds}}}};
  // A matrix name may hold bytes that are not UTF-8; they are replaced, not fatal.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace krysol::report
