// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/collection.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>

#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/io/read.hpp>

#include <krysol/gallery/problems.hpp>
#include "common/matrix_source.hpp"

namespace krysol::apps {
namespace {

bool is_matrix_name(const std::filesystem::path& path) {
  // What read_text decompresses.
  constexpr std::array<std::string_view, 7> endings = {".gz",  ".bz2", ".xz", ".zst",
                                                       ".lz4", ".lz",  ".Z"};
  const auto ending = path.extension();
  if (ending == ".mtx") return true;
  return std::find(endings.begin(), endings.end(), ending.string()) != endings.end() &&
         path.stem().extension() == ".mtx";
}

}  // namespace

std::string without_name(const std::string& name, std::string_view message) {
  if (message.starts_with(name + ": ")) message.remove_prefix(name.size() + 2);
  return std::string(message);
}

std::vector<std::string> matrix_files(const std::filesystem::path& folder,
                                      std::vector<PassedOver>& passed_over) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::vector<fs::path> folders = {folder};
  // Folder by folder: a recursive iterator is at its end where one of them cannot be opened.
  while (!folders.empty()) {
    const fs::path here = folders.back();
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator entry(here, error);
    for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) {
        // Links may lead in circles.
        if (!entry->is_symlink(ignored)) folders.push_back(entry->path());
      } else if (is_matrix_name(entry->path())) {
        names.push_back(entry->path().string());
      }
    }
    if (!error) continue;
    if (here == folder) throw FileError(fmt::format("{}: {}", folder.string(), error.message()));
    passed_over.push_back(
        {here.string(), fmt::format("the folder cannot be read: {}", error.message()), true});
  }
  if (names.empty()) {
    throw UsageError(fmt::format("{}: holds no file whose name ends in .mtx or .mtx.gz{}",
                                 folder.string(),
                                 passed_over.empty() ? "" : " in the folders that can be read"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

HostCsr<double> load(const std::string& name) {
  if (is_made(name)) return make_problem(name);
  MatrixFile file = read_matrix(name);
  if (file.info.array) {
    throw NotForBenchmark(fmt::format("{}: is a dense array, not a sparse matrix", name));
  }
  if (const auto* real = std::get_if<Triplets<double>>(&file.matrix)) return to_csr(*real).matrix;
  throw NotForBenchmark(
      fmt::format("{}: spmv_bench takes real matrices, this one is complex", name));
}

std::optional<HostCsr<double>> try_to_load(const std::string& name,
                                           std::vector<PassedOver>& passed_over) {
  try {
    return load(name);
  } catch (const NotForBenchmark& e) {
    passed_over.push_back({name, without_name(name, e.what()), false});
  } catch (const FileError& e) {
    passed_over.push_back({name, without_name(name, e.what()), true});
  } catch (const std::invalid_argument& e) {
    passed_over.push_back({name, without_name(name, e.what()), true});
  } catch (const OutOfMemory& e) {
    passed_over.push_back({name, fmt::format("not enough memory: {}", e.what()), true});
  } catch (const std::bad_alloc&) {
    passed_over.push_back({name, "not enough memory for this matrix", true});
  } catch (const std::runtime_error& e) {  // what Kokkos throws where memory runs out
    passed_over.push_back({name, e.what(), true});
  }
  return std::nullopt;
}

std::vector<std::string> largest(const std::vector<std::string>& names, int limit,
                                 std::vector<PassedOver>& passed_over) {
  std::vector<std::pair<Offset, std::string>> sizes;
  for (const std::string& name : names) {
    if (const auto a = try_to_load(name, passed_over)) sizes.emplace_back(a->nnz(), name);
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const auto& p, const auto& q) { return p.first > q.first; });
  if (sizes.size() > static_cast<std::size_t>(limit)) {
    sizes.resize(static_cast<std::size_t>(limit));
  }
  std::vector<std::string> chosen;
  for (const auto& [nnz, name] : sizes) chosen.push_back(name);
  return chosen;
}

}  // namespace krysol::apps
