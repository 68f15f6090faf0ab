// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusExamples",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Nautilus", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(name: "NotesAPI", dependencies: ["Nautilus"]),
        .target(name: "DemoServers", dependencies: ["FlyingFox"]),
        .executableTarget(
            name: "demo",
            dependencies: [
                "DemoServers", "NotesAPI", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "storm",
            dependencies: [
                "Nautilus", .product(name: "NautilusTesting", package: "Nautilus"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(
            name: "ScriptedSockets",
            dependencies: [.product(name: "FlyingSocks", package: "FlyingFox")],
            path: "Tests/ScriptedSockets"
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: ["Nautilus", .product(name: "NautilusTesting", package: "Nautilus"), "ScriptedSockets"]
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "DemoServers", "FlyingFox", "Nautilus", "NotesAPI", "ScriptedSockets",
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
