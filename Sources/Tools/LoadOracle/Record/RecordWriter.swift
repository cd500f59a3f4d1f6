// A record of a run: a line of JSON for each observation, in their order. The first line describes the world, and the
// last says how many lines come before. Times are nanoseconds since the first one.

internal import LineProtocol
internal import TextFormats

/// Writes observations as the lines of a record. Its memory does not grow with the run.
package struct RecordWriter {
    /// The format of the lines; it rises when the meaning of one changes.
    static let format = 3
    /// Texts of at least this many bytes are written once, and then referred to by number …
    static let longText = 1_024
    /// … until there are this many of them: then they are forgotten.
    static let keptTexts = 128

    private let world: World
    private var writer = JSONWriter()
    private var waiting: [UInt8] = []
    private var lines = 0
    private var start: UInt64?
    private var texts: [[UInt8]: Int] = [:]
    private var textCount = 0

    /// A record of the run that `command` repeats.
    package init(_ world: World, connections: Int, command: String) {
        self.world = world
        let plan = world.plan
        writer.beginObject()
        writer.field("record", RecordWriter.format)
        writer.field("command", command)
        writer.field("name", plan.name)
        writer.field("seed", "\(plan.seed)")
        writer.field("customers", plan.customers)
        writer.field("connections", connections)
        writer.field("outlets", plan.size.outlets)
        writer.field("items", plan.size.items)
        writer.field("carts", plan.size.carts)
        writer.field("kitchens", plan.size.kitchens)
        writer.endObject()
        endLine()
    }

    /// How many bytes wait to be taken.
    package var count: Int { waiting.count }

    /// The bytes that wait.
    package mutating func takeBytes() -> [UInt8] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting
    }

    private mutating func endLine() {
        waiting += writer.bytes
        waiting.append(UInt8(ascii: "\n"))
        writer.removeAll()
        lines += 1
    }

    /// Ends the record.
    package mutating func end() {
        writer.beginObject()
        writer.field("end", lines)
        writer.endObject()
        endLine()
    }

    package mutating func add(_ observation: Observation) {
        writer.beginObject()
        switch observation {
        case .loadBegan(let time): field("load", time)
        case .changeSent(let call): writer.field("change", call.recorded(world))
        case .stepSent(let customer, let call, let time):
            writer.field("step", customer)
            writer.field("call", call.recorded(world))
            field("at", time)
        case .exchange(let exchange): add(exchange)
        case .newCart(let customer): writer.field("newCart", customer)
        case .subscription(let connection, let channel, let isOn):
            writer.field("connection", connection)
            if isOn { writer.field("subscribed", channel) } else { writer.field("unsubscribed", channel) }
        case .message(let connection, let channel, let time, let payload):
            writer.field("connection", connection)
            writer.field("message", channel)
            field("at", time)
            Reply.write(payload, to: &writer)
        case .connectionEnded(let connection, let wasHalfClosed):
            writer.field("connection", connection)
            writer.field("wasHalfClosed", wasHalfClosed)
        case .connectionFault(let violation, let time):
            writer.field("fault", violation.check.name)
            writer.field("message", violation.message)
            field("at", time)
        case .unanswered(let customer, let call, let write):
            writer.field("unanswered", customer)
            writer.field("call", call.recorded(world))
            writer.field("write", write)
        case .messagesAwaited(let time): field("awaited", time)
        case .logBegins(let heads, let time):
            positions("logBegins", heads)
            field("at", time)
        case .takings(let outlet, let document):
            writer.field("takings", outlet)
            Reply.write(document, to: &writer)
        case .logEvent(let partition, let event):
            writer.field("partition", partition)
            Reply.write(event, to: &writer)
        case .logEnds(let heads, let time):
            positions("logEnds", heads)
            field("at", time)
        case .logUnread(let reason): writer.field("logUnread", reason)
        }
        writer.endObject()
        endLine()
    }

    private mutating func add(_ exchange: Exchange) {
        writer.field("customer", exchange.customer)
        writer.field("call", exchange.call.recorded(world))
        if exchange.write > 0 { writer.field("write", exchange.write) }
        field("planned", exchange.planned)
        field("sent", exchange.sent)
        if exchange.attempts > 1 { writer.field("attempts", exchange.attempts) }
        field("answered", exchange.answered)
        writer.key("reply")
        add(exchange.reply)
        if let reply = exchange.refusedBefore {
            writer.key("refusedBefore")
            reply.write(to: &writer)
        }
        if let reply = exchange.repeated {
            writer.key("repeated")
            reply.write(to: &writer)
        }
    }

    private mutating func add(_ reply: Reply) {
        guard case .bulk(let bytes) = reply, bytes.count >= RecordWriter.longText else {
            return reply.write(to: &writer)
        }
        if let number = texts[bytes] {
            writer.beginObject()
            writer.field("like", number)
            return writer.endObject()
        }
        if texts.count == RecordWriter.keptTexts { texts.removeAll() }
        texts[bytes] = textCount
        textCount += 1
        reply.write(to: &writer)
    }

    private mutating func field(_ key: StaticString, _ time: UInt64) {
        if start == nil { start = time }
        // A time before the first one is written as the first one.
        writer.field(key, time - min(time, start ?? 0))
    }

    private mutating func positions(_ key: StaticString, _ heads: [Int64]) {
        writer.key(key)
        writer.beginArray()
        for head in heads { writer.integer(head) }
        writer.endArray()
    }
}
