// The files of the pages, compiled into the executable: no folder has to lie beside it, and no page can be of another
// version than its server.

internal import HTTP

/// A file of the pages.
package struct WebAsset: Sendable {
    /// What it is, as `Content-Type` says it.
    package let mediaType: String
    /// Its bytes.
    package let bytes: [UInt8]
    /// The same in gzip; nil where that is no shorter.
    package let compressed: [UInt8]?

    /// A file.
    package init(_ bytes: [UInt8], mediaType: String) {
        self.mediaType = mediaType
        self.bytes = bytes
        compressed = Gzip.compressed(bytes, level: 9).flatMap { $0.count < bytes.count ? $0 : nil }
    }
}

/// The files of the pages, each compressed once.
package struct WebAssets: Sendable {
    /// What every address of a file contains. It is of all files together, so that relative imports lead to files of
    /// the same version.
    package let version: String
    private let files: [String: WebAsset]

    /// Those that were compiled in.
    package init() {
        self.init(
            WebAssets.embedded.map { ($0.path.description, $0.text.withUTF8Buffer { Array($0) }) })
    }

    /// - Parameter files: each with its path, without a `/` in front. In pages, `/a/-/` becomes `/a/` and the version.
    init(_ files: [(path: String, bytes: [UInt8])]) {
        let version = WebAssets.version(of: files)
        self.version = version
        self.files = Dictionary(
            files.map { path, bytes in
                let (mediaType, isPage) = WebAssets.kind(of: path)
                guard isPage else { return (path, WebAsset(bytes, mediaType: mediaType)) }
                let text = String(decoding: bytes, as: UTF8.self).replacing("/a/-/", with: "/a/\(version)/")
                return (path, WebAsset(Array(text.utf8), mediaType: mediaType))
            }
        ) { first, _ in first }
    }

    /// The file at a path such as `shared/patch.js`; nil where there is none.
    package subscript(path: String) -> WebAsset? { files[path] }

    /// The paths of all files.
    package var paths: [String] { files.keys.sorted() }

    /// The modules, and all that they import at once: not what they import when it is needed.
    func imports(of modules: [String]) -> [String] {
        var known: Set<String> = []
        var waiting = modules.filter { files[$0] != nil }
        while let module = waiting.popLast() {
            guard known.insert(module).inserted, let file = files[module] else { continue }
            for line in String(decoding: file.bytes, as: UTF8.self).split(separator: "\n")
            where line.hasPrefix("import ") {
                guard let path = line.split(separator: "\"").dropFirst().first else { continue }
                waiting.append(WebAssets.path(String(path), from: module))
            }
        }
        return known.sorted()
    }

    /// The path that a file names relatively.
    private static func path(_ relative: String, from file: String) -> String {
        var parts = file.split(separator: "/").dropLast()
        for part in relative.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// FNV-1a. It tells versions apart, and is no defence against forgery.
    private static func version(of files: [(path: String, bytes: [UInt8])]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for file in files.sorted(by: { $0.path < $1.path }) {
            for byte in Array(file.path.utf8) + [0] + file.bytes + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func kind(of path: String) -> (mediaType: String, isPage: Bool) {
        switch path.split(separator: ".").last {
        case "html": ("text/html; charset=utf-8", true)
        case "js", "mjs": ("text/javascript; charset=utf-8", path == "store/sw.js")
        case "css": ("text/css; charset=utf-8", false)
        case "svg": ("image/svg+xml", false)
        case "json": ("application/json", false)
        case "webmanifest": ("application/manifest+json", true)
        default: ("text/plain; charset=utf-8", false)
        }
    }
}
