// A piece of work, counted in a result and named to Kokkos Tools.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <krysol/solver/outcome/solver.hpp>

namespace krysol {

/// From its constructor to `done`: seconds and bytes of it go to the counter, and profilers see a
/// region of that name as long as it lives. Names: SpMV, vectors, preconditioner, true residuals,
/// as reports call the counters.
class TimedWork {
 public:
  TimedWork(const char* name, Counter& counter) : region_(name), counter_(counter) {}

  void done(double bytes) const { counter_.add(timer_.seconds(), bytes); }

 private:
  Kokkos::Profiling::ScopedRegion region_;
  Counter& counter_;
  Kokkos::Timer timer_;
};

}  // namespace krysol
