// Writes the files of the pages as Swift: `embed-web OUTPUT FOLDER FILE…`. As texts, because arrays of bytes take the
// compiler many seconds.

import Foundation

/// The text as a literal of Swift.
func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\": literal += "\\\\"
        case "\"": literal += "\\\""
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F: literal += "\\u{\(String(scalar.value, radix: 16))}"
        default: literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}

/// A file without its indents and the lines that are only comments: they are a fourth of what a browser would load. The
/// lines stay, so that others keep their numbers.
func withoutComments(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map {
        let line = $0.drop { $0 == " " }
        return line.hasPrefix("//") || line.hasPrefix("/*") && line.hasSuffix("*/") ? "" : line
    }.joined(separator: "\n")
}

let arguments = CommandLine.arguments.dropFirst()
guard let output = arguments.first, let folder = arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: embed-web OUTPUT FOLDER FILE…\n".utf8))
    exit(64)
}
var source = "extension WebAssets {\n    static let embedded: [(path: StaticString, text: StaticString)] = [\n"
for path in arguments.dropFirst(2) {
    guard let text = String(validating: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) else {
        FileHandle.standardError.write(Data("\(path): error: only texts in UTF-8 can be embedded\n".utf8))
        exit(1)
    }
    source += "        (\(literal(String(path.dropFirst(folder.count + 1)))), \(literal(withoutComments(text)))),\n"
}
try Data((source + "    ]\n}\n").utf8).write(to: URL(filePath: output))
