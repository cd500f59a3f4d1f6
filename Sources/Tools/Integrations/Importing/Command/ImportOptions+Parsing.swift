package import CommandLineOptions
internal import LineClient

extension ImportOptions {
    /// What a command line asks for.
    package enum Request: Equatable, Sendable {
        /// The help of `import`, or of one kind.
        case help(ImportKind?)
        case run(ImportOptions)
    }

    /// Reads the arguments behind `import`.
    package static func parse(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(UsageError) -> Request {
        let kind = arguments.first.flatMap { ImportKind(rawValue: $0) }
        guard !CommandSyntax.asksForHelp(arguments) else { return .help(kind) }
        guard let kind else {
            let kinds = ImportKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(
                arguments.first.map { "there is no import of '\($0)'; kinds are \(kinds)" }
                    ?? "what is to be imported? kinds are \(kinds)")
        }
        guard let options = try kind.syntax.parse(Array(arguments.dropFirst()), environment: environment) else {
            return .help(kind)
        }
        guard let file = options.operands.first else { throw UsageError("which file is to be imported?") }
        return .run(
            ImportOptions(
                source: try Source(kind, options), input: ImportInput(file), seconds: options[ImportOption.timeout],
                maximumLength: options[ImportOption.maximumSize], server: options[ImportOption.server],
                connection: try ConnectionOptions(options)))
    }
}

extension ImportOptions.Source {
    fileprivate init(_ kind: ImportKind, _ options: Options) throws(UsageError) {
        switch kind {
        case .outlets:
            let fields = options[ImportOption.map].fields
            guard options[ImportOption.unrated].isEmpty || fields.isSuperset(of: [.rating, .ratingCount]) else {
                throw UsageError("--unrated: 'rating' and 'ratingCount' are not both mapped to columns")
            }
            self = .outlets(
                OutletImportOptions(
                    map: options[ImportOption.map], currency: options[ImportOption.currency],
                    timeZone: options[ImportOption.timeZone], unrated: options[ImportOption.unrated],
                    opensAll: options[ImportOption.open], isStrict: options[ImportOption.strict]))
        case .recipes:
            let outlet = options[ImportOption.outlet]
            self = .recipes(
                RecipeImportOptions(
                    outlet: outlet, currency: options[ImportOption.currency],
                    timeZone: options[ImportOption.timeZoneOfRecipes], price: options[ImportOption.price],
                    name: options[ImportOption.name] ?? outlet, isPartial: options[ImportOption.partial],
                    allowsEmpty: options[ImportOption.allowEmpty]))
        case .menu:
            self = .menu(
                MenuImportOptions(
                    outlet: options[ImportOption.outlet], allowsEmpty: options[ImportOption.allowEmpty]))
        }
    }
}
