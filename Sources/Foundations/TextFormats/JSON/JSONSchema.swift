/// What a JSON value may be, as JSON Schema 2020-12. A document's schema is declared beside what writes the document.
///
/// Objects are closed: a member that is written and not declared makes tests fail.
public struct JSONSchema: Equatable, Sendable {
    /// A member of an object.
    public struct Member: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// What its value may be.
        public let schema: JSONSchema
        /// Whether it is always there.
        public let isRequired: Bool

        /// A member that is always there.
        public static func member(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> Member {
            Member(name: name, schema: schema.saying(description), isRequired: true)
        }

        /// A member that is left out where there is nothing to say.
        public static func optional(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> Member {
            Member(name: name, schema: schema.saying(description), isRequired: false)
        }
    }

    indirect enum Form: Equatable, Sendable {
        case any
        case simple(String, format: String?, least: Int?)
        case words([String])
        case list(JSONSchema)
        /// Members with names, and what others may be; nil where there are no others.
        case object([Member], others: JSONSchema?)
        /// One of several, which a member tells apart, if one does.
        case oneOf([JSONSchema], by: String?)
        /// A schema with a name, which stands among the definitions.
        case named(String, JSONSchema)
    }

    let form: Form
    /// What it means, for people; nil where its name says it.
    private var meaning: String?
    /// What a number is counted in.
    private var unit: String?
    /// Whether it may be null.
    public private(set) var isNullable = false

    private init(_ form: Form) { self.form = form }

    /// What it means, and what a number is counted in, for people; nil where its name says it.
    public var description: String? {
        guard let unit else { return meaning }
        return meaning.map { "\($0), in \(unit)" } ?? "in \(unit)"
    }

    // MARK: Simple values

    /// Any value.
    public static let any = JSONSchema(.any)
    /// A text.
    public static let string = JSONSchema(.simple("string", format: nil, least: nil))
    /// An identifier: 1–64 bytes of `A–Z a–z 0–9 . _ : - { }`.
    public static let identifier = string
    /// A time as RFC 3339, in UTC.
    public static let time = JSONSchema(.simple("string", format: "date-time", least: nil))
    /// A day, `2026-11-27`.
    public static let day = JSONSchema(.simple("string", format: "date", least: nil))
    /// A whole number.
    public static let integer = JSONSchema(.simple("integer", format: nil, least: nil))
    /// A whole number from 0 on.
    public static let count = JSONSchema(.simple("integer", format: nil, least: 0))
    /// An amount of money: a whole number of minor units, such as cents.
    public static let money = integer.counted(in: "minor units")
    /// A number.
    public static let number = JSONSchema(.simple("number", format: nil, least: nil))
    /// `true` or `false`.
    public static let boolean = JSONSchema(.simple("boolean", format: nil, least: nil))
    /// `null` alone.
    public static let null = JSONSchema(.simple("null", format: nil, least: nil))

    /// One of some texts.
    public static func words(_ words: [String]) -> JSONSchema { JSONSchema(.words(words)) }

    /// One of the words of an enumeration.
    public static func words<Words: CaseIterable & RawRepresentable<String>>(of _: Words.Type) -> JSONSchema {
        words(Words.allCases.map(\.rawValue))
    }

    // MARK: Composed values

    /// A list.
    public static func list(of element: JSONSchema) -> JSONSchema { JSONSchema(.list(element)) }

    /// An object with these members, and no others.
    public static func object(_ members: [Member]...) -> JSONSchema {
        JSONSchema(.object(Array(members.joined()), others: nil))
    }

    /// An object with these members, and others.
    public static func object(_ members: [Member]..., others: JSONSchema) -> JSONSchema {
        JSONSchema(.object(Array(members.joined()), others: others))
    }

    /// Members that are declared in several places: the compiler takes long over a sum of lists.
    public static func members(_ members: [Member]...) -> [Member] { Array(members.joined()) }

    /// One of several.
    ///
    /// - Parameter member: the member that tells them apart, if all are named objects that have it with one word each.
    public static func oneOf(_ schemas: [JSONSchema], by member: String? = nil) -> JSONSchema {
        JSONSchema(.oneOf(schemas, by: member))
    }

    /// The same under a name, by which others refer to it. One name stands for one schema.
    public func named(_ name: String) -> JSONSchema { JSONSchema(.named(name, self)) }

    /// The same, which may be null.
    public var orNull: JSONSchema {
        var schema = self
        schema.isNullable = true
        return schema
    }

    /// The same without null.
    public var withoutNull: JSONSchema {
        var schema = self
        schema.isNullable = false
        return schema
    }

    /// The same with a description, if one is given.
    public func saying(_ description: String?) -> JSONSchema {
        guard let description else { return self }
        var schema = self
        schema.meaning = description
        return schema
    }

    /// The same, of a number that is counted in these.
    public func counted(in unit: String) -> JSONSchema {
        var schema = self
        schema.unit = unit
        return schema
    }

    // MARK: Looking at it

    /// Its name, if it has one.
    public var name: String? { if case .named(let name, _) = form { name } else { nil } }

    /// The members of an object; none of anything else.
    public var members: [Member] {
        switch form {
        case .object(let members, _): members
        case .named(_, let schema): schema.members
        case .any, .simple, .words, .list, .oneOf: []
        }
    }

    /// The named schemas in some, each once, in the order in which they are met.
    ///
    /// - Precondition: no two schemas have the same name.
    public static func definitions(in schemas: [JSONSchema]) -> [(name: String, schema: JSONSchema)] {
        var found: [(name: String, schema: JSONSchema)] = []
        var places: [String: Int] = [:]
        func visit(_ schema: JSONSchema) {
            switch schema.form {
            case .any, .simple, .words: break
            case .list(let element): visit(element)
            case .object(let members, let others):
                for member in members { visit(member.schema) }
                if let others { visit(others) }
            case .oneOf(let schemas, _): schemas.forEach(visit)
            case .named(let name, let schema):
                if let place = places[name] {
                    precondition(found[place].schema == schema, "two schemas are called \(name)")
                    return
                }
                places[name] = found.count
                found.append((name, schema))
                visit(schema)
            }
        }
        schemas.forEach(visit)
        return found
    }
}

// MARK: Writing

extension JSONSchema {
    /// The document that a schema stands in.
    public enum Host: Sendable {
        case openAPI, asyncAPI
        /// A schema alone.
        case schema

