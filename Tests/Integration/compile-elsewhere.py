#!/usr/bin/env python3
"""Compiles the library on Linux as the compilers of other platforms see it, and tests what only Apple's have.

    Tests/Integration/compile-elsewhere.py             for iOS, then what differs for macOS; for Android; for musl
    Tests/Integration/compile-elsewhere.py --only iOS  for one of them
    Tests/Integration/compile-elsewhere.py --update    and writes the lists of the API that only these have

The sources are copied, with every condition on a platform or a module answered as that platform answers it, and built
with warnings as errors. Modules that only it has are stand-ins: this package's own, and OpenCombine, which have the same
interfaces. What a C library declares differently there (`mode_t`, `stat`) is not found this way, nor
that the real frameworks differ from the stand-ins. The tests in `AppleTests`, of publishers, the keychain's store and the
network's monitor, are run with the library as macOS has it. What each platform's public API has beyond that of Linux has to
be as listed in `API/Elsewhere`.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Without debug information it is built sooner.
LEAN = ["-debug-info-format", "none"]
MODULES = ["NautilusHTTP", "NautilusURLSession", "NautilusCurl"]
MODULES += ["Nautilus", "NautilusStreams", "NautilusPages", "NautilusTraffic", "NautilusCaching"]
MODULES += ["NautilusEnvironments", "NautilusCombine", "NautilusSessions", "NautilusOAuth", "NautilusTesting", "NautilusTestTraits", "NautilusFleets"]


@dataclasses.dataclass
class Platform:
    """A platform with its own modules, as `canImport` knows them."""

    name: str
    # Its answer to `os`.
    os: str
    # The folder of the build, shared by platforms that differ little.
    scratch: str
    # Modules that it lacks.
    absent: set
    # Modules that only it has, with their stand-ins here.
    stand_ins: dict
    # Modules that its Foundation brings along.
    foundation: list
    # Whether what only it has is tested.
    is_tested: bool = False
    # The library's targets that only it has.
    own: list = dataclasses.field(default_factory=list)
    # The stand-ins' packages.
    packages: str = ""
    products: str = ""


APPLE = {
    "scratch": ".build-apple",
    "absent": {"Android", "CNautilusCurl", "FoundationNetworking", "Glibc", "Musl"},
    "stand_ins": {
        "Combine": "OpenCombine",
        "Compression": "CompressionStandIn",
        "CryptoKit": "CryptoKitStandIn",
        "Darwin": "FoundationStandIn",
        "Network": "NetworkStandIn",
        "Security": "SecurityStandIn",
    },
    "foundation": ["FoundationNetworking", "Darwin"],
    "packages": '''
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    ''',
    "products": '.product(name: "OpenCombine", package: "OpenCombine"),',
}
PLATFORMS = [
    Platform("iOS", "iOS", **APPLE),
    Platform("macOS", "macOS", is_tested=True, **APPLE),
    Platform(
        "Android",
        "Android",
        scratch=".build-android",
        absent=(set(APPLE["stand_ins"]) | {"CNautilusCurl", "Glibc", "Musl"}),
        stand_ins={"Android": "AndroidStandIn"},
        foundation=["Android"],
    ),
    Platform(
        "musl",
        "Linux",
        scratch=".build-musl",
        absent=(set(APPLE["stand_ins"]) | {"Android", "Glibc"}),
        stand_ins={"Musl": "MuslStandIn"},
        foundation=["Musl"],
        own=["CNautilusCurl"],
    ),
]

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let alias: [SwiftSetting] = [.unsafeFlags([{flags}, "-warnings-as-errors"])]
let frameworks: [Target.Dependency] = [{stand_ins} {products}]
let package = Package(
    name: "NautilusElsewhere",
    dependencies: [{packages}],
    targets: [
        {targets}
        .target(name: "NautilusHTTP", dependencies: frameworks, swiftSettings: alias),
        .target(name: "NautilusURLSession", dependencies: ["NautilusHTTP"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusCurl", dependencies: ["NautilusHTTP"] + frameworks, swiftSettings: alias),
        .target(
            name: "Nautilus",
            dependencies: ["NautilusHTTP", "NautilusURLSession", "NautilusCurl"] + frameworks,
            swiftSettings: alias
        ),
        .target(name: "NautilusStreams", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusPages", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusTraffic", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusCaching", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusEnvironments", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusCombine", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusSessions", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusOAuth", dependencies: ["Nautilus", "NautilusSessions"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusTesting", dependencies: ["Nautilus", "NautilusStreams"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusTestTraits", dependencies: ["NautilusTesting"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusFleets", dependencies: ["Nautilus", "NautilusTesting"] + frameworks, swiftSettings: alias),
        {tests}
    ],
    swiftLanguageModes: [.v6]
)
"""


TESTED = ["Nautilus", "NautilusCombine", "NautilusSessions", "NautilusTesting"]
TESTS = ["CombineTests", "ConnectivityTests", "KeychainTests"]
# The promises of all stores, which the keychain's has to keep as well.
STORE_TESTS = ["StorePlace", "StorePromiseTests", "StoreRedactionTests", "StoreSubject", "StoreTable", "StoreTableTests"]
STORE_TESTS += ["StoredText", "TestFolder"]

