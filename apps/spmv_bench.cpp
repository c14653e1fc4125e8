// spmv_bench: y = A x in every format, beside a serial reference and other libraries, in one run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   spmv_bench
//   spmv_bench data/gr_30_30.mtx --verify
//   spmv_bench poisson:50 --format csr,sell_c_sigma,auto --csv table.csv
//   spmv_bench --sizes 512:2048 --iterations 5
//   spmv_bench data --picture data.svg
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <krysol/spmv/kernels/variant.hpp>
#include <krysol/spmv/order/reorder.hpp>
#include <krysol/spmv/select/select.hpp>

#include <krysol/report/choice_report.hpp>
#include "bench/bandwidth.hpp"
#include "bench/bench.hpp"
#include "bench/bench_summary.hpp"
#include "bench/float_types.hpp"
#include "bench/peers.hpp"
#include "common/cli.hpp"
#include "common/matrix_source.hpp"
#include "common/waiting.hpp"

namespace krysol::apps {
namespace {

struct Options {
  std::vector<std::string> matrices;
  int limit = 0;  // 0: all
  Index length = 16384;
  double density = 0.01;
  std::vector<std::string> formats;
  BenchOptions bench;
  std::string reorder = "none";
  std::string sizes;
  std::string csv;
  std::string json;
  std::string picture;
  bool single = false;
  bool no_peers = false;
  bool quiet = false;
  bool explain = false;
  MachineOptions machine;
};

std::string list_text() {
  std::string out = formats_section();
  out += problems_section();
  out += fmt::format("peers of this build:\n  {}\n", peer_names());
  return out;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("matrix", o.matrices,
                 "Matrix Market files, folders of them, problems of --list such as poisson:100\n"
                 "(default: a random square matrix of --length and --density)");
  app.add_option("--limit", o.limit, "only that many matrices, those with the most nonzeros")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--length", o.length, "rows of the random matrix")
      ->check(whole_number(1, std::numeric_limits<Index>::max()))
      ->capture_default_str();
  app.add_option("--density", o.density, "share of its places that are filled")
      ->check(number_from(0, false))
      ->capture_default_str();
  app.add_option("--format", o.formats, "formats, with commas between (default: all, and auto)")
      ->delimiter(',');
  app.add_option("--reorder", o.reorder,
                 "none or rcm: the order of rows and columns, which is changed before anything is "
                 "timed")
      ->check(CLI::IsMember({"none", "rcm"}))
      ->capture_default_str();
  app.add_option("--iterations", o.bench.turns, "turns that each candidate is timed in")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--warm-up", o.bench.warm_up, "turns before these")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--verify", o.bench.verify, "compare every result with the serial reference");
  auto* transfers = app.add_flag("--transfers", o.bench.transfers,
                                 "time as well what a single product costs: x to the device, y "
                                 "back");
  app.add_flag("--managed", o.bench.managed,
               "with --transfers: memory that host and device share, instead of copies")
      ->needs(transfers);
  app.add_option("--vectors", o.bench.vectors,
                 "time as well a product of that many vectors at once, and compare it with one")
      ->check(CLI::Range(1, 1000000));
  auto* single = app.add_flag("--single", o.single, "float instead of double; no peers then");
  app.add_flag("--reduced", o.bench.reduced,
               "each format once more with values of float under vectors of double")
      ->excludes(single);
  app.add_flag("--no-peers", o.no_peers, "leave other libraries out");
  app.add_option("--sizes", o.sizes,
                 "FROM:TO, a table of speed-ups over random matrices of FROM, 2 FROM, ... rows");
  app.add_option(
         "--products", o.bench.products,
         "multiplications that auto chooses for: a fifth of their time is what choosing may "
         "take")
      ->check(number_from(0, true))
      ->capture_default_str();
  app.add_flag("--explain", o.explain, "how auto chose");
  app.add_option("--csv", o.csv, "write the table as CSV; - for standard output");
  app.add_option("--json", o.json, "write it as JSON; likewise");
  app.add_option("--picture", o.picture,
                 "draw speed-ups and GB/s of every candidate as SVG; likewise");
  app.add_flag("--quiet", o.quiet, "no tables; the exit code, errors and files say all");
  add_machine_options(app, o.machine);
}

std::string random_name(double length, double density) {
  return fmt::format("random:{:.0f}:{}", length, density);
}

HostCsr<float> in_single(const HostCsr<double>& a) {
  HostCsr<float> single;
  single.rows = a.rows;
  single.cols = a.cols;
  single.row_ptr = a.row_ptr;
  single.col_idx = a.col_idx;
  single.values = allocate<decltype(single.values)>("csr.values", a.nnz());
  for (std::size_t k = 0; k < a.values.extent(0); ++k) {
    single.values(k) = static_cast<float>(a.values(k));
  }
  return single;
}

BenchReport measure(const Options& o, const std::string& name, const HostCsr<double>& a) {
  BenchOptions options = o.bench;
  options.formats = o.formats;
  if (options.formats.empty()) {
    for (const FormatInfo& f : list_formats()) options.formats.emplace_back(f.name);
    options.formats.emplace_back("auto");
  }
  options.peers = !o.no_peers && !o.single;
  if (o.reorder != "none" && a.rows != a.cols) {
    throw NotForBenchmark(fmt::format("{}: --reorder {} takes square matrices, this one is {} x {}",
                                      name, o.reorder, a.rows, a.cols));
  }
  OrderChoice order;
  const HostCsr<double> moved = reorder(o.reorder, a, 0, order);
  BenchReport report;
  if constexpr (holds_float) {
    report = o.single ? run_bench(in_single(moved), options) : run_bench(moved, options);
  } else {
    report = run_bench(moved, options);
  }
  report.matrix = name;
  report.order = std::move(order);
  return report;
}

void check_formats(const Options& o) {
  const auto check = known_format();
  for (const std::string& f : o.formats) {
    if (const std::string wrong = check(f); !wrong.empty()) throw UsageError(wrong);
  }
}

/// Names of the random matrices of --sizes.
std::vector<std::string> sizes(const Options& o) {
  const auto colon = o.sizes.find(':');
  Index from = 0;
  Index to = 0;
  if (colon == std::string::npos || !read_count(std::string_view(o.sizes).substr(0, colon), from) ||
      !read_count(std::string_view(o.sizes).substr(colon + 1), to) || from > to) {
    throw UsageError(fmt::format("--sizes takes FROM:TO, as in 512:16384, not '{}'", o.sizes));
  }
  if (!o.matrices.empty() || o.limit > 0) {
    throw UsageError("--sizes makes random matrices; leave the file out, and --limit");
  }
  std::vector<std::string> list;
  for (std::int64_t n = from; n <= to; n *= 2) {
    list.push_back(random_name(static_cast<double>(n), o.density));
  }
  return list;
}

struct Results {
  std::vector<BenchReport> reports;
  std::vector<PassedOver> passed_over;
};

/// A line a matrix, as they come. One that cannot be had does not stop the others.
Results measure_collection(const Options& o, std::vector<std::string> names,
                           std::vector<PassedOver> passed_over) {
  Results out;
  out.passed_over = std::move(passed_over);
  if (o.limit > 0) names = largest(names, o.limit, out.passed_over);
  std::size_t width = sizeof("geometric mean of 1000") - 1;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::optional<Bandwidth> bandwidth;
  if (!o.machine.no_bandwidth) bandwidth = measure_bandwidth();
  for (const std::string& name : names) {
    const auto a = try_to_load(name, out.passed_over);
    if (!a) continue;
    try {
      out.reports.push_back(measure(o, name, *a));
    } catch (const NotForBenchmark& e) {
      out.passed_over.push_back({name, without_name(name, e.what()), false});
      continue;
    } catch (const std::bad_alloc& e) {
      const bool known = dynamic_cast<const OutOfMemory*>(&e) != nullptr;
      out.passed_over.push_back(
          {name,
           known ? fmt::format("not enough memory: {}", e.what())
                 : std::string("not enough memory for all formats of this matrix"),
           true});
      continue;
    } catch (const std::runtime_error& e) {  // what Kokkos throws where memory runs out
      out.passed_over.push_back({name, e.what(), true});
      continue;
    }
    out.reports.back().bandwidth = bandwidth;
    if (o.quiet) continue;
    if (out.reports.size() == 1) print(summary_head(out.reports[0], width));
    print(summary_line(out.reports.back(), width));
    if (o.explain && out.reports.back().choice) print(explain(*out.reports.back().choice));
  }
  if (o.quiet) return out;
  print(summary_end(out.reports, width));
  if (bandwidth) {
    print(fmt::format("bandwidth of this run: triad {:.1f} GB/s, reading {:.1f} GB/s\n",
                      bandwidth->triad, bandwidth->read));
  }
  for (const PassedOver& p : out.passed_over) {
    if (!p.broken) print(fmt::format("passed over: {}: {}\n", p.name, p.reason));
  }
  return out;
}

Results measure_one(const Options& o, const std::string& name) {
  Results out;
  out.reports.push_back(measure(o, name, load(name)));
  if (!o.machine.no_bandwidth && (!o.quiet || !o.json.empty() || !o.picture.empty())) {
    out.reports[0].bandwidth = measure_bandwidth();
  }
  if (!o.quiet) print(as_text(out.reports[0], o.explain));
  return out;
}

Results measure_sizes(const Options& o) {
  Results out;
  for (const std::string& name : sizes(o)) out.reports.push_back(measure(o, name, load(name)));
  if (!o.quiet) print(speed_ups_as_text(out.reports));
  return out;
}

Results measure_all(const Options& o) {
  constexpr const char* limit_of_one =
      "--limit takes the largest of several matrices; there is one";
  if (!o.sizes.empty()) return measure_sizes(o);
  if (o.matrices.empty()) {
    if (o.limit > 0) throw UsageError(limit_of_one);
    return measure_one(o, random_name(static_cast<double>(o.length), o.density));
  }
  std::vector<std::string> names;
  std::vector<PassedOver> passed_over;
  bool folder = false;
  for (const std::string& name : o.matrices) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(name, ignored)) {
      names.push_back(name);
      continue;
    }
    folder = true;
    const auto files = matrix_files(name, passed_over);
    names.insert(names.end(), files.begin(), files.end());
  }
  check_writable({o.csv, o.json, o.picture}, names);
  if (folder || names.size() > 1) return measure_collection(o, names, std::move(passed_over));
  if (o.limit > 0) throw UsageError(limit_of_one);
  return measure_one(o, names[0]);
}

