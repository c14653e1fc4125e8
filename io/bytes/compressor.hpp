// Compresses what is written, by the suffix of the file name: .gz, .bz2, .xz, .zst.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include <krysol/spmv/base/array.hpp>

struct archive;  // of libarchive

namespace krysol {

class ArchiveSink;

enum class Compression { none, gzip, bzip2, xz, zstd };

/// What the last suffix of a name asks for: `.gz`, `.bz2`, `.xz` or `.zst`; none for all others.
Compression compression_of(const std::filesystem::path& path);

/// The name without that suffix.
std::filesystem::path without_compression(const std::filesystem::path& path);

/// One compressed stream; the same bytes make the same stream at any time.
class Compressor {
 public:
  /// Takes the compressed bytes. What it throws comes out of the call that needed it.
  using Sink = std::function<void(std::string_view)>;

  /// `compression` is not none. Throws FileError where libarchive was built without it.
  Compressor(Compression compression, Sink sink);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void write(std::string_view text);

  /// Ends the stream. One that is not closed is thrown away, its last bytes with it.
  void close();

 private:
  struct Free {
    void operator()(archive* a) const;
  };
  void check(bool good) const;

  std::unique_ptr<ArchiveSink> sink_;
  std::unique_ptr<archive, Free> handle_;
};

/// True where a file may as well be several streams, for threads to make at a time. Not so gzip:
/// only the last stream's length and checksum are at the end of the file, where readers that see to
/// damage look for those of all.
bool made_of_streams(Compression compression);

/// `text` as a stream of its own. Such streams after each other make one file: every reader of
/// these compressions takes them for the texts after each other. Throws as a Compressor.
void pack(Compression compression, std::string_view text, Array<char>& packed);

}  // namespace krysol
