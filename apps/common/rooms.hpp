// The rooms whose names the programs use as their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace krysol::gallery {}
namespace krysol::analysis {}
namespace krysol::report {}

namespace krysol::apps {
using namespace gallery;   // NOLINT(google-build-using-namespace)
using namespace analysis;  // NOLINT(google-build-using-namespace)
using namespace report;    // NOLINT(google-build-using-namespace)
}  // namespace krysol::apps
