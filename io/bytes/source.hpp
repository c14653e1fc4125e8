// Files as streams of bytes, and of what those decompress to.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct archive;  // of libarchive

namespace krysol {

/// What an error number of the operating system means.
std::string reason(int error_number);

/// CRC-32 as gzip defines it (RFC 1952, section 8).
std::uint32_t crc32(std::string_view bytes);

/// That of two texts after each other, from those of each and the length of the second.
std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

/// True where the first bytes of a file are those of gzip.
bool is_gzip(std::string_view head);

/// True where one of the decompressors that run inside this process knows the first bytes.
bool is_compressed(std::string_view head);

/// An open file as a stream of blocks; remembers its last eight bytes, gzip's trailer. Failures are
/// FileErrors.
class Source {
 public:
  /// Bytes that tell what compressed a file.
  static constexpr std::size_t longest_magic = 8;

  /// `-` is standard input.
  explicit Source(const std::filesystem::path& path);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// What messages call it.
  static std::string name_of(const std::filesystem::path& path);
  const std::string& name() const { return name_; }
  int handle() const { return file_; }
  bool is_regular() const { return regular_; }             // can be read again
  std::int64_t size() const { return size_; }              // 0 where unknown, as for a pipe
  std::int64_t bytes_read() const { return bytes_read_; }  // so far
  std::uint32_t gzip_crc() const { return trailer_word(0); }
  std::uint32_t gzip_length() const { return trailer_word(4); }  // modulo 2^32

  /// Fills `data` as far as the file goes; less than `wanted` only at its end.
  std::size_t read(char* data, std::size_t wanted);

 private:
  void remember(const char* data, std::size_t size);
  std::uint32_t trailer_word(std::size_t at) const;

  std::string name_;
  int file_ = -1;
  bool regular_ = false;
  std::int64_t size_ = 0;
  std::int64_t bytes_read_ = 0;
  std::array<unsigned char, 8> last_{};
};

/// Decompression of one stream, after `head`, which was read to recognise it.
class Decompressor {
 public:
  Decompressor(Source& source, std::string head);
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// At most `wanted` bytes; 0 at the end. Throws FileError where the file is cut or damaged.
  std::size_t read(char* data, std::size_t wanted);

 private:
  struct Free {
    void operator()(archive* a) const;
  };
  static std::ptrdiff_t next_block(archive* a, void* self, const void** data) noexcept;
  [[noreturn]] void fail();
  void check_end();

  Source& source_;
  std::string block_;
  bool head_given_ = false;
  bool at_end_ = false;
  std::exception_ptr read_error_;
  std::unique_ptr<archive, Free> handle_;
};

}  // namespace krysol
