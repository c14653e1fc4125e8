// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/bytes/temporary_folder.hpp>

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <system_error>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>

namespace krysol {

TemporaryFolder::TemporaryFolder(const std::filesystem::path& where, const std::string& stem) {
  std::string name = (where / (stem + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw FileError(where.string() + ": no folder can be made in it: " + reason(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace krysol
