internal import EventLoop
internal import Foundation

/// The options of a command, from the command line and the environment.
struct Options {
    /// One option.
    struct Spec: Sendable {
        var name: String
        /// What its value is called; nil for a flag.
        var value: String?
        var help: String

        /// The environment variable that stands in for it: `TIFFIN_DATA_DIR` for `data-dir`.
        var variable: String { "TIFFIN_" + name.uppercased().replacing("-", with: "_") }
    }

    /// Options that cannot be understood.
    struct UsageError: Error {
        var message: String
    }

    private var values: [String: String] = [:]

    /// Whether `--help` was asked for.
    private(set) var wantsHelp = false
    /// The word that is no option, where the command takes one and it was given.
    private(set) var operand: String?

    /// - Parameter operand: what the one word is called that is no option; nil where the command takes none.
    init(_ arguments: [String], _ specs: [Spec], operand: String? = nil) throws(UsageError) {
        let environment = ProcessInfo.processInfo.environment
        for spec in specs { values[spec.name] = environment[spec.variable] }
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if ["--help", "-h"].contains(word) {
                wantsHelp = true
                continue
            }
            if operand != nil, self.operand == nil, !word.hasPrefix("--") {
                self.operand = word
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts[0].hasPrefix("--"), let spec = specs.first(where: { "--\($0.name)" == parts[0] }) else {
                throw UsageError(message: "unknown option '\(word)'")
            }
            if spec.value == nil {
                guard parts.count == 1 else { throw UsageError(message: "--\(spec.name) takes no value") }
                values[spec.name] = "yes"
            } else {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw UsageError(message: "--\(spec.name) needs a value")
                }
                values[spec.name] = value
            }
        }
    }

    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    func flag(_ name: String) -> Bool { ["yes", "1", "true", "on"].contains(self[name]?.lowercased() ?? "") }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw UsageError(
                message: "--\(name) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return value
    }

    /// One of the values of a type.
    func choice<Choice: CaseIterable & RawRepresentable>(
        _ name: String, _ type: Choice.Type
    ) throws(UsageError) -> Choice? where Choice.RawValue == String {
        guard let text = self[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--\(name) must be one of \(all), not '\(text)'")
        }
        return choice
    }

    /// The help of a command with these options, and what else there is to know of it.
    static func help(
        _ name: String, _ summary: String, _ specs: [Spec], operands: String = "", about: String? = nil
    ) -> String {
        let lines = specs.map { spec in
            let option = "--\(spec.name)" + (spec.value.map { " <\($0)>" } ?? "")
            return "  \(option.padded(to: 26))\(spec.help)\n  \("".padded(to: 26))[\(spec.variable)]"
        }
        return """
            tiffin \(name): \(summary)

            usage: tiffin \(name) \(operands.isEmpty ? "" : "\(operands) ")[options]
            \(about.map { "\n\($0)\n" } ?? "")
            \(lines.joined(separator: "\n"))

            An option that is not given is taken from the environment variable in brackets.
            """
    }
}

extension Subcommand {
    /// Reads the options and runs the body: usage errors and `--help` are the same for every command.
    @LoopActor
    static func run(
        _ arguments: [String], _ specs: [Options.Spec], operand: String? = nil,
        _ body: @LoopActor (Options) async throws -> Void
    ) async -> Int32 {
        do {
            let options = try Options(arguments, specs, operand: operand)
            if options.wantsHelp {
                Terminal.print(help)
            } else {
                try await body(options)
            }
            return ExitCode.success.rawValue
        } catch let error as Options.UsageError {
            Terminal.printError("tiffin \(name): \(error.message); 'tiffin \(name) --help' tells more")
            return ExitCode.usage.rawValue
        } catch {
            Terminal.printError("tiffin \(name): \(error)")
            return ExitCode.failure.rawValue
        }
    }
}
