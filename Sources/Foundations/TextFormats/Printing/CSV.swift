/// Comma-separated values, as RFC 4180 has them, that no spreadsheet takes for anything but values.
public enum CSV {
    /// A line, without its end.
    public static func record(_ cells: [String]) -> String { cells.joined(separator: ",") }

    /// A text as a cell, on one line. Spreadsheets calculate what begins with `=`, `+`, `-` or `@`, so an apostrophe
    /// goes before these, and before an apostrophe: to get the text back, take one away from the beginning of the cell.
    public static func cell(_ text: String, _ notation: TerminalText.Notation = .braces) -> String {
        var line = TerminalText.line(text, notation)
        if let first = line.unicodeScalars.first, "=+-@'".unicodeScalars.contains(first) { line = "'" + line }
        let needsQuotes = line.isEmpty || line.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
        guard needsQuotes || line.first == " " || line.last == " " else { return line }
        return "\"" + line.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
