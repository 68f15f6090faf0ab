#!/usr/bin/env python3
"""Measures how long the core takes to build, and how much of a program it is.

    Tests/Benchmarks/size.py

Builds two programs from nothing, in release: one with retries and authorization by the library, and one that makes the
same call by Foundation alone, which is the baseline. Prints the seconds that each build took, the size of each program
without its symbols, and the lines and files of the core. In about a minute, on a machine that does nothing else.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

MANIFEST = """\
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "{name}",
    platforms: [.macOS(.v13)],
    dependencies: [{dependency}],
    targets: [.executableTarget(name: "{name}", dependencies: [{product}])]
)
"""

WITH_LIBRARY = """\
import Nautilus

struct Notes: HttpService {
    let coordinator = RefreshCoordinator<String> { _ in "token" }
    var apiUrl: any UrlConvertible { "api.example.com" }
    var retrierFactory: any RetrierFactory {
        .composed(
            coordinator.authorization { token, request in request.header[.authorization] = "Bearer \\(token)" },
            BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
        )
    }
}

struct GetNote: JsonRequest {
    struct Note: Codable, Sendable { let id: Int, title: String }
    typealias Result = Note
    var route: HttpRoute { ["notes", 7] }
}

print(try await GetNote().schedule(with: Notes()).title)
"""

WITHOUT = """\
import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Note: Codable, Sendable { let id: Int, title: String }

guard let url = URL(string: "https://api.example.com/notes/7") else { throw URLError(.badURL) }
var request = URLRequest(url: url)
request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
let (data, _) = try await URLSession.shared.data(for: request)
print(try JSONDecoder().decode(Note.self, from: data).title)
"""


def main():
    plain = measure("plain", WITHOUT, "", "")
    hello = measure(
        "hello", WITH_LIBRARY, f'.package(name: "Nautilus", path: "{ROOT}")', '.product(name: "Nautilus", package: "Nautilus")'
    )
    # The documentation links to code of the tutorial.
    modules = [ROOT / "Sources" / name for name in ("Nautilus", "NautilusHTTP")]
    sources = sorted(path for module in modules for path in module.rglob("*.swift") if not path.is_symlink())
    lines = sum(len(source.read_text().splitlines()) for source in sources)
    print(f"the core: {lines} lines in {len(sources)} files")
    print(f"{'':28}{'build':>9}{'size':>11}")
    print(f"{'by Foundation alone':28}{plain[0]:7.1f} s{plain[1] / 1e6:8.2f} MB")
    print(f"{'retries and authorization':28}{hello[0]:7.1f} s{hello[1] / 1e6:8.2f} MB")
    print(f"{'what the library adds':28}{hello[0] - plain[0]:7.1f} s{(hello[1] - plain[1]) / 1e6:8.2f} MB")


def measure(name, source, dependency, product):
    """The seconds that a build from nothing takes, and the bytes of the stripped program."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "Sources" / name).mkdir(parents=True)
        (folder / "Package.swift").write_text(MANIFEST.format(name=name, dependency=dependency, product=product))
        (folder / "Sources" / name / "main.swift").write_text(source)
        start = time.monotonic()
        build = ["swift", "build", "-c", "release", "--package-path", folder]
        done = subprocess.run(build, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        seconds = time.monotonic() - start
        path = subprocess.run(build + ["--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
        program = pathlib.Path(path) / name
        if shutil.which("strip"):
            subprocess.run(["strip", program], check=True)
        else:
            print(f"{name}: with its symbols, since there is no strip")
        return seconds, program.stat().st_size


if __name__ == "__main__":
    main()
