// cg_solve: reads a matrix, solves A x = b with conjugate gradients, and proves it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   cg_solve data/gr_30_30.mtx
//   cg_solve data/gr_30_30.mtx --format ell --precond none --tol 1e-10
//   cg_solve data/Trefethen_2000.mtx --rhs ones --output x.mtx --history residuals.csv
//   cg_solve data/Trefethen_2000.mtx --json - --quiet
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>

#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>
#include <krysol/io/read_csr.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/outcome/breakdown.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/spmv/base/join.hpp>
#include <krysol/spmv/matrix/properties.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include <krysol/spmv/select/tuning_record.hpp>

#include <krysol/gallery/rhs.hpp>
#include <krysol/report/report.hpp>
#include <krysol/report/tuning_record_json.hpp>
#include "bench/bandwidth.hpp"
#include "common/cli.hpp"
#include "common/read_options.hpp"
#include "krysol_version.hpp"

namespace krysol::apps {
namespace {

struct Options {
  std::string matrix;
  std::string rhs;
  std::string x0;
  std::string format = "auto";
  std::string choice;
  std::string save_choice;
  std::string reorder = "auto";
  std::string solver = "cg";
  std::string precond = "jacobi";
  StoppingCriteria stop;
  std::string output;
  std::string history;
  std::string json;
  std::string witness;
  ReadOptions read;
  bool strict = false;
  bool quiet = false;
  bool explain = false;
  MachineOptions machine;
};

std::atomic<bool> interrupted{false};

void on_interrupt(int) { interrupted = true; }

/// From here on the first Ctrl-C ends the solve with the x so far; a second one ends the program.
void catch_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
}

/// A line on the terminal that is written over; nothing where standard error is not one.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& p, double b_norm) {
    if (!active_ || p.seconds < next_) return;
    next_ = p.seconds + 0.2;
    shown_ = true;
    fmt::print(stderr, "\r\033[Kiteration {}, |r| = {:.2e} |b|, {:.1f} s", p.iteration,
               b_norm > 0 ? p.residual / b_norm : p.residual, p.seconds);
    if (p.iterations_left >= 0) {
      fmt::print(stderr, "; about {} iterations and {:.1f} s left", p.iterations_left,
                 p.seconds_left);
    }
    if (out_of_reach(p.target, p.rounding)) {
      fmt::print(stderr, "; the tolerance is below what rounding x makes, {:.1e} |b|",
                 b_norm > 0 ? p.rounding / b_norm : p.rounding);
    }
    std::fflush(stderr);
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  bool active_;
  bool shown_ = false;
  double next_ = 0.5;
};

/// Where a vector goes; "-" is standard output.
std::filesystem::path vector_path(const std::string& option) {
  return option == "-" ? "/dev/stdout" : option;
}

std::string list_text() {
  std::string out = formats_section("; the default");
  out += list_section("orders of the rows (--reorder)", list_orders());
  out += list_section("solvers (--solver)", list_solvers());
  out += list_section("preconditioners (--precond)", list_preconditioners());
  out +=
      "right-hand sides (--rhs):\n"
      "  FILE            a vector; NAME_b.mtx beside NAME.mtx is found by itself\n"
      "  attached        the one in the matrix file or archive; found by itself too\n"
      "  ones            b = (1, ..., 1)\n"
      "  random[:SEED]   entries between -1 and 1\n"
      "  A*ones          b = A x* with x* = (1, ..., 1), so that the error is known\n"
      "  A*random[:SEED]  the same with a random x*; A*random:1 is the default\n";
  return out;
}

template <class S, class T>
S scalar_from(const T& v) {
  if constexpr (is_complex<S> && is_complex<T>) {
    return S(v.real(), v.imag());
  } else {
    return S(v);
  }
}

