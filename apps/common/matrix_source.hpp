// The matrix that a program was asked for: a file, or a problem of the gallery by its name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <krysol/io/model/matrix_file.hpp>
#include <krysol/io/read_csr.hpp>

namespace krysol::apps {

/// True for the name of a problem ("poisson:100"), unless there is a file of that name.
bool is_made(const std::string& name);

/// read_csr, or the problem of that name. Throws as read_csr and make_problem do; UsageError where
/// options are about what a file holds and there is none.
CsrFile csr_from(const std::string& name, const ReadOptions& options, std::int64_t bytes_a_row);

/// read_matrix likewise; symmetric problems as their lower triangles.
MatrixFile matrix_from(const std::string& name, const ReadOptions& options);

/// How help describes the argument.
inline constexpr const char* matrix_argument =
    "Matrix Market, Harwell-Boeing or Rutherford-Boeing file, also compressed or in\n"
    "the collection's .tar.gz; - for standard input; or a problem that is made, such\n"
    "as poisson:100, see --list";

/// The section of --list.
std::string problems_section();

}  // namespace krysol::apps
