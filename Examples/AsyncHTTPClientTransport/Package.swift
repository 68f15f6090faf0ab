// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "AsyncHTTPClientTransport",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
    products: [.library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"])],
    dependencies: [
        .package(name: "Nautilus", path: "../.."),
        .package(name: "NautilusBenchmarks", path: "../../Tests/Benchmarks"),
        .package(name: "NautilusExamples", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                .product(name: "NautilusHTTP", package: "Nautilus"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .executableTarget(
            name: "transport-benchmark",
            dependencies: [
                "AsyncHTTPClientTransport", "Nautilus", .product(name: "NautilusCurl", package: "Nautilus"),
                .product(name: "NautilusURLSession", package: "Nautilus"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "BenchmarkServer", package: "NautilusBenchmarks"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            // Clients in other languages, compiled when it runs.
            exclude: ["client.c", "client.go"]
        ),
        .testTarget(
            name: "AsyncHTTPClientTransportTests",
            dependencies: [
                "AsyncHTTPClientTransport", "Nautilus",
                .product(name: "NautilusStreams", package: "Nautilus"),
                .product(name: "NautilusTesting", package: "Nautilus"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ScriptedSockets", package: "NautilusExamples"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
