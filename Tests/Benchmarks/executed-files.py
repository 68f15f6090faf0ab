#!/usr/bin/env python3
"""Counts the source files of which three fixed calls execute lines: what a reader of such a call may have to open.

    Tests/Benchmarks/executed-files.py [COMMIT] [--files]

Builds Sources/calls for coverage and runs each of its calls, over a scripted transport and a manual clock:

    retry    a GET is answered 503, then 200
    refresh  a call is answered 401, its token is refreshed, and it is sent again and answered 200
    signout  a call is answered 503, and its user signs out while it waits in its backoff

Prints for each call how many files of Sources/ have at least one executed line, and the sum of the three. Only library
modules count: not the test kit, nor transports, which are replaced here, nor C. A library file counts also if only the
test kit calls it. `--files` prints the files' names as well, each with the number of its executed lines. The files were
the same in every run that was tried; the numbers of lines vary slightly, since calls use several threads.

With COMMIT, checks that commit out beside this one and counts its files. The calls are those of this checkout: the script
fails if COMMIT lacks an API that they use, or if a call ends differently there.

Takes about a minute to build from nothing, on two cores. A second count of this checkout builds only what has changed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLS = pathlib.Path(__file__).resolve().parent / "Sources/calls"
NAMES = ["retry", "refresh", "signout"]
HEADING = """\
Files with executed lines, of the library modules in Sources/. Not counted: NautilusTesting and NautilusTestTraits,
folders of transports, and C.
"""

# The other targets of the benchmarks' package are left out: one needs a download, and an older commit may not have them.
MANIFEST = """\
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Calls",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Nautilus", path: "{root}")],
    targets: [
        .executableTarget(
            name: "calls",
            dependencies: [
                .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
"""


def tool(name):
    """The toolchain's own tool: one of another version may not read its profiles."""
    beside = pathlib.Path(shutil.which("swift") or "swift").resolve().parent / name
    if beside.exists():
        return [str(beside)]
    return ["xcrun", name] if shutil.which("xcrun") else [name]


def build(root, folder):
    """Builds the calls with the library of a checkout, in a package in `folder`, and returns the executable."""
    (folder / "Sources").mkdir(parents=True, exist_ok=True)
    shutil.copytree(CALLS, folder / "Sources/calls", dirs_exist_ok=True)
    (folder / "Package.swift").write_text(MANIFEST.format(root=root))
    command = ["swift", "build", "-c", "debug", "--package-path", str(folder), "--scratch-path", str(folder / ".build")]
    command += ["-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping", "--product", "calls"]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        sys.exit("The calls did not build.")
    path = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(path) / "calls"


def executed(executable, name, root, folder):
    """The number of executed lines of each file of the library of which a call has executed any."""
    raw, merged = folder / f"{name}.profraw", folder / f"{name}.profdata"
    if subprocess.run([executable, name], env=os.environ | {"LLVM_PROFILE_FILE": str(raw)}).returncode != 0:
        sys.exit(f"{name} did not end as expected.")
    subprocess.run(tool("llvm-profdata") + ["merge", "-sparse", str(raw), "-o", str(merged)], check=True)
    export = tool("llvm-cov") + ["export", "-format=lcov", f"-instr-profile={merged}", str(executable)]
    report = subprocess.run(export, check=True, capture_output=True, text=True).stdout
    files, lines = {}, None
    for entry in report.splitlines():
        key, _, value = entry.partition(":")
        if key == "SF":
            lines = files.setdefault(pathlib.Path(value).resolve(), set())
        elif key == "DA":
            line, count = value.split(",")[:2]
            if int(count) > 0:
                lines.add(line)
    sources = (root / "Sources").resolve()
    return {
        str(path.relative_to(sources)): len(lines)
        for path, lines in files.items()
        if lines and path.is_relative_to(sources) and counts(path.relative_to(sources))
    }


def counts(path):
    """Whether a file belongs to a library module, and to no transport."""
    folders = path.parts[:-1]
    return not folders[0].startswith("NautilusTest") and not any(re.search("Transport|Curl", part) for part in folders)


def report(root, folder, shows_files):
    executable = build(root, folder)
    print(HEADING)
    total = 0
    for name in NAMES:
        files = executed(executable, name, root, folder)
        if not files:
            sys.exit(f"No file of {name} was found in the coverage.")
        total += len(files)
        print(f"{name:8}{len(files):5}")
        if shows_files:
            for path, lines in sorted(files.items()):
                print(f"{lines:13}  {path}")
    print(f"{'sum':8}{total:5}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--files", action="store_true")
    arguments = parser.parse_args()
    if not arguments.commit:
        return report(ROOT, ROOT / "Tests/Benchmarks/.build-calls", arguments.files)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        other = folder / "checkout"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(git + ["add", "--detach", str(other), arguments.commit], check=True, stdout=sys.stderr)
        try:
            report(other, folder / "calls", arguments.files)
        finally:
            subprocess.run(git + ["remove", "--force", str(other)], check=True)


if __name__ == "__main__":
    main()
