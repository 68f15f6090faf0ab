// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "NautilusExamples",
    platforms: [.macOS(.v13)],
    // The tests of other transports are run against the same servers, and with the same retrier.
    products: [
        .library(name: "ScriptedSockets", targets: ["ScriptedSockets"]),
        .library(name: "NotesAPI", targets: ["NotesAPI"]),
    ],
    dependencies: [
        .package(name: "Nautilus", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(
            name: "NotesAPI",
            dependencies: ["Nautilus", .product(name: "NautilusPages", package: "Nautilus")]
        ),
        .target(name: "DemoServers", dependencies: ["FlyingFox"]),
        .executableTarget(
            name: "demo",
            dependencies: [
                "DemoServers", "NotesAPI", .product(name: "NautilusEnvironments", package: "Nautilus"),
                .product(name: "NautilusTraffic", package: "Nautilus"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "storm",
            dependencies: [
                "Nautilus", .product(name: "NautilusFleets", package: "Nautilus"),
                .product(name: "NautilusTraffic", package: "Nautilus"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "traffic",
            dependencies: [
                "DemoServers", "Nautilus", .product(name: "NautilusTraffic", package: "Nautilus"),
                .product(name: "NautilusURLSession", package: "Nautilus"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(
            name: "NotesOAuth",
            dependencies: ["NotesAPI", "Nautilus", .product(name: "NautilusOAuth", package: "Nautilus")]
        ),
        .target(name: "SpawnActions"),
        .target(name: "ChildProcesses", dependencies: ["SpawnActions"]),
        .executableTarget(
            name: "notes",
            dependencies: [
                "ChildProcesses", "DemoServers", "Nautilus", "NotesAPI", "NotesOAuth",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NautilusOAuth", package: "Nautilus"),
            ]
        ),
        .target(
            name: "ScriptedSockets",
            dependencies: ["ChildProcesses", .product(name: "FlyingSocks", package: "FlyingFox")],
            path: "Tests/ScriptedSockets"
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "Nautilus", "ScriptedSockets", .product(name: "NautilusStreams", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
                .product(name: "NautilusURLSession", package: "Nautilus"),
            ]
        ),
        .testTarget(
            name: "CurlCommandTests",
            dependencies: [
                "ChildProcesses", "Nautilus", "ScriptedSockets", .product(name: "NautilusCurl", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "DemoServers", "FlyingFox", "Nautilus", "NotesAPI", "ScriptedSockets",
                .product(name: "NautilusCaching", package: "Nautilus"),
                .product(name: "NautilusPages", package: "Nautilus"),
                .product(name: "NautilusTraffic", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
                .product(name: "NautilusURLSession", package: "Nautilus"),
            ]
        ),
        .testTarget(
            name: "NotesCommandTests",
            dependencies: [
                "ChildProcesses", "DemoServers", "Nautilus", "NotesAPI", "NotesOAuth", "notes",
                .product(name: "NautilusOAuth", package: "Nautilus"),
            ]
        ),
        .target(name: "SessionCommands", path: "Tests/SessionCommands"),
        .target(name: "SystemFaults", path: "Tests/SystemFaults"),
        .executableTarget(
            name: "session-process",
            dependencies: [
                "Nautilus", .product(name: "NautilusOAuth", package: "Nautilus"), "SessionCommands", "SystemFaults",
                .product(name: "NautilusURLSession", package: "Nautilus"),
            ],
            path: "Tests/SessionProcess"
        ),
        // It starts session-process, and must not have its system calls fail: so it does not depend on it.
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "ChildProcesses", "DemoServers", "SessionCommands",
                .product(name: "NautilusOAuth", package: "Nautilus"),
                .product(name: "NautilusURLSession", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
    package.targets.append(
        .executableTarget(
            name: "exiting-process",
            dependencies: ["Nautilus", .product(name: "NautilusCurl", package: "Nautilus")],
            path: "Tests/ExitingProcess"
        )
    )
    // The transport under test is Linux's alone.
    package.targets.append(
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "ChildProcesses", "Nautilus", "ScriptedSockets", .product(name: "NautilusCurl", package: "Nautilus"),
                .product(name: "NautilusStreams", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        )
    )
    package.targets.append(
        .testTarget(
            name: "CurlWebSocketTests",
            dependencies: [
                "ChildProcesses", "FlyingFox", "Nautilus", "NotesAPI", "ScriptedSockets",
                .product(name: "NautilusCurl", package: "Nautilus"),
                .product(name: "NautilusStreams", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        )
    )
#endif
