internal import Domain
internal import TextFormats

/// The document of `ORDER.CHANGE`.
struct OrderChangeInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("lines", .list(of: LineInput.schema), "what is left of lines"),
        .optional("add", .list(of: ArrivalInput.schema), "what comes in"),
    ]

    private let lines: [LineInput]
    private let arrivals: [ArrivalInput]

    init(_ fields: InputFields) throws(InputError) {
        lines = try fields.optional("lines") ?? []
        arrivals = try fields.optional("add") ?? []
        for (name, count) in [("lines", lines.count), ("add", arrivals.count)] where count > Cart.maximumLines {
            throw InputError(name, "must have at most \(Cart.maximumLines) entries")
        }
    }

    /// What is to be changed.
    ///
    /// - Parameter offer: what the catalogue says of an item with some options.
    func edits(_ offer: (Identifier, [ChosenOption]) -> Offer) -> [Order.LineEdit] {
        func arrival(_ input: ArrivalInput) -> Order.Arrival {
            Order.Arrival(input.item, quantity: input.quantity, offer: offer(input.item, input.options))
        }
        return lines.map { input in
            guard let other = input.other else { return .reduce(line: input.line, to: input.quantity) }
            return .replace(line: input.line, to: input.quantity, by: arrival(other))
        } + arrivals.map { .add(arrival($0)) }
    }
}

/// How many of a line are left, and what comes in place of the rest.
private struct LineInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("line", .string), .optional("quantity", .count, "how many are left; needed without by"),
        .optional("by", ArrivalInput.schema, "what comes in place of the rest"),
    ]

    let line: Text
    let quantity: Int
    let other: ArrivalInput?

    init(_ fields: InputFields) throws(InputError) {
        line = try fields.required("line")
        other = try fields.optional("by")
        quantity = try other == nil ? fields.required("quantity") : fields.optional("quantity") ?? 0
    }
}

/// What comes into an order, chosen as in `CART.ADD`.
private struct ArrivalInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("item", .identifier), .member("quantity", .integer),
        .optional("options", .string, "such as large,cheese*2"),
    ]

    let item: Identifier
    let quantity: Int
    let options: [ChosenOption]

    init(_ fields: InputFields) throws(InputError) {
        item = try fields.required("item")
        quantity = try fields.required("quantity")
        let words: Text = try fields.optional("options") ?? ""
        guard let options = [ChosenOption](words: words.string), options.count <= CartLine.maximumOptions else {
            throw InputError(
                "options",
                "must be at most \(CartLine.maximumOptions) options such as large,cheese*2, each at most 99 times")
        }
        self.options = options
    }
}
