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

// The tests that cannot be made from within the library's package. `AppleTests` are run by `compile-elsewhere.py`.
/// The documents use all products.
let products = [
    "Nautilus", "NautilusStreams", "NautilusPages", "NautilusTraffic", "NautilusCaching", "NautilusEnvironments",
    "NautilusCombine", "NautilusSessions", "NautilusOAuth", "NautilusTesting", "NautilusTestTraits", "NautilusFleets",
]

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
        // They run the compiler, and look at the files of the repository.
        .testTarget(
            name: "DocumentationTests",
            dependencies: products.map { .product(name: $0, package: "Nautilus") }
        ),
    ],
    swiftLanguageModes: [.v6]
)
