// Options of a command line, each declared once: parsing, errors and help follow from the declaration.
//
//     static let port = Option.value("port", "n", "where to listen", .integer(1...65_535), default: "7379")
//     let syntax = CommandSyntax("serve", options: [port])
//     guard let options = try syntax.parse(arguments, environment: environment) else { return print(syntax.help()) }
//     listen(options[port])

/// What a command takes.
public struct CommandSyntax: Sendable {
    /// What happens when an option that is no list is given several times.
    public enum Repetition: Sendable {
        /// The last one counts, so that a script can be given options that override its own.
        case lastCounts
        /// It is an error.
        case refused
    }

    /// The command as it is typed: `tiffin serve`.
    public let command: String
    /// What the words that are no options are called, in order: `<file>`. Each may be left out. The last may end in an
    /// ellipsis, and then be given more than once.
    public let operands: [String]
    /// Its options, in the order of the help.
    public let options: [any DeclaredOption]
    private let repetition: Repetition
    private let variablePrefix: String?

    /// What a command takes.
    ///
    /// - Parameter variablePrefix: the prefix of an option's name in an environment variable, which is read where the
    ///   option is not given; nil where only options that name a variable have one.
    public init(
        _ command: String, operands: [String] = [], options: [any DeclaredOption], repetition: Repetition = .refused,
        variablePrefix: String? = nil
    ) {
        self.command = command
        self.operands = operands
        self.options = options
        self.repetition = repetition
        self.variablePrefix = variablePrefix
    }

    private func variable(of option: OptionDeclaration) -> String? {
        option.variable
            ?? variablePrefix.map { $0 + String(option.name.uppercased().map { $0 == "-" ? "_" : $0 }) }
    }

    // MARK: Parsing

    /// Reads the words behind the command; nil where they ask for help. Every value is checked.
    ///
    /// `--name value` and `--name=value` are the same; `--` ends the options.
    public func parse(
        _ arguments: [String], environment: [String: String]
    ) throws(UsageError) -> Options? {
        guard !CommandSyntax.asksForHelp(arguments) else { return nil }
        var values: [String: [String]] = [:]
        var words: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                break
            }
            if argument.hasPrefix("-"), argument != "-" {
                try take(argument, &rest, &values)
            } else {
                words.append(argument)
            }
        }
        guard words.count <= operands.count || operands.last?.hasSuffix("…") ?? false else {
            throw UsageError("unexpected argument '\(words[operands.count])'")
        }
        let given = Set(values.keys)
        for option in options.map(\.declaration) where !given.contains(option.name) {
            guard let variable = variable(of: option), let text = environment[variable], !text.isEmpty else { continue }
            values[option.name] = [text]
        }
        for option in options { try option.check(values[option.declaration.name] ?? []) }
        return Options(values: values, given: given, operands: words)
    }

    /// Whether help is asked for, whatever else is.
    public static func asksForHelp(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    private func take(
        _ argument: String, _ rest: inout ArraySlice<String>, _ values: inout [String: [String]]
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let option = options.lazy.map(\.declaration).first(where: { parts[0] == "--\($0.name)" }) else {
            throw UsageError("unknown option '\(parts[0])'")
        }
        guard values[option.name] == nil || option.isRepeatable || repetition == .lastCounts else {
            throw UsageError("--\(option.name) is given twice")
        }
        if option.placeholder == nil {
            guard parts.count == 1 else { throw UsageError("--\(option.name) takes no value") }
            values[option.name] = ["yes"]
            return
        }
        guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
            throw UsageError("--\(option.name) needs a value")
        }
        values[option.name] = option.isRepeatable ? values[option.name, default: []] + [value] : [value]
    }

    // MARK: Help

    /// How the command is typed.
    public var usage: String {
        let required = options.map(\.declaration).filter(\.isRequired).map(CommandSyntax.label)
        return (["usage:", command] + operands + required + ["[options]"]).joined(separator: " ")
    }

    /// Every option with its default and its environment variable.
    public var optionTable: String {
        let declarations = options.map(\.declaration)
        let rows = declarations.flatMap { option in
            let help = option.help + (option.defaultText.map { " (default \($0))" } ?? "")
            return [(CommandSyntax.label(option), help)] + (variable(of: option).map { [("", "[\($0)]")] } ?? [])
        }
        let remark = "An option that is not given is read from the environment variable in brackets."
        return HelpTable.text(rows) + (declarations.contains { variable(of: $0) != nil } ? "\n\n\(remark)" : "")
    }

    private static func label(_ option: OptionDeclaration) -> String {
        "--\(option.name)" + (option.placeholder.map { " <\($0)>" } ?? "")
    }
}

/// The options that were given, and the operands.
public struct Options: Sendable {
    private let values: [String: [String]]
    private let given: Set<String>
    /// The words that are no options.
    public let operands: [String]

    init(values: [String: [String]], given: Set<String>, operands: [String]) {
        self.values = values
        self.given = given
        self.operands = operands
    }

    /// The value of an option of the command's syntax.
    public subscript<Value>(option: Option<Value>) -> Value {
        do {
            return try option.value(of: texts(of: option))
        } catch {
            preconditionFailure("--\(option.declaration.name) was not declared: \(error)")
        }
    }

    /// The texts that were given for an option, or that its environment variable has.
    public func texts(of option: some DeclaredOption) -> [String] { values[option.declaration.name] ?? [] }

    /// Whether an option stands on the command line, and not only in the environment.
    public func isGiven(_ option: some DeclaredOption) -> Bool { given.contains(option.declaration.name) }
}

/// Two columns of text.
public enum HelpTable {
    /// Indented rows, the second column aligned.
    public static func text(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { label, text in
            "  \(label)\(String(repeating: " ", count: width - label.count))  \(text)"
        }
        .joined(separator: "\n")
    }
}
