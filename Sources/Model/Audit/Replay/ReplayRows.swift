internal import Domain
public import Projections
internal import TextFormats

/// A projection or the catalogue as it is printed: rows of named values.
public struct ReplayRows: Sendable {
    /// What can be printed.
    public enum Subject: Sendable {
        /// The rows of a projection.
        case projection(RegisteredProjection)
        /// Every item that is shown, with its outlet. It is computed from `outlet_home` and has no rows of its own.
        case catalogue

        /// Everything that can be printed.
        public static let all = ReadModel.projections.map(Subject.projection) + [.catalogue]

        /// The subject with this name.
        public init?(name: String) {
            guard let found = Subject.all.first(where: { $0.name == name }) else { return nil }
            self = found
        }

        /// Its name.
        public var name: String {
            switch self {
            case .projection(let projection): projection.name
            case .catalogue: "catalogue"
            }
        }
    }

    /// How rows are printed.
    public enum Format: String, CaseIterable, Sendable {
        /// Columns for people to read, with long values shortened.
        case table
        /// One JSON array.
        case json
        /// A line of JSON for each row.
        case ndjson
        /// Comma-separated values, the columns' names first.
        case csv
    }

    /// The longest value that a table shows.
    private static let shownLength = 60

    private let columns: [String]
    private let rows: [[RowValue]]

    /// How many rows there are.
    public static func count(of subject: Subject, _ model: ReadModel) -> Int {
        switch subject {
        case .projection(let projection): projection.rowCount(in: model)
        case .catalogue: model.outletHome.listed.reduce(0) { $0 + $1.menu.entries.count }
        }
    }

    /// The rows, in the order of their keys.
    public init(of subject: Subject, _ model: ReadModel) {
        switch subject {
        case .projection(let projection):
            let printed = projection.columns.indices.filter { projection.columns[$0].isPrinted }
            columns = printed.map { projection.columns[$0].name }
            rows = projection.rows(in: model).map { row in
                let values = RowValues(row).values
                return printed.map { values[$0] }
            }
        case .catalogue:
            columns = ["outlet", "section", "item", "kind", "name", "price", "currency", "suspended"]
            rows = model.outletHome.listed.sorted { $0.id < $1.id }.flatMap { record in
                record.menu.sections.flatMap { section in
                    section.items.compactMap { id -> [RowValue]? in
                        guard let item = record.menu.entries[id], let (details, _) = record.details else { return nil }
                        return [
                            .text(record.id.rawValue), .text(section.header.id.rawValue), .text(id.rawValue),
                            .text(item.item.kind.string),
                            .text(item.name.string), item.price.map { .number($0.minorUnits) } ?? .null,
                            .text(details.currency.code), .boolean(item.suspension != nil),
                        ]
                    }
                }
            }
        }
    }

    /// The rows as text, a line at a time.
    ///
    /// - Parameter isFirst: whether no other rows of the subject were printed before them.
    public func print(as format: Format, isFirst: Bool = true, _ line: (String) -> Void) {
        switch format {
        case .csv:
            if isFirst { line(CSV.record(columns.map { CSV.cell($0) })) }
            for row in rows { line(CSV.record(row.map(\.cell))) }
        case .ndjson: for row in rows { line(json(row)) }
        case .json:
            if rows.isEmpty { return line("[]") }
            for (index, row) in rows.enumerated() {
                line((index == 0 ? "[" : " ") + json(row) + (index == rows.count - 1 ? "]" : ","))
            }
        case .table:
            let cells =
                [columns]
                + rows.map { $0.map { ReplayRows.shortened($0.shown) } }
            let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
            for row in cells {
                let text = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                line(text.joined(separator: "  ").trimmingEnd())
            }
        }
    }

    private func json(_ row: [RowValue]) -> String {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        for (column, value) in zip(columns, row) {
            writer.key(dynamic: column)
            switch value {
            case .text(let text): writer.string(text)
            case .number(let number): writer.integer(number)
            case .boolean(let value): writer.bool(value)
            case .json(let bytes): writer.raw(bytes)
            case .null: writer.null()
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
