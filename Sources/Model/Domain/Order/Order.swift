/// An order, from its cart's checkout until it is handed over, or is not.
///
/// It goes forward: `placed`, `accepted`, `preparing`, `ready`, `completed`, and may skip stages that are not reported.
/// It ends before that as `rejected` or `cancelled`. Before the kitchen sees it, it may be `awaitingPayment` or
/// `scheduled`.
public enum Order: Decider {
    /// How far ahead a kitchen can promise an order, in seconds: 31 days.
    public static let maximumPromiseSeconds = 31 * 86_400

    // MARK: Commands

    /// What is asked of an order.
    public enum Command: Equatable, Sendable {
        case place(Placement)
        /// The kitchen will cook it, until a moment if it says so.
        case accept(readyBy: Timestamp?, now: Timestamp)
        /// The kitchen will not.
        case reject(Reason, text: PersonalText?)
        /// The kitchen cooks it.
        case prepare
        /// It can be fetched.
        case ready
        /// It was handed over.
        case complete
        /// It will be ready at another moment.
        case delay(readyBy: Timestamp, text: PersonalText? = nil, now: Timestamp)
        /// It is not wanted any more, or cannot be made.
        case cancel(by: Party, Reason, text: PersonalText?)
        /// A payment service says what became of money.
        case reportPayment(Payment, now: Timestamp)
        /// The outlet gives something back.
        case refund(RefundPart, Reason)
        /// Something of it is to be different. The other party has to agree, within some seconds.
        case propose([LineEdit], by: Party, wait: Int, now: Timestamp, counted: Counted = .nothing)
        /// One of these parties agrees to the bill of that digest.
        case agree(Text, as: [Party])
        /// One of these parties does not agree, or withdraws what it proposed.
        case decline(as: [Party])
        /// The kitchen has seen what is different.
        case noteChanges
        /// Time has passed: what was to happen by now happens. Sent by every server, and decided once.
        case meetDeadline(now: Timestamp)
        /// The outlet's supply has what the order gave back. Sent by servers, and decided once.
        case noteReturn
    }

    // MARK: Events

    /// What happened to an order.
    public enum Event: Equatable, Sendable {
        case placed(Placement)
        /// It is paid, and the kitchen will see it later.
        case scheduled
        /// The kitchen sees it from now on. It has to be accepted by a moment, if anybody has to.
        case released(acceptBy: Timestamp?)
        case accepted(readyBy: Timestamp?, by: Party)
        case rejected(Ending)
        case preparationStarted
        case readied
        case completed(by: Party)
        case delayed(readyBy: Timestamp, text: PersonalText? = nil)
        case cancelled(Ending)
        /// A payment service said what became of money, and whether something that it said by then cannot be.
        case paymentReported(Payment, isInDoubt: Bool = false)
        /// The kitchen sees it no more until it is paid: by a moment.
        case coverLost(payBy: Timestamp)
        case refunded(Refund)
        /// Somebody wants it to be different. The other party can agree until a moment.
        case changeProposed(Change, until: Timestamp)
        /// It is different from now on.
        case changed(Change)
        case changeDeclined(by: Party)
        case changeExpired
        /// The kitchen has seen what is different.
        case changesNoted
        /// The outlet's supply has what it gave back.
        case claimsReturned
    }

    // MARK: State

    /// An order, before and after it is placed.
    public enum State: Equatable, Sendable {
        case unplaced
        indirect case placed(Book)

        /// The order; nil before it is placed.
        public var book: Book? {
            switch self {
            case .unplaced: nil
            case .placed(let book): book
            }
        }
    }

    /// It has not been placed.
    public static let initial = State.unplaced

