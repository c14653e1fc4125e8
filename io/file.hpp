// Whole files: read into one buffer (decompressed), written so that no half file is ever seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <krysol/io/compressor.hpp>

namespace krysol {

/// The text of a file. One NUL follows the last byte and is not counted: a scanner may look at
/// view().end() and finds there a byte that ends every number.
class FileText {
 public:
  std::string_view view() const { return {data_.get(), size_}; }
  std::int64_t bytes_on_disk() const { return bytes_on_disk_; }

 private:
  friend FileText read_text(const std::filesystem::path& path, std::int64_t max_text_bytes);
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  void grow(std::size_t capacity);  // keeps what is there; throws std::bad_alloc

  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::int64_t bytes_on_disk_ = 0;
};

/// Reads a file to its end. Whether it is compressed (gzip, bzip2, xz, zstd, lz4, lzip, compress)
/// is seen from its first bytes, not from its name; pipes are read too. Memory grows with what has
/// been decompressed, never with what a header claims. Throws FileError where the file cannot be
/// opened or read, is cut or damaged (gzip: length and checksum of the last member are compared),
/// or holds more than `max_text_bytes` of text.
FileText read_text(const std::filesystem::path& path, std::int64_t max_text_bytes);

/// Throws the FileError of a file whose text is longer than that.
[[noreturn]] void fail_too_long(const std::string& name, std::int64_t max_text_bytes);

/// A file in the making. It is written under a temporary name in the same folder and takes its own
/// name in `commit()`, so that readers see the old file or the complete new one. Compressed as the
/// end of the name says (`.gz`, `.bz2`, `.xz`, `.zst`), or as asked. A file that exists keeps its
/// permissions and, behind a symbolic link, its place; a new one gets those of the umask. Devices
/// and pipes are written directly; "-" is standard output. All but the destructor throw FileError
/// (no such folder, no permission, disk full).
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path,
                      std::optional<Compression> compression = std::nullopt);
  /// Removes the temporary file unless `commit()` has succeeded.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Compression compression() const { return compression_; }

  void write(std::string_view text);

  /// What `pack` made of the text that comes next, so that several threads can compress.
  void write_packed(std::string_view packed);

  /// Bytes that the file has by now, compressed ones where it is; all of them after `commit()`.
  std::int64_t bytes_written() const { return bytes_written_; }

  /// Flushes, syncs to the disk and gives the file its name. Nothing may be written afterwards.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error_number) const;
  void open(bool special);
  void open_temporary();
  void put(std::string_view text);
  void flush();
  void end_stream();
  void write_bytes(std::string_view bytes);
  void discard() noexcept;
  template <class Work>
  void with_name(const Work& work) const;

  std::string name_;                 // as the caller gave it, for messages
  std::filesystem::path target_;     // with symbolic links resolved
  std::filesystem::path temporary_;  // empty: written directly
  Compression compression_ = Compression::none;
  std::string buffer_;
  std::unique_ptr<Compressor> stream_;
  std::int64_t bytes_written_ = 0;
  int file_ = -1;
};

}  // namespace krysol
