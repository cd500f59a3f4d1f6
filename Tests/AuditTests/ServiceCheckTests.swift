import Domain
import EventLog
import Testing

@testable import Audit

@Suite("How orders were had, in an audit")
struct ServiceCheckTests {
    private static let details = {
        var details = OutletDetails(name: "The Kitchen", currency: pounds, timeZone: "Europe/London")
        var rates = ByService<Rate>()
        rates[.table] = Rate(thousandths: 19_000)
        details.pricing = PricingTerms(
            taxIncluded: true,
            taxes: [
                .init(id: Identifier("vat")!, name: "VAT", rate: Rate(thousandths: 7_000)!, rates: rates),
                .init(id: Identifier("none")!, name: "None", rate: Rate(thousandths: 0)!),
            ])
        details.services[.table] = OfferedService(requirements: [.table])
        details.services[.delivery] = OfferedService(
            charges: .init(delivery: .init(Amount(minorUnits: 299))), requirements: [.address])
        return details
    }()

    private static let pie = line("pie", 2, at: 1_500)
    private static let atTable = Handover(.table, table: "4")

    /// An order of two pies, as it would be decided on these terms.
    private static func placement(_ terms: PricingTerms, _ handover: Handover) throws -> Order.Placement {
        let bill = try Bill(for: [Bill.Line(Amount(minorUnits: 3_000))], on: terms, tip: Amount(minorUnits: 50))
        return Order.Placement(
            cart: StreamName.cart.id, outlet: .kitchen, currency: pounds, lines: [pie], charges: bill.charges,
            total: bill.total, customer: handover.isPersonal ? Identifier("asha") : nil, handover: handover)
    }

    private static func findings(
        _ placement: Order.Placement, cart handover: Handover? = nil, _ events: [Outlet.Event] = [.registered(details)],
        after changes: [Order.Event] = []
    ) async throws -> [String] {
        var history = RecordedHistory()
        for event in events { history.append(.outlet(event), to: .kitchen) }
        history.append(
            .cart(.itemAdded(pie, outlet: .kitchen, currency: pounds, customer: placement.customer)), to: .cart)
        let chosen = handover ?? placement.handover
        if let service = chosen.service {
            history.append(.cart(.serviceChosen(service, table: chosen.table)), to: .cart)
        }
        history.append(.order(.placed(placement)), to: .order)
        history.append(
            .cart(
                .checkedOut(
                    order: StreamName.order.id, lines: placement.lines, charges: placement.charges,
                    total: placement.total, customer: placement.customer, handover: chosen)),
            to: .cart)
        for event in changes { history.append(.order(event), to: .order) }
        var log = StoredLog()
        log.events = history.events
        log.storedHeads = [StoredHead(partition: 0, position: Int64(log.events.count), digest: [], epoch: 0)]
        return try await log.findings.filter { $0.kind == .difference && $0.subject == "order-o1" }.map(\.message)
    }

    @Test func `an order that follows from what its outlet offered is found to be right`() async throws {
        #expect(try await Self.findings(Self.placement(Self.details.pricing(for: .table), Self.atTable)) == [])
        let delivery = Handover(.delivery, address: SealedText(ciphertext: "y"))
        #expect(try await Self.findings(Self.placement(Self.details.pricing(for: .delivery), delivery)) == [])
    }

