// gemm_bench: C = A B of dense blocks by every kernel, beside a serial reference and other
// libraries. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   gemm_bench
//   gemm_bench -x 1024 -y 1024 -z 1024 --type float --verify --transfers
//   gemm_bench -x 1000000 -y 8 -z 8 --kernel register --csv table.csv
#include "bench/bandwidth.hpp"
#include "bench/float_types.hpp"
#include "bench/gemm.hpp"
#include "bench/gemm_peers.hpp"
#include "common/cli.hpp"
#include "common/waiting.hpp"

namespace krysol::apps {
namespace {

struct Options {
  GemmBenchOptions bench;
  std::string type = "double";
  std::string csv;
  std::string json;
  bool no_peers = false;
  bool quiet = false;
  MachineOptions machine;
};

std::vector<std::string> kernel_names() {
  std::vector<std::string> names = {std::string(serial_kernel)};
  for (const DenseKernelInfo& k : list_dense_kernels()) names.emplace_back(k.name);
  return names;
}

std::string list_text() {
  auto kernels = list_dense_kernels();
  kernels.insert(kernels.begin(),
                 {serial_kernel, "reference: loops on one thread of the host", {}});
  return list_section("kernels (--kernel)", kernels) +
         fmt::format("peers of this build:\n  {}\n", gemm_peer_names());
}

void add_options(CLI::App& app, Options& o) {
  const CLI::Range sizes(std::int64_t{1}, std::int64_t{1} << 31);
  app.add_option("-x", o.bench.x, "rows of A and C")->check(sizes)->capture_default_str();
  app.add_option("-y", o.bench.y, "columns of A, rows of B")->check(sizes)->capture_default_str();
  app.add_option("-z", o.bench.z, "columns of B and C")->check(sizes)->capture_default_str();
  app.add_option("--block", o.bench.block, "rows and columns of a tile of the kernel tiled")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--type", o.type, "of the entries: double or float")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  app.add_option("--kernel", o.bench.kernels, "kernels, with commas between (default: all)")
      ->delimiter(',');
  app.add_option("--iterations", o.bench.turns, "turns that each candidate is timed in")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--warm-up", o.bench.warm_up, "turns before these")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--verify", o.bench.verify,
               "compare every entry of every kernel's C with a sum in a wider type");
  app.add_flag("--transfers", o.bench.transfers,
               "time as well what a single product costs: A and B to the device, C back");
  app.add_flag("--no-peers", o.no_peers, "leave other libraries out");
  app.add_option("--csv", o.csv, "write the table as CSV; - for standard output");
  app.add_option("--json", o.json, "write it as JSON; likewise");
  app.add_flag("--quiet", o.quiet, "no table; the exit code, errors and files say all");
  add_machine_options(app, o.machine);
}

int run(Options& o) {
  const auto check = known_name("kernel", kernel_names());
  for (const std::string& k : o.bench.kernels) {
    // The kernels have no variants after a colon.
    if (const std::string wrong = check(k); !wrong.empty() || k.find(':') != std::string::npos) {
      throw UsageError(wrong.empty() ? fmt::format("kernel '{}': there are no variants", k)
                                     : wrong);
    }
  }
  if (o.bench.kernels.empty()) o.bench.kernels = kernel_names();
  o.bench.peers = !o.no_peers;
  GemmReport report;
  if (o.type == "float") {
    require_float("--type float");
    if constexpr (holds_float) report = run_gemm_bench<float>(o.bench);
  } else {
    report = run_gemm_bench<double>(o.bench);
  }
  if (!o.machine.no_bandwidth && !o.quiet) report.bandwidth = measure_bandwidth();
  if (!o.quiet) print(as_text(report));
  if (!o.csv.empty()) write_file(o.csv, as_csv(report));
  if (!o.json.empty()) write_file(o.json, as_json(report, version_text()));
  bool measured = false;
  for (const GemmLine& line : report.lines) {
    if (line.wrong) return exit_not_converged;
    measured = measured || (!line.peer && line.refused.empty());
  }
  return measured ? exit_converged : exit_not_converged;
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Times C = A B of dense blocks, C of x rows and z columns, by every kernel of Krysol beside "
      "a\n"
      "serial reference and the other libraries that this build knows. Candidates take turns;\n"
      "medians count.\n"
      "Exit code: 0 done, 1 a result differs from the reference (--verify) or no kernel could be\n"
      "measured, 2 bad input or usage, 3 an internal error or not enough memory.",
      "gemm_bench"};
  add_options(app, options);
  if (const auto done = parse(app, argc, argv, "list kernels and peers", list_text)) return *done;
  const bool csv = options.csv == "-";
  const bool json = options.json == "-";
  if (static_cast<int>(csv) + static_cast<int>(json) + static_cast<int>(!options.quiet) > 1) {
    throw UsageError(
        "only one of the table, --csv - and --json - can go to standard output; add --quiet");
  }
  check_writable({options.csv, options.json});
  const Kokkos::ScopeGuard guard(kokkos_settings(options.machine));
  return run(options);
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  krysol::apps::settle_waiting(argv);
  return krysol::apps::run_program("gemm_bench",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
