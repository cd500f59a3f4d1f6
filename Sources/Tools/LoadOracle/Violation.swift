/// Something that the server should not have sent.
package struct Violation: Error, Equatable, Sendable {
    package var check: Check
    package var message: String

    package init(_ check: Check, _ message: String) {
        self.check = check
        self.message = message
    }
}

/// What the oracle compares.
package enum Check: Int, CaseIterable, Sendable {
    /// A command is answered as its model says: with a result, or with an error that is possible.
    case answer
    /// A count is the sum of what was added, set and removed.
    case count
    /// A cart reads as its model, line by line, with totals that add up.
    case cart
    /// An order has the content that its cart had at checkout, and has come as far as steps and answers say.
    case order
    /// The price of a cart, and the refunds of an order, follow from the menu and the outlet.
    case quote
    /// A kitchen sees its orders, and no others, what is promised first at the top.
    case kitchen
    /// Pages of orders have every order once, the newest first.
    case orders
    /// No more is sold of what is counted than there is, and what is not cooked comes back.
    case stock
    /// What a kitchen took is what the events of its orders add up to.
    case takings
    /// What is to happen to an order by itself happens, not before its time and not long after it.
    case deadline
    /// A write to an outlet or menu raises its version without a gap.
    case version
    /// A home shows its outlet as it was at some moment between the call and its reply.
    case home
    /// A document made by patches is the one that is read whole.
    case patch
    /// Messages follow each other without a gap or a repeat, and say what the log says.
    case messages
    /// A page holds only what was asked for, in order, and its total is possible.
    case page
    /// The same command sent twice gets the same answer twice.
    case duplicate
    /// What was sent before this side ended is answered.
    case halfClose
    /// The log explains every acknowledgement, and nothing else.
    case log

    /// The name in reports.
    package var name: String {
        switch self {
        case .halfClose: "half-close"
        default: "\(self)"
        }
    }

    /// The check with this name.
    init?(name: String) {
        guard let check = Check.allCases.first(where: { isSame($0.name, name) }) else { return nil }
        self = check
    }
}
