// `tiffin import`: loads files into a running server, as a client of it.
//
// Reading is apart from sending. `Reading`, `Outlets` and `Menus` turn the bytes of a file into rows and
// problems, values both; the exchanges in `Sending` are values that say which command comes next and are told
// the replies; only `ServerConnection` of the client library and `InputFile` touch the world.
//
// Promises:
// - Nothing of a row with a problem is sent; with --strict nothing at all when any row has one.
// - What is sent may be sent again: a second import of the same file changes nothing and says so, and an
//   import that was interrupted is completed by running it again.
// - At most `CommandConnection.exchangeWindow` commands are on their way.
// - The exit code says how it ended (`ImportExitCode`).

internal import CommandLineOptions
public import EventLoop
internal import LineClient
internal import Printing

/// The subcommand, with the world it runs in.
@LoopActor
public struct ImportCommand {
    private let environment: [String: String]
    private let output: (String) -> Void
    private let errors: (String) -> Void
    private let isTerminal: Bool

    /// A command that writes its summary to `output` and everything else to `errors`, which is shown on a
    /// terminal or not. Both are given text with its line ends.
    public init(
        environment: [String: String], output: @escaping (String) -> Void,
        errors: @escaping (String) -> Void, isTerminal: Bool
    ) {
        self.environment = environment
        self.output = output
        self.errors = errors
        self.isTerminal = isTerminal
    }

    /// What `tiffin import --help` prints.
    public nonisolated static var help: String { ImportHelp.text(for: nil) }

    /// Runs to the end, with the arguments behind `import`.
    public func run(_ arguments: [String]) async -> ImportExitCode {
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
        let bytes = try InputFile.contents(of: options.file)
        switch options.source {
        case .outlets(let outlets): return try await importOutlets(bytes, outlets, options)
        case .recipes(let recipes): return try await importRecipes(bytes, recipes, options)
        case .menu(let outlet): return try await importMenu(bytes, outlet, options)
        }
    }

    // MARK: Outlets

    private func importOutlets(
        _ bytes: [UInt8], _ outlets: OutletImportOptions, _ options: ImportOptions
    ) async throws -> ImportExitCode {
        let table = try OutletTable(
            csv: bytes, path: options.file, map: outlets.map, currency: outlets.currency,
            keepsRatings: outlets.keepsRatings)
        for placeholder in table.placeholders { say("\(options.file): \(placeholder)") }
        var report = ProblemReport(file: options.file, write: say)
        defer { report.finish() }
        report.add(table.problems)
        if let code = codeWithoutSending(
            taken: table.rows.count, of: table.recordCount, noun: "row", report, options)
        {
            return code
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

    private func importRecipes(
        _ bytes: [UInt8], _ recipes: RecipeImportOptions, _ options: ImportOptions
    ) async throws -> ImportExitCode {
        let file = try RecipeFile(json: bytes, path: options.file)
        var report = ProblemReport(file: options.file, write: say)
        defer { report.finish() }
        report.add(file.problems)
        if let code = codeWithoutSending(
            taken: file.recipes.count, of: file.recordCount, noun: "recipe", report, options)
        {
            return code
        }
        let menu = RecipeMenu(file.recipes)
        let registration = MenuExchange.Registration(
            name: recipes.name, currency: recipes.currency, timeZone: recipes.timeZone)
        let exchange = MenuExchange(
            outlet: recipes.outlet, menu: menu.document(price: recipes.price), registration: registration)
        let what = "\(file.recipes.count.counted("recipe")) in \(menu.sections.count.counted("section"))"
        let isTaken = try await put(exchange, of: what, &report, options)
        return isTaken && file.problems.isEmpty ? .fine : .malformed
    }

    private func importMenu(
        _ bytes: [UInt8], _ outlet: String, _ options: ImportOptions
    ) async throws -> ImportExitCode {
        let file = try MenuFile(json: bytes, path: options.file)
        var report = ProblemReport(file: options.file, write: say)
        if let code = codeWithoutSending(
            taken: file.sectionCount, of: file.sectionCount, noun: "section", report, options)
        {
            return code
        }
        let exchange = MenuExchange(outlet: outlet, menu: file.document)
        let what = file.sectionCount.counted("section")
        return try await put(exchange, of: what, &report, options) ? .fine : .malformed
    }

    /// Whether the server took the menu.
    private func put(
        _ exchange: MenuExchange, of what: String, _ report: inout ProblemReport, _ options: ImportOptions
    ) async throws -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        var exchange = exchange
        try await send(&exchange, total: 1, options)
        report.add(exchange.outcome.problems)
        guard exchange.outcome.problems.isEmpty else { return false }
        output(exchange.outcome.summary(of: what, clock.now - start))
        return true
    }

    // MARK: Both

    /// How it ends before anything is sent, if it does.
    private func codeWithoutSending(
        taken: Int, of count: Int, noun: String, _ report: ProblemReport, _ options: ImportOptions
    ) -> ImportExitCode? {
        if count == 0 {
            say("\(options.file): has no \(noun)s")
            return .empty
        }
        guard taken == 0 || (options.isStrict && report.count > 0) else { return nil }
        say("\(options.file): nothing taken of \(count.counted(noun))")
        return .malformed
    }

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
