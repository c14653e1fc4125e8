// cg_solve: reads a matrix, solves A x = b with conjugate gradients, and proves it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   cg_solve data/gr_30_30.mtx
//   cg_solve data/gr_30_30.mtx --format ell --precond none --tol 1e-10
//   cg_solve data/Trefethen_2000.mtx --rhs ones --output x.mtx --history residuals.csv
//   cg_solve data/Trefethen_2000.mtx --json - --quiet
//   cg_solve poisson:100 --precond amg
#include <algorithm>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/report/html/matrix_picture.hpp>
#include <krysol/report/html/solve_page.hpp>
#include <krysol/report/report.hpp>
#include <krysol/report/solve_report.hpp>
#include <krysol/report/tuning_files.hpp>
#include <krysol/report/tuning_record_json.hpp>
#include <krysol/solver/outcome/advice.hpp>
#include <krysol/solver/registry.hpp>
#include <krysol/solver/solve.hpp>
#include <krysol/spmv/base/join.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include "bench/bandwidth.hpp"
#include "common/cli.hpp"
#include "common/matrix_source.hpp"
#include "common/near_null.hpp"
#include "common/profiler.hpp"
#include "common/progress_line.hpp"
#include "common/read_options.hpp"
#include "common/system.hpp"
#include "common/threads_apart.hpp"
#include "common/waiting.hpp"
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
  bool no_tuning_cache = false;
  std::string reorder = "auto";
  std::string solver = "cg";
  std::string precond = "auto";
  StoppingCriteria stop;
  double lambda_min = 0;
  std::string near_null;
  std::string coordinates;
  std::string output;
  std::string history;
  std::string json;
  std::string page;
  std::string witness;
  std::vector<std::string> words;  // as they were typed
  ReadOptions read;
  bool project = false;
  bool strict = false;
  bool quiet = false;
  bool explain = false;
  bool profile = false;
  MachineOptions machine;
};

std::vector<PreconditionerInfo> preconditioners_and_auto() {
  auto list = list_preconditioners();
  list.push_back(
      {"auto",
       "begins with jacobi, and goes over to amg or cholesky where they are predicted to "
       "take less; the default",
       true});
  return list;
}

std::string list_text() {
  std::string out = formats_section("; the default");
  out += list_section("orders of the rows (--reorder)", list_orders());
  out += list_section("solvers (--solver)", list_solvers());
  out += list_section("preconditioners (--precond)", preconditioners_and_auto());
  out +=
      "right-hand sides (--rhs):\n"
      "  FILE            a vector; NAME_b.mtx beside NAME.mtx is found by itself\n"
      "  attached        the one in the matrix file or archive; found by itself too\n"
      "  ones            b = (1, ..., 1)\n"
      "  random[:SEED]   entries between -1 and 1\n"
      "  A*ones          b = A x* with x* = (1, ..., 1), so that the error is known\n"
      "  A*random[:SEED]  the same with a random x*; A*random:1 is the default\n";
  out += problems_section();
  return out;
}

/// Each output is written although another could not be: none of a long solve is lost to a full
/// disk that only one of them is on.
class Outputs {
 public:
  template <class Write>
  void attempt(const Write& write) {
    try {
      write();
    } catch (const FileError& e) {
      failures_.emplace_back(e.what());
    } catch (const std::bad_alloc& e) {
      failures_.emplace_back(std::string("not enough memory: ") + e.what());
      memory_ = true;
    }
  }

  /// Throws FileError with what could not be written, std::runtime_error where that was for want of
  /// memory.
  void finish() const {
    if (memory_) throw std::runtime_error(fmt::format("{}", join(failures_, "; ")));
    if (!failures_.empty()) throw FileError(fmt::format("{}", join(failures_, "; ")));
  }

 private:
  std::vector<std::string> failures_;
  bool memory_ = false;
};

/// A measurement beside the solve, which must not be the reason why that fails.
void add_bandwidth(Report& report) {
  try {
    report.bandwidth = measure_bandwidth();
  } catch (const std::bad_alloc& e) {
    report.notes.push_back(fmt::format("the bandwidth was not measured: {}", e.what()));
  }
}

