// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regress/residual_check.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <krysol/analysis/exact_sum.hpp>
#include <krysol/gallery/rhs.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/read.hpp>
#include <krysol/report/html/spy_cells.hpp>
#include "common/matrix_source.hpp"

namespace krysol::apps {
namespace {

using Complex = std::complex<double>;

/// A sum of doubles and of products of two, to about 32 digits.
class TwiceDouble {
 public:
  void add(double v) {
    double lost = 0;
    high_ = analysis::two_sum(high_, v, lost);
    low_ += lost;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    low_ += std::fma(a, b, -product);
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

/// A row of b - A x: real, or with an imaginary part.
template <class T>
struct RowSum {
  TwiceDouble real;
  void add(double v) { real.add(v); }
  void subtract_product(double a, double x) { real.add_product(-a, x); }
  double size() const { return std::abs(real.value()); }
};
template <>
struct RowSum<Complex> {
  TwiceDouble real;
  TwiceDouble imaginary;
  void add(const Complex& v) {
    real.add(v.real());
    imaginary.add(v.imag());
  }
  void subtract_product(const Complex& a, const Complex& x) {
    real.add_product(-a.real(), x.real());
    real.add_product(a.imag(), x.imag());
    imaginary.add_product(-a.real(), x.imag());
    imaginary.add_product(-a.imag(), x.real());
  }
  double size() const { return std::hypot(real.value(), imaginary.value()); }
};

/// Calls visit(i, j, a_ij) for each entry, and for those that a symmetry stands for.
template <class T, class Visit>
void for_each_entry(const Triplets<T>& a, const Visit& visit) {
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row_idx[k]);
    const auto j = static_cast<std::size_t>(a.col_idx[k]);
    visit(i, j, a.values[k]);
    if (i != j && a.symmetry != Symmetry::general) visit(j, i, mirrored(a.values[k], a.symmetry));
  }
}

/// The norm of a list whose squares may be out of range.
double norm_of(const std::vector<double>& sizes) {
  double largest = 0;
  for (const double s : sizes) {
    if (!(s <= largest)) largest = s;
  }
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double s : sizes) sum += (s / largest) * (s / largest);
  return largest * std::sqrt(sum);
}

template <class T>
std::vector<T> vector_of(const DenseFile& file, std::size_t rows, const std::string& name) {
  if (static_cast<std::size_t>(file.rows) != rows || file.cols < 1) {
    throw FileError(fmt::format("{}: {} rows were expected, found {}", name, rows, file.rows));
  }
  return std::visit(
      [&](const auto& values) -> std::vector<T> {
        using From = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_convertible_v<From, T>) {
          return std::vector<T>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rows));
        } else {
          throw FileError(name + ": is complex, the matrix is real");
        }
      },
      file.values);
}

/// "GD02_b.mtx (found beside the matrix)" without what the report added.
std::string without_remark(std::string text) {
  for (const std::string_view remark : {" (found beside the matrix)", " (found with the matrix)"}) {
    if (text.ends_with(remark)) text.resize(text.size() - remark.size());
  }
  return text;
}

