public import Domain
public import TextFormats

extension JSONWriter {
    /// Writes a key and attributes as an object, in the order of their names.
    public mutating func field(_ key: StaticString, _ attributes: ItemAttributes) {
        self.key(key)
        beginObject()
        for attribute in attributes.list { field(attribute.name, attribute.value) }
        endObject()
    }

    /// Writes the name of an attribute and its value, or null.
    public mutating func field(_ name: Identifier, _ value: AttributeValue?) {
        key(dynamic: name.rawValue)
        switch value {
        case .number(let number): raw(number.description.utf8)
        case .text(let text): string(text.string)
        case .boolean(let value): bool(value)
        case .texts(let texts):
            beginArray()
            for text in texts { string(text.string) }
            endArray()
        case nil: null()
        }
    }
}

extension JSONReader {
    mutating func attributes() throws(JSONReadingError) -> ItemAttributes {
        var list: [ItemAttributes.Attribute] = []
        try beginObject()
        while let key = try nextKey() {
            let known = key.plainBytes.map { Identifier(utf8: $0) } ?? Identifier(key.description)
            guard let name = known else { throw failure("the name of an attribute") }
            list.append(ItemAttributes.Attribute(name, try attributeValue()))
        }
        let attributes = ItemAttributes(list)
        if let name = attributes.repeatedName { throw failure("the attribute '\(name)' once") }
        return attributes
    }

    private mutating func attributeValue() throws(JSONReadingError) -> AttributeValue {
        switch nextByte() {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "["): return .texts(try texts())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean(try bool())
        default:
            guard let number = AttributeNumber(String(decoding: try rawValue(), as: UTF8.self)) else {
                throw failure("a number of an attribute")
            }
            return .number(number)
        }
    }
}

extension ItemAttributes {
    /// The attributes of an item, by their names.
    public static let schema = JSONSchema.object(
        others: .oneOf([.string, .number, .boolean, .list(of: .string)])
    ).named("Attributes")
}

extension AttributeValues {
    /// What a value may be.
    public var schema: JSONSchema {
        switch self {
        case .number: .number
        case .text: .string
        case .boolean: .boolean
        case .texts: .list(of: .string)
        }
    }
}
