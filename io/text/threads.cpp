// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/text/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <krysol/spmv/base/processor.hpp>

namespace krysol {

namespace {

/// Calls `work`, which does not throw.
void run_team(int threads, const std::function<void()>& work) {
  if (threads <= 1) {
    work();
    return;
  }
#ifdef _OPENMP
  // Where OpenMP binds its threads, this one has a core of its own, which threads of another kind
  // would inherit and share.
#pragma omp parallel num_threads(threads)
  work();
#else
  std::vector<std::jthread> others;
  try {
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: those that are there do it
  }
  work();
#endif
}

}  // namespace

int reading_threads(int asked) {
  if (asked > 0) return asked;
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int wanted = std::atoi(text);
    if (wanted > 0) return std::min(wanted, usable_cores());
  }
  return usable_cores();
}

void on_threads(int threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr error;
  run_team(threads, [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace krysol
