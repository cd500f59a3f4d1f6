internal import TextFormats

/// A piece of XML, built so that nothing in it can be mistaken for markup: texts are escaped when they become one.
struct Markup: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    private(set) var text: String

    /// Text of ours, as it is.
    init(stringLiteral value: String) { text = value }

    /// Markup of ours, with texts and numbers between that are escaped.
    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Pieces, one after the other.
    init(_ pieces: [Markup], separator: String = "\n") { text = pieces.map(\.text).joined(separator: separator) }

    static func + (left: Markup, right: Markup) -> Markup { Markup([left, right], separator: "") }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
        mutating func appendInterpolation(_ pieces: [Markup]) { text += Markup(pieces).text }
        mutating func appendInterpolation(_ other: String) { text += Markup.escaped(other) }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
    }

    /// Text as it appears in an element or between the quotes of an attribute. Characters that XML cannot hold become
    /// visible; a line feed stays one, even in an attribute.
    private static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count + 16)
        for character in TerminalText.lines(text).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n": result += "&#10;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