    // MARK: Decide

    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch (state, command) {
        case (.unplaced, .place(var placement)):
            // Where there is nothing to pay, no payment is ever reported.
            if placement.total == .zero { placement.terms = placement.terms.paid }
            let book = Book(placement)
            return [.placed(placement)] + (book.status == .placed ? acceptance(of: placement) : [])
        case (.unplaced, _): throw Rejection(.notFound, "no such order", isAboutAll: true)
        case (.placed, .place): throw Rejection(.state, "the order is placed already")
        case (.placed(let book), _): return try decide(command, on: book)
        }
    }

    private static func decide(_ command: Command, on book: Book) throws(Rejection) -> [Event] {
        switch (book.status, command) {
        case (_, .place): throw book.refusal

        case (.placed, .accept(let readyBy, let now)):
            try check(readyBy, now)
            return [.accepted(readyBy: readyBy, by: .merchant)]
        case (.accepted, .accept(let readyBy, _)) where readyBy == nil || readyBy == book.readyBy: return []
        case (.awaitingPayment, .accept), (.scheduled, .accept), (.accepted, .accept), (.preparing, .accept),
            (.ready, .accept), (.completed, .accept), (.rejected, .accept), (.cancelled, .accept):
            throw book.refusal

        case (.placed, .reject(let reason, let text)):
            return [.rejected(try ending(by: .merchant, reason, text, book))]
        case (.rejected, .reject(let reason, let text))
        where book.ended(by: .merchant, reason, text):
            return []
        case (.awaitingPayment, .reject), (.scheduled, .reject), (.accepted, .reject), (.preparing, .reject),
            (.ready, .reject), (.completed, .reject), (.rejected, .reject), (.cancelled, .reject):
            throw book.refusal

        case (.placed, .prepare), (.accepted, .prepare):
            try book.checkNoProposal()
            return [.preparationStarted]
        case (.preparing, .prepare): return []
        case (.placed, .ready), (.accepted, .ready), (.preparing, .ready):
            try book.checkNoProposal()
            return [.readied]
        case (.ready, .ready): return []
        case (.placed, .complete), (.accepted, .complete), (.preparing, .complete), (.ready, .complete):
            try book.checkNoProposal()
            return [.completed(by: .merchant)]
        case (.completed, .complete): return []
        case (.awaitingPayment, .prepare), (.scheduled, .prepare), (.ready, .prepare), (.completed, .prepare),
            (.rejected, .prepare), (.cancelled, .prepare), (.awaitingPayment, .ready), (.scheduled, .ready),
            (.completed, .ready), (.rejected, .ready), (.cancelled, .ready), (.awaitingPayment, .complete),
            (.scheduled, .complete), (.rejected, .complete), (.cancelled, .complete):
            throw book.refusal

        case (.placed, .delay(let readyBy, let text, let now)), (.accepted, .delay(let readyBy, let text, let now)),
            (.preparing, .delay(let readyBy, let text, let now)):
            if readyBy == book.readyBy, text == nil || text == book.promiseChanges.last?.text { return [] }
            try check(readyBy, now)
            try check(text, book)
            return [.delayed(readyBy: readyBy, text: text)]
        case (.awaitingPayment, .delay), (.scheduled, .delay), (.ready, .delay), (.completed, .delay),
            (.rejected, .delay), (.cancelled, .delay):
            throw book.refusal

        case (.awaitingPayment, .cancel(let party, let reason, let text)),
            (.scheduled, .cancel(let party, let reason, let text)), (.placed, .cancel(let party, let reason, let text)):
            return [.cancelled(try ending(by: party, reason, text, book))]
        case (.accepted, .cancel(let party, let reason, let text)),
            (.preparing, .cancel(let party, let reason, let text)), (.ready, .cancel(let party, let reason, let text)):
            guard party != .customer else {
                throw Rejection(.state, "the order is \(book.status.rawValue); only its outlet can cancel it now")
            }
            return [.cancelled(try ending(by: party, reason, text, book))]
        case (.cancelled, .cancel(let party, let reason, let text))
        where book.ended(by: party, reason, text):
            return []
        case (.completed, .cancel), (.rejected, .cancel), (.cancelled, .cancel): throw book.refusal

        case (.placed, .refund(let part, let reason)), (.accepted, .refund(let part, let reason)),
            (.preparing, .refund(let part, let reason)), (.ready, .refund(let part, let reason)),
            (.completed, .refund(let part, let reason)):
            return [.refunded(try book.refund(part, reason))]
        case (.awaitingPayment, .refund), (.scheduled, .refund), (.rejected, .refund), (.cancelled, .refund):
            throw book.refusal

        case (_, .propose(let edits, let party, let wait, let now, let counted)):
            return try book.propose(edits, by: party, wait: wait, now, counted)
        case (_, .agree(let digest, let parties)): return try book.agree(to: digest, as: parties)
        case (_, .decline(let parties)): return try book.decline(as: parties)
        case (_, .noteChanges): return book.unnoted.isEmpty ? [] : [.changesNoted]

        // Money that moved is recorded whatever has become of the order.
        case (_, .reportPayment(let payment, let now)): return try report(payment, of: book, now)

        case (.rejected, .noteReturn), (.cancelled, .noteReturn):
            return book.hasReturned || book.ending?.claims.isEmpty ?? true ? [] : [.claimsReturned]
        case (.awaitingPayment, .noteReturn), (.scheduled, .noteReturn), (.placed, .noteReturn),
            (.accepted, .noteReturn), (.preparing, .noteReturn), (.ready, .noteReturn), (.completed, .noteReturn):
            throw book.refusal

        case (_, .meetDeadline(let now)):
            guard let deadline = book.deadline, deadline <= now else { return [] }
            return meetDeadline(of: book, now)
        }
    }

    private static func report(
        _ payment: Payment, of book: Book, _ now: Timestamp
    ) throws(Rejection) -> [Event] {
        try check(reference: payment.reference)
        try payment.amount.check(.amount)
        if case .report(let parent) = payment.parent {
            guard payment.kind.parent != nil else {
                throw .invalid(.partOf, "is for what is a part of another report; \(payment.kind.rawValue) is not")
            }
            try check(reference: parent, .partOf)
        }
        if let known = book.payments.reports.first(where: {
            $0.reference == payment.reference && $0.kind == payment.kind
        }) {
            guard known.amount == payment.amount,
                payment.parent == .own || payment.parentReference == known.parentReference
            else {
                throw Rejection(
                    .idMismatch,
                    "'\(payment.reference)' was reported as \(payment.kind.rawValue) with another amount, or as a part of another report"
                )
            }
            return []
        }
        guard book.payments.reports.count < Payments.maximumReports else {
            throw Rejection(.limit, "an order has at most \(Payments.maximumReports) reports of payments")
        }
        var payment = payment
        switch payment.parent {
        case .report(payment.reference): payment.parent = .own
        case .report, .unclear: break
        case .own: payment.parent = book.payments.parent(for: payment)
        }
        var after = book
        after.payments.take(payment)
        let report = Event.paymentReported(payment, isInDoubt: !after.payments.doubts.isEmpty)
        switch book.status {
        case .awaitingPayment where after.isCovered:
            if let releaseAt = book.placement.terms.releaseAt, releaseAt > now { return [report, .scheduled] }
            return [report] + release(book.placement, now)
        case .scheduled, .placed, .accepted:
            guard let wait = book.placement.terms.payWithin, book.isCovered, !after.isCovered else { return [report] }
            return [report, .coverLost(payBy: now.adding(seconds: wait))]
        case .awaitingPayment, .preparing, .ready, .completed, .rejected, .cancelled: return [report]
        }
    }

    /// What happens to an order by itself, as its deadline has passed.
    private static func meetDeadline(of book: Book, _ now: Timestamp) -> [Event] {
        if let until = book.proposal?.until, until <= now { return [.changeExpired] }
        return switch book.status {
        case .awaitingPayment: [.cancelled(ending(by: .system, .unpaid, book))]
        case .scheduled: release(book.placement, now)
        case .placed where book.acceptBy != nil:
            [.cancelled(ending(by: .system, .timeout, book))]
        case .placed, .accepted, .preparing, .ready: [.completed(by: .system)]
        case .completed, .rejected, .cancelled: []
        }
    }

    /// The kitchen sees an order, and accepts it at once where it accepts every order.
    private static func release(_ placement: Placement, _ now: Timestamp) -> [Event] {
        [.released(acceptBy: placement.terms.acceptBy(from: now))] + acceptance(of: placement)
    }

    private static func acceptance(of placement: Placement) -> [Event] {
        placement.terms.isAcceptedAtOnce ? [.accepted(readyBy: nil, by: .system)] : []
    }

    private static func check(_ readyBy: Timestamp?, _ now: Timestamp) throws(Rejection) {
        guard let readyBy else { return }
        guard readyBy > now else { throw .invalid(.readyBy, "must lie in the future") }
        guard readyBy <= now.adding(seconds: maximumPromiseSeconds) else {
            throw .invalid(.readyBy, "must lie within \(maximumPromiseSeconds / 86_400) days")
        }
    }

    private static func ending(
        by party: Party, _ reason: Reason, _ text: PersonalText?, _ book: Book
    ) throws(Rejection) -> Ending {
        try check(text, book)
        return ending(by: party, reason, book, text)
    }

    private static func check(_ text: PersonalText?, _ book: Book) throws(Rejection) {
        if case .plain(let text) = text { try TextRules.check(text, .reason, TextRules.note) }
        guard PersonalText.isAllowed(text, of: book.placement.customer) else {
            throw .invalid(.reason, "is sealed where the order has a customer, and only there")
        }
    }

    private static func ending(by party: Party, _ reason: Reason, _ book: Book, _ text: PersonalText? = nil) -> Ending {
        Ending(by: party, reason, text: text, price: book.placement.price, claims: book.returnedClaims)
    }

    // MARK: Evolve

    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch (state, event) {
        case (.unplaced, .placed(let placement)):
            for line in placement.lines { try CartLine.checkRecordable(line.quantity, line.id) }
            guard placement.lines.allSatisfy({ PersonalText.isAllowed($0.note, of: placement.customer) }),
                placement.name == nil || placement.customer != nil
            else {
                throw ImpossibleEvent("an order with a text that is not its customer's")
            }
            guard placement.lines.count <= Cart.maximumLines, placement.charges.count <= Bill.maximumCharges,
                placement.charges.allSatisfy(\.isRecordable), placement.pricing.charges.isRecordable
            else {
                throw ImpossibleEvent("an order with lines or charges that cannot be")
            }
            try placement.charges.checkDiscounts(on: placement.lines)
            guard placement.claims.isRecordable else { throw ImpossibleEvent("an order with claims that cannot be") }
            try placement.claims.checkPromotions(in: placement.charges, of: placement.customer)
            state = .placed(Book(placement))
        case (.placed, .placed): throw ImpossibleEvent("an order placed twice")
        case (.unplaced, _): throw ImpossibleEvent("an event before the order was placed")
        case (.placed(var book), _):
            try evolve(&book, event)
            state = .placed(book)
        }
    }

    private static func evolve(_ book: inout Book, _ event: Event) throws(ImpossibleEvent) {
        switch event {
        case .placed: throw ImpossibleEvent("an order placed twice")
        case .paymentReported(let payment, _): book.payments.take(payment)
        case .coverLost(let payBy):
            try book.move(to: .awaitingPayment, from: [.scheduled, .placed, .accepted])
            book.payBy = payBy
            book.setReady(by: nil)
        case .claimsReturned:
            // A read model keeps no endings.
            guard !book.hasReturned, book.ending.map({ !$0.claims.isEmpty }) ?? true else {
                throw ImpossibleEvent("an order that gave back more than it took")
            }
            try book.move(to: book.status, from: [.rejected, .cancelled])
            book.hasReturned = true
        case .scheduled: try book.move(to: .scheduled, from: [.awaitingPayment])
        case .refunded(let refund):
            try book.move(to: book.status, from: [.placed, .accepted, .preparing, .ready, .completed])
            try book.refunds.take(refund, of: book.placement)
        case .released(let acceptBy):
            try book.move(to: .placed, from: [.awaitingPayment, .scheduled])
            book.acceptBy = acceptBy
        case .accepted(let readyBy, _):
            try book.move(to: .accepted, from: [.placed])
            if let readyBy { book.setReady(by: readyBy) }
        case .rejected(let ending):
            try book.end(as: .rejected, from: [.placed], ending)
        case .preparationStarted: try book.proceed(to: .preparing, from: [.placed, .accepted])
        case .readied: try book.proceed(to: .ready, from: [.placed, .accepted, .preparing])
        case .completed: try book.proceed(to: .completed, from: [.placed, .accepted, .preparing, .ready])
        case .changeProposed(let change, let until): try book.take(change, until: until)
        case .changed(let change): try book.take(change)
        case .changeDeclined(let party):
            guard book.proposal != nil else { throw ImpossibleEvent("a change was declined that nobody proposed") }
            book.endProposal(.declined, by: party)
        case .changeExpired:
            guard book.proposal != nil else { throw ImpossibleEvent("a change expired that nobody proposed") }
            book.endProposal(.expired)
        case .changesNoted:
            guard !book.unnoted.isEmpty else { throw ImpossibleEvent("nothing was changed that could be noted") }
            for index in book.changes.indices where book.changes[index].outcome == .agreed {
                book.changes[index].isNoted = true
            }
        case .delayed(let readyBy, let text):
            guard PersonalText.isAllowed(text, of: book.placement.customer) else {
                throw ImpossibleEvent("an order with a text that is not its customer's")
            }
            try book.move(to: book.status, from: [.placed, .accepted, .preparing])
            book.setReady(by: readyBy, because: text)
        case .cancelled(let ending):
            try book.end(
                as: .cancelled, from: [.awaitingPayment, .scheduled, .placed, .accepted, .preparing, .ready], ending)
        }
    }
}

