// Writes tar archives, compressed or not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <krysol/io/bytes/file.hpp>

struct archive;  // of libarchive

namespace krysol {

class ArchiveSink;

/// POSIX.1-1988 ustar, and pax headers where a member is longer than that can say (8 GiB). It is
/// written as an OutputFile is: compressed as the end of its name says, or as asked, and seen under
/// its name when it is complete. Times and owners of files stay out, so that the same members make
/// the same bytes. All but the destructor throw FileError.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(const std::filesystem::path& path, OutputOptions options = {});
  /// Nothing is left unless `commit()` has succeeded.
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// The bytes of `file` under `name`, which may have folders before it.
  void add(const std::string& name, const std::filesystem::path& file);

  void commit();

 private:
  struct Free {
    void operator()(archive* a) const;
  };
  void check(bool good) const;

  std::string name_;
  OutputFile file_;
  std::unique_ptr<ArchiveSink> sink_;
  std::unique_ptr<archive, Free> handle_;
};

}  // namespace krysol
