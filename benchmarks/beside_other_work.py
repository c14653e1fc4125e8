#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times whole runs of a program: idle, beside processes that keep every core busy, and within a quota of one core.

For each number of threads and for the defaults, in turns: seconds of wall time, the median, the least and the most, and
the default over the best. The busy processes are started here and ended here. The quota is a group of version 1
(cpu.cfs_quota_us) or 2 (cpu.max) of control groups, where one may be made."""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time

BUSY = "import time\nwhile True: pass"


def candidates(cores, linked):
    """(name, arguments, environment) of each."""
    yield "default", [], {}
    threads = 1
    while True:
        if linked:
            yield f"{threads} threads", [], {"OMP_NUM_THREADS": str(threads)}
        else:
            yield f"{threads} threads", ["--threads", str(threads)], {}
        if threads == cores:
            break
        threads = min(2 * threads, cores)
    yield "OMP_NUM_THREADS=64", [], {"OMP_NUM_THREADS": "64"}


@contextlib.contextmanager
def others(count):
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def make_group(cores):
    """A group with a quota of so many cores, or None and why not."""
    period = 100000
    for root, file, text in (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", f"{int(period * cores)}"),
        ("/sys/fs/cgroup", "cpu.max", f"{int(period * cores)} {period}"),
    ):
        folder = f"{root}/krysol_{os.getpid()}"
        try:
            if not os.path.exists(f"{root}/cgroup.procs"):
                continue
            os.mkdir(folder)
            if os.path.exists(f"{folder}/{file}"):
                with open(f"{folder}/{file}", "w") as quota:
                    quota.write(text)
                return folder, ""
            os.rmdir(folder)
        except OSError as error:
            return None, str(error)
    return None, "no control groups are mounted here"


def seconds(command, environment, group):
    def join():
        if group:
            with open(f"{group}/cgroup.procs", "w") as members:
                members.write(str(os.getpid()))

    unset = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    clean = {k: v for k, v in os.environ.items() if k not in unset}
    began = time.monotonic()
    done = subprocess.run(
        command, env={**clean, **environment}, preexec_fn=join, stdout=subprocess.DEVNULL, check=False
    )
    took = time.monotonic() - began
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return took


def measure(title, command, tried, runs, group=None):
    times = {name: [] for name, _, _ in tried}
    for _ in range(runs):
        for name, arguments, environment in tried:
            times[name].append(seconds([*command, *arguments], environment, group))
    best = min(statistics.median(t) for name, t in times.items() if name.endswith(" threads"))
    print(title)
    for name, t in times.items():
        middle = statistics.median(t)
        print(f"  {name:<22}{middle:8.3f} s  {min(t):8.3f} to {max(t):.3f}  {middle / best:6.2f} of the best")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="of each, in turns (default 7)")
    parser.add_argument(
        "--linked",
        action="store_true",
        help="a program of one's own, which gets its threads by OMP_NUM_THREADS; else cg_solve, which gets --threads, and "
        "options that keep it from other work than solving",
    )
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="a matrix, say")
    options = parser.parse_args()
    command = [options.program, *options.arguments]
    if not options.linked:
        command += ["--no-bandwidth", "--quiet", "--no-tuning-cache"]
    cores = len(os.sched_getaffinity(0))
    tried = list(candidates(cores, options.linked))
    measure("idle", command, tried, options.runs)
    with others(cores):
        measure(f"beside {cores} busy processes", command, tried, options.runs)
    group, why = make_group(1)
    if group is None:
        print(f"within a quota of one core: not measured: {why}")
        return
    try:
        measure("within a quota of one core", command, tried, options.runs, group)
    finally:
        os.rmdir(group)


if __name__ == "__main__":
    main()
