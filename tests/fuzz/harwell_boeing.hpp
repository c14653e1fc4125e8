// Harwell-Boeing texts: what is read is sound, in either mode, and there and back the same.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/read.hpp>

#include "checks.hpp"

namespace krysol_fuzz {

inline void fuzz_harwell_boeing(std::string_view bytes) {
  const std::string text(bytes);  // a NUL after the last byte
  const auto path = Scratch::put("text", text);
  const auto parse = [&](bool repair) {
    return outcome_of(
        [&] { return krysol::parse_harwell_boeing(text, path.string(), small_options(repair)); });
  };
  const auto strict = parse(false);
  const auto repaired = parse(true);
  require_of_modes(strict, repaired);
  if (krysol::is_harwell_boeing(text) && !krysol::is_compressed(text) && !krysol::is_tar(text)) {
    const auto file = outcome_of([&] { return krysol::read_matrix(path, small_options(false)); });
    require(same(file, strict), "a file reads as its text does");
  }
}

}  // namespace krysol_fuzz
