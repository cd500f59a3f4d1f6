// `tiffin import`: loads files into a running server, as a client of it.
//
// Reading is apart from sending. `Reading`, `Outlets`, `Menus` and `Feeds` turn the bytes of a file into rows and
// problems, values both; the exchanges in `Sending` are values that say which command comes next and are told
// the replies; only `ServerConnection` of the client library and `ImportInput` touch the world.
//
// Promises:
// - Nothing of a row with a problem is sent; with --strict nothing at all when any row has one.
// - A menu is put whole or not at all, unless the good recipes are asked for, and never replaced by one without items,
//   unless that is asked for. Each time, the state of its feed is recorded; but a feed in which nothing for a menu was
//   ever found leaves no new outlet behind.
// - A row means the same whatever rows are beside it, and changes only the fields that are mapped.
// - What is sent may be sent again: a second import of the same file changes nothing and says so, and an
//   import that was interrupted is completed by running it again.
// - At most `CommandConnection.exchangeWindow` commands are on their way.
// - The exit code says how it ended (`ImportExitCode`).

internal import CommandLineOptions
package import EventLoop
internal import HTTP
internal import LineClient
internal import TextFormats

/// The subcommand, with the world it runs in.
@LoopActor
package struct ImportCommand {
    private let environment: [String: String]
    private let output: (String) -> Void
    private let errors: (String) -> Void
    private let isTerminal: Bool

    /// A command that writes its summary to `output` and everything else to `errors`, which is shown on a
    /// terminal or not. Both are given text with its line ends.
    package init(
        environment: [String: String], output: @escaping (String) -> Void,
        errors: @escaping (String) -> Void, isTerminal: Bool
    ) {
        self.environment = environment
        self.output = output
        self.errors = errors
        self.isTerminal = isTerminal
    }

    /// What `tiffin import --help` prints.
    package nonisolated static var help: String { ImportHelp.text(for: nil) }

    /// Runs to the end, with the arguments behind `import`.
    package func run(_ arguments: [String]) async -> ImportExitCode {
        do {
            switch try ImportOptions.parse(arguments, environment: environment) {
            case .help(let kind):
                output(ImportHelp.text(for: kind))
                return .fine
            case .run(let options):
                return try await run(options)
            }
        } catch let error as UsageError {
            say("tiffin import: \(error); see 'tiffin import --help'")
            return .usage
        } catch let error as UnreadableFile {
            return fail(.unreadable, error)
        } catch {
            return fail(.disconnected, error)
        }
    }

    private func fail(_ code: ImportExitCode, _ error: any Error) -> ImportExitCode {
        say("tiffin import: \(error)")
        return code
    }

    /// Writes a message, whatever it quotes.
    private func say(_ message: String) { errors(TerminalText.lines(message, indent: "  ") + "\n") }

    private func run(_ options: ImportOptions) async throws -> ImportExitCode {
        switch options.source {
        case .outlets(let outlets): return try await importOutlets(outlets, options)
        case .recipes(let recipes):
            let registration = MenuExchange.Registration(
                name: recipes.name, currency: recipes.currency, timeZone: recipes.timeZone)
            return try await importMenu(of: recipes.outlet, registration, options) { bytes throws(UnreadableFile) in
                try FeedReading.recipes(bytes, from: options.input, recipes)
            }
        case .menu(let menu):
            return try await importMenu(of: menu.outlet, nil, options) { bytes throws(UnreadableFile) in
                try FeedReading.menu(bytes, from: options.input, menu)
            }
        }
    }

    // MARK: Outlets

    private func importOutlets(
        _ outlets: OutletImportOptions, _ options: ImportOptions
    ) async throws -> ImportExitCode {
        let label = options.input.label
        let table = try OutletTable(
            csv: options.input.bytes(options), path: label, map: outlets.map, currency: outlets.currency,
            unrated: outlets.unrated)
        for placeholder in table.placeholders { say("\(label): \(placeholder)") }
        var report = ProblemReport(file: label, write: say)
        defer { report.finish() }
        report.add(table.problems)
        guard table.recordCount > 0 else {
            say("\(label): has no rows")
            return .empty
        }
        guard !table.rows.isEmpty, !outlets.isStrict || report.count == 0 else {
            say("\(label): nothing taken of \(table.recordCount.counted("row"))")
            return .malformed
        }
        let clock = ContinuousClock()
        let start = clock.now
        var exchange = OutletExchange(table.rows, options: outlets)
        defer { report.add(exchange.outcome.problems) }
        try await send(&exchange, total: table.rows.count, options)
        let refused = exchange.outcome.problems.count
        let missing = table.recordCount - table.rows.count + refused
        output(exchange.outcome.summary(of: table.rows.count - refused, missing: missing, clock.now - start))
        return missing == 0 ? .fine : .malformed
    }

    // MARK: Menus

    private func importMenu(
        of outlet: String, _ registration: MenuExchange.Registration?, _ options: ImportOptions,
        _ read: ([UInt8]) throws(UnreadableFile) -> FeedReading
    ) async throws -> ImportExitCode {
        let label = options.input.label
        let reading = try await reading(of: outlet, options, read)
        var report = ProblemReport(file: label, write: say)
        defer { report.finish() }
        report.add(reading.problems)
        if reading.menu == nil {
            if reading.code == .fine { output(reading.summary + "\n") } else { say(reading.summary) }
        }
        let clock = ContinuousClock()
        let start = clock.now
        var exchange = MenuExchange(
            outlet: outlet, menu: reading.menu, report: reading.report, registration: registration,
            registersIfUnknown: reading.code != .unreadable)
        try await send(&exchange, total: 1, options)
        report.add(exchange.outcome.problems)
        guard exchange.outcome.problems.isEmpty else { return reading.code == .fine ? .malformed : reading.code }
        if reading.menu != nil { output(exchange.outcome.summary(of: reading.summary, clock.now - start)) }
        return reading.code
    }

    /// What the input means. An address is asked only for what has changed since this import last saw it.
    private func reading(
        of outlet: String, _ options: ImportOptions, _ read: ([UInt8]) throws(UnreadableFile) -> FeedReading
    ) async throws -> FeedReading {
        let input = options.input
        guard let address = input.address else {
            // A file that cannot be opened says nothing about the feed, but something about the command line.
            let bytes = try input.bytes(options)
            do throws(UnreadableFile) { return try read(bytes) } catch { return FeedReading(error, from: input) }
        }
        let key = FeedKey.key(of: address, options.source)
        let last = try await lastReport(of: outlet, options).flatMap { $0.key == key ? $0 : nil }
        do throws(UnreadableFile) {
            guard let document = try input.document(unless: last?.validators ?? HTTPValidators(), options) else {
                guard let last else { throw input.unasked }
                return FeedReading(unchangedSince: last, from: input, options.source)
            }
            var reading = try read(document.bytes)
            reading.report.set(document.validators, key)
            return reading
        } catch {
            return FeedReading(error, from: input)
        }
    }

    private func lastReport(of outlet: String, _ options: ImportOptions) async throws -> FeedReport? {
        var lookup = FeedLookup(outlet: outlet)
        let connection = try await ServerConnection(to: try options.connection.server(at: options.server))
        defer { connection.close() }
        try await connection.run(&lookup)
        return lookup.last
    }

    // MARK: Both

    private func send(
        _ exchange: inout some ImportExchange, total: Int, _ options: ImportOptions
    ) async throws {
        let connection = try await ServerConnection(to: try options.connection.server(at: options.server))
        defer { connection.close() }
        var progress = ProgressReport(total: total, isTerminal: isTerminal, write: errors)
        defer { progress.finish() }
        do throws(ConnectionError) {
            try await connection.run(&exchange) { progress.update($0.finishedCount) }
        } catch {
            progress.finish()
            say("\(exchange.finishedCount.grouped) of \(total.grouped) done; import again for the rest")
            throw error
        }
    }
}
