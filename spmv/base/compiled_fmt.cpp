// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of {fmt} that format and print, compiled once: in each file that calls them they
// would take a compiler four seconds. All other files include <fmt/core.h>, which only declares
// them.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

#include <cstdio>

namespace krysol::detail {

// Inline functions whose address is taken are emitted here.
extern std::string (*const fmt_vformat)(fmt::string_view, fmt::format_args);
extern void (*const fmt_vprint)(std::FILE*, fmt::string_view, fmt::format_args);
std::string (*const fmt_vformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;
void (*const fmt_vprint)(std::FILE*, fmt::string_view, fmt::format_args) = &fmt::vprint;

}  // namespace krysol::detail
