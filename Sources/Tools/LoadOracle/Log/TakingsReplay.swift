/// What an outlet took, as the events of its orders add up, compared with what `TAKINGS` answers.
struct TakingsReplay {
    /// What a sum is of: the way in which something was had, what became of it, and what it is for.
    private struct Subject: Hashable {
        var service: Text?
        var movement: Text
        var part: Text

        var text: String { "\(movement) \(part)\(service.map { " by \($0)" } ?? "")" }
    }

    private typealias Bill = [Text: Int64]

    private struct Order {
        var service: Text?
        var bill: Bill
    }

    private var orders: [String: Order] = [:]
    private var sums: [Subject: Int64] = [:]

    // MARK: Events

    mutating func apply(_ event: LogEvent, ofOrder id: String) {
        switch event.kind {
        case "order.placed":
            let bill = TakingsReplay.bill(event)
            orders[id] = Order(service: event.payload["service"]?.text, bill: bill)
            add(bill, "sold", id)
        case "order.changed":
            let after = TakingsReplay.bill(event)
            let difference = after.merging(orders[id]?.bill.mapValues { -$0 } ?? [:], uniquingKeysWith: +)
            orders[id]?.bill = after
            add(difference, "changed", id)
        case "order.rejected", "order.cancelled": add(orders[id]?.bill ?? [:], "cancelled", id)
        case "order.refunded":
            add(
                TakingsReplay.taxes(event.payload["taxes"]).merging(["total": event.number("amount")]) { $1 },
                "refunded", id)
        case "order.paymentReported":
            let kind = event.payload["state"]?.text ?? ""
            sums[Subject(movement: "paid", part: Text("\(kind) count")), default: 0] += 1
            sums[Subject(movement: "paid", part: kind), default: 0] += event.number("amount")
        default: break
        }
    }

    private mutating func add(_ bill: Bill, _ movement: Text, _ order: String) {
        let service = orders[order]?.service
        sums[Subject(service: service, movement: movement, part: "count"), default: 0] += 1
        for (part, amount) in bill {
            sums[Subject(service: service, movement: movement, part: part), default: 0] += amount
        }
    }

    /// What an event says that an order costs, by what it is for.
    private static func bill(_ event: LogEvent) -> Bill {
        var bill: Bill = ["total": event.number("total")]
        for line in event.payload["lines"]?.array ?? [] {
            bill["lines", default: 0] += (line["unitPrice"]?.integer ?? 0) * (line["quantity"]?.integer ?? 0)
        }
        for charge in event.payload["charges"]?.array ?? [] {
            guard let kind = charge["kind"]?.text, kind != "tax" else { continue }
            let part = kind == "discount" ? Text("discount \(charge["by"]?.text ?? "")") : kind
            bill[part, default: 0] += charge["amount"]?.integer ?? 0
        }
        let charges = event.payload["charges"]?.array?.filter { $0["kind"]?.text == "tax" }
        return bill.merging(taxes(charges.map { .array($0) })) { $1 }
    }

    /// Taxes by their ids and rates, with what they are of.
    private static func taxes(_ shown: JSON?) -> Bill {
        (shown?.array ?? []).reduce(into: [:]) { bill, tax in
            let name = "tax \(tax["id"]?.text ?? "") at \(tax["rate"]?.integer ?? 0)"
            bill[Text(name), default: 0] += tax["amount"]?.integer ?? 0
            bill[Text("\(name), base"), default: 0] += tax["base"]?.integer ?? 0
        }
    }

    // MARK: The answer

    /// How a document of all days differs; nil if it does not.
    func difference(from document: JSON) -> String? {
        var shown: [Subject: Int64] = [:]
        for part in document["sum"]?["services"]?.array ?? [] {
            let service = part["service"]?.text
            for movement in ["sold", "changed", "cancelled", "refunded"] as [Text] {
                guard case .object(let members)? = part[movement] else { continue }
                func set(_ part: Text, _ amount: Int64?) {
                    shown[Subject(service: service, movement: movement, part: part)] = amount
                }
                for (name, amount) in TakingsReplay.taxes(members["taxes"]) { set(name, amount) }
                for discount in members["discounts"]?.array ?? [] {
                    set(Text("discount \(discount["by"]?.text ?? "")"), discount["amount"]?.integer)
                }
                for (name, value) in members where value.array == nil { set(name, value.integer) }
            }
        }
        if case .object(let kinds)? = document["sum"]?["payments"] {
            for (kind, sum) in kinds {
                shown[Subject(movement: "paid", part: Text("\(kind) count"))] = sum["count"]?.integer
                shown[Subject(movement: "paid", part: kind)] = sum["amount"]?.integer
            }
        }
        for subject in Set(sums.keys).union(shown.keys).sorted(by: { $0.text < $1.text }) {
            let (ours, theirs) = (sums[subject] ?? 0, shown[subject] ?? 0)
            if ours != theirs { return "\(subject.text) is \(theirs), and the events of its orders add up to \(ours)" }
        }
        return netDifference(from: document["sum"]?["net"])
    }

    /// How what was sold and changed, less what was cancelled and given back, differs.
    private func netDifference(from shown: JSON?) -> String? {
        var net: Bill = [:]
        for (subject, amount) in sums where subject.part == "total" || subject.part.string.hasPrefix("tax ") {
            net[subject.part, default: 0] +=
                subject.movement == "sold" || subject.movement == "changed" ? amount : -amount
        }
        var theirs = TakingsReplay.taxes(shown?["taxes"])
        theirs["total"] = shown?["total"]?.integer
        for part in Set(net.keys).union(theirs.keys).sorted() where net[part] ?? 0 != theirs[part] ?? 0 {
            return "net \(part) is \(theirs[part] ?? 0), and the events of its orders add up to \(net[part] ?? 0)"
        }
        return nil
    }
}
