// A temporary folder, removed with all files in it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace krysol {

class TemporaryFolder {
 public:
  /// Makes a folder in `where` whose name begins with `stem`, for its owner alone. Throws FileError
  /// where none can be made.
  TemporaryFolder(const std::filesystem::path& where, const std::string& stem);
  /// Removes it with all that is in it.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace krysol
