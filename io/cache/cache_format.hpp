// The file that holds a parsed matrix, laid out as in docs/matrix-cache.md.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/hash.hpp>
#include <krysol/io/model/matrix_file.hpp>

namespace krysol {

/// What a matrix was read from, and how: all that decides what is in its cache.
struct SourceIdentity {
  std::string path;           // absolute, without symbolic links
  std::string options;        // those that change what is read, see `options_key`
  std::uint64_t bytes = 0;    // of the file
  std::int64_t modified = 0;  // its content, ns since 1970
  std::int64_t changed = 0;   // its content, name, owner or rights, ns since 1970
  std::uint64_t inode = 0;    // its number in the file system
  Hash128 hash{};             // of its content
};

/// A cache as it was written.
struct CachedMatrix {
  SourceIdentity source;
  MatrixFile file;  // but for FileInfo::cache
};

/// Bytes that are read by copying them. The copy is what is checked; no other process can change
/// it: a mapped file would kill the process where it is cut, and might change after the checks.
class CacheBytes {
 public:
  CacheBytes() = default;
  CacheBytes(const CacheBytes&) = delete;
  CacheBytes& operator=(const CacheBytes&) = delete;
  virtual ~CacheBytes() = default;

  virtual std::uint64_t size() const = 0;

  /// False where the bytes end before that. Threads share it.
  virtual bool read(std::uint64_t from, char* to, std::size_t bytes) const = 0;
};

/// Of an open regular file.
class CacheFile : public CacheBytes {
 public:
  /// Throws FileError of `name` where it cannot be opened, is a symbolic link or no regular file,
  /// or belongs to another user: who can write into a shared folder could else choose our matrix.
  CacheFile(const std::filesystem::path& path, const std::string& name);
  ~CacheFile() override;

  std::uint64_t size() const override { return size_; }
  bool read(std::uint64_t from, char* to, std::size_t bytes) const override;

 private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

/// Reads a cache in two steps: what it was made from, then the matrix.
class CacheReader {
 public:
  /// Reads and checks all but the arrays. Throws FileError of `name` where there is anything that
  /// this version of the format does not have. `bytes` must outlive it.
  CacheReader(const CacheBytes& bytes, std::string name);

  const SourceIdentity& source() const { return source_; }
  const FileInfo& info() const { return info_; }

  /// The matrix, bit for bit. Nothing is allocated that the file is too short for; the checksums of
  /// all arrays are compared, and indices with rows, columns and symmetry. Threads: those asked
  /// for, at most one for 4 MiB. Throws FileError of `name`, std::bad_alloc.
  ///
  /// An array is read in chunks that stay in a core's second cache while they are hashed and
  /// looked at. Bytes moved an entry: 16 (24 where complex) read and written.
  MatrixFile matrix(int threads) const;

 private:
  struct Section {
    std::uint32_t kind = 0;
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t chunk_bytes = 0;
    std::vector<std::uint64_t> checksums{};  // of each chunk

    std::uint64_t chunks() const;
  };
  class Fields;

  [[noreturn]] void fail(std::string_view why) const;
  std::string read_head() const;
  void decode(Fields& head);
  void decode_vectors(Fields& head);
  void decode_sections(Fields& head, std::uint32_t count);
  void check_layout(std::uint64_t head_bytes) const;
  template <class T>
  const Section& section(std::uint32_t kind, std::uint64_t numbers) const;
  void load(const Section& from, std::uint64_t chunk, void* to) const;
  template <class T>
  Triplets<T> triplets(int threads) const;
  template <class T>
  std::vector<T> vector(std::uint32_t kind, std::uint64_t numbers) const;

  const CacheBytes& bytes_;
  std::string name_;
  SourceIdentity source_;
  FileInfo info_;
  Symmetry symmetry_ = Symmetry::general;
  Index rows_ = 0;
  Index cols_ = 0;
  std::uint64_t entries_ = 0;
  AttachedVectors attached_;  // but for their numbers
  std::vector<Section> sections_;
};

/// A whole cache in memory; whatever the bytes are, this returns or throws FileError of `name` (or
/// std::bad_alloc).
CachedMatrix parse_cache(std::string_view bytes, const std::string& name, int threads = 1);

/// Writes all of a cache but commits nothing. Throws FileError; std::invalid_argument for a matrix
/// that no file holds: arrays of different lengths, indices outside the matrix or on the wrong side
/// of its diagonal.
void write_cache(OutputFile& out, const SourceIdentity& source, const MatrixFile& file,
                 int threads);

}  // namespace krysol
