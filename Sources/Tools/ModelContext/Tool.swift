internal import Application
internal import TextFormats
internal import Users

/// Something that a language model can use: a command, and those of its parameters that a model may give.
struct Tool: Sendable {
    /// A parameter of the command as a member of the arguments.
    struct Parameter: Sendable {
        enum Kind: Sendable {
            case text, integer, flag
            /// A value of a filter, before which a sign says that it is no word of the language.
            case filter
        }

        var name: String
        var kind: Kind
        /// The option's word; nil where the place tells the parameter.
        var token: String?
        var isRequired: Bool
        var text: String
    }

    /// What the call adds that a model does not say.
    enum Addition: Sendable {
        /// The cart of the session, first.
        case cart
        /// `CUSTOMER`, so that what is written can be forgotten.
        case customer
        /// For whom an order is cancelled.
        case party(String)
    }

    let name: String
    let command: CommandDeclaration
    let parameters: [Parameter]
    let additions: [Addition]
    /// What a model is told besides what the command does.
    let advice: String?
    /// Whether it takes something away from somebody.
    let isDestructive: Bool

    /// A tool of a command.
    ///
    /// - Parameters:
    ///   - shown: what it takes of the command's parameters: the names of arguments, and the words of options.
    ///   - required: which options a call has to have, though the command does not ask for them.
    init(
        _ name: String, _ command: String, _ shown: [String], required: [String] = [],
        adding additions: [Addition] = [],
        isDestructive: Bool = false, _ advice: String? = nil
    ) {
        guard let declaration = Command.all.first(where: { $0.declaration.name == command })?.declaration else {
            preconditionFailure("no command \(command)")
        }
        self.name = name
        self.command = declaration
        parameters = shown.map { name in
            guard let description = declaration.parameterDescriptions.first(where: { ($0.token ?? $0.name) == name })
            else { preconditionFailure("\(command) has no parameter \(name)") }
            return Parameter(description, isRequired: !description.isOptional || required.contains(name))
        }
        self.additions = additions
        self.advice = advice
        self.isDestructive = isDestructive
    }

    /// Whether users of a role may use it.
    func isFor(_ role: Role) -> Bool {
        let needsCart = additions.contains { if case .cart = $0 { true } else { false } }
        return Rights(of: role).contains(command.right) && (!needsCart || Rights(of: role).mayActAs(.customer))
    }

    var description: String { advice.map { "\(command.summary) \($0)" } ?? command.summary }

    /// Writes it as `tools/list` shows it.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", name)
        writer.field("description", description)
        writer.key("inputSchema")
        writer.beginObject()
        writer.field("type", "object")
        writer.key("properties")
        writer.beginObject()
        for parameter in parameters {
            writer.key(dynamic: parameter.name)
            writer.beginObject()
            writer.field("type", parameter.type)
            writer.field("description", parameter.text)
            writer.endObject()
        }
        writer.endObject()
        writer.field("required", parameters.filter(\.isRequired).map(\.name))
        writer.field("additionalProperties", false)
        writer.endObject()
        writer.key("annotations")
        writer.beginObject()
        writer.field("readOnlyHint", command.effect.isRead)
        if !command.effect.isRead { writer.field("destructiveHint", isDestructive) }
        writer.field("openWorldHint", false)
        writer.endObject()
        writer.endObject()
    }
}

extension Tool.Parameter {
    fileprivate init(_ description: ParameterDescription, isRequired: Bool) {
        name = (description.token ?? description.name).lowercased()
        token = description.token
        self.isRequired = isRequired
        kind =
            switch description.kind {
            case .pureToken: .flag
            case .integer: .integer
            // Where a page is cut is said by an option of queries, which are read as a whole.
            case .string where description.token == "LIMIT": .integer
            case .string: description.name.hasSuffix("…") ? .filter : .text
            }
        text =
            switch kind {
            case .flag: "true for only what is \(name)"
            case .filter: "which \(description.name.dropLast(2))"
            case .text, .integer: description.accepted
            }
    }

    fileprivate var type: String {
        switch kind {
        case .text, .filter: "string"
        case .integer: "integer"
        case .flag: "boolean"
        }
    }

    /// The words that a value stands for; nil if it is none.
    func words(_ value: JSONValue) -> [String]? {
        let option = token.map { [$0] } ?? []
        switch (kind, value) {
        case (.flag, .bool(let isSet)): return isSet ? option : []
        case (.text, .string(let text)): return option + [text]
        case (.filter, .string(let text)): return option + ["=\(text)"]
        case (.integer, .number(let digits)) where Int64(digits) != nil: return option + [digits]
        default: return nil
        }
    }
}

// MARK: The table

extension Tool {
    /// Every tool.
    static let all = searching + carts + orders + kitchens + logs

    private static let searching = [
        Tool(
            "search_items", "BROWSE",
            ["TEXT", "CITY", "OUTLET", "CUISINE", "TAG", "OPEN", "SORT", "LIMIT", "AFTER"]),
        Tool("search_outlets", "OUTLETS", ["TEXT", "CITY", "CUISINE", "OPEN", "SORT", "LIMIT", "AFTER"]),
        Tool("get_menu", "MENU.GET", ["outlet"], "Groups say which options an item takes."),
        Tool("get_item", "ITEM.GET", ["outlet", "item"]),
    ]

    private static let carts = [
        Tool(
            "add_to_cart", "CART.ADD", ["outlet", "item", "quantity", "OPTIONS", "NOTE"], adding: [.cart, .customer],
            "All items of a cart are of one outlet."),
        Tool("set_quantity", "CART.SET", ["line", "quantity"], adding: [.cart], "The line is that of get_cart."),
        Tool("choose_service", "CART.SERVICE", ["service", "TABLE", "FOR"], adding: [.cart]),
        Tool("get_cart", "CART.GET", [], adding: [.cart]),
        Tool("get_quote", "CART.QUOTE", [], adding: [.cart], "Show it to the customer before place_order."),
        Tool(
            "place_order", "CART.CHECKOUT", ["QUOTE", "NAME", "PHONE", "ADDRESS", "MISSING"], required: ["QUOTE"],
            adding: [.cart, .customer],
            "Only after the customer has seen the quote with this digest and has said yes. Another cart begins then."),
    ]

    private static let orders = [
        Tool("get_order", "ORDER.GET", ["order"]),
        Tool(
            "cancel_order", "ORDER.CANCEL", ["order", "CODE", "REASON"], adding: [.party("customer")],
            isDestructive: true),
    ]

    private static let kitchens = [
        Tool("list_outlets", "OUTLETS.OWN", []),
        Tool("get_kitchen", "KITCHEN", ["outlet"]),
        Tool("accept_order", "ORDER.ACCEPT", ["order", "READY"]),
        Tool("reject_order", "ORDER.REJECT", ["order", "CODE", "REASON"], isDestructive: true),
        Tool("ready_order", "ORDER.READY", ["order"]),
        Tool("complete_order", "ORDER.COMPLETE", ["order"]),
        Tool("suspend_item", "MENU.ITEM.SUSPEND", ["outlet", "item", "UNTIL"], isDestructive: true),
        Tool("resume_item", "MENU.ITEM.RESUME", ["outlet", "item"]),
        Tool("get_takings", "TAKINGS", ["outlet", "FROM", "UNTIL"]),
    ]

    private static let logs = [Tool("read_log", "LOG.READ", ["STREAM", "KIND", "FROM", "COUNT"])]
}