/// Host numbers as a vector of the device, in the order of the matrix there (empty: as they are).
template <class S, class Numbers>
Vector<S> vector_on_device(const Numbers& numbers, std::size_t n, const Permutation& order) {
  Kokkos::View<S*, Kokkos::HostSpace> host("vector", n);
  for (std::size_t i = 0; i < n; ++i) {
    host(i) = scalar_from<S>(numbers[order.empty() ? i : static_cast<std::size_t>(order[i])]);
  }
  return in_memory_of<Kokkos::DefaultExecutionSpace>(host);
}

/// A vector of the system's size. Throws UsageError where it does not fit.
template <class S>
Vector<S> vector_from(const DenseFile& file, const std::string& name, const Permutation& order,
                      Index rows, std::string_view what, std::vector<std::string>& notes) {
  if (file.rows != rows || file.cols < 1) {
    throw UsageError(fmt::format("{}: {} has {} rows and {} columns; the matrix has {} rows", name,
                                 what, file.rows, file.cols, rows));
  }
  if (file.cols > 1) {
    notes.push_back(fmt::format("{} has {} columns; the first is used", name, file.cols));
  }
  for (const std::string& repair : file.info.repairs) {
    notes.push_back(fmt::format("{} repaired: {}", name, repair));
  }
  return std::visit(
      [&](const auto& values) -> Vector<S> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (is_complex<T> && !is_complex<S>) {
          throw UsageError(fmt::format("{}: {} is complex, the matrix is real", name, what));
        } else {
          return vector_on_device<S>(values, static_cast<std::size_t>(rows), order);
        }
      },
      file.values);
}

/// The same from a file, or from the one that came with the matrix.
template <class S>
Vector<S> read_vector(const std::filesystem::path& path, const Options& options,
                      const Permutation& order, Index rows, std::string_view what,
                      std::vector<std::string>& notes) {
  ReadOptions read = options.read;
  read.member.clear();  // names the matrix
  return vector_from<S>(read_dense(path, read), path.string(), order, rows, what, notes);
}
template <class S>
Vector<S> attached_vector(const DenseFile& vector, const Options& options, const Permutation& order,
                          Index rows, std::string_view what, std::vector<std::string>& notes) {
  const std::string name = fmt::format("{}, {}", options.matrix, what);
  if (vector.cols == 0) {
    throw UsageError(fmt::format("{}: the file holds none besides the matrix", name));
  }
  return vector_from<S>(vector, name, order, rows, what, notes);
}

template <class S>
std::vector<std::conditional_t<is_complex<S>, std::complex<double>, double>> to_host(
    const Vector<S>& v) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  std::vector<std::conditional_t<is_complex<S>, std::complex<double>, double>> out(host.extent(0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if constexpr (is_complex<S>) {
      out[i] = {host(i).real(), host(i).imag()};
    } else {
      out[i] = host(i);
    }
  }
  return out;
}

/// Rows of a result are told to the user as the file counts them.
void count_as_in_file(const Permutation& order, SolveResult& result) {
  if (order.empty()) return;
  const auto in_file = [&](Index& i) {
    if (i >= 0) i = order[static_cast<std::size_t>(i)];
  };
  BreakdownCertificate& e = result.breakdown;
  in_file(e.row);
  in_file(e.col);
  for (RowShare& share : e.largest) in_file(share.row);
  if (!e.direction.empty()) e.direction = inverse_permute(order, e.direction);
  result.advice = advice(result);
}

template <class S>
void describe(const MatrixProperties<S>& f, MatrixSummary& m) {
  m.rows = f.rows;
  m.cols = f.cols;
  m.nnz = f.nnz;
  m.shortest_row = f.shortest_row;
  m.longest_row = f.longest_row;
  m.empty_rows = f.empty_rows;
  m.symmetric = f.symmetric;
  m.asymmetry = f.asymmetry;
  m.symmetry_tolerance = symmetry_tolerance;
  m.asymmetric_row = f.asymmetric_row;
  m.asymmetric_col = f.asymmetric_col;
  m.positive_diagonal = f.positive_diagonal;
  m.negative_diagonal = f.negative_diagonal;
  m.zero_diagonal = f.zero_diagonal;
  m.missing_diagonal = f.missing_diagonal;
  m.smallest_diagonal = f.smallest_diagonal;
  m.largest_diagonal = f.largest_diagonal;
}

