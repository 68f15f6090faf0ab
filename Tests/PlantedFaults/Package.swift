// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "PlantedFaults",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")],
    targets: [
        .target(
            name: "PlantedFaults",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
            ]
        ),
        .executableTarget(name: "planted-faults", dependencies: ["PlantedFaults"]),
        .testTarget(name: "PlantedFaultsTests", dependencies: ["PlantedFaults"]),
    ],
    swiftLanguageModes: [.v6]
)
