import LoadOracle

/// What moved money, of one order.
enum Movement {
    case sold(Bill)
    case cancelled(Bill)
    case changed(from: Bill, to: Bill)
    /// Some of an order with that bill was given back.
    case refunded(Bill.Columns, of: Bill)
    case paid(kind: String, minor: Int64)
}

/// What an outlet took, as docs/ordering.md adds it up.
struct TakingsModel {
    /// A tax, by its id and rate.
    private struct Tax: Hashable {
        var id: String
        var rate: Int64
    }

    /// The sums of one movement.
    private struct Sums {
        var count: Int64 = 0
        var total: Int64 = 0
        /// By what it is for: `lines`, and the kinds of charges.
        var parts: [String: Int64] = [:]
        var taxes: [Tax: (base: Int64, amount: Int64)] = [:]

        mutating func add(_ part: String, _ amount: Int64) { parts[part, default: 0] += amount }

        mutating func add(_ tax: Tax, _ base: Int64, _ amount: Int64) {
            taxes[tax, default: (0, 0)].base += base
            taxes[tax, default: (0, 0)].amount += amount
        }

        mutating func add(_ other: Sums) {
            count += other.count
            total += other.total
            parts.merge(other.parts, uniquingKeysWith: +)
            for (tax, sum) in other.taxes { add(tax, sum.base, sum.amount) }
        }

        var negated: Sums {
            Sums(
                count: -count, total: -total, parts: parts.mapValues { -$0 },
                taxes: taxes.mapValues { (-$0.base, -$0.amount) })
        }

        var shownTaxes: JSON {
            .array(
                taxes.sorted { ($0.key.id, $0.key.rate) < ($1.key.id, $1.key.rate) }.map { tax, sum in
                    .object([
                        "id": JSON(tax.id), "rate": JSON(tax.rate), "base": JSON(sum.base), "amount": JSON(sum.amount),
                    ])
                })
        }

        var document: JSON {
            var members: [Text: JSON] = ["count": JSON(count), "total": JSON(total), "taxes": shownTaxes]
            for (part, amount) in parts where part != "discount" { members[Text(part)] = JSON(amount) }
            if let amount = parts["discount"] {
                members["discounts"] = .array([.object(["by": JSON("outlet"), "amount": JSON(amount)])])
            }
            return .object(members)
        }
    }

    private var sold = Sums()
    private var changed = Sums()
    private var cancelled = Sums()
    private var refunded = Sums()
    private var payments: [String: (count: Int64, amount: Int64)] = [:]

    init(_ movements: some Sequence<Movement>) { for movement in movements { add(movement) } }

    private mutating func add(_ movement: Movement) {
        switch movement {
        case .sold(let bill): sold.add(TakingsModel.sums(bill))
        case .cancelled(let bill): cancelled.add(TakingsModel.sums(bill))
        case .changed(let before, let after):
            var sums = TakingsModel.sums(after)
            sums.add(TakingsModel.sums(before).negated)
            sums.count = 1
            sums.parts = sums.parts.filter { $0.value != 0 }
            sums.taxes = sums.taxes.filter { $0.value != (0, 0) }
            changed.add(sums)
        case .refunded(let columns, let bill):
            var sums = Sums(count: 1, total: columns.money)
            for charge in bill.charges where charge.kind == "tax" {
                let (base, amount) = (columns[.base(charge.id ?? "")] ?? 0, columns[.tax(charge.id ?? "")] ?? 0)
                if base > 0 || amount > 0 { sums.add(TakingsModel.tax(charge), base, amount) }
            }
            refunded.add(sums)
        case .paid(let kind, let minor):
            payments[kind, default: (0, 0)].count += 1
            payments[kind, default: (0, 0)].amount += minor
        }
    }

    private static func tax(_ charge: Bill.Charge) -> Tax { Tax(id: charge.id ?? "", rate: charge.rate ?? 0) }

    private static func sums(_ bill: Bill) -> Sums {
        var sums = Sums(count: 1, total: bill.total, parts: ["lines": bill.subtotal])
        for charge in bill.charges {
            if charge.kind == "tax" {
                sums.add(tax(charge), charge.bases.reduce(0, +), charge.amount)
            } else {
                sums.add(charge.kind, charge.amount)
            }
        }
        return sums
    }

    /// `sum`, as `TAKINGS` shows it.
    var document: JSON {
        var net = sold
        net.add(changed)
        net.add(cancelled.negated)
        net.add(refunded.negated)
        let shownNet = JSON.object(["total": JSON(net.total), "taxes": net.shownTaxes])
        let isThere = [sold, changed, cancelled, refunded].contains { $0.count > 0 }
        var service: [Text: JSON] = [
            "service": .null, "sold": sold.document, "cancelled": cancelled.document, "refunded": refunded.document,
            "net": shownNet,
        ]
        if changed.count > 0 { service["changed"] = changed.document }
        let payments = payments.map { kind, sum in
            (Text(kind), JSON.object(["count": JSON(sum.count), "amount": JSON(sum.amount)]))
        }
        return .object([
            "services": .array(isThere ? [.object(service)] : []),
            "payments": .object([Text: JSON](uniqueKeysWithValues: payments)), "net": shownNet,
        ])
    }
}
