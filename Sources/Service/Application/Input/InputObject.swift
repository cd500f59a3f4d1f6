internal import TextFormats

/// An object in a client's document.
protocol InputObject: InputValue {
    /// The fields that it may have. Any other is refused.
    static var fields: [String] { get }
    /// The required ones. All that are missing are named at once.
    static var required: [String] { get }

    init(_ fields: InputFields) throws(InputError)
}

extension InputObject {
    static var expectation: String { "an object" }

    init?(input: JSONValue) throws(InputError) {
        guard case .object(let members) = input else { return nil }
        try self.init(try InputFields(members, known: Self.fields, required: Self.required))
    }
}

/// The fields of an object: each known. Null is the same as absent.
struct InputFields {
    /// The longest name of an unknown field that an error repeats, in bytes.
    private static let longestName = 64

    private let members: [JSONValue.Member]

    fileprivate init(
        _ members: [JSONValue.Member], known: [String], required: [String]
    ) throws(InputError) {
        for member in members {
            guard known.contains(where: { member.isNamed($0) }) else {
                let name = member.key
                throw InputError(name.utf8.count <= InputFields.longestName ? name : "", "unknown field")
            }
        }
        let missing = required.filter { name in !members.contains { $0.isNamed(name) } }
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
