// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps clang 15 (ROCm 5.2, Debian 12) from crashing when it compiles C++20 for an AMD device with libstdc++ 12.
//
// In the device pass that compiler dies in Sema::checkTypeSupport while it checks the constraints on the assignment
// operators of std::pair, which the nodes of a std::map may make it do: <regex>, <gtest/gtest.h> and
// <nlohmann/json.hpp> all run into it. libstdc++ has a second std::pair, for compilers without concepts and of the same
// layout; this header, found before the library's own of the same name, chooses that one.
#pragma once

#if defined(__clang__) && __clang_major__ < 16 && __cplusplus >= 202002L
// These define and use concepts of their own, and pair's header includes them: they must have been read before.
#include <compare>
#include <concepts>
#include <type_traits>
#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include_next <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")
#else
#include_next <bits/stl_pair.h>
#endif
