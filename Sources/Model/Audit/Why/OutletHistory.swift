public import Domain
public import EventLog

/// The history of an outlet, its menu and its promotions.
public struct OutletHistory: Sendable {
    private let outlet: Identifier
    private let partition: Int
    private var outletReading = StreamReader()
    private var menuReading = StreamReader()
    private var promotionsReading = StreamReader()
    private let state: Outlet.State
    private let menu: MenuState
    private let promotions: Promotions.State
    /// The version in which the outlet got its present status.
    private let statusSince: Int64

    /// The history of an outlet.
    ///
    /// - Parameters:
    ///   - events: every event of the outlet's stream.
    ///   - menu: every event of its menu's.
    ///   - promotions: every event of its promotions'.
    public init(
        _ outlet: Identifier, _ events: [RecordedEvent], menu menuEvents: [RecordedEvent],
        promotions promotionEvents: [RecordedEvent] = []
    ) {
        self.outlet = outlet
        partition = (events + menuEvents + promotionEvents).first?.partition ?? 0
        var (state, since, currency) = (Outlet.initial, Int64(0), Currency?.none)
        for event in events {
            outletReading.take(event) { event in
                guard case .outlet(let change) = event.event else { throw ImpossibleEvent("no event of an outlet") }
                let before = state
                try Outlet.evolve(&state, change)
                if case .registered(let details, _, _) = state { currency = details.currency }
                switch change {
                case .detailsChanged, .hidden, .shown: break
                case .registered, .opened, .closed, .openedByHours, .closedByHours, .daypartsChanged, .slowed, .paused,
                    .removed:
                    since = event.version
                }
                return OutletEventText.words(for: change, in: before)
            }
        }
        (self.state, statusSince) = (state, since)
        var menu = Menu.initial
        for event in menuEvents {
            menuReading.take(event) { event in
                guard case .menu(let change) = event.event else { throw ImpossibleEvent("no event of a menu") }
                let words = MenuEventText.words(for: change, in: menu, currency)
                try Menu.evolve(&menu, change)
                return words
            }
        }
        self.menu = menu
        var promotions = Promotions.initial
        for event in promotionEvents {
            promotionsReading.take(event) { event in
                guard case .promotions(let change) = event.event else {
                    throw ImpossibleEvent("no event of promotions")
                }
                try Promotions.evolve(&promotions, change)
                return PromotionEventText.words(for: change, currency)
            }
        }
        self.promotions = promotions
    }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        var counts =
            "\(outletReading.lines.count.counted("event")) of its own and \(menuReading.lines.count) of its menu"
        if !promotionsReading.lines.isEmpty { counts += ", \(promotionsReading.lines.count) of its promotions" }
        let lines = (outletReading.lines + menuReading.lines + promotionsReading.lines)
            .sorted { $0.position < $1.position }
        return ["outlet \(outlet): \(counts) in partition \(partition) of the log"]
            + lines.text(last: last, namingStreams: true) + [""] + present
    }

    private var present: [String] {
        var lines: [String] = []
        if let version = outletReading.damagedSince {
            lines.append("now: CORRUPT, damaged since outlet v\(version)")
        } else {
            func now(_ details: OutletDetails, _ words: String) -> String {
                "now: \(details.name.quoted), outlet version \(outletReading.version), \(words) since v\(statusSince)"
            }
            switch state {
            case .unregistered: break
            case .registered(let details, let status, let isHidden):
                lines.append(now(details, OutletEventText.words(for: status)) + (isHidden ? ", hidden" : ""))
            case .removed(let details): lines.append(now(details, "removed"))
            }
        }
        if let version = menuReading.damagedSince {
            lines.append("     menu CORRUPT, damaged since menu v\(version)")
        } else {
            let soldOut = menu.entries.values.count { $0.suspension != nil }
            lines.append(
                "     menu version \(menuReading.version): \(menu.sections.count.counted("section")), "
                    + "\(menu.entries.count.counted("item"))" + (soldOut > 0 ? ", \(soldOut) of them suspended" : ""))
        }
        if let version = promotionsReading.damagedSince {
            lines.append("     promotions CORRUPT, damaged since promotions v\(version)")
        } else if promotionsReading.version > 0 {
            let spent = promotions.spent.count
            lines.append(
                "     promotions version \(promotionsReading.version): \(promotions.list.count.counted("promotion"))"
                    + (spent > 0 ? ", \(spent) of them used up" : ""))
        }
        return lines
    }
}