/// That are written.
std::vector<std::string> files_of(const Options& o) {
  return {o.output, o.history, o.json, o.page, o.witness, o.save_choice};
}

/// The direction along which the matrix was seen not to be positive definite.
template <class S>
void write_witness(const Options& options, const Report& report) {
  if (options.witness.empty() || report.result.breakdown.direction.empty()) return;
  const auto& direction = report.result.breakdown.direction;
  const auto rows = static_cast<Index>(direction.size());
  if constexpr (is_complex<S>) {
    write_dense(options.witness, rows, 1, direction);
  } else {
    std::vector<double> real;
    real.reserve(direction.size());
    for (const auto& v : direction) real.push_back(v.real());
    write_dense(options.witness, rows, 1, real);
  }
}

/// Whether anybody sees what is only measured to be shown.
bool reports(const Options& options) {
  return !options.quiet || !options.json.empty() || !options.page.empty();
}

SolveOptions solve_options(const Options& options) {
  SolveOptions o;
  o.solver = options.solver;
  o.preconditioner = options.precond;
  o.format = options.format;
  o.order = options.reorder;
  o.stop = options.stop;
  o.project = options.project;
  if (options.project && options.solver != "cg") {
    throw UsageError(
        fmt::format("--project: only cg looks for the null vectors of A; --solver is {}, which "
                    "takes b as it is",
                    options.solver));
  }
  if (options.lambda_min > 0) {
    if (options.solver != "cg") {
      throw UsageError(fmt::format("--lambda-min: only cg bounds its error by it; --solver is {}",
                                   options.solver));
    }
    o.solver_options["lambda_min"] = fmt::format("{}", options.lambda_min);
  }
  constexpr const char* bytes = "1e9";  // some 0.1 s
  if (reports(options) && options.solver == "cg") o.solver_options["confirm"] = bytes;
  if (!options.choice.empty()) o.tuning = read_choice(options.choice);
  o.tuning_name = options.choice;
  o.near_null = near_null_from({options.near_null, options.coordinates, options.read});
  o.keep_tuning = !options.save_choice.empty();
  if (!options.no_tuning_cache) o.tuning_memory = tuning_files(tuning_folder(), version_text());
  return o;
}

/// What was chosen, for --tuning of another run.
void write_tuning(const Options& options, SolveReport solve) {
  if (options.save_choice.empty() || !solve.tuning) return;
  // A record that was reused is that of the version that measured it.
  if (!solve.choice->reused) solve.tuning->version = version_text();
  if (!solve.trials.empty()) solve.tuning->preconditioner = stages_as_text(solve.trials);
  write_file(options.save_choice, as_json(*solve.tuning));
}

/// Kokkos Tools know no bytes: those of the kinds of work come from the solve, which counts them.
std::vector<ProfileNode> profile_with_bytes(const Report& report) {
  std::vector<ProfileNode> nodes = Profiler::nodes();
  const std::pair<std::string_view, double> counted[] = {
      {"krysol::read_csr", report.read.bytes},
      {"SpMV", report.result.spmv.bytes},
      {"vectors", report.result.vectors.bytes},
      {"preconditioner", report.result.preconditioner.bytes},
      {"true residuals", report.result.residuals.bytes}};
  constexpr int none = -1;
  int method = none;      // the depth of the method's region
  int confirming = none;  // of that whose work the counters do not hold
  for (ProfileNode& n : nodes) {
    if (n.depth <= method) method = none;
    if (n.depth <= confirming) confirming = none;
    if (n.name == "krysol::cg" || n.name == "krysol::minres") method = n.depth;
    if (n.name == "krysol::cg(confirm)") confirming = n.depth;
    const bool counts = method != none && confirming == none;
    for (const auto& [name, bytes] : counted) {
      if (n.name == name && !n.kernel && (counts || name == "krysol::read_csr")) n.bytes = bytes;
    }
  }
  return nodes;
}

/// Without the options of a list, which take a value each.
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string_view>& options) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    const auto equals = word.find('=');
    const bool dropped =
        std::find(options.begin(), options.end(), word.substr(0, equals)) != options.end();
    if (!dropped) out.push_back(word);
    if (dropped && equals == std::string::npos) ++k;
  }
  return out;
}

