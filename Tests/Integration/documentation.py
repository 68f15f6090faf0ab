#!/usr/bin/env python3
"""Builds the documentation of each product with the toolchain's own `docc`, and fails on a warning.

    Tests/Integration/documentation.py              into `.build/documentation`, one archive for each product
    Tests/Integration/documentation.py --output D   into another folder

Each product has a catalogue in its sources. That of the core has the guides and the tutorial as links to the files in
`Guides`, so that Xcode and the Swift Package Index show what is written once. Here the guides' links to one another, which
are GitHub's, become DocC's, and the code of the tutorial is compiled. To read an archive:

    python3 -m http.server --directory .build/documentation/Nautilus.doccarchive
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GUIDES = ROOT / "Guides"
C_MODULE = ROOT / "Sources/CNautilusCurl/include"
# What a product shows of other modules' declarations is documented with it, and not by itself.
REEXPORTED = {"Nautilus": ["NautilusHTTP"]}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--output", type=pathlib.Path, default=ROOT / ".build/documentation")
    options = options.parse_args()

    run("swift", "build", "--package-path", ROOT)
    modules = pathlib.Path(run("swift", "build", "--package-path", ROOT, "--show-bin-path").strip()) / "Modules"
    triple = json.loads(run("swiftc", "-print-target-info"))["target"]["triple"]
    compile_tutorial(modules)
    failures = []
    for product in re.findall(r'\.library\(name: "(\w+)"', (ROOT / "Package.swift").read_text()):
        if any(product in modules for modules in REEXPORTED.values()):
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            graphs = folder / "graphs"
            graphs.mkdir()
            run(
                "swift", "symbolgraph-extract", "-module-name", product, "-target", triple,
                "-I", modules, "-I", C_MODULE, "-minimum-access-level", "public", "-output-dir", graphs,
                f"-experimental-allowed-reexported-modules={','.join(REEXPORTED.get(product, []))}",
            )
            catalogue = folder / f"{product}.docc"
            shutil.copytree(ROOT / f"Sources/{product}/{product}.docc", catalogue)
            if product == "Nautilus":
                failures += check_guides(catalogue)
                for guide in (catalogue / "Guides").glob("*.md"):
                    guide.write_text(article(guide))
            failures += convert(product, catalogue, graphs, options.output / f"{product}.doccarchive")
    if failures:
        sys.exit("\n".join(failures) + f"\nerror: {len(failures)} warnings in the documentation")


def compile_tutorial(modules):
    """Compiles each step of the tutorial, which shows whole files."""
    for step in sorted((GUIDES / "Tutorial").glob("*.swift")):
        run(
            "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
            "-I", modules, "-I", C_MODULE, step,
        )


def check_guides(catalogue):
    """The guides that the catalogue lacks, or that its first page lists in another order than the README."""
    files = [file for file in GUIDES.rglob("*") if file.is_file()]
    places = {file: catalogue / ("Tutorial" if file.parent != GUIDES else "Guides") / file.name for file in files}
    failures = [f"error: the catalogue has no link to {file.relative_to(ROOT)}" for file in files if not places[file].exists()]
    readme = (ROOT / "README.md").read_text()
    readme = readme[readme.index("## Read on") :]
    expected = list(dict.fromkeys(re.findall(r"\(Guides/(\w+)\.md\)", readme)))
    listed = re.findall(r"<doc:(\w+)>", (catalogue / "Nautilus.md").read_text())
    if listed != ["AuthorizedService"] + expected:
        failures.append(f"error: Nautilus.md lists {listed}, and the README {expected}")
    return failures


def article(guide):
    """A guide as an article: links to other guides are DocC's, those to other files of the repository plain text."""
    # Links may be broken over two lines, but code has none.
    parts = re.split(r"(^```.*?^```$)", guide.read_text(), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else relinked(part, guide.stem) for part in parts)


def relinked(text, page):
    def link(match):
        title, target = match.groups()
        if target.startswith(("https://", "http://")):
            return match.group(0)
        file, _, heading = target.partition("#")
        if file and (not file.endswith(".md") or "/" in file):
            return title
        place = file[:-3] if file else page
        return f"[{title}](doc:{place}{fragment(place, heading)})"

    return re.sub(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)", link, text)


def fragment(guide, heading):
    """DocC's name for a heading, which GitHub knows in lower case and without punctuation."""
    for title in re.findall(r"^##+ (.*)$", (GUIDES / f"{guide}.md").read_text(), re.MULTILINE):
        if re.sub(r"[^\w\- ]", "", title).replace(" ", "-").lower() == heading:
            return "#" + re.sub(r"[`'\",.]", "", title).replace(" ", "-")
    return ""


def convert(product, catalogue, graphs, archive):
    """Makes one archive; returns what `docc` complains about."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(archive, ignore_errors=True)
    converted = subprocess.run(
        [
            "docc", "convert", catalogue, "--additional-symbol-graph-dir", graphs, "--output-dir", archive,
            "--fallback-display-name", product, "--fallback-bundle-identifier", product,
            # A parameter that its name explains has no words.
            "--disable-parameters-and-returns-validation", "--ide-console-output", "--transform-for-static-hosting",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    complaints = [line for line in converted.stdout.splitlines() if re.search(r"\b(warning|error): ", line)]
    if converted.returncode != 0 and not complaints:
        complaints = [f"error: docc ended with code {converted.returncode}: {converted.stdout}"]
    pages = len(list((archive / "data").rglob("*.json"))) if archive.exists() else 0
    print(f"{product}: {pages} pages, {len(complaints)} warnings")
    return complaints


def run(*command):
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
