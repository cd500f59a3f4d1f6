/// Why a row, or a value in it, was not taken; one line for people: `file:row: field: reason`.
struct Problem: Equatable, CustomStringConvertible {
    /// In CSV files the line a record starts at, in JSON files the number of the element; both from 1.
    var row: Int?
    /// The field as documents call it, or the command that the server refused; nil where it is all the row.
    var field: String?
    var reason: String

    var description: String {
        [row.map(String.init), field, reason].compactMap { $0 }.joined(separator: ": ")
    }

    /// The whole line.
    func line(in file: String) -> String {
        row == nil ? "\(file): \(description)" : "\(file):\(description)"
    }
}
