#!/usr/bin/env python3
"""Measures how long `swift test` takes in a fresh clone: the time on the processors and by the clock.

    Tests/Benchmarks/test-time.py            this commit
    Tests/Benchmarks/test-time.py COMMIT     this commit and COMMIT, one after the other, and their ratio

Only what is committed counts. Each clone is built from nothing, so a commit takes some ten minutes on two cores. The time on
the processors depends little on other programs; the time by the clock does.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(commit):
    """The seconds that building and testing a fresh clone of `commit` takes, on the processors and by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
        times = {}
        for name, command in [("build", ["swift", "build", "--build-tests"]), ("test", ["swift", "test", "--skip-build"])]:
            used, start = processor(), time.monotonic()
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                sys.exit(f"error: {' '.join(command)} failed at {commit}:\n{done.stdout[-2000:]}")
            times[name] = (processor() - used, time.monotonic() - start)
        tests = re.findall(r"Test run with (\d+) tests", done.stdout)
    whole = tuple(sum(part) for part in zip(*times.values()))
    print(f"{commit}: {sum(map(int, tests))} tests", flush=True)
    for name, (used, clock) in {**times, "both": whole}.items():
        print(f"  {name:6}{used / 60:6.1f} min on the processors{clock / 60:6.1f} min by the clock", flush=True)
    return whole[0]


def processor():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?")
    commit = parser.parse_args().commit
    used = measure(subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip())
    if commit:
        print(f"ratio: {used / measure(commit):.2f}")


if __name__ == "__main__":
    main()
