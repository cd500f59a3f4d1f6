public import Domain
public import EventLog

/// The history of an order: that of its cart, and what was agreed.
public struct OrderHistory: Sendable {
    private let order: Identifier
    private let partition: Int
    private var reading = StreamReader()
    private var state = Order.initial
    private let cart: CartHistory?
    private let texts: DecryptedTexts

    /// The history of an order.
    ///
    /// - Parameters:
    ///   - events: every event of the order's stream.
    ///   - cart: the history of ``cart(of:)``.
    ///   - texts: the sealed texts of the events.
    public init(
        _ order: Identifier, _ events: [RecordedEvent], _ cart: CartHistory?, _ texts: DecryptedTexts = DecryptedTexts()
    ) {
        self.order = order
        self.cart = cart
        self.texts = texts
        partition = events.first?.partition ?? 0
        var (reading, state) = (reading, state)
        for event in events {
            reading.take(event) { event in
                guard case .order(let change) = event.event else { throw ImpossibleEvent("no event of an order") }
                try Order.evolve(&state, change)
                return OrderHistory.words(for: change, state.book?.placement.currency, texts)
            }
        }
        (self.reading, self.state) = (reading, state)
    }

    private var placement: Order.Placement? { state.book?.placement }

    // MARK: Words

    private static func words(for event: Order.Event, _ currency: Currency?, _ texts: DecryptedTexts) -> String {
        switch event {
        case .placed(let placement):
            let terms = placement.terms
            let waits: [(String, Timestamp?)] = [
                ("promised for", terms.promisedFor), ("to be paid by", terms.payBy),
                ("to be released at", terms.releaseAt), ("to be accepted by", terms.acceptBy),
            ]
            return "placed with outlet \(placement.outlet): \(placement.count.counted("item")) for "
                + placement.total.words(in: placement.currency) + placement.handover.words(texts)
                + (placement.claims.isEmpty ? "" : ", holding \(placement.claims.words)")
                + waits.map { words, time in time.map { ", \(words) \($0.words)" } ?? "" }.joined()
        case .claimsReturned: return "what it took is back in the outlet's stock"
        case .scheduled: return "paid, and shown to the kitchen later"
        case .paymentReported(let payment, _):
            let amount = currency.map { payment.amount.words(in: $0) } ?? "\(payment.amount.minorUnits)"
            let parent =
                switch payment.parent {
                case .report(let reference) where reference != payment.reference: " of \(reference.quoted)"
                case .own, .report: ""
                case .unclear: " of nobody knows what"
                }
            return "payment \(payment.reference.quoted) \(payment.kind.rawValue)\(parent): \(amount)"
        case .coverLost(let payBy): return "not covered any more, to be paid by \(payBy.words)"
        case .refunded(let refund):
            func words(_ amount: Amount) -> String {
                currency.map { amount.words(in: $0) } ?? "\(amount.minorUnits)"
            }
            return "refunded \(words(refund.amount))"
                + (refund.tax > .zero ? ", of which \(words(refund.tax)) is tax" : "") + ", \(refund.reason.rawValue)"
                + (refund.units.map { ", for \($0.quantity) of \($0.line)" } ?? "")
        case .released(let acceptBy):
            return "shown to the kitchen" + (acceptBy.map { ", to be accepted by \($0.words)" } ?? "")
        case .accepted(let readyBy, let party):
            return "accepted by the \(party.rawValue)" + (readyBy.map { ", to be ready by \($0.words)" } ?? "")
        case .rejected(let ending): return "rejected \(words(for: ending, texts))"
        case .preparationStarted: return "being prepared"
        case .readied: return "ready"
        case .completed(let party): return "completed by the \(party.rawValue)"
        case .delayed(let readyBy, let text):
            return "delayed, to be ready by \(readyBy.words)" + (text.map { ": \(texts.text(of: $0).quoted)" } ?? "")
        case .cancelled(let ending): return "cancelled \(words(for: ending, texts))"
        case .changeProposed(let change, let until):
            return "change proposed by the \(change.by.rawValue), until \(until.words): \(words(for: change, currency))"
        case .changed(let change):
            return "changed as proposed by the \(change.by.rawValue): \(words(for: change, currency))"
        case .changeDeclined(let party): return "change declined by the \(party.rawValue)"
        case .changeExpired: return "change not answered in time"
        case .changesNoted: return "change noted by the kitchen"
        }
    }

