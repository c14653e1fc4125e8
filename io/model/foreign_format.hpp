// Recognizes files of other formats (MATLAB, HDF5, ...), so that the message can say what to do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krysol {

/// Two words that differ in the case of their letters at most.
bool same_word(std::string_view a, std::string_view b);

/// Line `number`, from 1, of a text, without its line end; empty where there are fewer.
std::string_view line_of(std::string_view text, int number);

/// What `head` is where it is not text: binary data, or a known binary format. A sentence, or none.
std::optional<std::string> foreign_content(std::string_view head);

/// What a file is that is not Matrix Market and cannot be repaired, with what to do; decided by its
/// content, by its name where the content says nothing.
std::optional<std::string> foreign_format(std::string_view text, const std::string& name);

}  // namespace krysol
