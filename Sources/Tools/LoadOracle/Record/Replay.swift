internal import LineProtocol

/// A record that cannot be judged.
package struct RecordError: Error, Equatable, CustomStringConvertible {
    /// From 1.
    package var line: Int
    package var problem: String

    package var description: String { "line \(line): \(problem)" }
}

/// Judges a record, line by line, in the way that the recorded run was judged.
package struct Replay {
    /// The most writes of one customer.
    private static let writeLimit = 100_000_000

    /// The command that repeats the run.
    package private(set) var command = ""
    private var oracle: Oracle?
    private var line = 0
    private var connections = 0
    private var hasEnded = false
    private var texts: [Int: [UInt8]] = [:]
    private var textCount = 0

    package init() {}

    private func failure(_ problem: String) -> RecordError { RecordError(line: line, problem: problem) }

    /// Takes the next line, without its end.
    package mutating func take(_ text: [UInt8]) throws(RecordError) {
        line += 1
        guard !hasEnded else { throw failure("nothing may follow the line that ends the record") }
        guard let fields = JSON(text), case .object = fields else { throw failure("it is not a JSON object") }
        guard let oracle else { return try begin(fields) }
        if fields["end"] != nil {
            guard fields["end"]?.integer == Int64(line - 1) else {
                throw failure(
                    "the record had \(fields["end"]?.summary ?? "") lines before this one, and has \(line - 1)")
            }
            hasEnded = true
            return
        }
        oracle.take(try observation(fields, oracle.world))
    }

    /// All lines have been taken. Returns the oracle with its findings.
    package mutating func finish() throws(RecordError) -> Oracle {
        line += 1
        guard let oracle else { throw failure("the record is empty") }
        guard hasEnded else { throw failure("the line that ends the record is missing: the run did not end") }
        return oracle
    }

    private mutating func begin(_ fields: JSON) throws(RecordError) {
        guard let format = fields["record"]?.integer else {
            throw failure("it is not the beginning of a record, as --record writes it")
        }
        guard format == Int64(RecordWriter.format) else {
            throw failure("the record has format \(format), and only format \(RecordWriter.format) can be read")
        }
        func number(_ key: Text, _ range: ClosedRange<Int>) throws(RecordError) -> Int {
            guard let number = fields[key]?.integer, range.contains(Int(number)) else {
                throw failure("'\(key)' is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return Int(number)
        }
        let outlets = try number("outlets", 1...World.Size.outletLimit)
        let size = World.Size(
            outlets: outlets, items: try number("items", outlets...World.Size.itemLimit),
            carts: try number("carts", 0...World.Size.cartLimit),
            kitchens: try number("kitchens", 0...World.Size.outletLimit))
        guard let name = fields["name"]?.string, !name.isEmpty,
            let seed = fields["seed"]?.string.flatMap({ UInt64($0) }), let command = fields["command"]?.string
        else { throw failure("'name', 'seed' or 'command' is missing") }
        connections = try number("connections", 1...1_000_000)
        self.command = command
        oracle = Oracle(
            World.Plan(name: name, size: size, seed: seed, customers: try number("customers", 1...1_000_000)),
            connections: connections)
    }

    // MARK: Lines

    private mutating func observation(_ fields: JSON, _ world: World) throws(RecordError) -> Observation {
        if fields["customer"] != nil { return .exchange(try exchange(fields, world)) }
        if fields["step"] != nil {
            return .stepSent(
                customer: try customer("step", fields, world), call: try call("call", fields, world),
                at: try time("at", fields))
        }
        if fields["change"] != nil { return .changeSent(try call("change", fields, world)) }
        if let channel = fields["message"]?.string, fields["fault"] == nil {
            return .message(
                connection: try connection(fields), channel: channel, at: try time("at", fields),
                payload: try bytes(fields))
        }
        if fields["partition"] != nil {
            return .logEvent(partition: try number("partition", fields, 0...Int(Int16.max)), event: try bytes(fields))
        }
        if fields["newCart"] != nil { return .newCart(customer: try customer("newCart", fields, world)) }
        if let channel = fields["subscribed"]?.string {
            return .subscription(connection: try connection(fields), channel: channel, isOn: true)
        }
        if let channel = fields["unsubscribed"]?.string {
            return .subscription(connection: try connection(fields), channel: channel, isOn: false)
        }
        if let wasHalfClosed = fields["wasHalfClosed"]?.bool {
            return .connectionEnded(connection: try connection(fields), wasHalfClosed: wasHalfClosed)
        }
        if fields["load"] != nil { return .loadBegan(at: try time("load", fields)) }
        if let name = fields["fault"]?.string {
            guard let check = Check(name: name), let message = fields["message"]?.string else {
                throw failure("there is no check '\(name)', or its message is missing")
            }
            return .connectionFault(Violation(check, message), at: try time("at", fields))
        }
        if fields["unanswered"] != nil {
            return .unanswered(
                customer: try customer("unanswered", fields, world), call: try call("call", fields, world),
                write: try number("write", fields, 0...Replay.writeLimit))
        }
        if fields["awaited"] != nil { return .messagesAwaited(at: try time("awaited", fields)) }
        if fields["logBegins"] != nil {
            return .logBegins(heads: try positions("logBegins", fields), at: try time("at", fields))
        }
        if fields["takings"] != nil {
            return .takings(
                outlet: try number("takings", fields, 0...(world.outlets.count - 1)), document: try bytes(fields))
        }
        if fields["logEnds"] != nil {
            return .logEnds(heads: try positions("logEnds", fields), at: try time("at", fields))
        }
        if let reason = fields["logUnread"]?.string { return .logUnread(reason: reason) }
        throw failure("it is not a line of a record")
    }

    private mutating func exchange(_ fields: JSON, _ world: World) throws(RecordError) -> Exchange {
        Exchange(
            customer: try customer("customer", fields, world), call: try call("call", fields, world),
            write: fields["write"] == nil ? 0 : try number("write", fields, 1...Replay.writeLimit),
            planned: try time("planned", fields), sent: try time("sent", fields),
            attempts: fields["attempts"] == nil ? 1 : try number("attempts", fields, 1...Int(Int32.max)),
            answered: try time("answered", fields), reply: try firstReply(fields),
            refusedBefore: fields["refusedBefore"] == nil ? nil : try reply("refusedBefore", fields),
            repeated: fields["repeated"] == nil ? nil : try reply("repeated", fields))
    }

    /// A reply, which may refer to a text by its number.
    private mutating func firstReply(_ fields: JSON) throws(RecordError) -> Reply {
        if let number = fields["reply"]?["like"]?.integer {
            guard let text = texts[Int(number)] else { throw failure("no earlier line has the text \(number)") }
            return .bulk(text)
        }
        let reply = try reply("reply", fields)
        if case .bulk(let text) = reply, text.count >= RecordWriter.longText {
            if texts.count == RecordWriter.keptTexts { texts.removeAll() }
            texts[textCount] = text
            textCount += 1
        }
        return reply
    }

    private func reply(_ key: Text, _ fields: JSON) throws(RecordError) -> Reply {
        guard let reply = fields[key].flatMap(Reply.init(recorded:)) else { throw failure("'\(key)' is not a reply") }
        return reply
    }

    private func call(_ key: Text, _ fields: JSON, _ world: World) throws(RecordError) -> Call {
        let words = fields[key]?.array?.compactMap(\.string) ?? []
        guard let call = Call(recorded: words, world) else {
            throw failure("'\(key)' is not a call in this run: \(words.joined(separator: " "))")
        }
        return call
    }

    private func bytes(_ fields: JSON) throws(RecordError) -> [UInt8] {
        guard let bytes = Reply.bytes(fields) else { throw failure("it has neither 'text' nor 'bytes'") }
        return bytes
    }

    private func number(_ key: Text, _ fields: JSON, _ range: ClosedRange<Int>) throws(RecordError) -> Int {
        guard let number = fields[key]?.integer, range.contains(Int(number)) else {
            throw failure("'\(key)' is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    private func time(_ key: Text, _ fields: JSON) throws(RecordError) -> UInt64 {
        UInt64(try number(key, fields, 0...(1 << 53)))
    }

    private func customer(_ key: Text, _ fields: JSON, _ world: World) throws(RecordError) -> Int {
        try number(key, fields, 0...(world.plan.customers - 1))
    }

    private func connection(_ fields: JSON) throws(RecordError) -> Int {
        try number("connection", fields, 0...(connections - 1))
    }

    private func positions(_ key: Text, _ fields: JSON) throws(RecordError) -> [Int64] {
        let numbers = fields[key]?.array ?? []
        let positions = numbers.compactMap(\.integer)
        guard !positions.isEmpty, positions.count == numbers.count else {
            throw failure("'\(key)' is not a list of positions")
        }
        return positions
    }
}