/// The linear system on the device: b, x, and x* where it is known.
template <class S>
struct System {
  Vector<S> b;
  Vector<S> x;
  Vector<S> solution;  // empty where it is not known
};

template <class S>
System<S> make_system(const Options& options, const Operator<S>& a, const Permutation& order,
                      const AttachedVectors& attached, Report& report) {
  const Kokkos::DefaultExecutionSpace exec{};
  const auto n = static_cast<std::size_t>(a.rows);
  RhsSpec rhs = parse_rhs(options.rhs, options.matrix, attached.rhs.cols > 0);
  System<S> system;
  if (rhs.kind == RhsSpec::Kind::file) {
    try {
      system.b =
          read_vector<S>(rhs.file, options, order, a.rows, "the right-hand side", report.notes);
    } catch (const std::exception& e) {
      // Nobody asked for a file that only has the name of a right-hand side (GD02_b is a matrix).
      if (!rhs.found) throw;
      report.notes.push_back(fmt::format("not used as right-hand side: {}", e.what()));
      rhs = parse_rhs(default_rhs, options.matrix);
    }
  }
  if (rhs.kind == RhsSpec::Kind::attached) {
    system.b = attached_vector<S>(attached.rhs, options, order, a.rows, "the right-hand side",
                                  report.notes);
    if (attached.solution.cols > 0) {
      system.solution = attached_vector<S>(attached.solution, options, order, a.rows,
                                           "the solution", report.notes);
    }
  }
  report.rhs = rhs.text;
  if (rhs.found) {
    report.rhs += rhs.kind == RhsSpec::Kind::attached ? " (found with the matrix)"
                                                      : " (found beside the matrix)";
  }
  if (rhs.kind == RhsSpec::Kind::ones || rhs.kind == RhsSpec::Kind::random) {
    const std::vector<double> numbers =
        rhs.kind == RhsSpec::Kind::ones ? std::vector<double>(n, 1.0) : random_numbers(n, rhs.seed);
    system.b = vector_on_device<S>(numbers, n, order);
    if (rhs.times_a) {
      system.solution = system.b;
      system.b = uninitialized<S>(exec, "b", a.rows);
      apply(exec, S(1), a, ConstVector<S>(system.solution), S(0), system.b);
    }
  }
  report.x0 = options.x0.empty() ? "0" : options.x0;
  constexpr std::string_view guess = "the starting guess";
  if (options.x0.empty()) {
    system.x = zeros<S>(exec, "x", a.rows);
  } else if (options.x0 == "attached") {
    system.x = attached_vector<S>(attached.guess, options, order, a.rows, guess, report.notes);
  } else {
    system.x = read_vector<S>(options.x0, options, order, a.rows, guess, report.notes);
  }
  return system;
}

template <class S>
std::optional<double> relative_error(const System<S>& system) {
  if (system.solution.extent(0) == 0) return std::nullopt;
  const Kokkos::DefaultExecutionSpace exec{};
  ReductionWorkspace<Kokkos::DefaultExecutionSpace> sums;
  const double size = norm2(exec, system.solution, sums);
  const auto difference = zeros<S>(exec, "x - x*", static_cast<std::int64_t>(system.x.extent(0)));
  axpby<S>(exec, S(1), ConstVector<S>(system.x), S(0), difference);
  axpby<S>(exec, S(-1), ConstVector<S>(system.solution), S(1), difference);
  const double error = norm2(exec, difference, sums);
  return size > 0 ? error / size : error;
}

void write_outputs(const Options& options, const Report& report) {
  if (!options.history.empty()) write_file(options.history, history_as_csv(report.result));
  if (!options.json.empty()) write_file(options.json, as_json(report));
  if (!options.quiet) print(as_text(report, options.explain));
}