extension Order.Book {
    fileprivate mutating func move(to next: Order.Status, from possible: [Order.Status]) throws(ImpossibleEvent) {
        guard possible.contains(status) else {
            throw ImpossibleEvent("an order that is \(status.rawValue) becomes \(next.rawValue)")
        }
        status = next
        if next != .placed { acceptBy = nil }
    }

    /// Goes on to the next step, which nothing does while a change is proposed.
    fileprivate mutating func proceed(
        to next: Order.Status, from possible: [Order.Status]
    ) throws(ImpossibleEvent) {
        guard proposal == nil else { throw ImpossibleEvent("a step while a change was proposed") }
        try move(to: next, from: possible)
    }

    fileprivate mutating func end(
        as next: Order.Status, from possible: [Order.Status], _ ending: Order.Ending
    ) throws(ImpossibleEvent) {
        guard PersonalText.isAllowed(ending.text, of: placement.customer) else {
            throw ImpossibleEvent("an order with a text that is not its customer's")
        }
        // A read model keeps no lines, and may keep no charges.
        guard ending.price == nil || placement.lines.isEmpty || ending.price == placement.price else {
            throw ImpossibleEvent("an order that is not charged any more had another price")
        }
        guard ending.claims.isRecordable,
            placement.lines.isEmpty || ending.claims.allSatisfy(placement.claims.contains)
        else { throw ImpossibleEvent("an order that gives back more than it took") }
        try move(to: next, from: possible)
        self.ending = ending
        endProposal(.ended)
    }

