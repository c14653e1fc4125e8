#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often cg_solve's `energy_error.upper_estimate` was too small: |x - x*|_A is sqrt(r' A^-1 r), r = b - A x in extended precision,
by a sparse factorization that is refined. For the positive definite matrices of a folder with an INDEX.tsv,
jacobi and none, b = random and b = A random.

usage: error_estimates.py CG_SOLVE FOLDER [SECONDS]      needs NumPy and SciPy; SECONDS: the limit of a solve, 20 by default
"""
import gzip
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

CORRECTIONS = 3
MOST_ROWS = 15500  # the others fill in


def read(path):
    opened = gzip.open(path) if path.suffix == '.gz' else open(path, 'rb')
    with opened as file:
        return sparse.csc_matrix(scipy.io.mmread(io.BytesIO(file.read()))).astype(float)


def energy(exact, factors, x, b):
    """|x - x*|_A."""
    r = b.astype(np.longdouble) - exact @ x.astype(np.longdouble)
    e = np.zeros(len(b), np.longdouble)
    for _ in range(CORRECTIONS):
        e += factors.solve((r - exact @ e).astype(float))
    return float(np.sqrt(max(e @ r, np.longdouble(0))))


def solved(cg_solve, path, work, preconditioner, seconds):
    for file in ('x.mtx', 'r.json'):
        (work / file).unlink(missing_ok=True)
    subprocess.run([cg_solve, path, '--rhs', work / 'b.mtx', '--precond', preconditioner, '--output', work / 'x.mtx', '--json', work / 'r.json',
                    '--no-bandwidth', '--time-limit', str(seconds), '--quiet'], capture_output=True)
    if not (work / 'x.mtx').exists():
        return None, None
    return np.asarray(scipy.io.mmread(work / 'x.mtx')).ravel(), json.loads((work / 'r.json').read_text())['result']


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    cg_solve, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) == 4 else 20
    found = {True: [], False: []}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for line in (folder / 'INDEX.tsv').read_text().splitlines()[1:]:
            row = line.split('\t')
            path = folder / row[0]
            if row[8] != 'yes' or row[6] == 'complex' or '.mtx' not in path.suffixes or int(row[2]) > MOST_ROWS:
                continue
            a = read(path)
            factors = linalg.splu(a, permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0, options={'SymmetricMode': True})
            exact = a.tocsr().astype(np.longdouble)
            random = np.random.default_rng(1).uniform(-1, 1, a.shape[0])
            for rhs, b in (('random', random), ('A random', a @ random)):
                scipy.io.mmwrite(work / 'b.mtx', b[:, None], precision=17)
                for preconditioner in ('none', 'jacobi'):
                    x, said = solved(cg_solve, path, work, preconditioner, seconds)
                    if x is None or said['energy_error']['upper_estimate'] is None:
                        continue
                    error = energy(exact, factors, x, b)
                    converged = said['spectrum']['smallest']['converged']
                    ratio = said['energy_error']['upper_estimate'] / error if error > 0 else float('inf')
                    found[converged].append((ratio, path.name, rhs, preconditioner))
                    print(f'{path.name} {rhs} {preconditioner}: error {error:.3e}, estimate {ratio:.2f} of it, smallest eigenvalue '
                          f'{"converged" if converged else "seen"}', flush=True)
    for converged, estimates in found.items():
        if not estimates:
            continue
        ratios = [ratio for ratio, *_ in estimates]
        print(f'smallest eigenvalue {"converged" if converged else "seen"}, {len(ratios)} estimates: {sum(r < 1 for r in ratios)} below the error, '
              f'{sum(r < 0.9 for r in ratios)} below 0.9 of it, {sum(r < 0.5 for r in ratios)} below half; median {np.median(ratios):.2f}, '
              f'largest {max(ratios):.2f}')
        for ratio, *where in sorted(estimates)[:6]:
            print(f'  {ratio:.3f} ', *where)


main()
