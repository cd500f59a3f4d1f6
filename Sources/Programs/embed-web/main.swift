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

/// A script without the lines that are only comments: they are a fifth of what a browser would load. The lines stay, so
/// that others keep their numbers.
func withoutComments(_ script: String) -> String {
    script.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }.joined(separator: "\n")
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
    let embedded = path.hasSuffix(".js") ? withoutComments(text) : text
    source += "        (\(literal(String(path.dropFirst(folder.count + 1)))), \(literal(embedded))),\n"
}
try Data((source + "    ]\n}\n").utf8).write(to: URL(filePath: output))
