// The cache of parsed matrices: reads a matrix from it, or parses the file and writes the cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <krysol/io/cache/cache_format.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// Gives the matrix in the cache of `source`, bit for bit what `read()` would give, where there is
/// a cache and it is good; else that of `read()`, which it keeps for the next time. The caches of
/// one source read by different options (`options_key`) are different files.
///
/// A cache is good where it is a file of this user in this version of the format, all its checksums
/// are right, and it was made from that path by those options when the source had the same size,
/// inode and times, to the nanosecond, as now. With `options.cache.verify` inode and times do not
/// count: the hash of all bytes of the source does (docs/matrix-cache.md). Anything else is read
/// anew and replaced, and so is a cache that is cut or changed while it is read.
///
/// No cache is written of a source that is no regular file, that changed while it was read, or that
/// was modified less than two seconds before: a further change might leave its times the same. A
/// cache appears under its name only when it is complete, so several processes may share it.
///
/// `FileInfo::cache` says what became of it: "read from PATH", "written to PATH" (and what was
/// wrong with the one there), "not written: REASON" or "not used: REASON". No failure of a cache is
/// thrown, only what `read` throws. Without `options.cache.use` and KRYSOL_MATRIX_CACHE this is
/// `read()`. Cost: reading it, about what copying the file into fresh memory takes; writing it, a
/// copy of the matrix into the file system, and the source read once more.
MatrixFile read_through_cache(const std::filesystem::path& source, const ReadOptions& options,
                              const std::function<MatrixFile()>& read);

/// Where the cache of a source is, whether there is one or not. Throws FileError where the source
/// is no regular file, or where there is no folder for caches: no option, no variable, no HOME.
std::filesystem::path cache_path(const std::filesystem::path& source, const ReadOptions& options);

/// What a source is now; its hash, for which all of it is read, where `hashed`. Throws FileError
/// where it is no regular file, or changes while it is read.
SourceIdentity identify_source(const std::filesystem::path& source, const ReadOptions& options,
                               bool hashed);

/// All options by which a source gives another matrix, or another FileInfo, as text. Those that
/// decide only how fast it is read, or whether, are not in it.
std::string options_key(const ReadOptions& options);

}  // namespace krysol
