// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "tiffin-client",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.`library`(name: "TiffinClient", targets: ["TiffinClient"])],
    targets: [
        .target(name: "TiffinClient"),
        .executableTarget(name: "day", dependencies: ["TiffinClient"], path: "Examples/day"),
        .executableTarget(name: "order", dependencies: ["TiffinClient"], path: "Examples/order"),
    ]
)
