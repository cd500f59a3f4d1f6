import Foundation
import Testing

@testable import WebServer

@Suite struct `The files of the pages` {
    @Test func `The pages that the server shows are there, and lead to files of their own version`() throws {
        let assets = WebAssets()
        for path in ["store/shell.html", "kitchen/shell.html", "console/shell.html", "console/login.html"] {
            let page = String(decoding: try #require(assets[path]).bytes, as: UTF8.self)
            #expect(page.contains("<!--document-->"))
            #expect(!page.contains("/a/-/"))
            for match in page.matches(of: #/"/a/(?<version>[0-9a-f]{16})/(?<file>[^"]+)"/#) {
                #expect(match.version == assets.version)
                #expect(assets[String(match.file)] != nil, "\(path) leads to \(match.file)")
            }
        }
    }

    @Test func `Every file that is there is embedded`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Web").standardized
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.appending(path: $0).path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        #expect(WebAssets().paths == paths.sorted())
    }

    @Test func `Files keep their lines, without indents and lines of comments`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Web").standardized
        let assets = WebAssets()
        // In these the server's version stands, too.
        let versioned: Set = ["store/sw.js", "store/manifest.webmanifest"]
        for path in assets.paths where !path.hasSuffix(".html") && !versioned.contains(path) {
            let lines = try String(contentsOf: folder.appending(path: path), encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let embedded = String(decoding: try #require(assets[path]).bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == embedded.count)
            for (line, embedded) in zip(lines, embedded) {
                let text = line.drop { $0 == " " }
                let isComment = embedded.isEmpty && (text.hasPrefix("//") || text.hasPrefix("/*"))
                #expect(text == embedded || isComment, "\(path): \(line)")
            }
            // In a text of several lines an indent would count, and such a line would be no comment.
            for (index, part) in lines.joined(separator: "\n").split(separator: "`", omittingEmptySubsequences: false)
                .enumerated() where index % 2 == 1
            {
                #expect(!part.contains("\n") || part.contains("${"), "\(path): \(part.prefix(80))")
            }
        }
    }

    @Test func `A page names all modules that its own import, and not those that are loaded when needed`() {
        let files = [
            ("store/a.js", "import { b } from \"./b.js\";\nimport \"../shared/c.js\";\nawait import(\"./d.js\");"),
            ("store/b.js", "import { c } from \"../shared/c.js\";\n"), ("shared/c.js", "export const c = 1;"),
            ("store/d.js", "import { b } from \"./b.js\";"),
        ]
        let assets = WebAssets(files.map { ($0.0, Array($0.1.utf8)) })
        #expect(assets.imports(of: ["store/a.js"]) == ["shared/c.js", "store/a.js", "store/b.js"])
        #expect(assets.imports(of: ["store/none.js"]).isEmpty)
        let embedded = WebAssets()
        for page in Pages.all {
            let imports = embedded.imports(of: page.modules)
            #expect(Set(imports).isSuperset(of: page.modules), "\(page.path)")
            #expect(imports.allSatisfy { embedded[$0] != nil }, "\(page.path)")
        }
    }

    @Test func `What a page needs at once is small, and of its own`() throws {
        let assets = WebAssets()
        let limits = ["store": 60_000, "kitchen": 40_000]
        for page in Pages.all {
            let folder = String(page.shell.prefix { $0 != "/" })
            let shell = String(decoding: try #require(assets[page.shell]).bytes, as: UTF8.self)
            let named = shell.matches(of: #/"/a/[0-9a-f]{16}/(?<file>[^"]+)"/#).map { String($0.file) }
            let files = Set(assets.imports(of: page.modules) + named + [page.shell])
            #expect(files.allSatisfy { $0.hasPrefix("shared/") || $0.hasPrefix("\(folder)/") }, "\(page.path)")
            let bytes = files.reduce(0) { sum, path in
                sum + (assets[path].map { $0.compressed?.count ?? $0.bytes.count } ?? 0)
            }
            #expect(bytes <= limits[folder] ?? 80_000, "\(page.path) needs \(bytes) bytes")
        }
    }

    @Test func `A change of any file changes the version`() {
        let files = [("a.js", Array("1".utf8)), ("b.js", Array("2".utf8))]
        let version = WebAssets(files).version
        #expect(WebAssets(files.reversed()).version == version)
        #expect(WebAssets([files[0], ("b.js", Array("3".utf8))]).version != version)
        #expect(WebAssets([files[0], ("c.js", Array("2".utf8))]).version != version)
        #expect(version.utf8.count == 16)
    }

    @Test func `What is compressed is shorter, and the same`() throws {
        let text = Array(String(repeating: "plain words, ", count: 500).utf8)
        let asset = WebAsset(text, mediaType: "text/plain")
        let compressed = try #require(asset.compressed)
        #expect(compressed.count < text.count / 10)
        #expect(compressed.prefix(2) == [0x1F, 0x8B])
        #expect(WebAsset([1, 2, 3], mediaType: "text/plain").compressed == nil)
        #expect(try gunzip(compressed) == text)
    }

    private func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/gzip")
        process.arguments = ["-dc"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
        try input.fileHandleForWriting.close()
        // Its end is not waited for: that takes a run loop, which the threads of tests do not have.
        return Array(output.fileHandleForReading.readDataToEndOfFile())
    }
}
