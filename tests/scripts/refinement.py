#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers of tests/solver/test_ic0_collection.cpp: |b - A x| / |b| that iterative refinement in double reaches with a
sparse factorization, for the positive definite matrices of a folder with an INDEX.tsv, worst first.

usage: refinement.py FOLDER [COUNT]        needs NumPy and SciPy; b is what `cg_solve --rhs random:1` takes
"""
import gzip
import io
import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

CORRECTIONS = 10
MOST_ROWS = 15500  # the others are well conditioned, and fill in


def mersenne_twister_64(seed, count):
    """std::mt19937_64: Nishimura & Matsumoto 2000, DOI 10.1145/369534.369540."""
    size, middle, mask = 312, 156, (1 << 64) - 1
    state = [seed]
    for i in range(1, size):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & mask)
    at = size
    for _ in range(count):
        if at == size:
            for k in range(size):
                x = (state[k] & 0xFFFFFFFF80000000) | (state[(k + 1) % size] & 0x7FFFFFFF)
                state[k] = state[(k + middle) % size] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
            at = 0
        y = state[at]
        at += 1
        y ^= (y >> 29) & 0x5555555555555555
        y ^= (y << 17) & 0x71D67FFFEDA60000
        y ^= (y << 37) & 0xFFF7EEE000000000
        yield (y ^ (y >> 43)) & mask


def read(path):
    opened = gzip.open(path) if path.suffix == '.gz' else open(path, 'rb')
    with opened as file:
        return sparse.csc_matrix(scipy.io.mmread(io.BytesIO(file.read()))).astype(float)


def reached(a):
    rows = a.shape[0]
    b = np.array([2 * ((bits >> 11) * 2.0 ** -53) - 1 for bits in mersenne_twister_64(1, rows)])
    factors = linalg.splu(a, permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0, options={'SymmetricMode': True})
    x = np.zeros(rows)
    norms = []
    for _ in range(CORRECTIONS):
        x += factors.solve(b - a @ x)
        norms.append(np.linalg.norm(b - a @ x))
    return min(norms) / np.linalg.norm(b)


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    found = []
    for line in (folder / 'INDEX.tsv').read_text().splitlines()[1:]:
        row = line.split('\t')
        path = folder / row[0]
        if row[8] == 'yes' and row[6] != 'complex' and '.mtx' in path.suffixes and int(row[2]) <= MOST_ROWS:
            found.append((reached(read(path)), path.name))
    for norm, name in sorted(found, reverse=True)[:int(sys.argv[2]) if len(sys.argv) == 3 else 10]:
        print(f'{{"{name}", {norm:.2e}}},')


main()
