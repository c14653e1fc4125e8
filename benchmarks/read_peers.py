# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's readers of Matrix Market, as peers of read_bench: prints the seconds of one of them.

usage: read_peers.py READER FILE THREADS      pip install fast_matrix_market scipy
"""
import sys
import time


def main():
    reader, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    import fast_matrix_market as fmm
    import scipy.io._mmio  # SciPy's reader in Python, which scipy.io.mmread was before 1.12

    read = {
        "read_coo": lambda: fmm.read_coo(path, parallelism=threads),
        "mmread": lambda: fmm.mmread(path, parallelism=threads),
        "mmread-tocsr": lambda: fmm.mmread(path, parallelism=threads).tocsr(),
        "scipy": lambda: scipy.io._mmio.mmread(path),
    }[reader]
    began = time.perf_counter()
    result = read()
    print(time.perf_counter() - began)
    del result


main()
