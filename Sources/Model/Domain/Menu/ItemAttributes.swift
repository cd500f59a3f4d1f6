/// What an item says of itself beyond its other fields: values under names that the merchant chooses.
public struct ItemAttributes: Equatable, Sendable {
    /// The most attributes of an item, and the most texts of one of them.
    public static let maximumCount = 50
    /// The most bytes of all of an item's attributes together.
    public static let maximumBytes = 16 << 10

    /// A value and its name.
    public struct Attribute: Equatable, Sendable {
        /// Unique among the item's attributes.
        public var name: Identifier
        /// What the item says under it.
        public var value: AttributeValue

        /// A value under a name.
        public init(_ name: Identifier, _ value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    /// The attributes, in the order of their names.
    public let list: [Attribute]

    /// These attributes, in any order.
    public init(_ list: [Attribute] = []) {
        // They mostly come from where they were sorted before.
        let isSorted = zip(list, list.dropFirst()).allSatisfy { $0.name < $1.name }
        self.list = isSorted ? list : list.sorted { $0.name < $1.name }
    }

    /// Whether there are none.
    public var isEmpty: Bool { list.isEmpty }

    /// The value under a name, if there is one.
    public subscript(name: Identifier) -> AttributeValue? { list.first { $0.name == name }?.value }

    /// A name that is there twice.
    public var repeatedName: Identifier? {
        zip(list, list.dropFirst()).first { $0.name == $1.name }?.0.name
    }

    /// About the bytes of them all as JSON.
    var bytes: Int { list.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.bytes } }

    /// Rejects attributes out of bounds, or without what the item's kind requires, naming the field below `path`.
    func validate(at path: String, _ kind: ItemKind) throws(Rejection) {
        guard list.count <= Self.maximumCount else {
            throw .invalid(.field(path), "must have at most \(Self.maximumCount) entries")
        }
        if let repeatedName { throw .invalid("\(path).\(repeatedName)", "is there twice") }
        guard bytes <= Self.maximumBytes else {
            throw .invalid(.field(path), "must have at most \(Self.maximumBytes) bytes together, have \(bytes)")
        }
        for attribute in list {
            let field = "\(path).\(attribute.name)"
            switch attribute.value {
            case .number, .boolean: break
            case .text(let text): try TextRules.check(text, .field(field), TextRules.line)
            case .texts(let texts): try TextRules.check(texts, field, atMost: Self.maximumCount)
            }
        }
        for required in kind.attributes {
            guard let value = self[required.name] else {
                throw .invalid("\(path).\(required.name)", "is missing, and a \(kind.name) needs \(required.values)")
            }
            guard required.values.contains(value) else {
                throw .invalid("\(path).\(required.name)", "must be \(required.values) for a \(kind.name)")
            }
        }
    }
}

/// The value of an attribute, typed as JSON types it.
public enum AttributeValue: Equatable, Sendable {
    case number(AttributeNumber)
    case text(Text)
    case boolean(Bool)
    case texts([Text])

    /// About its bytes as JSON, with what separates it from others.
    fileprivate var bytes: Int {
        switch self {
        case .number: 20
        case .text(let text): text.utf8.count + 6
        case .boolean: 8
        case .texts(let texts): texts.reduce(6) { $0 + $1.utf8.count + 3 }
        }
    }
}

/// An attribute that an item of a kind must have.
public struct RequiredAttribute: Sendable {
    /// Its name.
    public let name: Identifier
    /// The values that it may have.
    public let values: AttributeValues

    /// An attribute of this name.
    ///
    /// - Precondition: the name is an identifier.
    init(_ name: String, _ values: AttributeValues) {
        guard let name = Identifier(name) else { preconditionFailure("no name of an attribute: '\(name)'") }
        self.name = name
        self.values = values
    }
}

/// The values that an attribute of a kind may have.
public enum AttributeValues: Sendable {
    /// Numbers of a range.
    case number(ClosedRange<AttributeNumber>)
    /// Texts of so many bytes.
    case text(ClosedRange<Int>)
    case boolean
    /// Lists of so many texts.
    case texts(ClosedRange<Int>)

    /// Whether a value is one of them.
    func contains(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (.number(let range), .number(let number)): range.contains(number)
        case (.text(let range), .text(let text)): range.contains(text.utf8.count)
        case (.boolean, .boolean): true
        case (.texts(let range), .texts(let texts)): range.contains(texts.count)
        case (.number, _), (.text, _), (.boolean, _), (.texts, _): false
        }
    }
}

extension AttributeValues: CustomStringConvertible {
    /// What they are, for people.
    public var description: String {
        switch self {
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .text(let range): "a text of \(range.lowerBound)–\(range.upperBound) bytes"
        case .boolean: "true or false"
        case .texts(let range): "a list of \(range.lowerBound)–\(range.upperBound) texts"
        }
    }
}
