internal import Domain
internal import Projections

/// Descriptions of the events of outlets.
enum OutletEventText {
    static func words(for event: Outlet.Event, in before: Outlet.State) -> String {
        switch event {
        case .registered(let details): return "registered \(details.name.quoted), in \(details.currency)"
        case .detailsChanged(let changes):
            guard case .registered(let old, _, _) = before else { return "changed" }
            let words = changes.map { change in
                let former = old.all.first { $0.isSameField(as: change) }
                return "\(change.field) to \(change.value(old.currency))"
                    + (former.map { " (was \($0.value(old.currency)))" } ?? "")
            }
            return "changed \(words.joined(separator: ", "))"
        case .opened: return "opened"
        case .closed: return "closed"
        case .openedByHours: return "opened by its hours"
        case .closedByHours(let opensAt):
            return "closed by its hours" + (opensAt.map { " until \($0.rfc3339)" } ?? "")
        case .daypartsChanged(let times):
            return times.active.isEmpty
                ? "no daypart is on" : "now it is \(times.active.map(\.rawValue).joined(separator: ", "))"
        case .slowed(let minutes, let until):
            return "slow until \(until.rfc3339): orders take \(minutes.counted("minute")) longer"
        case .paused(let until, let reason):
            return "paused until \(until.rfc3339)" + (reason.map { ": \($0)" } ?? "")
        case .hidden: return "hidden from lists and searches"
        case .shown: return "shown in lists and searches again"
        case .removed: return "removed"
        }
    }

    static func words(for status: Outlet.Status) -> String {
        switch status {
        case .closed: "closed"
        case .resting: "closed until its hours open it"
        case .open: "open"
        case .slow(let minutes, let until): "open, \(minutes) minutes slower until \(until.rfc3339)"
        case .paused(let until, _): "paused until \(until.rfc3339)"
        }
    }
}

extension OutletDetail {
    fileprivate func isSameField(as other: OutletDetail) -> Bool { field == other.field }

    /// The name that documents use.
    fileprivate var field: String {
        switch self {
        case .name: "name"
        case .city: "city"
        case .area: "area"
        case .address: "address"
        case .timeZone: "timeZone"
        case .cuisines: "cuisines"
        case .priceForTwo: "priceForTwo"
        case .rating: "rating"
        case .ratingCount: "ratingCount"
        case .deliveryMinutes: "deliveryMinutes"
        case .minimumOrder: "minimumOrder"
        case .hours: "hours"
        case .specialDays: "special days"
        case .follows: "what opens it"
        case .prepMinutes: "prepMinutes"
        case .acceptWithin: "acceptWithin"
        case .payment: "payment"
        case .payWithin: "payWithin"
        case .dayStarts: "dayStarts"
        case .pricing: "taxes and charges"
        case .services: "services"
        case .orderAheadDays: "orderAheadDays"
        case .slots: "slots"
        case .dayparts: "dayparts"
        }
    }

    fileprivate func value(_ currency: Currency) -> String {
        func text(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "nothing" }
        switch self {
        case .name(let value), .timeZone(let value): return value.quoted
        case .city(let value), .area(let value), .address(let value): return text(value?.quoted)
        case .cuisines(let values):
            return values.isEmpty ? "nothing" : values.map(\.string).joined(separator: ", ").quoted
        case .priceForTwo(let value), .minimumOrder(let value): return text(value?.words(in: currency))
        case .rating(let value):
            return text(value.map { "\($0.hundredths / 100).\($0.hundredths / 10 % 10)\($0.hundredths % 10)" })
        case .ratingCount(let value), .deliveryMinutes(let value), .prepMinutes(let value), .acceptWithin(let value),
            .payWithin(let value), .dayStarts(let value):
            return text(value)
        case .payment(let value): return value.rawValue
        case .hours(let values): return values.count.counted("period")
        case .specialDays(let values): return values.count.counted("day")
        case .follows(let value): return value.rawValue
        case .pricing(let terms): return terms.words(in: currency)
        case .services(let services):
            let names = services.kinds.map(\.rawValue)
            return names.isEmpty ? "nothing" : names.joined(separator: ", ")
        case .orderAheadDays(let days): return "\(days)"
        case .slots(let slots):
            return text(
                slots.map { slots in
                    "every \(slots.minutes) minutes" + (slots.orders.map { ", for \($0.counted("order")) each" } ?? "")
                })
        case .dayparts(let dayparts):
            return dayparts.isEmpty ? "nothing" : dayparts.map(\.id.rawValue).joined(separator: ", ")
        }
    }
}

extension PricingTerms {
    /// `VAT 20 % on top, delivery 2.99 EUR`.
    fileprivate func words(in currency: Currency) -> String {
        func fee(_ name: String, _ fee: Fee?) -> String? {
            fee.map { fee in
                "\(name) \(fee.amount.words(in: currency))"
                    + (fee.freeFrom.map { ", free from \($0.majorUnits(of: currency))" } ?? "")
            }
        }
        let taxes = taxes.map { "\($0.name) \($0.rate.words) \(taxIncluded ?? false ? "included" : "on top")" }
        let charges = [
            service.map { "service \($0.rate.words)" }, fee("small order", smallOrder), fee("delivery", delivery),
        ]
        let words = taxes + charges.compactMap(\.self)
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension Rate {
    /// `8.875 %`.
    var words: String {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
        guard rest > 0 else { return "\(whole) %" }
        var decimals = "\(1_000 + rest)".dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(whole).\(decimals) %"
    }
}
