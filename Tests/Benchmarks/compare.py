#!/usr/bin/env python3
"""Compares what this checkout costs with what another commit costs, row by row.

    Tests/Benchmarks/compare.py COMMIT [--filter TEXT] [--rounds 7] [--full]

Checks COMMIT out beside this one and builds its own `benchmarks`, then runs its executable and this checkout's in turn, so
that both meet the same machine, `--rounds` times each. Of each row that both have, prints the best processor time and the
fewest allocations of each, and their ratio: below 1, this checkout is cheaper. `--filter` is passed on to `benchmarks`, and
without `--full` it runs `--quick`. Rows that only one of the two has are named at the end.

Takes two minutes to build, and about half a minute for each run of everything.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "Tests/Benchmarks"


def build(root):
    """Builds a checkout's benchmarks, and returns the executable."""
    command = ["swift", "build", "-c", "release", "--package-path", str(root / PACKAGE), "--product", "benchmarks"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    folder = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(folder) / "benchmarks"


def run(executable, options):
    """The rows of one run that do not depend on the clock: their values by group, name and unit."""
    report = subprocess.run([executable, "--json", *options], check=True, capture_output=True, text=True).stdout
    return {
        (row["group"], row["name"]): row["value"]
        for row in json.loads(report)
        if row["unit"] == "allocations" or row["name"].endswith("processor time")
    }


def best(rows, other):
    return {name: min(value, other.get(name, value)) for name, value in rows.items()} | {
        name: value for name, value in other.items() if name not in rows
    }


def shown(name, value):
    return f"{value:.1f}" if name.endswith("allocations") else f"{value / 1000:.2f} µs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--filter")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    options = ([] if arguments.full else ["--quick"]) + (["--filter", arguments.filter] if arguments.filter else [])
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(git + ["add", "--detach", str(other), arguments.commit], check=True, stdout=sys.stderr)
        try:
            executables = [build(other), build(ROOT)]
            before, after = {}, {}
            for number in range(arguments.rounds):
                print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
                before = best(run(executables[0], options), before)
                after = best(run(executables[1], options), after)
        finally:
            subprocess.run(git + ["remove", "--force", str(other)], check=True)
    group = None
    for key in [key for key in before if key in after]:
        if key[0] != group:
            group = key[0]
            print(f"\n{group}\n\n| | before | after | ratio |\n|---|---|---|---|")
        ratio = f"{after[key] / before[key]:.2f}" if before[key] else "–"
        print(f"| {key[1]} | {shown(key[1], before[key])} | {shown(key[1], after[key])} | {ratio} |")
    for title, rows in [("gone", before.keys() - after.keys()), ("new", after.keys() - before.keys())]:
        for key in sorted(rows):
            print(f"\n{title}: {key[1]} ({key[0]})", end="")
    print()


main()
