public import Domain
public import EventLog
public import TextFormats

/// Something that goes on over several streams, one transaction after the other, until its last event is recorded.
public struct OpenProcess: Equatable, Sendable {
    /// What goes on.
    public enum Kind: String, Sendable {
        /// A checkout with claims: from `cart.checkoutBegun` on, until the order is placed or refused.
        case checkout
        /// An order that was not cooked gives back what it took: until `order.claimsReturned`.
        case giveBack = "return"
    }

    /// What goes on.
    public var kind: Kind
    /// The order that it is about.
    public var order: Identifier
    /// The stream whose event began it, and whose event ends it.
    public var stream: StreamName
    /// The version of the event that began it.
    public var version: Int64
    /// The outlet whose supply has a part in it.
    public var outlet: Identifier
    /// What is claimed, or given back.
    public var claims: [Claim]
    /// When it began.
    public var begunAt: Timestamp
    /// What the command that began it belongs to.
    public var flow: Text?
    /// Where that belongs in a trace.
    public var trace: TraceParent?

    /// The metadata of what is done to end it.
    public var metadata: EventMetadata {
        var metadata = EventMetadata.byItself(because: stream, version: version)
        if let flow { metadata.flow = flow }
        if let trace { metadata.trace = trace }
        return metadata
    }
}

/// The projection `processes`: what is under way over several streams. It is one row, as there is little of it.
public struct Processes: Projection {
    public static let name = "processes"
    public static let version = 1
    public static let table = "process_rows"

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .cart || category == .order }

    public static func streams(of key: Identifier) -> [StreamName] { [] }

    /// Empty: what cannot have happened is found by ``CartCounts`` and ``Orders``.
    public var quarantine = Quarantine()

    private let notesChanges: Bool
    /// By the orders that they are about.
    public private(set) var open: [Identifier: OpenProcess] = [:]
    /// How often one has begun or ended: another number shows that ``open`` is another.
    public private(set) var changeCount = 0
    private var hasRow = false
    /// The digest of the row as it was last saved, or nil where there was none; nil outside where nothing has changed.
    private var saved: Digest??

    public init(notesChanges: Bool = false) { self.notesChanges = notesChanges }

    // MARK: Folding

    public mutating func apply(_: DecodedEvent) {}

    /// Folds in an event of a cart.
    @inline(__always)
    mutating func fold(_ event: DecodedEvent) {
        guard case .cart(let change) = event.event else { return }
        switch change {
        case .checkoutBegun(let checkout):
            begin(.checkout, checkout.order, at: checkout.outlet, claiming: checkout.claims, by: event)
        case .checkoutRefused(let order, _): end(order)
        case .itemAdded, .quantityChanged, .lineRemoved, .cleared, .lineEdited, .tipSet, .serviceChosen, .codeAdded,
            .codeRemoved, .checkedOut:
            break
        }
    }

    /// Folds in an event of an order that ``Orders`` has folded.
    mutating func fold(_ event: DecodedEvent, of sale: Orders.Sale) {
        guard case .order(let change) = event.event else { return }
        switch change {
        case .placed, .claimsReturned: end(event.stream.id)
        case .rejected(let ending), .cancelled(let ending):
            guard !ending.claims.isEmpty else { return }
            begin(.giveBack, event.stream.id, at: sale.outlet, claiming: ending.claims, by: event)
        default: break
        }
    }

    private mutating func begin(
        _ kind: OpenProcess.Kind, _ order: Identifier, at outlet: Identifier, claiming claims: [Claim],
        by event: DecodedEvent
    ) {
        change { open in
            open[order] = OpenProcess(
                kind: kind, order: order, stream: event.stream, version: event.version, outlet: outlet, claims: claims,
                begunAt: event.recordedAt, flow: event.metadata.flow, trace: event.metadata.trace)
        }
    }

    private mutating func end(_ order: Identifier) {
        guard !open.isEmpty, open[order] != nil else { return }
        change { $0[order] = nil }
    }

    private mutating func change(_ body: (inout [Identifier: OpenProcess]) -> Void) {
        if notesChanges, saved == nil { saved = .some(hasRow ? row.digest : nil) }
        body(&open)
        (hasRow, changeCount) = (true, changeCount + 1)
    }

    #if DEBUG
        public mutating func skip(_: DecodedEvent) {}
    #endif

    // MARK: Rows

    private var row: ProcessRow { ProcessRow(open) }

    /// 1, or 0 before the first process.
    public var rowCount: Int { hasRow ? 1 : 0 }

    public var rows: some Sequence<ProcessRow> { hasRow ? [row] : [] }

    public func row(of key: Identifier) -> ProcessRow? { hasRow && key == ProcessRow.key ? row : nil }

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try ProcessRow(stored)
        guard !hasRow, try stored.key() == ProcessRow.key else { throw UnreadableValue("there are two of it") }
        (open, hasRow) = (row.open, true)
        return row.digest
    }

    // MARK: Checkpoints

    /// The row, if it has changed.
    public struct Changes: ProjectionChanges {
        fileprivate let saved: Digest??
        private var row: ProcessRow?

        fileprivate init(_ saved: Digest??, _ row: ProcessRow) {
            self.saved = saved
            self.row = saved == nil ? nil : row
        }

        public mutating func next() -> ChangedRow<ProcessRow>? {
            guard let saved, let after = row else { return nil }
            row = nil
            return ChangedRow(before: saved, after: after)
        }
    }

    public mutating func takeChanges() -> Changes {
        defer { saved = nil }
        return Changes(saved, row)
    }

    public mutating func putBack(_ taken: Changes) { saved = taken.saved ?? saved }
}

