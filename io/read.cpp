// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/read.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <krysol/io/bytes/archive.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/bytes/source.hpp>
#include <krysol/io/cache/cache.hpp>
#include <krysol/io/harwell_boeing/harwell_boeing.hpp>
#include <krysol/io/matrix_market/matrix_market.hpp>
#include <krysol/io/model/foreign_format.hpp>
#include <krysol/spmv/base/join.hpp>

namespace krysol {
namespace {

MatrixFile read_harwell_boeing(Stream& stream, const ReadOptions& options) {
  const FileText text = stream.whole();
  try {
    MatrixFile file = parse_harwell_boeing(text.view(), stream.name(), options);
    file.info.bytes = text.bytes_on_disk();
    return file;
  } catch (const std::bad_alloc&) {
    throw FileError(stream.name() + ": not enough memory to hold its entries");
  }
}

/// Throws FileError where the first bytes show that this is no text, of which then no more is read.
void check_text(const Stream& stream) {
  if (is_matrix_market(stream.head()) || is_harwell_boeing(stream.head())) return;
  if (const auto what = foreign_content(stream.head())) {
    throw FileError(stream.name() + ": " + *what);
  }
}

/// Throws FileError where a member is asked of what is not an archive.
void check_no_member(const Stream& stream, const ReadOptions& options) {
  if (options.member.empty()) return;
  throw FileError(fmt::format("{}: is no tar archive, so there is no file {} in it (--member)",
                              stream.name(), options.member));
}

/// Of a text that is not an archive.
MatrixFile read_text_matrix(std::unique_ptr<Stream> stream, const ReadOptions& options) {
  check_text(*stream);
  if (is_harwell_boeing(stream->head())) return read_harwell_boeing(*stream, options);
  return read_matrix_market(std::move(stream), options);
}

DenseFile read_text_dense(std::unique_ptr<Stream> stream, const ReadOptions& options) {
  check_text(*stream);
  if (!is_harwell_boeing(stream->head())) return read_dense_matrix_market(*stream, options);
  DenseFile rhs = read_harwell_boeing(*stream, options).attached.rhs;
  if (rhs.cols == 0) {
    throw FileError(stream->name() + ": is a Harwell-Boeing matrix without right-hand sides");
  }
  return rhs;
}

/// The last folder and the file of "NAME/NAME.mtx", this without its suffix.
struct MemberName {
  std::string_view folder;
  std::string_view stem;
  bool matrix_market = false;
};

MemberName split_name(std::string_view name) {
  MemberName parts;
  const std::size_t slash = name.rfind('/');
  parts.stem = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (slash != std::string_view::npos) {
    const std::string_view path = name.substr(0, slash);
    parts.folder = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  }
  const std::size_t dot = parts.stem.rfind('.');
  if (dot != std::string_view::npos) {
    parts.matrix_market = parts.stem.substr(dot) == ".mtx";
    parts.stem = parts.stem.substr(0, dot);
  }
  return parts;
}

bool is_main_matrix(std::string_view name) {
  const MemberName parts = split_name(name);
  return !parts.folder.empty() && parts.stem == parts.folder;
}

bool is_rhs_of(std::string_view name, std::string_view matrix) {
  const MemberName rhs = split_name(name);
  const MemberName a = split_name(matrix);
  return rhs.matrix_market && rhs.folder == a.folder && rhs.stem == std::string(a.stem) + "_b";
}

bool looks_like_matrix(const Stream& text) {
  return is_matrix_market(text.head()) || is_harwell_boeing(text.head());
}

std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(names.size(), most);
  std::string text = fmt::format(
      "{}", join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// What an archive holds, seen in one pass.
struct Contents {
  std::vector<std::string> files;
  std::vector<std::string> matrices;  // those that look like one
};

[[noreturn]] void fail_several(const std::string& archive, const std::vector<std::string>& names) {
  throw FileError(fmt::format("{}: holds several matrices ({}); name one of them (--member)",
                              archive, names_of(names)));
}

/// The name of the matrix in an archive without NAME/NAME.mtx. Throws FileError where there are
/// none or several.
std::string only_matrix(const Contents& contents, const std::string& archive) {
  const auto is_rhs = [&](const std::string& name) {
    return std::any_of(contents.matrices.begin(), contents.matrices.end(),
                       [&](const std::string& a) { return is_rhs_of(name, a); });
  };
  std::vector<std::string> matrices;
  for (const std::string& name : contents.matrices) {
    if (!is_rhs(name)) matrices.push_back(name);
  }
  if (matrices.size() == 1) return matrices.front();
  if (!matrices.empty()) fail_several(archive, matrices);
  throw FileError(contents.files.empty()
                      ? fmt::format("{}: is an archive without any file", archive)
                      : fmt::format("{}: expected an archive with a matrix, found {}", archive,
                                    names_of(contents.files)));
}

/// Throws FileError where several folders have each a matrix of their name, as of archives that
/// were joined: none is the one that is meant.
void check_one_main_matrix(const Contents& contents, const std::string& archive) {
  std::vector<std::string> main;
  std::copy_if(contents.matrices.begin(), contents.matrices.end(), std::back_inserter(main),
               is_main_matrix);
  if (main.size() > 1) fail_several(archive, main);
}

/// A right-hand side by its name, kept as text until the matrix is known: it may come first.
struct RhsText {
  std::string member;
  std::string name;  // for messages
  FileText text;
};

/// What one pass over an archive brought.
struct Pass {
  Contents contents;
  std::string matrix_name;
  std::optional<MatrixFile> matrix;
  std::vector<RhsText> rhs;
  bool is_repeatable = true;
};

/// Reads the first member of a wanted name.
Pass pass_over(Archive archive, const ReadOptions& options,
               const std::function<bool(std::string_view)>& wanted) {
  Pass pass;
  pass.is_repeatable = archive.is_repeatable();
  while (const auto member = archive.next()) {
    pass.contents.files.push_back(member->name);
    auto text = archive.text();
    if (looks_like_matrix(*text)) pass.contents.matrices.push_back(member->name);
    if (!pass.matrix && wanted(member->name)) {
      pass.matrix_name = member->name;
      pass.matrix = read_text_matrix(std::move(text), options);
    } else if (split_name(member->name).stem.ends_with("_b") && is_matrix_market(text->head())) {
      pass.rhs.push_back({member->name, text->name(), text->whole()});
    }
  }
  return pass;
}

MatrixFile read_archive(Archive archive, const std::filesystem::path& path,
                        const ReadOptions& options) {
  const std::string name = Source::name_of(path);
  const auto named = [&](Archive in, const std::string& member) {
    Pass pass =
        pass_over(std::move(in), options, [&](std::string_view other) { return other == member; });
    if (!pass.matrix) {
      throw FileError(fmt::format("{}: holds no file {}, only {}", name, member,
                                  names_of(pass.contents.files)));
    }
    return pass;
  };
  Pass pass = options.member.empty() ? pass_over(std::move(archive), options, is_main_matrix)
                                     : named(std::move(archive), options.member);
  if (options.member.empty()) check_one_main_matrix(pass.contents, name);
  if (!pass.matrix) {
    const std::string only = only_matrix(pass.contents, name);
    if (!pass.is_repeatable) {
      throw FileError(
          fmt::format("{}: holds {}, which a pipe does not bring twice; name it "
                      "(--member)",
                      name, only));
    }
    pass = named(Archive(path, options.max_text_bytes), only);
  }
  for (const RhsText& rhs : pass.rhs) {
    if (!is_rhs_of(rhs.member, pass.matrix_name)) continue;
    pass.matrix->attached.rhs = parse_dense(rhs.text.view(), rhs.name, options);
  }
  pass.matrix->info.member = pass.matrix_name;
  return *std::move(pass.matrix);
}

DenseFile read_dense_archive(Archive archive, const std::filesystem::path& path,
                             const ReadOptions& options) {
  std::optional<DenseFile> found;
  std::vector<std::string> files;
  while (const auto member = archive.next()) {
    files.push_back(member->name);
    const MemberName name = split_name(member->name);
    const bool wanted = options.member.empty()
                            ? name.matrix_market && name.stem == std::string(name.folder) + "_b"
                            : member->name == options.member;
    if (wanted && !found) found = read_text_dense(archive.text(), options);
  }
  if (found) return *std::move(found);
  throw FileError(fmt::format("{}: expected an archive with {}, found {}", Source::name_of(path),
                              options.member.empty() ? "NAME/NAME_b.mtx" : options.member,
                              files.empty() ? "no file" : names_of(files)));
}

MatrixFile read_source(const std::filesystem::path& path, const ReadOptions& options) {
  auto stream = open_stream(path, options.max_text_bytes);
  if (is_tar(stream->head())) {
    return read_archive(Archive(std::move(stream), path, options.max_text_bytes), path, options);
  }
  check_no_member(*stream, options);
  return read_text_matrix(std::move(stream), options);
}

}  // namespace

MatrixFile read_matrix(const std::filesystem::path& path, const ReadOptions& options) {
  return read_through_cache(path, options, [&] { return read_source(path, options); });
}

DenseFile read_dense(const std::filesystem::path& path, const ReadOptions& options) {
  auto stream = open_stream(path, options.max_text_bytes);
  if (is_tar(stream->head())) {
    return read_dense_archive(Archive(std::move(stream), path, options.max_text_bytes), path,
                              options);
  }
  check_no_member(*stream, options);
  return read_text_dense(std::move(stream), options);
}

}  // namespace krysol
