#!/usr/bin/env python3
"""Builds an app and a module outside of the repository as a newcomer does, and compares what is said of near misses.

    Tests/Integration/outside.py            in a new folder, which is removed
    Tests/Integration/outside.py --keep D   in the folder D, which stays

The package depends on a clone of the repository, as it is in the work tree, by the snippet that the README has for it, and
the app has the settings of Xcode 26 and the README's first call: all three are read where they stand. So is the whole module
of the guides, and its tests are run. A near miss is a property that looks like a rule and is none; `near-misses.md` has a
table of them, and who has to say what of each.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

{settings}

let package = Package(
    name: "Outside",
    platforms: [.macOS(.v13)],
    {install}
)
func product(_ name: String) -> Target.Dependency {{ .product(name: name, package: "nautilus") }}
package.targets += [
    .executableTarget(name: "App", dependencies: [product("Nautilus")], swiftSettings: settingsOfXcode26),
    .executableTarget(
        name: "NearMisses",
        dependencies: [product("Nautilus"), product("NautilusStreams"), product("NautilusTesting")]
    ),
    .target(
        name: "Shop",
        dependencies: [
            product("Nautilus"), product("NautilusEnvironments"), product("NautilusPages"), product("NautilusSessions"),
            product("NautilusStreams"),
        ]
    ),
    .testTarget(name: "ShopTests", dependencies: ["Shop", product("NautilusTesting"), product("NautilusTestTraits")]),
]
"""

# A call goes to a port of this machine where nothing listens.
CALL = '_ = try? await {request}.schedule(with: AnyHttpService(apiUrl: "http://127.0.0.1:9"))'


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--keep", type=pathlib.Path)
    folder = options.parse_args().keep
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        check(folder.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder).resolve())


def check(folder):
    rows = table(HERE / "near-misses.md")
    make(folder, rows)
    run("swift", "build", "--build-tests", "--package-path", folder)
    print("the package of the README builds, and its first call, in an app with the settings of Xcode 26", flush=True)
    tested = run("swift", "test", "--skip-build", "--package-path", folder)
    count = (folder / "Tests/ShopTests/ShopTests.swift").read_text().count("@Test func")
    if f"Test run with {count} tests" not in tested:
        sys.exit(f"error: the {count} tests of the guides' module did not run\n{tested}")
    print(f"the whole module of the guides passes its {count} tests", flush=True)
    heard = {
        "compiler": compiler(folder, rows),
        "compiler, in an app of Xcode 26": compiler(folder, rows, "-default-isolation", "MainActor"),
    }
    heard |= program(folder, rows)
    failures = [
        f"near-misses.md:{row['line']}: {row['who']} does not say: {row['text']}\n  but: {heard[row['who']].get(row['number'], 'nothing')}"
        for row in rows
        if heard[row["who"]].get(row["number"]) != row["text"]
    ]
    if failures:
        sys.exit("\n".join(failures) + f"\nerror: {len(failures)} near misses of {len(rows)} are told in another way")
    print(f"{len(rows)} near misses are told as listed")


