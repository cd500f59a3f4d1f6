internal import Domain
internal import TextFormats

/// What keeps a line of a cart from being ordered as it is: `{"code":"SOLDOUT"}`.
enum LineProblem {
    /// Writes the problem, or null.
    static func write(of line: CartLine, _ offer: Offer, to writer: inout JSONWriter) {
        switch offer {
        case .available(let item) where item.unitPrice == line.unitPrice: writer.null()
        case .available(let item):
            write("PRICECHANGED", to: &writer) { $0.field("unitPrice", item.unitPrice.minorUnits) }
        case .soldOut: write("SOLDOUT", to: &writer)
        case .outOfDaypart(let daypart, let begins):
            write("CLOSED", to: &writer) { writer in
                writer.field("daypart", daypart.rawValue)
                writer.field("availableFrom", begins?.rfc3339)
            }
        case .noItem, .noOutlet, .notForSale: write("GONE", to: &writer)
        case .outletClosed: write("CLOSED", to: &writer)
        case .wrongChoice(let choice): write(choice, to: &writer)
        case .taxGone(let tax): write("TAXGONE", to: &writer) { $0.field("tax", tax.rawValue) }
        }
    }

    private static func write(_ choice: Choice, to writer: inout JSONWriter) {
        switch choice {
        case .gone(let option): write("OPTIONGONE", to: &writer) { $0.field("option", option.rawValue) }
        case .soldOut(let option): write("OPTIONSOLDOUT", to: &writer) { $0.field("option", option.rawValue) }
        case .tooMany(let option, let maximum):
            write("CHOICE", to: &writer) { writer in
                writer.field("option", option.rawValue)
                writer.field("max", maximum)
            }
        case .units(let group, _):
            write("CHOICE", to: &writer) { writer in
                writer.field("group", group.id.rawValue)
                writer.field("min", group.minimum)
                writer.field("max", group.maximum)
            }
        case .notForSale, .priced: write("GONE", to: &writer)
        }
    }

    private static func write(
        _ code: String, to writer: inout JSONWriter, fields: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.beginObject()
        writer.field("code", code)
        fields(&writer)
        writer.endObject()
    }
}

extension LineProblem {
    /// The schema of what is written; null where there is no problem.
    static let schema = JSONSchema.object([
        .member(
            "code",
            .words([
                "PRICECHANGED", "SOLDOUT", "CLOSED", "GONE", "OPTIONGONE", "OPTIONSOLDOUT", "CHOICE", "TAXGONE",
            ])),
        .optional("unitPrice", .money, "what one costs now"), .optional("option", .identifier),
        .optional("group", .identifier), .optional("min", .integer), .optional("max", .integer),
        .optional("tax", .identifier), .optional("daypart", .identifier, "when it can be had"),
        .optional("availableFrom", .time.orNull),
    ]).named("LineProblem")
}
