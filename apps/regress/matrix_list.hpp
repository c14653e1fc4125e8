// The matrices of a regression run: from folders, files, lists and an index of a collection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace krysol::apps {

/// What is known of a matrix before it is read. -1 and empty: not known.
struct ListedMatrix {
  std::string name;  // GROUP/NAME where an index knows it, else the path in its folder
  std::string file;  // as cg_solve takes it
  std::string group;
  std::int64_t file_bytes = 0;
  std::int64_t rows = -1;
  std::int64_t cols = -1;
  std::int64_t nonzeros = -1;
  std::string field;     // real, integer, pattern, complex
  std::string spd;       // "yes", "no"
  std::string problem;   // why it cannot be read: it becomes a row of the table
  bool fetched = false;  // it is to come from the collection
};

struct MatrixSelection {
  std::vector<std::string> places;      // folders, files, names of problems (poisson:20)
  std::vector<std::string> list_files;  // a place a line; # begins a comment
  std::vector<std::string> fetch;       // GROUP/NAME of the collection
  std::string fetch_folder;             // where those lie, as GROUP/NAME.tar.gz
  std::string index;                    // INDEX.tsv or ssstats.csv; empty: those of the folders
  std::int64_t min_rows = 0;
  std::int64_t max_rows = -1;  // -1: any
  std::int64_t min_nonzeros = 0;
  std::int64_t max_nonzeros = -1;
  std::string field;
  std::string group;
  std::string spd;
  std::string name;   // a part of it
  std::string shard;  // "3/16": every sixteenth, from the third on

  bool needs_sizes() const {
    return min_rows > 0 || max_rows >= 0 || min_nonzeros > 0 || max_nonzeros >= 0 || !field.empty();
  }
};

/// What listing matrices found beside them.
struct ListingNotes {
  std::vector<std::string> left_out;  // for a reason that the user may not expect, a line each
  std::vector<std::string> files;     // that are read: matrices, what belongs to them, indexes
};

/// The ending of the folder that a run works in, which holds no matrices of a collection.
inline constexpr const char* work_ending = ".regress-work";

/// Sorted by name; no name twice, and none that is not UTF-8 or has control characters: such bytes
/// stand as %XX. Nothing is fetched. Folders are looked through with those in them, for files with
/// the endings of the formats that the readers know; right-hand sides and the like (NAME_b.mtx
/// beside NAME.mtx, or in its archive) are none. Sizes and field that filters need and no index
/// tells come from the first lines of the file. Throws UsageError where a place is none, an index
/// has not the columns it needs, or a shard makes no sense.
std::vector<ListedMatrix> list_matrices(const MatrixSelection& selection, ListingNotes& notes);

/// "3/16" to both numbers. Throws UsageError where they are none, or make no sense.
std::pair<std::int64_t, std::int64_t> shard_of(const std::string& text);

/// What stands between separators; nothing after a last one.
std::vector<std::string> fields_of(const std::string& line, char separator);

/// A name that any file of results can hold, and that comes back from it: control characters and
/// bytes that are not UTF-8 as %XX.
std::string plain_name(const std::string& text);

/// Sizes and field from the first lines of Matrix Market, Harwell-Boeing and Rutherford-Boeing
/// files, compressed or first in an archive; false where they do not show.
bool read_sizes(ListedMatrix& matrix);

}  // namespace krysol::apps
