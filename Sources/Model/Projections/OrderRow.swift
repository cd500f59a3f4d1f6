public import Domain
public import EventLog
internal import TextFormats

/// A row of `orders`.
public struct OrderRow: ValueRow {
    public static let columns = [
        Column("order_id", .text), Column("position", .int64), Column("outlet", .text), Column("customer", .text),
        Column("status", .text), Column("version", .int32), Column("count", .int32), Column("currency", .text),
        Column("total", .int64), Column("placed_at", .int64), Column("changed_at", .int64),
        Column("snapshot", .json, isPrinted: false), Column("paid", .int64), Column("doubt", .int32),
        Column("tax", .int64), Column("refunded", .int64), Column("refunded_tax", .int64), Column("service", .text),
    ]

    /// The order.
    public let order: Identifier
    /// The outlet that cooks it.
    public let outlet: Identifier
    /// Who ordered, where that was said.
    public let customer: Identifier?
    /// What was ordered, as long as it is open and its life is followed.
    public let open: Orders.Open?
    let standing: Orders.Standing

    init(
        order: Identifier, standing: Orders.Standing, outlet: Identifier, customer: Identifier?, open: Orders.Open?
    ) {
        self.order = order
        self.standing = standing
        self.outlet = outlet
        self.customer = customer
        self.open = open
    }

    public init(key: Identifier, value: OrderRow) { self = value }

    /// The cart that it was placed from, as long as it is open and its life is followed.
    public var cart: Identifier? { open?.book.placement.cart }
    /// How far it has come.
    public var status: Order.Status { Order.Status(standing.status) }
    /// The version of its stream.
    public var version: Int64 { Int64(standing.version) }
    /// The sum of its quantities.
    public var count: Int { Int(standing.count) }
    /// The currency of its prices.
    public var currency: Currency { standing.currency }
    /// How it is had; nil where there was nothing to choose.
    public var service: ServiceKind? { ServiceKind(number: standing.service) }
    /// What it costs.
    public var total: Amount { Amount(minorUnits: standing.total) }
    /// How much of the total is tax, in prices or on top, in minor units.
    public var tax: Int64 { standing.tax }
    /// What was given back, in minor units.
    public var refunded: Int64 { standing.refunded }
    /// How much of that is tax, in minor units.
    public var refundedTax: Int64 { standing.refundedTax }
    /// What was paid and not given back, in minor units.
    public var paid: Int64 { standing.paid }
    /// Whether something that was reported of its payment cannot be.
    public var isInDoubt: Bool { standing.isInDoubt }
    /// The position of its first event.
    public var position: Int64 { standing.position }
    /// When its first event was recorded.
    public var placedAt: Timestamp { Timestamp(millisecondsSinceEpoch: standing.placedAt) }
    /// When its last event was recorded.
    public var changedAt: Timestamp { Timestamp(millisecondsSinceEpoch: standing.changedAt) }

    public init(_ stored: StoredRow) throws(UnreadableValue) {
        let customer = stored.bytes(3)
        let service = String(decoding: stored.bytes(17), as: UTF8.self)
        guard let outlet = Identifier(String(decoding: stored.bytes(2), as: UTF8.self)),
            let status = Order.Status(rawValue: String(decoding: stored.bytes(4), as: UTF8.self)),
            let currency = Currency(String(decoding: stored.bytes(7), as: UTF8.self)), stored.int32(5) > 0,
            (1...LogHead.maximumPosition).contains(stored.int64(1)),
            (0...1).contains(stored.int32(13)), (0...max(0, stored.int64(8))).contains(stored.int64(15)),
            stored.int64(16) >= 0, service.isEmpty || ServiceKind(rawValue: service) != nil,
            customer.isEmpty || Identifier(String(decoding: customer, as: UTF8.self)) != nil
        else {
            throw UnreadableValue(
                "its position, outlet, customer, status, version, currency, doubt, refunds or service")
        }
        order = try stored.key()
        self.outlet = outlet
        self.customer = Identifier(String(decoding: customer, as: UTF8.self))
        standing = Orders.Standing(
            position: stored.int64(1), last: 0, placedAt: stored.int64(9), changedAt: stored.int64(10),
            total: stored.int64(8), tax: stored.int64(14), refunded: stored.int64(15), refundedTax: stored.int64(16),
            paid: stored.int64(12), version: stored.int32(5), count: stored.int32(6), outlet: 0, customer: 0,
            currency: currency, status: status.number, service: ServiceKind(rawValue: service).number,
            isInDoubt: stored.int32(13) == 1)
        let snapshot = stored.bytes(11)
        open = snapshot.isEmpty ? nil : try Orders.Open(status, snapshot)
    }

