// The processor: how many of its cores this process may use, how long a thread had one, and what
// the kernels at hand were compiled for; what control groups leave of it, and of the memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace krysol {

/// Cores that this process may keep busy: those of its affinity mask, and no more than the quotas
/// of its control groups (cpu.max, cpu.cfs_quota_us) come to, rounded to the nearest; one at least.
/// Counted once.
int usable_cores();

/// Threads to start where nobody asks for a number by Kokkos' own settings: those that OpenMP would
/// start (OMP_NUM_THREADS), but no more than usable_cores(), because two threads on one core wait
/// for each other. 0 where Kokkos is to decide.
int default_threads();

/// The level of the x86-64 psABI whose instructions the library uses: "x86-64" (SSE2), "x86-64-v2",
/// "x86-64-v3" (AVX2 and fused operations), "x86-64-v4" (AVX-512); another processor's name
/// elsewhere. Of a shared library that was installed for several levels, the one that was loaded.
std::string_view instruction_set();

/// Bytes of the caches that this process may count on.
struct CacheSizes {
  std::int64_t second = 0;  // second level, of all its cores
  std::int64_t stays = 0;   // arrays of no more bytes are still there when they are read again
};

/// From /sys/devices/system/cpu, once; where that says nothing, what 1 MiB of second level and
/// 16 MiB of third level a core would give.
const CacheSizes& cache_sizes();

/// Seconds for which the calling thread had a core. Asking is a call of the system, as long as a
/// short kernel.
double thread_seconds();

/// Takes the lines of an array out of all caches, at some 2 ns a line; nothing where the processor
/// has no such instruction (clflushopt, of x86-64 since 2015).
void drop_from_caches(const void* begin, std::int64_t bytes);

/// What tells this processor from others whose kernels run at other speeds: maker, model and flags,
/// as Linux shows them in /proc/cpuinfo; elsewhere the number of its cores alone.
std::string processor_identity();

namespace detail {

/// The text of a file; empty where there is none.
std::string text_of(const std::filesystem::path& path);

/// The least of `value(folder)` over the groups that a process belongs to and those above them; Inf
/// where there are none. controller: "cpu" or "memory". root: where control groups are mounted,
/// /sys/fs/cgroup. groups: what /proc/self/cgroup says; a path that is not there, as in containers,
/// is that of the root.
double least_of_groups(const std::filesystem::path& root, std::string_view groups,
                       std::string_view controller,
                       const std::function<double(const std::filesystem::path&)>& value);

/// The least quota, in cores, of the groups that a process belongs to and those above them; Inf
/// where there is none. root, groups: see least_of_groups.
double cpu_quota(const std::filesystem::path& root, std::string_view groups);

/// cache_sizes() of so many cores. cpus: /sys/devices/system/cpu, of whose cpu0 the caches are
/// those of each core. `stays` is the second level, and half of the third-level caches that the
/// cores belong to: arrays that fill a cache push each other out, and no more than 16 MiB a core,
/// because others share them (in a virtual machine, also cores that are not seen).
CacheSizes caches_of(const std::filesystem::path& cpus, int cores);

}  // namespace detail

}  // namespace krysol
