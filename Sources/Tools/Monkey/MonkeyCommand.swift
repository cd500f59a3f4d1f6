// `tiffin-monkey`: a load generator that checks every answer.
//
// It is a client like any other and knows only the wire protocol. `Run` lets shoppers act out scenarios over some
// connections. Whatever happens goes to the `Oracle` as an observation, and to the record if there is one. Each reply
// also goes to the `Recorder`, which times it. At the end the log is read, and the oracle compares it with everything
// that was acknowledged and sent.
//
// Promises:
// - In an open load, latency counts from when a command was to be sent, so that a server that stalls shows it.
// - A command that is not answered is sent again with the same `ID` until it is; only then is it judged.
// - What is sent follows from the seed alone.
// - Everything that it creates on a server has a name that begins with the run's; its outlets are removed at the end.
// - The exit code says how it ended (`RunReport.Outcome`).

internal import CommandLineOptions
package import EventLoop
internal import Foundation
internal import LineProtocol
internal import TextFormats

/// The program, with its surroundings.
@LoopActor
package struct MonkeyCommand {
    /// The terminal that shows the progress.
    package struct Terminal: Sendable {
        /// Its width in characters, which may change.
        package var columns: @Sendable () -> Int

        /// A terminal with this width.
        package init(columns: @escaping @Sendable () -> Int) { self.columns = columns }
    }

    /// Of a report that a run is compared with, in bytes.
    private static let longestFile = 64 << 20

    private let environment: [String: String]
    private let output: (String) -> Void
    private let errors: (String) -> Void
    private let terminal: Terminal?

    /// A program that writes its summary to `output` and its progress to `errors`; `terminal` is the one that shows
    /// the progress, if any. Both get text with its line ends.
    package init(
        environment: [String: String], output: @escaping (String) -> Void, errors: @escaping (String) -> Void,
        terminal: Terminal?
    ) {
        self.environment = environment
        self.output = output
        self.errors = errors
        self.terminal = terminal
    }

    /// Runs to the end, with the words after the program's name. Returns the exit code.
    package func run(_ arguments: [String]) async -> Int32 {
        do {
            let options = try RunOptions.parse(
                arguments, environment: environment, seed: UInt64(Date().timeIntervalSince1970)
            ) { try NamedFile.contents(of: $0, atMost: MonkeyCommand.longestFile) }
            guard let options else {
                output(MonkeyHelp.text)
                return 0
            }
            if let path = options.judge {
                let judgement = try RecordJudge.judge(path)
                print(judgement.lines)
                return Int32(judgement.outcome.rawValue)
            }
            return try await run(options)
        } catch let error as UsageError {
            fail("\(error); see 'tiffin-monkey --help'")
        } catch {
            fail("\(error)")
        }
        return Int32(RunReport.Outcome.couldNotRun.rawValue)
    }

    private func run(_ options: RunOptions) async throws -> Int32 {
        let progress = Progress(
            isTerminal: terminal != nil, hasColour: environment["NO_COLOR", default: ""].isEmpty,
            columns: { terminal?.columns() ?? 80 }, write: options.isQuiet ? nil : errors)
        var signals: [SignalSource] = []
        defer { for signal in signals { signal.cancel() } }
        let report = try await Session.run(options, progress) { stop in
            // After the first Ctrl-C there is a report of what was measured; after the second there is none.
            signals = [.interrupt, .terminate].compactMap { signal in
                try? SignalSource(signal) {
                    stop()
                    for signal in signals { signal.cancel() }
                }
            }
        }
        print(report.summary)
        if let path = options.json { try write(try report.json(), to: path) }
        if let path = options.junit { try write(report.junit, to: path) }
        if let path = options.html { try write(try report.html(), to: path) }
        return Int32(report.outcome.rawValue)
    }

    private func print(_ lines: [String]) { output(lines.map { TerminalText.line($0) + "\n" }.joined()) }

    private func fail(_ message: String) { errors("tiffin-monkey: \(TerminalText.lines(message, indent: "  "))\n") }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
