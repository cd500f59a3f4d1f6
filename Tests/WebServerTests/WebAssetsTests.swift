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

    @Test func `A script has its own lines, and none that are only comments`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Web").standardized
        let assets = WebAssets()
        for path in assets.paths where path.hasSuffix(".js") && path != "store/sw.js" {
            let lines = try String(contentsOf: folder.appending(path: path), encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let embedded = String(decoding: try #require(assets[path]).bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == embedded.count)
            for (line, embedded) in zip(lines, embedded) where line != embedded {
                #expect(embedded.isEmpty && line.drop { $0 == " " }.hasPrefix("//"), "\(path): \(line)")
            }
            // In a text of several lines, such a line would be no comment.
            for (index, part) in lines.joined(separator: "\n").split(separator: "`", omittingEmptySubsequences: false)
                .enumerated() where index % 2 == 1
            {
                let isText = part.split(separator: "\n").dropFirst().allSatisfy {
                    !$0.drop { $0 == " " }.hasPrefix("//")
                }
                #expect(isText, "\(path): \(part.prefix(80))")
            }
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
