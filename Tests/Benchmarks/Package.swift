// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusBenchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Nautilus", path: "../..")],
    targets: [
        .target(name: "AllocationCounter"),
        .executableTarget(
            name: "benchmarks",
            dependencies: ["AllocationCounter", .product(name: "Nautilus", package: "Nautilus")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
