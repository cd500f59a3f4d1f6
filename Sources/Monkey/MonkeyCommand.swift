// `tiffin-monkey`: a load generator that checks every answer.
//
// It sees nothing but the wire. `Run` lets shoppers act out scenarios over some connections; every answer goes to
// the `Oracle`, which has models of what the shoppers did and judges it, and to the `Recorder`, which times it. At
// the end the log is read, and has to explain everything that was acknowledged.
//
// Promises:
// - Latency of an open load is counted from when a command was to be sent: a server that stalls is seen to.
// - A command that is not answered is sent again with the same `ID` until it is; only then is it judged.
// - What is sent follows from the seed alone.
// - Everything it makes on a server has a name that begins with that of the run; its outlets are closed at the end.
// - The exit code says how it ended (`RunReport.Outcome`).

public import EventLoop
internal import Foundation
internal import LineProtocol

/// The program, with the world it runs in.
@LoopActor
public struct MonkeyCommand {
    private let environment: [String: String]
    private let output: (String) -> Void
    private let errors: (String) -> Void
    private let isTerminal: Bool

    /// A program that writes its summary to `output` and its progress to `errors`, which is shown on a terminal or
    /// not. Both are given text with its line ends.
    public init(
        environment: [String: String], output: @escaping (String) -> Void, errors: @escaping (String) -> Void,
        isTerminal: Bool
    ) {
        self.environment = environment
        self.output = output
        self.errors = errors
        self.isTerminal = isTerminal
    }

    /// Runs to the end, with the words behind the program's name. Returns the exit code.
    public func run(_ arguments: [String]) async -> Int32 {
        do {
            let options = try RunOptions.parse(
                arguments, environment: environment, seed: UInt64(Date().timeIntervalSince1970)
            ) { try [UInt8](Data(contentsOf: URL(filePath: $0))) }
            guard let options else {
                output(MonkeyHelp.text)
                return 0
            }
            let report = try await Session(options: options, log: { progress($0, options) }).run()
            output(report.summary.joined(separator: "\n") + "\n")
            try write(report, options)
            return Int32(report.outcome.rawValue)
        } catch let error as UsageError {
            errors("tiffin-monkey: \(error); 'tiffin-monkey --help' tells more\n")
        } catch {
            errors("tiffin-monkey: \(error)\n")
        }
        return Int32(RunReport.Outcome.couldNotRun.rawValue)
    }

    private func progress(_ text: String, _ options: RunOptions) {
        if !options.isQuiet { errors(text) }
    }

    private func write(_ report: RunReport, _ options: RunOptions) throws {
        if let path = options.json { try write(try report.json(), to: path) }
        if let path = options.junit { try write(report.junit, to: path) }
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
