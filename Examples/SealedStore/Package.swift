// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "SealedStore",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
    products: [.library(name: "SealedStore", targets: ["SealedStore"])],
    dependencies: [
        .package(name: "Nautilus", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(
            name: "SealedStore",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NautilusSessions", package: "Nautilus"),
            ]
        ),
        .testTarget(
            name: "SealedStoreTests",
            dependencies: [
                "SealedStore", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NautilusSessions", package: "Nautilus"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
