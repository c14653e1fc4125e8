// How programs are told to read matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <krysol/io/model/matrix_file.hpp>

namespace krysol::apps {

/// Adds --repair and what decides about single kinds of departures (--index-base, --triangle,
/// --junk, --not-finite, --duplicates), --cache, --cache-folder, --verify-cache and --member.
void add_read_options(CLI::App& app, ReadOptions& options);

}  // namespace krysol::apps
