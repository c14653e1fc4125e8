// What --near-null and --coordinates tell multigrid.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include <krysol/io/read.hpp>
#include <krysol/solver/precond/near_null_vectors.hpp>

namespace krysol::apps {

/// The files of --near-null and --coordinates, one of them at most.
struct NearNullSource {
  const std::string& vectors;
  const std::string& coordinates;
  const ReadOptions& read;
};

/// What they hold; null without them. Throws UsageError, and what reading a file throws.
std::shared_ptr<const NearNullVectors> near_null_from(const NearNullSource& from);

}  // namespace krysol::apps
