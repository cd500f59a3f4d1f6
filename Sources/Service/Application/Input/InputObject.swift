internal import TextFormats

/// An object in a client's document.
protocol InputObject: InputValue {
    /// The fields that it may have. Any other is refused, and all that are missing are named at once.
    static var members: [JSONSchema.Member] { get }

    init(_ fields: InputFields) throws(InputError)
}

extension InputObject {
    static var expectation: String { "an object" }

    /// What it may be, by the name of its type.
    static var schema: JSONSchema {
        JSONSchema.object(members.map { $0.isRequired ? $0 : .optional($0.name, $0.schema.orNull) })
            .named("\(Self.self)")
    }

    init?(input: JSONValue) throws(InputError) {
        guard case .object(let members) = input else { return nil }
        try self.init(try InputFields(members, known: Self.members))
    }
}

/// The fields of an object: each known. Null is the same as absent.
struct InputFields {
    /// The longest name of an unknown field that an error repeats, in bytes.
    private static let longestName = 64

    private let members: [JSONValue.Member]

    fileprivate init(
        _ members: [JSONValue.Member], known: [JSONSchema.Member]
    ) throws(InputError) {
        for member in members {
            guard known.contains(where: { member.isNamed($0.name) }) else {
                let name = member.key
                throw InputError(name.utf8.count <= InputFields.longestName ? name : "", "unknown field")
            }
        }
        let missing = known.filter { known in
            known.isRequired && !members.contains { $0.isNamed(known.name) }
        }.map(\.name)
        guard let last = missing.last else {
            self.members = members
            return
        }
        guard missing.count > 1 else { throw InputError(last, "is missing") }
        throw InputError("", "lacks \(missing.dropLast().joined(separator: ", ")) and \(last)")
    }

    /// The value of a field that the object must have.
    func required<Value: InputValue>(_ key: String) throws(InputError) -> Value {
        guard let member = member(key) else { throw InputError(key, "is missing") }
        return try read(member)
    }

    /// The value of a field; nil where it is absent or null.
    func optional<Value: InputValue>(_ key: String) throws(InputError) -> Value? {
        guard let member = member(key) else { return nil }
        if case .null = member.value { return nil }
        return try read(member)
    }

    private func member(_ key: String) -> JSONValue.Member? { members.first { $0.isNamed(key) } }

    private func read<Value: InputValue>(_ member: JSONValue.Member) throws(InputError) -> Value {
        do throws(InputError) {
            return try Value.read(member.value)
        } catch {
            throw error.within(member.key)
        }
    }
}

extension JSONSchema.Member {
    /// A field that is taken because documents that are answered have it, and that says nothing.
    static func ignored(_ name: String) -> JSONSchema.Member { .optional(name, .any, "not read") }
}
