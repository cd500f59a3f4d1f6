package import TextFormats
package import Users

/// How the value of a parameter is read from an argument, and what `HELP` and `COMMAND DOCS` call its type.
package struct ArgumentType<Value>: Sendable {
    /// Reads the value; `field` names it in the error.
    package typealias Read = @Sendable (_ argument: Argument, _ field: String) throws(Failure) -> Value

    let kind: ParameterDescription.Kind
    /// The values that it takes, in the words of its errors: `from 1 to 100`.
    let accepted: String
    /// What an id of this type names, if it matters who may use it.
    let subject: Subject?
    /// What it is as JSON, where that says more than its kind: a document, or one of some words.
    let schema: JSONSchema?
    package let read: Read

    /// A way to read values.
    package init(
        kind: ParameterDescription.Kind, accepting accepted: String, subject: Subject? = nil,
        schema: JSONSchema? = nil, read: @escaping Read
    ) {
        self.kind = kind
        self.accepted = accepted
        self.subject = subject
        self.schema = schema
        self.read = read
    }

    /// The same type, of which the command itself takes only some values.
    package func accepting(_ accepted: String) -> ArgumentType {
        ArgumentType(kind: kind, accepting: accepted, subject: subject, schema: schema, read: read)
    }
}

/// Where a call has the value of a parameter.
package enum ParameterPlace {
    /// The argument at an index.
    case argument(Int)
    /// The value of an option, by the option's number.
    case option(Int)
}

/// The key to an argument that every call has: `call[parameter]` is its value.
package struct Parameter<Value>: Sendable {
    let place: ParameterPlace
    /// What errors call it.
    package let field: String
    let read: ArgumentType<Value>.Read
}

/// The key to an argument that a call may lack: `call[parameter]` is its value, or nil.
package struct OptionalParameter<Value>: Sendable {
    let place: ParameterPlace
    /// What errors call it.
    package let field: String
    let read: ArgumentType<Value>.Read
}

/// The key to an argument that a call may lack, and then has all the same: `call[parameter]` is its value.
package struct DefaultedParameter<Value: Sendable>: Sendable {
    /// Its value, or nil where the call has none.
    let given: OptionalParameter<Value>
    let standard: Value
}

/// What the arguments of a repeated parameter name.
package enum RepeatedSubject: Sendable {
    /// Each is a channel.
    case channels
    /// Together they ask for whatever matches in the catalogue.
    case catalogue
}

/// The key to all arguments that follow the others: `call[parameter]` is a collection of them.
package struct RepeatedParameter: Sendable {
    let first: Int
}

/// A parameter as `HELP`, `COMMAND DOCS` and docs/reference/ describe it.
package struct ParameterDescription: Sendable {
    /// What an argument is to a client.
    package enum Kind: String, Sendable {
        case string, integer, pureToken = "pure-token"
    }

    /// What the value is called; several words for as many values, `…` for more of the last.
    package var name: String
    /// The type of the value.
    package var kind: Kind
    /// The word in front of the value, or the word itself; nil where the place tells the parameter.
    package var token: String?
    /// Whether a call may lack it.
    package var isOptional: Bool
    /// Whether a call may have it more than once.
    package var isRepeated: Bool
    /// The values that it takes; empty for a word without one.
    package var accepted: String
    /// The value of a call that lacks it, if it has one.
    package var standard: String?
    /// What it is as JSON, where that says more than its kind: a document, or one of some words.
    package var schema: JSONSchema?

    /// How many arguments it takes.
    var argumentCount: Int { token != nil && kind != .pureToken ? 2 : 1 }

    /// As a person reads it: `<item>`, `[NOTE <text>]`.
    var usage: String {
        let value =
            kind == .pureToken
            ? "" : name.split(separator: " ").map { $0 == "…" ? "…" : "<\($0)>" }.joined(separator: " ")
        let words = [token, value.isEmpty ? nil : value].compactMap(\.self).joined(separator: " ")
        return (isOptional ? "[\(words)]" : words) + (isRepeated ? " …" : "")
    }
}

