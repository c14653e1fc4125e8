// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a matrix file, beside other readers.
//
// Sample runs:  OMP_NUM_THREADS=2 read_bench big.mtx --eigen
//               OMP_NUM_THREADS=1 read_bench big.mtx --repeats 5
//                 --peer "fmm+tocsr=python3 benchmarks/read_peers.py mmread-tocsr {file} {threads}"
//               read_bench big.mtx.gz
//
// The readers take turns, so that a machine that slows down slows all of them; what counts is the
// ratio of medians within this run. What a reader returns is freed before the next one begins, and
// that is not timed. A peer is a command that prints, as its last line, the seconds that it
// measured by itself: what a process or an interpreter needs to start is not held against it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <Eigen/SparseCore>
#include <Kokkos_Core.hpp>
#include <unsupported/Eigen/SparseExtra>

#include <krysol/apps/bench/bandwidth.hpp>
#include <krysol/apps/bench/interleaved_timing.hpp>
#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/bytes/temporary_folder.hpp>
#include <krysol/io/cache/cache.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/read.hpp>
#include <krysol/io/read_csr.hpp>
#include <krysol/spmv/base/large_pages.hpp>
#include <krysol/spmv/base/spaces.hpp>

namespace {

namespace fs = std::filesystem;
using krysol::ReadOptions;

/// Returns seconds.
struct Reader {
  std::string name;
  std::int64_t bytes;  // that its speed is counted in
  std::function<double()> read;
  std::vector<double> seconds{};
};

template <class Body>
double seconds_of(const Body& body) {
  const Kokkos::Timer timer;
  [[maybe_unused]] const auto result = body();
  return timer.seconds();  // before the result goes
}

/// Virtual machines return what a guest frees to their host after a second or two, and whoever asks
/// for it next pays for getting it back. So that this is not the next reader, some memory is taken
/// and freed before each turn, in large pages, which need large gaps to be there again.
void warm_memory(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto memory = std::make_unique_for_overwrite<char[]>(size);
  krysol::use_large_pages(memory.get(), size);
  for (std::size_t k = 0; k < size; k += 4096) memory[k] = 1;
  asm volatile("" : : "r"(memory.get()) : "memory");
}

/// A file in memory of this process, as one who trusts it would have it: mapped, and copied to
/// where it can be written.
double map_and_copy(const fs::path& path) {
  const auto size = static_cast<std::size_t>(fs::file_size(path));
  return seconds_of([&] {
    const int file = ::open(path.c_str(), O_RDONLY);
    void* const map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    ::close(file);
    if (map == MAP_FAILED) throw std::runtime_error(path.string() + ": cannot be mapped");
    auto copy = std::make_unique_for_overwrite<char[]>(size);
    std::memcpy(copy.get(), map, size);
    asm volatile("" : : "r"(copy.get()) : "memory");  // or compilers see that nobody looks at it
    ::munmap(map, size);
    return copy;
  });
}

/// libarchive's decompression, its text dropped at once.
double decompress_alone(const fs::path& path) {
  return seconds_of([&] {
    const std::unique_ptr<archive, int (*)(archive*)> a(archive_read_new(), &archive_read_free);
    archive_read_support_filter_all(a.get());
    archive_read_support_format_raw(a.get());
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(a.get(), path.c_str(), std::size_t{1} << 20) != ARCHIVE_OK ||
        archive_read_next_header(a.get(), &entry) != ARCHIVE_OK) {
      throw std::runtime_error(archive_error_string(a.get()));
    }
    std::vector<char> text(std::size_t{1} << 20);
    std::int64_t bytes = 0;
    for (la_ssize_t n = 1; n > 0; bytes += n)
      n = archive_read_data(a.get(), text.data(), text.size());
    return bytes;
  });
}

double read_by_eigen(const std::string& path) {
  return seconds_of([&] {
    Eigen::SparseMatrix<double, Eigen::RowMajor> matrix;
    if (!Eigen::loadMarket(matrix, path)) throw std::runtime_error(path + ": Eigen cannot read it");
    return matrix;
  });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

double read_by_command(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
  if (!output) throw std::runtime_error(command + ": cannot be started");
  std::string last;
  char line[256];
  while (std::fgets(line, sizeof line, output.get()) != nullptr) last = line;
  char* end = nullptr;
  const double seconds = std::strtod(last.c_str(), &end);
  if (end == last.c_str() || !(seconds > 0)) {
    throw std::runtime_error(command + ": its last line is not a number of seconds: " + last);
  }
  return seconds;
}

struct Options {
  std::string file;
  int repeats = 5;
  bool eigen = false;
  bool write = false;
  std::vector<std::string> peers;
  std::string only;
};

/// "NAME=COMMAND".
Reader peer(const std::string& text, const Options& o, std::int64_t bytes) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) throw std::runtime_error("--peer takes NAME=COMMAND, not " + text);
  const std::string command = replaced(replaced(text.substr(at + 1), "{file}", o.file), "{threads}",
                                       std::to_string(krysol::Host().concurrency()));
  return {text.substr(0, at), bytes, [command] { return read_by_command(command); }};
}

