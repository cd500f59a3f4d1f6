package import Domain
package import EventLog

/// A projection that keeps one whole number a key. It says what its table is called and what an event does to the
/// numbers; all else follows.
package protocol NumberProjection: Projection
where
    Row == NumberRow<Self>, Changes == ValueChanges<NumberRow<Self>>, Rows == LazyMapSequence<[Identifier: Int64], Row>
{
    /// The key's column and the number's.
    static var columns: (key: String, number: String) { get }

    /// The numbers.
    var numbers: NumberTable<Self> { get set }
}

extension NumberProjection {
    package static func streams(of key: Identifier) -> [StreamName] { [] }

    #if DEBUG
        package mutating func skip(_ event: DecodedEvent) {}
    #endif

    package var rowCount: Int { numbers.values.count }

    package var rows: Rows { numbers.values.lazy.map { NumberRow(key: $0.key, value: $0.value) } }

    package func row(of key: Identifier) -> Row? { numbers.values[key].map { NumberRow(key: key, value: $0) } }

    package mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try NumberRow<Self>(stored)
        numbers.values[row.key] = row.value
        return row.digest
    }

    package mutating func takeChanges() -> Changes {
        defer { numbers.changes = ValueChanges() }
        return numbers.changes
    }

    package mutating func putBack(_ changes: Changes) { numbers.changes.merge(older: changes) }
}

/// The numbers of a projection, and which of them have changed since the last checkpoint.
package struct NumberTable<Owner: NumberProjection>: Sendable {
    fileprivate var values: [Identifier: Int64] = [:]
    fileprivate var changes = ValueChanges<NumberRow<Owner>>()
    private let notesChanges: Bool

    /// No numbers.
    ///
    /// - Parameter notesChanges: whether they are to be saved.
    package init(notesChanges: Bool) { self.notesChanges = notesChanges }

    /// The number of a key; 0 for one that has none yet.
    package subscript(key: Identifier) -> Int64 {
        get { values[key] ?? 0 }
        set {
            if notesChanges { changes.note(key, before: values[key], after: newValue) }
            values[key] = newValue
        }
    }
}

/// A row that is a key and a number.
package struct NumberRow<Owner: NumberProjection>: ValueRow {
    package static var columns: [Column] {
        [Column(Owner.columns.key, .text), Column(Owner.columns.number, .int64)]
    }

    package let key: Identifier
    /// The number.
    package let value: Int64

    package init(key: Identifier, value: Int64) {
        self.key = key
        self.value = value
    }

    package init(_ stored: StoredRow) throws(UnreadableValue) {
        self.init(key: try stored.key(), value: stored.int64(1))
    }

    package func write(to columns: inout some RowWriter) {
        columns.text(key.rawValue)
        columns.int64(value)
    }

    package var digest: Digest { Digest.of(Array("\(key.rawValue)\0\(value)".utf8)) }

    package var size: Int { key.rawValue.utf8.count + 8 }
}