/// As it was typed, and with what was chosen by measuring.
html::SolveCommands commands_of(const Options& options, const Report& report) {
  const std::string preconditioner =
      report.trials.empty() ? report.preconditioner : stages_as_text(report.trials);
  std::vector<std::string_view> replaced = {"--format", "--reorder",     "--precond", "--threads",
                                            "--tuning", "--save-tuning", "--report"};
  if (!preconditioner.starts_with("auto") && !preconditioner.starts_with("amg")) {
    replaced.insert(replaced.end(), {"--near-null", "--coordinates"});  // which others refuse
  }
  std::vector<std::string> words = without_options(options.words, replaced);
  const auto add = [&](const char* option, const std::string& chosen) {
    if (!chosen.empty()) words.insert(words.end(), {option, chosen});
  };
  add("--format", report.format);
  add("--reorder", report.order.name);
  add("--precond", preconditioner);
  if (report.device.empty()) add("--threads", fmt::format("{}", report.threads));
  return {quoted_command(options.words), quoted_command(words)};
}

/// Solves, and returns the exit code.
template <class S>
int run_typed(const Options& options, SolveOptions wanted, const Assembled<S>& assembled,
              const AttachedVectors& attached, Report report) {
  const HostCsr<S>& a = assembled.matrix;
  report.matrix.duplicates = assembled.duplicates;
  report.matrix.explicit_zeros = assembled.explicit_zeros;
  if (a.rows != a.cols) {
    throw UsageError(
        fmt::format("{}: A x = b needs a square matrix, this one is {} x {}; for least squares use "
                    "LSQR or CGLS",
                    options.matrix, a.rows, a.cols));
  }
  Kokkos::Timer timer;
  Solver<S> solver = [&] {
    const ThreadsApart apart;
    return Solver<S>(a, std::move(wanted));
  }();
  report.seconds_to_solution = timer.seconds();
  const SolveReport setup = solver.report();
  Outputs outputs;
  if (options.strict && !setup.refusal.empty()) {
    throw UsageError(setup.refusal + "; --strict takes nothing in its place");
  }
  const SystemSource from{options.matrix, options.rhs, options.x0, options.read, files_of(options)};
  System<S> system = make_system(from, solver, attached, report);
  const CatchInterrupt interrupt;  // what there is will be written
  {
    ProgressLine progress(!options.quiet);
    const double b_norm = norm(system.b);
    solver.set_observer([&](const Progress& p) {
      progress.show(p, b_norm);
      return !CatchInterrupt::happened();
    });
    const ThreadsApart apart;
    timer.reset();
    solver.solve(system.b, system.x);
    report.seconds_to_solution += timer.seconds();
  }
  const SolveReport solved = solver.report();
  take(solved, report);
  if (report.result.cg) {  // what came after x
    report.seconds_to_solution -= report.result.cg->spectrum.confirming_seconds;
  }
  if (options.profile) report.profile = profile_with_bytes(report);
  if (!options.save_choice.empty() && !solved.tuning) {
    report.notes.push_back(
        fmt::format("{} was not written: nothing was chosen", options.save_choice));
  }
  outputs.attempt([&] { write_tuning(options, solved); });
  // Of a singular system x* is one solution of many.
  if (report.solved && report.null_vectors == 0) report.error = relative_error(system);
  const bool no_solution =
      report.result.status == Status::inconsistent && report.result.outside_range > 0;
  if (!options.output.empty() && no_solution) {
    report.notes.push_back(
        fmt::format("{} was not written: A x = b has no solution, see the advice", options.output));
  } else if (!options.output.empty() && looks_singular(report.result)) {
    report.notes.push_back(fmt::format(
        "{} was not written: |b - A x| is {:.2e}, {:.2e} at the start; x is no solution",
        options.output, report.result.residual, report.result.initial_residual));
  } else if (!options.output.empty() && report.solved) {
    outputs.attempt([&] { write_dense(options.output, a.rows, 1, system.x); });
  } else if (!options.output.empty()) {
    report.notes.push_back(
        fmt::format("{} was not written: nothing was solved, see the advice", options.output));
  }
  outputs.attempt([&] { write_witness<S>(options, report); });
  if (!options.machine.no_bandwidth && !CatchInterrupt::happened() && reports(options)) {
    add_bandwidth(report);
  }
  outputs.attempt([&] {
    if (!options.history.empty()) write_file(options.history, history_as_csv(report.result));
  });
  outputs.attempt([&] {
    if (!options.json.empty()) write_file(options.json, as_json(report));
  });
  outputs.attempt([&] {
    if (options.page.empty()) return;
    write_file(options.page,
               html::solve_page(report, html::picture_of(a), commands_of(options, report)));
  });
  outputs.attempt([&] {
    if (!options.quiet) print(as_text(report, options.explain));
  });
  outputs.finish();
  return report.result.converged() ? exit_converged : exit_not_converged;
}

