import Domain
import Projections
import TextFormats

@testable import EventLog

/// Whatever a log holds is read, folded and shown, or told to be corrupt. The bytes are the lines of a batch.
enum EventTarget {
    private static let time = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)

    static func check(_ input: [UInt8]) throws {
        let count = Int64(1 + input.count { $0 == UInt8(ascii: "\n") })
        var broken: BrokenPromise?
        var log = Log()
        input.withUnsafeBytes { lines in
            EventLines.forEach(in: lines, count, partition: 0, firstPosition: 1, recordedAt: time) { event in
                do throws(BrokenPromise) {
                    try log.take(event)
                } catch {
                    broken = error
                }
            }
        }
        if let broken { throw broken }
        try log.show()
    }

    private struct Log {
        private var model = ReadModel(partition: 0)
        private var states: [StreamName: (state: AggregateState, version: Int64)] = [:]
        private var payloads = DecodedPayloads(remembering: 4)

        mutating func take(_ event: EventView) throws(BrokenPromise) {
            if event.position > model.position + 1 { model.pass(missing: model.position + 1...event.position - 1) }
            try checkDocument(of: event.recorded)
            let decoded = Result { () throws(CorruptEvent) in try event.decoded() }
            let again = Result { () throws(CorruptEvent) in try event.decoded(&payloads) }
            try promise((try? decoded.get().event) == (try? again.get().event), "another event the second time")
            if case .success(let decoded) = decoded { try checkCodecs(decoded) }
            model.apply(decoded)
            if case .success(let decoded) = decoded { evolve(decoded) }
        }

        /// What `LOG.READ` shows, and reads back where it is an event of ours.
        private func checkDocument(of event: RecordedEvent) throws(BrokenPromise) {
            let document = LogDocument.bytes(of: event)
            try promise((try? JSONValue(document)) != nil, "not JSON: \(String(decoding: document, as: UTF8.self))")
            guard let payload = try? JSONValue(event.payload), payload.text == event.payload,
                case .object = payload, (try? event.decoded()) != nil, event.metadata == Array("{}".utf8)
            else { return }
            try promise((try? LogDocument.event(document)) == event, String(decoding: document, as: UTF8.self))
        }

        /// What was understood is written, as an event and as the line of a batch, so that it is understood again.
        private func checkCodecs(_ event: DecodedEvent) throws(BrokenPromise) {
            let (kind, payload) = EventCodec.encode(event.event)
            try promise(
                (try? EventCodec.decode(kind, payload)) == event.event, String(decoding: payload, as: UTF8.self))
            let metadata = event.metadata.encoded()
            let read = try? EventMetadata(decoding: metadata)
            try promise(
                read == event.metadata || event.metadata.commandID == nil, String(decoding: metadata, as: UTF8.self))

            let new = NewEvent(
                stream: event.stream, version: event.version, kind: kind, payload: payload, metadata: metadata)
            let lines = EventLines.lines(of: [new])
            var written: [[UInt8]] = []
            lines.withUnsafeBytes { lines in
                EventLines.forEach(in: lines, 1, partition: 0, firstPosition: 1, recordedAt: time) {
                    written.append($0.recorded.canonicalBytes)
                }
            }
            try promise(
                written == [new.canonicalBytes(recordedAt: time)], "line: \(String(decoding: lines, as: UTF8.self))")
        }

        private mutating func evolve(_ event: DecodedEvent) {
            var state = states[event.stream]?.state ?? AggregateState(initial: event.stream.category)
            guard (try? state.evolve(event.event)) != nil else { return }
            states[event.stream] = (state, event.version)
        }

        /// Every document that the events lead to is one.
        func show() throws(BrokenPromise) {
            for record in model.outletHome.shown {
                try expectDocument(HomeDocument.bytes(of: record))
                try expectDocument(OutletDocument.bytes(of: record))
                try expectDocument(MenuDocumentJSON.bytes(of: record))
            }
            for (stream, (state, version)) in states {
                switch state {
                case .cart(let cart):
                    _ = model.cartCounts.count(of: stream.id)
                    try expectDocument(
                        CartDocument.bytes(
                            of: stream.id, state: cart, version: version, updatedAt: time, texts: .none
                        ) { model.outletHome.offers(for: $0, at: $1.outlet, for: $1.service, now: time) })
                    try expectDocument(
                        QuoteDocument.bytes(
                            of: stream.id, state: cart, version: version, texts: .none,
                            offers: { model.outletHome.offers(for: $0, at: $1.outlet, for: $1.service, now: time) },
                            details: { model.outletHome[$0.outlet]?.details?.details }))
                case .order(.placed(let book)):
                    try expectDocument(
                        OrderDocument.bytes(
                            of: stream.id, book: book, version: version, updatedAt: time, texts: .none))
                case .supply(let supply):
                    try expectDocument(
                        StockDocument.bytes(of: stream.id, supply, version: version) { _ in nil })
                case .order, .outlet, .menu, .promotions, .deed: break
                }
            }
        }

        private func expectDocument(_ bytes: [UInt8]) throws(BrokenPromise) {
            try promise((try? JSONValue(bytes)) != nil, "not a document: \(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
