internal import CommandHandling
internal import Domain
internal import EventLog
internal import Projections
internal import TextFormats
internal import Users

/// What customers and merchants do with orders.
enum OrderCommands {
    static let all: [Command] = [
        Command(
            "ORDER.GET", .orders, role: .customer,
            answers: OrderDocument.schema.or(ChangeDocument.ofOrder),
            "Returns an order, now or as of a moment, or what has changed in it, or null."
        ) { parameters in
            let order = parameters.required("order", .order)
            let version = parameters.option("SINCE", "version", .count)
            let moment = parameters.option("AT", "moment", .moment)
            return { service, call throws(Failure) in
                let (order, confinement, since) = (try call[order], call.confinement, try call[version])
                if let moment = try service.moment(try call[moment]) {
                    guard since == nil else { throw .syntax("SINCE and AT exclude each other") }
                    return service.past(.order(order, at: moment), for: call.caller, within: confinement)
                }
                if let since {
                    return service.change(ofOrder: order, since: since, for: call.caller, within: confinement)
                }
                return service.document(of: StreamName(.order, order), for: call.caller, within: confinement) {
                    SealedDocument(of: order, $0)
                }
            }
        },
        Command(
            "ORDER.PROVE", .orders, role: .customer, answers: OrderProof.schema, refusing: [.notFound],
            "Returns a document that proves, without the log, what an order cost, and what was paid and given back."
        ) { parameters in
            let order = parameters.required("order", .order)
            return { service, call throws(Failure) in
                service.proof(of: try call[order], to: call.caller, within: call.confinement)
            }
        },
        Command(
            "ORDER.ACCEPT", .orders, role: .merchant, effect: .write(.order),
            "Takes an order on, to be ready at a time; returns its version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let readyBy = parameters.option("READY", "time", .time)
            return { service, call throws(Failure) in
                let readyBy = try call[readyBy]
                return try service.submit(to: try call[order], call) {
                    .accept(readyBy: readyBy, now: service.now)
                }
            }
        },
        Command(
            "ORDER.REJECT", .orders, role: .merchant, effect: .write(.order),
            "Does not take an order on; returns its version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let code = parameters.requiredOption("CODE", "code", .reason)
            let text = parameters.option("REASON", "text", .note)
            return { service, call throws(Failure) in
                let code = try call[code]
                return try service.submit(to: try call[order], call, giving: text) { .reject(code, text: $0) }
            }
        },
        step("ORDER.PREPARE", .prepare, "Says that an order is being cooked; returns its version."),
        step("ORDER.READY", .ready, "Says that an order can be fetched; returns its version."),
        step("ORDER.COMPLETE", .complete, "Says that an order was handed over; returns its version."),
        Command(
            "ORDER.DELAY", .orders, role: .merchant, effect: .write(.order),
            "Says when an order will be ready instead, and why; returns its version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let readyBy = parameters.requiredOption("READY", "time", .time)
            let text = parameters.option("REASON", "text", .note)
            return { service, call throws(Failure) in
                let readyBy = try call[readyBy]
                return try service.submit(to: try call[order], call, giving: text) {
                    .delay(readyBy: readyBy, text: $0, now: service.now)
                }
            }
        },
        Command(
            "ORDER.CANCEL", .orders, role: .parties, effect: .write(.order),
            "Ends an order that was not handed over; returns its version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let party = parameters.requiredOption("BY", "party", .party)
            let code = parameters.requiredOption("CODE", "code", .reason)
            let text = parameters.option("REASON", "text", .note)
            return { service, call throws(Failure) in
                let (party, code) = (try call[party], try call[code])
                try call.check(party)
                return try service.submit(to: try call[order], call, giving: text) {
                    .cancel(by: party, code, text: $0)
                }
            }
        },
        Command(
            "ORDER.PAYMENT", .orders, role: .merchant, effect: .write(.order),
            "Records what a payment service reports of an order's money; returns the order's version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let reference = parameters.required("ref", .text.accepting("1–200 bytes of UTF-8"))
            let kind = parameters.required("kind", .paymentKind)
            let amount = parameters.required("minor", .amount)
            let parent = parameters.option("OF", "ref", .text)
            return { service, call throws(Failure) in
                let payment = Order.Payment(
                    reference: try call[reference], try call[kind], try call[amount],
                    of: try call[parent].map { .report($0) } ?? .own)
                return try service.submit(to: try call[order], call) {
                    .reportPayment(payment, now: service.now)
                }
            }
        },
        Command(
            "ORDER.REFUND", .orders, role: .merchant, effect: .write(.order),
            "Gives back some of a line, an amount, or all that is left; returns the order's version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let code = parameters.requiredOption("CODE", "code", .reason)
            let line = parameters.option("LINE", "line", .text)
            let quantity = parameters.option("QTY", "quantity", .quantity.accepting("at least 1"))
            let amount = parameters.option("AMOUNT", "minor", .amount.accepting("at least 1, in minor units"))
            return { service, call throws(Failure) in
                let part: Order.RefundPart
                switch (try call[line], try call[quantity], try call[amount]) {
                case (let line?, let quantity?, nil): part = .units(line: line, quantity: quantity)
                case (nil, nil, let amount?): part = .amount(amount)
                case (nil, nil, nil): part = .rest
                case (_?, nil, nil): throw .invalid("QTY", "is missing: how many of the line are given back")
                case (nil, _?, nil): throw .invalid("LINE", "is missing: which line they are of")
                case (_, _, _?): throw Failure(.invalid, "AMOUNT stands alone, without LINE and QTY")
                }
                let code = try call[code]
                return try service.submit(to: try call[order], call) { .refund(part, code) }
            }
        },
        Command(
            "ORDER.CHANGE", .orders, role: .parties, effect: .write(.order),
            refusing: [.closed, .soldOut, .choice],
            "Proposes to change what is ordered, or changes it if that was agreed beforehand; returns the order's version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let document = parameters.required("json", .document(OrderChangeInput.self))
            let party = parameters.requiredOption("BY", "party", .party)
            let wait = parameters.option(
                "WITHIN", "seconds",
                .integer(Int64(Order.changeWaits.lowerBound)...Int64(Order.changeWaits.upperBound)),
                default: Int64(Order.usualChangeWait))
            return { service, call throws(Failure) in
                let (document, party, wait) = (try call[document], try call[party], Int(try call[wait]))
                try call.check(party)
                return try service.submit(to: try call[order], call) { book in
                    let edits = document.edits { item, options in
                        guard let placement = book?.placement else { return .noItem }
                        let terms = placement.terms
                        return service.offer(
                            of: item, with: options, at: placement.outlet, as: placement.handover.service,
                            wanted: terms.releaseAt == nil ? nil : terms.promisedFor)
                    }
                    let counted = book?.counted(edits) { lines in
                        book.map { service.claims(of: lines, at: $0.placement.outlet) } ?? []
                    }
                    return .propose(edits, by: party, wait: wait, now: service.now, counted: counted ?? .nothing)
                }
            }
        },
        Command(
            "ORDER.AGREE", .orders, role: .parties, effect: .write(.order),
            refusing: [.closed, .soldOut, .choice, .totalChanged],
            "Agrees to what the other party proposed, by the digest of the bill after it; returns the order's version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let digest = parameters.required("digest", .quoteDigest)
            return { service, call throws(Failure) in
                let (digest, parties) = (try call[digest], call.parties)
                return try service.submit(to: try call[order], call) { .agree(digest, as: parties) }
            }
        },
        Command(
            "ORDER.DECLINE", .orders, role: .parties, effect: .write(.order),
            "Declines a change that the other party proposed, or withdraws one's own; returns the order's version."
        ) { parameters in
            let order = parameters.required("order", .order)
            let party = parameters.option("BY", "party", .party)
            return { service, call throws(Failure) in
                let party = try call[party]
                if let party { try call.check(party) }
                let parties = party.map { [$0] } ?? call.parties
                return try service.submit(to: try call[order], call) { .decline(as: parties) }
            }
        },
        step(
            "ORDER.NOTED", .noteChanges, "Says that the kitchen has seen what was changed; returns the order's version."
        ),
        Command(
            "KITCHEN", .orders, role: .merchant,
            answers: KitchenDocument.schema, refusing: [.notFound],
            "Returns the orders that an outlet's kitchen has to do with, by the time they are promised for."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                let outlet = try call[outlet]
                guard service.hasKitchen(outlet) else { throw .noOutlet(outlet) }
                return service.kitchen(of: outlet, for: call.caller)
            }
        },
        Command(
            "TAKINGS", .orders, role: .merchant,
            answers: TakingsDocument.schema, refusing: [.notFound],
            "Returns what an outlet sold, took back, gave back and was paid, by days of the outlet."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let first = parameters.requiredOption("FROM", "day", .day)
            let last = parameters.option("UNTIL", "day", .day)
            let part = parameters.option("BY", "part", .part)
            return { service, call throws(Failure) in
                let outlet = try call[outlet]
                let (days, details) = try service.days(of: outlet, from: try call[first], through: try call[last])
                let hasHours = try call[part] != nil
                guard !hasHours || days.days.count <= BusinessDays.maximumWithHours else {
                    throw .invalid("UNTIL", "must lie within \(BusinessDays.maximumWithHours) days with BY hour")
                }
                let sums = service.takings(of: outlet, between: days.moments)
                let document = days.days.indices.map { index in
                    let hours = hasHours ? days.hours(ofDay: index) : nil
                    return TakingsDocument.Day(
                        days.days[index].text, from: days.moments[index], until: days.moments[index + 1], sums[index],
                        hours: hours.map { Array(zip($0, service.takings(of: outlet, between: $0))) })
                }
                return .answer(Answer(TakingsDocument.bytes(of: outlet, details, document)))
            }
        },
        Command(
            "ORDERS", .orders, role: .customer,
            answers: OrderPageDocument.schema, refusing: [.notFound],
            "Returns a page of orders, now or as of a moment, the newest first."
        ) { parameters in
            let outlet = parameters.option("OUTLET", "outlet", .outlet)
            let customer = parameters.option("CUSTOMER", "customer", .customer)
            let statuses = parameters.option("STATUS", "statuses", .statuses)
            let first = parameters.option("FROM", "day", .day)
            let last = parameters.option("UNTIL", "day", .day)
            let cursor = parameters.option("AFTER", "cursor", .text)
            let count = parameters.option("COUNT", "count", .integer(1...maximumCount), default: 20)
            let moment = parameters.option("AT", "moment", .moment)
            return { service, call throws(Failure) in
                var filter = OrderFilter(
                    outlet: try call[outlet], customer: try call[customer], statuses: try call[statuses] ?? [])
                // A confined caller has to filter: a customer by its own id, a merchant by its outlet.
                if let confinement = call.confinement {
                    let isNamed = confinement.isOfCustomer ? filter.customer != nil : filter.outlet != nil
                    guard isNamed else { throw .noPermissionForKey }
                }
                if let first = try call[first] {
                    guard let outlet = filter.outlet else {
                        throw .invalid("FROM", "needs an OUTLET, whose day it is")
                    }
                    let moments = try service.days(of: outlet, from: first, through: try call[last]).0.moments
                    filter.placed = moments[0]..<moments[moments.count - 1]
                } else if try call[last] != nil {
                    throw .invalid("UNTIL", "needs FROM")
                }
                var after: OrderCursor?
                if let text = try call[cursor] {
                    after = OrderCursor(text.string, partitions: service.partitioning.count)
                    guard after != nil else { throw .invalid("AFTER", "is not a cursor of ORDERS") }
                }
                let question = OrderQuestion(filter: filter, cursor: after, count: Int(try call[count]))
                guard let moment = try service.moment(try call[moment]) else {
                    return try service.orders(question, for: call.caller)
                }
                return try service.orders(question, at: moment, for: call.caller)
            }
        },
    ]

    /// The most orders of a page.
    private static let maximumCount: Int64 = 100

    /// A command that takes nothing but the order.
    private static func step(_ name: String, _ step: Order.Command, _ summary: String) -> Command {
        Command(name, .orders, role: .merchant, effect: .write(.order), summary) { parameters in
            let order = parameters.required("order", .order)
            return { service, call throws(Failure) in
                try service.submit(to: try call[order], call) { step }
            }
        }
    }
}

