// A JSON report beside the table that describes it in docs/.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "test_paths.hpp"

#include <map>
#include <set>
#include <string>

#include "programs.hpp"

namespace krysol_tests {

/// Paths as in result.breakdown.largest_rows[].row, and the types that stand there.
using PathTypes = std::map<std::string, std::set<std::string>>;

/// Each path of the report with its type: result.breakdown.largest_rows[].row, integer. Objects and
/// arrays of objects are seen through their parts, except where the table names them.
inline void collect(const Json& j, const std::string& path, const std::set<std::string>& named,
                    PathTypes& types) {
  if (j.is_object()) {
    if (named.count(path) > 0) types[path].insert("object");
    for (const auto& [key, value] : j.items()) {
      collect(value, path.empty() ? key : path + "." + key, named, types);
    }
  } else if (j.is_array() && named.count(path) == 0) {
    for (const auto& element : j) collect(element, path + "[]", named, types);
  } else if (j.is_array()) {
    auto& of = types[path];
    if (!j.empty()) of.insert(j[0].is_string() ? "array of string" : "array of number");
  } else {
    types[path].insert(j.is_number_integer() ? "integer" : j.type_name());
  }
}

/// The table of a page in docs/: path, and the types that it allows.
inline PathTypes documented(const std::string& page) {
  PathTypes table;
  const auto doc = fs::path(KRYSOL_DATA_DIR).parent_path() / "docs" / page;
  for (const std::string& line : lines_of(text_of(doc))) {
    if (!line.starts_with("| `")) continue;
    const auto path_end = line.find('`', 3);
    std::string types = line.substr(path_end + 4);
    types = types.substr(0, types.find(" |"));
    auto& allowed = table[line.substr(3, path_end - 3)];
    for (std::size_t at = 0; at != std::string::npos;) {
      const auto next = types.find(" or ", at);
      allowed.insert(types.substr(at, next == std::string::npos ? next : next - at));
      at = next == std::string::npos ? next : next + 4;
    }
    if (allowed.count("number") > 0) allowed.insert("integer");  // 8.0 may be written as 8
  }
  return table;
}

/// All that was seen is in the table, as a type that it allows.
inline void expect_documented(const PathTypes& seen, const PathTypes& table) {
  for (const auto& [path, types] : seen) {
    ASSERT_EQ(table.count(path), 1U) << path << " is not documented";
    for (const std::string& type : types) {
      EXPECT_EQ(table.at(path).count(type), 1U) << path << " is of the type " << type;
    }
  }
}

}  // namespace krysol_tests
