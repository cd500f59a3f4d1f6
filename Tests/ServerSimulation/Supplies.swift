import Domain
import LoadOracle
import SeededRandom

// What outlets count, and what they take off, as docs/ordering.md says. It shares nothing with the server but the types
// of events.

/// So much of each thing, by its kind and id: `item tea`, `option milk`, `promotion deal`.
typealias Claims = [String: Int64]

extension Claims {
    init(_ claims: [Claim]) {
        self.init(claims.map { ("\($0.key.kind.rawValue) \($0.key.id)", $0.count) }, uniquingKeysWith: +)
    }

    /// What is not used up when the kitchen begins with an order.
    var ofPromotions: Claims { filter { $0.key == Deal.key } }
}

/// What a merchant says of something.
enum Count {
    case left(Int64)
    case more(Int64)
    case uncounted

    var words: [String] {
        switch self {
        case .left(let count): ["COUNT", "\(count)"]
        case .more(let count): ["ADD", "\(count)"]
        case .uncounted: []
        }
    }
}

/// What an outlet has counted, and who has it.
struct SupplyModel {
    /// How much of what is counted can still be ordered.
    var left: Claims = [:]
    /// How often a promotion is used.
    var used: Int64 = 0
    /// What each order was given, less what it gave back.
    var held: [String: Claims] = [:]
    /// The codes that orders were refused with.
    var refused: [String: String] = [:]

    /// What nothing is left of.
    var soldOut: Set<String> { Set(left.filter { $0.value == 0 }.keys) }

    /// What there is too little of, of what an order claims.
    func lacks(_ claims: Claims, limit: Int64?) -> Set<String> {
        Set(
            claims.filter { key, count in
                key == Deal.key ? used >= limit ?? .max : left[key].map { $0 < count } ?? false
            }.keys)
    }

    mutating func hold(_ claims: Claims, for order: String) {
        held[order] = claims
        take(claims, times: -1)
    }

    mutating func takeBack(_ claims: Claims, of order: String) {
        for key in claims.keys { held[order]?[key] = nil }
        take(claims, times: 1)
    }

    private mutating func take(_ claims: Claims, times factor: Int64) {
        for (key, count) in claims {
            if key == Deal.key { used -= factor * count } else { left[key]? += factor * count }
        }
    }
}

/// What an outlet takes off the lines of so many orders, by a percentage in thousandths.
struct Deal {
    static let id = "deal"
    static let title = "Deal"
    static let key = "promotion \(id)"

    var percent: Int64
    var minimum: Int64
    var limit: Int64

    /// Any deal, and often none.
    static func any(_ chance: inout SeededGenerator) -> Deal? {
        guard chance.chance(60) else { return nil }
        return Deal(
            percent: chance.pick([10_000, 20_000, 33_333]), minimum: Int64(chance.below(3) * 10),
            limit: Int64(chance.number(1..<5)))
    }

    /// What `PROMO.PUT` takes.
    var json: String {
        """
        {"title":"\(Deal.title)","on":"order","give":{"percent":\(percent)},"minimum":\(minimum),"limit":\(limit)}
        """
    }

    /// What it takes off each line.
    fileprivate func shares(of lines: [Int64]) -> [Int64] {
        guard lines.reduce(0, +) >= minimum else { return [] }
        // Service is worked out of the lines, and divided among them, as a percentage that is taken off is.
        var charges = Charges()
        charges.service = (percent, nil)
        return charges.bill(for: lines, tip: 0).charges[0].shares
    }
}

extension Charges {
    /// What lines cost with everything that is charged, less what a deal takes off.
    func bill(for lines: [Int64], tip: Int64, less deal: Deal?) -> Bill {
        bill(for: lines, tip: tip, less: deal?.shares(of: lines) ?? [])
    }

    /// What lines cost with everything that is charged, less so much of each.
    func bill(for lines: [Int64], tip: Int64, less off: [Int64]) -> Bill {
        guard off.contains(where: { $0 > 0 }) else { return bill(for: lines, tip: tip) }
        let subtotal = lines.reduce(0, +)
        func settled(_ fee: Fee?) -> Fee? {
            guard let fee, fee.freeFrom.map({ subtotal < $0 }) ?? true else { return nil }
            return (fee.amount, nil, fee.tax)
        }
        var charges = self
        (charges.smallOrder, charges.delivery) = (settled(smallOrder), settled(delivery))
        var bill = charges.bill(for: zip(lines, off).map { $0 - $1 }, tip: tip)
        bill.lines = lines
        // It has a place among the charges that taxes may be on, and none is on it.
        for index in bill.charges.indices where bill.charges[index].kind == "tax" {
            bill.charges[index].shares.insert(0, at: lines.count)
            bill.charges[index].bases.insert(0, at: lines.count)
        }
        let discount = Bill.Charge(
            "discount", -off.reduce(0, +), shares: off.map { -$0 }, id: Deal.id, name: Deal.title)
        bill.charges.insert(discount, at: 0)
        return bill
    }
}

extension Bill {
    /// What is taken off each line; nothing where no deal applies.
    var discounts: [Int64] { charges.first { $0.kind == "discount" }?.shares.map { -$0 } ?? [] }
}

/// What an outlet sells at some moment, and for how much.
struct Selling {
    var prices = Prices.initial
    /// What is said to be sold out: `item tea`, `option milk`.
    var soldOut: Set<String> = []
    /// What is taken off, and whether that was done as often as it may be.
    var deal: Deal?
    var isSpent = false

    var openDeal: Deal? { isSpent ? nil : deal }

    /// Whether the item can be had with a choice.
    func has(_ choice: Choice) -> Bool { soldOut.isDisjoint(with: choice.claims(1).keys) }
}

extension Choice {
    /// What so many of the item with this choice would claim if all of it was counted.
    func claims(_ quantity: Int) -> Claims {
        units.reduce(into: ["item \(Prices.item)": Int64(quantity)]) {
            $0["option \($1.option)"] = Int64($1.units * quantity)
        }
    }
}
