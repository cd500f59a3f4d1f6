internal import EventLoop

/// An outlet of the monkey's own: its menu as it was put, and every change since.
///
/// One shopper alone, its owner, changes it, one change at a time, so changes have a number: what is true after
/// the nth. Whoever reads cannot know which of the changes that were on their way the server had made, but only
/// those that were settled before it asked, and those that had been sent when it was answered.
@LoopActor
final class Outlet {
    /// Changes of an item that are kept. No question is open for as long as it takes to make so many.
    private static let keptChanges = 64

    struct Change {
        enum Target: Hashable {
            case item(Int)
            /// Whether the outlet takes orders.
            case doors
        }

        var target: Target
        /// For the doors, whether they are open is `isAvailable`.
        var offer: Offer
    }

    let index: Int
    let id: String
    /// The shopper that changes it.
    let owner: Int
    let menu: MenuPlan

    /// How many changes the server has acknowledged.
    private(set) var settledCount = 0
    /// The change that is on its way.
    private(set) var pending: Change?
    /// How many events the outlet and its menu have.
    private(set) var outletVersion: Int64 = 0
    private(set) var menuVersion: Int64 = 0
    /// Each with its number, and when it was settled.
    private var history: [Change.Target: [(number: Int, time: UInt64, offer: Offer)]] = [:]

    init(index: Int, id: String, owner: Int, menu: MenuPlan) {
        self.index = index
        self.id = id
        self.owner = owner
        self.menu = menu
    }

    // MARK: Changing

    /// A change is about to be sent.
    func begin(_ change: Change) {
        pending = change
    }

    /// The change on its way was made, and that was learnt at `time`.
    func settle(at time: UInt64 = LoopActor.now) {
        guard let change = pending else { return }
        pending = nil
        settledCount += 1
        var kept = history[change.target] ?? [(0, 0, first(change.target))]
        kept.append((settledCount, time, change.offer))
        if kept.count > Outlet.keptChanges { kept.removeFirst(Outlet.keptChanges / 2) }
        history[change.target] = kept
    }

    /// The change on its way was refused.
    func abandon() {
        pending = nil
    }

    /// A write was acknowledged with a version, of the outlet itself or of its menu.
    /// Returns whether that was a change.
    func follow(_ version: Int64, of call: Call) throws(Violation) -> Bool {
        let isOfMenu: Bool
        switch call {
        case .putOutlet, .open, .close: isOfMenu = false
        default: isOfMenu = true
        }
        let known = isOfMenu ? menuVersion : outletVersion
        let name = isOfMenu ? "the menu of \(id)" : id
        // Putting a whole menu makes as many events as it takes; any other command makes one, or none where it
        // changes nothing.
        let isWhole = if case .putMenu = call { true } else { false }
        let isRight = isWhole ? version > known : version == known + (changesNothing(call) ? 0 : 1)
        // Where it is wrong, what follows is compared with what was said now: one mistake is told once.
        if isOfMenu { menuVersion = version } else { outletVersion = version }
        guard isRight else {
            throw Violation(.version, "\(name) went from version \(known) to \(version) by \(call.kind.name)")
        }
        return version > known
    }

    /// Whether the call finds everything as it asks for.
    private func changesNothing(_ call: Call) -> Bool {
        guard let change = pending else { return false }
        guard history[change.target] != nil else {
            // The first opening of a new outlet is a change, though its doors are open in every home there is.
            if case .open = call { return outletVersion != 1 }
            return first(change.target) == change.offer
        }
        return current(change.target) == change.offer
    }

    // MARK: What is so

    private func first(_ target: Change.Target) -> Offer {
        switch target {
        case .doors: return Offer(price: 0, isAvailable: true, isListed: true)
        case .item(let index):
            let item = menu.item(index)
            return Offer(price: item.price, isAvailable: true, isListed: !item.isExtra)
        }
    }

    /// What is said of something after every settled change.
    func current(_ target: Change.Target) -> Offer {
        history[target]?.last?.offer ?? first(target)
    }

    func current(item: Int) -> Offer { current(.item(item)) }

    /// Everything that may have been said of something from when `floor` changes were settled until now.
    func possible(_ target: Change.Target, since floor: Int) -> [Offer] {
        possible(target) { $0.number <= floor }
    }

    /// Everything that may have been said of something to a question that was sent at `time`.
    func possible(_ target: Change.Target, sentAt time: UInt64) -> [Offer] {
        possible(target) { $0.time < time }
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
        return possible
    }

    /// Whether the doors may have been in that state.
    func mayBeOpen(since floor: Int) -> Bool { possible(.doors, since: floor).contains(where: \.isAvailable) }
    func mayBeClosed(since floor: Int) -> Bool { possible(.doors, since: floor).contains { !$0.isAvailable } }

    /// Items whose offer has ever changed, for whoever judges a whole menu.
    var changedItems: [Int] {
        history.keys.compactMap { if case .item(let index) = $0 { index } else { nil } }
    }

    /// The outlet as `OUTLET.PUT` takes it.
    func json(city: String) -> String {
        """
        {"name":"Monkey Kitchen \(index)","city":"\(city)","area":"Area \(index % 7)","currency":"EUR",\
        "timeZone":"UTC","cuisines":["Monkey"],"priceForTwo":\(1_000 + 10 * index),\
        "rating":\(Double(30 + index % 20) / 10),"ratingCount":\(index),"deliveryMinutes":\(15 + index % 45)}
        """
    }
}
