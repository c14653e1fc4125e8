// Uses the library where Kokkos is not initialized, and again after it was finalized; prints what
// is thrown. A program of its own, because the one that holds the tests has Kokkos initialized.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <stdexcept>

#include <krysol/io/read_csr.hpp>
#include <krysol/spmv/matrix/host_csr.hpp>

namespace {

template <class Body>
void show(const char* what, const Body& body) {
  try {
    body();
    std::printf("%s: nothing was thrown\n", what);
  } catch (const std::logic_error& e) {
    std::printf("%s: %s\n", what, e.what());
  }
}

void use_arrays() {
  show("allocate", [] { krysol::allocate<krysol::Vector<double>>("v", 3); });
}

void use_all(const char* matrix) {
  krysol::Triplets<double> t;
  t.rows = t.cols = 1;
  t.add(0, 0, 1);
  show("to_csr", [&] { krysol::to_csr(t); });
  show("read_csr", [&] { krysol::read_csr(matrix); });
  show("read_csr in two passes", [&] {
    krysol::ReadOptions options;
    options.low_memory = true;
    krysol::read_csr(matrix, options);
  });
  use_arrays();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  use_arrays();  // to_csr and read_csr would start Kokkos
  { const Kokkos::ScopeGuard kokkos; }
  use_all(argv[1]);
}
