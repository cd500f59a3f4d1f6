public import Domain
public import TextFormats

/// The ways to have an outlet's orders, as an object with a member for each.
public enum ServicesCodec {
    /// Writes the object, and leaves out what is not said.
    ///
    /// - Parameter writeHours: writes the field `hours`.
    public static func encode(
        _ services: ByService<OfferedService>, to writer: inout JSONWriter,
        writeHours: (_ writer: inout JSONWriter, _ hours: [OpeningHours]) -> Void
    ) {
        writer.beginObject()
        for (kind, service) in services.list {
            writer.key(dynamic: kind.rawValue)
            writer.beginObject()
            if let charges = service.charges {
                writer.key("charges")
                TermsCodec.encode(charges, to: &writer)
            }
            if let minimum = service.minimumOrder { writer.field("minimumOrder", minimum.minorUnits) }
            if let minutes = service.prepMinutes { writer.field("prepMinutes", minutes) }
            if !service.requirements.isEmpty {
                writer.field("requires", service.requirements.lazy.map(\.rawValue))
            }
            if let hours = service.hours { writeHours(&writer, hours) }
            writer.endObject()
        }
        writer.endObject()
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> ByService<OfferedService> {
        var services = ByService<OfferedService>()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            guard let kind = ServiceKind(rawValue: key.description) else {
                throw reader.failure("a way to have orders")
            }
            services[kind] = try service(from: &reader)
        }
        return services
    }

    private static func service(from reader: inout JSONReader) throws(JSONReadingError) -> OfferedService {
        var charges: PricingTerms.Charges?
        var minimumOrder: Amount?
        var prepMinutes: Int?
        var requirements: [OfferedService.Requirement] = []
        var hours: [OpeningHours]?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "charges": charges = try TermsCodec.decodeCharges(from: &reader)
            case "minimumOrder": minimumOrder = Amount(minorUnits: try reader.integer())
            case "prepMinutes": prepMinutes = Int(try reader.integer())
            case "requires":
                try reader.beginArray()
                while try reader.nextElement() {
                    guard let requirement = OfferedService.Requirement(rawValue: try reader.string()) else {
                        throw reader.failure("what an order needs")
                    }
                    requirements.append(requirement)
                }
                if requirements.isEmpty { throw reader.failure("what an order needs") }
            case "hours": hours = try OutletEventCodec.decodeHours(&reader)
            default: _ = try reader.rawValue()
            }
        }
        return OfferedService(
            charges: charges, minimumOrder: minimumOrder, prepMinutes: prepMinutes, requirements: requirements,
            hours: hours)
    }
}

extension ByService<Amount> {
    /// Writes the members, such as `"delivery":1250`, into an object that was begun.
    func encodeMembers(to writer: inout JSONWriter) {
        for (service, price) in list {
            writer.key(dynamic: service.rawValue)
            writer.integer(price.minorUnits)
        }
    }

    /// Writes the object.
    public func encode(to writer: inout JSONWriter) {
        writer.beginObject()
        encodeMembers(to: &writer)
        writer.endObject()
    }

    static func decode(from reader: inout JSONReader) throws(JSONReadingError) -> Self {
        var prices = Self()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            guard let service = ServiceKind(rawValue: key.description) else {
                throw reader.failure("a way to have orders")
            }
            prices[service] = Amount(minorUnits: try reader.integer())
        }
        if prices.isEmpty { throw reader.failure("prices with ways to have orders") }
        return prices
    }
}

extension ServiceKind {
    /// An object with a member for some ways to have an order.
    public static func schema(of value: JSONSchema) -> JSONSchema {
        .object(allCases.map { .optional($0.rawValue, value) })
    }

    /// Prices by the way to have an order.
    public static let prices = schema(of: .money).named("ServicePrices")
}

extension ServicesCodec {
    /// The members of a way to have orders.
    ///
    /// - Parameter hours: opening hours, as they are written there.
    public static func members(hours: JSONSchema) -> [JSONSchema.Member] {
        [
            .optional("charges", TermsCodec.chargesSchema), .optional("minimumOrder", .money),
            .optional("prepMinutes", .integer),
            .optional("requires", .list(of: .words(of: OfferedService.Requirement.self)), "what an order has to have"),
            .optional("hours", .list(of: hours)),
        ]
    }
}