template <class T>
void check_values(const CheckTask& task, const MatrixFile& file, const Triplets<T>& a,
                  CheckResult& out) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  if (task.x.empty()) {
    out.problem = "no x was written";
    return;
  }
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<T> x = vector_of<T>(read_dense(task.x), n, "x");
  const std::string rhs_text = without_remark(task.rhs);
  const gallery::RhsSpec rhs =
      gallery::parse_rhs(rhs_text, task.matrix, file.attached.rhs.cols > 0);
  std::vector<T> b;  // or x* where b = A x*
  if (rhs.kind == gallery::RhsSpec::Kind::file) {
    ReadOptions read = task.read;
    read.member.clear();
    b = vector_of<T>(read_dense(rhs.file, read), n, rhs.file.string());
  } else if (rhs.kind == gallery::RhsSpec::Kind::attached) {
    b = vector_of<T>(file.attached.rhs, n, "the right-hand side");
  } else {
    const std::vector<double> numbers = rhs.kind == gallery::RhsSpec::Kind::ones
                                            ? std::vector<double>(n, 1.0)
                                            : gallery::random_numbers(n, rhs.seed);
    b.assign(numbers.begin(), numbers.end());
  }
  const bool times_a = rhs.times_a && (rhs.kind == gallery::RhsSpec::Kind::ones ||
                                       rhs.kind == gallery::RhsSpec::Kind::random);
  std::vector<RowSum<T>> residual(n);
  std::vector<RowSum<T>> made(times_a ? n : 0);  // -b
  std::vector<double> sizes(n, 0.0);             // (|A||x| + |b|)_i, and (|A||x*|)_i
  std::vector<double> counts(n, 3.0);
  for_each_entry(a, [&](std::size_t i, std::size_t j, const T& v) {
    residual[i].subtract_product(v, x[j]);
    sizes[i] += std::abs(v) * std::abs(x[j]);
    counts[i] += 1;
    if (!times_a) return;
    made[i].subtract_product(v, b[j]);
    sizes[i] += std::abs(v) * std::abs(b[j]);
    residual[i].subtract_product(-v, b[j]);
  });
  std::vector<double> b_sizes(n);
  std::vector<double> r_sizes(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!times_a) residual[i].add(b[i]);
    b_sizes[i] = times_a ? made[i].size() : std::abs(b[i]);
    r_sizes[i] = residual[i].size();
    sizes[i] = eps * counts[i] * (sizes[i] + b_sizes[i]);
  }
  const double b_norm = norm_of(b_sizes);
  const double by = b_norm > 0 ? b_norm : 1;
  out.residual = norm_of(r_sizes) / by;
  out.rounding = norm_of(sizes) / by;
}

template <class T>
void describe_entries(const Triplets<T>& a, MatrixEntry& out) {
  constexpr int cells = 56;
  out.rows = a.rows;
  out.cols = a.cols;
  report::SpyGrid grid;
  grid.rows = a.rows;
  grid.cols = a.cols;
  const report::SpyLayout layout = report::spy_layout(a.rows, a.cols, cells);
  grid.height = layout.height;
  grid.width = layout.width;
  const auto width = static_cast<std::size_t>(grid.width);
  grid.stored.assign(static_cast<std::size_t>(grid.height) * width, 0);
  for_each_entry(a, [&](std::size_t i, std::size_t j, const T&) {
    ++out.nonzeros;
    const std::size_t p =
        i * static_cast<std::size_t>(grid.height) / static_cast<std::size_t>(a.rows);
    const std::size_t q = j * width / static_cast<std::size_t>(a.cols);
    ++grid.stored[p * width + q];
  });
  out.spy = encoded(report::html::cells_of(grid));
}

nlohmann::json known(const std::optional<double>& v) {
  return v && std::isfinite(*v) ? nlohmann::json(*v) : nlohmann::json(nullptr);
}

std::optional<double> number_or_none(const nlohmann::json& v) {
  return v.is_number() ? std::optional<double>(v.get<double>()) : std::nullopt;
}

}  // namespace

CheckResult check_solution(const CheckTask& task) {
  const MatrixFile file = matrix_from(task.matrix, task.read);
  CheckResult out;
  out.matrix.field = to_string(file.info.field);
  out.matrix.symmetry = to_string(file.info.symmetry);
  out.matrix.file_bytes = file.info.bytes;
  std::visit(
      [&](const auto& a) {
        describe_entries(a, out.matrix);
        check_values(task, file, a, out);
      },
      file.matrix);
  return out;
}

std::string as_line(const CheckResult& r) {
  const nlohmann::json json = {{"matrix", nlohmann::json::parse(as_json_line(r.matrix))},
                               {"residual", known(r.residual)},
                               {"infinite", r.residual && !std::isfinite(*r.residual)},
                               {"rounding", known(r.rounding)},
                               {"problem", r.problem}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CheckResult check_result_of(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  CheckResult out;
  out.matrix = report::matrix_entry_of(json.at("matrix").dump());
  out.residual = number_or_none(json.at("residual"));
  if (json.at("infinite").get<bool>()) out.residual = std::numeric_limits<double>::infinity();
  out.rounding = number_or_none(json.at("rounding"));
  out.problem = json.at("problem").get<std::string>();
  return out;
}

}  // namespace krysol::apps
