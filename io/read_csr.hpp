// Reads a file into compressed sparse rows in one step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <variant>

#include <krysol/io/model/matrix_file.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace krysol {

/// A matrix on the host, with the symmetry of its file expanded and duplicates summed.
struct CsrFile {
  FileInfo info;
  std::variant<Assembled<double>, Assembled<Kokkos::complex<double>>> matrix;
  AttachedVectors attached;
};

/// `to_csr` of what `read_matrix` reads. Memory at most, beside the matrix itself (12 bytes an
/// entry, complex 20, and 8 a row): the entries of the file, 16 bytes each, complex 24. With
/// `ReadOptions::low_memory`, where the file is Matrix Market, its lines are plain and it can be
/// read twice: 2 MiB a thread instead; the second pass puts entries where the first has counted
/// them. Throws as both, and FileError where the file changes between the passes.
///
/// OutOfMemory, before any array of a row or an entry is made, where they and `bytes_a_row`, what
/// the caller will need besides (a solve some 64), are more than the host has free: a file of 70
/// bytes may declare 2e9 rows.
CsrFile read_csr(const std::filesystem::path& path, const ReadOptions& options = {},
                 std::int64_t bytes_a_row = 0);

}  // namespace krysol