/// The direction along which the matrix was seen not to be positive definite.
template <class S>
void write_witness(const Options& options, const Report& report) {
  if (options.witness.empty() || report.result.breakdown.direction.empty()) return;
  const auto& direction = report.result.breakdown.direction;
  const auto rows = static_cast<Index>(direction.size());
  if constexpr (is_complex<S>) {
    write_dense(vector_path(options.witness), rows, 1, direction);
  } else {
    std::vector<double> real;
    real.reserve(direction.size());
    for (const auto& v : direction) real.push_back(v.real());
    write_dense(vector_path(options.witness), rows, 1, real);
  }
}

/// Multiplications that measuring must pay within.
double expected_products(const Options& options) {
  const double usual = SelectOptions{}.products;
  return options.stop.max_iterations == 0
             ? usual
             : std::min(usual, static_cast<double>(options.stop.max_iterations));
}

/// The matrix as --format says, as saved, or as measured.
template <class S>
std::unique_ptr<Operator<S>> make_format(const Options& options,
                                         const std::optional<TuningRecord>& saved,
                                         const HostCsr<S>& csr, const std::string& order,
                                         Report& report) {
  report.format = options.format;
  if (options.format != "auto") return make_operator<S>(options.format, csr);
  SelectOptions select;
  select.with_dot = true;
  select.products = expected_products(options);
  FormatChoice choice;
  auto op = saved ? select_format(csr, select, *saved, choice) : select_format(csr, select, choice);
  if (!choice.mismatch.empty()) {
    report.notes.push_back(fmt::format("{} does not fit, the format was measured anew: {}",
                                       options.choice, choice.mismatch));
  }
  if (!options.save_choice.empty()) {
    // One that was given back is written with the measurements that it came with.
    TuningRecord kept = choice.reused ? *saved : save(choice, csr, select);
    if (!choice.reused) {
      kept.version = version::text;
      kept.order = order;
    }
    write_file(options.save_choice, as_json(kept));
  }
  report.format = choice.name;
  report.choice = std::move(choice);
  return op;
}

/// The matrix in the order of --reorder. One that would be measured is that of a saved choice
/// instead, if the choice fits the matrix then.
template <class S>
HostCsr<S> make_order(const Options& options, const std::optional<TuningRecord>& saved,
                      const HostCsr<S>& matrix, OrderChoice& order) {
  const double products = expected_products(options);
  if (saved && options.reorder == "auto" && saved->matrix.rows == matrix.rows &&
      saved->matrix.nnz == matrix.nnz()) {
    HostCsr<S> csr = reorder(saved->order, matrix, products, order);
    if (mismatch(*saved, csr).empty()) return csr;
    order = {};
  }
  return reorder(options.reorder, matrix, products, order);
}

