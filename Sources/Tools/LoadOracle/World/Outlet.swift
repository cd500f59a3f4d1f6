/// An outlet of the load generator: its first menu, and every change since.
///
/// Only one customer, its owner, changes it, one change at a time. So changes have numbers, and the nth leaves the
/// outlet in its nth state. Others cannot know which of the changes under way the server had made when it answered.
/// They only know which were settled before they asked, and which had been sent when the answer came.
package final class Outlet {
    /// How many changes are kept of each item. No call stays unanswered long enough for more.
    private static let keptChanges = 64

    struct Change: Equatable {
        enum Target: Hashable {
            case item(Int)
            case option(Text)
            /// Whether the outlet takes orders.
            case doors
            /// Whether lists and searches show the outlet.
            case listing
        }

        var target: Target
        /// An option is always listed. For the doors, `isAvailable` says whether they are open; for the listing, `isListed` whether it is there.
        var offer: Offer
    }

    package let index: Int
    package let id: String
    /// The customer that changes it.
    package let owner: Int
    package let menu: MenuPlan
    /// What its orders wait for, and what is charged; nil where no one cooks.
    package let terms: OrderTerms?

    /// The change in flight.
    private(set) var pending: Change?
    /// How many events the outlet and its menu have.
    private(set) var outletVersion: Int64 = 0
    private(set) var menuVersion: Int64 = 0
    /// The version of its promotions, if it has any.
    private(set) var promotionsVersion: Int64 = 0
    /// The version of what it has counted that its owner was told last.
    private var supplyVersion: Int64 = 0
    /// The item that it counts: orders sell it out, and bring it back. nil if there is none.
    package private(set) var countedItem: Int?
    /// When each change was settled.
    private var settledTimes: [UInt64] = []
    /// The changes of each target, with their numbers, and when they were settled.
    private var history: [Change.Target: [(number: Int, time: UInt64, offer: Offer)]] = [:]

    init(index: Int, id: String, owner: Int, menu: MenuPlan, terms: OrderTerms? = nil) {
        self.index = index
        self.id = id
        self.owner = owner
        self.menu = menu
        self.terms = terms
    }

    /// How many changes the server has acknowledged.
    var settledCount: Int { settledTimes.count }

    /// How many of them were settled before `time`.
    func settledCount(before time: UInt64) -> Int {
        // Few have been settled since any call was sent.
        (settledTimes.lastIndex { $0 < time } ?? -1) + 1
    }

    // MARK: Changing

    /// A change is about to be sent.
    func begin(_ change: Change) {
        pending = change
    }

    /// The change in flight was made; its owner learnt that at `time`.
    func settle(at time: UInt64) {
        guard let change = pending else { return }
        pending = nil
        settledTimes.append(time)
        var kept = history[change.target] ?? [(0, 0, first(change.target))]
        kept.append((settledCount, time, change.offer))
        if kept.count > Outlet.keptChanges { kept.removeFirst(Outlet.keptChanges / 2) }
        history[change.target] = kept
    }

    /// The change in flight was refused.
    func abandon() {
        pending = nil
    }

    /// A write was acknowledged with a version, of the outlet itself or of its menu. Returns whether it changed
    /// anything.
    func follow(_ version: Int64, of call: Call) throws(Violation) -> Bool {
        let (stream, name): (ReferenceWritableKeyPath<Outlet, Int64>, String) =
            switch call {
            case .putOutlet, .open, .close, .hide, .show: (\.outletVersion, id)
            case .putPromotion: (\.promotionsVersion, "the promotions of \(id)")
            case .stock, .restock: (\.supplyVersion, "what is counted of \(id)")
            default: (\.menuVersion, "the menu of \(id)")
            }
        let known = self[keyPath: stream]
        // Putting a whole menu makes several events; any other command makes one, or none if it changes nothing. What
        // orders do to what is counted is in the menu, too.
        let isWhole = if case .putMenu = call { true } else { false }
        let isChange = isWhole || !changesNothing(call)
        let least = known &+ (isChange ? 1 : 0)
        let mayBeMore = isWhole || countedItem != nil && stream != \.outletVersion && stream != \.promotionsVersion
        let isRight = mayBeMore ? version >= least : version == least
        if case .stock(_, let item, _) = call { countedItem = item }
        // A wrong version is reported once: what follows is compared with it.
        self[keyPath: stream] = version
        guard isRight else {
            throw Violation(.version, "\(call.kind.name) moved \(name) from version \(known) to \(version)")
        }
        return isChange
    }

    /// Whether the call asks for the state that it is already in.
    private func changesNothing(_ call: Call) -> Bool {
        guard let change = pending else { return false }
        guard history[change.target] != nil else {
            // The first opening of a new outlet is a change, though every home shows its doors open.
            if case .open = call { return outletVersion != 1 }
            return first(change.target) == change.offer
        }
        return current(change.target) == change.offer
    }

    // MARK: Its states

    private func first(_ target: Change.Target) -> Offer {
        switch target {
        case .doors, .listing: return Offer(price: 0, isAvailable: true, isListed: true)
        case .item(let index):
            let item = menu.item(index)
            return Offer(price: item.price, isAvailable: true, isListed: !item.isExtra)
        case .option(let id):
            return Offer(price: menu.option(id.string)?.price ?? 0, isAvailable: true, isListed: true)
        }
    }

    /// The offer after every settled change.
    func current(_ target: Change.Target) -> Offer {
        history[target]?.last?.offer ?? first(target)
    }

    /// The offer of an item after every settled change.
    package func current(item: Int) -> Offer { current(.item(item)) }

    /// The offer of an option after every settled change.
    package func current(option: String) -> Offer { current(.option(Text(option))) }

    /// From when on a server may have seen something.
    enum Since {
        /// Since so many changes were settled.
        case floor(Int)
        /// While it answered a call that was sent at a time.
        case call(sentAt: UInt64)
    }

    /// Every offer that may have been valid since `floor` changes were settled.
    func possible(_ target: Change.Target, since floor: Int) -> [Offer] { possible(target, .floor(floor)) }

    /// Every offer that a server may have seen while it answered a call sent at `time`.
    func possible(_ target: Change.Target, sentAt time: UInt64) -> [Offer] { possible(target, .call(sentAt: time)) }

    private func possible(_ target: Change.Target, _ since: Since) -> [Offer] {
        switch since {
        case .floor(let floor): possible(target) { $0.number <= floor }
        case .call(let time): possible(target) { $0.time < time }
        }
    }

    private func possible(
        _ target: Change.Target, _ wasSettled: ((number: Int, time: UInt64, offer: Offer)) -> Bool
    ) -> [Offer] {
        var possible: [Offer] = []
        if let kept = history[target] {
            let start = kept.lastIndex(where: wasSettled) ?? 0
            for entry in kept[start...] where !possible.contains(entry.offer) { possible.append(entry.offer) }
        } else {
            possible = [first(target)]
        }
        if let pending, pending.target == target, !possible.contains(pending.offer) {
            possible.append(pending.offer)
        }
        if let countedItem, target == .item(countedItem) {
            possible += possible.map { Offer(price: $0.price, isAvailable: !$0.isAvailable, isListed: $0.isListed) }
        }
        return possible
    }

    /// What may have been said of an item with options, wherever the doors were.
    func possible(_ item: Int, with chosen: [ChosenOption], _ since: Since) -> [Saying] {
        // What may have been said of the options that have ever changed.
        var options: [[Text: Offer]] = [[:]]
        for choice in chosen {
            let id = Text(choice.id)
            guard history[.option(id)] != nil || pending?.target == .option(id) else { continue }
            let offers = possible(.option(id), since)
            options = options.flatMap { known in offers.map { known.merging([id: $0]) { $1 } } }
        }
        var sayings: [Saying] = []
        for offer in possible(.item(item), since) {
            for options in options {
                let saying = self.saying(item, offer, with: chosen, options)
                if !sayings.contains(saying) { sayings.append(saying) }
            }
        }
        return sayings
    }

    /// What one of an item costs with options after every settled change; nil if it cannot be had.
    package func currentPrice(of item: Int, with chosen: [ChosenOption]) -> Int64? {
        let options = chosen.map { (Text($0.id), current(.option(Text($0.id)))) }
        guard
            case .priced(let priced) = saying(item, current(item: item), with: chosen, Dictionary(options) { $1 })
        else { return nil }
        return priced.unitPrice
    }

    private func saying(
        _ item: Int, _ offer: Offer, with chosen: [ChosenOption], _ options: [Text: Offer]
    ) -> Saying {
        guard offer.isListed else { return .gone }
        guard offer.isAvailable else { return .soldOut }
        return menu.said(of: menu.item(item), at: offer.price, with: chosen, options)
    }

    /// An option that is sold out after every settled change.
    package var soldOutOption: String? {
        GroupPlan.spareOptions.first { !current(option: $0).isAvailable }
    }

    /// Whether the doors may have been open, or closed.
    func mayBeOpen(since floor: Int) -> Bool { possible(.doors, since: floor).contains(where: \.isAvailable) }
    func mayBeClosed(since floor: Int) -> Bool { possible(.doors, since: floor).contains { !$0.isAvailable } }

    /// Whether its owner may have hidden it from lists and searches, after every change.
    package var mayBeHidden: Bool { possible(.listing, since: settledCount).contains { !$0.isListed } }

    /// Items whose offer has ever changed.
    package var changedItems: [Int] {
        history.keys.compactMap { if case .item(let index) = $0 { index } else { nil } }
    }

    /// What all its prices are in.
    package static let currency = "EUR"

    /// The outlet as `OUTLET.PUT` takes it.
    func json(city: String) -> String {
        """
        {"name":"Monkey Kitchen \(index)","city":"\(city)","area":"Area \(index % 7)","currency":"\(Self.currency)",\
        "timeZone":"UTC","cuisines":["Monkey"],"priceForTwo":\(1_000 + 10 * index),\
        "rating":\(Double(30 + index % 20) / 10),"ratingCount":\(index),"deliveryMinutes":\(15 + index % 45)\
        \(terms?.json ?? "")}
        """
    }
}
