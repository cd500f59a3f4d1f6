internal import Foundation
internal import LineProtocol

extension ImportOptions {
    /// What a command line asks for.
    public enum Request: Equatable, Sendable {
        /// The help of `import`, or of one kind.
        case help(ImportKind?)
        case run(ImportOptions)
    }

    /// The environment variable that names the server where no option does.
    public static let serverVariable = "TIFFIN_SERVER"

    /// Reads the arguments behind `import`.
    public static func parse(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(UsageError) -> Request {
        let kind = arguments.first.flatMap { ImportKind(rawValue: $0) }
        if arguments.contains("--help") || arguments.contains("-h") { return .help(kind) }
        guard let kind else {
            let kinds = ImportKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(
                arguments.first.map { "there is no import of '\($0)'; kinds are \(kinds)" }
                    ?? "what is to be imported? kinds are \(kinds)")
        }
        var line = CommandLine(kind: kind)
        try line.read(arguments.dropFirst())
        return .run(
            ImportOptions(
                source: try line.source(), file: try line.file(), isStrict: line.has(.strict),
                server: try line.server(environment)))
    }
}

/// The words of a command line, sorted.
private struct CommandLine {
    let kind: ImportKind
    private var values: [ImportOption: [String]] = [:]
    private var files: [String] = []

    init(kind: ImportKind) {
        self.kind = kind
    }

    mutating func read(_ arguments: ArraySlice<String>) throws(UsageError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            if argument == "--" {
                files += rest
                return
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                files.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].hasPrefix("--"),
                let option = ImportOption(rawValue: String(parts[0].dropFirst(2))),
                kind.options.contains(option)
            else { throw UsageError("there is no option '\(parts[0])'; see tiffin import \(kind) --help") }
            try add(option, inline: parts.count == 2 ? String(parts[1]) : nil, from: &rest)
        }
    }

    private mutating func add(
        _ option: ImportOption, inline: String?, from rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard option.placeholder != nil else {
            guard inline == nil else { throw UsageError("--\(option.rawValue) takes no value") }
            values[option] = []
            return
        }
        guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
            throw UsageError("--\(option.rawValue) needs a value")
        }
        guard option == .map || values[option] == nil else {
            throw UsageError("--\(option.rawValue) is given twice")
        }
        values[option, default: []].append(value)
    }

    func has(_ option: ImportOption) -> Bool {
        values[option] != nil
    }

    func file() throws(UsageError) -> String {
        guard let file = files.first else { throw UsageError("which file is to be imported?") }
        guard files.count == 1 else { throw UsageError("one file at a time: '\(files[1])' is one too many") }
        return file
    }

    func server(_ environment: [String: String]) throws(UsageError) -> ServerAddress {
        guard let text = values[.server]?.first ?? environment[ImportOptions.serverVariable] else {
            return .standard
        }
        guard let address = ServerAddress(text) else { throw UsageError("'\(text)' is not host:port") }
        return address
    }

    func source() throws(UsageError) -> ImportOptions.Source {
        for option in kind.required where !has(option) {
            throw UsageError("--\(option.rawValue) is needed; see tiffin import \(kind) --help")
        }
        switch kind {
        case .outlets:
            return .outlets(
                OutletImportOptions(
                    map: try map(), currency: try currency(), timeZone: try timeZone(),
                    keepsRatings: has(.keepRatings), opensAll: has(.open)))
        case .recipes:
            let outlet = try outlet()
            return .recipes(
                RecipeImportOptions(
                    outlet: outlet, currency: try currency(), timeZone: try timeZone(), price: try price(),
                    name: values[.name]?.first ?? outlet))
        case .menu:
            return .menu(outlet: try outlet())
        }
    }

    private func map() throws(UsageError) -> ColumnMap {
        var map = ColumnMap()
        for text in values[.map] ?? [] { try map.add(text) }
        try map.validate()
        return map
    }

    private func value(of option: ImportOption) -> String {
        values[option]?.first ?? ""
    }

    private func outlet() throws(UsageError) -> String {
        let outlet = value(of: .outlet)
        guard outlet.isIdentifier else {
            throw UsageError("--outlet: '\(outlet)' is not 1–64 of the characters A–Z a–z 0–9 . _ : -")
        }
        return outlet
    }

    private func currency() throws(UsageError) -> String {
        let code = value(of: .currency)
        guard code.utf8.count == 3,
            code.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { throw UsageError("--currency: '\(code)' is not three capital letters of ISO 4217") }
        return code
    }

    private func timeZone() throws(UsageError) -> String {
        guard let name = values[.timeZone]?.first else { return "UTC" }
        guard TimeZone(identifier: name) != nil else {
            throw UsageError("--time-zone: '\(name)' is not an IANA time zone")
        }
        return name
    }

    private func price() throws(UsageError) -> Int64 {
        guard let price = Int64(value(of: .price)), price >= 0 else {
            throw UsageError("--price: '\(value(of: .price))' is not a whole number of minor units")
        }
        return price
    }
}
