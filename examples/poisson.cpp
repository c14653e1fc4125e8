// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small PDE code: -Laplace u = f on the unit cube, u given on its boundary, by finite
// differences.
//
// Assembles the 7-point scheme on finer and finer grids, solves each system, compares with the
// solution that f was made from, and checks that the error falls like h^2.
//
// Sample runs:
//   poisson
//   poisson --n 16 --n 32 --format ell --precond none
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <krysol/solver/registry.hpp>
#include <krysol/spmv/select/formats.hpp>

namespace {

using krysol::Index;

constexpr double pi = 3.14159265358979323846;

/// The solution: not zero on the boundary, and no eigenvector of the scheme.
double u(double x, double y, double z) {
  return std::sin(pi * x) * std::exp(y) + x * z * z * z * z;
}

/// -Laplace u.
double f(double x, double y, double z) {
  return (pi * pi - 1) * std::sin(pi * x) * std::exp(y) - 12 * x * z * z;
}

/// The points of a grid of n x n x n cells that are not on the boundary.
struct Grid {
  Index n;

  double h() const { return 1.0 / n; }
  Index points() const { return (n - 1) * (n - 1) * (n - 1); }
  /// i, j and k count from 0 at the boundary.
  Index row(Index i, Index j, Index k) const {
    return ((k - 1) * (n - 1) + (j - 1)) * (n - 1) + (i - 1);
  }
  bool inside(Index i, Index j, Index k) const {
    return std::min({i, j, k}) > 0 && std::max({i, j, k}) < n;
  }
  double u_at(Index i, Index j, Index k) const { return u(i * h(), j * h(), k * h()); }

  template <class Body>
  void for_each_point(const Body& body) const {
    for (Index k = 1; k < n; ++k) {
      for (Index j = 1; j < n; ++j) {
        for (Index i = 1; i < n; ++i) body(i, j, k);
      }
    }
  }
};

struct System {
  krysol::Triplets<double> a;
  std::vector<double> b;
};

/// (6 u(point) - sum of its six neighbours) / h^2 = f(point), with the neighbours on the boundary,
/// whose values are known, moved to the right. One triangle of the symmetric matrix is enough.
System assemble(const Grid& grid) {
  const double h2 = grid.h() * grid.h();
  System system;
  system.a.rows = system.a.cols = grid.points();
  system.a.symmetry = krysol::Symmetry::symmetric;
  system.a.reserve(4 * static_cast<std::size_t>(grid.points()));
  system.b.reserve(static_cast<std::size_t>(grid.points()));
  grid.for_each_point([&](Index i, Index j, Index k) {
    const Index row = grid.row(i, j, k);
    double b = f(i * grid.h(), j * grid.h(), k * grid.h());
    system.a.add(row, row, 6 / h2);
    const Index neighbours[6][3] = {{i - 1, j, k}, {i + 1, j, k}, {i, j - 1, k},
                                    {i, j + 1, k}, {i, j, k - 1}, {i, j, k + 1}};
    for (const auto& [i2, j2, k2] : neighbours) {
      if (!grid.inside(i2, j2, k2)) {
        b += grid.u_at(i2, j2, k2) / h2;
      } else if (grid.row(i2, j2, k2) < row) {
        system.a.add(row, grid.row(i2, j2, k2), -1 / h2);
      }
    }
    system.b.push_back(b);
  });
  return system;
}

struct Options {
  std::vector<Index> n;
  std::string format = "csr";
  std::string precond = "jacobi";
};

struct Solved {
  krysol::SolveResult result;
  std::vector<double> x;
};

Solved solve(const System& system, const Options& options) {
  using Exec = Kokkos::DefaultExecutionSpace;
  const Exec exec{};
  const auto csr = krysol::to_csr(system.a).matrix;
  const auto a = krysol::make_operator(options.format, csr);
  const auto m = krysol::make_preconditioner<double, Exec>(options.precond, csr);

  // A View of memory that a PDE code already has; b and x are copied where the device has its own.
  const Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> mine(
      system.b.data(), system.b.size());
  const krysol::Vector<double> b("b", system.b.size());
  Kokkos::deep_copy(b, mine);
  const krysol::Vector<double> x("x", system.b.size());  // zeros: the starting guess

  Solved solved;
  solved.result = krysol::solve<double, Exec>("cg", exec, *a, b, x, *m.m, {.rtol = 1e-10});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  solved.x.assign(host.data(), host.data() + host.extent(0));
  return solved;
}

double largest_error(const Grid& grid, const std::vector<double>& x) {
  double largest = 0;
  grid.for_each_point([&](Index i, Index j, Index k) {
    const double value = x[static_cast<std::size_t>(grid.row(i, j, k))];
    largest = std::max(largest, std::abs(value - grid.u_at(i, j, k)));
  });
  return largest;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--n") {
      options.n.push_back(std::atoi(argv[i + 1]));
      if (options.n.back() < 2 || options.n.back() > 1000) {
        throw std::invalid_argument("--n takes a number from 2 to 1000");
      }
    } else if (name == "--format") {
      options.format = argv[i + 1];
    } else if (name == "--precond") {
      options.precond = argv[i + 1];
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (argc % 2 == 0) throw std::invalid_argument("each option takes a value");
  if (options.n.empty()) options.n = {8, 16, 32, 64};
  return options;
}

/// True where all systems were solved and the order of convergence is what theory says.
bool run(const Options& options) {
  std::printf("%4s %9s %11s %11s %7s   %s\n", "n", "unknowns", "iterations", "max error", "order",
              "status");
  bool as_expected = true;
  double coarser_error = 0;
  double coarser_h = 0;
  for (const Index n : options.n) {
    const Grid grid{n};
    const Solved solved = solve(assemble(grid), options);
    const double error = largest_error(grid, solved.x);
    std::printf("%4d %9d %11lld %11.3e ", n, grid.points(),
                static_cast<long long>(solved.result.iterations), error);
    if (coarser_h > 0 && coarser_h != grid.h()) {
      const double order = std::log(coarser_error / error) / std::log(coarser_h / grid.h());
      std::printf("%7.3f", order);
      as_expected = as_expected && order > 1.9 && order < 2.1;
    } else {
      std::printf("%7s", "");
    }
    std::printf("   %s\n", std::string(krysol::to_string(solved.result.status)).c_str());
    if (!solved.result.converged()) std::printf("     %s\n", solved.result.advice.c_str());
    as_expected = as_expected && solved.result.converged();
    coarser_error = error;
    coarser_h = grid.h();
  }
  return as_expected;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    const Kokkos::ScopeGuard kokkos;
    return run(options) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr,
                 "poisson: error: %s\n"
                 "usage: poisson [--n CELLS]... [--format NAME] [--precond NAME]\n",
                 e.what());
    return 2;
  }
}