/// The parameters of a command, in the order of its usage. Each declaration gives the key to its value.
package struct ParameterList: Sendable {
    private(set) var descriptions: [ParameterDescription] = []
    /// The words of the options, in capital letters; an option's number is its index.
    private(set) var optionTokens: [[UInt8]] = []
    /// The options that no call may lack, by number.
    private(set) var requiredOptions: [Int] = []
    /// How many arguments the command's name takes.
    let nameCount: Int
    /// How many arguments have a fixed place, the command's name included; options follow them.
    private(set) var fixedCount: Int
    /// The places of ids of which it matters who may use them.
    private(set) var subjects: [(place: ParameterPlace, subject: Subject)] = []
    private(set) var repeatedSubject: RepeatedSubject?

    /// No parameters yet, of a command of that name.
    package init(for name: String) {
        nameCount = name.split(separator: " ").count
        fixedCount = nameCount
    }

    /// An argument that every call has.
    package mutating func required<Value>(_ name: String, _ type: ArgumentType<Value>) -> Parameter<Value> {
        Parameter(place: noted(place(name, type, isOptional: false), type.subject), field: name, read: type.read)
    }

    /// An argument that a call may lack; only others like it may follow.
    package mutating func optional<Value>(_ name: String, _ type: ArgumentType<Value>) -> OptionalParameter<Value> {
        OptionalParameter(place: noted(place(name, type, isOptional: true), type.subject), field: name, read: type.read)
    }

    /// As ``optional(_:_:)``, with the value of a call that lacks it.
    package mutating func optional<Value>(
        _ name: String, _ type: ArgumentType<Value>, default standard: Value
    ) -> DefaultedParameter<Value> {
        defaulted(optional(name, type), standard)
    }

    private mutating func defaulted<Value>(
        _ parameter: OptionalParameter<Value>, _ standard: Value
    ) -> DefaultedParameter<Value> {
        descriptions[descriptions.count - 1].standard = "\(standard)"
        return DefaultedParameter(given: parameter, standard: standard)
    }

    private mutating func noted(_ place: ParameterPlace, _ subject: Subject?) -> ParameterPlace {
        if let subject { subjects.append((place, subject)) }
        return place
    }

    private mutating func place<Value>(
        _ name: String, _ type: ArgumentType<Value>, isOptional: Bool
    ) -> ParameterPlace {
        precondition(optionTokens.isEmpty, "arguments with a fixed place come before options")
        descriptions.append(
            ParameterDescription(
                name: name, kind: type.kind, token: nil, isOptional: isOptional, isRepeated: false,
                accepted: type.accepted, schema: type.schema))
        fixedCount += 1
        return .argument(fixedCount - 1)
    }

    /// All arguments from here on; nothing but their description follows.
    package mutating func repeated(
        _ name: String, accepting accepted: String, isOptional: Bool = false, of subject: RepeatedSubject? = nil
    ) -> RepeatedParameter {
        repeated(
            [
                ParameterDescription(
                    name: name, kind: .string, token: nil, isOptional: isOptional, isRepeated: true, accepted: accepted)
            ], of: subject)
    }

    /// All arguments from here on, which the command reads by a grammar of its own.
    mutating func repeated(
        _ descriptions: [ParameterDescription], of subject: RepeatedSubject?
    ) -> RepeatedParameter {
        self.descriptions += descriptions
        repeatedSubject = subject
        return RepeatedParameter(first: fixedCount)
    }

    /// A word and its value, anywhere behind the arguments with a fixed place, in any letter case.
    package mutating func option<Value>(
        _ token: String, _ name: String, _ type: ArgumentType<Value>
    ) -> OptionalParameter<Value> {
        let place = noted(option(token, name, type, isOptional: true), type.subject)
        return OptionalParameter(place: place, field: token, read: type.read)
    }

    /// As ``option(_:_:_:)``, with the value of a call that lacks it.
    package mutating func option<Value>(
        _ token: String, _ name: String, _ type: ArgumentType<Value>, default standard: Value
    ) -> DefaultedParameter<Value> {
        defaulted(option(token, name, type), standard)
    }

    /// As ``option(_:_:_:)``, of an option that no call may lack.
    package mutating func requiredOption<Value>(
        _ token: String, _ name: String, _ type: ArgumentType<Value>
    ) -> Parameter<Value> {
        requiredOptions.append(optionTokens.count)
        let place = noted(option(token, name, type, isOptional: false), type.subject)
        return Parameter(place: place, field: token, read: type.read)
    }

    private mutating func option<Value>(
        _ token: String, _ name: String, _ type: ArgumentType<Value>, isOptional: Bool
    ) -> ParameterPlace {
        precondition(optionTokens.count < Call.maximumOptions, "more options than a call has room for")
        descriptions.append(
            ParameterDescription(
                name: name, kind: type.kind, token: token, isOptional: isOptional, isRepeated: false,
                accepted: type.accepted, schema: type.schema))
        optionTokens.append(Array(token.utf8))
        return .option(optionTokens.count - 1)
    }
}
