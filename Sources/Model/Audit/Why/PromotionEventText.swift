internal import Domain

/// What happened to an outlet's promotions, in words.
enum PromotionEventText {
    /// The words for an event, and the currency of the outlet if it is known.
    static func words(for event: Promotions.Event, _ currency: Currency?) -> String {
        switch event {
        case .put(let promotion): "put promotion \(promotion.id): \(words(for: promotion, currency))"
        case .ended(let id): "ended promotion \(id)"
        case .spent(let id): "promotion \(id) is used up"
        case .resumed(let id): "promotion \(id) can be used again"
        }
    }

    /// `"Ten percent", 10 % off the order, code TEN, at most 100 orders, 1 for each customer, paid by the platform`.
    private static func words(for promotion: Promotion, _ currency: Currency?) -> String {
        func money(_ amount: Amount) -> String {
            currency.map { amount.words(in: $0) } ?? "\(amount.minorUnits)"
        }
        let target =
            switch promotion.target {
            case .items: promotion.buy > 0 ? "\(promotion.get) of \(promotion.buy + promotion.get) items" : "items"
            case .order: "the order"
            case .delivery: "the delivery"
            }
        let gift =
            switch promotion.gift {
            case .percent(let rate): "\(rate.words) off \(target)"
            case .amount(let amount): "\(money(amount)) off \(target)"
            case .price(let price): "\(target) for \(money(price))"
            }
        let rest = [
            promotion.code.map { "code \($0)" }, promotion.minimum.map { "from \(money($0)) on" },
            promotion.cap.map { "at most \(money($0))" }, promotion.service.map { "for \($0.rawValue)" },
            promotion.from.map { "from \($0.words)" }, promotion.until.map { "until \($0.words)" },
            promotion.limit.map { "at most \(Int($0).counted("order"))" },
            promotion.perCustomer.map { "\($0) for each customer" }, promotion.isAlone ? "with no other" : nil,
            promotion.payer == .platform ? "paid by the platform" : nil,
        ]
        return ([promotion.title.quoted, gift] + rest.compactMap(\.self)).joined(separator: ", ")
    }
}
