internal import EventLoop
internal import LoadOracle

/// What one kind of user does. A new one is a type, and its place in `all`.
///
/// A scenario only says what is sent next. The `Oracle` judges every answer, whichever scenario asked.
@LoopActor
protocol Scenario: SendableMetatype {
    /// Its name on the command line.
    static var name: String { get }
    /// What it does, in a line.
    static var summary: String { get }

    /// Whether it wants outlets whose orders are cooked.
    static var needsKitchens: Bool { get }

    init()

    /// The shopper's next command. All random numbers are the shopper's own, `shopper.chance`.
    mutating func next(_ shopper: Shopper) -> Call
}

extension Scenario {
    static var needsKitchens: Bool { false }
}

enum Scenarios {
    /// Every scenario.
    static let all: [any Scenario.Type] = [
        Fling.self, Chips.self, Promos.self, Desserts.self, CartWork.self, Browsing.self, Hot.self, Watch.self,
        Merchant.self, KitchenWork.self, MonkeyBusiness.self, Stress.self, Adds.self, Counts.self, Homes.self,
    ]

    @LoopActor
    static func named(_ name: String) -> (any Scenario.Type)? { all.first { $0.name == name } }
}