/// The row of `processes`.
public struct ProcessRow: ProjectionRow {
    public static let columns = [Column("name", .text), Column("processes", .json)]

    /// The key of the only row.
    static let key = Identifier("open")!

    /// By the orders that they are about.
    let open: [Identifier: OpenProcess]

    init(_ open: [Identifier: OpenProcess]) { self.open = open }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        do {
            open = try JSONReader.read(stored.bytes(1)) { reader throws(JSONReadingError) in
                var open: [Identifier: OpenProcess] = [:]
                try reader.beginArray()
                while try reader.nextElement() {
                    let process = try OpenProcess(from: &reader)
                    open[process.order] = process
                }
                return open
            }
        } catch {
            throw UnreadableValue("its processes: \(error)")
        }
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(ProcessRow.key.rawValue)
        columns.json(bytes)
    }

    private var bytes: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 200 * open.count)
        writer.beginArray()
        for process in open.values.sorted(by: { $0.order < $1.order }) { process.write(to: &writer) }
        writer.endArray()
        return writer.bytes
    }

    public var key: Identifier { ProcessRow.key }

    public var size: Int { 200 * open.count }

    public var digest: Digest { Digest.of(bytes) }
}

extension OpenProcess {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("kind", kind.rawValue)
        writer.field("order", order.rawValue)
        writer.field("stream", stream.description)
        writer.field("version", version)
        writer.field("outlet", outlet.rawValue)
        writer.field("at", begunAt.millisecondsSinceEpoch)
        if let flow { writer.field("flow", flow.string) }
        if let trace { writer.field("trace", trace.description) }
        writer.key("claims")
        ClaimCodec.encode(claims, to: &writer)
        writer.endObject()
    }

    fileprivate init(from reader: inout JSONReader) throws(JSONReadingError) {
        var kind: Kind?
        var order: Identifier?
        var stream: StreamName?
        var version: Int64?
        var outlet: Identifier?
        var at: Int64?
        var flow: Text?
        var trace: TraceParent?
        var claims: [Claim] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind": kind = Kind(rawValue: try reader.string())
            case "order": order = Identifier(try reader.string())
            case "stream": stream = StreamName(try reader.string())
            case "version": version = try reader.integer()
            case "outlet": outlet = Identifier(try reader.string())
            case "at": at = try reader.integer()
            case "flow": flow = Text(try reader.string())
            case "trace": trace = TraceParent(try reader.string())
            case "claims": claims = try ClaimCodec.decode(from: &reader)
            default: _ = try reader.rawValue()
            }
        }
        guard let kind, let order, let stream, let version, let outlet, let at else {
            throw reader.failure("a process with all its fields")
        }
        self.init(
            kind: kind, order: order, stream: stream, version: version, outlet: outlet, claims: claims,
            begunAt: Timestamp(millisecondsSinceEpoch: at), flow: flow, trace: trace)
    }
}
