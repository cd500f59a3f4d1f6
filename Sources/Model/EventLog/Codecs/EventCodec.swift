internal import Domain
public import TextFormats

/// Writes events as JSON text and reads them back, whatever version of the schema they were written with.
///
/// A payload's keys may come in any order, and unknown keys are ignored, so that an older server can read fields that a
/// newer one adds. Any other change of shape gets a new schema version and an ``Upcaster`` step from the previous one.
/// A version newer than the current one is refused, because its keys may mean something else.
public enum EventCodec {
    /// The event's kind and payload, in the present schema.
    public static func encode(_ event: DomainEvent) -> (kind: EventKind, payload: [UInt8]) {
        var encoder = EventEncoder()
        return encoder.encode(event)
    }

    fileprivate static func encode(
        _ event: DomainEvent, with writer: inout JSONWriter
    ) -> (kind: EventKind, payload: [UInt8]) {
        writer.removeAll()
        writer.beginObject()
        let name =
            switch event {
            case .outlet(let event): OutletEventCodec.encode(event, to: &writer)
            case .menu(let event): MenuEventCodec.encode(event, to: &writer)
            case .cart(let event): CartEventCodec.encode(event, to: &writer)
            case .order(let event): OrderEventCodec.encode(event, to: &writer)
            case .supply(let event): SupplyEventCodec.encode(event, to: &writer)
            case .promotions(let event): PromotionCodec.encode(event, to: &writer)
            case .deed(let event): DeedCodec.encode(event, to: &writer)
            }
        writer.endObject()
        return (EventKind(name: name, schemaVersion: version(of: event, name)), writer.bytes)
    }

    /// The version of its kind's schema that an event is written with.
    public static func version(of event: DomainEvent, _ kind: String) -> Int {
        Upcaster.version(of: kind, saying: event.novelty)
    }

    /// The present version of a kind's schema.
    public static func currentVersion(of kind: String) -> Int { Upcaster.currentVersion(of: kind) }

    /// The event of a kind and payload.
    public static func decode(_ kind: EventKind, _ payload: [UInt8]) throws(EventDecodingError) -> DomainEvent {
        let name = Array(kind.name.utf8)
        return try name.withUnsafeBufferPointer { name throws(EventDecodingError) in
            try payload.withUnsafeBufferPointer { payload throws(EventDecodingError) in
                try decode(EventName(UnsafeRawBufferPointer(name)), kind.schemaVersion, UnsafeRawBufferPointer(payload))
            }
        }
    }

    /// The event of a kind, a version of its schema and a payload, which need not outlive the call.
    ///
    /// - Parameter name: the bytes of the kind's name.
    public static func decode(
        _ name: UnsafeRawBufferPointer, _ version: Int, _ payload: UnsafeRawBufferPointer
    ) throws(EventDecodingError) -> DomainEvent {
        try decode(EventName(name), version, payload)
    }

    static func decode(
        _ name: EventName, _ version: Int, _ payload: UnsafeRawBufferPointer
    ) throws(EventDecodingError) -> DomainEvent {
        var reader = JSONReader(payload)
        let event = try decode(name, version, from: &reader)
        do throws(JSONReadingError) {
            try reader.end()
        } catch {
            throw EventDecodingError("\(name) version \(version): \(error)")
        }
        return event
    }

    /// The event of a kind and a version of its schema, whose payload comes next in a text.
    ///
    /// - Parameter name: the bytes of the kind's name.
    public static func decode(
        _ name: UnsafeRawBufferPointer, _ version: Int, from reader: inout JSONReader
    ) throws(EventDecodingError) -> DomainEvent {
        try decode(EventName(name), version, from: &reader)
    }

    private static func decode(
        _ name: EventName, _ version: Int, from reader: inout JSONReader
    ) throws(EventDecodingError) -> DomainEvent {
        let schema = Upcaster.schema(of: name)
        guard (1...schema.version).contains(version) else {
            throw EventDecodingError("\(name) version \(version): no such version is known here")
        }
        do throws(JSONReadingError) {
            let event =
                if version >= schema.firstReadable {
                    try decode(name, &reader)
                } else {
                    try JSONReader.read(Upcaster.upcast(try reader.rawValue(), by: schema.steps[(version - 1)...])) {
                        reader throws(JSONReadingError) in try decode(name, &reader)
                    }
                }
            if let event { return event }
        } catch {
            throw EventDecodingError("\(name) version \(version): \(error)")
        }
        throw EventDecodingError("\(name) version \(version): unknown, or a field is missing or out of range")
    }

    private static func decode(
        _ name: EventName, _ reader: inout JSONReader
    ) throws(JSONReadingError) -> DomainEvent? {
        if name.hasPrefix("cart.") { return try CartEventCodec.decode(name, &reader).map(DomainEvent.cart) }
        if name.hasPrefix("order.") { return try OrderEventCodec.decode(name, &reader).map(DomainEvent.order) }
        if name.hasPrefix("menu.") { return try MenuEventCodec.decode(name, &reader).map(DomainEvent.menu) }
        if name.hasPrefix("outlet.") { return try OutletEventCodec.decode(name, &reader).map(DomainEvent.outlet) }
        if name.hasPrefix("supply.") { return try SupplyEventCodec.decode(name, &reader).map(DomainEvent.supply) }
        if name.hasPrefix("promotions.") { return try PromotionCodec.decode(name, &reader).map(DomainEvent.promotions) }
        if ["customer.", "user.", "relay."].contains(where: name.hasPrefix) {
            return try DeedCodec.decode(name, &reader).map(DomainEvent.deed)
        }
        return nil
    }
}

/// Encodes one event after the other, in the same memory.
public struct EventEncoder: Sendable {
    private var writer = JSONWriter(reservingCapacity: 512)

    /// An encoder.
    public init() {}

    /// The event's kind and payload, in the present schema.
    public mutating func encode(_ event: DomainEvent) -> (kind: EventKind, payload: [UInt8]) {
        EventCodec.encode(event, with: &writer)
    }
}

/// A payload that cannot be understood.
public struct EventDecodingError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, for an operator.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
