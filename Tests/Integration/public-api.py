#!/usr/bin/env python3
"""Lists the public API of each product, so that no change of it goes unseen.

    Tests/Integration/public-api.py --check    compares the sources with the lists in `API`, and prints what differs
    Tests/Integration/public-api.py --update   writes the lists anew; commit them with the change
    … --platform macOS FOLDER                  the same for what another platform has besides, built in FOLDER

A list has one line for each declaration, sorted, without documentation, and one for the conformances of each type. It is
made on Linux from the modules of `swift build`, which is run before. `compile-elsewhere.py` has the lists of other platforms
made and compared, which have what the first ones lack. The compiler decides how a declaration is written,
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
    options.add_argument("--platform", nargs=2, metavar=("NAME", "FOLDER"))
    options = options.parse_args()

    if options.platform:
        name, package = options.platform
        folder = LISTS / "Elsewhere"
        lists = {name: "\n".join([f"The public API on {name} beyond that on Linux.", "", *beyond(pathlib.Path(package))]) + "\n"}
    else:
        output("swift", "build", "--package-path", ROOT)
        folder = LISTS
        lists = {
            product: "\n".join([f"The public API of {product}, by Swift {version}.", "", *lines]) + "\n"
            for version, product, lines in listings(ROOT)
        }
    if options.update:
        update(lists, folder, is_complete=not options.platform)
    else:
        check(lists, folder, is_complete=not options.platform)


def listings(package):
    """The compiler's version, each product and the lines of its list, by the modules that were built in a package."""
    target = json.loads(output("swiftc", "-print-target-info"))
    version = re.search(r"Swift version (\d+\.\d+)", target["compilerVersion"]).group(1)
    build = pathlib.Path(output("swift", "build", "--package-path", package, "--show-bin-path").strip())
    # Modules of C that those of Swift import.
    maps = [*(package / "Sources").rglob("module.modulemap"), *build.parents[1].glob("checkouts/**/module.modulemap")]
    maps += build.glob("*.build/module.modulemap")
    includes = [part for path in sorted(maps) for part in ("-I", path.parent)]
    with tempfile.TemporaryDirectory() as folder:
        for product in products():
            yield version, product, listing(symbols(product, target, build / "Modules", includes, pathlib.Path(folder)))


def beyond(package):
    """The lines of another platform's lists that those of Linux lack, each after its product."""
    for _, product, lines in listings(package):
        known = set((LISTS / f"{product}.txt").read_text().splitlines())
        # By the name of the module for which another one stands in.
        yield from (f"{product}: {line}".replace("OpenCombine.", "Combine.") for line in lines if line not in known)


def products():
    """The products of the root's manifest; each has one target of its name."""
    products = re.findall(r'\.library\(name: "(\w+)"', (ROOT / "Package.swift").read_text())
    # Listed with what re-exports it.
    return [product for product in products if product != "NautilusHTTP"]


def symbols(product, target, modules, includes, folder):
    """The symbol graphs of a module: its own, and one for each module that it extends."""
    output(
        "swift", "symbolgraph-extract", "-module-name", product, "-target", target["target"]["triple"],
        "-I", modules, *includes,
        "-minimum-access-level", "public", "-output-dir", folder,
        # `import Nautilus` shows these, too.
        *(["-experimental-allowed-reexported-modules=NautilusHTTP"] if product == "Nautilus" else []),
    )
    graphs = [folder / f"{product}.symbols.json", *folder.glob(f"{product}@*.symbols.json")]
    return [json.loads(graph.read_text()) for graph in graphs]


def listing(graphs):
    """The lines of one list."""
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
    return sorted(lines)


def demangled(identifier):
    """The name of a type as it is written, from the one that the compiler has for it."""
    return output("swift", "demangle", "--compact", "$" + identifier.replace(":", "", 1)).strip()


def condition(relation):
    """Under which constraints a conformance holds; empty for none."""
    constraints = relation.get("swiftConstraints", [])
    signs = {"conformance": ":", "superclass": ":", "sameType": "=="}
    texts = sorted(f"{c['lhs']} {signs[c['kind']]} {c['rhs']}" for c in constraints)
    return f" where {' & '.join(texts)}" if texts else ""


def update(lists, folder, is_complete):
    folder.mkdir(exist_ok=True)
    for file in folder.glob("*.txt") if is_complete else []:
        if file.stem not in lists:
            file.unlink()
    for name, text in lists.items():
        (folder / f"{name}.txt").write_text(text)
        print(f"{name}: {text.count(chr(10)) - 2} lines")


def check(lists, folder, is_complete):
    strays = sorted({file.stem for file in folder.glob("*.txt")} - lists.keys()) if is_complete else []
    changes = [f"error: {stray} is no product" for stray in strays]
    for name, text in lists.items():
        file = folder / f"{name}.txt"
        listed = file.read_text() if file.exists() else ""
        changes += difflib.unified_diff(
            listed.splitlines(), text.splitlines(), f"{name}, as listed", f"{name}, in the sources", "", "", 0, ""
        )
    if changes:
        print("\n".join(changes))
        sys.exit("error: the public API has changed; if it should have, run this with --update")
    print(f"The public API is as listed: {', '.join(lists)}.")


def output(*command):
    run = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return run.stdout


if __name__ == "__main__":
    main()