int run(const Options& options) {
  SolveOptions wanted = solve_options(options);  // smaller files are read before the matrix
  Kokkos::Timer timer;
  constexpr std::int64_t bytes_a_row = 8 * sizeof(double);  // b, x, x*, r, p, q, e and M at least
  const CsrFile file = csr_from(options.matrix, options.read, bytes_a_row);
  Report report;
  report.read.add(timer.seconds(), static_cast<double>(file.info.text_bytes));
  report.version = version_text();
  report.backend = version::backend;
  report.device = device_name();
  report.threads = Host().concurrency();
  report.lambda_min = options.lambda_min;
  MatrixSummary& m = report.matrix;
  m.file = options.matrix;
  m.member = file.info.member;
  m.file_bytes = file.info.bytes;
  m.field = to_string(file.info.field);
  m.symmetry = to_string(file.info.symmetry);
  m.stored_entries = file.info.stored_entries;
  m.repairs = file.info.repairs;
  if (file.info.rounded_integers > 0) {
    report.notes.push_back(
        fmt::format("integers beyond 2^53 rounded: {}", file.info.rounded_integers));
  }
  if (!file.info.cache.empty()) report.notes.push_back("cache of the matrix " + file.info.cache);
  return std::visit(
      [&](const auto& assembled) {
        return run_typed(options, std::move(wanted), assembled, file.attached, std::move(report));
      },
      file.matrix);
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("matrix", o.matrix, matrix_argument)->required();
  app.add_option(
      "--rhs", o.rhs,
      "right-hand side: FILE, attached, ones, A*ones, random[:SEED], A*random[:SEED]\n"
      "(default: the one in the matrix file or archive, else NAME_b.mtx beside NAME.mtx,\n"
      "else A*random:1)");
  app.add_option("--x0", o.x0, "starting guess: FILE, or attached (default: 0)");
  app.add_option(
         "--format", o.format,
         "storage of the matrix, see --list; auto measures, beside --precond auto once 250\n"
         "multiplications are ahead")
      ->check(known_format())
      ->capture_default_str();
  app.add_option("--save-tuning", o.save_choice,
                 "write what --format auto and --precond auto chose, for --tuning; - for standard\n"
                 "output");
  app.add_option(
      "--tuning", o.choice,
      "take format, order and preconditioner of such a file, without measuring or choosing, where\n"
      "it fits matrix and device");
  app.add_flag(
      "--no-tuning-cache", o.no_tuning_cache,
      "neither use nor keep what --format auto measured for the next time\n"
      "(KRYSOL_TUNING_CACHE in the environment: a folder, or off; default: krysol/tuning in\n"
      "$XDG_CACHE_HOME or ~/.cache)");
  app.add_flag("--profile", o.profile,
               "show the time of each region and kernel, as Kokkos Tools hear of them");
  app.add_flag("--explain", o.explain, "show how --format auto chose");
  app.add_option("--reorder", o.reorder, "order of the rows while solving, see --list")
      ->check(known_name("order", list_orders()))
      ->capture_default_str();
  app.add_option("--solver", o.solver, "method, see --list")
      ->check(known_name("solver", list_solvers()))
      ->capture_default_str();
  app.add_option("--precond", o.precond, "preconditioner, see --list")
      ->check(known_name("preconditioner", preconditioners_and_auto()))
      ->capture_default_str();
  app.add_option("--near-null", o.near_null,
                 "FILE: vectors that A turns into almost nothing, a column each, for amg to keep");
  app.add_option(
         "--coordinates", o.coordinates,
         "FILE: places of the nodes of an elastic body, a row each, whose rigid motions amg\n"
         "is to keep; nodes have as many rows of A as places have columns")
      ->excludes("--near-null");
  app.add_option("--tol", o.stop.rtol, "stop at |b - Ax| <= tol |b|, in the 2-norm")
      ->check(number_from(0))
      ->capture_default_str();
  app.add_option("--atol", o.stop.atol, "or at |b - Ax| <= atol")
      ->check(number_from(0))
      ->capture_default_str();
  app.add_option("--max-iterations", o.stop.max_iterations, "default: ten times the rows")
      ->check(whole_number(1));
  app.add_option("--time-limit", o.stop.time_limit_s, "seconds for the iteration")
      ->check(number_from(0, false));
  app.add_option("--lambda-min", o.lambda_min,
                 "a number that no eigenvalue of M^-1 A is below, for a bound of the error")
      ->check(number_from(0, false));
  app.add_option("--output", o.output, "write x as a Matrix Market vector; - for standard output");
  app.add_option("--history", o.history,
                 "write residual and error bounds of each iteration as CSV; likewise");
  app.add_option("--json", o.json, "write the report as JSON; likewise");
  app.add_option("--report", o.page,
                 "write a page about the solve, one HTML file that needs no network; likewise");
  app.add_option("--witness", o.witness,
                 "write the direction p with p'Ap <= 0, where one is found, as a vector; likewise");
  add_read_options(app, o.read);
  app.add_flag("--low-memory", o.read.low_memory,
               "read a file twice rather than keep its entries beside the matrix; slower")
      ->group("Reading");
  app.add_flag(
      "--project", o.project,
      "where rows of A sum to 0, as without boundary conditions, solve for b without the part\n"
      "that is outside the range of A");
  app.add_flag("--strict", o.strict,
               "a preconditioner that cannot be built is an error, not replaced by a simpler one");
  app.add_flag("--quiet", o.quiet, "no report; the exit code, errors and files say all");
  add_machine_options(app, o.machine);
}

