// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusBenchmarks",
    platforms: [.macOS(.v13)],
    // The benchmark of the other transport is run against the same server.
    products: [.library(name: "BenchmarkServer", targets: ["BenchmarkServer"])],
    dependencies: [
        .package(name: "Nautilus", path: "../.."),
        // Three of the designs that Nautilus is compared with are made of publishers.
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    ],
    targets: [
        .target(name: "AllocationCounter"),
        .target(name: "LoopbackServer"),
        .target(name: "BenchmarkServer", dependencies: ["LoopbackServer"]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "AllocationCounter", "BenchmarkServer", .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusCaching", package: "Nautilus"),
                .product(name: "NautilusOAuth", package: "Nautilus"),
                .product(name: "NautilusPages", package: "Nautilus"),
                .product(name: "NautilusStreams", package: "Nautilus"),
                .product(name: "NautilusTraffic", package: "Nautilus"),
            ]
        ),
        .executableTarget(
            name: "designs",
            dependencies: [
                "OpenCombine", .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
        // Three fixed calls, of which `executed-files.py` counts the source files.
        .executableTarget(
            name: "calls",
            dependencies: [
                .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