    /// `1 × Pie instead of 2, 1 × Tart, for 16.50 GBP`
    private static func words(for change: Order.Change, _ currency: Currency?) -> String {
        let lines = change.lines.map { line in
            line.to == 0
                ? "no \(line.name)" : "\(line.to) × \(line.name)" + (line.from > 0 ? " instead of \(line.from)" : "")
        }
        let total = change.price.total
        return lines.joined(separator: ", ") + ", for \(currency.map { total.words(in: $0) } ?? "\(total.minorUnits)")"
    }

    private static func words(for ending: Order.Ending, _ texts: DecryptedTexts) -> String {
        "by the \(ending.by.rawValue), \(ending.reason.rawValue)"
            + (ending.text.map { ": \(texts.text(of: $0).quoted)" } ?? "")
            + (ending.claims.isEmpty ? "" : ", giving back \(ending.claims.words)")
    }

    private var present: String {
        if let version = reading.damagedSince { return "now: CORRUPT, damaged since v\(version)" }
        guard let book = state.book else { return "now: not placed" }
        return "now: version \(reading.version), \(book.status.rawValue)"
            + (book.promise.map { ", promised for \($0.words)" } ?? "") + money(book)
    }

    /// Who owes what after the end, and which reports cannot be.
    private func money(_ book: Order.Book) -> String {
        func words(_ minor: Int64) -> String { Amount(minorUnits: minor).words(in: book.placement.currency) }
        let (due, owed) = book.balance
        var text = ""
        if book.status.isEnd, !book.payments.reports.isEmpty {
            if owed > 0 { text += ", the outlet owes the customer \(words(owed))" }
            if due > 0 { text += ", the customer owes the outlet \(words(due))" }
        }
        if book.isUncovered { text += ", not covered" }
        return book.payments.doubts.reduce(text) {
            $0 + ", in doubt: \($1.report.reference.quoted) \($1.report.kind.rawValue), \($1.reason.rawValue)"
        }
    }

    /// The cart that an order was placed from.
    public static func cart(of events: [RecordedEvent]) -> Identifier? {
        for event in events {
            if case .order(.placed(let placement)) = (try? event.decoded())?.event { return placement.cart }
        }
        return nil
    }

    /// The history as lines of text.
    ///
    /// - Parameter last: the number of events shown, counted from the end.
    public func text(last: Int) -> [String] {
        let origin = placement.map { ", from cart \($0.cart)" } ?? ""
        let lines = (reading.lines + (cart?.lines ?? [])).sorted { $0.position < $1.position }
        return ["order \(order)\(origin), in partition \(partition) of the log"]
            + lines.text(last: last, namingStreams: true) + ["", present] + agreement
    }

    private var agreement: [String] {
        guard let placement else { return ["agreed: unknown, the order cannot be read"] }
        let name = placement.name.map { " under the name \(texts.text(of: $0).quoted)" } ?? ""
        return ["agreed\(name):"]
            + CartHistory.text(
                of: placement.lines, placement.currency, placement.charges, total: placement.total,
                cart?.origins ?? [:], texts
            ) { _ in "" }
    }
}

extension Handover {
    /// `, for delivery, to "12 Mill Road", phone "0171 …"`; empty where nothing is said.
    func words(_ texts: DecryptedTexts) -> String {
        var words = service.map { $0 == .table ? ", at a table" : ", for \($0.rawValue)" } ?? ""
        if let table { words += " called \(table.quoted)" }
        if let address { words += ", to \(texts.text(of: address).quoted)" }
        if let phone { words += ", phone \(texts.text(of: phone).quoted)" }
        return words
    }
}
