import Domain
import EventLog
import EventLogContract
import Testing
import TextFormats

@Suite struct `Recorded events` {
    // MARK: Metadata

    @Test(arguments: [
        (EventMetadata.none, "{}"),
        (EventMetadata(commandID: "a\"b", fingerprint: "0f"), #"{"id":"a\"b","args":"0f"}"#),
        (EventMetadata(commandID: "a", fingerprint: nil), #"{"id":"a"}"#),
        (
            EventMetadata(commandID: "a", fingerprint: "0f", flow: "f", actor: "b", cause: "order-x@3"),
            #"{"id":"a","args":"0f","flow":"f","actor":"b","cause":"order-x@3"}"#
        ),
        (EventMetadata(commandID: nil, fingerprint: nil, flow: "f"), #"{"flow":"f"}"#),
        (
            EventMetadata(
                commandID: nil, fingerprint: nil,
                trace: TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")),
            #"{"trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}"#
        ),
        (
            EventMetadata(commandID: nil, fingerprint: nil, actor: "asha", claim: .besides("boss")),
            #"{"actor":"asha","claim":"boss"}"#
        ),
        (
            EventMetadata(commandID: nil, fingerprint: nil, actor: "asha", claim: .besides(nil)),
            #"{"actor":"asha","claim":null}"#
        ),
        (
            .byItself(because: StreamName(.order, Identifier("x")!), version: 3),
            #"{"actor":"tiffin","cause":"order-x@3"}"#
        ),
    ])
    func `Metadata reads back as it was written`(_ metadata: EventMetadata, _ text: String) throws {
        #expect(String(decoding: metadata.encoded(), as: UTF8.self) == text)
        #expect(try EventMetadata(decoding: Array(text.utf8)) == metadata)
    }

    @Test func `Metadata ignores unknown keys`() throws {
        let text = #" { "weather" : [ 1 , { } ] , "args" : "f" , "id" : "a" } "#
        #expect(try EventMetadata(decoding: Array(text.utf8)) == EventMetadata(commandID: "a", fingerprint: "f"))
        #expect(try EventMetadata(decoding: Array("{ }".utf8)) == .none)
    }

    @Test(arguments: [
        "", "null", "[]", "{", #"{"id":1}"#, #"{"id":"a"}x"#, #"{"args":{}}"#, #"{"flow":1}"#, #"{"actor":[]}"#,
        #"{"claim":1}"#,
    ])
    func `Malformed metadata is an error`(_ text: String) {
        #expect(throws: (any Error).self) { try EventMetadata(decoding: Array(text.utf8)) }
    }

    // MARK: Decoding

    private static let event = RecordedEvent(
        partition: 2, position: 7, stream: "cart-c1", version: 3,
        kind: EventKind(name: "cart.cleared", schemaVersion: 1), payload: Array(#"{"count":5}"#.utf8),
        metadata: Array(#"{"id":"x","args":"f"}"#.utf8), recordedAt: Timestamp(millisecondsSinceEpoch: 9))

    @Test(arguments: ["outlet-c1", "menu-c1", "order-c1"])
    func `An event in another kind of stream is corrupt`(_ stream: String) {
        var event = Self.event
        event.stream = stream
        #expect(throws: CorruptEvent.self) { try event.decoded() }
    }

    @Test func `A recorded event is decoded with everything that is recorded with it`() throws {
        let decoded = try Self.event.decoded()
        #expect(decoded.partition == 2)
        #expect(decoded.position == 7)
        #expect(decoded.stream == .cart("c1"))
        #expect(decoded.version == 3)
        #expect(decoded.event == .cart(.cleared(count: 5)))
        #expect(decoded.metadata == EventMetadata(commandID: "x", fingerprint: "f"))
        #expect(decoded.recordedAt == Timestamp(millisecondsSinceEpoch: 9))
    }

    @Test(
        arguments: [
            event.with(\.stream, "basket-c1"), event.with(\.stream, ""), event.with(\.kind.name, "cart.unknown"),
            event.with(\.kind.schemaVersion, 2), event.with(\.payload, Array(#"{"count":1"#.utf8)),
            event.with(\.metadata, Array("{".utf8)),
        ])
    func `An event that cannot be understood says where it is`(_ event: RecordedEvent) {
        let error = #expect(throws: CorruptEvent.self) { try event.decoded() }
        #expect(error?.partition == 2)
        #expect(error?.position == 7)
        #expect(error?.stream == event.stream)
        #expect(error?.reason.isEmpty == false)
    }

    // MARK: Stream names

    @Test(arguments: [
        ("outlet-o1", StreamName.Category.outlet, "o1"), ("menu-o1", .menu, "o1"), ("cart-a-b", .cart, "a-b"),
        ("order--", .order, "-"), ("cart-cart-1", .cart, "cart-1"),
    ])
    func `A stream's name reads back as it was written`(_ text: String, _ category: StreamName.Category, _ id: String) {
        let name = StreamName(category, Identifier(id)!)
        #expect(name.description == text)
        #expect(StreamName(text) == name)
    }

    @Test(arguments: [
        "", "-", "cart", "cart-", "-c1", "Cart-c1", "carts-c1", " cart-c1", "cart-c 1", "cart–c1", "cart_c1",
        "cart-\(String(repeating: "x", count: 65))",
    ])
    func `Other text is not a stream's name`(_ text: String) {
        #expect(StreamName(text) == nil)
    }

    // MARK: Aggregates

    @Test func `An event of another kind of stream is impossible`() throws {
        let events = try GoldenEvent.all.map { try ($0.event, #require(StreamName.Category($0.kind))) }
        for category in StreamName.Category.allCases {
            for (event, own) in events where own != category {
                var state = AggregateState(initial: category)
                #expect(throws: ImpossibleEvent.self) { try state.evolve(event) }
                #expect(state == AggregateState(initial: category))
            }
        }
    }
}

extension StreamName.Category {
    fileprivate init?(_ kind: EventKind) {
        self.init(rawValue: String(kind.name.prefix { $0 != "." }))
    }
}

extension RecordedEvent {
    fileprivate func with<Value>(_ path: WritableKeyPath<RecordedEvent, Value>, _ value: Value) -> RecordedEvent {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }
}