def make(folder, rows):
    """Writes the package, and the clone that it depends on."""
    clone = folder / "nautilus.git"
    shutil.rmtree(clone, ignore_errors=True)
    run("git", "init", "--quiet", "--bare", "--initial-branch", "main", clone)
    # With what has been changed and not yet committed.
    commit = run("git", "-C", ROOT, "stash", "create").strip() or "HEAD"
    run("git", "-C", ROOT, "push", "--quiet", clone, f"{commit}:refs/heads/main")

    readme = (ROOT / "README.md").read_text()
    install = re.search(r"^## Install it\n\n```text\n(.*?)\n```", readme, re.MULTILINE | re.DOTALL).group(1)
    assert install.count("…/nautilus.git") == 1, "the README's snippet has another URL"
    settings = re.search(r"^let settingsOfXcode26.*?^\]", (HERE / "Package.swift").read_text(), re.MULTILINE | re.DOTALL)
    manifest = MANIFEST.format(
        settings=settings.group(0),
        install=install.replace("…/nautilus.git", clone.as_uri()).rstrip(",\n"),
    )
    write(folder / "Package.swift", manifest)
    first_call = re.search(r"^```swift\n(.*?)^```", readme, re.MULTILINE | re.DOTALL).group(1)
    write(folder / "Sources/App/main.swift", of_xcode_26(first_call) + "print(note.title)\n")
    # An API module has no statements: only what the first call declares.
    declarations = first_call[: first_call.index("let service")]
    write(folder / "Sources/NotesAPI/NotesAPI.swift", declarations)

    guide = (ROOT / "Guides/WholeModule.md").read_text()
    for name, code in re.findall(r"^```swift\n// (\w+\.swift)\n(.*?)^```", guide, re.MULTILINE | re.DOTALL):
        target = "Tests/ShopTests" if name.endswith("Tests.swift") else "Sources/Shop"
        write(folder / target / name, code)

    lines = ["import Foundation", "import Nautilus", "import NautilusStreams", "import NautilusTesting", ""]
    for row in rows:
        if row["who"] in ("diagnose()", "debug run"):
            lines.append(row["source"])
    for row in rows:
        if row["who"] == "diagnose()":
            lines.append(f'for finding in {diagnosis(row)} {{ print("{row["number"]}", finding) }}')
    for row in rows:
        if row["who"] == "debug run":
            lines.append(f'FileHandle.standardError.write(Data("row {row["number"]}\\n".utf8))')
            is_service = "HttpService" in row["source"]
            call = f'_ = try? await AnyRequest(.get, []).schedule(with: {row["name"]}())'
            lines.append(call if is_service else CALL.format(request=f"{row['name']}()"))
    write(folder / "Sources/NearMisses/main.swift", "\n".join(lines) + "\n")


def of_xcode_26(declarations):
    """Declarations as the README has them written in an app with the settings of Xcode 26."""
    return re.sub(r"^(struct|extension) ", r"nonisolated \1 ", declarations, flags=re.MULTILINE)


def diagnosis(row):
    if "HttpService" in row["source"]:
        return f"{row['name']}().diagnose()"
    return f'AnyHttpService(apiUrl: "api.example.com").diagnose({row["name"]}())'


def table(path):
    """The rows of the table: each has a source, of one declaration and perhaps its extension, who speaks, and the text."""
    rows = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        cells = re.match(r"^\| `(?P<source>(?:nonisolated )?struct (?P<name>\w+).*)` \| (?P<who>[^|]+) \| (?P<text>.*) \|$", line)
        if cells:
            rows.append(cells.groupdict() | {"number": len(rows), "line": number})
    assert len({row["name"] for row in rows}) == len(rows) > 20, "each row has a type of its own"
    return rows


def compiler(folder, rows, *flags):
    """What the compiler says of each row that is its own, its first complaint."""
    wanted = "compiler, in an app of Xcode 26" if flags else "compiler"
    rows = [row for row in rows if row["who"] == wanted]
    file = folder / "rows.swift"
    write(file, "import Nautilus; import NautilusStreams\n" + "".join(row["source"] + "\n" for row in rows))
    checked = subprocess.run(
        [
            "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", *flags,
            "-I", folder / ".build/debug/Modules",
            "-I", folder / ".build/checkouts/nautilus/Sources/CNautilusCurl/include",
            file,
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    heard = {}
    for line, text in re.findall(r"^\S*rows\.swift:(\d+):\d+: ((?:warning|error): .*)$", checked.stderr, re.MULTILINE):
        # What belongs to a group of diagnostics has its name behind it.
        heard.setdefault(rows[int(line) - 2]["number"], re.sub(r" \[#\w+\]$", "", text))
    return heard


def program(folder, rows):
    """What the program says: on its standard output the findings, and on the other one what calls of a debug build tell."""
    ran = subprocess.run(
        [folder / ".build/debug/NearMisses"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60
    )
    findings, told, row = {}, {}, None
    for number, text in re.findall(r"^(\d+) (.*)$", ran.stdout, re.MULTILINE):
        findings.setdefault(int(number), text)
    for line in ran.stderr.splitlines():
        start = re.match(r"^row (\d+)$", line)
        if start:
            row = int(start.group(1))
        else:
            told.setdefault(row, line)
    return {"diagnose()": findings, "debug run": told}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
