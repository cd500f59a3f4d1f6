internal import Domain
internal import EventLog
package import TextFormats
internal import Users

extension ArgumentType<Identifier> {
    /// An identifier of something within an outlet, such as an item.
    static let identifier = identifier(of: nil)
    /// Ids of which it matters who may use them.
    static let cart = identifier(of: .cart)
    static let customer = identifier(of: .customer)
    static let order = identifier(of: .order)
    static let outlet = identifier(of: .outlet)
    static let savedQuery = identifier(of: .savedQuery)

    private static func identifier(of subject: Subject?) -> ArgumentType {
        let form = "1–64 bytes of \(Identifier.characters)"
        return ArgumentType(kind: .string, accepting: form, subject: subject) { argument, field throws(Failure) in
            guard let identifier = Identifier(utf8: argument.bytes) else { throw .invalid(field, "must be \(form)") }
            return identifier
        }
    }
}

extension ArgumentType<Text> {
    /// Any text.
    static let text = ArgumentType(kind: .string, accepting: "UTF-8") { argument, field throws(Failure) in
        guard let text = argument.string else { throw .invalid(field, "must be UTF-8") }
        return Text(text)
    }

    /// A note, or a reason: its length is the domain's to judge.
    static let note = text.accepting("1–500 bytes of UTF-8")

    /// The digest of a document that the client has, or 0 for none.
    static let documentDigest = ArgumentType(
        kind: .string,
        accepting: "0, or a digest of \(2 * ChangeDocument.digestBytes) hexadecimal digits, in small letters"
    ) { argument, field throws(Failure) in
        let text = try ArgumentType<Text>.text.read(argument, field)
        try ChangeDocument.check(since: text.string)
        return text
    }

    /// The digest of a quote.
    static let quoteDigest = ArgumentType(
        kind: .string, accepting: "a digest of \(Quote.digestDigits) hexadecimal digits, in small letters"
    ) { argument, field throws(Failure) in
        let text = try ArgumentType<Text>.text.read(argument, field)
        try Failure.check(digest: text.string, digits: Quote.digestDigits, field)
        return text
    }

    /// The token of a command, so that the same command sent again is known.
    static let commandID = ArgumentType(kind: .string, accepting: "1–64 bytes of UTF-8") {
        argument, field throws(Failure) in
        guard (1...64).contains(argument.count), let text = argument.string else {
            throw .invalid(field, "must have 1–64 bytes of UTF-8")
        }
        return Text(text)
    }
}

extension ArgumentType<TraceParent> {
    /// Where a command belongs in a trace.
    static let traceParent = ArgumentType(
        kind: .string, accepting: "a traceparent of W3C Trace Context: 00-<trace>-<parent>-<flags>"
    ) { argument, field throws(Failure) in
        guard let trace = argument.string.flatMap({ TraceParent($0) }) else {
            throw .invalid(field, "must be 00-<32 digits>-<16 digits>-<2 digits>, in lower-case hexadecimal")
        }
        return trace
    }
}

extension ArgumentType<Argument> {
    /// Bytes as they are: what reads them checks them.
    package static let bytes = ArgumentType(kind: .string, accepting: "any bytes") { argument, _ in argument }
}

extension ArgumentType<Int64> {
    /// A whole number.
    static let integer = ArgumentType(kind: .integer, accepting: "a whole number") { argument, field throws(Failure) in
        guard let integer = argument.integer else { throw .invalid(field, "must be a whole number") }
        return integer
    }

    /// A whole number from 0.
    static let count = ArgumentType(kind: .integer, accepting: "a whole number from 0") {
        argument, field throws(Failure) in
        guard let count = argument.integer, count >= 0 else { throw .invalid(field, "must be a whole number from 0") }
        return count
    }

    /// A whole number within bounds.
    static func integer(_ bounds: ClosedRange<Int64>) -> ArgumentType {
        let form =
            bounds.upperBound == .max
            ? "at least \(bounds.lowerBound)" : "from \(bounds.lowerBound) to \(bounds.upperBound)"
        return ArgumentType(kind: .integer, accepting: form) { argument, field throws(Failure) in
            let integer = try ArgumentType<Int64>.integer.read(argument, field)
            guard bounds.contains(integer) else { throw .invalid(field, "must be \(form)") }
            return integer
        }
    }
}

extension ArgumentType<Int> {
    /// A quantity: any whole number, since the domain says which it accepts.
    static let quantity = ArgumentType(kind: .integer, accepting: "a whole number") { argument, field throws(Failure) in
        Int(clamping: try ArgumentType<Int64>.integer.read(argument, field))
    }
}

extension ArgumentType<ServiceKind> {
    /// A way to have an order.
    static let service = oneOf(ServiceKind.allCases)
}

