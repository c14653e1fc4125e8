// Solves that went on from each other's x, as one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/solver.hpp>

namespace krysol::choice {

/// `all` becomes the result of both, where `next` began with the x that `all` ended with, for the
/// same b and criteria. Status, spectrum and breakdown are those of `next`; iterations count on,
/// histories and counters are put together.
void join(SolveResult& all, SolveResult next);

}  // namespace krysol::choice
