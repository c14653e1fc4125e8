// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled for any x86-64 and linked with the shared library: prints the level of the library that
// was loaded, and the residual of a solve with it. It instantiates kernels that the library has,
// too, under the same names: `csr` multiplied here must not be what the library multiplies by.
#include <cstdio>

#include <krysol/krysol.hpp>
#include <krysol/spmv/base/processor.hpp>
#include <krysol/spmv/formats/csr.hpp>

int main() {
  constexpr int n = 20000;
  krysol::Triplets<double> entries{n, n, krysol::Symmetry::symmetric, {}, {}, {}};
  for (int i = 0; i < n; ++i) {
    entries.add(i, i, 2.5);
    if (i > 0) entries.add(i, i - 1, -1);
  }
  const auto a = krysol::to_csr(entries).matrix;
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n);
  const auto result = krysol::solve(a, b, x, {.format = "csr", .stop = {.rtol = 1e-10}});

  krysol::Csr<double> mine;
  krysol::from_csr(a, mine);
  const krysol::Vector<double> from("x", n);
  const krysol::Vector<double> ax("ax", n);
  std::copy(x.begin(), x.end(), from.data());
  krysol::apply(krysol::Host{}, 1.0, mine, krysol::ConstVector<double>(from), 0.0, ax);
  double error = 0;
  for (int i = 0; i < n; ++i) error = std::max(error, std::abs(ax(i) - 1.0));
  std::printf("%s %s %s\n", std::string(krysol::instruction_set()).c_str(),
              std::string(krysol::to_string(result.status)).c_str(),
              error < 1e-8 ? "right" : "wrong");
  return result.converged() && error < 1e-8 ? 0 : 1;
}