template <class S>
int run_typed(const Options& options, const std::optional<TuningRecord>& saved,
              const Assembled<S>& assembled, const AttachedVectors& attached, Report report) {
  using Exec = Kokkos::DefaultExecutionSpace;
  const Exec exec{};

  Kokkos::Timer timer;
  report.matrix.duplicates = assembled.duplicates;
  report.matrix.explicit_zeros = assembled.explicit_zeros;
  if (assembled.matrix.rows != assembled.matrix.cols) {
    throw UsageError(
        fmt::format("{}: A x = b needs a square matrix, this one is {} x {}; for least squares use "
                    "LSQR or CGLS",
                    options.matrix, assembled.matrix.rows, assembled.matrix.cols));
  }
  OrderChoice order;
  const HostCsr<S> csr = make_order(options, saved, assembled.matrix, order);
  const auto op = make_format(options, saved, csr, order.name, report);
  report.convert.add(timer.seconds(), static_cast<double>(bytes(csr) + op->bytes()));
  report.format_bytes = op->bytes();

  const MatrixProperties<S> properties = analyze(assembled.matrix);
  describe(properties, report.matrix);

  System<S> system = make_system(options, *op, order.order, attached, report);
  if (auto refused = find_breakdown(properties)) {
    report.result = std::move(*refused);
    if (!options.output.empty()) {
      report.notes.push_back(
          fmt::format("{} was not written: there is no solution", options.output));
    }
  } else {
    timer.reset();
    const auto made = make_preconditioner<S, Exec>(options.precond, csr);
    exec.fence();
    report.setup.add(timer.seconds(), 0);
    const std::string counted =
        order.order.empty() ? "" : "; rows counted in the order of --reorder " + order.name;
    if (options.strict && !made.refusal.empty()) {
      throw UsageError(made.refusal + counted + "; --strict takes nothing in its place");
    }
    report.preconditioner = made.used;
    if (!made.note.empty()) report.notes.push_back(made.note + counted);

    ProgressLine progress(!options.quiet);
    ReductionWorkspace<Exec> sums;
    const double b_norm = norm2(exec, system.b, sums);
    catch_interrupt();
    const Observer observer = [&](const Progress& p) {
      progress.show(p, b_norm);
      return !interrupted;
    };
    report.result = solve<S, Exec>(options.solver, exec, *op, system.b, system.x, *made.m,
                                   options.stop, observer);
    std::signal(SIGINT, SIG_DFL);
    progress.clear();
    count_as_in_file(order.order, report.result);
    report.solved = true;
    report.error = relative_error(system);
    if (!options.output.empty()) {
      const auto x = to_host(system.x);
      write_dense(vector_path(options.output), csr.rows, 1,
                  order.order.empty() ? x : inverse_permute(order.order, x));
    }
  }
  report.order = std::move(order);
  write_witness<S>(options, report);
  if (!options.machine.no_bandwidth && (!options.quiet || !options.json.empty())) {
    report.bandwidth = measure_bandwidth();
  }
  write_outputs(options, report);
  return report.result.converged() ? exit_converged : exit_not_converged;
}

