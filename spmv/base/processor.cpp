// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/processor.hpp>

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define KRYSOL_CPUID
#include <cpuid.h>
#endif

namespace krysol {
namespace detail {
namespace {

using OfFolder = std::function<double(const std::filesystem::path&)>;

/// Of a group and of those above it.
double least_above(const std::filesystem::path& mount, std::string_view group,
                   const OfFolder& value) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::path(group).relative_path();
  if (!is_directory(mount / path, ignored)) path.clear();
  double least = value(mount);
  for (; !path.empty(); path = path.parent_path()) {
    least = std::min(least, value(mount / path));
  }
  return least;
}

}  // namespace

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;  // keeps errors of reading to itself
  text << in.rdbuf();
  return text.str();
}

double least_of_groups(const std::filesystem::path& root, std::string_view groups,
                       std::string_view controller, const OfFolder& value) {
  double least = std::numeric_limits<double>::infinity();
  const std::string wanted = "," + std::string(controller) + ",";
  while (!groups.empty()) {
    const auto end = std::min(groups.find('\n'), groups.size());
    const std::string_view line = groups.substr(0, end);
    groups.remove_prefix(std::min(end + 1, groups.size()));
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {  // version 2
      least = std::min(least, least_above(root, group, value));
    } else if (("," + std::string(controllers) + ",").find(wanted) != std::string::npos) {
      least = std::min(least, least_above(root / controller, group, value));
      least = std::min(least, least_above(root / controllers, group, value));
    }
  }
  return least;
}

}  // namespace detail

namespace {

using detail::text_of;

constexpr double no_quota = std::numeric_limits<double>::infinity();

/// quota / period of "max 100000", "150000 100000"; v1 has the two in files of their own, and -1
/// for none.
double quota_of(const std::string& quota, const std::string& period) {
  const double q = std::strtod(quota.c_str(), nullptr);
  const double p = std::strtod(period.c_str(), nullptr);
  return q > 0 && p > 0 ? q / p : no_quota;
}

double quota_of_folder(const std::filesystem::path& folder) {
  const std::string both = text_of(folder / "cpu.max");
  const auto space = both.find(' ');
  const double v2 =
      space == std::string::npos ? no_quota : quota_of(both.substr(0, space), both.substr(space));
  const double v1 =
      quota_of(text_of(folder / "cpu.cfs_quota_us"), text_of(folder / "cpu.cfs_period_us"));
  return std::min(v1, v2);
}

int cores_of_mask() {
#if defined(_OPENMP)
  return omp_get_num_procs();  // also where threads are bound by now
#else
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
#endif
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
#endif
}

}  // namespace

double detail::cpu_quota(const std::filesystem::path& root, std::string_view groups) {
  return least_of_groups(root, groups, "cpu", quota_of_folder);
}

namespace {

/// "512K", "32M", or plain bytes.
std::int64_t size_of(const std::string& text) {
  char* end = nullptr;
  const long long n = std::strtoll(text.c_str(), &end, 10);
  if (n <= 0 || n > (1LL << 40)) return 0;
  const std::int64_t unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : 1;
  return n * unit;
}

/// The processors of "0-3,8,10-11".
int length_of_list(const std::string& text) {
  int count = 0;
  const char* at = text.c_str();
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    if (last < first || last > (1 << 20)) return 0;
    count += static_cast<int>(last - first + 1);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

}  // namespace

CacheSizes detail::caches_of(const std::filesystem::path& cpus, int cores) {
  constexpr std::int64_t mib = 1 << 20;
  std::int64_t second = mib;
  int share_second = 1;
  std::int64_t third = 16 * mib * cores;
  for (int index = 0; index < 8; ++index) {
    const std::filesystem::path cache = cpus / "cpu0/cache" / ("index" + std::to_string(index));
    const std::string level = text_of(cache / "level").substr(0, 1);
    if (level != "2" && level != "3") continue;  // each file read takes some 10 us
    const std::int64_t size = size_of(text_of(cache / "size"));
    if (size == 0) continue;
    const int sharing = std::max(1, length_of_list(text_of(cache / "shared_cpu_list")));
    if (level == "2") {
      second = size;
      share_second = sharing;
    }
    if (level == "3") {
      third = size * ((cores + sharing - 1) / sharing);
    }
  }
  second *= (cores + share_second - 1) / share_second;
  return {second, second + std::min(third, 16 * mib * cores) / 2};
}

const CacheSizes& cache_sizes() {
  static const CacheSizes bytes = detail::caches_of("/sys/devices/system/cpu", usable_cores());
  return bytes;
}

int usable_cores() {
  static const int counted = [] {
    int cores = cores_of_mask();
#if defined(__linux__)
    const double quota = detail::cpu_quota("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
    if (quota < cores) cores = static_cast<int>(std::lround(quota));
#endif
    return std::max(1, cores);
  }();
  return counted;
}

int default_threads() {
#if defined(_OPENMP)
  if (std::getenv("KOKKOS_NUM_THREADS") != nullptr) return 0;
  constexpr int most = 512;  // that Kokkos has room for
  return std::min({omp_get_max_threads(), usable_cores(), most});
#else
  return 0;
#endif
}

std::string_view instruction_set() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
  return "x86-64-v3";
#elif defined(__SSE4_2__) && defined(__POPCNT__)
  return "x86-64-v2";
#elif defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "another processor";
#endif
}

#ifdef KRYSOL_CPUID
namespace {

__attribute__((target("clflushopt"))) void flush_lines(const char* begin, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  for (std::int64_t k = 0; k < bytes; k += line) {
    __builtin_ia32_clflushopt(const_cast<char*>(begin) + k);  // it changes nothing
  }
}

}  // namespace

void drop_from_caches(const void* begin, std::int64_t bytes) {
  static const bool has = [] {
    std::array<unsigned, 4> r{};
    return __get_cpuid_count(7, 0, &r[0], &r[1], &r[2], &r[3]) != 0 &&
           (r[1] & unsigned{bit_CLFLUSHOPT}) != 0;
  }();
  if (has) flush_lines(static_cast<const char*>(begin), bytes);
}
#else
void drop_from_caches(const void*, std::int64_t) {}
#endif

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string processor_identity() {
  // The first processor's lines but for those that change from one moment, or core, to the next.
  constexpr std::string_view wanted[] = {"vendor_id",       "cpu family", "model",
                                         "stepping",        "flags",      "cache size",
                                         "CPU implementer", "CPU part",   "Features"};
  std::string identity;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line) && !line.empty();) {
    const auto end = line.find_last_not_of(" \t", line.find(':') - 1);
    const std::string_view key = std::string_view(line).substr(0, end + 1);
    if (std::find(std::begin(wanted), std::end(wanted), key) != std::end(wanted)) {
      identity += line + "\n";
    }
  }
  if (identity.empty()) {
    identity = std::to_string(std::thread::hardware_concurrency()) + " cores";
  }
  return identity;
}

}  // namespace krysol
