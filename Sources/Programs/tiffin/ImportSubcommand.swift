internal import EventLoop
internal import Foundation
internal import Integrations

enum ImportSubcommand: AnySubcommand {
    static let name = "import"
    static let summary = "loads outlets, recipes or a menu from a file into a running server"
    static var help: String { ImportCommand.help }

    static func run(_ arguments: [String]) async -> Int32 {
        let command = ImportCommand(
            environment: ProcessInfo.processInfo.environment,
            output: { FileHandle.standardOutput.write(Data($0.utf8)) },
            errors: { FileHandle.standardError.write(Data($0.utf8)) },
            isTerminal: isatty(STDERR_FILENO) == 1)
        return await command.run(arguments).rawValue
    }
}
