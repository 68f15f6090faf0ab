// swift-tools-version: 6.2
import PackageDescription

/// The settings of a new app in Xcode 26: the main actor by default, and "approachable concurrency".
let settingsOfXcode26: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// What the tests of the library cannot reach from within their package.
let package = Package(
    name: "NautilusIntegration",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Nautilus", path: "../..")],
    targets: [
        // An app as Xcode 26 makes one: its declarations belong to the main actor unless they say otherwise.
        .target(
            name: "AppOfXcode26",
            dependencies: [.product(name: "Nautilus", package: "Nautilus")],
            swiftSettings: settingsOfXcode26
        ),
        .testTarget(
            name: "AppOfXcode26Tests",
            dependencies: ["AppOfXcode26", .product(name: "NautilusTesting", package: "Nautilus")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// `KeychainStore` is compiled for Apple's platforms only, as part of the library, and its keychain wants a signed app.
// On Linux the same file, by a link, is compiled against a stand-in for Apple's framework. The stand-in has a name of its
// own, which an alias turns into `Security` for that one target: were it called so itself, the library's own build would
// find it or not, depending on which of the two is built first.
#if os(Linux)
    package.targets += [
        .target(name: "SecurityStandIn"),
        .target(
            name: "KeychainOnLinux",
            dependencies: ["SecurityStandIn", .product(name: "NautilusSessions", package: "Nautilus")],
            swiftSettings: [.unsafeFlags(["-module-alias", "Security=SecurityStandIn"])]
        ),
        // The tests of all stores are links as well.
        .testTarget(
            name: "KeychainTests",
            dependencies: [
                "KeychainOnLinux", "SecurityStandIn", .product(name: "NautilusSessions", package: "Nautilus"),
            ]
        ),
        // The same for the monitor of the device's network.
        .target(name: "NetworkStandIn"),
        .target(
            name: "ConnectivityOnLinux",
            dependencies: ["NetworkStandIn", .product(name: "Nautilus", package: "Nautilus")],
            swiftSettings: [.unsafeFlags(["-module-alias", "Network=NetworkStandIn"])]
        ),
        .testTarget(
            name: "ConnectivityTests",
            dependencies: [
                "ConnectivityOnLinux", "NetworkStandIn", .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
    ]

    // So are the publishers, with the files that they use of the library's own, against OpenCombine. The alias has the
    // library's build find no Combine here, whatever is built first: it names no package and is the same everywhere.
    package.dependencies.append(
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")
    )
    package.targets += [
        .target(
            name: "CombineOnLinux",
            dependencies: ["OpenCombine", .product(name: "Nautilus", package: "Nautilus")],
            swiftSettings: [.unsafeFlags(["-module-alias", "Combine=OpenCombine"])]
        ),
        .testTarget(
            name: "CombineTests",
            dependencies: [
                "CombineOnLinux", "OpenCombine", .product(name: "NautilusTesting", package: "Nautilus"),
            ]
        ),
    ]
#endif