int run(const Options& options) {
  std::optional<TuningRecord> saved;
  if (!options.choice.empty()) saved = read_choice(options.choice);
  Kokkos::Timer timer;
  const CsrFile file = read_csr(options.matrix, options.read);
  Report report;
  report.read.add(timer.seconds(), static_cast<double>(file.info.text_bytes));
  report.version = version::text;
  report.backend = version::backend;
  report.device = device_name();
  report.threads = Host().concurrency();
  report.solver = options.solver;
  report.preconditioner = options.precond;
  report.stop = options.stop;
  MatrixSummary& m = report.matrix;
  m.file = options.matrix;
  m.file_bytes = file.info.bytes;
  m.field = to_string(file.info.field);
  m.symmetry = to_string(file.info.symmetry);
  m.stored_entries = file.info.stored_entries;
  m.repairs = file.info.repairs;
  if (!file.info.cache.empty()) report.notes.push_back("cache of the matrix " + file.info.cache);
  return std::visit(
      [&](const auto& assembled) {
        return run_typed(options, saved, assembled, file.attached, std::move(report));
      },
      file.matrix);
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("matrix", o.matrix,
                 "Matrix Market, Harwell-Boeing or Rutherford-Boeing file, also compressed or in\n"
                 "the collection's .tar.gz; - for standard input")
      ->required();
  app.add_option(
      "--rhs", o.rhs,
      "right-hand side: FILE, attached, ones, A*ones, random[:SEED], A*random[:SEED]\n"
      "(default: the one in the matrix file or archive, else NAME_b.mtx beside NAME.mtx,\n"
      "else A*random:1)");
  app.add_option("--x0", o.x0, "starting guess: FILE, or attached (default: 0)");
  app.add_option("--format", o.format, "storage of the matrix, see --list")
      ->check(known_format())
      ->capture_default_str();
  app.add_option("--save-tuning", o.save_choice,
                 "write what --format auto chose, for --tuning; - for standard output");
  app.add_option(
      "--tuning", o.choice,
      "take format and order of such a file, without measuring, where it fits matrix and device");
  app.add_flag("--explain", o.explain, "show how --format auto chose");
  app.add_option("--reorder", o.reorder, "order of the rows while solving, see --list")
      ->check(known_name("order", list_orders()))
      ->capture_default_str();
  app.add_option("--solver", o.solver, "method, see --list")
      ->check(known_name("solver", list_solvers()))
      ->capture_default_str();
  app.add_option("--precond", o.precond, "preconditioner, see --list")
      ->check(known_name("preconditioner", list_preconditioners()))
      ->capture_default_str();
  app.add_option("--tol", o.stop.rtol, "stop at |b - Ax| <= tol |b|, in the 2-norm")
      ->check(number_from(0))
      ->capture_default_str();
  app.add_option("--atol", o.stop.atol, "or at |b - Ax| <= atol")
      ->check(number_from(0))
      ->capture_default_str();
  app.add_option("--max-iterations", o.stop.max_iterations, "default: ten times the rows")
      ->check(number_from(1));
  app.add_option("--time-limit", o.stop.time_limit_s, "seconds for the iteration")
      ->check(number_from(0, false));
  app.add_option("--lambda-min", o.stop.lambda_min,
                 "a number that no eigenvalue of M^-1 A is below, for a bound of the error")
      ->check(number_from(0, false));
  app.add_option("--output", o.output, "write x as a Matrix Market vector; - for standard output");
  app.add_option("--history", o.history,
                 "write residual and error bounds of each iteration as CSV; likewise");
  app.add_option("--json", o.json, "write the report as JSON; likewise");
  app.add_option("--witness", o.witness,
                 "write the direction p with p'Ap <= 0, where one is found, as a vector; likewise");
  add_read_options(app, o.read);
  app.add_flag("--low-memory", o.read.low_memory,
               "read a file twice rather than keep its entries beside the matrix; slower")
      ->group("Reading");
  app.add_flag("--strict", o.strict,
               "a preconditioner that cannot be built is an error, not replaced by a simpler one");
  app.add_flag("--quiet", o.quiet, "no report; the exit code, errors and files say all");
  add_machine_options(app, o.machine);
}

/// Standard output takes one document: the report, or what one option sends to "-".
void check_standard_output(const Options& o) {
  std::vector<std::string_view> users;
  if (!o.quiet) users.emplace_back("the report");
  const std::pair<std::string_view, const std::string&> options[] = {
      {"--output -", o.output},
      {"--history -", o.history},
      {"--json -", o.json},
      {"--witness -", o.witness},
      {"--save-tuning -", o.save_choice}};
  for (const auto& [name, value] : options) {
    if (value == "-") users.push_back(name);
  }
  if (users.size() < 2) return;
  throw UsageError(fmt::format("{} would mix on standard output{}", join(users, " and "),
                               o.quiet ? "" : "; add --quiet"));
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Solves A x = b for a symmetric (Hermitian) positive definite matrix from a file, with\n"
      "conjugate gradients, and reports the residual computed from the x that it found.\n"
      "Exit code: 0 converged, 1 any other outcome, 2 bad input or usage, 3 internal error\n"
      "or not enough memory.",
      "cg_solve"};
  add_options(app, options);
  if (const auto done =
          parse(app, argc, argv, "list formats, orders, solvers, preconditioners, right-hand sides",
                list_text)) {
    return *done;
  }
  if (options.format != "auto" && !(options.choice.empty() && options.save_choice.empty())) {
    throw UsageError(fmt::format("{} goes with --format auto, not with --format {}",
                                 options.choice.empty() ? "--save-tuning" : "--tuning",
                                 options.format));
  }
  check_standard_output(options);
  check_writable(
      {options.output, options.history, options.json, options.witness, options.save_choice});
  options.read.threads = std::max(options.machine.threads, 0);
  const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
  return run(options);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  return krysol::apps::run_program("cg_solve",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