std::vector<Reader> readers(const Options& o, const krysol::TemporaryFolder& folder) {
  const fs::path path = o.file;
  ReadOptions options;
  options.threads = krysol::Host().concurrency();
  ReadOptions scarce = options;
  scarce.low_memory = true;
  ReadOptions cached = options;
  cached.cache.use = true;
  cached.cache.folder = folder.path();

  const auto info = krysol::read_matrix(path, cached).info;
  const std::int64_t text = info.text_bytes;
  const fs::path cache = krysol::cache_path(path, cached);
  std::vector<Reader> all{
      {"read_matrix", text,
       [=] { return seconds_of([&] { return krysol::read_matrix(path, options); }); }},
      {"read_csr", text,
       [=] { return seconds_of([&] { return krysol::read_csr(path, options); }); }},
      {"read_csr, low memory", text,
       [=] { return seconds_of([&] { return krysol::read_csr(path, scarce); }); }}};
  if (fs::exists(cache)) {
    const auto size = static_cast<std::int64_t>(fs::file_size(cache));
    all.push_back({"from the cache", size,
                   [=] { return seconds_of([&] { return krysol::read_matrix(path, cached); }); }});
    all.push_back({"map and copy the cache", size, [=] { return map_and_copy(cache); }});
  } else {
    fmt::print("no cache: {}\n", info.cache);
  }
  if (info.bytes != info.text_bytes) {
    all.push_back({"decompression alone", text, [=] { return decompress_alone(path); }});
  }
  if (o.write) {
    const auto matrix = std::make_shared<krysol::MatrixFile>(krysol::read_matrix(path, options));
    const fs::path out = folder.path() / "written.mtx";
    krysol::WriteOptions write;
    write.threads = options.threads;
    all.push_back({"write_matrix", text, [=] {
                     return seconds_of([&] {
                       std::visit([&](const auto& a) { krysol::write_matrix(out, a, write); },
                                  matrix->matrix);
                       return 0;
                     });
                   }});
  }
  if (o.eigen) all.push_back({"Eigen loadMarket", text, [&o] { return read_by_eigen(o.file); }});
  for (const std::string& p : o.peers) all.push_back(peer(p, o, text));
  if (!o.only.empty()) {
    std::erase_if(all, [&o](const Reader& r) { return r.name != o.only; });
    if (all.empty()) throw std::runtime_error("--only: there is no reader " + o.only);
  }
  return all;
}

void compare(const Options& o) {
  const krysol::TemporaryFolder folder(fs::temp_directory_path(), "read_bench_");
  std::vector<Reader> all = readers(o, folder);
  const auto before = krysol::apps::measure_bandwidth();
  for (int k = -1; k < o.repeats; ++k) {  // the first turn warms up
    for (Reader& r : all) {
      warm_memory(4 * all[0].bytes);
      const double seconds = r.read();
      if (k >= 0) r.seconds.push_back(seconds);
    }
  }
  const auto after = krysol::apps::measure_bandwidth();

  fmt::print(
      "{}, {:.1f} MiB of text, {} threads, medians of {} turns; triad {:.1f} and {:.1f} GB/s\n\n",
      o.file, static_cast<double>(all[0].bytes) / 1048576, krysol::Host().concurrency(), o.repeats,
      before.triad, after.triad);
  fmt::print("{:<28}{:>9}{:>18}{:>9}{:>18}\n", "reader", "ms", "10 % .. 90 %", "MiB/s",
             "time, first = 1");
  const double base = krysol::apps::spread(all[0].seconds).median;
  for (const Reader& r : all) {
    const auto s = krysol::apps::spread(r.seconds);
    fmt::print("{:<28}{:>9.1f}{:>9.1f}{:>9.1f}{:>9.0f}{:>18.3f}\n", r.name, 1e3 * s.median,
               1e3 * s.low, 1e3 * s.high, static_cast<double>(r.bytes) / 1048576 / s.median,
               s.median / base);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Times readers of a matrix file, which take turns. Threads: OMP_NUM_THREADS.",
               "read_bench"};
  app.add_option("file", o.file, "a coordinate file of Matrix Market, compressed or not")
      ->required();
  app.add_option("--repeats", o.repeats, "turns that count")->check(CLI::Range(1, 1000));
  app.add_flag("--eigen", o.eigen, "Eigen's loadMarket takes turns too");
  app.add_flag("--write", o.write, "write_matrix, into a temporary folder, takes turns too");
  app.add_option("--peer", o.peers,
                 "NAME=COMMAND that prints seconds; {file} and {threads} are replaced");
  app.add_option("--only", o.only, "no other reader than this one, for profilers");
  CLI11_PARSE(app, argc, argv);
  const Kokkos::ScopeGuard guard;
  try {
    compare(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "read_bench: %s\n", error.what());
    return 2;
  }
  return 0;
}
