// The exceptions of readers: FileError, and ParseError with line and column.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace krysol {

/// A file that cannot be opened, read, decompressed or written. The message starts with its name.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file whose text is not what its format demands.
/// what(): `file:line:column: what was expected, what was found`; line and column start at 1, the
/// column counts bytes.
class ParseError : public FileError {
 public:
  ParseError(const std::string& file_name, std::int64_t line_number, std::int64_t column_number,
             const std::string& what_was_wrong)
      : FileError(file_name + ":" + std::to_string(line_number) + ":" +
                  std::to_string(column_number) + ": " + what_was_wrong),
        file(file_name),
        line(line_number),
        column(column_number) {}

  std::string file;
  std::int64_t line;
  std::int64_t column;
};

}  // namespace krysol
