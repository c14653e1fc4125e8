// Whole files: read into one buffer (decompressed), written so that no half file is ever seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <krysol/io/bytes/compressor.hpp>

namespace krysol {

/// The text of a file. One NUL follows the last byte and is not counted: a scanner may look at
/// view().end() and finds there a byte that ends every number.
class FileText {
 public:
  /// Begins with `head`; there is room for `expected` bytes. Throws std::bad_alloc.
  FileText(std::string_view head, std::int64_t expected);

  std::string_view view() const { return {data_.get(), size_}; }
  std::int64_t bytes_on_disk() const { return bytes_on_disk_; }
  void set_bytes_on_disk(std::int64_t bytes) { bytes_on_disk_ = bytes; }

  /// Appends what `read(data, size)` delivers, some of it; false where that is nothing. Throws
  /// std::bad_alloc.
  bool append(const std::function<std::size_t(char*, std::size_t)>& read);

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  void grow(std::size_t capacity);  // keeps what is there; throws std::bad_alloc

  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::int64_t bytes_on_disk_ = 0;
};

/// Reads a file to its end, `-` standard input. Whether it is compressed (gzip, bzip2, xz, zstd,
/// lz4, lzip, compress) is seen from its first bytes, not from its name; pipes are read too. Memory
/// grows with what has been decompressed, never with what a header claims. Throws FileError where
/// the file cannot be opened or read, is cut or damaged (gzip: length and checksum of the last
/// member are compared), or holds more than `max_text_bytes` of text.
FileText read_text(const std::filesystem::path& path, std::int64_t max_text_bytes);

/// Throws the FileError of a file whose text is longer than that.
[[noreturn]] void fail_too_long(const std::string& name, std::int64_t max_text_bytes);

/// The descriptor that "-", /dev/stdout or /dev/fd/5 stand for; -1 for other names. Behind it there
/// may be a file, which others write to through the same descriptor.
int descriptor_of(const std::filesystem::path& path);

/// What a path names after all symbolic links, also where there is no such file yet; the path
/// itself where they go in a circle.
std::filesystem::path behind_links(std::filesystem::path path);

/// How a file is written.
struct OutputOptions {
  unsigned permissions = 0666;  // of a new file, less the umask
  /// false: not waited for the disk, so that a power failure may leave a file that is cut. For what
  /// its reader checks and can make again.
  bool sync = true;
  std::optional<Compression> compression{};  // none: as the end of the name says
};

/// A file in the making. It is written under a temporary name in the same folder and takes its own
/// name in `commit()`, so that readers see the old file or the complete new one. Compressed as the
/// end of the name says (`.gz`, `.bz2`, `.xz`, `.zst`), or as asked. A file that exists keeps its
/// permissions and, after a symbolic link, its place; a new one gets those asked for, less the
/// umask. Devices and pipes are written directly, and so is what the program has open already: "-",
/// which is standard output, /dev/stdout, /dev/fd/5. All but the destructor
/// throw FileError (no such folder, no permission, disk full).
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path, OutputOptions options = {});
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

  /// Flushes, syncs to the disk (unless told not to) and gives the file its name. Nothing may be
  /// written afterwards.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error_number) const;
  void open(bool special);
  void open_temporary();
  void name_temporary();
  void link_temporary();
  void put(std::string_view text);
  void flush();
  void end_stream();
  void write_bytes(std::string_view bytes);
  void discard() noexcept;
  template <class Counter>
  void with_name(const Counter& work) const;

  OutputOptions options_;
  std::string name_;                 // as the caller gave it, for messages
  std::filesystem::path target_;     // with symbolic links resolved
  int descriptor_ = -1;              // that is open already and is to be written to
  std::filesystem::path temporary_;  // empty: written directly
  bool nameless_ = false;            // the file that is to be `temporary_` has no name yet
  Compression compression_ = Compression::none;
  std::string buffer_;
  std::unique_ptr<Compressor> stream_;
  std::int64_t bytes_written_ = 0;
  int file_ = -1;
};

/// `krysol` in the user's folder for what can be made again: $XDG_CACHE_HOME, else ~/.cache; empty
/// where the environment names neither.
std::filesystem::path user_cache_folder();

/// Removes what writers of this file left after that were killed in the middle of it, `age_s`
/// seconds ago or longer: temporary files of its name. Says nothing where it cannot.
void remove_abandoned(const std::filesystem::path& path, std::int64_t age_s);

}  // namespace krysol