extension Service {
    /// Days of an outlet, and what it says of itself.
    ///
    /// - Parameter last: nil for the first day alone.
    fileprivate func days(
        of outlet: Identifier, from first: CalendarDay, through last: CalendarDay?
    ) throws(Failure) -> (BusinessDays, OutletDetails) {
        let last = last ?? first
        guard first <= last else { throw .invalid("UNTIL", "must not come before FROM") }
        guard last.number - first.number < BusinessDays.maximum else {
            throw .invalid("UNTIL", "must lie within \(BusinessDays.maximum) days, the first and the last included")
        }
        guard let details = lastDetails(of: outlet) else { throw .noOutlet(outlet) }
        let rules = try knownRules(of: details)
        return (BusinessDays(from: first, through: last, startingAt: details.dayStarts ?? 0, in: rules), details)
    }
}

extension Call {
    /// The parties that the caller may speak for.
    fileprivate var parties: [Order.Party] {
        var parties: [Order.Party] = []
        if rights.mayActAs(.customer) { parties.append(.customer) }
        if rights.mayActAs(.merchant) { parties.append(.merchant) }
        return parties
    }

    /// Fails if the caller may not speak for a party.
    fileprivate func check(_ party: Order.Party) throws(Failure) {
        guard parties.contains(party) else {
            throw Failure(.noPermission, "an order is cancelled and changed in one's own name only: BY says whose")
        }
    }
}

