extension Order {
    /// How far an order has come.
    public enum Status: String, CaseIterable, Sendable {
        /// The kitchen sees it once it is paid.
        case awaitingPayment
        /// The kitchen sees it later.
        case scheduled
        /// The kitchen sees it.
        case placed
        /// The kitchen will cook it.
        case accepted
        /// It is being cooked.
        case preparing
        /// It can be fetched.
        case ready
        /// It was handed over. It can still be refunded.
        case completed
        /// The kitchen did not take it.
        case rejected
        /// The customer did not want it any more, the kitchen could not make it, or nothing was done in time.
        case cancelled

        /// Whether nothing more is cooked or handed over.
        public var isEnd: Bool {
            switch self {
            case .awaitingPayment, .scheduled, .placed, .accepted, .preparing, .ready: false
            case .completed, .rejected, .cancelled: true
            }
        }

        /// Whether the kitchen sees it.
        public var isInKitchen: Bool {
            switch self {
            case .placed, .accepted, .preparing, .ready: true
            case .awaitingPayment, .scheduled, .completed, .rejected, .cancelled: false
            }
        }
    }

    /// Who did something to an order.
    public enum Party: String, CaseIterable, Sendable {
        case customer
        case merchant
        /// Tiffin, because it was time.
        case system
    }

    /// Why an order ended before it was handed over, or money was given back.
    public enum Reason: String, CaseIterable, Sendable {
        /// Something of it cannot be had.
        case items = "ITEMS"
        /// The kitchen is closed.
        case closed = "CLOSED"
        /// The kitchen has too much to do.
        case busy = "BUSY"
        /// A note asks for what cannot be done.
        case note = "NOTE"
        /// The customer asked for it.
        case customer = "CUSTOMER"
        /// It was not paid.
        case unpaid = "UNPAID"
        /// It was not accepted in time.
        case timeout = "TIMEOUT"
        case other = "OTHER"
    }

    /// How an order ended before it was handed over.
    public struct Ending: Equatable, Sendable {
        /// Who ended it.
        public var by: Party
        /// Why.
        public var reason: Reason
        /// Why, in words for the customer; sealed where the order has one.
        public var text: PersonalText?
        /// What it had cost, and is not charged any more; nil in what was recorded without it.
        public var price: Price?
        /// What it gives back to the outlet's supply.
        public var claims: [Claim]

        /// An ending.
        public init(
            by: Party, _ reason: Reason, text: PersonalText? = nil, price: Price? = nil, claims: [Claim] = []
        ) {
            self.by = by
            self.reason = reason
            self.text = text
            self.price = price
            self.claims = claims
        }
    }

    /// Another promise than there was.
    public struct PromiseChange: Equatable, Sendable {
        /// What had been promised; nil for nothing.
        public var from: Timestamp?
        /// What was promised then; nil for nothing.
        public var to: Timestamp?
        /// Why, in words for the customer; sealed where the order has one.
        public var text: PersonalText?

        /// A change of a promise.
        public init(from: Timestamp?, to: Timestamp?, text: PersonalText? = nil) {
            self.from = from
            self.to = to
            self.text = text
        }
    }

    /// An order that was placed, and what has become of it.
    public struct Book: Equatable, Sendable {
        /// How long an order that is never reported as handed over stays open after its promise, in seconds: a day. So
        /// a kitchen that works by other means than Tiffin does not fill Tiffin's memory.
        public static let openSeconds = 86_400

        /// What was ordered.
        public var placement: Placement
        /// How far it has come.
        public var status: Status
        /// Until when it has to be accepted; nil if it does not have to be, and once it was.
        public var acceptBy: Timestamp?
        /// Until when it has to be paid, while it waits for that.
        public var payBy: Timestamp?
        /// When the kitchen says that it will be ready.
        public private(set) var readyBy: Timestamp?
        /// How the promise changed, in the order in which it did.
        public var promiseChanges: [PromiseChange] = []
        /// How it ended; nil as long as it has not, and once it was handed over.
        public var ending: Ending?
        /// Who has its money, as far as it was reported.
        public var payments = Payments()
        /// What was given back of it.
        public var refunds = Refunds()
        /// What was changed, or somebody wanted to change.
        public var changes: [ChangeRecord] = []
        /// Whether the outlet's supply has what it gave back.
        public var hasReturned = false

        /// An order as it is when it is placed.
        public init(_ placement: Placement) {
            self.placement = placement
            let terms = placement.terms
            status = terms.payBy != nil ? .awaitingPayment : terms.releaseAt != nil ? .scheduled : .placed
            acceptBy = status == .placed ? terms.acceptBy : nil
            payBy = terms.payBy
        }

        /// What it gives back to the outlet's supply if it ends now.
        var returnedClaims: [Claim] {
            switch status {
            case .awaitingPayment, .scheduled, .placed, .accepted: placement.claims
            case .preparing, .ready: placement.claims.returned(afterPreparation: true)
            case .completed, .rejected, .cancelled: []
            }
        }

        /// When it will be ready, as far as anybody said.
        public var promise: Timestamp? { readyBy ?? placement.terms.promisedFor }

        /// Takes in when the kitchen says that it will be ready; nil if it says nothing any more.
        ///
        /// - Parameter text: why.
        public mutating func setReady(by time: Timestamp?, because text: PersonalText? = nil) {
            let former = promise
            readyBy = time
            guard promise != former || text != nil else { return }
            promiseChanges.append(PromiseChange(from: former, to: promise, text: text))
        }

        /// What the outlet should have got and kept: nothing of an order that was not cooked.
        private var price: Int64 {
            switch status {
            case .rejected, .cancelled: 0
            case .awaitingPayment, .scheduled, .placed, .accepted, .preparing, .ready, .completed:
                placement.total.minorUnits - refunds.amount
            }
        }

        /// What the customer still has to pay, and what the outlet has to give back, in minor units. What is set aside is
        /// not still to pay.
        public var balance: (due: Int64, owed: Int64) {
            (max(0, price.subtracting(payments.secured)), max(0, payments.paid.subtracting(price)))
        }

        /// Whether the price of the order, less its refunds, is paid to the outlet or set aside.
        var isCovered: Bool { payments.secured >= placement.total.minorUnits - refunds.amount }

        /// Whether the kitchen is at work on an order that was to be paid first, and is not covered any more.
        public var isUncovered: Bool { placement.terms.payBy != nil && status.isInKitchen && !isCovered }

        /// When something happens to it by itself; nil where nothing does.
        public var deadline: Timestamp? {
            guard let until = proposal?.until else { return ownDeadline }
            // As long as a change is proposed, it does not count as handed over.
            return acceptBy == nil && status.isInKitchen ? until : min(ownDeadline ?? until, until)
        }

        private var ownDeadline: Timestamp? {
            switch status {
            case .awaitingPayment: payBy
            case .scheduled: placement.terms.releaseAt
            case .placed: acceptBy ?? closeAt
            case .accepted, .preparing, .ready: closeAt
            case .completed, .rejected, .cancelled: nil
            }
        }

        /// When it counts as handed over even without a report.
        private var closeAt: Timestamp? {
            placement.terms.placedAt.map { max(promise ?? $0, $0).adding(seconds: Book.openSeconds) }
        }
    }
}
