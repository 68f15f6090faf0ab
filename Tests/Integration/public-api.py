#!/usr/bin/env python3
"""Lists the public API of each product, so that no change of it goes unseen.

    Tests/Integration/public-api.py --check    compares the sources with the lists in `API`, and prints what differs
    Tests/Integration/public-api.py --update   writes the lists anew; commit them with the change

A list has one line for each declaration, sorted, without documentation, and one for the conformances of each type. It is
made on Linux from the modules of `swift build`, which is run before. The compiler decides how a declaration is written,
so a list names the version of Swift that it was made with; another one writes some lines differently.
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LISTS = HERE / "API"

# Conformances that the compiler adds by itself.
IMPLICIT = {"Copyable", "Escapable", "SendableMetatype"}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = options.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--update", action="store_true")
    options = options.parse_args()

    output("swift", "build", "--package-path", ROOT)
    target = json.loads(output("swiftc", "-print-target-info"))
    modules = pathlib.Path(output("swift", "build", "--package-path", ROOT, "--show-bin-path").strip()) / "Modules"
    version = re.search(r"Swift version (\d+\.\d+)", target["compilerVersion"]).group(1)
    with tempfile.TemporaryDirectory() as folder:
        lists = {
            product: listing(product, version, symbols(product, target, modules, pathlib.Path(folder)))
            for product in products()
        }
    if options.update:
        update(lists)
    else:
        check(lists)


def products():
    """The products of the root's manifest; each has one target of its name."""
    return re.findall(r'\.library\(name: "(\w+)"', (ROOT / "Package.swift").read_text())


def symbols(product, target, modules, folder):
    """The symbol graphs of a module: its own, and one for each module that it extends."""
    output(
        "swift", "symbolgraph-extract", "-module-name", product, "-target", target["target"]["triple"],
        "-I", modules, "-I", ROOT / "Sources/CNautilusCurl/include",
        "-minimum-access-level", "public", "-output-dir", folder,
    )
    graphs = [folder / f"{product}.symbols.json", *folder.glob(f"{product}@*.symbols.json")]
    return [json.loads(graph.read_text()) for graph in graphs]


def listing(product, version, graphs):
    """The text of one list."""
    lines, names, conformances = set(), {}, {}
    for graph in graphs:
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            # A member that a type has from an extension of its protocol is listed once, at the protocol.
            if "::SYNTHESIZED::" in identifier:
                continue
            path = ".".join(symbol["pathComponents"])
            names[identifier] = path
            declaration = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
            lines.add(f"{path} | {' '.join(declaration.split())}")
    relations = [relation for graph in graphs for relation in graph["relationships"]]
    for relation in relations:
        if relation["kind"] not in ("conformsTo", "inheritsFrom") or "::SYNTHESIZED::" in relation["source"]:
            continue
        protocol = names.get(relation["target"]) or relation.get("targetFallback", relation["target"])
        # A type of another module is no symbol of this one.
        source = names.get(relation["source"]) or demangled(relation["source"])
        protocol = protocol.removeprefix("Swift.")
        if protocol not in IMPLICIT:
            conformances.setdefault(source, set()).add(protocol + condition(relation))
    lines |= {f"{name} : {', '.join(sorted(protocols))}" for name, protocols in conformances.items()}
    return "\n".join([f"The public API of {product}, by Swift {version}.", "", *sorted(lines)]) + "\n"


def demangled(identifier):
    """The name of a type as it is written, from the one that the compiler has for it."""
    return output("swift", "demangle", "--compact", "$" + identifier.replace(":", "", 1)).strip()


def condition(relation):
    """Under which constraints a conformance holds; empty for none."""
    constraints = relation.get("swiftConstraints", [])
    signs = {"conformance": ":", "superclass": ":", "sameType": "=="}
    texts = sorted(f"{c['lhs']} {signs[c['kind']]} {c['rhs']}" for c in constraints)
    return f" where {' & '.join(texts)}" if texts else ""


def update(lists):
    LISTS.mkdir(exist_ok=True)
    for file in LISTS.glob("*.txt"):
        if file.stem not in lists:
            file.unlink()
    for product, text in lists.items():
        (LISTS / f"{product}.txt").write_text(text)
        print(f"{product}: {text.count(chr(10)) - 2} lines")


def check(lists):
    strays = sorted({file.stem for file in LISTS.glob("*.txt")} - lists.keys())
    changes = [f"error: {stray} is no product" for stray in strays]
    for product, text in lists.items():
        file = LISTS / f"{product}.txt"
        listed = file.read_text() if file.exists() else ""
        changes += difflib.unified_diff(
            listed.splitlines(), text.splitlines(), f"{product}, as listed", f"{product}, in the sources", "", "", 0, ""
        )
    if changes:
        print("\n".join(changes))
        sys.exit("error: the public API has changed; if it should have, run Tests/Integration/public-api.py --update")
    print(f"The public API of {len(lists)} products is as listed.")


def output(*command):
    run = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return run.stdout


if __name__ == "__main__":
    main()
