// regress: solves many matrices, checks each x, and says what is better or worse than before.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sample runs:
//   regress matrices/
//   regress matrices/ --baseline last-night.json --output tonight.json
//   regress matrices/ --spd yes --method default= --method "ic0=--precond ic0"
//   regress matrices/ --against ../krysol-0.1/bin/cg_solve
//   regress --history nights/ --output history.html
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <krysol/io/bytes/file.hpp>
#include <krysol/io/bytes/parse_error.hpp>
#include <krysol/report/runs/golden_outcomes.hpp>
#include <krysol/report/runs/run_page.hpp>
#include <krysol/report/runs/timing_verdict.hpp>
#include <krysol/report/text.hpp>
#include "common/cli.hpp"
#include "common/progress_line.hpp"
#include "regress/fetch.hpp"
#include "regress/regression_run.hpp"

namespace krysol::apps {
namespace {

namespace fs = std::filesystem;

struct Options {
  MatrixSelection selection;
  std::string program;
  std::vector<std::string> methods;
  std::string output = "regress.json";
  double time_limit = 60;
  double memory_limit_gb = 0;
  int jobs = 0;
  int turns = -1;
  bool restart = false;
  bool quiet = false;
  bool no_page = false;
  std::string baseline;
  std::string against;
  std::string golden;
  std::string save_golden;
  std::vector<std::string> merge;
  std::string history;
  bool fetches_to = false;   // was given
  bool limits_time = false;  // likewise
};

/// Of a run or a table of outcomes. The largest that anybody makes are some 3 kB a solve.
std::string text_of_file(const std::string& path) {
  constexpr std::int64_t longest = 256 << 20;
  constexpr std::int64_t of_a_pipe = 24 << 20;
  std::error_code failed;
  const bool file = fs::is_regular_file(path, failed);
  const std::int64_t most = file ? longest : of_a_pipe;
  const bool too_long = file && static_cast<std::int64_t>(fs::file_size(path, failed)) > most;
  try {
    if (!too_long) return std::string(read_text(path, most).view());
  } catch (const FileError& e) {
    if (std::string_view(e.what()).find("max_text_bytes") == std::string_view::npos) throw;
  }
  throw FileError(fmt::format(
      "{}: a run or a table of outcomes was expected, found more than {} MB", path, most >> 20));
}

RunRecord run_from(const std::string& path) { return run_record_of(text_of_file(path), path); }

/// OUTPUT, which ends with .json, with another ending.
std::string beside(const std::string& output, const char* ending) {
  return fs::path(output).replace_extension(ending).string();
}

/// What is wrong with the old files is said before anything is solved. They are not kept: what this
/// process holds counts as memory of each child until that has started its program.
void check_comparisons(const Options& o) {
  if (!o.baseline.empty()) run_from(o.baseline);
  if (!o.golden.empty()) golden_of(text_of_file(o.golden), o.golden);
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

std::string summary(const RunRecord& run) {
  std::string out = fmt::format(
      "{} by {}:", plural(static_cast<std::int64_t>(run.matrices.size()), "matrix", "matrices"),
      plural(static_cast<std::int64_t>(run.methods.size()), "method", "methods"));
  const char* by = " ";
  for (int k = 0; k <= static_cast<int>(SolveOutcome::wrong_result); ++k) {
    const auto outcome = static_cast<SolveOutcome>(k);
    const auto count = std::count_if(run.entries.begin(), run.entries.end(),
                                     [&](const RunEntry& e) { return e.outcome == outcome; });
    if (count == 0) continue;
    out += fmt::format("{}{} {}", by, grouped(count), to_string(outcome));
    by = ", ";
  }
  return out + "\n";
}

/// Solves that ended as none should, or beyond a limit, with the commands that repeat them.
std::string troubles(const RunRecord& run) {
  std::string out;
  for (const RunEntry& e : run.entries) {
    const bool limit =
        e.outcome == SolveOutcome::time_limit || e.outcome == SolveOutcome::memory_limit;
    if (!limit && !is_fault(e.outcome)) continue;
    out += fmt::format("  {}  {}, {}: {}\n      {}\n", to_string(e.outcome), e.matrix, e.method,
                       e.message, e.command);
  }
  return out;
}

bool any_fault(const RunRecord& run) {
  return std::any_of(run.entries.begin(), run.entries.end(),
                     [](const RunEntry& e) { return is_fault(e.outcome); });
}

/// Writes the files of a run and says what it found. Returns the exit code.
int finish(const Options& o, const RunRecord& run) {
  std::vector<Comparison> comparisons;
  if (!o.baseline.empty()) {
    comparisons.push_back(compare(run_from(o.baseline), run));
    comparisons.back().baseline = o.baseline;
  }
  if (!o.golden.empty())
    comparisons.push_back(compare(golden_of(text_of_file(o.golden), o.golden), run, o.golden));
  if (!run.other_program.empty()) comparisons.push_back(compare_turns(run));
  std::vector<std::string> failures;
  const auto write = [&](const std::string& path, const std::string& text) {
    try {
      write_file(path, text);
    } catch (const FileError& e) {
      failures.emplace_back(e.what());
    }
  };
  write(o.output, as_json(run));
  write(beside(o.output, ".csv"), as_csv(run));
  if (!o.no_page) write(beside(o.output, ".html"), run_page(run, comparisons));
  if (!o.save_golden.empty()) write(o.save_golden, as_golden(run));
  bool worse = any_fault(run);
  std::string text = summary(run) + troubles(run);
  for (const Comparison& c : comparisons) {
    text += as_text(c);
    worse = worse || c.worse();
  }
  text += fmt::format("written: {}, {}{}{}\n", o.output, beside(o.output, ".csv"),
                      o.no_page ? "" : ", " + beside(o.output, ".html"),
                      o.save_golden.empty() ? "" : ", " + o.save_golden);
  if (!o.quiet) print(text);
  for (const std::string& failure : failures) fmt::print(stderr, "regress: error: {}\n", failure);
  if (!failures.empty())
    throw FileError("the run itself is kept: repeat the command once there is room");
  return worse ? exit_not_converged : exit_converged;
}

/// K and N of a part that a file says it is.
std::pair<std::int64_t, std::int64_t> shard_in(const std::string& text, const std::string& path) {
  try {
    return shard_of(text);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{}: \"shard\": parts K/N were expected, found '{}'{}", path, text,
                                 text.find(" of ") != std::string::npos
                                     ? "; an older version merged it: give the parts themselves"
                                     : ""));
  }
}

RunRecord merged(const std::vector<std::string>& paths, const std::string& command) {
  RunRecord out;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> names;
  std::set<std::int64_t> parts;
  std::int64_t of = 0;
  for (const std::string& path : paths) {
    RunRecord part = run_from(path);
    if (out.methods.empty()) {
      out = part;
      out.matrices.clear();
      out.entries.clear();
      out.triad.clear();
    }
    const auto same = [](const Method& a, const Method& b) {
      return a.name == b.name && a.options == b.options;
    };
    if (part.methods.size() != out.methods.size() ||
        !std::equal(part.methods.begin(), part.methods.end(), out.methods.begin(), same)) {
      throw UsageError(fmt::format("{}: was made with other methods than {}", path, paths.front()));
    }
    if (part.version != out.version) {
      throw UsageError(fmt::format("{}: was made by {}, {} by {}", path, part.version,
                                   paths.front(), out.version));
    }
    if (part.time_limit_s != out.time_limit_s) {
      throw UsageError(fmt::format("{}: had a limit of {} s a solve, {} of {}", path,
                                   part.time_limit_s, paths.front(), out.time_limit_s));
    }
    for (const std::string& one : fields_of(part.shard, ',')) {
      const auto [k, n] = shard_in(one, path);
      if (of > 0 && n != of) {
        throw UsageError(
            fmt::format("{}: is of a list in {} parts, others of one in {}", path, n, of));
      }
      parts.insert(k);
      of = n;
    }
    if (part.machine != out.machine) out.machine = "several";
    out.started = std::min(out.started, part.started);
    out.finished = std::max(out.finished, part.finished);
    out.triad.insert(out.triad.end(), part.triad.begin(), part.triad.end());
    for (MatrixEntry& m : part.matrices) {
      if (names.insert(m.name).second) out.matrices.push_back(std::move(m));
    }
    for (RunEntry& e : part.entries) {
      if (!seen.insert({e.matrix, e.method}).second) {
        throw UsageError(fmt::format("{}: {} by {} is in an earlier one of the files too", path,
                                     e.matrix, e.method));
      }
      out.entries.push_back(std::move(e));
    }
  }
  out.command = command;
  out.shard.clear();
  if (static_cast<std::int64_t>(parts.size()) < of) {
    for (const std::int64_t k : parts) {
      out.shard += fmt::format("{}{}/{}", out.shard.empty() ? "" : ",", k, of);
    }
    fmt::print(stderr, "regress: only {} of {} parts were given\n", parts.size(), of);
  }
  if (out.machine == "several") out.triad.clear();  // there is none that all times relate to
  const auto place = [&](const std::string& method) {
    return std::find_if(out.methods.begin(), out.methods.end(),
                        [&](const Method& m) { return m.name == method; }) -
           out.methods.begin();
  };
  std::sort(out.matrices.begin(), out.matrices.end(),
            [](const MatrixEntry& a, const MatrixEntry& b) { return a.name < b.name; });
  std::sort(out.entries.begin(), out.entries.end(), [&](const RunEntry& a, const RunEntry& b) {
    return a.matrix != b.matrix ? a.matrix < b.matrix : place(a.method) < place(b.method);
  });
  return out;
}

/// All runs of a folder, on a page. Files of another kind are passed over, and counted.
int show_history(const Options& o) {
  std::vector<RunRecord> runs;
  std::vector<std::string> others;
  std::error_code failed;
  for (fs::directory_iterator at(o.history, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().extension() != ".json") continue;
    try {
      runs.push_back(run_from(at->path().string()));
      for (RunEntry& e : runs.back().entries) e.curve.clear();  // of years of runs
      for (MatrixEntry& m : runs.back().matrices) m.spy.clear();
    } catch (const std::invalid_argument& e) {
      others.emplace_back(e.what());
    } catch (const FileError& e) {
      others.emplace_back(e.what());
    }
  }
  if (failed) throw UsageError(fmt::format("--history {}: {}", o.history, failed.message()));
  for (const std::string& other : others) fmt::print(stderr, "regress: left out: {}\n", other);
  if (runs.size() < 2) {
    throw UsageError(fmt::format(
        "--history {}: two runs or more were expected (files that --output wrote), found {}",
        o.history, runs.size()));
  }
  const RunHistory history = history_of(std::move(runs));
  const std::string page = beside(o.output, ".html");
  write_file(page, history_page(history));
  if (!o.quiet) print(as_text(history) + fmt::format("written: {}\n", page));
  // Times have no verdict: machines drift.
  const auto counts = [](const Mark& m) { return m.worse && m.repeats; };
  const bool worse = std::any_of(
      history.solves.begin(), history.solves.end(),
      [&](const SolveHistory& s) { return std::any_of(s.marks.begin(), s.marks.end(), counts); });
  return worse ? exit_not_converged : exit_converged;
}

std::string program_or_default(const std::string& given) {
  if (!given.empty()) {
    // A name with a folder stays valid where children work in another one.
    return given.find('/') == std::string::npos ? given : fs::absolute(given).string();
  }
  const fs::path beside_this = folder_of_this_program() / "cg_solve";
  std::error_code ignored;
  return fs::exists(beside_this, ignored) ? beside_this.string() : "cg_solve";
}

/// files: gets what was read, or lies beside a matrix and belongs to it, where wanted.
std::vector<ListedMatrix> matrices_of(const Options& o, std::vector<std::string>* files = nullptr) {
  ListingNotes notes;
  std::vector<ListedMatrix> all = list_matrices(o.selection, notes);
  for (const std::string& note : notes.left_out) fmt::print(stderr, "regress: {}\n", note);
  if (files != nullptr) files->insert(files->end(), notes.files.begin(), notes.files.end());
  if (!all.empty()) return all;
  if (o.selection.places.empty() && o.selection.list_files.empty() && o.selection.fetch.empty()) {
    throw UsageError("no matrices: name a folder, files or problems, as in regress matrices/");
  }
  throw UsageError(fmt::format("no matrices: nothing of {} is one, or passes the filters",
                               !o.selection.places.empty()       ? o.selection.places.front()
                               : !o.selection.list_files.empty() ? o.selection.list_files.front()
                                                                 : o.selection.fetch.front()));
}

/// inputs: files that are read.
RunSettings settings_of(const Options& o, const std::string& command,
                        std::vector<std::string>& inputs) {
  RunSettings s;
  s.command = command;
  s.program = program_or_default(o.program);
  if (!o.against.empty()) s.other = program_or_default(o.against);
  s.output = o.output;
  std::set<std::string> names;
  for (const std::string& text :
       o.methods.empty() ? std::vector<std::string>{"default="} : o.methods) {
    s.methods.push_back(method_from(text));
    if (!names.insert(s.methods.back().method.name).second) {
      throw UsageError(fmt::format("--method {}: two methods have this name", text));
    }
  }
  s.matrices = matrices_of(o, &inputs);
  std::error_code ignored;
  for (const SolveMethod& m : s.methods) {
    for (const std::string& word : m.method.options) {
      if (fs::is_regular_file(word, ignored)) inputs.push_back(word);
    }
  }
  s.shard = o.selection.shard;
  s.time_limit_s = o.time_limit;
  constexpr double half = 0.5;
  s.memory_limit_bytes = static_cast<std::int64_t>(
      o.memory_limit_gb > 0 ? 1e9 * o.memory_limit_gb
                            : half * static_cast<double>(machine_memory()));
  s.jobs = o.jobs;
  const int usual = o.against.empty() ? 3 : static_cast<int>(TimingLimits{}.first_turns);
  s.turns = o.turns >= 0 ? o.turns : usual;
  s.restart = o.restart;
  s.quiet = o.quiet;
  return s;
}

/// What an option has no meaning beside is not passed over.
void refuse_what_does_nothing(const Options& o) {
  const MatrixSelection& s = o.selection;
  const std::pair<const char*, bool> of_solving[] = {
      {"matrices", !s.places.empty() || !s.list_files.empty()},
      {"--fetch", !s.fetch.empty()},
      {"--fetch-to", o.fetches_to},
      {"--index", !s.index.empty()},
      {"--name", !s.name.empty()},
      {"--group", !s.group.empty()},
      {"--spd", !s.spd.empty()},
      {"--field, --min-rows, --max-rows, --min-nonzeros and --max-nonzeros", s.needs_sizes()},
      {"--time-limit", o.limits_time},
      {"--shard", !s.shard.empty()},
      {"--method", !o.methods.empty()},
      {"--program", !o.program.empty()},
      {"--against", !o.against.empty()},
      {"--turns", o.turns >= 0},
      {"--jobs", o.jobs > 0},
      {"--memory-limit", o.memory_limit_gb > 0}};
  const std::pair<const char*, bool> of_one_run[] = {{"--merge", !o.merge.empty()},
                                                     {"--baseline", !o.baseline.empty()},
                                                     {"--golden", !o.golden.empty()},
                                                     {"--save-golden", !o.save_golden.empty()},
                                                     {"--no-page", o.no_page}};
  const auto refuse = [](const char* mode, const auto& list) {
    for (const auto& [name, given] : list) {
      if (given)
        throw UsageError(fmt::format("{} solves nothing, and would ignore {}", mode, name));
    }
  };
  if (!o.history.empty()) {
    refuse("--history", of_solving);
    refuse("--history", of_one_run);
  }
  if (!o.merge.empty()) refuse("--merge", of_solving);
  if (o.fetches_to && s.fetch.empty()) throw UsageError("--fetch-to goes with --fetch");
  if (!o.against.empty() && o.turns >= 0 && o.turns < 2) {
    throw UsageError("--against compares times, and needs --turns 2 or more");
  }
}

/// That are written.
std::vector<std::string> files_of(const Options& o) {
  std::vector<std::string> files;
  if (o.history.empty()) files = {o.output, beside(o.output, ".csv"), o.save_golden};
  if (!o.no_page) files.push_back(beside(o.output, ".html"));
  return files;
}

/// Solves; nothing where it was interrupted.
std::optional<int> run_all(const Options& o, const std::string& command) {
  std::vector<std::string> inputs;
  RunSettings settings = settings_of(o, command, inputs);
  check_writable(files_of(o), inputs);
  if (!fetch_matrices(settings.matrices, o.quiet)) return std::nullopt;
  RegressionRun regression(std::move(settings));
  const auto record = regression.run();
  if (!record) return std::nullopt;
  const int code = finish(o, *record);
  regression.forget();
  return code;
}

int run(const Options& o, const std::string& command) {
  if (!o.history.empty()) return show_history(o);
  check_comparisons(o);
  if (!o.merge.empty()) return finish(o, merged(o.merge, command));
  const CatchInterrupt interrupt;
  if (const auto code = run_all(o, command)) return *code;
  fmt::print(stderr, "regress: interrupted; the same command goes on from here\n");
  CatchInterrupt::raise_again();
  constexpr int code = 130;
  return code;
}

void add_options(CLI::App& app, Options& o) {
  MatrixSelection& s = o.selection;
  app.add_option(
      "matrices", s.places,
      "folders, matrix files, or problems that are made (poisson:20); folders are looked\n"
      "through for files of every format that cg_solve reads");
  app.add_option("--list-file", s.list_files, "FILE: such names, a line each")
      ->group("Which matrices");
  const auto which = [&](const char* name, auto& to, const char* help) {
    return app.add_option(name, to, help)->group("Which matrices");
  };
  which("--index", s.index,
        "what is known of the matrices: INDEX.tsv or the collection's ssstats.csv (default: one\n"
        "of these in the folder)");
  which("--fetch", s.fetch, "GROUP/NAME...: of the SuiteSparse collection, by data/get-matrix");
  which("--fetch-to", s.fetch_folder, "folder for them")->capture_default_str();
  which("--name", s.name, "only those with this in their names");
  which("--group", s.group, "only those of this group of the collection");
  which("--field", s.field, "only those whose file is real, integer, pattern or complex")
      ->check(CLI::IsMember({"real", "integer", "pattern", "complex"}));
  which("--spd", s.spd, "only those that an index calls positive definite (yes), or not (no)")
      ->check(CLI::IsMember({"yes", "no"}));
  which("--min-rows", s.min_rows, "only those with so many rows or more")->check(whole_number(0));
  which("--max-rows", s.max_rows, "or fewer")->check(whole_number(0));
  which("--min-nonzeros", s.min_nonzeros, "only those with so many nonzeros or more")
      ->check(whole_number(0));
  which("--max-nonzeros", s.max_nonzeros, "or fewer")->check(whole_number(0));
  which("--shard", s.shard, "K/N: every Nth matrix of the list from the Kth on, for N machines");
  app.add_option("--method", o.methods,
                 "NAME=OPTIONS: options of cg_solve to solve with; again for each further method\n"
                 "(default: one method without options)")
      ->take_all()
      ->expected(1);
  app.add_option("--program", o.program,
                 "the cg_solve to run (default: the one beside this program)");
  app.add_option("--output", o.output, "FILE.json for the run; FILE.csv and FILE.html go beside it")
      ->capture_default_str();
  app.add_flag("--no-page", o.no_page, "do not write FILE.html");
  app.add_flag("--restart", o.restart,
               "forget a run that was not finished, or replace one that was");
  app.add_option("--time-limit", o.time_limit,
                 "seconds of processor time for a solve; of the clock five times as many")
      ->check(number_from(0, false))
      ->capture_default_str();
  app.add_option("--memory-limit", o.memory_limit_gb,
                 "GB for a solve, from 0.01 (default: half of the machine's)")
      ->check(CLI::Range(0.01, 1e9));
  app.add_option("--jobs", o.jobs,
                 "solves at a time (default: cores); times are taken one at a time")
      ->check(whole_number(1, 4096));
  app.add_option("--turns", o.turns,
                 "times to take of each solve; 0: none (default: 3, with --against 5)")
      ->check(whole_number(0, 1000));
  const auto compared = [&](const char* name, std::string& to, const char* help) {
    app.add_option(name, to, help)->group("Compared with what");
  };
  compared("--baseline", o.baseline,
           "an earlier run's FILE.json: outcome, iterations, residual, error, memory");
  compared("--against", o.against, "another cg_solve, run in turns with this one: time");
  compared("--golden", o.golden, "a table of expected outcomes, as --save-golden writes it");
  compared("--save-golden", o.save_golden, "write such a table");
  app.add_option("--merge", o.merge,
                 "FILE.json...: runs of parts of a list, to be one; nothing is solved");
  app.add_option(
      "--history", o.history,
      "FOLDER of runs: marks what jumped or drifts over them, and draws it as OUTPUT with\n"
      "the ending .html; nothing is solved");
  app.add_flag("--quiet", o.quiet,
               "no report, no progress; the exit code, errors and files say all");
}

/// What would be run.
std::string list_text(const Options& o) {
  std::string out;
  for (const ListedMatrix& m : matrices_of(o)) {
    out += fmt::format("{}\t{}\n", m.name, m.problem.empty() ? m.file : m.problem);
  }
  return out;
}

/// Before anything is solved: where the results go, and that nothing is lost by that.
void check_outputs(const Options& o) {
  const bool shows = !o.history.empty();
  if (fs::path(o.output).extension() != ".json" &&
      !(shows && fs::path(o.output).extension() == ".html")) {
    throw UsageError(
        fmt::format("--output takes FILE.json{}, not {}", shows ? " or FILE.html" : "", o.output));
  }
  std::error_code ignored;
  const bool goes_on = !shows && o.merge.empty() && fs::exists(o.output + ".journal", ignored);
  for (const std::string& file : files_of(o)) {
    if (o.restart || goes_on || file == o.save_golden) continue;
    if (!fs::is_regular_file(file, ignored)) continue;
    throw UsageError(fmt::format(
        "{}: is there already; give --output another name, or --restart to replace it", file));
  }
  std::vector<std::string> inputs = o.merge;
  const auto read = [&inputs](const std::vector<std::string>& more) {
    inputs.insert(inputs.end(), more.begin(), more.end());
  };
  read({o.baseline, o.golden, o.selection.index});
  read(o.selection.list_files);
  for (const std::string& program : {o.program, o.against}) {
    if (program.find('/') != std::string::npos) inputs.push_back(program);
  }
  if (!shows) inputs.push_back(o.output + ".journal");
  check_writable(files_of(o), inputs);
}

int main_checked(int argc, char** argv) {
  Options options;
  options.selection.fetch_folder = "matrices";
  CLI::App app{
      "Solves every matrix of a folder by cg_solve, each in a process of its own with limits of "
      "time\n"
      "and memory; checks |b - A x| of each x in twice the precision; times the solves one at a\n"
      "time; and says what is better or worse than an earlier run. Killed, it goes on where it "
      "was\n"
      "when it is started again.\n"
      "Exit code: 0 nothing is worse, 1 something is (or crashed, or a result is wrong), 2 bad "
      "input\n"
      "or usage, 3 internal error or not enough memory, 130 interrupted.",
      "regress"};
  add_options(app, options);
  if (const auto done =
          parse(app, argc, argv, "print the matrices that would be solved, and their files",
                [&] { return list_text(options); })) {
    return *done;
  }
  options.fetches_to = app.count("--fetch-to") > 0;
  options.limits_time = app.count("--time-limit") > 0;
  refuse_what_does_nothing(options);
  check_outputs(options);
  std::vector<std::string> words(argv, argv + argc);
  words.front() = "regress";
  return run(options, quoted_command(words));
}

}  // namespace
}  // namespace krysol::apps

int main(int argc, char** argv) {
  return krysol::apps::run_program("regress",
                                   [&] { return krysol::apps::main_checked(argc, argv); });
}