    /// Whether it ended like this.
    fileprivate func ended(by party: Order.Party, _ reason: Order.Reason, _ text: PersonalText?) -> Bool {
        ending.map { $0.by == party && $0.reason == reason && $0.text == text } ?? false
    }

    /// Why a command is not taken, with those that are.
    fileprivate var refusal: Rejection {
        let allowed: [Rejection.Action] =
            switch status {
            case .awaitingPayment, .scheduled: [.cancelOrder]
            case .placed:
                [
                    .acceptOrder, .rejectOrder, .prepareOrder, .readyOrder, .completeOrder, .delayOrder, .cancelOrder,
                    .refundOrder,
                ]
            case .accepted: [.prepareOrder, .readyOrder, .completeOrder, .delayOrder, .cancelOrder, .refundOrder]
            case .preparing: [.readyOrder, .completeOrder, .delayOrder, .cancelOrder, .refundOrder]
            case .ready: [.completeOrder, .cancelOrder, .refundOrder]
            case .completed: [.refundOrder]
            case .rejected, .cancelled: [.showOrder]
            }
        return Rejection(.state, "the order is \(words)", allowed: allowed)
    }

    private var words: String {
        switch status {
        case .awaitingPayment: "awaiting payment"
        case .scheduled, .placed, .accepted, .preparing, .ready, .completed: status.rawValue
        case .rejected, .cancelled:
            ending.map { "\(status.rawValue) by the \($0.by.rawValue), \($0.reason.rawValue)" } ?? status.rawValue
        }
    }
}
