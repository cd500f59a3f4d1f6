internal import Domain
internal import TextFormats

/// What a value in a client's document is read as.
protocol InputValue: SendableMetatype {
    /// What the value must be, for the client that sent something else: `a string`.
    static var expectation: String { get }

    /// Reads the value; nil where it is of another type.
    init?(input: JSONValue) throws(InputError)
}

extension InputValue {
    /// Reads the value, or refuses it for its type.
    static func read(_ input: JSONValue) throws(InputError) -> Self {
        if let value = try Self(input: input) { return value }
        let isNull = if case .null = input { true } else { false }
        throw InputError("", "must be \(expectation)\(isNull ? ", not null" : "")")
    }
}

extension Text: InputValue {
    static var expectation: String { "a string" }

    init?(input: JSONValue) {
        guard case .string(let text) = input else { return nil }
        self.init(text)
    }
}

extension Bool: InputValue {
    static var expectation: String { "true or false" }

    init?(input: JSONValue) {
        guard case .bool(let value) = input else { return nil }
        self = value
    }
}

extension Double: InputValue {
    static var expectation: String { "a number" }

    init?(input: JSONValue) {
        guard case .number(let text) = input, let value = Double(text), value.isFinite else { return nil }
        self = value
    }
}

extension Int64: InputValue {
    static var expectation: String { "a whole number" }

    /// `12`, and also `12.0` and `1.2e1`: programs that know only floating point write them.
    init?(input: JSONValue) {
        guard case .number(let text) = input else { return nil }
        if let value = Int64(text) {
            self = value
        } else if let value = Double(input: input).flatMap(Int64.init(exactly:)), value.magnitude < 1 << 53 {
            self = value
        } else {
            return nil
        }
    }
}

extension Int: InputValue {
    static var expectation: String { Int64.expectation }

    init?(input: JSONValue) {
        guard let value = Int64(input: input) else { return nil }
        self.init(exactly: value)
    }
}

extension Array: InputValue where Element: InputValue {
    static var expectation: String { "an array" }

    init?(input: JSONValue) throws(InputError) {
        guard case .array(let elements) = input else { return nil }
        self = try InputError.all(elements) { element throws(InputError) in try Element.read(element) }
    }
}