/// Standard output takes one document: the report, or what one option sends to "-".
void check_standard_output(const Options& o) {
  std::vector<std::string> users;
  if (!o.quiet) users.emplace_back("the report");
  const std::pair<std::string_view, const std::string&> options[] = {
      {"--output", o.output}, {"--history", o.history}, {"--json", o.json},
      {"--report", o.page},   {"--witness", o.witness}, {"--save-tuning", o.save_choice}};
  for (const auto& [name, value] : options) {
    if (!value.empty() && descriptor_of(value) == 1)
      users.push_back(fmt::format("{} {}", name, value));
  }
  if (users.size() < 2) return;
  throw UsageError(fmt::format("{} would mix on standard output{}", join(users, " and "),
                               o.quiet ? "" : "; add --quiet"));
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Solves A x = b for a symmetric (Hermitian) matrix from a file, with conjugate gradients\n"
      "where --solver names no other method, and reports the residual computed from the x that\n"
      "it found.\n"
      "Exit code: 0 converged, 1 any other outcome (also Ctrl-C), 2 bad input or usage,\n"
      "3 internal error or not enough memory. SIGTERM and SIGHUP end the solve as Ctrl-C does: x\n"
      "and report are written, then the signal ends the program (143, 129 in a shell).",
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
  if (options.quiet && options.explain) {
    throw UsageError("--explain adds to the report, which --quiet leaves out");
  }
  if (options.quiet && options.profile && options.json.empty() && options.page.empty()) {
    throw UsageError("--profile adds to the report and to --json, and --quiet leaves out the one");
  }
  check_standard_output(options);
  check_writable(files_of(options),
                 {options.matrix, options.rhs, options.x0, options.near_null, options.coordinates,
                  options.choice == options.save_choice ? std::string() : options.choice});
  options.read.threads = std::max(options.machine.threads, 0);
  options.words.assign(argv, argv + argc);
  options.words.front() = "cg_solve";
  int code = exit_internal;
  {
    const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
    std::optional<Profiler> profiler;
    if (options.profile) profiler.emplace();
    code = run(options);
  }
  CatchInterrupt::raise_again();
  return code;
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  krysol::apps::settle_waiting(argv);
  return krysol::apps::run_program("cg_solve",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
