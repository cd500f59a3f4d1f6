internal import CommandLineOptions

/// Which column of a file holds which field: `id=ID,name=Restaurant,cuisines='Food type'`.
struct ColumnMap: Equatable {
    private(set) var columns: [OutletField: String] = [:]

    var fields: Set<OutletField> { Set(columns.keys) }

    /// Adds the pairs of one `--map`. A column may stand in quotes of either kind, and must where it holds a
    /// comma.
    mutating func add(_ text: String) throws(UsageError) {
        var rest = text[...]
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else {
                throw UsageError("--map: '\(rest)' is not field=column")
            }
            let name = rest[..<equals].trimmingBlanks
            guard let field = OutletField(rawValue: name) else {
                let known = OutletField.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--map: there is no field '\(name)'; fields are \(known)")
            }
            rest = rest[rest.index(after: equals)...]
            let column = try ColumnMap.takeColumn(from: &rest)
            guard !column.isEmpty else { throw UsageError("--map: no column is named for '\(name)'") }
            guard columns.updateValue(column, forKey: field) == nil else {
                throw UsageError("--map: '\(name)' is mapped twice")
            }
        }
    }

    /// Takes a column's name and the comma behind it.
    private static func takeColumn(from rest: inout Substring) throws(UsageError) -> String {
        let column: Substring
        if let quote = rest.first, quote == "'" || quote == "\"" {
            rest.removeFirst()
            guard let end = rest.firstIndex(of: quote) else {
                throw UsageError("--map: a quote is not closed")
            }
            column = rest[..<end]
            rest = rest[rest.index(after: end)...]
            guard rest.isEmpty || rest.first == "," else {
                throw UsageError("--map: a comma is missing behind '\(column)'")
            }
        } else {
            column = rest.prefix { $0 != "," }
            rest = rest.dropFirst(column.count)
        }
        rest = rest.dropFirst()
        return column.trimmingBlanks
    }

    /// Makes sure that what every outlet needs is mapped.
    func validate() throws(UsageError) {
        for field in OutletField.required where columns[field] == nil {
            throw UsageError("--map: '\(field.rawValue)' is not mapped to a column")
        }
    }

    /// Where in a record each mapped field stands.
    func positions(in header: [String]) throws(UsageError) -> [OutletField: Int] {
        var positions: [OutletField: Int] = [:]
        for (field, column) in columns.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let found = header.indices.filter { header[$0] == column }
            guard let position = found.first else {
                let known = header.map { $0.shortened.debugDescription }.joined(separator: ", ")
                throw UsageError("--map: there is no column \(column.debugDescription); columns are \(known)")
            }
            guard found.count == 1 else {
                throw UsageError("--map: there are \(found.count) columns \(column.debugDescription)")
            }
            positions[field] = position
        }
        return positions
    }
}
