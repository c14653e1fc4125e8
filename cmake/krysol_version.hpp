// What `--version` says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace krysol::version {

extern const char* const number;  // "0.1.0"
extern const char* const
    revision;  // abbreviated git hash, "+" after it if files differ, or "unknown"
extern const char* const kokkos;    // "4.5.1"
extern const char* const backend;   // "OpenMP", "CUDA", "HIP" or "Serial"
extern const char* const compiler;  // name and version
extern const char* const build;     // "Release", and "native" where tuned to the processor
extern const char* const text;      // all of it, on one line

}  // namespace krysol::version
