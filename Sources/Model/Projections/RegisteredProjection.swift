internal import Domain
public import EventLog

/// One of the projections that a ``ReadModel`` holds, for code that handles all of them alike.
public struct RegisteredProjection: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public let version: Int
    public let table: String
    public let columns: [Column]
    public let isReadByKey: Bool
    /// Where it is in a read model.
    public let member: any ProjectionMember

    init<P: Projection>(_ path: any WritableKeyPath<ReadModel, P> & Sendable) {
        name = P.name
        version = P.version
        table = P.table
        columns = P.Row.columns
        isReadByKey = P.isReadByKey
        member = Member(path: path)
    }

    /// The projection with this name.
    public init?(name: String) {
        guard let found = ReadModel.projections.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The names of all, for people.
    public static var names: String { ReadModel.projections.map(\.name).joined(separator: ", ") }

    /// Its name.
    public var description: String { name }

    /// Two are equal if they have the same name.
    public static func == (_ one: RegisteredProjection, _ other: RegisteredProjection) -> Bool {
        one.name == other.name
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Where a projection is in a read model. Code that needs its type opens this in a generic function.
public protocol ProjectionMember<Member>: Sendable {
    /// The projection.
    associatedtype Member: Projection

    /// The projection in a read model.
    func projection(in model: ReadModel) -> Member

    /// Lets the body change the projection in a read model.
    func change<Result, Failure>(
        in model: inout ReadModel, _ body: (inout Member) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

private struct Member<P: Projection>: ProjectionMember {
    let path: any WritableKeyPath<ReadModel, P> & Sendable

    func projection(in model: ReadModel) -> P { model[keyPath: path] }

    func change<Result, Failure>(
        in model: inout ReadModel, _ body: (inout P) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(&model[keyPath: path])
    }
}

// MARK: Operations on any projection

extension RegisteredProjection {
    /// Whether it folds the events of streams of this kind.
    public func follows(_ category: StreamName.Category) -> Bool { member.follows(category) }

    /// How many rows it has in a read model.
    public func rowCount(in model: ReadModel) -> Int { member.rowCount(in: model) }

    /// Every row in a read model, in the order of their keys.
    public func rows(in model: ReadModel) -> [any ProjectionRow] { member.sortedRows(in: model) }

    /// Its streams in quarantine.
    public func quarantine(in model: ReadModel) -> Quarantine { member.quarantine(in: model) }

    /// The first event of a stream that puts it into quarantine, if there is one. The events are those of the stream
    /// from its beginning.
    public func corruption(
        of stream: StreamName, in events: [Result<DecodedEvent, CorruptEvent>]
    ) -> CorruptEvent? {
        member.corruption(of: stream, in: events)
    }
}

extension ProjectionMember {
    fileprivate func follows(_ category: StreamName.Category) -> Bool { Member.follows(category) }

    fileprivate func rowCount(in model: ReadModel) -> Int { projection(in: model).rowCount }

    fileprivate func quarantine(in model: ReadModel) -> Quarantine { projection(in: model).quarantine }

    fileprivate func sortedRows(in model: ReadModel) -> [any ProjectionRow] {
        projection(in: model).rows.sorted { $0.key < $1.key }
    }

    fileprivate func corruption(
        of stream: StreamName, in events: [Result<DecodedEvent, CorruptEvent>]
    ) -> CorruptEvent? {
        guard Member.follows(stream.category) else { return nil }
        var projection = Member(notesChanges: false)
        for event in events where projection.quarantine[stream] == nil { projection.fold(event) }
        return projection.quarantine[stream]
    }

    /// The digest of every row and every stream in quarantine.
    func digest(in model: ReadModel) -> SetDigest {
        var digest = SetDigest()
        for row in projection(in: model).rows { digest.insert(row.digest) }
        for corruption in quarantine(in: model).streams.values { digest.insert(quarantined: corruption) }
        return digest
    }

    func restore(
        _ rows: any StoredRows, into model: inout ReadModel, _ digest: inout SetDigest
    ) throws(UnreadableRow) {
        do throws(UnreadableStoredRow) {
            try change(in: &model) { (projection) throws(UnreadableStoredRow) in try projection.restore(rows, &digest) }
        } catch {
            throw UnreadableRow(
                table: Member.table, partition: model.partition, key: rows.key(error.row),
                reason: error.reason.description)
        }
    }
}

extension Projection {
    /// A row as it was read.
    public static func row(_ number: Int, of rows: any StoredRows) throws(UnreadableValue) -> Row {
        try Row(StoredRow(rows, number))
    }

    /// The result of a history of streams that it follows, whose events are in the order of their positions.
    public init(folding history: [Result<DecodedEvent, CorruptEvent>]) {
        self.init(notesChanges: false)
        for event in history { fold(event) }
    }

    /// Folds in an event of a stream that it follows, and quarantines the stream if the event is corrupt.
    @inline(__always)
    @discardableResult
    mutating func fold(_ event: Result<DecodedEvent, CorruptEvent>) -> CorruptEvent? {
        let corruption: CorruptEvent
        switch event {
        case .success(let event):
            do throws(ImpossibleEvent) {
                try apply(event)
                return nil
            } catch {
                corruption = CorruptEvent(event, reason: error.description)
            }
        case .failure(let event): corruption = event
        }
        quarantine.insert(corruption)
        return corruption
    }
}