extension ArgumentType<Amount> {
    /// An amount of money in minor units.
    static let amount = ArgumentType(
        kind: .integer, accepting: "from 0 to \(Amount.maximum.minorUnits), in minor units"
    ) { argument, field throws(Failure) in
        Amount(minorUnits: try ArgumentType<Int64>.integer.read(argument, field))
    }
}

extension ArgumentType<[ChosenOption]> {
    /// Options of an item: `large,cheese*2`; an empty text for none.
    static let options = ArgumentType(
        kind: .string, accepting: "options such as large,cheese*2, each at most 99 times; empty for none"
    ) { argument, field throws(Failure) in
        guard let text = argument.string else { throw .invalid(field, "must be UTF-8") }
        guard let options = [ChosenOption](words: text) else {
            throw .invalid(field, "must be options such as large,cheese*2, each at most 99 times")
        }
        guard options.count <= CartLine.maximumOptions else {
            throw Failure(.limit, "a line takes at most \(CartLine.maximumOptions) options")
        }
        return options
    }
}

extension [ChosenOption] {
    /// The options of words such as `large,cheese*2`, in the order of their ids; more than a line takes if there are
    /// too many. Nil where something else is there.
    init?(words: String) {
        self = []
        for word in words.utf8.isEmpty
            ? [] : words.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        {
            guard count < CartLine.maximumOptions * 2 else { return }
            let parts = word.split(separator: UInt8(ascii: "*"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let id = Identifier(String(Substring(parts[0]))),
                let units = parts.count == 1 ? 1 : Int(String(Substring(parts[1]))),
                (1...OptionGroup.maximumUnits).contains(units)
            else { return nil }
            append(ChosenOption(id, units: units))
        }
        self = normalized
    }
}

extension ArgumentType<Timestamp> {
    /// A time in RFC 3339.
    static let time = ArgumentType(kind: .string, accepting: "a time such as 2026-03-01T12:00:00Z") {
        argument, field throws(Failure) in
        guard let time = argument.string.flatMap(Timestamp.init(rfc3339:)) else {
            throw .invalid(field, "must be a time such as 2026-03-01T12:00:00Z")
        }
        return time
    }
}

extension ArgumentType<CalendarDay> {
    /// A day of the calendar.
    static let day = ArgumentType(kind: .string, accepting: "a day such as 2026-03-01") {
        argument, field throws(Failure) in
        guard let day = argument.string.flatMap({ CalendarDay(Text($0)) }) else {
            throw .invalid(field, "must be a day such as 2026-03-01")
        }
        return day
    }
}

extension ArgumentType<Moment> {
    /// A moment of the past: a position of the log, or a time.
    static let moment = ArgumentType(
        kind: .string, accepting: "a position of the log from 0, or a time such as 2026-03-01T12:00:00Z"
    ) { argument, field throws(Failure) in
        if let position = argument.integer, position >= 0 { return .position(position) }
        guard let time = argument.string.flatMap(Timestamp.init(rfc3339:)) else {
            throw .invalid(field, "must be a position of the log from 0, or a time such as 2026-03-01T12:00:00Z")
        }
        return .time(time)
    }
}

extension ArgumentType<StreamName> {
    /// The name of a stream.
    static let stream = stream(of: nil)
    /// The same, where it matters whose it is.
    static let provenStream = stream(of: .proof)

    private static func stream(of subject: Subject?) -> ArgumentType {
        ArgumentType(kind: .string, accepting: "a name such as cart-c1", subject: subject) {
            argument, field throws(Failure) in
            guard let name = argument.string.flatMap(StreamName.init) else {
                throw .invalid(field, "must be a name such as cart-c1")
            }
            return name
        }
    }
}

extension ArgumentType {
    /// A JSON document, read and checked by its type.
    static func document(_ type: Value.Type) -> ArgumentType where Value: InputObject {
        ArgumentType(kind: .string, accepting: "a JSON document", schema: Value.schema) { argument, _ throws(Failure) in
            try DocumentInput.decode(type, from: argument)
        }
    }
}

extension Failure {
    /// Refuses a text that cannot be a digest, above all a digest that was shortened for display and then copied.
    static func check(
        digest text: String, digits: Int, _ field: String, or other: String? = nil
    ) throws(Failure) {
        guard text.utf8.count != digits || !text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return
        }
        let isCut = text.hasSuffix("…") || text.hasSuffix("...")
        throw .invalid(
            field,
            isCut
                ? "the digest was cut short; give all of its \(digits) digits"
                : "must be \(other.map { "\($0) or " } ?? "")a digest of \(digits) hexadecimal digits, in small letters"
        )
    }
}
