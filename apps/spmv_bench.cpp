// spmv_bench: y = A x in every format, beside a serial reference and other libraries, in one run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   spmv_bench
//   spmv_bench data/gr_30_30.mtx --verify
//   spmv_bench poisson:50 --format csr,sell_c_sigma,auto --csv table.csv
//   spmv_bench --sizes 512:2048 --iterations 5
#include <fstream>

#include <krysol/io/file.hpp>
#include <krysol/io/matrix_market.hpp>
#include <krysol/spmv/select.hpp>

#include "bandwidth.hpp"
#include "bench.hpp"
#include "cli.hpp"
#include "krysol_version.hpp"
#include "peers.hpp"
#include "problems.hpp"

namespace krysol::apps {
namespace {

struct Options {
  std::string matrix;
  Index length = 16384;
  double density = 0.01;
  std::vector<std::string> formats;
  BenchOptions bench;
  std::string sizes;
  std::string csv;
  std::string json;
  bool single = false;
  bool no_peers = false;
  bool quiet = false;
  bool explain = false;
  MachineOptions machine;
};

std::string list_text() {
  std::string out = formats_section();
  out += "problems (in place of a file):\n";
  for (const ProblemInfo& p : list_problems()) out += fmt::format("  {:<16}{}\n", p.name, p.what);
  out += fmt::format("peers of this build:\n  {}\n", peer_names());
  return out;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("matrix", o.matrix,
                 "Matrix Market file, or a problem of --list such as poisson:100\n"
                 "(default: a random square matrix of --length and --density)");
  app.add_option("--length", o.length, "rows of the random matrix")
      ->check(number_from(1))
      ->capture_default_str();
  app.add_option("--density", o.density, "share of its places that are filled")
      ->check(number_from(0, false))
      ->capture_default_str();
  app.add_option("--format", o.formats, "formats, with commas between (default: all, and auto)")
      ->delimiter(',');
  app.add_option("--iterations", o.bench.turns, "turns that each candidate is timed in")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--warm-up", o.bench.warm_up, "turns before these")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--verify", o.bench.verify, "compare every result with the serial reference");
  app.add_flag("--transfers", o.bench.transfers,
               "time as well what a single product costs: x to the device, y back");
  app.add_flag("--managed", o.bench.managed,
               "with --transfers: memory that host and device share, instead of copies");
  app.add_flag("--single", o.single, "float instead of double; no peers then");
  app.add_flag("--no-peers", o.no_peers, "leave other libraries out");
  app.add_option("--sizes", o.sizes,
                 "FROM:TO, a table of speed-ups over random matrices of FROM, 2 FROM, ... rows");
  app.add_flag("--explain", o.explain, "how auto chose");
  app.add_option("--csv", o.csv, "write the table as CSV; - for standard output");
  app.add_option("--json", o.json, "write it as JSON; likewise");
  app.add_flag("--quiet", o.quiet, "no tables; the exit code, errors and files say all");
  add_machine_options(app, o.machine);
}

std::string random_name(double length, double density) {
  return fmt::format("random:{:.0f}:{}", length, density);
}

/// A real matrix by the name of a file or a problem; complex ones have no serial reference here.
HostCsr<double> load(const std::string& name) {
  if (is_problem(name)) return make_problem(name);
  MatrixFile file = read_matrix(name);
  if (const auto* real = std::get_if<Triplets<double>>(&file.matrix)) return to_csr(*real).matrix;
  throw UsageError(fmt::format("{}: spmv_bench takes real matrices, this one is complex", name));
}

HostCsr<float> in_single(const HostCsr<double>& a) {
  HostCsr<float> single;
  single.rows = a.rows;
  single.cols = a.cols;
  single.row_ptr = a.row_ptr;
  single.col_idx = a.col_idx;
  single.values = fresh<decltype(single.values)>("csr.values", a.nnz());
  for (std::size_t k = 0; k < a.values.extent(0); ++k) {
    single.values(k) = static_cast<float>(a.values(k));
  }
  set_schedule(single, CsrSchedule::automatic);
  return single;
}

BenchReport measure(const Options& o, const std::string& name) {
  const HostCsr<double> a = load(name);
  BenchOptions options = o.bench;
  options.formats = o.formats;
  if (options.formats.empty()) {
    for (const FormatInfo& f : list_formats()) options.formats.emplace_back(f.name);
    options.formats.emplace_back("auto");
  }
  options.peers = !o.no_peers && !o.single;
  BenchReport report = o.single ? run_bench(in_single(a), options) : run_bench(a, options);
  report.matrix = name;
  return report;
}

void check_formats(const Options& o) {
  const auto check = known_format();
  for (const std::string& f : o.formats) {
    if (const std::string wrong = check(f); !wrong.empty()) throw UsageError(wrong);
  }
}

std::vector<std::string> names(const Options& o) {
  if (o.sizes.empty()) {
    return {o.matrix.empty() ? random_name(o.length, o.density) : o.matrix};
  }
  const auto colon = o.sizes.find(':');
  Index from = 0;
  Index to = 0;
  if (colon == std::string::npos || !read_count(std::string_view(o.sizes).substr(0, colon), from) ||
      !read_count(std::string_view(o.sizes).substr(colon + 1), to) || from > to) {
    throw UsageError(fmt::format("--sizes takes FROM:TO, as in 512:16384, not '{}'", o.sizes));
  }
  if (!o.matrix.empty()) throw UsageError("--sizes makes random matrices; leave the file out");
  std::vector<std::string> list;
  for (std::int64_t n = from; n <= to; n *= 2) {
    list.push_back(random_name(static_cast<double>(n), o.density));
  }
  return list;
}

int run(const Options& o) {
  check_formats(o);
  std::vector<BenchReport> reports;
  for (const std::string& name : names(o)) {
    reports.push_back(measure(o, name));
    if (!o.quiet && o.sizes.empty()) {
      if (!o.machine.no_bandwidth) reports.back().bandwidth = measure_bandwidth();
      print(as_text(reports.back(), o.explain));
    }
  }
  if (!o.quiet && !o.sizes.empty()) print(speed_ups_as_text(reports));
  if (!o.csv.empty()) write_file(o.csv, as_csv(reports));
  if (!o.json.empty()) write_file(o.json, as_json(reports, std::string(version::text)));
  for (const BenchReport& r : reports) {
    for (const BenchLine& line : r.lines) {
      if (line.wrong) return exit_not_converged;
    }
  }
  return exit_converged;
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Times y = A x in every format of Krysol beside a serial reference and the other libraries\n"
      "that this build knows. Candidates take turns; medians count.\n"
      "Exit code: 0 done, 1 a result differs from the reference (--verify), 2 bad input or usage.",
      "spmv_bench"};
  add_options(app, options);
  if (const auto done = parse(app, argc, argv, "list formats, problems, peers", list_text)) {
    return *done;
  }
  const bool csv = options.csv == "-";
  const bool json = options.json == "-";
  if (static_cast<int>(csv) + static_cast<int>(json) + static_cast<int>(!options.quiet) > 1) {
    throw UsageError(
        "only one of the tables, --csv - and --json - can go to standard output; add "
        "--quiet");
  }
  const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
  return run(options);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  return krysol::apps::run_program("spmv_bench",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
