public import Domain
public import EventLog

/// A pure fold over the events of a partition, and the rows it is stored as.
///
/// The same events in the same order give the same rows and the same digest, wherever and whenever they are folded. A
/// projection is registered by its member in ``ReadModel``. Storing, restoring, rebuilding, auditing and replaying
/// follow from what is declared here.
public protocol Projection: Sendable {
    /// A stored row.
    associatedtype Row: ProjectionRow
    /// What has changed since the last checkpoint.
    associatedtype Changes: ProjectionChanges<Row>
    /// Every row.
    associatedtype Rows: Sequence<Row>

    /// The name of the projection in the database, for operators, and for SQL.
    static var name: String { get }
    /// Rises when the meaning of rows changes: servers then rebuild them.
    static var version: Int { get }
    /// The table of its rows in the schema `tiffin`. Its key is the partition, the generation and the first column.
    static var table: String { get }

    /// Whether a server leaves its rows in the database, and reads them one by one.
    static var isReadByKey: Bool { get }

    /// Whether it folds the events of streams of this kind.
    static func follows(_ category: StreamName.Category) -> Bool

    /// The streams that a row is made from; none if its key does not tell.
    static func streams(of key: Identifier) -> [StreamName]

    /// A projection of no events.
    ///
    /// - Parameter notesChanges: whether it is to be saved.
    init(notesChanges: Bool)

    // MARK: Folding

    /// The streams whose history cannot have happened. They are folded no further.
    var quarantine: Quarantine { get set }

    /// Folds in the next event of a stream that it follows. Called for every event, so it must not look types up at
    /// run time.
    ///
    /// - Throws: if the event cannot have happened. The caller then quarantines its stream.
    mutating func apply(_ event: DecodedEvent) throws(ImpossibleEvent)

    /// Whether the log may hold the stream: false only if it certainly does not.
    func mayExist(_ stream: StreamName) -> Bool

    #if DEBUG
        /// Notes that an event came, but ignores what it says: a planted fault.
        mutating func skip(_ event: DecodedEvent)
    #endif

    // MARK: Rows

    /// How many rows there are.
    var rowCount: Int { get }

    /// Every row, in no order.
    var rows: Rows { get }

    /// The row with a key.
    func row(of key: Identifier) -> Row?

    /// Restores a saved row, and returns its digest: that of all rows shows whether they are what was saved.
    mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest

    /// Restores saved rows, one after the other unless the projection has a faster way, and adds them to a digest.
    mutating func restore(_ rows: any StoredRows, _ digest: inout SetDigest) throws(UnreadableStoredRow)

    /// Every saved row is restored. Returns a key that two of them have, if the projection knows one.
    mutating func endRestoring() -> Identifier?

    // MARK: Checkpoints

    /// Takes what has changed since this was last called.
    mutating func takeChanges() -> Changes

    /// What was taken could not be saved: it has to be taken again.
    mutating func putBack(_ changes: Changes)

    /// What was taken is saved, every row of it.
    mutating func saved(_ changes: Changes)
}

extension Projection {
    public static var isReadByKey: Bool { false }

    public func mayExist(_ stream: StreamName) -> Bool { true }

    public mutating func restore(
        _ rows: any StoredRows, _ digest: inout SetDigest
    ) throws(UnreadableStoredRow) {
        for row in 0..<rows.count {
            do throws(UnreadableValue) {
                digest.insert(try restore(StoredRow(rows, row)))
            } catch {
                throw UnreadableStoredRow(row: row, reason: error)
            }
        }
    }

    public mutating func endRestoring() -> Identifier? { nil }

    public mutating func saved(_ changes: Changes) {}
}

/// A row of a projection.
public protocol ProjectionRow: Equatable, Sendable {
    /// The columns, in the order in which values are read and written; the key is the first.
    static var columns: [Column] { get }

    /// The key.
    var key: Identifier { get }

    /// A row as it was read. Columns that are not ``Column/isRestored`` may be empty.
    init(_ stored: StoredRow) throws(UnreadableValue)

    /// Writes the value of every column.
    func write(to columns: inout some RowWriter)

