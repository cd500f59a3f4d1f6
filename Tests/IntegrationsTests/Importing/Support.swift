import EventLoop
import Foundation
import Testing

@testable import Integrations

/// Calls `body` with the path of a file with these contents.
func withFile<Value>(_ name: String, _ contents: String, _ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try Data(contents.utf8).write(to: file)
    return try await body(file.path)
}

/// What a run of the command printed, and how it ended.
struct Run {
    var code: ImportExitCode
    var output: String
    var errors: String

    @LoopActor
    init(_ arguments: [String], environment: [String: String] = [:], isTerminal: Bool = false) async {
        var output = ""
        var errors = ""
        let command = ImportCommand(
            environment: environment, output: { output += $0 }, errors: { errors += $0 },
            isTerminal: isTerminal)
        code = await command.run(arguments)
        self.output = output
        self.errors = errors
    }

    /// The summary without its duration.
    var summary: String {
        output.replacing(/; [0-9.,]+ s\n$/, with: "")
    }
}

/// Real files that are not part of the project: they are next to the checkout, or where `TIFFIN_SHARED_DATA` says.
/// Tests on them are skipped if they are missing.
enum SharedData {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIFFIN_SHARED_DATA"] { return URL(filePath: path) }
        return URL(filePath: #filePath).appending(path: "../../../../../shared/data").standardized
    }()

    static func path(_ name: String) -> String {
        folder.appending(path: name).path
    }

    static func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path(name))
    }
}
