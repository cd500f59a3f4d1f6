/// The functions and views that a database has unless somebody changed them. It understands what the files in
/// `migrations/` are written in, and no more of SQL.
struct SchemaObjects {
    /// What is said of a function, as the catalogue of a database has it.
    struct Function: Equatable {
        /// Its text between the quotes.
        var source: String
        /// Its language.
        var language: String
        /// Whether it runs with the rights of its owner.
        var isDefiner: Bool
        /// `v`, `s` or `i`: whether it may have another result each time.
        var volatility: String
        /// The settings that it runs with, in order.
        var settings: [String]
    }

    /// Functions of one name take different numbers of arguments.
    struct Signature: Hashable {
        var name: String
        var argumentCount: Int
    }

    /// Functions in the schema `tiffin`.
    private(set) var functions: [Signature: Function] = [:]
    /// The queries of views in the schema `tiffin`, by their names.
    private(set) var views: [String: String] = [:]

    /// The views that the migrations make, and the functions that replace those of the migrations.
    init() {
        for migration in Migrations.all {
            for statement in SchemaObjects.statements(of: migration.sql) { takeView(statement) }
        }
        for file in SchemaFunctions.files {
            for statement in SchemaObjects.statements(of: file) { takeFunction(statement) }
        }
    }

    private mutating func takeFunction(_ statement: Script) {
        guard let rest = statement.words.after(anyOf: "CREATE OR REPLACE FUNCTION tiffin.") else { return }
        let (signature, attributes) = SchemaObjects.signature(rest)
        functions[signature] = SchemaObjects.function(attributes, statement.quoted.first ?? "")
    }

    private mutating func takeView(_ statement: Script) {
        let words = statement.words
        if let rest = words.after(anyOf: "CREATE VIEW tiffin.", "CREATE OR REPLACE VIEW tiffin.") {
            let name = String(rest.prefix { $0 != " " })
            // With its line breaks, which a string may contain.
            let code = statement.text
            guard let start = code.firstRange(of: /\sAS\s/) else { return }
            views[name] = String(code[start.upperBound...])
        } else if let rest = words.after(anyOf: "DROP VIEW tiffin.") {
            for name in rest.split(separator: ",") {
                let name = name.drop { $0 == " " }
                views[String(name.after(anyOf: "tiffin.") ?? name)] = nil
            }
        }
    }

    /// The signature at the beginning of a text, and what follows it.
    private static func signature(_ text: some StringProtocol) -> (Signature, String) {
        let name = String(text.prefix { $0 != "(" })
        var (depth, argument, count) = (0, "", 0)
        var index = text.index(text.startIndex, offsetBy: name.count)
        while index < text.endIndex {
            let character = text[index]
            index = text.index(after: index)
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0 || (depth == 1 && character == ",") {
                let word = argument.drop { $0 == " " || $0 == "(" }
                if !word.isEmpty, !word.hasPrefix("OUT ") { count += 1 }
                argument = ""
            } else {
                argument.append(character)
            }
            if depth == 0 { break }
        }
        return (Signature(name: name, argumentCount: count), String(text[index...]))
    }

    /// What may follow a setting.
    private static let clauses: Set = [
        "SET", "AS", "LANGUAGE", "STABLE", "IMMUTABLE", "VOLATILE", "STRICT", "SECURITY",
    ]

    private static func function(_ attributes: String, _ source: String) -> Function {
        let words = attributes.split(separator: " ").map(String.init)
        let language = words.firstIndex(of: "LANGUAGE").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        var settings: [String] = []
        for index in words.indices where words[index] == "SET" {
            let value = words[(index + 1)...].prefix { !clauses.contains($0) }
            settings.append(value.joined(separator: " ").replacing(" = ", with: "="))
        }
        return Function(
            source: source, language: language ?? "", isDefiner: words.contains("DEFINER"),
            volatility: words.contains("STABLE") ? "s" : words.contains("IMMUTABLE") ? "i" : "v", settings: settings)
    }

    /// A statement without comments: its code, and its texts between dollars, which are left out of the code.
    private struct Script {
        /// In UTF-8: all that counts in it is ASCII, and comparing characters takes longer.
        var code: [UInt8] = []
        var quoted: [String] = []

        var text: String { String(decoding: code, as: UTF8.self) }
        /// The code with one space between words.
        var words: String {
            let words = code.split { $0 <= UInt8(ascii: " ") }
            return String(decoding: Array(words.joined(separator: " ".utf8)), as: UTF8.self)
        }
    }

    /// Whether something else than code may begin with a byte.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: ";"): true
        default: false
        }
    }

    private static func statements(of file: [UInt8]) -> [Script] {
        var statements: [Script] = []
        var statement = Script()
        let (dashes, dollars) = (Array("--".utf8), Array("$$".utf8))
        var rest = file[...]
        while true {
            let plain = rest.prefix { !isMark($0) }
            statement.code += plain
            rest = rest[plain.endIndex...]
            guard let mark = rest.first else { return statements }
            if rest.starts(with: dashes) {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if rest.starts(with: dollars) {
                rest = rest.dropFirst(2)
                let end = rest.firstRange(of: dollars) ?? rest.endIndex..<rest.endIndex
                statement.quoted.append(String(decoding: rest[..<end.lowerBound], as: UTF8.self))
                rest = rest[end.upperBound...]
            } else if mark == UInt8(ascii: "'") {
                let end = rest.dropFirst().firstIndex(of: mark).map { $0 + 1 } ?? rest.endIndex
                statement.code += rest[..<end]
                rest = rest[end...]
            } else {
                rest = rest.dropFirst()
                if mark == UInt8(ascii: ";") {
                    statements.append(statement)
                    statement = Script()
                } else {
                    statement.code.append(mark)
                }
            }
        }
    }
}

extension StringProtocol {
    /// What follows one of these beginnings; nil if the text begins with none of them.
    fileprivate func after(anyOf beginnings: String...) -> SubSequence? {
        beginnings.first(where: hasPrefix).map { dropFirst($0.count) }
    }
}
