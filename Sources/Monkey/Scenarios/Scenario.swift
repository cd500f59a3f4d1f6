internal import EventLoop
internal import LoadOracle

/// What a kind of user does. One type, and its place in `all`.
///
/// A scenario only says what is sent next; every answer is judged by the `Oracle`, whoever asked.
@LoopActor
protocol Scenario: SendableMetatype {
    /// What it is called on the command line.
    static var name: String { get }
    /// What it does, in a line.
    static var summary: String { get }

    init()

    /// The shopper's next command. All chance is the shopper's own, `shopper.chance`.
    mutating func next(_ shopper: Shopper) -> Call
}

enum Scenarios {
    /// Every scenario there is.
    static let all: [any Scenario.Type] = [
        Fling.self, Chips.self, Promos.self, Desserts.self, CartWork.self, Browsing.self, Hot.self, Watch.self,
        Merchant.self, MonkeyBusiness.self, Stress.self, Adds.self, Counts.self, Homes.self,
    ]

    @LoopActor
    static func named(_ name: String) -> (any Scenario.Type)? { all.first { $0.name == name } }
}
