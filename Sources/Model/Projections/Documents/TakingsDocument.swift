public import Domain
internal import EventLog
public import TextFormats

/// What an outlet took, as `TAKINGS` answers it.
public struct TakingsDocument {
    /// A day with its sums.
    public struct Day {
        /// As `2026-11-26`.
        public var name: String
        public var begins: Timestamp
        public var ends: Timestamp
        public var sums: TakingsSums
        /// Its hours, by when they begin; nil where it is not divided.
        public var hours: [(begins: Timestamp, sums: TakingsSums)]?

        /// A day.
        public init(
            _ name: String, from begins: Timestamp, until ends: Timestamp, _ sums: TakingsSums,
            hours: [(begins: Timestamp, sums: TakingsSums)]? = nil
        ) {
            self.name = name
            self.begins = begins
            self.ends = ends
            self.sums = sums
            self.hours = hours
        }
    }

    /// The document.
    public static func bytes(of outlet: Identifier, _ details: OutletDetails, _ days: [Day]) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1_000 * (days.count + 1))
        writer.beginObject()
        writer.field("outlet", outlet.rawValue)
        writer.field("currency", details.currency.code)
        writer.field("timeZone", details.timeZone.string)
        if let included = details.pricing.taxIncluded { writer.field("taxIncluded", included) }
        writer.key("days")
        writer.beginArray()
        var all = TakingsSums()
        for day in days {
            writer.beginObject()
            writer.field("day", day.name)
            writer.field("from", day.begins.rfc3339)
            writer.field("until", day.ends.rfc3339)
            write(day.sums, to: &writer)
            if let hours = day.hours {
                writer.key("hours")
                writer.beginArray()
                for hour in hours {
                    writer.beginObject()
                    writer.field("from", hour.begins.rfc3339)
                    write(hour.sums, to: &writer)
                    writer.endObject()
                }
                writer.endArray()
            }
            writer.endObject()
            all.add(day.sums)
        }
        writer.endArray()
        writer.key("sum")
        writer.beginObject()
        write(all, to: &writer)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ sums: TakingsSums, to writer: inout JSONWriter) {
        writer.key("services")
        writer.beginArray()
        let services = [nil] + ServiceKind.allCases.map(Optional.some)
        for service in services {
            let part = sums.entries.filter { $0.subject.movement != .paid && $0.subject.service == service }
            guard !part.isEmpty else { continue }
            writer.beginObject()
            writer.field("service", service?.rawValue)
            for movement in [TakingsSums.Movement.sold, .changed, .cancelled, .refunded] {
                let isThere = part.contains { $0.subject.movement == movement }
                guard isThere || movement != .changed else { continue }
                writer.key(dynamic: movement.rawValue)
                write(part.filter { $0.subject.movement == movement }, to: &writer)
            }
            writeNet(of: part, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.key("payments")
        writer.beginObject()
        for (subject, sum) in sums.entries where subject.movement == .paid {
            writer.key(dynamic: subject.kind.name)
            writer.beginObject()
            writer.field("count", sum.count)
            writer.field("amount", sum.amount)
            writer.endObject()
        }
        writer.endObject()
        writeNet(of: sums.entries, to: &writer)
    }

    /// The sums of one movement. Charges beside taxes are there if anything was charged.
    private static func write(
        _ entries: [(subject: TakingsSums.Subject, sum: TakingsSums.Sum)], to writer: inout JSONWriter
    ) {
        func sum(of kind: TakingsSums.Kind) -> TakingsSums.Sum? { entries.first { $0.subject.kind == kind }?.sum }
        writer.beginObject()
        writer.field("count", sum(of: .total)?.count ?? 0)
        writer.field("total", sum(of: .total)?.amount ?? 0)
        if let lines = sum(of: .lines) { writer.field("lines", lines.amount) }
        for kind in Charge.Kind.allCases where kind != .tax {
            guard let charged = sum(of: .charge(kind)) else { continue }
            writer.key(dynamic: kind.rawValue)
            writer.integer(charged.amount)
        }
        let discounts = Promotion.Payer.allCases.compactMap { payer in
            sum(of: .discount(payer)).map { (payer, $0.amount) }
        }
        if !discounts.isEmpty {
            writer.key("discounts")
            writer.beginArray()
            for (payer, amount) in discounts {
                writer.beginObject()
                writer.field("by", payer.rawValue)
                writer.field("amount", amount)
                writer.endObject()
            }
            writer.endArray()
        }
        writeTaxes(entries.filter { $0.subject.kind == .charge(.tax) }, to: &writer)
        writer.endObject()
    }

    private static func writeTaxes(
        _ entries: [(subject: TakingsSums.Subject, sum: TakingsSums.Sum)], to writer: inout JSONWriter
    ) {
        writer.key("taxes")
        writer.beginArray()
        for (subject, sum) in entries {
            writer.beginObject()
            writer.field("id", subject.tax?.rawValue)
            writer.field("rate", subject.rate)
            writer.field("base", sum.base)
            writer.field("amount", sum.amount)
            writer.endObject()
        }
        writer.endArray()
    }

    /// What was sold and changed, less what was cancelled and given back.
    private static func writeNet(
        of entries: [(subject: TakingsSums.Subject, sum: TakingsSums.Sum)], to writer: inout JSONWriter
    ) {
        var net = TakingsSums()
        for (subject, sum) in entries where subject.movement != .paid {
            guard subject.kind == .total || subject.kind == .charge(.tax) else { continue }
            net.add(
                TakingsSums.Subject(.sold, subject.kind, tax: subject.tax, rate: subject.rate),
                [.sold, .changed].contains(subject.movement) ? sum : sum.negated)
        }
        writer.key("net")
        writer.beginObject()
        writer.field("total", net[TakingsSums.Subject(.sold, .total)].amount)
        writeTaxes(net.entries.filter { $0.subject.kind == .charge(.tax) }, to: &writer)
        writer.endObject()
    }
}

extension TakingsDocument {
    private static let taxes = JSONSchema.Member.member(
        "taxes",
        .list(
            of: .object([
                .member("id", .identifier.orNull), .member("rate", .rate.orNull),
                .member("base", .money), .member("amount", .money),
            ]).named("TaxSum")))

    private static let net = JSONSchema.Member.member(
        "net", .object([.member("total", .money), taxes]).named("NetSum"), "less what was cancelled and given back")

    private static let movement = JSONSchema.object(
        [.member("count", .integer), .member("total", .money), .optional("lines", .money)],
        Charge.Kind.allCases.filter { $0 != .tax && $0 != .discount }.map { .optional($0.rawValue, .money) },
        [
            .optional(
                "discounts",
                .list(
                    of: .object([.member("by", .words(of: Promotion.Payer.self)), .member("amount", .money)])
                        .named("DiscountSum"))), taxes,
        ]
    ).named("MovementSum")

    private static let service = JSONSchema.object([
        .member("service", .words(of: ServiceKind.self).orNull), .member("sold", movement),
        .optional("changed", movement), .member("cancelled", movement), .member("refunded", movement), net,
    ]).named("ServiceSum")

    private static let sums: [JSONSchema.Member] = [
        .member("services", .list(of: service)),
        .member(
            "payments",
            .object(
                Order.PaymentKind.allCases.map {
                    .optional(
                        $0.rawValue,
                        .object([.member("count", .integer), .member("amount", .money)]).named("PaymentSum"))
                })), net,
    ]

    private static let hour = JSONSchema.object([.member("from", .time)], sums).named("TakingsHour")
    private static let day = JSONSchema.object(
        [.member("day", .day), .member("from", .time), .member("until", .time)], sums,
        [
            .optional("hours", .list(of: hour))
        ]
    ).named("TakingsDay")

    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("currency", .string), .member("timeZone", .string),
        .optional("taxIncluded", .boolean), .member("days", .list(of: day)),
        .member("sum", .object(sums).named("TakingsSum")),
    ]).named("Takings")
}