/// Whether a format, and not the reference and peers alone, was measured at all.
bool has_figures(const Results& results) {
  for (const BenchReport& r : results.reports) {
    for (std::size_t k = 1; k < r.lines.size(); ++k) {
      if (!r.lines[k].peer && r.lines[k].refused.empty()) return true;
    }
  }
  return false;
}

int run(const Options& o) {
  check_formats(o);
  if (o.single) require_float("--single");
  if (o.bench.reduced) require_float("--reduced");
  const Results results = measure_all(o);
  if (!o.csv.empty()) write_file(o.csv, as_csv(results.reports));
  if (!o.json.empty()) {
    write_file(o.json, as_json(results.reports, results.passed_over, version_text()));
  }
  if (!o.picture.empty()) write_file(o.picture, as_svg(results.reports));
  bool broken = false;
  for (const PassedOver& p : results.passed_over) {
    if (p.broken) fmt::print(stderr, "spmv_bench: error: {}: {}\n", p.name, p.reason);
    broken = broken || p.broken;
  }
  if (broken) return exit_bad_input;
  for (const BenchReport& r : results.reports) {
    for (const BenchLine& line : r.lines) {
      if (line.wrong) return exit_not_converged;
    }
  }
  return has_figures(results) ? exit_converged : exit_not_converged;
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Times y = A x in every format of Krysol beside a serial reference and the other libraries\n"
      "that this build knows. Candidates take turns; medians count.\n"
      "Of several matrices each has a line; those that cannot be read are named at the end, and "
      "do\n"
      "not stop the others.\n"
      "Exit code: 0 done, 1 a result differs from the reference (--verify) or no format could be\n"
      "measured, 2 bad input or usage, one file of many that cannot be read among it, 3 an\n"
      "internal error or not enough memory.",
      "spmv_bench"};
  add_options(app, options);
  if (const auto done = parse(app, argc, argv, "list formats, problems, peers", list_text)) {
    return *done;
  }
  const auto on_standard_output = [](const std::string& path) { return path == "-" ? 1 : 0; };
  if (on_standard_output(options.csv) + on_standard_output(options.json) +
          on_standard_output(options.picture) + (options.quiet ? 0 : 1) >
      1) {
    throw UsageError(
        "only one of the tables, --csv -, --json - and --picture - can go to standard output; add "
        "--quiet");
  }
  check_writable({options.csv, options.json, options.picture});
  const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
  return run(options);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  krysol::apps::settle_waiting(argv);
  return krysol::apps::run_program("spmv_bench",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
