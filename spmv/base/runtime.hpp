// Initializes Kokkos where the program has not done it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace krysol {

/// Initialises Kokkos where that has not been done: with its defaults and what its environment
/// variables say, and without its warnings. Several threads may call it at once. A program that
/// wants other settings, or Kokkos Tools to see its end, initialises Kokkos itself, before the
/// first call of Krysol.
///
/// Kokkos initialised here is never finalized where kernels run on the host: there is nothing to
/// release. With a GPU it is finalized when the process exits, unless a RuntimeLease still exists.
/// Throws std::logic_error after Kokkos::finalize, which cannot be undone in a process.
void ensure_kokkos();

/// Keeps ensure_kokkos() from finalizing Kokkos at exit while it lives: part of objects that hold
/// Views and may have static storage.
class RuntimeLease {
 public:
  /// Throws as ensure_kokkos does.
  RuntimeLease();
  ~RuntimeLease();
  RuntimeLease(const RuntimeLease&) = delete;
  RuntimeLease& operator=(const RuntimeLease&) = delete;
};

}  // namespace krysol
