#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cg_solve without options beside fixed choices of the preconditioner, over a folder of positive definite matrices.
usage: choices.py FOLDER --cg-solve PROGRAM [--rhs B]... [--choices NAMES] [--limit SECONDS] [--again]
FOLDER holds matrices and INDEX.tsv with the columns file, spd (yes), rows. For each matrix the choices take turns, a process each;
counted is seconds_to_solution, all that lies between the rows in memory and x. Prints a line a matrix and, for each b, a line of a
Markdown table: the sum of each choice, how many matrices `auto` (the first of NAMES) took at most 1.3 times the best choice for,
or 2 ms more, and those that it took twice as long for, or longer. --again repeats matrices that missed 1.3, and counts the better."""
import argparse, csv, json, os, subprocess, sys

ended_well = ('converged', 'stagnated')


def solve(program, path, choice, rhs, limit):
    """Seconds, status and iterations."""
    command = [program, path, '--precond', choice, '--rhs', rhs, '--json', '-', '--quiet', '--no-bandwidth', '--no-tuning-cache',
               '--time-limit', str(limit), '--max-iterations', '1000000']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * limit)
        report = json.loads(done.stdout)
        report['seconds_to_solution'], report['result']['status']
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
        return float('inf'), 'failed', 0
    return report['seconds_to_solution'], report['result']['status'], report['result']['iterations']


def best_of(line):
    return min((seconds for seconds, status, _ in line.values() if status in ended_well), default=float('inf'))


def better(one, other):
    return min(one, other, key=lambda run: (run[1] not in ended_well, run[0]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder')
    p.add_argument('--cg-solve', required=True)
    p.add_argument('--rhs', action='append')
    p.add_argument('--choices', default='auto jacobi block-jacobi ic0 ic fsai ssor amg cholesky')
    p.add_argument('--limit', type=float, default=1.0)
    p.add_argument('--again', action='store_true')
    a = p.parse_args()
    choices = a.choices.split()
    with open(os.path.join(a.folder, 'INDEX.tsv'), newline='') as f:
        matrices = [row for row in csv.DictReader(f, delimiter='\t') if row['spd'] == 'yes']
    if not matrices: sys.exit(f'{a.folder}: INDEX.tsv names no positive definite matrix')
    auto = choices[0]
    table = [f'| b | {" | ".join(choices)} | within 1.3 times the best, or 2 ms | twice the best or more | not solved by `{auto}` |',
             '|' + '---|' * (len(choices) + 4)]
    for rhs in a.rhs or ['random:1', 'ones', 'A*random:1']:
        sums = dict.fromkeys(choices, 0.0)
        near, far, unsolved = 0, [], []
        for row in matrices:
            path = os.path.join(a.folder, row['file'])
            line = {c: solve(a.cg_solve, path, c, rhs, a.limit) for c in choices}
            missed = lambda: line[auto][1] not in ended_well or line[auto][0] > 1.3 * best_of(line) + 0.002
            if a.again and missed():
                for c in choices: line[c] = better(line[c], solve(a.cg_solve, path, c, rhs, a.limit))
            for c in choices: sums[c] += line[c][0]
            print(f"{rhs:11s} {row['file']:28s}", *(f'{c} {s * 1e3:.1f} ms {i} {status[:9]};' for c, (s, status, i) in line.items()), flush=True)
            if line[auto][1] not in ended_well: unsolved.append(row['file'])
            near += not missed()
            if line[auto][0] > 2 * best_of(line) + 0.002: far.append(f"{row['file'].split('.')[0]} {line[auto][0] / best_of(line):.1f}")
        fixed = {c: s for c, s in sums.items() if c != auto}
        iterative = {c: s for c, s in fixed.items() if c != 'cholesky'} or fixed
        table.append(f'| {rhs} | ' + ' | '.join(f'{sums[c]:.2f}' for c in choices) + f' | {near} of {len(matrices)} | {", ".join(far) or "none"} | {", ".join(unsolved) or "none"} |')
        print(f'{rhs}: {auto} over the best fixed choice {sums[auto] / min(fixed.values()):.2f}, over the best iterative one {sums[auto] / min(iterative.values()):.2f}')
    print('\n'.join(table))


if __name__ == '__main__':
    main()
