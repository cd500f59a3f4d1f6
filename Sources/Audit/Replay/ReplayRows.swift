internal import Domain
internal import JSONText
public import Projections

/// A projection as it is printed: rows of named values.
public struct ReplayRows: Sendable {
    /// What can be replayed.
    public enum Projection: String, CaseIterable, Sendable {
        case outletHome = "outlet_home"
        case cartCounts = "cart_counts"
        case catalogue
    }

    /// How rows are printed.
    public enum Format: String, CaseIterable, Sendable {
        /// Columns for a person to read, long values shortened.
        case table
        /// One JSON array.
        case json
        /// A line of JSON a row.
        case ndjson
    }

    /// A value of a row.
    private enum Value {
        case text(String)
        case number(Int64)
        case boolean(Bool)
        /// JSON as it is.
        case json([UInt8])
        case null

        var shown: String {
            switch self {
            case .text(let text): TerminalText.line(text)
            case .number(let number): "\(number)"
            case .boolean(let value): value ? "yes" : "no"
            case .json(let bytes): TerminalText.line(String(decoding: bytes, as: UTF8.self), .json)
            case .null: "–"
            }
        }
    }

    /// The longest value that a table shows.
    private static let shownLength = 60

    private let columns: [StaticString]
    private let rows: [[Value]]

    /// How many rows a projection has.
    public static func count(of projection: Projection, _ model: ReadModel) -> Int {
        switch projection {
        case .outletHome: model.outletHome.outletCount
        case .cartCounts: model.cartCounts.cartCount
        case .catalogue: model.outletHome.shown.reduce(0) { $0 + $1.menu.entries.count }
        }
    }

    /// The rows of a projection, in the order of their keys.
    public init(of projection: Projection, _ model: ReadModel) {
        switch projection {
        case .cartCounts:
            columns = ["cart", "count"]
            rows = model.cartCounts.all.sorted { $0.cart < $1.cart }.map {
                [.text($0.cart.rawValue), .number(Int64($0.count))]
            }
        case .outletHome:
            columns = ["outlet", "revision", "document"]
            rows = model.outletHome.all.sorted { $0.id < $1.id }.map { record in
                [.text(record.id.rawValue), .number(record.revision), .json(OutletHomeRow(record).document)]
            }
        case .catalogue:
            columns = ["outlet", "section", "item", "kind", "name", "price", "currency", "suspended"]
            rows = model.outletHome.shown.sorted { $0.id < $1.id }.flatMap { record in
                record.menu.sections.flatMap { section in
                    section.items.compactMap { id -> [Value]? in
                        guard let item = record.menu.entries[id], let (details, _) = record.details else { return nil }
                        return [
                            .text(record.id.rawValue), .text(section.header.id.rawValue), .text(id.rawValue),
                            .text(item.item.kind),
                            .text(item.name), item.price.map { .number($0.minorUnits) } ?? .null,
                            .text(details.currency.code), .boolean(item.suspension != nil),
                        ]
                    }
                }
            }
        }
    }

    /// The rows as text, a line at a time.
    public func print(as format: Format, _ line: (String) -> Void) {
        switch format {
        case .ndjson: for row in rows { line(json(row)) }
        case .json:
            if rows.isEmpty { return line("[]") }
            for (index, row) in rows.enumerated() {
                line((index == 0 ? "[" : " ") + json(row) + (index == rows.count - 1 ? "]" : ","))
            }
        case .table:
            let cells =
                [columns.map { "\($0)" }]
                + rows.map { $0.map { ReplayRows.shortened($0.shown) } }
            let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
            for row in cells {
                let text = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                line(text.joined(separator: "  ").trimmingEnd())
            }
        }
    }

    private func json(_ row: [Value]) -> String {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        for (column, value) in zip(columns, row) {
            switch value {
            case .text(let text): writer.field(column, text)
            case .number(let number): writer.field(column, number)
            case .boolean(let value): writer.field(column, value)
            case .json(let bytes):
                writer.key(column)
                writer.raw(bytes)
            case .null:
                writer.key(column)
                writer.null()
            }
        }
        writer.endObject()
        return TerminalText.line(String(decoding: writer.bytes, as: UTF8.self), .json)
    }

    private static func shortened(_ text: String) -> String {
        text.count > shownLength ? text.prefix(shownLength - 1) + "…" : text
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
