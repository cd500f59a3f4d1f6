internal import Domain
public import EventLog

// Which orders a server holds, and how it comes to the others.
extension Orders {
    // MARK: Orders that are not held

    /// Orders that have to be held before these events are folded, each with the version before its first one.
    func missing(before events: some Sequence<StreamVersion>) -> [Identifier: Int64] {
        guard !holdsAll else { return [:] }
        var placed: Set<Identifier> = []
        var missing: [Identifier: Int64] = [:]
        for (stream, version) in events where Orders.follows(stream.category) {
            if version == 1 { placed.insert(stream.id) }
            guard missing[stream.id] == nil, !placed.contains(stream.id), orders.place(of: stream.id) == nil,
                quarantine[stream] == nil
            else { continue }
            missing[stream.id] = version - 1
        }
        return missing
    }

    /// Holds an order that is not held.
    ///
    /// - Parameters:
    ///   - history: its stream from its beginning.
    ///   - position: up to where events have been folded.
    mutating func hold(_ order: Identifier, _ history: [RecordedEvent], upTo position: Int64) {
        guard orders.place(of: order) == nil else { return }
        let folded = Orders(
            folding: history.prefix { $0.position <= position }.map { event in
                Result { () throws(CorruptEvent) in try event.decoded() }
            })
        for corruption in folded.quarantine.streams.values { quarantine.insert(corruption) }
        guard let row = folded.row(of: order) else { return }
        orders.insert(order, numbers(of: row))
        keepOpen(row)
    }

    /// Whether so many orders are held that it is worth letting go of some.
    var isFull: Bool { limit.map { orders.count - open.count > $0 + $0 / 2 } ?? false }

    /// Lets go of orders that are neither open nor among the newest, if they are many.
    ///
    /// - Parameters:
    ///   - saved: up to where rows are saved.
    ///   - needed: streams of which events will be folded.
    mutating func letGo(savedUpTo saved: Int64, except needed: Set<StreamName>) {
        guard let limit, isFull, saved > storedPosition else { return }
        let oldest = all.count - limit - 1
        if oldest >= 0 { floor = max(floor, min(saved, orders[all[oldest]].position)) }
        countSlots(upTo: floor)
        storedPosition = saved
        let old = self
        (orders, outlets, customers) = (IdentifierTable(), Names(), Names())
        (all, ofOutlet, ofCustomer) = ([], [:], [:])
        for place in old.all where old.orders[place].position > floor {
            keep(old.orders.key(at: place), old.orders[place], of: old)
        }
        for (order, standing) in old.orders.entries where standing.position <= floor {
            guard standing.last > saved || open[order] != nil || needed.contains(StreamName(.order, order)) else {
                continue
            }
            keep(order, standing, of: old)
        }
    }

    private mutating func keep(_ order: Identifier, _ standing: Standing, of old: Orders) {
        var standing = standing
        standing.outlet = outlets.number(of: old.outlets[standing.outlet])
        if standing.customer > 0 { standing.customer = customers.number(of: old.customers[standing.customer]) }
        let place = orders.insert(order, standing)
        if standing.position > floor { list(place, standing) }
    }

    // MARK: Slots

    /// How many orders have ids in a slot, of those that are known: all, once the stored rows were gone through.
    public func count(inSlot slot: HashSlot) -> Int {
        (slots.counts[slot.number] ?? 0) + places(after: slots.upTo).count { HashSlot(of: orders.key(at: $0)) == slot }
    }

    private func places(after position: Int64) -> ArraySlice<TablePlace> {
        all.dropFirst(count(in: all) { $0.position <= position })
    }

    /// Counts orders before they are let go of.
    private mutating func countSlots(upTo position: Int64) {
        for place in places(after: slots.upTo).prefix(while: { orders[$0].position <= position }) {
            slots.counts[HashSlot(of: orders.key(at: place)).number, default: 0] += 1
        }
        slots.upTo = max(slots.upTo, position)
    }

    /// Learns how many orders are stored, from one that was left all rows up to a position.
    mutating func learn(from restored: Orders, upTo position: Int64) { slots = (position, restored.slots.counts) }
}
