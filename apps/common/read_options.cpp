// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/read_options.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace krysol::apps {
namespace {

template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

/// An option whose words stand for the values of an enumeration.
template <class Value>
void add_choice(CLI::App& app, const std::string& name, Value& value, const Words<Value>& words,
                const std::string& help) {
  std::vector<std::string> names;
  for (const auto& entry : words) names.push_back(entry.first);
  app.add_option_function<std::string>(
         name,
         [&value, words](const std::string& word) {
           const auto chosen = [&word](const auto& entry) { return entry.first == word; };
           value = std::find_if(words.begin(), words.end(), chosen)->second;
         },
         help)
      ->check(CLI::IsMember(names))
      ->type_name("")
      ->group("Reading");
}

}  // namespace

void add_read_options(CLI::App& app, ReadOptions& o) {
  app.add_flag("--repair", o.repair, "repair files that depart from the format in an obvious way")
      ->group("Reading");
  add_choice<IndexBase>(
      app, "--index-base", o.index_base,
      {{"one", IndexBase::one}, {"zero", IndexBase::zero}, {"seen", IndexBase::as_seen}},
      "what indices count from; seen: from 0 where an index 0 is found\n"
      "(default: one; with --repair: seen)");
  add_choice<Policy>(app, "--triangle", o.wrong_triangle,
                     {{"refuse", Policy::refuse}, {"mend", Policy::repair}},
                     "entries on both sides of the diagonal of a file with a symmetry, and on\n"
                     "a diagonal where there is none (default: refuse; with --repair: mend)");
  add_choice<Policy>(app, "--junk", o.junk,
                     {{"refuse", Policy::refuse}, {"ignore", Policy::repair}},
                     "what stands after the last entry, and values in pattern files\n"
                     "(default: refuse; with --repair: ignore)");
  add_choice<NotFinite>(
      app, "--not-finite", o.not_finite,
      {{"refuse", NotFinite::refuse}, {"drop", NotFinite::drop}, {"keep", NotFinite::keep}},
      "NaN and infinity (default: refuse; with --repair NaN entries are dropped)");
  add_choice<Duplicates>(
      app, "--duplicates", o.duplicates,
      {{"keep", Duplicates::keep},
       {"sum", Duplicates::sum},
       {"first", Duplicates::first},
       {"reject", Duplicates::reject}},
      "entries of one place: summed by the matrix, summed here and counted, only\n"
      "the first taken, or an error (default: keep)");
  app.add_flag("--cache", o.cache.use, "keep the parsed matrix for the next time")
      ->group("Reading");
  app.add_option_function<std::string>(
         "--cache-folder",
         [&o](const std::string& folder) {
           o.cache.use = true;
           o.cache.folder = folder;
         },
         "the same in this folder (default: KRYSOL_MATRIX_CACHE in the environment, which may\n"
         "also be on, else krysol/matrices in $XDG_CACHE_HOME or ~/.cache)")
      ->group("Reading");
  app.add_flag("--verify-cache", o.cache.verify,
               "hold the cache against the whole content of the file, not against its times")
      ->group("Reading");
  app.add_option("--member", o.member,
                 "the file to read from an archive (default: NAME/NAME.mtx, or the only matrix)")
      ->type_name("NAME")
      ->group("Reading");
}

}  // namespace krysol::apps
