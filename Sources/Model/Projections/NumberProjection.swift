public import Domain
public import EventLog

/// A projection that keeps one whole number a key. It says what its table is called and what an event does to the
/// numbers; all else follows.
public protocol NumberProjection: Projection
where
    Row == NumberRow<Self>, Changes == ValueChanges<NumberRow<Self>>, Rows == LazyMapSequence<[Identifier: Int64], Row>
{
    /// The key's column and the number's.
    static var columns: (key: String, number: String) { get }

    /// The numbers.
    var numbers: NumberTable<Self> { get set }
}

extension NumberProjection {
    public static func streams(of key: Identifier) -> [StreamName] { [] }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {}
    #endif

    public var rowCount: Int { numbers.values.count }

    public var rows: Rows { numbers.values.lazy.map { NumberRow(key: $0.key, value: $0.value) } }

    public func row(of key: Identifier) -> Row? { numbers.values[key].map { NumberRow(key: key, value: $0) } }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try NumberRow<Self>(stored)
        numbers.values[row.key] = row.value
        return row.digest
    }

    public mutating func takeChanges() -> Changes {
        defer { numbers.changes = ValueChanges() }
        return numbers.changes
    }

    public mutating func putBack(_ changes: Changes) { numbers.changes.merge(older: changes) }
}

/// The numbers of a projection, and which of them have changed since the last checkpoint.
public struct NumberTable<Owner: NumberProjection>: Sendable {
    fileprivate var values: [Identifier: Int64] = [:]
    fileprivate var changes = ValueChanges<NumberRow<Owner>>()
    private let notesChanges: Bool

    /// No numbers.
    ///
    /// - Parameter notesChanges: whether they are to be saved.
    public init(notesChanges: Bool) { self.notesChanges = notesChanges }

    /// The number of a key; 0 for one that has none yet.
    public subscript(key: Identifier) -> Int64 {
        get { values[key] ?? 0 }
        set {
            if notesChanges { changes.note(key, before: values[key], after: newValue) }
            values[key] = newValue
        }
    }
}

/// A row that is a key and a number.
public struct NumberRow<Owner: NumberProjection>: ValueRow {
    public static var columns: [Column] {
        [Column(Owner.columns.key, .text), Column(Owner.columns.number, .int64)]
    }

    public let key: Identifier
    /// The number.
    public let value: Int64

    public init(key: Identifier, value: Int64) {
        self.key = key
        self.value = value
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        self.init(key: try stored.key(), value: stored.int64(1))
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(key.rawValue)
        columns.int64(value)
    }

    public var digest: Digest { Digest.of(Array("\(key.rawValue)\0\(value)".utf8)) }

    public var size: Int { key.rawValue.utf8.count + 8 }
}
