/// An option of a command: its name, what it says in the help, and how its texts become a value.
public struct Option<Value: Sendable>: DeclaredOption {
    /// What the help shows.
    public private(set) var declaration: OptionDeclaration
    private let read: @Sendable ([String]) throws(UsageError) -> Value

    /// An option whose value is made of all the texts that were given for it: none, one, or several where it may be
    /// repeated.
    public init(
        _ declaration: OptionDeclaration, _ read: @escaping @Sendable ([String]) throws(UsageError) -> Value
    ) {
        self.declaration = declaration
        self.read = read
    }

    /// The value of the texts that were given.
    func value(of texts: [String]) throws(UsageError) -> Value {
        guard !texts.isEmpty || !declaration.isRequired else { throw UsageError("--\(declaration.name) is needed") }
        return try read(texts.isEmpty ? declaration.defaultText.map { [$0] } ?? [] : texts)
    }

    public func check(_ texts: [String]) throws(UsageError) { _ = try value(of: texts) }

    /// The same option with another sentence in the help.
    public func described(as help: String) -> Option {
        var option = self
        option.declaration.help = help
        return option
    }
}

extension Option {
    /// An option that has to be given.
    public static func required(
        _ name: String, _ placeholder: String, _ help: String, _ type: OptionValue<Value>
    ) -> Option {
        Option(OptionDeclaration(name, placeholder, help, isRequired: true)) { texts throws(UsageError) in
            try type.value(of: texts[0], for: name)
        }
    }

    /// An option with a default, which is written as a user would write it.
    public static func value(
        _ name: String, _ placeholder: String, _ help: String, _ type: OptionValue<Value>, default text: String,
        variable: String? = nil
    ) -> Option {
        Option(OptionDeclaration(name, placeholder, help, variable: variable, defaultText: text)) {
            texts throws(UsageError) in
            try type.value(of: texts[0], for: name)
        }
    }

    /// An option that need not be given; its value is nil then.
    public static func optional<Wrapped>(
        _ name: String, _ placeholder: String, _ help: String, _ type: OptionValue<Wrapped>, variable: String? = nil
    ) -> Option where Value == Wrapped? {
        Option(OptionDeclaration(name, placeholder, help, variable: variable)) { texts throws(UsageError) in
            guard let text = texts.first else { return nil }
            return try type.value(of: text, for: name)
        }
    }
}

extension Option<[String]> {
    /// An option that may be given several times.
    public static func repeated(_ name: String, _ placeholder: String, _ help: String) -> Option {
        Option(OptionDeclaration(name, placeholder, help, isRepeatable: true)) { $0 }
    }
}

extension Option<Bool> {
    /// An option without a value. In an environment variable `yes`, `true`, `on` and `1` stand for it.
    public static func flag(_ name: String, _ help: String) -> Option {
        Option(OptionDeclaration(name, nil, help)) { texts in
            texts.first.map { ["yes", "true", "on", "1"].contains($0.lowercased()) } ?? false
        }
    }
}

/// What is known of an option before anything is typed.
public struct OptionDeclaration: Sendable {
    /// What is typed behind the dashes.
    public let name: String
    /// What stands for its value in the help; nil for a flag.
    public let placeholder: String?
    /// One sentence.
    public internal(set) var help: String
    /// The environment variable that is read where the option is not given, if not that of `CommandSyntax`.
    public let variable: String?
    let defaultText: String?
    let isRequired: Bool
    let isRepeatable: Bool

    /// An option; see the properties.
    public init(
        _ name: String, _ placeholder: String?, _ help: String, variable: String? = nil, defaultText: String? = nil,
        isRequired: Bool = false, isRepeatable: Bool = false
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.variable = variable
        self.defaultText = defaultText
        self.isRequired = isRequired
        self.isRepeatable = isRepeatable
    }
}

/// An option of whatever type.
public protocol DeclaredOption: Sendable {
    /// What is known of it before anything is typed.
    var declaration: OptionDeclaration { get }
    /// Throws where these texts are no value of it.
    func check(_ texts: [String]) throws(UsageError)
}