        /// What references begin with.
        fileprivate var place: String { if case .schema = self { "#/$defs/" } else { "#/components/schemas/" } }
    }

    /// Writes the schema, in which named ones are references.
    public func write(to writer: inout JSONWriter, in host: Host) {
        writer.beginObject()
        writeMembers(to: &writer, in: host)
        writer.endObject()
    }

    private func writeMembers(to writer: inout JSONWriter, in host: Host) {
        switch form {
        case .any: break
        case .simple(let type, let format, let least):
            write(type: type, to: &writer)
            if let format { writer.field("format", format) }
            if let least { writer.field("minimum", least) }
        case .words(let words):
            write(type: "string", to: &writer)
            writer.key("enum")
            writer.beginArray()
            for word in words { writer.string(word) }
            if isNullable { writer.null() }
            writer.endArray()
        case .list(let element):
            write(type: "array", to: &writer)
            writer.key("items")
            element.write(to: &writer, in: host)
        case .object(let members, let others):
            write(type: "object", to: &writer)
            if !members.isEmpty {
                writer.field("required", members.lazy.filter(\.isRequired).map(\.name))
                writer.key("properties")
                writer.beginObject()
                for member in members {
                    writer.key(dynamic: member.name)
                    member.schema.write(to: &writer, in: host)
                }
                writer.endObject()
            }
            writer.key("additionalProperties")
            if let others { others.write(to: &writer, in: host) } else { writer.bool(false) }
        case .oneOf(let schemas, let member):
            write(oneOf: schemas, to: &writer, in: host)
            if let member, host == .openAPI { write(discriminator: member, of: schemas, to: &writer) }
        case .named(let name, _) where isNullable:
            write(oneOf: [JSONSchema(.named(name, .any))], to: &writer, in: host)
        case .named(let name, _): writer.field("$ref", host.place + name)
        }
        if let description { writer.field("description", description) }
    }

    private func write(type: String, to writer: inout JSONWriter) {
        guard isNullable else { return writer.field("type", type) }
        writer.field("type", [type, "null"])
    }

    private func write(oneOf schemas: [JSONSchema], to writer: inout JSONWriter, in host: Host) {
        writer.key("oneOf")
        writer.beginArray()
        for schema in schemas { schema.write(to: &writer, in: host) }
        if isNullable { JSONSchema.null.write(to: &writer, in: host) }
        writer.endArray()
    }

    /// The word of a member that belongs to each of some named schemas, as OpenAPI has it.
    private func write(
        discriminator name: String, of schemas: [JSONSchema], to writer: inout JSONWriter
    ) {
        writer.key("discriminator")
        writer.beginObject()
        writer.field("propertyName", name)
        writer.key("mapping")
        writer.beginObject()
        for schema in schemas {
            guard let target = schema.name, let member = schema.members.first(where: { $0.name == name }),
                case .words(let words) = member.schema.form
            else { continue }
            for word in words {
                writer.key(dynamic: word)
                writer.string(Host.openAPI.place + target)
            }
        }
        writer.endObject()
        writer.endObject()
    }

    /// The schema as a document of its own, with the definitions that it needs.
    ///
    /// - Parameter note: what it is, where its own description does not say it.
    public func document(titled title: String, saying note: String? = nil) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 2_048)
        writer.beginObject()
        writer.field("$schema", "https://json-schema.org/draft/2020-12/schema")
        writer.field("title", title)
        let content = if case .named(_, let schema) = form { schema } else { self }
        content.saying(note).writeMembers(to: &writer, in: .schema)
        let definitions = JSONSchema.definitions(in: [content])
        if !definitions.isEmpty {
            writer.key("$defs")
            JSONSchema.write(definitions, to: &writer, in: .schema)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Writes definitions as an object.
    public static func write(
        _ definitions: [(name: String, schema: JSONSchema)], to writer: inout JSONWriter,
        in host: Host
    ) {
        writer.beginObject()
        for (name, schema) in definitions {
            writer.key(dynamic: name)
            schema.write(to: &writer, in: host)
        }
        writer.endObject()
    }
}
