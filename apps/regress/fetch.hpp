// Matrices of the collection, from the network.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <vector>

#include "regress/matrix_list.hpp"

namespace krysol::apps {

/// Fetches those of the list that are to be fetched to their places by data/get-matrix, one after
/// the other; what is there already is looked at, and not fetched again. Those that did not come
/// have `problem` set, with what can be done. Throws UsageError where the script is not found: it
/// is looked for as KRYSOL_GET_MATRIX in the environment, in the source tree of this program, and
/// in share/krysol beside it. False where it was interrupted.
bool fetch_matrices(std::vector<ListedMatrix>& list, bool quiet);

/// The folder of this program; empty where the system does not say.
std::filesystem::path folder_of_this_program();

}  // namespace krysol::apps
