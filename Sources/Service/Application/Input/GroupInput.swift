internal import Domain
internal import TextFormats

/// A group of `MENU.PUT`, or the document of `MENU.GROUP.PUT`.
struct GroupInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .optional("id", .identifier, "needed in a menu"), .member("title", .string), .optional("min", .integer),
        .optional("max", .integer), .optional("free", .integer), .optional("setsPrice", .boolean),
        .member("options", .list(of: OptionInput.schema)),
    ]

    let id: Identifier?
    private let title: Text
    private let units: (minimum: Int, maximum: Int, free: Int)
    private let setsPrice: Bool
    private let options: [MenuOption]

    init(_ fields: InputFields) throws(InputError) {
        id = try fields.optional("id")
        title = try fields.required("title")
        setsPrice = try fields.optional("setsPrice") ?? false
        units = (
            try fields.optional("min") ?? (setsPrice ? 1 : 0), try fields.optional("max") ?? 1,
            try fields.optional("free") ?? 0
        )
        let options: [OptionInput] = try fields.required("options")
        self.options = options.map(\.option)
    }

    func group(_ id: Identifier) -> OptionGroup {
        OptionGroup(
            id: id, title: title, minimum: units.minimum, maximum: units.maximum, free: units.free,
            setsPrice: setsPrice, options: options)
    }
}

private struct OptionInput: InputObject {
    static let members: [JSONSchema.Member] = [
        .member("id", .identifier), .member("name", .string), .optional("price", .money),
        .optional("prices", .object(others: .money), "by the size or the way to have the order"),
        .optional("item", .identifier), .optional("tax", .identifier), .optional("default", .integer),
        .optional("max", .integer), .optional("groups", .list(of: .identifier)), .ignored("available"),
        .ignored("availableFrom"),
    ]

    let option: MenuOption

    init(_ fields: InputFields) throws(InputError) {
        let prices: OptionPrices? = try fields.optional("prices")
        option = MenuOption(
            id: try fields.required("id"), name: try fields.required("name"),
            price: try fields.optional("price").map(Amount.init) ?? .zero, sizePrices: prices?.ofSizes ?? [],
            item: try fields.optional("item"), standard: try fields.optional("default") ?? 0,
            maximum: try fields.optional("max") ?? 1, groups: try fields.optional("groups") ?? [],
            servicePrices: prices?.ofServices ?? ByService(), tax: try fields.optional("tax"))
    }
}

/// Prices by the ids of sizes and the names of services: `{"large":150,"delivery":120}`. A menu that has a size of such a
/// name means that.
private struct OptionPrices: InputValue {
    static var expectation: String { "an object" }

    let ofSizes: [MenuOption.SizePrice]
    let ofServices: ByService<Amount>

    init?(input: JSONValue) throws(InputError) {
        guard case .object(let members) = input else { return nil }
        var ofSizes: [MenuOption.SizePrice] = []
        var ofServices = ByService<Amount>()
        for member in members {
            guard let size = Identifier(member.key) else { throw InputError("", "must have ids of options as names") }
            do throws(InputError) {
                let price = Amount(minorUnits: try Int64.read(member.value))
                if let service = ServiceKind(rawValue: member.key) {
                    ofServices[service] = price
                } else {
                    ofSizes.append(MenuOption.SizePrice(size, price))
                }
            } catch {
                throw error.within(member.key)
            }
        }
        (self.ofSizes, self.ofServices) = (ofSizes, ofServices)
    }
}
