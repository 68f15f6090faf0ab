// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusBenchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Nautilus", path: "../..")],
    targets: [
        .target(name: "AllocationCounter"),
        .target(name: "LoopbackServer"),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "AllocationCounter", "LoopbackServer", .product(name: "Nautilus", package: "Nautilus"),
                .product(name: "NautilusOAuth", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
