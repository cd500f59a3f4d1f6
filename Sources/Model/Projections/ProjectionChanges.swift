public import Domain
public import EventLog

/// The rows of a projection that have changed since the last checkpoint, made one by one.
public protocol ProjectionChanges<Row>: Sendable {
    /// A row of the projection.
    associatedtype Row: ProjectionRow

    /// The keys whose stored rows have to be read before changes can be made of them.
    var unread: [Identifier] { get }

    /// Takes the stored rows of some of these; the others have none. What contradicts them stays unread.
    mutating func read(_ rows: [Row], of keys: [Identifier])

    /// The next changed row; nil if there are no more. Nothing may be unread.
    mutating func next() -> ChangedRow<Row>?
}

extension ProjectionChanges {
    public var unread: [Identifier] { [] }

    public mutating func read(_ rows: [Row], of keys: [Identifier]) {}
}

/// A row that has changed.
public struct ChangedRow<Row: ProjectionRow>: Sendable {
    /// The digest of the stored row; nil if there is none.
    public var before: Digest?
    /// The row as it is to be stored.
    public var after: Row
    /// The digest of ``after``.
    public var digest: Digest

    /// A row that has changed.
    public init(before: Digest?, after: Row) {
        self.before = before
        self.after = after
        digest = after.digest
    }
}

/// A row that is a key with a small value.
public protocol ValueRow: ProjectionRow {
    /// What belongs to a key.
    associatedtype Value: Sendable

    /// A row.
    init(key: Identifier, value: Value)
}

/// Changes of rows that are a key with a small value: what the value was when it was last saved, and what it is now.
public struct ValueChanges<Row: ValueRow>: ProjectionChanges {
    private struct Change: Sendable {
        var before: Row.Value?
        var after: Row.Value
    }

    private var changes: [Identifier: Change] = [:]
    private var nextIndex: Dictionary<Identifier, Change>.Index?

    /// No changes.
    public init() {}

    /// Notes a change. `before` is used only if the key has not changed yet.
    public mutating func note(_ key: Identifier, before: Row.Value?, after: Row.Value) {
        changes[key, default: Change(before: before, after: after)].after = after
    }

    /// Adds older changes, which have not been saved.
    public mutating func merge(older: ValueChanges) {
        changes.merge(older.changes) { newer, older in Change(before: older.before, after: newer.after) }
    }

    public mutating func next() -> ChangedRow<Row>? {
        let index = nextIndex ?? changes.startIndex
        guard index != changes.endIndex else { return nil }
        nextIndex = changes.index(after: index)
        let (key, change) = changes[index]
        return ChangedRow(
            before: change.before.map { Row(key: key, value: $0).digest }, after: Row(key: key, value: change.after))
    }
}
