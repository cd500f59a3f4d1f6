internal import Domain

/// One record on its way to an outlet; collects every problem of it, not only the first.
struct OutletRecord {
    /// Texts, in capitals, with which sources say that there is no rating yet.
    private static let noRating: Set<String> = ["-", "--", "NEW", "N/A", "NA", "TOO FEW RATINGS"]

    private let line: Int
    private let fields: [String]
    private let positions: [OutletField: Int]
    private(set) var problems: [Problem] = []

    init(line: Int, fields: [String], positions: [OutletField: Int]) {
        self.line = line
        self.fields = fields
        self.positions = positions
    }

    mutating func report(_ field: OutletField, _ reason: String) {
        problems.append(Problem(row: line, field: field.rawValue, reason: reason))
    }

    /// The outlet; of no use when there are problems afterwards.
    mutating func outlet(moneyDigits: Int) -> OutletRow {
        OutletRow(
            line: line, id: identifier(), name: needed(.name), city: text(.city), area: text(.area),
            address: text(.address), cuisines: list(.cuisines),
            priceForTwo: number(.priceForTwo, digits: moneyDigits),
            minimumOrder: number(.minimumOrder, digits: moneyDigits),
            rating: number(.rating, digits: 2, absent: OutletRecord.noRating),
            ratingCount: number(.ratingCount, digits: 0, absent: OutletRecord.noRating),
            deliveryMinutes: number(.deliveryMinutes, digits: 0))
    }

    /// The field's text; nil where the column is not mapped, empty, or says `NULL`.
    private func text(_ field: OutletField) -> String? {
        guard let position = positions[field] else { return nil }
        let text = fields[position].onOneLine
        return text.isEmpty || text == "NULL" ? nil : text
    }

    private mutating func needed(_ field: OutletField) -> String {
        if let text = text(field) { return text }
        report(field, "is missing")
        return ""
    }

    private mutating func identifier() -> String {
        guard let id = text(.id) else {
            report(.id, "is missing")
            return ""
        }
        if !id.isIdentifier {
            report(.id, "'\(id.shortened)' is not 1–64 of the characters \(Identifier.characters)")
        }
        return id
    }

    /// The different texts between commas.
    private func list(_ field: OutletField) -> [String] {
        var seen: Set<String> = []
        return (text(field) ?? "").split(separator: ",").map(\.trimmingBlanks).filter {
            !$0.isEmpty && seen.insert($0).inserted
        }
    }

    private mutating func number(_ field: OutletField, digits: Int, absent: Set<String> = []) -> Int64? {
        guard let text = text(field), !absent.contains(text.uppercased()) else { return nil }
        do {
            return try Int64(decimal: text, digits: digits)
        } catch {
            report(field, error.reason)
            return nil
        }
    }
}
