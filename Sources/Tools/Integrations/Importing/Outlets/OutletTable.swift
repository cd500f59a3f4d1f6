internal import Domain

/// The outlets of a CSV file, and what in it is none. The first record names the columns.
struct OutletTable: Equatable {
    private(set) var rows: [OutletRow] = []
    private(set) var problems: [Problem] = []
    /// Ratings that may be placeholders.
    private(set) var placeholders: [PlaceholderRating] = []
    /// Records read, malformed ones among them.
    private(set) var recordCount = 0

    private let positions: [OutletField: Int]
    private let moneyDigits: Int
    private let unrated: Set<RatingMark>
    private var lineOfID: [String: Int] = [:]

    /// Reads all of `bytes`. Throws `UnreadableFile` when they begin with no header, `UsageError` when the
    /// header lacks a column of `map`.
    ///
    /// - Parameter unrated: what stands for "no rating yet".
    init(csv bytes: [UInt8], path: String, map: ColumnMap, currency: String, unrated: Set<RatingMark> = []) throws {
        self.unrated = unrated
        moneyDigits = Currency(currency)?.decimals ?? 2
        var reader = CSVReader(bytes)
        switch reader.next() {
        case nil:
            positions = [:]
        case .malformed(let line, let reason)?:
            throw UnreadableFile(path: path, line: line, reason: "the header \(reason)")
        case .record(_, let fields)?:
            let header = fields.map(\.onOneLine)
            positions = try map.positions(in: header)
            while let row = reader.next() { take(row, columns: header.count) }
        }
        placeholders = PlaceholderRating.find(in: rows)
    }

    private mutating func take(_ row: CSVReader.Row, columns: Int) {
        recordCount += 1
        switch row {
        case .malformed(let line, let reason):
            problems.append(Problem(row: line, field: "row", reason: reason))
        case .record(let line, let fields):
            guard fields.count == columns else {
                let reason = "has \(fields.count.counted("field")), the header has \(columns)"
                problems.append(Problem(row: line, field: "row", reason: reason))
                return
            }
            var record = OutletRecord(line: line, fields: fields, positions: positions)
            var outlet = record.outlet(moneyDigits: moneyDigits)
            if let rating = outlet.rating, let count = outlet.ratingCount,
                unrated.contains(RatingMark(rating: rating, ratingCount: count))
            {
                (outlet.rating, outlet.ratingCount) = (nil, nil)
            }
            if let first = lineOfID[outlet.id] {
                record.report(.id, "'\(outlet.id)' is the same as in line \(first)")
            }
            problems += record.problems
            guard record.problems.isEmpty else { return }
            lineOfID[outlet.id] = line
            rows.append(outlet)
        }
    }
}