    @Test func `a service that was not offered is found`() async throws {
        let placement = try Self.placement(Self.details.pricing, Handover(.pickup))
        #expect(
            try await Self.findings(placement) == ["is for pickup, and outlet 'kitchen' offered delivery, table"])
        let plain = OutletDetails(name: "The Kitchen", currency: pounds, timeZone: "Europe/London")
        #expect(
            try await Self.findings(Self.placement(.none, Handover(.pickup)), [.registered(plain)])
                == ["is for pickup, and outlet 'kitchen' offered nothing to choose from"])
        // What it offered before, or offers later, is not what it offered then.
        #expect(
            try await Self.findings(
                Self.placement(Self.details.pricing(for: .table), Self.atTable),
                [.registered(Self.details), .detailsChanged([.services(ByService())])]
            ).count == 1)
    }

    @Test func `an order that does not say how it is had is found where there was a choice`() async throws {
        #expect(
            try await Self.findings(Self.placement(Self.details.pricing, .none))
                == ["does not say how it is had, and outlet 'kitchen' offered delivery, table"])
    }

    @Test func `charges and taxes of another service are found`() async throws {
        let other = Self.details.pricing(for: .delivery)
        #expect(
            try await Self.findings(Self.placement(other, Self.atTable))
                == ["has other charges than outlet 'kitchen' had for table"])
    }

    @Test func `terms that the outlet did not have are found`() async throws {
        var placement = try Self.placement(Self.details.pricing(for: .table), Self.atTable)
        placement.pricing = Self.details.pricing(for: .table).settled
        #expect(try await Self.findings(placement) == [])
        placement.pricing.taxIncluded = false
        #expect(
            try await Self.findings(placement) == ["says that outlet 'kitchen' had other taxes and charges than it had"]
        )
    }

    @Test func `charges after a change that do not follow from the terms are found`() async throws {
        var placement = try Self.placement(Self.details.pricing(for: .table), Self.atTable)
        placement.pricing = Self.details.pricing(for: .table).settled
        placement.terms = Order.Terms(placedAt: Timestamp(millisecondsSinceEpoch: 0), acceptWithin: 60)
        placement.missing = .remove
        guard
            case .changed(var change)? = try Order.decide(
                .propose(
                    [.reduce(line: "pie", to: 1)], by: .merchant, wait: 60, now: Timestamp(millisecondsSinceEpoch: 0)),
                in: .placed(Order.Book(placement))
            ).first
        else { throw ImpossibleEvent("no change") }
        #expect(try await Self.findings(placement, after: [.changed(change)]) == [])
        change.price.charges.removeFirst()
        var after = placement
        (after.lines, after.charges) = (change.ordered, change.price.charges)
        change.after = try Self.digest(of: after, change)
        #expect(
            try await Self.findings(placement, after: [.changed(change)])
                == ["has other charges after a change than follow from its lines and the terms that it was placed on"])
        change.before = change.after
        #expect(
            try await Self.findings(placement, after: [.changed(change)])
                == ["is impossible: a change between other bills than it says"])
    }

    /// The digest of an order's bill, whatever its charges are.
    private static func digest(of placement: Order.Placement, _ change: Order.Change) throws -> Text {
        var placement = placement
        placement.total = change.price.total
        return placement.digest
    }

    @Test func `what an order lacks is found`() async throws {
        let placement = try Self.placement(Self.details.pricing(for: .table), Handover(.table))
        #expect(try await Self.findings(placement) == ["lacks what outlet 'kitchen' needed for table: table"])
    }

    @Test func `an order that is had otherwise than its cart says is found`() async throws {
        let placement = try Self.placement(Self.details.pricing(for: .table), Self.atTable)
        let found = try await Self.findings(placement, cart: Handover(.table, table: "5"))
        #expect(found.count == 1 && found[0].hasPrefix("is not what cart 'c1' held"))
    }

    @Test func `an outlet whose events are impossible says nothing about its orders`() async throws {
        var details = Self.details
        details.services[.pickup] = OfferedService(
            charges: .init(delivery: .init(Amount(minorUnits: .max), tax: Identifier("vat"))))
        let placement = try Self.placement(.none, Handover(.pickup))
        #expect(try await Self.findings(placement, [.registered(details)]) == [])
    }

    @Test func `an outlet in another partition has to have offered it at some time`() async throws {
        // Two partitions, with the outlet in the one and the order in the other.
        let partitioning = Partitioning(count: 2)
        let home = partitioning.partition(of: .kitchen)
        let checks = [0, 1].map { partition in
            var check = ServiceCheck(partition: partition, partitioning)
            if partition == home { check.take(.registered(Self.details), of: .kitchen) }
            return check
        }
        func messages(_ placement: Order.Placement) throws -> [String] {
            var checks = checks
            #expect(checks[1 - home].problem(of: placement, StreamName.order.id, at: 7) == nil)
            return checks.flatMap { $0.findings(beside: checks).kept.map { "\($0.subject) \($0.message)" } }
        }
        func order(_ service: ServiceKind) throws -> Order.Placement {
            try Self.placement(Self.details.pricing, Handover(service))
        }
        #expect(try messages(order(.table)) == [])
        #expect(
            try messages(Self.discounted()) == [
                "order-o1 has a discount of promotion 'ten', which outlet 'kitchen' never offered"
            ])
        #expect(try messages(order(.pickup)) == ["order-o1 is for pickup, which outlet 'kitchen' never offered"])
    }
    // MARK: Promotions

    private static let ten = Promotion(
        id: Identifier("ten")!, title: "Ten off", on: .order, .amount(Amount(minorUnits: 10)), limit: 1)

    /// An order of which promotion `ten` takes ten off.
    private static func discounted(claims: [Claim] = ten.claims(by: nil), title: Text = "Ten off") throws
        -> Order.Placement
    {
        let discount = Bill.Discount(ten.id, title, by: .outlet, 10, shares: [10])
        let bill = try Bill(for: [Bill.Line(Amount(minorUnits: 3_000))], on: .none, discounts: [discount])
        var placement = Order.Placement(
            cart: StreamName.cart.id, outlet: .kitchen, currency: pounds, lines: [pie], charges: bill.charges,
            total: bill.total)
        placement.claims = claims
        return placement
    }

    /// What is found of it after these events of the outlet's promotions.
    private static func finding(_ promotions: [Promotions.Event], of placement: Order.Placement) -> String? {
        var check = ServiceCheck(partition: 0, Partitioning(count: 1))
        check.take(
            .registered(OutletDetails(name: "The Kitchen", currency: pounds, timeZone: "Europe/London")), of: .kitchen)
        for event in promotions { check.take(event, of: .kitchen) }
        return check.problem(of: placement, StreamName.order.id, at: 1)
    }

    @Test func `discounts of promotions that there were not, and uses that nobody claims, are found`() throws {
        let foreign = "has a discount of promotion 'ten' that there was not"
        let order = try Self.discounted()
        #expect(Self.finding([.put(Self.ten)], of: order) == nil)
        #expect(Self.finding([], of: order) == foreign)
        #expect(Self.finding([.put(Self.ten), .ended(Self.ten.id)], of: order) == foreign)
        #expect(Self.finding([.put(Self.ten)], of: try Self.discounted(title: "Eleven off")) == foreign)
        #expect(
            Self.finding([.put(Self.ten), .spent(Self.ten.id)], of: order)
                == "has a discount of promotion 'ten', which was used up")
        #expect(
            Self.finding([.put(Self.ten)], of: try Self.discounted(claims: []))
                == "does not claim the promotions that it uses")
    }
}
