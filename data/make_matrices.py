#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the matrices of this folder from their definitions.

usage: make_matrices.py [--folder DIR]                    those that are committed
       make_matrices.py [--folder DIR] --trefethen N[b]   Trefethen_N or Trefethen_Nb, of any size
       make_matrices.py [--folder DIR] --grid NX NY       gr_NX_NY, of any size
"""
import argparse
import pathlib
import sys


def primes(count):
    """The first `count` primes."""
    limit = 16
    while True:
        sieve = bytearray([1]) * limit
        sieve[:2] = b"\0\0"
        for p in range(2, int(limit**0.5) + 1):
            if sieve[p]:
                sieve[p * p :: p] = bytes(len(range(p * p, limit, p)))
        found = [p for p in range(limit) if sieve[p]]
        if len(found) >= count:
            return found[:count]
        limit *= 2


def trefethen(n, first=0):
    """Primes on the diagonal, ones where |i - j| is a power of two; the first rows and columns may be left out."""
    diagonal = primes(n)[first:]
    rows = n - first
    for j in range(rows):
        yield j, j, diagonal[j]
        distance = 1
        while j + distance < rows:
            yield j + distance, j, 1
            distance *= 2


def grid(nx, ny):
    """The nine-point star: 8 at each point of the grid, -1 between it and each of its up to eight neighbours."""
    for j in range(nx * ny):
        yield j, j, 8
        x, y = j % nx, j // nx
        for dx, dy in ((1, 0), (-1, 1), (0, 1), (1, 1)):  # the neighbours that come later
            if 0 <= x + dx < nx and y + dy < ny:
                yield j + dy * nx + dx, j, -1


def write(path, rows, entries, definition):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{i + 1} {j + 1} {value}\n" for i, j, value in entries]
    # Lines end the same way on every system, so that the files are the same byte for byte.
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("%%MatrixMarket matrix coordinate integer symmetric\n")
        file.write(f"% {definition}\n% Made by make_matrices.py\n")
        file.write(f"{rows} {rows} {len(lines)}\n")
        file.writelines(lines)
    print(path)


def write_trefethen(folder, name):
    digits = name[:-1] if name.endswith("b") else name
    if not digits.isdecimal() or int(digits) < 2:
        sys.exit(f"make_matrices.py: --trefethen takes a number from 2, with or without a b behind it, not '{name}'")
    n, first = int(digits), int(name.endswith("b"))
    definition = f"The first {n} primes on the diagonal, 1 where |i - j| is a power of two"
    if first:
        definition += "; the first row and column are left out"
    write(folder / f"Trefethen_{name}.mtx", n - first, trefethen(n, first), definition)


def write_grid(folder, nx, ny):
    definition = f"Nine-point star on a {nx} x {ny} grid: 8 on the diagonal, -1 between neighbours"
    write(folder / f"gr_{nx}_{ny}.mtx", nx * ny, grid(nx, ny), definition)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent)
    parser.add_argument("--trefethen", metavar="N[b]")
    parser.add_argument("--grid", nargs=2, type=int, metavar=("NX", "NY"))
    options = parser.parse_args()
    if options.grid and min(options.grid) < 1:
        sys.exit("make_matrices.py: --grid takes two numbers from 1")
    if options.trefethen:
        write_trefethen(options.folder, options.trefethen)
    if options.grid:
        write_grid(options.folder, *options.grid)
    if not options.trefethen and not options.grid:
        write_grid(options.folder, 30, 30)
        write_trefethen(options.folder, "20b")
        write_trefethen(options.folder, "2000")


if __name__ == "__main__":
    main()
