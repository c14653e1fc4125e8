#!/usr/bin/env python3
"""The rates of two-grid cycles of smoothed aggregation that tests/solver/multigrid/test_multigrid.cpp expects, from dense
matrices and the definitions in solver/multigrid (needs NumPy and SciPy): the spectral radius of I - M^-1 A for each problem and
degree of the smoother, with an exact solve on the second level.
usage: two_grid.py"""
import numpy as np
import scipy.linalg as la


def line(n): return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def poisson2d(nx, ny, epsilon=1.0):
    """x runs first; the coupling along it is epsilon."""
    return epsilon * np.kron(np.eye(ny), line(nx)) + np.kron(line(ny), np.eye(nx))


def norms_of_blocks(a, block):
    nodes = len(a) // block
    return np.sqrt((a.reshape(nodes, block, nodes, block) ** 2).sum(axis=(1, 3)))


def aggregates(strength):
    """strength[i, j] > 0 where i and j are strongly connected."""
    n = len(strength)
    of = np.full(n, -1)
    count = 0
    for i in range(n):  # a node with all of its neighbours free makes an aggregate
        near = np.flatnonzero(strength[i])
        if of[i] < 0 and len(near) and (of[near] < 0).all():
            of[i] = of[near] = count
            count += 1
    first = of.copy()
    for i in range(n):  # what is left joins the strongest of its neighbours' aggregates
        if first[i] >= 0: continue
        best = 0
        for j in np.flatnonzero(strength[i]):
            if first[j] >= 0 and strength[i, j] > best: best, of[i] = strength[i, j], first[j]
    for i in range(n):  # and what is left then makes its own
        near = np.flatnonzero(strength[i])
        if of[i] >= 0 or not len(near): continue
        of[i] = count
        of[near[of[near] < 0]] = count
        count += 1
    return of, count


def two_grid_rate(a, block, theta, degree):
    n = len(a)
    scale = 1 / np.sqrt(np.diag(a))
    a = a * np.outer(scale, scale)
    near_null = np.zeros((n, block))
    near_null[np.arange(n), np.arange(n) % block] = 1 / scale
    sums = np.abs(a).sum(axis=1).max()
    top = la.eigvalsh(a)[-1]
    largest = sums if sums <= 2.2 else min(sums, 1.1 * top)  # the library: a bound by Lanczos steps
    norms = norms_of_blocks(a, block)
    np.fill_diagonal(norms, 0)
    weight = norms / np.sqrt(np.outer(norms.max(axis=1), norms.max(axis=1)))
    weight[weight <= theta] = 0
    of, count = aggregates(np.where(weight > 0, 1 + np.minimum(254, np.round(254 * weight)), 0))
    t = np.zeros((n, count * block))
    for g in range(count):
        rows = (np.flatnonzero(of == g)[:, None] * block + np.arange(block)).ravel()
        q, r = np.linalg.qr(near_null[rows])
        t[np.ix_(rows, g * block + np.arange(block))] = q * np.sign(np.diag(r))
    node = np.arange(n) // block
    kept = (weight[np.ix_(node, node)] > 0) | (node[:, None] == node[None, :])
    same = (np.arange(n)[:, None] % block) == (np.arange(n)[None, :] % block)
    own = 1 / scale  # the near-null vector of a row's unknown
    lump = 1 + np.where(~kept & same, a * own[None, :] / own[:, None], 0).sum(axis=1)
    lump[lump <= 0.1] = 1
    f = np.where(kept, a, 0)
    np.fill_diagonal(f, lump)
    row_sums = 1 + (np.abs(f).sum(axis=1) - lump) / lump
    bound = row_sums.max() if row_sums.max() <= 2.2 else min(row_sums.max(), max(largest, 1))
    p = t - 4 / 3 / bound * (f / lump[:, None]) @ t
    coarse = p.T @ a @ p
    identity = np.eye(n)
    x, d = np.zeros((n, n)), np.zeros((n, n))
    for k in range(1, degree + 1):
        r = identity - a @ x
        d = (2 * k - 3) / (2 * k + 1) * d + (8 * k - 4) / (2 * k + 1) / largest * r
        x = x + d
    smoother = identity - x @ a
    correction = identity - p @ np.linalg.solve(coarse, p.T @ a)
    return max(abs(la.eigvals(smoother @ correction @ smoother)))


problems = [
    ('poisson2d 12 x 11', poisson2d(12, 11), 1, 0.25),
    ('poisson2d 6 x 24, 0.01 : 1', poisson2d(6, 24, 0.01), 1, 0.25),
    ('poisson2d 9 x 8, two unknowns', np.kron(poisson2d(9, 8), [[2.0, 1.0], [1.0, 3.0]]), 2, 0.25),
    ('poisson2d 6 x 24, 0.01 : 1, all strong', poisson2d(6, 24, 0.01), 1, 0.0),
]
for name, a, block, theta in problems:
    print(name, *(f'{two_grid_rate(a, block, theta, degree):.5f}' for degree in (1, 2, 3)))
