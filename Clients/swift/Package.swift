// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "swift",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "TiffinClient", targets: ["TiffinClient"])],
    targets: [
        .target(name: "TiffinClient")
    ]
)
