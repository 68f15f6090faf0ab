// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusBenchmarks",
    platforms: [.macOS(.v13)],
    // The benchmark of the other transport is run against the same server.
    products: [.library(name: "BenchmarkServer", targets: ["BenchmarkServer"])],
    dependencies: [.package(name: "Nautilus", path: "../..")],
    targets: [
        .target(name: "AllocationCounter"),
        .target(name: "LoopbackServer"),
        .target(name: "BenchmarkServer", dependencies: ["LoopbackServer"]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "AllocationCounter", "BenchmarkServer", .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusOAuth", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
