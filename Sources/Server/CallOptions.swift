internal import Domain
internal import EventLog
internal import LineProtocol
internal import Projections

/// The options of a call: what follows the fixed arguments, in any order, each a word and its value.
struct CallOptions {
    private var values: [(name: String, value: Argument)] = []

    /// Reads the options of a write from `index` on: those named, and `ID` and `VERSION`.
    init(ofWrite arguments: Arguments, from index: Int, _ names: StaticString...) throws(Failure) {
        // Most calls have none, and gathering the names would cost more than all the rest.
        guard index < arguments.count else { return }
        try read(arguments, from: index, names + CallOptions.ofWrites)
    }

    /// Reads the options of a read from `index` on.
    init(ofRead arguments: Arguments, from index: Int, _ names: StaticString...) throws(Failure) {
        try read(arguments, from: index, names)
    }

    private mutating func read(
        _ arguments: Arguments, from index: Int, _ names: [StaticString]
    ) throws(Failure) {
        var index = index
        while index < arguments.count {
            let word = arguments[index]
            guard let name = names.first(where: { word.equals(caseInsensitive: $0) })?.description,
                index + 1 < arguments.count, self[name] == nil
            else { throw .syntax }
            values.append((name, arguments[index + 1]))
            index += 2
        }
    }

    private static let ofWrites: [StaticString] = ["ID", "VERSION"]

    /// The value of an option, if it was given.
    subscript(name: String) -> Argument? {
        values.first { $0.name == name }?.value
    }

    /// The value as text.
    func text(_ name: String) throws(Failure) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw .invalid(name, "must be UTF-8") }
        return text
    }

    /// The value as an identifier.
    func identifier(_ name: String) throws(Failure) -> Identifier? {
        guard let value = self[name] else { return nil }
        return try value.identifier(name)
    }

    /// The value as a moment.
    func timestamp(_ name: String) throws(Failure) -> Timestamp? {
        guard let text = try text(name) else { return nil }
        guard let timestamp = Timestamp(rfc3339: text) else {
            throw .invalid(name, "must be a time such as 2026-03-01T12:00:00Z")
        }
        return timestamp
    }

    /// The value as a moment of the past: a position of the log, or a time.
    func moment(_ name: String, now: Timestamp) throws(Failure) -> Archive.Moment? {
        guard let value = self[name] else { return nil }
        if let position = value.integer, position >= 0 { return .position(position) }
        guard let time = value.string.flatMap(Timestamp.init(rfc3339:)) else {
            throw .invalid(name, "must be a position of the log from 0, or a time such as 2026-03-01T12:00:00Z")
        }
        guard time <= now else { throw .invalid(name, "must not lie in the future: it is \(now.rfc3339)") }
        return .time(time)
    }

    /// The value as a whole number from 0.
    func count(_ name: String) throws(Failure) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let count = value.integer, count >= 0 else { throw .invalid(name, "must be a whole number from 0") }
        return count
    }

    /// The version that the client expects the stream to have.
    var expectedVersion: Int64? {
        get throws(Failure) { try count("VERSION") }
    }

    /// The client's id for the command, with a fingerprint of everything else in the call.
    func metadata(of arguments: Arguments) throws(Failure) -> EventMetadata {
        guard let id = try commandID() else { return .none }
        return EventMetadata(commandID: id, fingerprint: fingerprint(of: words(of: arguments).head))
    }

    /// As ``metadata(of:)``, with the sealed text in place of an option's value: the log keeps nothing that the text
    /// could be guessed by.
    func metadata(
        of arguments: Arguments, sealing option: String
    ) throws(Failure) -> (SealedText?) -> EventMetadata {
        guard let id = try commandID() else { return { _ in .none } }
        let (head, tail) = words(of: arguments, without: option)
        return { sealed in
            var call = head
            if let sealed { CallOptions.append(sealed.ciphertext.utf8, to: &call) }
            return EventMetadata(commandID: id, fingerprint: fingerprint(of: call + tail))
        }
    }

    private func commandID() throws(Failure) -> String? {
        guard let id = self["ID"] else { return nil }
        guard (1...64).contains(id.count), let text = id.string else {
            throw .invalid("ID", "must have 1–64 bytes of UTF-8")
        }
        return text
    }

    private func fingerprint(of call: [UInt8]) -> String { Digest.of(call).bytes.prefix(8).hexadecimal }

    /// The words of the call but for the id, up to the value of an option and behind it.
    private func words(of arguments: Arguments, without option: String? = nil) -> (head: [UInt8], tail: [UInt8]) {
        // An option's value is told from other words by where it lies.
        let id = self["ID"]?.bytes.baseAddress
        let omitted = option.flatMap { self[$0] }?.bytes.baseAddress
        var call: [UInt8] = []
        var head: [UInt8]?
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if index + 1 < arguments.count, arguments[index + 1].bytes.baseAddress == id {
                index += 2
                continue
            }
            if let omitted, argument.bytes.baseAddress == omitted {
                head = call
                call = []
            } else if index == 0 {
                CallOptions.append(argument.uppercased, to: &call)
            } else {
                CallOptions.append(argument.bytes, to: &call)
            }
            index += 1
        }
        return head.map { ($0, call) } ?? (call, [])
    }

    private static func append(_ word: some Collection<UInt8>, to call: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(word.count).bigEndian) { call.append(contentsOf: $0) }
        call.append(contentsOf: word)
    }
}

extension Argument {
    /// The argument as an identifier; `field` names it in the error.
    func identifier(_ field: String) throws(Failure) -> Identifier {
        guard let identifier = Identifier(utf8: bytes) else {
            throw .invalid(field, "must be 1–64 bytes of A–Z a–z 0–9 . _ : -")
        }
        return identifier
    }

    /// The argument as a whole number.
    func integer(_ field: String) throws(Failure) -> Int64 {
        guard let integer else { throw .invalid(field, "must be a whole number") }
        return integer
    }

    /// The argument as an amount of money.
    func amount(_ field: String) throws(Failure) -> Amount {
        Amount(minorUnits: try integer(field))
    }

    /// The argument as a quantity: any whole number, since the domain says which are accepted.
    func quantity(_ field: String) throws(Failure) -> Int {
        Int(clamping: try integer(field))
    }
}