    /// The digest of the row, over every column that a restart reads.
    var digest: Digest { get }

    /// About how many bytes it has.
    var size: Int { get }

    /// Whether the row may be as of this event of one of its streams. True if that takes long to tell.
    func mayFollow(_ event: DecodedEvent) -> Bool
}

extension ProjectionRow {
    public func mayFollow(_ event: DecodedEvent) -> Bool { true }
}

/// A column of a projection's table.
public struct Column: Sendable {
    /// What is in a column.
    public enum Kind: Sendable {
        /// `text`.
        case text
        /// `text` that is JSON.
        case json
        /// `integer`.
        case int32
        /// `bigint`.
        case int64
    }

    /// The name in the database.
    public let name: String
    /// What is in it.
    public let kind: Kind
    /// Whether a restart needs it. What follows from other columns does not have to be read.
    public let isRestored: Bool
    /// Whether a replay prints it.
    public let isPrinted: Bool

    /// A column.
    public init(_ name: String, _ kind: Kind, isRestored: Bool = true, isPrinted: Bool = true) {
        self.name = name
        self.kind = kind
        self.isRestored = isRestored
        self.isPrinted = isPrinted
    }
}

/// Takes the values of a row, column by column.
public protocol RowWriter {
    /// A ``Column/Kind/text``.
    mutating func text(_ value: String)
    /// A ``Column/Kind/json``, in UTF-8.
    mutating func json(_ value: [UInt8])
    /// A ``Column/Kind/int32``.
    mutating func int32(_ value: Int32)
    /// A ``Column/Kind/int64``.
    mutating func int64(_ value: Int64)
}

/// Rows of a projection's table as they were read.
public protocol StoredRows: Sendable {
    /// How many there are.
    var count: Int { get }
    /// The UTF-8 of a text, valid as long as this is.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer
    /// A ``Column/Kind/int32``.
    func int32(_ row: Int, _ column: Int) -> Int32
    /// A ``Column/Kind/int64``.
    func int64(_ row: Int, _ column: Int) -> Int64
}

extension StoredRows {
    /// The key of a row, as the database has it.
    public func key(_ row: Int) -> String { String(decoding: bytes(row, 0), as: UTF8.self) }
}

/// One of ``StoredRows`` that cannot be read.
public struct UnreadableStoredRow: Error {
    /// Its number, from 0.
    let row: Int
    let reason: UnreadableValue
}

/// One of ``StoredRows``.
public struct StoredRow {
    private let rows: any StoredRows
    private let row: Int

    init(_ rows: any StoredRows, _ row: Int) {
        self.rows = rows
        self.row = row
    }

    /// The key.
    public func key() throws(UnreadableValue) -> Identifier {
        guard let key = Identifier(utf8: keyBytes) else { throw StoredRow.keyIsNoIdentifier }
        return key
    }

    /// The bytes of the key, valid as long as the rows are.
    var keyBytes: UnsafeRawBufferPointer { rows.bytes(row, 0) }

    static let keyIsNoIdentifier = UnreadableValue("its key is no identifier")

    /// The UTF-8 of a text.
    public func bytes(_ column: Int) -> [UInt8] { Array(rows.bytes(row, column)) }

    /// A ``Column/Kind/int32``.
    public func int32(_ column: Int) -> Int32 { rows.int32(row, column) }

    /// A ``Column/Kind/int64``.
    public func int64(_ column: Int) -> Int64 { rows.int64(row, column) }
}

/// A value in a stored row that no projection writes.
public struct UnreadableValue: Error, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String

    /// A value that cannot be read.
    public init(_ description: String) { self.description = description }
}

/// A stored row that cannot be read. The log is then folded again.
public struct UnreadableRow: Error, CustomStringConvertible {
    /// The table.
    public let table: String
    /// The partition.
    public let partition: Int
    /// The key, as the database has it.
    public let key: String
    /// What is wrong.
    public let reason: String

    /// What is wrong, and if.
    public var description: String {
        "tiffin.\(table), partition \(partition), row \(String(reflecting: "\(key.prefix(100))")) cannot be read: \(reason)"
    }
}
