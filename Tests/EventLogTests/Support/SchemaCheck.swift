@testable import TextFormats

/// Holds values to schemas, and notes which members it has met. Other programs hold a server to them, too
/// (`Tests/Clients/schemas.py`).
struct SchemaCheck {
    /// `owner.member`: the owner is a named schema, or where an object without a name stands.
    private(set) var met: Set<String> = []

    /// What is wrong with a value; nil for nothing.
    mutating func problem(with value: JSONValue, _ schema: JSONSchema, of owner: String) -> String? {
        if schema.isNullable, case .null = value { return nil }
        switch (schema.form, value) {
        case (.any, _): return nil
        case (.simple("string", _, _), .string), (.simple("boolean", _, _), .bool), (.simple("number", _, _), .number):
            return nil
        case (.simple("integer", _, let least), .number(let text)):
            guard let number = Int64(text), number >= least ?? .min else { return "\(owner): \(text)" }
            return nil
        case (.words(let words), .string(let text)): return words.contains(text) ? nil : "\(owner): '\(text)'"
        case (.list(let element), .array(let values)):
            for value in values {
                if let problem = problem(with: value, element, of: "\(owner)[]") { return problem }
            }
            return nil
        case (.object(let members, let others), .object(let values)):
            return problem(with: values, members, others, of: owner)
        case (.oneOf(let schemas, _), _):
            let fitting = schemas.filter { problem(with: value, $0, of: owner) == nil }
            return fitting.count == 1 ? nil : "\(owner): fits \(fitting.count) of \(schemas.count)"
        case (.named(let name, let schema), _): return problem(with: value, schema, of: name)
        default: return "\(owner): is of another type"
        }
    }

    private mutating func problem(
        with values: [JSONValue.Member], _ members: [JSONSchema.Member], _ others: JSONSchema?, of owner: String
    ) -> String? {
        for member in members where member.isRequired && !values.contains(where: { $0.key == member.name }) {
            return "\(owner): lacks \(member.name)"
        }
        for value in values {
            let place = "\(owner).\(value.key)"
            guard let schema = members.first(where: { $0.name == value.key })?.schema ?? others else {
                return "\(place): is not declared"
            }
            met.insert(place)
            if let problem = problem(with: value.value, schema, of: place) { return problem }
        }
        return nil
    }

    /// Every member that a schema declares, by owner.
    static func declared(in schema: JSONSchema, of owner: String) -> Set<String> {
        switch schema.form {
        case .any, .simple, .words: []
        case .list(let element): declared(in: element, of: "\(owner)[]")
        case .oneOf(let schemas, _): schemas.reduce(into: []) { $0.formUnion(declared(in: $1, of: owner)) }
        case .named(let name, let schema): declared(in: schema, of: name)
        case .object(let members, _):
            members.reduce(into: []) { declared, member in
                let place = "\(owner).\(member.name)"
                declared.insert(place)
                declared.formUnion(self.declared(in: member.schema, of: place))
            }
        }
    }
}