    public func write(to columns: inout some RowWriter) {
        columns.text(order.rawValue)
        columns.int64(standing.position)
        columns.text(outlet.rawValue)
        columns.text(customer?.rawValue ?? "")
        columns.text(status.rawValue)
        columns.int32(standing.version)
        columns.int32(standing.count)
        columns.text(currency.code)
        columns.int64(standing.total)
        columns.int64(standing.placedAt)
        columns.int64(standing.changedAt)
        columns.json(open?.snapshot ?? [])
        columns.int64(standing.paid)
        columns.int32(standing.isInDoubt ? 1 : 0)
        columns.int64(standing.tax)
        columns.int64(standing.refunded)
        columns.int64(standing.refundedTax)
        columns.text(service?.rawValue ?? "")
    }

    public var key: Identifier { order }

    public var size: Int { 200 + (open?.placed.count ?? 0) }

    /// The row's digest: over its columns in decimal or as they are, with a zero byte between two.
    public var digest: Digest {
        let columns = [
            order.rawValue, "\(standing.position)", outlet.rawValue, customer?.rawValue ?? "", status.rawValue,
            "\(standing.version)", "\(standing.count)", currency.code, "\(standing.total)", "\(standing.placedAt)",
            "\(standing.changedAt)", "\(standing.paid)", standing.isInDoubt ? "1" : "0", "\(standing.tax)",
            "\(standing.refunded)", "\(standing.refundedTax)", service?.rawValue ?? "",
        ]
        return Digest.of(Array(columns.joined(separator: "\0").utf8) + [0] + (open?.snapshot ?? []))
    }

    public static func == (one: OrderRow, other: OrderRow) -> Bool { one.digest == other.digest }
}

extension Orders.Open {
    /// What a restart begins with: the first event, and what was said since.
    fileprivate var snapshot: [UInt8] {
        var writer = JSONWriter(reservingCapacity: placed.count + 100)
        writer.beginObject()
        writer.field("schemaVersion", schemaVersion)
        if let time = book.acceptBy { writer.field("acceptBy", time.millisecondsSinceEpoch) }
        if let time = book.payBy { writer.field("payBy", time.millisecondsSinceEpoch) }
        if let time = book.readyBy { writer.field("readyBy", time.millisecondsSinceEpoch) }
        if !book.payments.reports.isEmpty {
            writer.key("payments")
            PaymentCodec.encode(book.payments.reports, to: &writer)
        }
        if !book.changes.isEmpty {
            writer.key("changes")
            OrderChangeCodec.encode(book.changes, to: &writer)
        }
        writer.key("placed")
        writer.raw(placed)
        writer.endObject()
        return writer.bytes
    }

    fileprivate init(_ status: Order.Status, _ snapshot: [UInt8]) throws(UnreadableValue) {
        var kind = EventKind(name: "order.placed", schemaVersion: 1)
        var acceptBy: Timestamp?
        var payBy: Timestamp?
        var readyBy: Timestamp?
        var payments: [Order.Payment] = []
        var changes: [Order.ChangeRecord] = []
        var payload: [UInt8] = []
        do {
            try JSONReader.read(snapshot) { reader throws(JSONReadingError) in
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "schemaVersion": kind.schemaVersion = Int(clamping: try reader.integer())
                    case "acceptBy": acceptBy = Timestamp(millisecondsSinceEpoch: try reader.integer())
                    case "payBy": payBy = Timestamp(millisecondsSinceEpoch: try reader.integer())
                    case "payments": payments = try PaymentCodec.decode(from: &reader)
                    case "changes": changes = try OrderChangeCodec.records(from: &reader)
                    case "readyBy": readyBy = Timestamp(millisecondsSinceEpoch: try reader.integer())
                    case "placed": payload = Array(try reader.rawValue())
                    default: _ = try reader.rawValue()
                    }
                }
            }
            let event = try EventCodec.decode(kind, payload)
            guard case .order(.placed(let placement)) = event else { throw UnreadableValue("another event") }
            let present = EventCodec.version(of: event, kind.name)
            if kind.schemaVersion != present { payload = EventCodec.encode(event).payload }
            var state = Order.initial
            try Order.evolve(&state, .placed(placement))
            guard var book = state.book else { throw UnreadableValue("another event") }
            book.placement.lines = []
            book.placement.name = nil
            book.placement.handover = .none
            book.placement.pricing = .none
            book.changes = changes
            book.status = status
            book.acceptBy = acceptBy
            book.payBy = payBy
            book.setReady(by: readyBy)
            book.promiseChanges = []
            for payment in payments { book.payments.take(payment) }
            self.init(book: book, placed: payload, schemaVersion: present)
        } catch {
            throw UnreadableValue("its snapshot: \(error)")
        }
    }
}
