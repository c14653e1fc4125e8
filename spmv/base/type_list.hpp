// A list of types.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace krysol {

template <class... Types>
struct TypeList {};

}  // namespace krysol