extension ArgumentType<Set<Order.Status>> {
    /// Statuses with commas between them.
    fileprivate static let statuses = ArgumentType(
        kind: .string, accepting: "one or more of \(knownStatuses), with commas between them"
    ) { argument, field throws(Failure) in
        let words = (argument.string ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let statuses = words.compactMap { Order.Status(rawValue: String($0)) }
        guard statuses.count == words.count else {
            throw .invalid(field, "must be one or more of \(knownStatuses), with commas between them")
        }
        return Set(statuses)
    }

    private static var knownStatuses: String { Order.Status.allCases.map(\.rawValue).joined(separator: ", ") }
}

extension ArgumentType<Order.Reason> {
    fileprivate static let reason = oneOf(Order.Reason.allCases)
}

extension ArgumentType<Order.Missing> {
    /// What a customer wants if something cannot be had.
    static let missing = oneOf(Order.Missing.allCases)
}

extension ArgumentType<Order.PaymentKind> {
    fileprivate static let paymentKind = oneOf(Order.PaymentKind.allCases)
}

extension ArgumentType<Order.Party> {
    /// Those who can send commands.
    fileprivate static let party = oneOf([Order.Party.customer, .merchant])
}

extension ArgumentType<BusinessDays.Part> {
    fileprivate static let part = oneOf(BusinessDays.Part.allCases)
}

extension ArgumentType where Value: RawRepresentable & Sendable, Value.RawValue == String {
    /// One of some words, as it is spelt.
    static func oneOf(_ values: [Value]) -> ArgumentType {
        let all = values.map(\.rawValue).joined(separator: ", ")
        let form = values.count == 1 ? all : "one of \(all)"
        let schema = JSONSchema.words(values.map(\.rawValue))
        return ArgumentType(kind: .string, accepting: form, schema: schema) { argument, field throws(Failure) in
            guard let value = argument.string.flatMap(Value.init(rawValue:)), values.contains(where: { $0 == value })
            else { throw .invalid(field, "must be \(form)") }
            return value
        }
    }
}
