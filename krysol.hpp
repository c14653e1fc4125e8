// All that a program needs to solve a system: krysol::solve, krysol::Solver, and matrices to give
// them. Formats, methods, preconditioners and files have headers of their own, in their rooms.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/solve.hpp>
#include <krysol/spmv/base/runtime.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>
#include <krysol/spmv/matrix/triplets.hpp>
