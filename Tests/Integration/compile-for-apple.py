#!/usr/bin/env python3
"""Compiles the library on Linux as Apple's compilers see it.

    Tests/Integration/compile-for-apple.py              for macOS, then what differs for iOS
    Tests/Integration/compile-for-apple.py --scratch D  in another folder than `.build-apple`

The sources are copied, with every condition on a platform or a module answered as Apple's platforms answer it, and built
with warnings as errors. Frameworks that only Apple has are stand-ins: this package's own, OpenCombine and swift-crypto,
which have the same interfaces. What a C library declares differently there (`mode_t`, `stat`) is not found this way, nor
that the real frameworks differ from the stand-ins.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = ["Nautilus", "NautilusTraffic", "NautilusCaching", "NautilusSessions", "NautilusOAuth", "NautilusTesting"]

# Modules that Apple's platforms lack, and those that only they have, with their stand-ins here.
ABSENT = {"FoundationNetworking", "Glibc", "Musl", "CNautilusCurl"}
STAND_INS = {
    "Combine": "OpenCombine",
    "Compression": "CompressionStandIn",
    "CryptoKit": "Crypto",
    "Darwin": "FoundationStandIn",
    "Network": "NetworkStandIn",
    "Security": "SecurityStandIn",
}

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let alias: [SwiftSetting] = [.unsafeFlags([{flags}, "-warnings-as-errors"])]
let frameworks: [Target.Dependency] = [
    "CompressionStandIn", "FoundationStandIn", "NetworkStandIn", "SecurityStandIn",
    .product(name: "Crypto", package: "swift-crypto"), .product(name: "OpenCombine", package: "OpenCombine"),
]
let package = Package(
    name: "NautilusForApple",
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: [
        .target(name: "CompressionStandIn"), .target(name: "FoundationStandIn", dependencies: ["SecurityStandIn"]), .target(name: "NetworkStandIn"),
        .target(name: "SecurityStandIn"),
        .target(name: "Nautilus", dependencies: frameworks, swiftSettings: alias),
        .target(name: "NautilusTraffic", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusCaching", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusSessions", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusOAuth", dependencies: ["Nautilus", "NautilusSessions"] + frameworks, swiftSettings: alias),
        .target(name: "NautilusTesting", dependencies: ["Nautilus"] + frameworks, swiftSettings: alias),
    ],
    swiftLanguageModes: [.v6]
)
"""


def answer(condition, platform):
    """The condition of an `#if`, with each question on a platform or a module answered."""

    def of_module(match):
        name = match.group(1)
        if name in ABSENT:
            return "false"
        if name not in STAND_INS and name != "ObjectiveC":
            sys.exit(f"there is no stand-in for {name}")
        return "true"

    condition = re.sub(r"canImport\((\w+)\)", of_module, condition)
    return re.sub(r"\bos\((\w+)\)", lambda match: "true" if match.group(1) == platform else "false", condition)


def translate(text, platform):
    lines = []
    for line in text.split("\n"):
        match = re.match(r"(\s*#(?:if|elseif) )(.*)$", line)
        if match:
            line = match.group(1) + answer(match.group(2), platform)
        lines.append(line)
        # Foundation is one module there, and brings the C library along.
        match = re.match(r"(\s*)((?:@\w+ |public |package |internal )*)import Foundation$", line)
        if match:
            lines += [f"{match.group(1)}{match.group(2)}import {name}" for name in ["FoundationNetworking", "Darwin"]]
    return "\n".join(lines)


def write(path, text):
    """Leaves a file alone that has the text already, so that only what differs is compiled."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy(scratch, platform):
    current = set()
    sources = [(ROOT / "Sources" / name, True) for name in MODULES]
    sources += [(folder, False) for folder in sorted((HERE / "Sources").glob("*StandIn"))]
    for folder, is_translated in sources:
        for file in sorted(folder.rglob("*.swift")):
            target = scratch / "Sources" / file.relative_to(folder.parent)
            write(target, translate(file.read_text(), platform) if is_translated else file.read_text())
            current.add(target)
    for file in (scratch / "Sources").rglob("*.swift"):
        if file not in current:
            file.unlink()
    flags = ", ".join(f'"-module-alias", "{name}={stand_in}"' for name, stand_in in STAND_INS.items())
    write(scratch / "Package.swift", MANIFEST.format(flags=flags))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scratch", type=pathlib.Path, default=ROOT / ".build-apple")
    scratch = arguments.parse_args().scratch
    for platform in ["macOS", "iOS"]:
        copy(scratch, platform)
        print(f"compiling for {platform}", flush=True)
        if subprocess.run(["swift", "build", "--package-path", str(scratch)]).returncode != 0:
            sys.exit(f"does not compile for {platform}")


if __name__ == "__main__":
    main()
