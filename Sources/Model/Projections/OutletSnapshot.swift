public import Domain
public import EventLog
internal import TextFormats

/// A row of `outlet_home`.
public struct OutletHomeRow: ProjectionRow {
    /// The document follows from the snapshot; only restarts read the snapshot.
    public static let columns = [
        Column("outlet", .text), Column("revision", .int64), Column("document", .json, isRestored: false),
        Column("snapshot", .json, isPrinted: false),
    ]

    /// The outlet.
    public var outlet: Identifier
    /// The position of the last event of the outlet or its menu.
    public var revision: Int64
    /// The home document, as ``HomeDocument`` writes it; `null` if the outlet is not registered, or was removed.
    public var document: [UInt8]
    /// The shortest history that leads to the outlet and its menu.
    public var snapshot: [UInt8]

    /// A row as it is in the database.
    public init(outlet: Identifier, revision: Int64, document: [UInt8], snapshot: [UInt8]) {
        self.outlet = outlet
        self.revision = revision
        self.document = document
        self.snapshot = snapshot
    }

    /// The row of an outlet.
    public init(_ record: OutletRecord) {
        outlet = record.id
        revision = record.revision
        // An outlet whose registration is damaged may still have a menu, and one that was removed has its last one.
        document = record.details == nil ? Array("null".utf8) : HomeDocument.bytes(of: record)
        snapshot = record.snapshot()
    }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        self.init(
            outlet: try stored.key(), revision: stored.int64(1), document: stored.bytes(2), snapshot: stored.bytes(3))
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(outlet.rawValue)
        columns.int64(revision)
        columns.json(document)
        columns.json(snapshot)
    }

    public var key: Identifier { outlet }

    public var size: Int { document.count + snapshot.count }

    public func mayFollow(_ event: DecodedEvent) -> Bool { event.position == revision }

    /// The row's digest: over the outlet, a zero byte, the revision in decimal, another zero byte, and the snapshot. The
    /// document follows from these.
    public var digest: Digest { Digest.of(Array("\(outlet.rawValue)\0\(revision)\0".utf8) + snapshot) }
}

// An outlet is saved as the shortest history that leads to it, in the format of events. So there is no second format
// for outlets and menus that could say something else.
extension OutletRecord {
    func snapshot() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.beginObject()
        writer.field("outletVersion", outletVersion)
        writer.field("menuVersion", menuVersion)
        if promotionsVersion > 0 { writer.field("promotionsVersion", promotionsVersion) }
        writer.key("events")
        writer.beginArray()
        for event in history {
            let (kind, payload) = EventCodec.encode(event)
            writer.beginObject()
            writer.field("kind", kind.name)
            writer.field("schemaVersion", kind.schemaVersion)
            writer.key("payload")
            writer.raw(payload)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    init(_ row: OutletHomeRow, _ digest: Digest) throws(UnreadableValue) {
        do {
            self = try JSONReader.read(row.snapshot) { reader throws(JSONReadingError) in
                try OutletRecord(id: row.outlet, revision: row.revision, from: &reader)
            }
            savedDigest = digest
        } catch {
            throw UnreadableValue("its snapshot: \(error)")
        }
    }

    private init(id: Identifier, revision: Int64, from reader: inout JSONReader) throws(JSONReadingError) {
        var outletVersion: Int64 = 0
        var menuVersion: Int64 = 0
        var promotionsVersion: Int64 = 0
        var outlet = Outlet.initial
        var menu = Menu.initial
        var promotions = Promotions.initial
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "outletVersion": outletVersion = try reader.integer()
            case "menuVersion": menuVersion = try reader.integer()
            case "promotionsVersion": promotionsVersion = try reader.integer()
            case "events":
                try reader.beginArray()
                while try reader.nextElement() {
                    do {
                        switch try OutletRecord.event(from: &reader) {
                        case .outlet(let event): try Outlet.evolve(&outlet, event)
                        case .menu(let event): try Menu.evolve(&menu, event)
                        case .promotions(let event): try Promotions.evolve(&promotions, event)
                        case .cart, .order, .supply, .deed: throw ImpossibleEvent("an event of another projection")
                        }
                    } catch {
                        throw reader.failure("a possible event (\(error))")
                    }
                }
            default: _ = try reader.rawValue()
            }
        }
        self.init(
            id: id, outlet: outlet, menu: menu, promotions: promotions, outletVersion: outletVersion,
            menuVersion: menuVersion, promotionsVersion: promotionsVersion, revision: revision)
    }

    /// Reads an event where it stands, as a menu can have thousands. Its payload comes last, as it was written.
    private static func event(from reader: inout JSONReader) throws -> DomainEvent {
        var (kind, version, event) = (UnsafeRawBufferPointer?.none, 1, DomainEvent?.none)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind": kind = try reader.rawValue()
            case "schemaVersion": version = Int(clamping: try reader.integer())
            case "payload":
                guard let kind, kind.first == UInt8(ascii: "\"") else {
                    throw reader.failure("an event's kind before its payload")
                }
                let name = UnsafeRawBufferPointer(rebasing: kind.dropFirst().dropLast())
                event = try EventCodec.decode(name, version, from: &reader)
            default: _ = try reader.rawValue()
            }
        }
        guard let event else { throw reader.failure("an event's payload") }
        return event
    }

    private var history: [DomainEvent] {
        var events: [DomainEvent] = []
        switch outlet {
        case .unregistered: break
        case .registered(let details, let status, let isHidden):
            events.append(.outlet(.registered(details)))
            switch status {
            case .closed: break
            case .open: events.append(.outlet(.opened))
            case .resting(let opensAt): events.append(.outlet(.closedByHours(opensAt: opensAt)))
            case .slow(let minutes, let until):
                events += [.outlet(.opened), .outlet(.slowed(minutes: minutes, until: until))]
            case .paused(let until, let reason): events.append(.outlet(.paused(until: until, reason: reason)))
            }
            if isHidden { events.append(.outlet(.hidden)) }
            if details.daypartTimes != .none { events.append(.outlet(.daypartsChanged(details.daypartTimes))) }
        case .removed(let details): events += [.outlet(.registered(details)), .outlet(.removed)]
        }
        // Before the items, so that what follows for these is worked out once.
        for group in menu.groups.list {
            events.append(.menu(.groupPut(group)))
            for option in group.options {
                if menu.groups.usedUp.contains(option.id) {
                    events.append(.menu(.optionSuspended(option.id, until: nil, by: .stock)))
                }
                guard let suspension = menu.groups.suspensions[option.id] else { continue }
                events.append(.menu(.optionSuspended(option.id, until: suspension.until)))
            }
        }
        for section in menu.sections {
            events.append(.menu(.sectionAdded(section.header, before: nil)))
            for id in section.items {
                guard let entry = menu.entries[id] else { continue }
                events.append(.menu(.itemAdded(entry.item, section: section.header.id, before: nil)))
                if menu.usedUpItems.contains(id) {
                    events.append(.menu(.itemSuspended(id, until: nil, by: .stock)))
                }
                if let suspension = entry.ownSuspension {
                    events.append(.menu(.itemSuspended(id, until: suspension.until)))
                }
            }
        }
        // Last, as a menu that changes is no longer what its source was found to hold.
        if let feed = menu.feed { events.append(.menu(.feedChecked(feed))) }
        events += promotions.list.map { .promotions(.put($0)) }
        events += promotions.spent.sorted().map { .promotions(.spent($0)) }
        return events
    }
}
