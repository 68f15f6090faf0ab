// swift-tools-version: 6.0
import PackageDescription

// Tests of rare corners: of stores that fail, of users and environments that change at every step, storms. They are
// half of what the tests take to build. Each night's run builds them, and `NAUTILUS_CORNERS=1 swift test`.
let excluded = Context.environment["NAUTILUS_CORNERS"] == nil ? ["Corners"] : []

let package = Package(
    name: "Nautilus",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Nautilus", targets: ["Nautilus"]),
        .library(name: "NautilusHTTP", targets: ["NautilusHTTP"]),
        .library(name: "NautilusURLSession", targets: ["NautilusURLSession"]),
        .library(name: "NautilusCurl", targets: ["NautilusCurl"]),
        .library(name: "NautilusStreams", targets: ["NautilusStreams"]),
        .library(name: "NautilusPages", targets: ["NautilusPages"]),
        .library(name: "NautilusTraffic", targets: ["NautilusTraffic"]),
        .library(name: "NautilusCaching", targets: ["NautilusCaching"]),
        .library(name: "NautilusEnvironments", targets: ["NautilusEnvironments"]),
        .library(name: "NautilusCombine", targets: ["NautilusCombine"]),
        .library(name: "NautilusSessions", targets: ["NautilusSessions"]),
        .library(name: "NautilusOAuth", targets: ["NautilusOAuth"]),
        .library(name: "NautilusTesting", targets: ["NautilusTesting"]),
        .library(name: "NautilusTestTraits", targets: ["NautilusTestTraits"]),
        .library(name: "NautilusFleets", targets: ["NautilusFleets"]),
    ],
    targets: [
        // libcurl, bound when the process runs: it is not needed to build.
        .target(name: "CNautilusCurl"),
        .target(
            name: "NautilusHTTP",
            dependencies: [.target(name: "CNautilusCurl", condition: .when(platforms: [.linux]))]
        ),
        .target(name: "NautilusURLSession", dependencies: ["NautilusHTTP"]),
        .target(
            name: "NautilusCurl",
            dependencies: ["NautilusHTTP", .target(name: "CNautilusCurl", condition: .when(platforms: [.linux]))]
        ),
        .target(
            name: "Nautilus",
            dependencies: [
                "NautilusHTTP", "NautilusURLSession",
                .target(name: "NautilusCurl", condition: .when(platforms: [.linux])),
            ]
        ),
        .target(name: "NautilusStreams", dependencies: ["Nautilus"]),
        .target(name: "NautilusPages", dependencies: ["Nautilus"]),
        .target(name: "NautilusTraffic", dependencies: ["Nautilus"]),
        .target(name: "NautilusCaching", dependencies: ["Nautilus"]),
        .target(name: "NautilusEnvironments", dependencies: ["Nautilus"]),
        .target(name: "NautilusCombine", dependencies: ["Nautilus"]),
        .target(name: "NautilusSessions", dependencies: ["Nautilus"]),
        .target(name: "NautilusOAuth", dependencies: ["Nautilus", "NautilusSessions"]),
        .target(name: "NautilusTesting", dependencies: ["Nautilus", "NautilusStreams"]),
        // Apart, since a test library is no part of a program that scripts a transport.
        .target(name: "NautilusTestTraits", dependencies: ["NautilusTesting"]),
        .target(name: "NautilusFleets", dependencies: ["Nautilus", "NautilusTesting"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusStreams", "NautilusPages", "NautilusSessions", "NautilusTesting",
            ],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "NautilusHTTPTests",
            dependencies: ["Nautilus", "NautilusHTTP", "NautilusTesting", "TestSupport"]
        ),
        .testTarget(
            name: "NautilusURLSessionTests",
            dependencies: ["NautilusHTTP", "NautilusURLSession", "TestSupport"]
        ),
        .testTarget(
            name: "NautilusCurlTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusURLSession", "NautilusCurl", "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusURLSession", "NautilusCurl", "NautilusStreams", "NautilusPages",
                "NautilusTraffic", "NautilusCaching", "NautilusEnvironments", "NautilusCombine", "NautilusTesting",
                "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusStreamsTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusCurl", "NautilusStreams", "NautilusPages", "NautilusTraffic",
                "NautilusCaching", "NautilusEnvironments", "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusPagesTests",
            dependencies: ["Nautilus", "NautilusHTTP", "NautilusPages", "NautilusTesting", "TestSupport"]
        ),
        .testTarget(
            name: "NautilusTrafficTests",
            dependencies: ["Nautilus", "NautilusHTTP", "NautilusTraffic", "NautilusTesting", "TestSupport"],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusCachingTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusStreams", "NautilusPages", "NautilusTraffic", "NautilusCaching",
                "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusEnvironmentsTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusStreams", "NautilusPages", "NautilusEnvironments",
                "NautilusTesting", "TestSupport",
            ]
        ),
        .testTarget(
            name: "NautilusTestingTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusURLSession", "NautilusStreams", "NautilusPages", "NautilusTraffic",
                "NautilusCaching", "NautilusTesting", "NautilusTestTraits", "TestSupport",
            ]
        ),
        .testTarget(
            name: "NautilusFleetsTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusTraffic", "NautilusFleets", "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusSessionsTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusStreams", "NautilusPages", "NautilusTraffic", "NautilusCaching",
                "NautilusEnvironments", "NautilusSessions", "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
        .testTarget(
            name: "NautilusOAuthTests",
            dependencies: [
                "Nautilus", "NautilusHTTP", "NautilusStreams", "NautilusTraffic", "NautilusSessions", "NautilusOAuth",
                "NautilusTesting", "TestSupport",
            ],
            exclude: excluded
        ),
    ],
    swiftLanguageModes: [.v6]
)
