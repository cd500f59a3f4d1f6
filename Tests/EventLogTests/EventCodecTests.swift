import Domain
import EventLogContract
import SeededRandom
import Testing
import TextFormats

@testable import EventLog

@Suite struct `Events as text` {
    // MARK: The present schema

    @Test(arguments: GoldenEvent.all)
    func `An event has exactly the text it always had`(_ golden: GoldenEvent) throws {
        let (kind, payload) = EventCodec.encode(golden.event)
        #expect(kind == golden.kind)
        #expect(String(decoding: payload, as: UTF8.self) == golden.text)
        #expect(try EventCodec.decode(golden.kind, Array(golden.text.utf8)) == golden.event)
    }

    @Test(arguments: [
        ("", ""), (#","prices":{"large":150}"#, #","prices":{"large":150}"#),
        (#","servicePrices":{"pickup":90}"#, #","prices":{"pickup":90}"#),
        (#","prices":{"large":150},"servicePrices":{"pickup":90}"#, #","prices":{"large":150,"pickup":90}"#),
    ])
    func `A menu shows the prices of an option by size and by service in one object`(
        recorded: String, shown: String
    ) throws {
        func text(_ prices: String) -> String {
            #"{"id":"g","title":"G","min":0,"max":1,"options":[{"id":"o","name":"O","price":100\#(prices)}]}"#
        }
        let kind = EventKind(name: "menu.groupPut", schemaVersion: 1)
        guard case .menu(.groupPut(let group)) = try EventCodec.decode(kind, Array(text(recorded).utf8)) else {
            Issue.record("no group")
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        OptionGroupCodec.encode(group, to: &writer) { _, _ in }
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text(shown))
    }

    @Test func `A menu shows an option with all that its event has`() throws {
        let group = #"""
            {"id":"g","title":"G","min":1,"max":3,"free":1,"options":[{"id":"o","name":"O","price":0,"item":"i",\#
            "tax":"t","default":2,"max":3,"groups":["h","k"]}]}
            """#
        let kind = EventKind(name: "menu.groupPut", schemaVersion: 1)
        guard case .menu(.groupPut(let read)) = try EventCodec.decode(kind, Array(group.utf8)) else {
            Issue.record("no group")
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        OptionGroupCodec.encode(read, to: &writer) { _, _ in }
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == group)
    }

    @Test func `Every event has its golden text`() {
        #expect(Set(GoldenEvent.all.map { EventCase($0.event) }) == Set(EventCase.allCases))
    }

    @Test(arguments: EventCase.allCases)
    func `An event reads back as it was written, to the byte`(_ eventCase: EventCase) throws {
        for seed in SeededGenerator.seeds {
            var random = SeededGenerator(seed: seed)
            let event = eventCase.random(&random)
            let (kind, payload) = EventCodec.encode(event)
            #expect(kind.name == eventCase.rawValue)
            #expect(try JSONValue(payload).written == payload)
            let decoded = try EventCodec.decode(kind, payload)
            #expect(decoded == event)
            #expect(EventCodec.encode(decoded).payload == payload)
        }
    }

    // MARK: What later writers may do

    @Test(arguments: GoldenEvent.all)
    func `Keys may come in any order`(_ golden: GoldenEvent) throws {
        // Changed details are in the order of their keys, which makes no difference to the result.
        if case .outlet(.detailsChanged) = golden.event { return }
        guard case .object(let members) = try JSONValue(Array(golden.text.utf8)) else { return }
        let reversed = JSONValue.object(members.reversed())
        #expect(try EventCodec.decode(golden.kind, reversed.written) == golden.event)
    }

    @Test(arguments: GoldenEvent.all)
    func `An unknown key is ignored`(_ golden: GoldenEvent) throws {
        var payload = try JSONValue(Array(golden.text.utf8))
        payload["addedLater"] = try JSONValue(Array(#"{"deep":[null,{"x":1.5e3}]}"#.utf8))
        #expect(try EventCodec.decode(golden.kind, payload.written) == golden.event)
    }

    @Test(arguments: GoldenEvent.all, [.min, -1, 0, 100, .max])
    func `An unknown schema version is refused`(_ golden: GoldenEvent, _ version: Int) {
        #expect(throws: EventDecodingError.self) {
            try EventCodec.decode(EventKind(name: golden.kind.name, schemaVersion: version), Array(golden.text.utf8))
        }
    }

    @Test(arguments: GoldenEvent.all)
    func `The next schema version is refused, not guessed`(_ golden: GoldenEvent) {
        let next = EventKind(name: golden.kind.name, schemaVersion: EventCodec.currentVersion(of: golden.kind.name) + 1)
        #expect(throws: EventDecodingError.self) { try EventCodec.decode(next, Array(golden.text.utf8)) }
    }

    // MARK: What cannot be understood

    @Test(arguments: [
        "", "cart", "cart.", "cart.unknown", "Cart.cleared", "cart.cleared ", "order.unknown", "menu.unknown",
        "outlet.unknown", "customer.registered", "outlet", ".registered",
    ])
    func `An unknown kind is refused`(_ name: String) {
        for golden in GoldenEvent.all {
            #expect(throws: EventDecodingError.self) {
                try EventCodec.decode(EventKind(name: name, schemaVersion: 1), Array(golden.text.utf8))
            }
        }
    }

    @Test(arguments: ["", "null", "[]", "1", "\"\"", "{", "{}{}", #"{"id":}"#, "\u{FEFF}{}"])
    func `A payload that is not an object is refused`(_ payload: String) {
        for golden in GoldenEvent.all {
            #expect(throws: EventDecodingError.self) { try EventCodec.decode(golden.kind, Array(payload.utf8)) }
        }
    }

    @Test(arguments: GoldenEvent.all)
    func `A missing field is refused, or was not needed`(_ golden: GoldenEvent) throws {
        let payload = try JSONValue(Array(golden.text.utf8))
        for damaged in payload.withoutOneMember {
            guard let event = try? EventCodec.decode(golden.kind, damaged.written) else { continue }
            #expect(EventCodec.encode(event).payload == damaged.written, "\(damaged.text)")
        }
    }

    @Test(arguments: GoldenEvent.all)
    func `A value of any other shape or size never traps`(_ golden: GoldenEvent) throws {
        let others = [
            "\(Int64.min)", "\(Int64.max)", "9223372036854775808", "-1", "0", "501", "1.5", "1e2", "null", "true",
            "\"\"", "\"x y\"", "[]", "{}", "[1]", "[null]", "[{}]",
        ].map { try! JSONValue(Array($0.utf8)) }
        let payload = try JSONValue(Array(golden.text.utf8))
        for damaged in payload.withOneValue(replacedBy: others) { expectStable(golden.kind, damaged.written) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `A damaged payload never traps`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for golden in GoldenEvent.all {
            for _ in 0..<20 {
                var payload = Array(golden.text.utf8)
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let index = Int.random(in: payload.indices, using: &random)
                    payload[index] = random.pick(Array("{}[]:,\"\\0129-.eun".utf8) + [0x00, 0xC3, 0xFF])
                }
                expectStable(golden.kind, payload)
            }
        }
    }

    @Test(
        "A value out of its range is refused",
        arguments: [
            ("outlet.detailsChanged", #"{"ratingHundredths":501}"#),
            ("outlet.detailsChanged", #"{"ratingHundredths":-1}"#),
            ("outlet.detailsChanged", #"{"ratingHundredths":9223372036854775807}"#),
            ("outlet.detailsChanged", #"{"hours":[{"day":"monday","opens":0,"closes":9223372036854775807}]}"#),
            ("outlet.detailsChanged", #"{"hours":[{"day":"monday","opens":-9223372036854775808,"closes":1}]}"#),
            ("outlet.detailsChanged", #"{"hours":[{"day":"Monday","opens":0,"closes":1}]}"#),
            ("outlet.paused", #"{"until":9223372036854775808}"#),
            ("menu.sectionRemoved", #"{"id":"not an id"}"#),
            ("menu.sectionMoved", #"{"id":"a","before":"not an id"}"#),
            ("menu.itemMoved", #"{"id":"a","section":""}"#), ("menu.feedChecked", #"{"state":"good","at":1}"#),
            ("menu.feedChecked", #"{"state":"ready"}"#),
            ("menu.itemChanged", #"{"id":"a","kind":"k","name":"A","images":[{"alt":"A"}]}"#),
            ("menu.itemChanged", #"{"id":"a","kind":"k","name":"A","links":[{"url":"/a"}]}"#),
            ("menu.itemChanged", #"{"id":"a","kind":"k","name":"A","links":[{"rel":"a b","url":"/a"}]}"#),
            (
                "menu.sectionChanged",
                #"{"id":"a","title":"A","kind":"menuItems","style":"horizontalCard","width":0,"height":1}"#
            ),
            (
                "menu.sectionChanged",
                #"{"id":"a","title":"A","kind":"menuItems","style":"horizontalCard","width":9223372036854775807,"height":1}"#
            ),
            ("cart.quantityChanged", #"{"line":"a","from":1,"to":0}"#),
            ("cart.quantityChanged", #"{"line":"a","from":1,"to":-9223372036854775808}"#),
            (
                "cart.itemAdded",
                #"{"outlet":"o","currency":"INR","line":"a","item":"a","name":"A","quantity":0,"unitPrice":1}"#
            ),
            (
                "cart.itemAdded",
                #"{"outlet":"o","currency":"inr","line":"a","item":"a","name":"A","quantity":1,"unitPrice":1}"#
            ),
            ("order.placed", #"{"cart":"c","outlet":"o","currency":"INR","lines":[{}],"total":1}"#),
            ("cart.serviceChosen", #"{"service":"drone"}"#), ("cart.serviceChosen", #"{"table":"4"}"#),
            ("outlet.detailsChanged", #"{"services":{"drone":{}}}"#),
            ("outlet.detailsChanged", #"{"services":{"table":{"requires":["hat"]}}}"#),
            ("menu.itemChanged", #"{"id":"a","kind":"k","name":"A","prices":{"drone":1}}"#),
        ])
    func outOfRange(_ name: String, _ payload: String) {
        #expect(throws: EventDecodingError.self) {
            try EventCodec.decode(EventKind(name: name, schemaVersion: 1), Array(payload.utf8))
        }
    }

    /// Expects an error, or an event that reads back as it is written.
    private func expectStable(
        _ kind: EventKind, _ payload: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let event = try? EventCodec.decode(kind, payload) else { return }
        let again = EventCodec.encode(event)
        #expect((try? EventCodec.decode(again.kind, again.payload)) == event, sourceLocation: sourceLocation)
    }
}

extension JSONValue {
    /// The value as JSON.
    var written: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    fileprivate var text: String { String(decoding: written, as: UTF8.self) }

    /// The value without one of its members, at any depth, for each of them.
    fileprivate var withoutOneMember: [JSONValue] {
        guard case .object(let members) = self else { return inside(\.withoutOneMember) }
        return members.indices.map { index in
            var others = members
            others.remove(at: index)
            return .object(others)
        } + inside(\.withoutOneMember)
    }

    /// The value with one of its parts, at any depth, replaced by each of the others.
    fileprivate func withOneValue(replacedBy others: [JSONValue]) -> [JSONValue] {
        others + inside { $0.withOneValue(replacedBy: others) }
    }

    /// The value with one of its direct parts changed in each way that `change` gives.
    private func inside(_ change: (JSONValue) -> [JSONValue]) -> [JSONValue] {
        switch self {
        case .null, .bool, .number, .string: return []
        case .array(let elements):
            return elements.indices.flatMap { index in
                change(elements[index]).map { changed in
                    var elements = elements
                    elements[index] = changed
                    return .array(elements)
                }
            }
        case .object(let members):
            return members.indices.flatMap { index in
                change(members[index].value).map { changed in
                    var members = members
                    members[index].value = changed
                    return .object(members)
                }
            }
        }
    }
}
