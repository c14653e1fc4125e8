#!/usr/bin/env python3
"""The rates of two-grid cycles of smoothed aggregation, of grids and of each smoother, that test_multigrid.cpp and test_smoothers.cpp
in tests/solver/multigrid expect, from dense matrices and the definitions in solver/multigrid (needs NumPy and SciPy): the spectral
radius of I - M^-1 A for each problem and degree of the smoother, with an exact solve on the second level.
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


def scaled(a):
    scale = 1 / np.sqrt(np.diag(a))
    return a * np.outer(scale, scale), scale


def bound_of_eigenvalues(a):
    sums = np.abs(a).sum(axis=1).max()
    return sums if sums <= 2.2 else min(sums, 1.1 * la.eigvalsh(a)[-1])  # the library: a bound by Lanczos steps


def left_by_chebyshev(a, m, largest, degree):
    """The fourth-kind polynomial's I - C A, with steps by the inverse of m."""
    n = len(a)
    x, d = np.zeros((n, n)), np.zeros((n, n))
    for k in range(1, degree + 1):
        r = np.eye(n) - a @ x
        d = (2 * k - 3) / (2 * k + 1) * d + (8 * k - 4) / (2 * k + 1) / largest * np.linalg.solve(m, r)
        x = x + d
    return np.eye(n) - x @ a


def left_by_steps(a, m, degree):
    return np.linalg.matrix_power(np.eye(len(a)) - np.linalg.solve(m, a), degree)


def bound_by_products(m, a): return 1.02 * la.eigvalsh(a, m)[-1]  # the library: Lanczos steps, which may say a little more


def greedy_colours(a):
    colour = []
    for i in range(len(a)):
        taken = {colour[j] for j in range(i) if a[i, j] != 0}
        colour.append(min(set(range(i + 1)) - taken))
    return np.array(colour)


def left_by(smoother, a, block, largest, degree):
    """What a smoother leaves of an error before the correction, and after it."""
    if smoother == 'chebyshev':
        left = left_by_chebyshev(a, np.eye(len(a)), largest, degree)
    elif smoother == 'l1-jacobi':
        left = left_by_steps(a, np.diag(np.abs(a).sum(axis=1)), degree)
    elif smoother == 'spai0':
        squares = (a ** 2).sum(axis=1)
        left = left_by_steps(a, np.diag(squares) * max(1, bound_by_products(np.diag(squares), a) / 1.8), degree)
    elif smoother == 'gauss-seidel':
        colour = greedy_colours(a)
        later = colour[None, :] > colour[:, None]
        return left_by_steps(a, np.where(later, 0, a), degree), left_by_steps(a, np.where(later.T, 0, a), degree)
    else:
        n = np.arange(len(a))
        if smoother == 'block':
            kept = n[:, None] // block == n[None, :] // block
        else:  # lines of strong couplings: x does not change along them, of 6 points
            kept = (n[:, None] == n[None, :]) | (abs(n[:, None] - n[None, :]) == 6)
        m = np.where(kept, a, 0)
        left = left_by_chebyshev(a, m, bound_by_products(m, a), degree)
    return left, left


def rate_of_cycle(a, p, left):
    correction = np.eye(len(a)) - p @ np.linalg.solve(p.T @ a @ p, p.T @ a)
    return max(abs(la.eigvals(left[1] @ correction @ left[0])))


def kept_lines(n): return sorted(set(range(0, n, 2)) | {n - 1})


def grid_interpolation(a, nx, ny, halved):
    """Rows are nodes of an nx x ny grid, x first; halved: whether each direction is."""
    kept = [kept_lines(nx) if halved[0] else list(range(nx)), kept_lines(ny) if halved[1] else list(range(ny))]
    places = [(x, y) for y in kept[1] for x in kept[0]]
    weights = {place: np.eye(len(places))[k] for k, place in enumerate(places)}
    entry = lambda i, j: a[i[0] + nx * i[1], j[0] + nx * j[1]]
    inside = lambda i: 0 <= i[0] < nx and 0 <= i[1] < ny
    free = lambda i: (i[0] not in kept[0], i[1] not in kept[1])
    for count in (1, 2):
        for i in [(x, y) for y in range(ny) for x in range(nx)]:
            if sum(free(i)) != count: continue
            total, size = np.zeros(len(places)), 0.0
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    j = (i[0] + dx, i[1] + dy)
                    to = (i[0] + dx * free(i)[0], i[1] + dy * free(i)[1])  # summed over the other direction
                    if not inside(j) or to == i: continue
                    total += entry(i, j) * weights[to]
                    size += entry(i, j)
            weights[i] = total / size
    return np.array([weights[x, y] for y in range(ny) for x in range(nx)])


def grid_rate(a, nx, ny, halved, degree):
    p = grid_interpolation(a, nx, ny, halved)
    a, scale = scaled(a)
    return rate_of_cycle(a, p / scale[:, None], left_by('chebyshev', a, 1, bound_of_eigenvalues(a), degree))


def two_grid_rate(a, block, theta, degree, smoother='chebyshev'):
    n = len(a)
    a, scale = scaled(a)
    near_null = np.zeros((n, block))
    near_null[np.arange(n), np.arange(n) % block] = 1 / scale
    largest = bound_of_eigenvalues(a)
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
    return rate_of_cycle(a, p, left_by(smoother, a, block, largest, degree))


problems = [
    ('poisson2d 12 x 11', poisson2d(12, 11), 1, 0.25),
    ('poisson2d 6 x 24, 0.01 : 1', poisson2d(6, 24, 0.01), 1, 0.25),
    ('poisson2d 9 x 8, two unknowns', np.kron(poisson2d(9, 8), [[2.0, 1.0], [1.0, 3.0]]), 2, 0.25),
    ('poisson2d 6 x 24, 0.01 : 1, all strong', poisson2d(6, 24, 0.01), 1, 0.0),
]
for name, a, block, theta in problems:
    print(name, *(f'{two_grid_rate(a, block, theta, degree):.5f}' for degree in (1, 2, 3)))

varied = lambda nx, ny: la.block_diag(*[10.0 ** (k % 3 - 1) * np.eye(nx) for k in range(ny)])  # lines of nodes
jumps = varied(13, 10) @ np.kron(np.eye(10), line(13)) + np.kron(line(10), np.eye(13))  # x: 0.1, 1, 10 by lines
grids = [
    ('poisson2d 12 x 11', poisson2d(12, 11), 12, 11, (True, True)),
    ('poisson2d 6 x 24, 0.01 : 1', poisson2d(6, 24, 0.01), 6, 24, (False, True)),
    ('poisson2d 13 x 10, lines of 0.1, 1, 10', jumps, 13, 10, (True, True)),
]
for name, a, nx, ny, halved in grids:
    print('grids:', name, *(f'{grid_rate(a, nx, ny, halved, degree):.5f}' for degree in (1, 2, 3)))

for smoother in ('l1-jacobi', 'spai0', 'gauss-seidel', 'block', 'line'):
    for name, a, block, theta in problems[1:3]:
        if (smoother, block) in (('block', 1), ('line', 2)): continue
        print(smoother + ':', name, *(f'{two_grid_rate(a, block, theta, degree, smoother):.5f}' for degree in (1, 2, 3)))
