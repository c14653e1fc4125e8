// Tar archives, plain or compressed, as streams of their members.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <krysol/io/bytes/stream.hpp>

namespace krysol {

/// True where a text, which may be that of a compressed file, begins with the header of a member:
/// its sum of bytes is as the header says (POSIX.1-1988 ustar, and v7 before it).
bool is_tar(std::string_view head);

/// Members go by once, in the order of the archive. All throw FileError where the archive cannot be
/// read, is cut or damaged, or unpacks to more than `max_text_bytes`. One that ends between two
/// members, without the mark of its end, is cut.
class Archive {
 public:
  struct Member {
    std::string name;  // with its folders
    std::int64_t bytes = 0;
    std::int64_t number = 0;  // from 0, of the files in the archive
  };

  Archive(const std::filesystem::path& path, std::int64_t max_text_bytes);

  /// `stream` is that of the file at `path`, of which no more than the head has been read.
  Archive(std::unique_ptr<Stream> stream, const std::filesystem::path& path,
          std::int64_t max_text_bytes);

  /// The next file; folders and links are passed over. At the end, where there is none, what the
  /// compression promises has been compared.
  std::optional<Member> next();

  /// The text of the member that `next` returned, which may be left before its end; the next
  /// member ends it. `is_repeatable()` is true unless the archive comes from a pipe.
  std::unique_ptr<Stream> text();

  std::int64_t file_bytes() const;

  /// False of a pipe.
  bool is_repeatable() const;

 private:
  class Tar;
  class MemberStream;
  std::shared_ptr<Tar> tar_;
};

}  // namespace krysol
