// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/spmv/base/runtime.hpp>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/base/vector.hpp>

namespace krysol {
namespace {

// Never destroyed: objects of static storage may be destroyed after those of this file.
std::atomic<long>& leases() {
  static auto* const count = new std::atomic<long>(0);
  return *count;
}

void finalize_at_exit() {
  if (leases() == 0 && Kokkos::is_initialized()) Kokkos::finalize();
}

}  // namespace

void ensure_kokkos() {
  if (Kokkos::is_initialized()) return;
  static std::mutex starting;
  const std::lock_guard lock(starting);
  if (Kokkos::is_initialized()) return;
  if (Kokkos::is_finalized()) {
    throw std::logic_error(
        "krysol: Kokkos was finalized, and cannot be initialised again in the same process; call "
        "Krysol before Kokkos::finalize, and let the Kokkos::ScopeGuard live as long as it is "
        "used");
  }
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (const int threads = default_threads(); threads > 0) settings.set_num_threads(threads);
  Kokkos::initialize(settings);
  if (!on_host<Kokkos::DefaultExecutionSpace>) std::atexit(finalize_at_exit);
}

RuntimeLease::RuntimeLease() {
  ensure_kokkos();
  ++leases();
}

RuntimeLease::~RuntimeLease() { --leases(); }

}  // namespace krysol
