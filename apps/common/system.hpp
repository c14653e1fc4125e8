// The vectors of A x = b from files, or made as --rhs and --x0 say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <krysol/gallery/rhs.hpp>
#include <krysol/io/read.hpp>
#include <krysol/report/report.hpp>
#include <krysol/solver/krylov/blas1.hpp>
#include <krysol/solver/solve.hpp>
#include "common/cli.hpp"
#include "common/rooms.hpp"

namespace krysol::apps {

/// The type of the host's numbers for entries of type S.
template <class S>
using HostScalar = std::conditional_t<is_complex<S>, std::complex<double>, double>;

/// The linear system in the order of the file: b, x, and x* where it is known.
template <class S>
struct System {
  std::vector<HostScalar<S>> b{};
  std::vector<HostScalar<S>> x{};
  std::vector<HostScalar<S>> solution{};  // empty where it is not known
};

/// Where they come from: the options of a program.
struct SystemSource {
  const std::string& matrix;
  const std::string& rhs;
  const std::string& x0;  // empty: zeros
  const ReadOptions& read;
  std::vector<std::string> outputs{};  // which may not be what is read
};

/// A file's first column as a vector of the system. Throws UsageError where it does not fit.
template <class S>
std::vector<HostScalar<S>> vector_from(const DenseFile& file, const std::string& name, Index rows,
                                       std::string_view what, std::vector<std::string>& notes) {
  if (file.rows != rows || file.cols < 1) {
    throw UsageError(fmt::format("{}: {} has {} rows and {} columns; the matrix has {} rows", name,
                                 what, file.rows, file.cols, rows));
  }
  if (file.cols > 1) {
    notes.push_back(fmt::format("{} has {} columns; the first is used", name, file.cols));
  }
  for (const std::string& repair : file.info.repairs) {
    notes.push_back(fmt::format("{} repaired: {}", name, repair));
  }
  return std::visit(
      [&](const auto& values) -> std::vector<HostScalar<S>> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (is_complex<T> && !is_complex<S>) {
          throw UsageError(fmt::format("{}: {} is complex, the matrix is real", name, what));
        } else {
          return {values.begin(), values.begin() + rows};
        }
      },
      file.values);
}

template <class S>
std::vector<HostScalar<S>> read_vector(const SystemSource& from, const std::filesystem::path& path,
                                       Index rows, std::string_view what,
                                       std::vector<std::string>& notes) {
  ReadOptions read = from.read;
  read.member.clear();  // names the matrix
  return vector_from<S>(read_dense(path, read), path.string(), rows, what, notes);
}
/// The same from the file of the matrix.
template <class S>
std::vector<HostScalar<S>> attached_vector(const SystemSource& from, const DenseFile& vector,
                                           Index rows, std::string_view what,
                                           std::vector<std::string>& notes) {
  const std::string name = fmt::format("{}, {}", from.matrix, what);
  if (vector.cols == 0) {
    throw UsageError(fmt::format("{}: the file holds none besides the matrix", name));
  }
  return vector_from<S>(vector, name, rows, what, notes);
}

/// b as --rhs says, and x* where that makes it known.
template <class S>
void make_rhs(const SystemSource& from, const Solver<S>& solver, const AttachedVectors& attached,
              System<S>& system, Report& report) {
  constexpr std::string_view what = "the right-hand side";
  const Index rows = solver.rows();
  RhsSpec rhs = parse_rhs(from.rhs, from.matrix, attached.rhs.cols > 0);
  if (rhs.kind == RhsSpec::Kind::file) {
    check_writable(from.outputs, {rhs.file.string()});
    try {
      system.b = read_vector<S>(from, rhs.file, rows, what, report.notes);
    } catch (const std::exception& e) {
      // Nobody asked for a file that only has the name of a right-hand side (GD02_b is a matrix).
      if (!rhs.found) throw;
      report.notes.push_back(fmt::format("not used as right-hand side: {}", e.what()));
      rhs = parse_rhs(default_rhs, from.matrix);
    }
  }
  if (rhs.kind == RhsSpec::Kind::attached) {
    system.b = attached_vector<S>(from, attached.rhs, rows, what, report.notes);
    if (attached.solution.cols > 0) {
      system.solution =
          attached_vector<S>(from, attached.solution, rows, "the solution", report.notes);
    }
  }
  report.rhs = rhs.text;
  if (rhs.found) {
    report.rhs += rhs.kind == RhsSpec::Kind::attached ? " (found with the matrix)"
                                                      : " (found beside the matrix)";
  }
  if (rhs.kind == RhsSpec::Kind::file || rhs.kind == RhsSpec::Kind::attached) return;
  const auto n = static_cast<std::size_t>(rows);
  const std::vector<double> numbers =
      rhs.kind == RhsSpec::Kind::ones ? std::vector<double>(n, 1.0) : random_numbers(n, rhs.seed);
  system.b.assign(numbers.begin(), numbers.end());
  // A matrix that was refused is in no format to multiply with, and no b will be asked for.
  if (!rhs.times_a || solver.report().refused) return;
  system.solution = system.b;
  solver.multiply(system.solution, system.b);
}

/// Throws UsageError, and what reading a file throws.
template <class S>
System<S> make_system(const SystemSource& from, const Solver<S>& solver,
                      const AttachedVectors& attached, Report& report) {
  constexpr std::string_view what = "the starting guess";
  System<S> system;
  make_rhs(from, solver, attached, system, report);
  report.x0 = from.x0.empty() ? "0" : from.x0;
  if (from.x0.empty()) {
    system.x.resize(static_cast<std::size_t>(solver.rows()));
  } else if (from.x0 == "attached") {
    system.x = attached_vector<S>(from, attached.guess, solver.rows(), what, report.notes);
  } else {
    system.x = read_vector<S>(from, from.x0, solver.rows(), what, report.notes);
  }
  return system;
}

/// |v|_2
template <class T>
double norm(const std::vector<T>& v) {
  const ConstVector<DeviceScalar<T>, Host> view(reinterpret_cast<const DeviceScalar<T>*>(v.data()),
                                                v.size());
  ReductionWorkspace<Host> sums;
  return norm2(Host{}, view, sums);
}

/// |x - x*|_2 / |x*|_2 where x* is known.
template <class S>
std::optional<double> relative_error(const System<S>& system) {
  if (system.solution.empty()) return std::nullopt;
  auto difference = system.x;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= system.solution[i];
  const double size = norm(system.solution);
  const double error = norm(difference);
  return size > 0 ? error / size : error;
}

}  // namespace krysol::apps
