internal import CommandLineOptions
internal import EventLoop
internal import Foundation

/// A command of the executable.
protocol AnySubcommand: Sendable {
    static var name: String { get }
    static var summary: String { get }
    static var help: String { get }

    /// Runs with the words behind the command's name, and returns the process's exit code.
    @LoopActor
    static func run(_ arguments: [String]) async -> Int32
}

/// A command with one syntax, whose help, parsing and errors follow from it.
protocol Subcommand: AnySubcommand {
    /// What its help says besides; nil where the options say it all.
    static var about: String? { get }
    static var operands: [String] { get }
    static var options: [any DeclaredOption] { get }
    /// What it exits with when it throws anything but a `UsageError`.
    static var failureCode: ExitCode { get }

    @LoopActor
    static func run(_ options: Options) async throws -> ExitCode
}

extension Subcommand {
    static var about: String? { nil }
    static var operands: [String] { [] }
    static var failureCode: ExitCode { .failure }

    private static var syntax: CommandSyntax {
        // `Scripts/run` passes options on after its own.
        CommandSyntax(
            "tiffin \(name)", operands: operands, options: options, repetition: .lastCounts, variablePrefix: "TIFFIN_")
    }

    static var help: String {
        ["tiffin \(name): \(summary)", syntax.usage, about, "Options:\n\(syntax.optionTable)"].compactMap(\.self)
            .joined(separator: "\n\n")
    }

    @LoopActor
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            guard let options = try syntax.parse(arguments, environment: ProcessInfo.processInfo.environment) else {
                Terminal.print(lines: help)
                return ExitCode.success.rawValue
            }
            return try await run(options).rawValue
        } catch let error as UsageError {
            Terminal.printError("tiffin \(name): \(error); see 'tiffin \(name) --help'")
            return ExitCode.usage.rawValue
        } catch {
            Terminal.printError("tiffin \(name): \(error)")
            return failureCode.rawValue
        }
    }
}

/// What the process exits with. `tiffin import` has codes of its own; see its help.
struct ExitCode: RawRepresentable {
    var rawValue: Int32

    static let success = ExitCode(rawValue: 0)
    static let failure = ExitCode(rawValue: 1)
    /// Wrong options, as `EX_USAGE` of sysexits.h.
    static let usage = ExitCode(rawValue: 64)
}