# Stand-ins that need another one.
NEEDS = {"FoundationStandIn": ["SecurityStandIn"]}


def answer(condition, platform):
    """The condition of an `#if`, with each question on a platform or a module answered."""

    def of_module(match):
        name = match.group(1)
        if name in platform.absent:
            return "false"
        if name == "ObjectiveC":
            return "true" if platform.scratch == APPLE["scratch"] else "false"
        if name not in [*platform.stand_ins, *platform.own, "FoundationNetworking", "Testing"]:
            sys.exit(f"{platform.name}: there is no stand-in for {name}")
        return "true"

    condition = re.sub(r"canImport\((\w+)\)", of_module, condition)
    return re.sub(r"\bos\((\w+)\)", lambda match: "true" if match.group(1) == platform.os else "false", condition)


def translate(text, platform):
    lines = []
    for line in text.split("\n"):
        match = re.match(r"(\s*#(?:if|elseif) )(.*)$", line)
        if match:
            line = match.group(1) + answer(match.group(2), platform)
        # A module of this machine is missing there: outside of a condition, its import fails.
        match = re.match(r"(.*\bimport )(\w+)$", line)
        if match and match.group(2) in platform.absent:
            line += "IsAbsent"
        lines.append(line)
        # Foundation brings the C library along, and is one module on Apple's platforms.
        match = re.match(r"(\s*)((?:@\w+ |public |package |internal )*)import Foundation$", line)
        if match:
            lines += [f"{match.group(1)}{match.group(2)}import {name}" for name in platform.foundation]
    return "\n".join(lines)


def write(path, text):
    """Leaves a file alone that has the text already, so that only what differs is compiled."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def sources(platform):
    """The files of the build: where each is, where it goes, and whether its conditions are answered."""
    for name in MODULES:
        for file in (ROOT / "Sources" / name).rglob("*.swift"):
            # The catalogue links to code of the tutorial.
            if not file.is_symlink():
                yield file, file.relative_to(ROOT), True
    for name in platform.own:
        for file in (ROOT / "Sources" / name).rglob("*.*"):
            yield file, file.relative_to(ROOT), False
    for name in platform.stand_ins.values():
        for file in (HERE / "StandIns" / name).rglob("*.swift"):
            yield file, "Sources" / file.relative_to(HERE / "StandIns"), False
    if platform.is_tested:
        for file in (HERE / "AppleTests").rglob("*.swift"):
            yield file, "Tests" / file.relative_to(HERE / "AppleTests"), False
        for name in STORE_TESTS:
            file = ROOT / "Tests/NautilusSessionsTests/Store" / f"{name}.swift"
            yield file, pathlib.Path("Tests/KeychainTests") / file.name, False


def copy(scratch, platform):
    stand_ins = sorted({name for name in platform.stand_ins.values() if name.endswith("StandIn")})
    current = set()
    for file, place, is_translated in sources(platform):
        write(scratch / place, translate(file.read_text(), platform) if is_translated else file.read_text())
        current.add(scratch / place)
    for folder in ["Sources", "Tests"]:
        for file in (scratch / folder).rglob("*"):
            if file.is_file() and file not in current:
                file.unlink()
    flags = ", ".join(f'"-module-alias", "{name}={stand_in}"' for name, stand_in in platform.stand_ins.items())
    targets = "".join(f'.target(name: "{name}", dependencies: {json.dumps(NEEDS.get(name, []))}), ' for name in stand_ins + platform.own)
    tested = json.dumps(TESTED)[1:-1]
    tests = "".join(f'.testTarget(name: "{name}", dependencies: [{tested}] + frameworks), ' for name in TESTS)
    manifest = MANIFEST.format(
        tests=tests if platform.is_tested else "",
        flags=flags,
        stand_ins="".join(f'"{name}", ' for name in stand_ins + platform.own),
        products=platform.products,
        packages=platform.packages,
        targets=targets,
    )
    write(scratch / "Package.swift", manifest)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", choices=[platform.name for platform in PLATFORMS])
    arguments.add_argument("--update", action="store_true")
    arguments = arguments.parse_args()
    for platform in PLATFORMS:
        if arguments.only not in (None, platform.name):
            continue
        scratch = ROOT / platform.scratch
        copy(scratch, platform)
        print(f"compiling for {platform.name}", flush=True)
        command = "test" if platform.is_tested else "build"
        if subprocess.run(["swift", command, *LEAN, "--package-path", str(scratch)]).returncode != 0:
            sys.exit(f"failed for {platform.name}")
        listing = [HERE / "public-api.py", "--update" if arguments.update else "--check"]
        if subprocess.run([*listing, "--platform", platform.name, scratch]).returncode != 0:
            sys.exit(f"failed for {platform.name}")


if __name__ == "__main__":
    main()
