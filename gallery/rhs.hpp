// Right-hand sides by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krysol::gallery {

/// What `--rhs` asks for.
struct RhsSpec {
  enum class Kind { file, attached, ones, random };
  Kind kind = Kind::random;
  bool times_a = true;  // b = A x* with x* as named: the error is then known
  std::uint64_t seed = 1;
  std::filesystem::path file;
  bool found = false;  // with the matrix, not asked for
  std::string text;    // as the report names it
};

/// The right-hand side where none is given and none found: x* is known, and b is not (nearly) zero
/// for a Laplacian, as A*ones would be.
inline constexpr const char* default_rhs = "A*random:1";

/// `ones`, `A*ones`, `random[:seed]`, `A*random[:seed]`, `attached`, or a file. An empty text is
/// the right-hand side that comes with the matrix (`has_attached`: in its file or archive; else
/// NAME_b.mtx beside NAME.mtx, as the collection ships it), or A*random:1 where there is none.
/// Throws std::invalid_argument for a seed that is not a number.
RhsSpec parse_rhs(const std::string& text, const std::filesystem::path& matrix,
                  bool has_attached = false);

/// n numbers between -1 and 1 that depend on the seed alone, on no library and no machine.
std::vector<double> random_numbers(std::size_t n, std::uint64_t seed);

}  // namespace krysol::gallery
